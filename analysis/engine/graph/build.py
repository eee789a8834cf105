"""Builds the import graph from facts: resolves imports, joins them to edges, finds modules and cycles."""

from analysis.engine.facts import FileFacts
from analysis.engine.graph.cycles import CycleFinder
from analysis.engine.graph.entries import public_entries
from analysis.engine.graph.families import Family, GoFamily, JavaFamily, PythonFamily, ScriptFamily
from analysis.engine.graph.model import ImportGraph
from analysis.engine.graph.paths import folder_of
from analysis.engine.graph.resolution import Files, is_test
from analysis.engine.languages import FileKind, kind_of


def build_graph(files: Files) -> ImportGraph:
    """The import graph of a codebase. Manifests among `files` tell how imports resolve; nothing else is read."""
    return GraphBuilder().build(files)


class GraphBuilder:
    """Builds the graphs of one state after the other and keeps what is the same.

    What it says of a state never depends on the states before. A state with the same imports gets the same object.
    """

    def __init__(self) -> None:
        self._go = GoFamily()
        self._families: tuple[Family, ...] = (PythonFamily(), ScriptFamily(), JavaFamily(), self._go)
        self._family_of = {language: family for family in self._families for language in family.languages}
        self._cycles = CycleFinder()
        self._graph = ImportGraph(nodes=(), edges=())

    def build(self, files: Files) -> ImportGraph:
        """The import graph of the files of one state."""
        members: dict[Family, dict[str, FileFacts]] = {family: {} for family in self._families}
        manifests: dict[str, FileFacts] = {}
        for path in sorted(files):
            facts = files[path]
            family = self._family_of.get(facts.language)
            if family is not None:
                members[family][path] = facts
            elif facts.language == "manifest":
                manifests[path] = facts
        for each in self._families:
            each.update(members[each], manifests)
        nodes = tuple(sorted(path for family in self._families for path in family.nodes))
        entries = public_entries(files, nodes)
        generated = frozenset(path for path in nodes if _is_generated(path, files[path]))
        before = self._graph
        same = all(family.is_same for family in self._families)
        if not same or entries != before.entries or generated != before.generated:
            self._graph = self._joined(files, nodes, entries, generated)
        return self._graph

    def _joined(
        self, files: Files, nodes: tuple[str, ...], entries: dict[str, str], generated: frozenset[str]
    ) -> ImportGraph:
        found = {path: known for family in self._families for path, known in family.imports.items()}
        in_order = [(path, found[path]) for path in nodes]
        tests = frozenset(path for path in nodes if is_test(path))
        edges = tuple([edge for _, known in in_order for edge in known.edges])
        counting = [edge for edge in edges if edge.source not in tests and edge.target not in tests]
        units = {path: self._unit_of(path, files[path].language) for path in nodes}
        cycles, deferred_cycles = self._cycles.find(counting, units)
        return ImportGraph(
            nodes=nodes,
            edges=edges,
            tests=tests,
            generated=generated,
            external={path: known.external for path, known in in_order if known.external},
            unresolved={path: known.unresolved for path, known in in_order if known.unresolved},
            self_imports=tuple(
                edge for path, known in in_order for edge in known.own if files[path].language != "java"
            ),
            modules={path: module for family in self._families for path, module in family.modules.items()},
            cycles=cycles,
            deferred_cycles=deferred_cycles,
            entries=entries,
            packages={path: package for family in self._families for path, package in family.packages.items()},
        )

    def _unit_of(self, path: str, language: str) -> str:
        if language == "java":
            return folder_of(path)
        return self._go.unit_of(path) if language == "go" else path


def _is_generated(path: str, facts: FileFacts) -> bool:
    return kind_of(path) is FileKind.GENERATED or facts.skipped == "generated"
