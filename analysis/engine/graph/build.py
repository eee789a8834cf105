"""Builds the import graph from facts: resolves imports, joins them to edges, finds modules and cycles."""

from analysis.engine.facts import FileFacts, Import, ImportFlag
from analysis.engine.graph import golang, java, python, script
from analysis.engine.graph.cycles import find_cycles
from analysis.engine.graph.entries import public_entries
from analysis.engine.graph.model import Edge, External, ImportGraph
from analysis.engine.graph.modules import assign_modules
from analysis.engine.graph.paths import folder_of
from analysis.engine.graph.resolution import Files, Resolution, is_test, of_languages
from analysis.engine.languages import PARSED, FileKind, kind_of

_HARD, _DEFERRED, _TYPE_ONLY = range(3)
# Plain integers: operations on flag enums cost a microsecond, and there are three for every import.
_FLAG_TYPE_ONLY, _FLAG_DEFERRED = ImportFlag.TYPE_ONLY, ImportFlag.DEFERRED
_FLAG_DYNAMIC, _FLAG_REEXPORT = ImportFlag.DYNAMIC, ImportFlag.REEXPORT


def build_graph(files: Files) -> ImportGraph:
    """The import graph of a codebase. Manifests among `files` tell how imports resolve; nothing else is read."""
    return _Builder(files).build()


class _Builder:
    """Holds what is collected while the imports are walked once."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._nodes = of_languages(files, PARSED)
        self._python = python.PythonResolver(files)
        self._script = script.ScriptResolver(files)
        self._java = java.JavaResolver(files)
        self._go = golang.GoResolver(files)
        self._external: dict[str, list[External]] = {}
        self._unresolved: dict[str, list[Import]] = {}

    def build(self) -> ImportGraph:
        edges: list[Edge] = []
        own: list[Edge] = []
        for path in self._nodes:
            for edge in self._edges_from(path, self._files[path]):
                (own if edge.source == edge.target else edges).append(edge)
        tests = frozenset(path for path in self._nodes if is_test(path))
        counting = [edge for edge in edges if edge.source not in tests and edge.target not in tests]
        cycles, deferred_cycles = find_cycles(counting, self._unit_of)
        modules = assign_modules(
            self._files,
            self._nodes,
            script_root=self._script.packages.folder_of_package,
            go_root=self._go.module_folder,
        )
        return ImportGraph(
            nodes=tuple(self._nodes),
            edges=tuple(edges),
            tests=tests,
            generated=frozenset(path for path in self._nodes if self._is_generated(path)),
            external={path: tuple(found) for path, found in self._external.items()},
            unresolved={path: tuple(missing) for path, missing in self._unresolved.items()},
            self_imports=tuple(edge for edge in own if self._files[edge.source].language != "java"),
            modules=modules,
            cycles=cycles,
            deferred_cycles=deferred_cycles,
            entries=public_entries(self._files, self._nodes),
            packages=self._packages(),
        )

    def _edges_from(self, path: str, facts: FileFacts) -> list[Edge]:
        resolver = self._resolver_of(facts.language)
        found: dict[str, list[tuple[int, Import, tuple[str, ...]]]] = {}
        for statement in facts.imports:
            resolution: Resolution = resolver.resolve(path, statement)
            if resolution.external:
                entry = External(package=resolution.external, line=statement.line, statement=statement)
                self._external.setdefault(path, []).append(entry)
            elif resolution.missing:
                self._unresolved.setdefault(path, []).append(statement)
            rank = _rank(statement.flags, facts.language)
            for target, names in resolution.targets:
                found.setdefault(target, []).append((rank, statement, names))
        return [_edge(path, target, found[target]) for target in sorted(found)]

    def _resolver_of(
        self, language: str
    ) -> python.PythonResolver | script.ScriptResolver | java.JavaResolver | golang.GoResolver:
        if language == "python":
            return self._python
        if language == "java":
            return self._java
        return self._go if language == "go" else self._script

    def _unit_of(self, path: str) -> str:
        language = self._files[path].language
        if language == "java":
            return folder_of(path)
        return self._go.module_folder(path) if language == "go" else path

    def _packages(self) -> dict[str, str]:
        packages = {}
        for path in self._nodes:
            language = self._files[path].language
            if language in script.LANGUAGES:
                packages[path] = self._script.packages.folder_of_package(path)
            elif language in ("java", "go"):
                packages[path] = folder_of(path)
            else:
                packages[path] = self._python.root_of(path)
        return packages

    def _is_generated(self, path: str) -> bool:
        return kind_of(path) is FileKind.GENERATED or self._files[path].skipped == "generated"


def _rank(flags: int, language: str) -> int:
    if flags & _FLAG_TYPE_ONLY:
        return _TYPE_ONLY
    # `import()` waits for no one in JavaScript; Python's import_module loads at once.
    if flags & _FLAG_DEFERRED or (flags & _FLAG_DYNAMIC and language != "python"):
        return _DEFERRED
    return _HARD


def _edge(source: str, target: str, statements: list[tuple[int, Import, tuple[str, ...]]]) -> Edge:
    rank, first, names = statements[0]
    reexport = bool(first.flags & _FLAG_REEXPORT)
    if len(statements) > 1:
        rank, first, _ = min(statements, key=lambda item: (item[0], item[1].line))
        names = tuple(dict.fromkeys(name for item in statements if item[0] == rank for name in item[2]))
        reexport = all(item[1].flags & _FLAG_REEXPORT for item in statements if item[0] == rank)
    return Edge(
        source=source,
        target=target,
        line=first.line,
        names=names,
        runtime=rank != _TYPE_ONLY,
        deferred=rank == _DEFERRED,
        reexport=reexport,
    )
