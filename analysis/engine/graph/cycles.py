"""Finds import cycles: strongly connected components of what files load while they are loaded themselves.

Type-only imports, tests, and barrel files (`index.ts`) that pass on names of their own folder do not count. Python
and JavaScript are judged by file. Java is judged by the folder of a package, since classes of one package see each
other anyway. Go packages cannot import in a circle, so Go is judged by module (`go.mod`).
"""

from collections.abc import Iterable, Mapping
from itertools import chain

import rustworkx as rx

from analysis.engine.graph.cut import Arc, smallest_cut
from analysis.engine.graph.model import Cycle, Edge
from analysis.engine.graph.paths import folder_of, is_inside

# One edge weighs more than all names that edges of one cycle import, so the number of edges decides first.
_EDGE_WEIGHT = 1_000_000
_ALL_NAMES = 1_000
_BARRELS = frozenset(f"index.{suffix}" for suffix in ("ts", "tsx", "js", "jsx", "mts", "cts", "mjs", "cjs"))

Units = Mapping[str, str]  # path to what goes in a circle
Arcs = dict[tuple[str, str], list[Edge]]
Cuts = dict[tuple[int, tuple[tuple[Arc, int], ...]], list[Arc]]  # by the size and the weights of a component


class CycleFinder:
    """Finds the cycles of one state after the other; a component that stayed as it was keeps its cut."""

    def __init__(self) -> None:
        self._key: tuple[list[Edge], Units] | None = None
        self._cycles: tuple[tuple[Cycle, ...], tuple[Cycle, ...]] = ((), ())
        self._cuts: Cuts = {}

    def find(self, edges: Iterable[Edge], units: Units) -> tuple[tuple[Cycle, ...], tuple[Cycle, ...]]:
        """Cycles at run time, and cycles that only close through deferred imports; each sorted by first file."""
        counting = [edge for edge in edges if edge.runtime and not edge.erased and not _is_own_barrel(edge)]
        if self._key != (counting, units):
            self._key = (counting, units)
            self._cycles = self._found(counting, units)
        return self._cycles

    def _found(self, counting: list[Edge], units: Units) -> tuple[tuple[Cycle, ...], tuple[Cycle, ...]]:
        cuts: Cuts = {}
        at_once = [edge for edge in counting if not edge.deferred]
        hard = self._cycles_of(at_once, units, cuts, deferred=False)
        soft = []
        if len(at_once) < len(counting):
            in_hard = frozenset(unit for cycle in hard for unit in cycle.units)
            soft = self._cycles_of(counting, units, cuts, deferred=True, without=in_hard)
        self._cuts = cuts
        return tuple(hard), tuple(soft)

    def _cycles_of(
        self,
        edges: list[Edge],
        units: Units,
        cuts: Cuts,
        *,
        deferred: bool,
        without: frozenset[str] = frozenset(),
    ) -> list[Cycle]:
        cycles = []
        for names, inner in _strong_components(edges, units):
            if not without.isdisjoint(names):
                continue
            number = {unit: index for index, unit in enumerate(names)}
            weights = {
                (number[source], number[target]): sum(map(_weight, inner[source, target]))
                for source, target in sorted(inner)
            }
            key = (len(names), tuple(weights.items()))
            cut = cuts[key] = cuts.get(key) or self._cuts.get(key) or smallest_cut(len(names), weights)
            cycles.append(_cycle(names, inner, cut, deferred=deferred))
        return sorted(cycles, key=lambda cycle: cycle.files)


def _is_own_barrel(edge: Edge) -> bool:
    if not edge.reexport:
        return False
    folder, _, name = edge.source.rpartition("/")
    return name in _BARRELS and is_inside(folder_of(edge.target), folder)


def _strong_components(edges: list[Edge], units: Units) -> list[tuple[list[str], Arcs]]:
    """The components of two or more units, each sorted and with the arcs inside it."""
    pairs = [(units[edge.source], units[edge.target]) for edge in edges]
    graph = rx.PyDiGraph()
    number = {unit: graph.add_node(unit) for unit in dict.fromkeys(chain.from_iterable(pairs))}
    graph.add_edges_from_no_data([(number[source], number[target]) for source, target in set(pairs)])
    component_of: dict[str, int] = {}
    components: list[tuple[list[str], Arcs]] = []
    for component in rx.strongly_connected_components(graph):
        if len(component) > 1:
            names = sorted(graph[index] for index in component)
            component_of.update(dict.fromkeys(names, len(components)))
            components.append((names, {}))
    for edge, (source, target) in zip(edges, pairs, strict=True):
        index = component_of.get(source)
        if index is not None and source != target and component_of.get(target) == index:
            components[index][1].setdefault((source, target), []).append(edge)
    return components


def _cycle(units: list[str], arcs: Arcs, cut_arcs: list[Arc], *, deferred: bool) -> Cycle:
    cut = [edge for source, target in cut_arcs for edge in arcs[units[source], units[target]]]
    edges = sorted((edge for group in arcs.values() for edge in group), key=_place)
    files = {path for edge in edges for path in (edge.source, edge.target)}
    return Cycle(
        files=tuple(sorted(files)),
        edges=tuple(edges),
        cut=tuple(sorted(cut, key=lambda edge: (_weight(edge), _place(edge)))),
        units=tuple(units),
        deferred=deferred,
    )


def _weight(edge: Edge) -> int:
    """Edges first, names second; a whole module counts as many names."""
    names = _ALL_NAMES if "*" in edge.names else min(len(edge.names) or 1, _ALL_NAMES)
    return _EDGE_WEIGHT + names


def _place(edge: Edge) -> tuple[str, str, int]:
    return edge.source, edge.target, edge.line
