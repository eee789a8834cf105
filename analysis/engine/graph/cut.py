"""The smallest set of arcs whose removal leaves no circle: the feedback arc set.

Exact for up to ten nodes by dynamic programming over the order of nodes (Lawler 1964): the best order of a subset ends
with one of its nodes, which pays for its arcs back into the rest. Larger components take the greedy order of Eades,
Lin and Smyth (1993), improved by moving single nodes while that helps, and give back the arcs that close no circle.
"""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

import rustworkx as rx

EXACT_UP_TO_NODES = 10
_IMPROVING_ROUNDS = 4
_MOST_NODES_TO_MOVE = 1_500
_MOST_STEPS = 50_000_000  # of all walks together, about a second

Arc = tuple[int, int]
Weights = Mapping[Arc, int]


def smallest_cut(size: int, weights: Weights) -> list[Arc]:
    """Arcs to remove, sorted. Nodes are 0 to `size` - 1, weights are positive; the same input gives the same cut."""
    order = _exact_order(size, weights) if size <= EXACT_UP_TO_NODES else _good_order(size, weights)
    place = {node: index for index, node in enumerate(order)}
    back = [arc for arc in weights if place[arc[0]] >= place[arc[1]]]
    return sorted(_without_needless(size, weights, back))


def _exact_order(size: int, weights: Weights) -> list[int]:
    cost_into = _costs_into_subsets(size, weights)
    best = [0] * (1 << size)
    last = [0] * (1 << size)
    for subset in range(1, 1 << size):
        best[subset] = -1
        for node in range(size):
            if not subset >> node & 1:
                continue
            rest = subset & ~(1 << node)
            cost = best[rest] + cost_into[node][rest]
            if best[subset] < 0 or cost < best[subset]:
                best[subset], last[subset] = cost, node
    order = []
    subset = (1 << size) - 1
    while subset:
        order.append(last[subset])
        subset &= ~(1 << last[subset])
    return order[::-1]


def _costs_into_subsets(size: int, weights: Weights) -> list[list[int]]:
    """For each node and each subset, the weight of the node's arcs into the subset."""
    table = []
    for node in range(size):
        costs = [0] * (1 << size)
        for subset in range(1, 1 << size):
            low = subset & -subset
            costs[subset] = costs[subset ^ low] + weights.get((node, low.bit_length() - 1), 0)
        table.append(costs)
    return table


def _good_order(size: int, weights: Weights) -> list[int]:
    after: list[dict[int, int]] = [{} for _ in range(size)]
    before: list[dict[int, int]] = [{} for _ in range(size)]
    for (source, target), weight in weights.items():
        if source != target:
            after[source][target] = weight
            before[target][source] = weight
    order = _greedy_order(after, before)
    if size <= _MOST_NODES_TO_MOVE:
        for _ in range(_IMPROVING_ROUNDS):
            if not _improve(order, after, before):
                break
    return order


def _greedy_order(after: Sequence[Mapping[int, int]], before: Sequence[Mapping[int, int]]) -> list[int]:
    """Sinks to the end, sources to the front, else the node that points forward most."""
    left = _Left(after, before)
    front: list[int] = []
    back: list[int] = []
    while left.nodes:
        sources, sinks = left.take_ends()
        if sources or sinks:
            front += sources
            back += reversed(sinks)
        else:
            front.append(left.take_most_forward())
    return front + back[::-1]


class _Left:
    """The nodes that have no place yet, with the weight of the arcs among them that leave and reach each."""

    def __init__(self, after: Sequence[Mapping[int, int]], before: Sequence[Mapping[int, int]]) -> None:
        self._after, self._before = after, before
        self._leaving = [sum(arcs.values()) for arcs in after]
        self._arriving = [sum(arcs.values()) for arcs in before]
        self.nodes = set(range(len(after)))
        self._ends = {node for node in self.nodes if self._is_end(node)}
        # Entries go stale when a neighbour is taken; the entry of today lies in the heap as well.
        self._forward = [(self._balance(node), node) for node in self.nodes]
        heapify(self._forward)

    def take_ends(self) -> tuple[list[int], list[int]]:
        """All that nothing reaches and all that nothing leaves, each in order; what is alone counts as a sink."""
        ends = sorted(self._ends)
        sinks = [node for node in ends if not self._leaving[node]]
        sources = [node for node in ends if self._leaving[node]]
        self._ends = set()
        self._take(ends)
        return sources, sinks

    def take_most_forward(self) -> int:
        while True:
            balance, node = heappop(self._forward)
            if node in self.nodes and balance == self._balance(node):
                self._take([node])
                return node

    def _take(self, taken: Sequence[int]) -> None:
        self.nodes.difference_update(taken)
        touched = set()
        for node in taken:
            for target, weight in self._after[node].items():
                self._arriving[target] -= weight
                touched.add(target)
            for source, weight in self._before[node].items():
                self._leaving[source] -= weight
                touched.add(source)
        for node in touched & self.nodes:
            heappush(self._forward, (self._balance(node), node))
            if self._is_end(node):
                self._ends.add(node)

    def _balance(self, node: int) -> int:
        return self._arriving[node] - self._leaving[node]

    def _is_end(self, node: int) -> bool:
        return not self._leaving[node] or not self._arriving[node]


def _improve(order: list[int], after: Sequence[Mapping[int, int]], before: Sequence[Mapping[int, int]]) -> bool:
    """Move each node to its best place once; whether anything moved."""
    improved = False
    place = [0] * len(order)
    for index, node in enumerate(order):
        place[node] = index
    for node in sorted(order):
        here = place[node]
        there = _best_place(node, here, place, after[node], before[node])
        if there == here:
            continue
        order.insert(there, order.pop(here))
        for index in range(min(here, there), max(here, there) + 1):
            place[order[index]] = index
        improved = True
    return improved


def _best_place(node: int, here: int, place: Sequence[int], after: Mapping[int, int], before: Mapping[int, int]) -> int:
    """The index that `node` should have, counted with `node` taken out of the order."""
    # Passing a neighbour to the right turns an arc to it backward and an arc from it forward.
    gain = {place[other]: after.get(other, 0) - before.get(other, 0) for other in {*after, *before}}
    best_cost, best = 0, here
    cost = 0
    for index in sorted(index for index in gain if index > here):
        cost += gain[index]
        if cost < best_cost:
            best_cost, best = cost, index
    cost = 0
    for index in sorted((index for index in gain if index < here), reverse=True):
        cost -= gain[index]
        if cost < best_cost:
            best_cost, best = cost, index
    return best


def _without_needless(size: int, weights: Weights, cut: list[Arc]) -> list[Arc]:
    """The cut without arcs that close no circle, the dearest given back first."""
    removed = set(cut)
    graph = rx.PyDiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from_no_data([arc for arc in weights if arc not in removed])
    # Each question may walk the whole graph. Giants keep what there is no time to ask about: still a cut.
    questions = max(1, _MOST_STEPS // max(1, len(weights)))
    in_order = sorted(cut, key=lambda arc: (-weights[arc], arc))
    needed = in_order[questions:]
    for arc in in_order[:questions]:
        if arc[0] == arc[1] or rx.has_path(graph, arc[1], arc[0]):
            needed.append(arc)
        else:
            graph.add_edge(arc[0], arc[1], None)
    return needed
