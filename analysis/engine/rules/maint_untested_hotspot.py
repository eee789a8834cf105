"""A hotspot that no test imports, in a repository that has tests."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from analysis.engine.codebase import REQUEST, Codebase
from analysis.engine.graph.paths import folder_of
from analysis.engine.languages import FileKind
from analysis.engine.metrics.hotspots import Hotspot
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.rules.maint_hotspot_file import complex_functions, worst_hotspots

AFTER_HOTSPOTS = True
_LISTS_ROUTES = re.compile(  # or is a page, which a framework enters by its path
    r"(^|/)(?:router|routes|urls|route[-_]?map)\.\w+$|(^|/)pages/[^\n]*\[[^\n]*\.tsx$", re.IGNORECASE
)
_TEST_AFFIX = re.compile(r"^test_|_test$|\.(test|spec|cy|stories)$|(Tests?|TestCase|IT)$")

RULE = Rule(
    id="maint-untested-hotspot",
    type="untested_hotspot",
    category=Category.MAINTAINABILITY,
    title="Hotspot without tests",
    severity=Severity.WARNING,
    points=6,
    suggestion="Write characterisation tests for it first.",
    confidence=Confidence.MEDIUM,
)
GUIDE = Guide(
    why="The file that changes most and is hardest to follow is the one that needs a net.",
    grades="A hotspot that no test imports, directly or through one other file, in a repository that has tests.",
)


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    hotspots = [
        hotspot
        for hotspot in worst_hotspots(codebase)
        if not codebase.files[hotspot.file].is_entry and codebase.kind(hotspot.file) is not FileKind.SCRIPT
    ]
    if not hotspots:
        return
    tests = [path for path in codebase.files if codebase.kind(path) is FileKind.TEST]
    if not tests:
        yield _finding(codebase, hotspots[0], "The repository has no tests; this is its worst hotspot", Severity.INFO)
        return
    stems = {path: PurePosixPath(path).stem for path in tests}
    subjects = {_TEST_AFFIX.sub("", stem) for stem in stems.values()}
    # Tests of handlers ask by routes and import nothing, in folders named like those of the handlers.
    folders = {_folders_around(path) for path in tests}
    go_folders = {folder_of(path) for path in tests if path.endswith("_test.go")}
    for hotspot in hotspots:
        path = hotspot.file
        stem = PurePosixPath(path).stem
        known = stem in subjects or (path.endswith(".go") and folder_of(path) in go_folders)
        known = known or _LISTS_ROUTES.search(path) is not None or _is_tested_beside(codebase, path, stem, stems)
        known = known or (_folders_around(path) in folders and _answers_requests(codebase, path))
        if not known and not _is_imported_by_tests(codebase, path):
            yield _finding(codebase, hotspot, "No test imports this hotspot", None)


def _folders_around(path: str) -> tuple[str, ...]:
    return tuple(path.split("/")[-3:-1])


def _answers_requests(codebase: Codebase, path: str) -> bool:
    return any(entry.kind == REQUEST for entry in codebase.files[path].entries)


def _is_tested_beside(codebase: Codebase, path: str, name: str, tests: Mapping[str, str]) -> bool:
    """Whether a test of the same package of Java, which imports nothing for it, begins with the name of the class;
    `tests` are the stems of all tests by path."""
    package = codebase.files[path].package
    return path.endswith(".java") and any(
        stem.startswith(name) and codebase.files[test].package == package for test, stem in tests.items()
    )


def _is_imported_by_tests(codebase: Codebase, path: str) -> bool:
    """Directly, or through one file in between."""
    importers = {edge.source for edge in codebase.graph.importers_of(path)}
    further = {edge.source for importer in importers for edge in codebase.graph.importers_of(importer)}
    return any(codebase.kind(importer) is FileKind.TEST for importer in importers | further)


def _finding(codebase: Codebase, hotspot: Hotspot, message: str, severity: Severity | None) -> Finding:
    names = complex_functions(codebase.files[hotspot.file])
    target = f"`{names[0]}`" if names else "it"
    return Finding(
        rule_id=RULE.id,
        file=hotspot.file,
        line=1,
        message=f"{message} (risk {hotspot.risk_score})",
        suggestion=f"Write characterisation tests for {target} first; "
        f"the file changed {hotspot.churn_count} times in 90 days.",
        severity=severity,
    )
