"""Finds import cycles: strongly connected components of what files load while they are loaded themselves.

Type-only imports, tests, and barrel files (`index.ts`) that pass on names of their own folder do not count. Python
and JavaScript are judged by file. Java is judged by the folder of a package, since classes of one package see each
other anyway. Go packages cannot import in a circle, so Go is judged by module (`go.mod`).
"""

from collections.abc import Iterable, Mapping

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
        arcs = _arcs(counting, units)
        hard_arcs = {pair: [edge for edge in group if not edge.deferred] for pair, group in arcs.items()}
        cuts: Cuts = {}
        hard = self._components({pair: group for pair, group in hard_arcs.items() if group}, cuts, deferred=False)
        in_hard = frozenset(unit for cycle in hard for unit in cycle.units)
        soft = self._components(arcs, cuts, deferred=True, without=in_hard)
        self._cuts = cuts
        return tuple(hard), tuple(soft)

    def _components(
        self, arcs: Arcs, cuts: Cuts, *, deferred: bool, without: frozenset[str] = frozenset()
    ) -> list[Cycle]:
        cycles = []
        for names, inner in _strong_components(arcs):
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
    folder, _, name = edge.source.rpartition("/")
    return edge.reexport and name in _BARRELS and is_inside(folder_of(edge.target), folder)


def _arcs(edges: Iterable[Edge], units: Units) -> Arcs:
    arcs: Arcs = {}
    for edge in edges:
        pair = (units[edge.source], units[edge.target])
        if pair[0] != pair[1]:
            arcs.setdefault(pair, []).append(edge)
    return arcs


def _strong_components(arcs: Arcs) -> list[tuple[list[str], Arcs]]:
    """The components of two or more units, each sorted and with the arcs inside it."""
    units = sorted({unit for pair in arcs for unit in pair})
    number = {unit: index for index, unit in enumerate(units)}
    graph = rx.PyDiGraph()
    graph.add_nodes_from(units)
    graph.add_edges_from_no_data([(number[source], number[target]) for source, target in sorted(arcs)])
    component_of: dict[str, int] = {}
    components: list[tuple[list[str], Arcs]] = []
    for component in rx.strongly_connected_components(graph):
        if len(component) > 1:
            names = sorted(units[index] for index in component)
            component_of.update(dict.fromkeys(names, len(components)))
            components.append((names, {}))
    for (source, target), group in arcs.items():
        index = component_of.get(source)
        if index is not None and component_of.get(target) == index:
            components[index][1][source, target] = group
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
