"""One walk over a tree brings every node that somebody wants to see, in the order of the document."""

from collections.abc import Iterable
from dataclasses import dataclass

from tree_sitter import Language, Node, Query, QueryCursor


@dataclass(slots=True)
class Nodes:
    """What a query brought. All lists stand in the order of the document, outer nodes before inner ones; booleans do
    not, since their pattern ends at the operator."""

    calls: list[Node]
    imports: list[Node]
    booleans: list[Node]
    structure: list[tuple[int, Node]]  # with the place of their type in the dialect's list
    by_type: dict[str, list[Node]]  # of the structure, of comments, and of what rules watch


class NodeQuery:
    """A query with a pattern for each node type, so that the number of a match says what it is.

    Single nodes without text predicates: those would be evaluated for every node. And `matches`, since `captures`
    come in no order.
    """

    def __init__(
        self,
        language: Language,
        *,
        calls: Iterable[str],
        imports: Iterable[str],
        booleans: str,
        structure: tuple[str, ...],
        others: tuple[str, ...],
    ) -> None:
        self._structure, self._others = structure, others
        self._lists = ("calls", "imports", "booleans") if calls else ("imports", "booleans")
        firsts = (*([_any(calls)] if calls else []), _any(imports), f"[{booleans}]")
        patterns = (*map(pattern, structure), *firsts, *map(pattern, others))
        self._query = Query(language, "\n".join(each if "@n" in each else f"{each} @n" for each in patterns))

    def nodes(self, root: Node) -> Nodes:
        structure: list[tuple[int, Node]] = []
        by_type: dict[str, list[Node]] = {each: [] for each in (*self._structure, *self._others)}
        found = Nodes([], [], [], structure, by_type)
        structural = len(self._structure)
        lists = list(by_type.values())
        lists[structural:structural] = [getattr(found, each) for each in self._lists]
        for number, captured in QueryCursor(self._query).matches(root):
            node = captured["n"][0]
            lists[number].append(node)
            if number < structural:
                structure.append((number, node))
        return found


def pattern(node_type: str) -> str:
    """The query pattern of a node type; signs and the word `else` are anonymous nodes. A pattern stays as it is."""
    if "@n" in node_type:
        return node_type
    return f"({node_type})" if node_type[0].isalpha() and node_type != "else" else f'"{node_type}"'


def _any(types: Iterable[str]) -> str:
    return f"[{' '.join(map(pattern, types))}]"
