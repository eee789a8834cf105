"""A module on which everything depends and which depends on everything."""

import re
from collections.abc import Iterator

from analysis.engine.codebase import Codebase
from analysis.engine.facts import FileFacts, FunctionFlag
from analysis.engine.graph.breaks import wires_application
from analysis.engine.graph.model import ImportGraph
from analysis.engine.graph.paths import folder_of
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy

RULE = Rule(
    id="arch-god-module",
    type="god_module",
    category=Category.ARCHITECTURE,
    title="Module with too many dependents and dependencies",
    severity=Severity.WARNING,
    points=10,
    suggestion="Split by reason to change; start with the group of functions used by only one dependent.",
)
GUIDE = Guide(
    why=(
        "A file on which everything depends and which depends on everything turns each change into a change of the "
        "whole."
    ),
    grades=(
        "More than 20 files import it and it imports many itself. Files that only pass names on, those of constants"
        " or types, lists of routes, and what imports twice as many as import it, to wire them, are left alone."
    ),
)
LEAST_PRODUCT = 400
LEAST_FAN = 10
MOST_CODE_LINES = 300
ROOT_RATIO = 2  # what depends on so many more than depend on it makes and wires them
_ACCESSOR_LINES = 3
_LISTS_ROUTES = re.compile(r"(^|/)(router|routes|urls|route[-_]?map)\.\w+$", re.IGNORECASE)
_SHOWS = re.compile(r"(^|/)(examples?|samples?|docs?)/")  # users of a public package
DEPENDENTS_INCLUDED = 20
DEPENDENTS_PER_POINT = 10


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Fan-in times fan-out of files; of packages in Go, where files of one package see each other anyway."""
    graph = codebase.graph
    units: dict[str, list[str]] = {}
    for path in graph.nodes:
        if path not in graph.tests and path not in graph.generated:
            units.setdefault(folder_of(path) if codebase.files[path].language == "go" else path, []).append(path)
    for files in units.values():
        code_lines = sum(codebase.files[path].code_lines for path in files)
        if code_lines <= MOST_CODE_LINES:
            continue
        fan_in, fan_out = _fans(graph, files)
        if (
            min(fan_in, fan_out) < LEAST_FAN
            or fan_in * fan_out < LEAST_PRODUCT
            or fan_out > ROOT_RATIO * fan_in
            or all(map(_LISTS_ROUTES.search, files))
            or any(wires_application(path, codebase.files[path]) for path in files)
            or _only_passes_on(graph, files)
            or _only_declares([codebase.files[path] for path in files])
        ):
            continue
        face = max(files, key=lambda path: (len(graph.importers_of(path)), path))
        name = folder_of(face) if len(files) > 1 else face
        yield Finding(
            rule_id=RULE.id,
            file=face,
            line=1,
            message=f"{fan_in} files depend on `{name}`, which depends on {fan_out} and has {code_lines} lines of code",
            excess=max(0, fan_in - DEPENDENTS_INCLUDED) / DEPENDENTS_PER_POINT,
        )


def _fans(graph: ImportGraph, files: list[str]) -> tuple[int, int]:
    if sum(len(graph.importers_of(path)) for path in files) < LEAST_FAN:
        return 0, 0
    own = set(files)
    importers = {edge.source for path in files for edge in graph.importers_of(path) if edge.runtime}
    imported = {edge.target for path in files for edge in graph.imports_of(path) if edge.runtime}
    shown = {path for path in importers if _SHOWS.search(path)}
    return len(importers - own - graph.tests - shown), len(imported - own - graph.tests)


def _only_declares(files: list[FileFacts]) -> bool:
    """Whether the files hold rows, schemas and types rather than work: fewer working functions than classes."""
    functions = (function for facts in files for function in facts.functions[1:])
    working = sum(
        1 for each in functions if not each.flags & FunctionFlag.ACCESSOR and each.code_lines > _ACCESSOR_LINES
    )
    return working < sum(len(facts.classes) for facts in files)


def _only_passes_on(graph: ImportGraph, files: list[str]) -> bool:
    return all(edge.reexport for path in files for edge in graph.imports_of(path))
