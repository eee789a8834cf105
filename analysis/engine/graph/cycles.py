"""Finds import cycles: strongly connected components of what files load while they are loaded themselves.

Type-only imports, tests, and barrel files (`index.ts`) that pass on names of their own folder do not count. Python
and JavaScript are judged by file. Java is judged by the folder of a package, since classes of one package see each
other anyway. Go packages cannot import in a circle, so Go is judged by module (`go.mod`).
"""

from collections.abc import Callable, Iterable

import rustworkx as rx

from analysis.engine.graph.cut import smallest_cut
from analysis.engine.graph.model import Cycle, Edge
from analysis.engine.graph.paths import folder_of, is_inside

# One edge weighs more than all names that edges of one cycle import, so the number of edges decides first.
_EDGE_WEIGHT = 1_000_000
_ALL_NAMES = 1_000
_BARRELS = frozenset(f"index.{suffix}" for suffix in ("ts", "tsx", "js", "jsx", "mts", "cts", "mjs", "cjs"))

UnitOf = Callable[[str], str]


def find_cycles(edges: Iterable[Edge], unit_of: UnitOf) -> tuple[tuple[Cycle, ...], tuple[Cycle, ...]]:
    """Cycles at run time, and cycles that only close through deferred imports; each sorted by first file."""
    counting = [edge for edge in edges if edge.runtime and not _is_own_barrel(edge)]
    arcs = _arcs(counting, unit_of)
    hard_arcs = {pair: [edge for edge in group if not edge.deferred] for pair, group in arcs.items()}
    hard = _components({pair: group for pair, group in hard_arcs.items() if group}, deferred=False)
    in_hard = {unit for cycle in hard for unit in cycle.units}
    soft = [cycle for cycle in _components(arcs, deferred=True) if in_hard.isdisjoint(cycle.units)]
    return tuple(hard), tuple(soft)


def _is_own_barrel(edge: Edge) -> bool:
    folder, _, name = edge.source.rpartition("/")
    return edge.reexport and name in _BARRELS and is_inside(folder_of(edge.target), folder)


def _arcs(edges: Iterable[Edge], unit_of: UnitOf) -> dict[tuple[str, str], list[Edge]]:
    arcs: dict[tuple[str, str], list[Edge]] = {}
    for edge in edges:
        pair = (unit_of(edge.source), unit_of(edge.target))
        if pair[0] != pair[1]:
            arcs.setdefault(pair, []).append(edge)
    return arcs


def _components(arcs: dict[tuple[str, str], list[Edge]], *, deferred: bool) -> list[Cycle]:
    units = sorted({unit for pair in arcs for unit in pair})
    number = {unit: index for index, unit in enumerate(units)}
    graph = rx.PyDiGraph()
    graph.add_nodes_from(units)
    graph.add_edges_from_no_data([(number[source], number[target]) for source, target in sorted(arcs)])
    component_of: dict[str, int] = {}
    members: list[list[str]] = []
    for component in rx.strongly_connected_components(graph):
        if len(component) > 1:
            names = sorted(units[index] for index in component)
            component_of.update(dict.fromkeys(names, len(members)))
            members.append(names)
    inner: list[dict[tuple[str, str], list[Edge]]] = [{} for _ in members]
    for (source, target), group in arcs.items():
        index = component_of.get(source)
        if index is not None and component_of.get(target) == index:
            inner[index][source, target] = group
    cycles = [_cycle(names, group, deferred=deferred) for names, group in zip(members, inner, strict=True)]
    return sorted(cycles, key=lambda cycle: cycle.files)


def _cycle(units: list[str], arcs: dict[tuple[str, str], list[Edge]], *, deferred: bool) -> Cycle:
    number = {unit: index for index, unit in enumerate(units)}
    weights = {
        (number[source], number[target]): sum(map(_weight, arcs[source, target])) for source, target in sorted(arcs)
    }
    cut_arcs = smallest_cut(len(units), weights)
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
