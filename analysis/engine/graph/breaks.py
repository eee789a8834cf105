"""Edges that should not be: imports against the order of layers, and imports past a module's public entry.

The rules turn these into findings, and the architecture graph marks the same edges.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from analysis.engine.facts import FileFacts
from analysis.engine.graph.layers import LayerPlace, assign_layers, may_use
from analysis.engine.graph.manifest import manifest_of
from analysis.engine.graph.model import Edge, ImportGraph
from analysis.engine.graph.paths import folder_of, is_inside, joined
from analysis.engine.graph.script_packages import exports_path
from analysis.engine.policy import Policy

_ROOT_NAME = re.compile(
    r"(^|/)(main|__main__|urls|apps|wsgi|asgi|container|containers|composition_root|bootstrap|di|dependency|wire(_gen)?)\.\w+$"
    r"|\.module\.[jt]s$|(Application|Configuration|Config|Module)\.java$"
)
_ROOT_DECORATOR = re.compile(r"(^|\.)(Configuration|SpringBootApplication|Module)($|\()")
_PRIVATE_SEGMENT = re.compile(r"^_(?!_)\w")
_PRIVATE_PATH = re.compile(r"(?:^|/)_(?!_)\w.*\.py$")
_DRAWER = re.compile(
    r"(^|/)(utils?|common|shared|libs?|helpers?|core|components|hooks|ui|types|constants)$", re.IGNORECASE
)
_ENTRY_FILE = re.compile(r"(^|/)index(\.[\w-]+)*\.[cm]?[jt]sx?$")  # also one for browsers, `index.client.ts`
_INTERNAL = "/internal/"
_MANIFEST = "package.json"
_CONVENIENCE = 3  # so many more go past an entry than come in by it that nobody means it
_CUSTOM = 4  # so many go past one that it is their custom, unless most come in by it
_MANY_USERS = 5  # of a private module, outside of its folder
_INNER_JAVA = re.compile(r"^(.*)/(?:internals?|impl)(?:/|$)")
_BUILT_OR_SOURCE = re.compile(r"(^|/)(src|dist)/")

Files = Mapping[str, FileFacts]


@dataclass(frozen=True, slots=True)
class LayerBreak:
    """All imports of one file from one layer that its own layer may not use; sorted by line."""

    source: str
    layer: LayerPlace
    forbidden: LayerPlace
    edges: tuple[Edge, ...]

    @property
    def type_only(self) -> bool:
        """Whether nothing of it is there at run time."""
        return not any(edge.runtime and not edge.erased for edge in self.edges)


@dataclass(frozen=True, slots=True)
class DeepImport:
    """An import past the public entry; `entry` is what should be imported, or empty where a name says private. With
    `is_offered` the entry has its names already, with `is_passed` other names of the same file."""

    edge: Edge
    entry: str
    why: str
    line: int = 0  # of the statement with the name; 0 for that of the edge
    is_offered: bool = True
    is_passed: bool = True


@dataclass(slots=True)
class _Ways:
    """How many files of the same package go past an entry and how many come in by it. `is_passed_on`: an index above
    makes all of it part of the whole package's own entry."""

    past: int = 0
    through: int = 0
    is_passed_on: bool = False

    @property
    def is_convenience(self) -> bool:
        """Whether the entry spares users some writing and guards nothing."""
        is_custom = self.past >= _CUSTOM and 2 * self.past >= self.through
        return is_custom or self.past - self.through >= _CONVENIENCE or self.is_passed_on


_Passing = Mapping[str, _Ways]  # by entry
_Reader = Callable[[ImportGraph, Files, Edge, _Passing], DeepImport | None]


def layer_breaks(graph: ImportGraph, files: Files, policy: Policy) -> list[LayerBreak]:
    """Imports against the policy's layers. The files that wire the application together may import anything."""
    if not policy.layers:
        return []
    places = assign_layers(graph.nodes, policy)
    groups: dict[tuple[str, str], list[Edge]] = {}
    for edge in graph.project_edges:
        source, target = places[edge.source], places[edge.target]
        if source and target and not may_use(source, target, policy):
            groups.setdefault((edge.source, target.name), []).append(edge)
    breaks = []
    for (path, _), edges in sorted(groups.items()):
        counting = [edge for edge in edges if edge.runtime and not edge.erased] or edges
        counting.sort(key=lambda edge: (edge.line, edge.target))
        layer, forbidden = places[path], places[edges[0].target]
        if layer and forbidden and not wires_application(path, files.get(path)):
            breaks.append(LayerBreak(path, layer, forbidden, tuple(counting)))
    return breaks


def wires_application(path: str, facts: FileFacts | None) -> bool:
    """Whether the file is a composition root: an entry file, a DI module, `urls.py`, an AppConfig."""
    if _is_root_name(path):
        return True
    if facts is None:
        return False
    return facts.is_entry or any(_is_root_decorator(text) for entry in facts.classes for text in entry.decorators)


@lru_cache(maxsize=2**16)  # states of one repository hold the same paths and much the same decorators
def _is_root_name(path: str) -> bool:
    return _ROOT_NAME.search(path) is not None


@lru_cache(maxsize=2**16)
def _is_root_decorator(text: str) -> bool:
    return _ROOT_DECORATOR.search(text) is not None


def deep_imports(graph: ImportGraph, files: Files) -> Iterator[DeepImport]:
    """Imports that reach into the inside of another module of the project."""
    passing = {**_passing(graph), **_into_packages(graph, files)}
    shared = _shared_python(graph)
    modules = graph.modules
    read = {path: _reader(path, files[path].language, graph) for path in graph.nodes}
    is_of_parts = len({_part_of_build(path) for path in graph.nodes if path.endswith(".java")}) > 1
    for edge in graph.project_edges:
        reader = read[edge.target]
        if reader is None or (is_of_parts and reader is _inner_java and _is_for_other_parts(graph, files, edge)):
            continue
        here, there = modules[edge.source], modules[edge.target]
        is_inner = reader is not _inner_java and _INTERNAL in edge.target  # a border within a module
        found: DeepImport | None = None
        if here is not there and here != there and edge.target not in shared:
            found = reader(graph, files, edge, passing)
        elif is_inner and _guarded_folder(graph, edge.target) != there.path:
            found = _past_entry(graph, edge, passing)
        if found is not None:
            yield found


def _shared_python(graph: ImportGraph) -> frozenset[str]:
    """Private modules that many files of the same package import from outside of their folder: they are private to the
    whole, not to the folder that they stand in."""
    inward = Counter(
        edge.target
        for edge in graph.project_edges
        if _is_private_path(edge.target) and not is_inside(edge.source, folder_of(edge.target))
    )
    return frozenset(path for path, count in inward.items() if count >= _MANY_USERS)


@lru_cache(maxsize=2**16)
def _is_private_path(path: str) -> bool:
    return _PRIVATE_PATH.search(path) is not None


def _reader(target: str, language: str, graph: ImportGraph) -> _Reader | None:
    """What tells whether an import of this file goes too deep; None when none does."""
    if language == "go" or target in graph.generated:  # Go's compiler guards `internal`
        return None
    if language == "java":
        return _inner_java if _around_inner_java(folder_of(target)) in graph.entries else None
    return _private_or_past_entry if language == "python" else _other_package_or_past_entry


def _private_or_past_entry(graph: ImportGraph, files: Files, edge: Edge, passing: _Passing) -> DeepImport | None:
    return _private_python(edge, files) or _past_entry(graph, edge, passing)


def _other_package_or_past_entry(graph: ImportGraph, files: Files, edge: Edge, passing: _Passing) -> DeepImport | None:
    return _other_package(graph, files, edge, passing) or _past_entry(graph, edge, passing)


def _private_python(edge: Edge, files: Files) -> DeepImport | None:
    folder = ""
    for segment in edge.target.removesuffix(".py").split("/"):
        if _PRIVATE_SEGMENT.match(segment) and not is_inside(edge.source, folder):
            return DeepImport(edge, "", f"`{segment}` is private to `{folder or '.'}`")
        folder = f"{folder}/{segment}" if folder else segment
    private = [name for name in edge.names if _PRIVATE_SEGMENT.match(name)]
    if private:
        line = next((each.line for each in files[edge.source].imports if private[0] in each.names), 0)
        return DeepImport(edge, "", f"`{private[0]}` is private to `{edge.target}`", line)
    return None


def _passing(graph: ImportGraph) -> _Passing:
    """The ways that files of the same package take to what an entry stands before."""
    passing: defaultdict[str, _Ways] = defaultdict(_Ways)
    entry_of = {path: entry for path in graph.nodes if (entry := graph.entries.get(graph.modules[path].path))}
    for edge in graph.project_edges:
        entry = entry_of.get(edge.target)
        if entry is None or graph.packages.get(edge.source) != graph.packages.get(edge.target):
            continue
        if is_inside(edge.source, graph.modules[edge.target].path):
            continue
        if edge.target != entry:
            passing[entry].past += 1
        elif _offers(edge) and is_inside(entry, folder_of(edge.source)):
            passing[entry].is_passed_on = True
        else:
            passing[entry].through += 1
    return passing


def _into_packages(graph: ImportGraph, files: Files) -> _Passing:
    """The ways that files of other packages take into one, by its manifest: through it by its name, or past it by a
    path, which an alias may begin, or into its sources."""
    packages = graph.packages
    into: defaultdict[str, _Ways] = defaultdict(_Ways)
    for edge in graph.project_edges:
        theirs = packages.get(edge.target)
        if theirs and packages.get(edge.source) != theirs:
            ways = into[joined(theirs, _MANIFEST)]
            written, manifest = _as_written(edge, files), files.get(joined(theirs, _MANIFEST))
            name = manifest_of(manifest).get("name") if manifest is not None else None
            if name and f"{written}/".startswith(f"{name}/") and not _BUILT_OR_SOURCE.search(written):
                ways.through += 1
            else:
                ways.past += 1
    return into


def _past_entry(graph: ImportGraph, edge: Edge, passing: _Passing) -> DeepImport | None:
    """Past the entry of the module. An entry that most or many go past is a convenience and no border, and so is one
    that is part of a wider one: that is for others, not for the folders beside it. One that most come in by is a border
    also for what it does not pass on."""
    folder = _guarded_folder(graph, edge.target)
    entry = graph.entries.get(folder)
    is_inner = _INTERNAL in edge.target  # which its name says, whoever goes past the entry
    if not entry or entry == edge.target or is_inside(edge.source, folder):
        return None
    ways = passing.get(entry) or _Ways()
    if not is_inner and ways.is_convenience:
        return None
    if graph.packages.get(edge.source) != graph.packages.get(edge.target) or _offers(edge):
        return None
    passed = next((each for each in graph.imports_of(entry) if each.target == edge.target), None)
    if passed is None and not is_inner and (ways.past >= ways.through or _DRAWER.search(folder)):
        return None
    if _loads(graph, entry, edge.source):
        return None  # to go through the entry would close a circle
    if not is_inner and _ENTRY_FILE.search(edge.target):
        return None  # which is public itself, below the other one
    why = f"`{folder}` has a public entry, `{entry}`"
    if passed is None:
        return DeepImport(edge, entry, why, is_offered=is_inner, is_passed=is_inner)
    return DeepImport(edge, entry, why, is_offered="*" in passed.names or set(passed.names).issuperset(edge.names))


def _guarded_folder(graph: ImportGraph, target: str) -> str:
    """The folder whose entry stands before a file: what is around `internal` where that has one, else the module."""
    around = target.rpartition(_INTERNAL)[0]
    return around if around in graph.entries else graph.modules[target].path


def _offers(edge: Edge) -> bool:
    """Whether an entry passes on what it imports: a second way into a package has a choice of its own."""
    return edge.reexport and _ENTRY_FILE.search(edge.source) is not None


def _loads(graph: ImportGraph, entry: str, path: str) -> bool:
    """Whether loading the entry loads the file, directly or by way of the entry's own files."""
    folder = folder_of(entry)
    pending, seen = [entry], {entry}
    while pending:
        for edge in graph.imports_of(pending.pop()):
            if edge.runtime and not edge.deferred and edge.target not in seen:
                if edge.target == path:
                    return True
                seen.add(edge.target)
                if is_inside(edge.target, folder):
                    pending.append(edge.target)
    return False


def _other_package(graph: ImportGraph, files: Files, edge: Edge, passing: _Passing) -> DeepImport | None:
    theirs = graph.packages.get(edge.target, "")
    if graph.packages.get(edge.source) == theirs:
        return None
    if theirs and _is_part_of_one(passing[joined(theirs, _MANIFEST)]):
        return None
    written = _as_written(edge, files)
    inside = written.partition("/")[2]
    if written.startswith("."):
        if theirs and not is_inside(edge.source, theirs) and _BUILT_OR_SOURCE.search(written):
            return DeepImport(edge, "", f"`{written}` goes into the sources of the package in `{theirs}`")
    elif _BUILT_OR_SOURCE.search(inside + "/") and not _is_offered(theirs, written, files):
        return DeepImport(edge, "", f"`{written}` goes into the sources of the package in `{theirs}`")
    return None


def _is_part_of_one(ways: _Ways) -> bool:
    """Whether a package is one to be installed alone, of an application whose files import each other by their paths:
    nobody imports it by its name."""
    return ways.past >= _CUSTOM and not ways.through


def _as_written(edge: Edge, files: Files) -> str:
    return next((item.target for item in files[edge.source].imports if item.line == edge.line), "")


def _is_offered(package: str, written: str, files: Files) -> bool:
    manifest = files.get(joined(package, _MANIFEST))
    subpath = "/".join(written.split("/")[2 if written.startswith("@") else 1 :])
    return manifest is not None and exports_path(manifest_of(manifest), subpath)


def _inner_java(graph: ImportGraph, files: Files, edge: Edge, passing: _Passing) -> DeepImport | None:
    around = _around_inner_java(folder_of(edge.target))
    entry = graph.entries.get(around) if around is not None else None
    if around is None or entry is None or is_inside(edge.source, around):
        return None
    return DeepImport(edge, entry, f"`{folder_of(edge.target)}` is internal to `{around}`")


@lru_cache(maxsize=2**15)  # thousands of files import from the same few folders
def _around_inner_java(folder: str) -> str | None:
    match = _INNER_JAVA.match(folder)
    return match[1] if match else None


def _is_for_other_parts(graph: ImportGraph, files: Files, edge: Edge) -> bool:
    """Whether a package only keeps its inside from the other parts of a build, not from this one: it is described, and
    declares nothing."""
    entry = graph.entries.get(_around_inner_java(folder_of(edge.target)) or "", "")
    if not entry.endswith("/package-info.java") or files[entry].imports:
        return False
    return _part_of_build(edge.source) == _part_of_build(edge.target)


@lru_cache(maxsize=2**16)
def _part_of_build(path: str) -> str:
    return f"/{path}".partition("/src/")[0]
