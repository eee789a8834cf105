"""An import reaches past the public entry of another module, or into the inside of a package."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from analysis.engine.codebase import Codebase
from analysis.engine.facts import FileFacts, FunctionFlag, Import, ImportFlag
from analysis.engine.graph.breaks import DeepImport, deep_imports
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy

RULE = Rule(
    id="arch-deep-import",
    type="deep_import",
    category=Category.ARCHITECTURE,
    title="Import past the public entry",
    severity=Severity.WARNING,
    points=1,
    suggestion="Import from the module's public entry and export there what is needed.",
    version=2,
)
GUIDE = Guide(
    why=(
        "What lies behind a public entry may change any day; who reaches past it breaks with every rearrangement there."
    ),
    grades=(
        "An entry that many files beside it go past, or that is itself part of the package's own entry, guards nothing."
    ),
    flagged=(
        {
            "shop/work.py": """
from celery._state import current_app


def name():
    return current_app.main
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from celery import current_app


def name():
    return current_app.main
"""
        },
    ),
)
_SCRIPT_INSIDE = re.compile(
    r"^(?!@(?:site|app|root|shoelace-style)/)(@[^/]+/)?[^/]+/(src|dist|internal|lib/(?:core|internals?|private|helpers|utils?))/(?!.*\.(css|scss|json|svg|png|wasm)$)"
    # Packages without `exports` document where their styles, languages and workers lie.
    r"(?!(?:.*/)?(styles?|themes?|presets?|locales?|lang|languages?|l10n|i18n|css|workers?|plugins?|icons|components)(/|$)|(?:.*/)?entry\b)"
)
# One whole build, named as the package is: `gallery/dist/gallery-native`, which says how to load it.
_WHOLE_BUILD = re.compile(r"^(?:@[^/]+/)?(\w+)[^/]*/dist/\1[^/]*$")
_OF_TYPES = re.compile(r"/dist/(?:.*/)?(?:types?|typings)(?:/|$)")  # which are gone when the program runs
_HOLDS_TYPES = re.compile(r"(?i)(?:types?|typings|interfaces)")
_GATHERS = re.compile(r"(?:^|[-_.])internals?(?=[-_.])", re.IGNORECASE)
# The documentation of these packages tells to import them, whatever their names say.
_DOCUMENTED = frozenset(
    """lxml.etree._Element lxml.etree._ElementTree slowapi._rate_limit_exceeded_handler ajv/dist/2019 ajv/dist/2020
    ajv/dist/core ajv/dist/jtd ajv/dist/standalone io.lettuce.core.internal.HostAndPort""".split()
)
_PYTHON_INSIDE = re.compile(r"\._(?!_)\w")
_PRIVATE_NAME = re.compile(r"_(?!_)\w")
_JAVA_INSIDE = re.compile(
    r"^(?!com\.alipay\.api\.)[\w.]*\.internal\.[\w.]*[A-Z]|^(?:sun|com\.sun\.\w+\.internal)\.[\w.]*[A-Z]"
)
# What a library asks others to implement.
_PART_OF_A_LIBRARY = re.compile(r"(?:Factory|Provider|Handler|Listener|Resolver|Strategy|Interceptor|Extension)$")


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Imports inside the project, then imports of third-party packages."""
    graph = codebase.graph
    for deep in deep_imports(graph, codebase.files):
        folder = PurePosixPath(deep.entry).parent.name if deep.entry else graph.modules[deep.edge.target].name
        if not _is_loaded(deep) and (not deep.is_offered or _HOLDS_TYPES.fullmatch(folder)):
            continue  # a type that is to be had nowhere else, or a folder of types that whoever needs one may take
        yield Finding(
            rule_id=RULE.id,
            file=deep.edge.source,
            line=deep.line or deep.edge.line,
            message=f"`{deep.edge.target}` is imported past the public entry of `{folder}`: {deep.why}",
            anchor=deep.edge.target,
            suggestion=_instead(deep.entry, folder),
            confidence=_confidence(deep),
            severity=None if _is_loaded(deep) else Severity.INFO,
        )
    inward = codebase.summaries(_inward)
    for path, targets in inward.items():
        if path in graph.tests or _GATHERS.search(PurePosixPath(path).name):
            continue  # a file named for it keeps the reaching in one place
        for external in graph.external.get(path, ()):
            inside = targets.get(external.statement)
            if inside:
                yield Finding(
                    rule_id=RULE.id,
                    file=path,
                    line=external.line,
                    message=f"`{inside}` is an internal path of the package `{external.package}`",
                    anchor=inside,
                    suggestion=f"Import from the documented entry of `{external.package}`.",
                    confidence=Confidence.LOW if "/dist/" in inside else Confidence.MEDIUM,
                    severity=Severity.INFO if _OF_TYPES.search(inside) else None,
                )


def _instead(entry: str, folder: str) -> str:
    """What to do about it; the description of a package of Java passes no names on."""
    if entry.endswith("/package-info.java"):
        return f"Use what `{folder}` holds outside of its internal packages, or move there what others need."
    return f"Import from `{entry}` and export what is needed there." if entry else ""


def _is_loaded(deep: DeepImport) -> bool:
    """Whether the import is there when the program runs: types alone tie nothing together then."""
    return deep.edge.runtime and not deep.edge.erased


def _confidence(deep: DeepImport) -> Confidence | None:
    if not _is_loaded(deep) or not (deep.is_offered or deep.is_passed):
        return Confidence.LOW
    return None if deep.is_offered else Confidence.MEDIUM


def _inward(facts: FileFacts) -> dict[Import, str]:
    """The imports of a file that name something private, with what that is as written."""
    return {statement: inside for statement in facts.imports if (inside := _inside_of(statement, facts))}


def _inside_of(statement: Import, facts: FileFacts) -> str:
    target = statement.target
    if statement.flags & ImportFlag.TYPE_ONLY or target.removesuffix(".js") in _DOCUMENTED:
        return ""
    if facts.language == "python":
        private = [
            name
            for name in statement.names
            if name.startswith("_") and _PRIVATE_NAME.match(name) and f"{target}.{name}" not in _DOCUMENTED
        ]
        if "._" in target and _PYTHON_INSIDE.search(target):
            return target
        return f"{target}.{private[0]}" if private else ""
    if facts.language == "java":
        is_own = f"{facts.package}.".startswith((f"{target.partition('.internal.')[0]}.", _organization(target)))
        return target if _JAVA_INSIDE.search(target) and not (is_own or _is_asked_for(target, facts)) else ""
    if facts.language == "go":
        return ""
    return target if _SCRIPT_INSIDE.search(target) and not _WHOLE_BUILD.match(target) else ""


def _is_asked_for(target: str, facts: FileFacts) -> bool:
    """Whether the file implements what a library keeps in that package for others to implement, or extends a class of
    the library whose constructor is given it: there is no other way."""
    package, _, name = target.rpartition(".")
    bases = [base for entry in facts.classes for base in entry.bases]
    if any(base.rpartition(".")[0] == package and _PART_OF_A_LIBRARY.search(base) for base in bases):
        return True
    return any(base.startswith(_organization(target)) for base in bases) and any(
        each.flags & FunctionFlag.CONSTRUCTOR and any(given.annotation == name for given in each.parameters)
        for each in facts.functions
    )


def _organization(target: str) -> str:
    """`org.example.`: what the packages of one organization begin with."""
    first, _, rest = target.partition(".")
    return f"{first}.{rest.partition('.')[0]}."
