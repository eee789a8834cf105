"""Where a Go function leaves while it holds a lock, found by walking its statements.

The state of a walk is the set of what may be held when a statement is reached: the byte where the lock was taken, or
`FREE`. Two in the set mean that it depends on the way taken, and of that nothing is told.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile

FREE = -1
State = frozenset[int]
_NOWHERE: State = frozenset()
_CASES = frozenset({"expression_case", "default_case", "type_case", "communication_case"})
_SWITCHES = frozenset({"expression_switch_statement", "type_switch_statement", "select_statement"})
_LISTS = frozenset({"block", "statement_list"})
_ENDS = ("panic(", "os.Exit(", "log.Fatal", "runtime.Goexit(")


@dataclass
class Walk:
    """What a walk through one function found: the jumps that leave by the byte where the lock was taken, and whether
    the function releases what it has not taken, or does what the walk does not understand."""

    takes: str
    releases: str
    file: SourceFile
    left_by: dict[int, str] = field(default_factory=dict)
    is_unclear: bool = False
    _broken: list[set[int]] = field(default_factory=list)

    def run(self, body: Node) -> None:
        """Walk through the body of a function."""
        for held in self._through(body, frozenset({FREE})) - {FREE}:
            self.left_by.setdefault(held, "")

    def _through(self, node: Node, state: State) -> State:
        kind = node.type
        if kind in _LISTS:
            return self._in_order(node.named_children, state)
        if kind == "expression_statement":
            return self._called(node, state)
        if kind == "return_statement":
            return self._left("return", state)
        if kind in ("goto_statement", "fallthrough_statement"):
            self.is_unclear = True
        elif kind in ("break_statement", "continue_statement"):
            if self._broken:
                self._broken[-1].update(state)
            if node.named_children:
                self.is_unclear = True  # it leaves more than the innermost loop
            return _NOWHERE
        elif kind == "labeled_statement":
            return self._in_order(node.named_children, state)
        elif kind == "if_statement":
            then, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
            taken = self._through(then, state) if then is not None else state
            return taken | (self._through(other, state) if other is not None else state)
        elif kind == "for_statement":
            return self._looped(node, state)
        elif kind in _SWITCHES:
            return self._switched(node, state)
        elif kind == "defer_statement" and self.releases in self.file.text(node):
            self.is_unclear = True
        return state

    def _in_order(self, nodes: Iterable[Node], state: State) -> State:
        for each in nodes:
            state = self._through(each, state)
            if not state:
                break
        return state

    def _called(self, node: Node, state: State) -> State:
        text = self.file.text(node)
        if text == self.takes:
            return frozenset({node.start_byte})
        if text == self.releases:
            if state == {FREE}:
                self.is_unclear = True  # taken by the caller
            return frozenset({FREE})
        return _NOWHERE if text.startswith(_ENDS) else state

    def _left(self, how: str, state: State) -> State:
        if len(state) == 1 and FREE not in state:
            self.left_by.setdefault(next(iter(state)), how)
        return _NOWHERE

    def _looped(self, node: Node, state: State) -> State:
        body = node.child_by_field_name("body")
        self._broken.append(set())
        after = self._through(body, state) if body is not None else state
        broken = frozenset(self._broken.pop())
        is_endless = len(node.named_children) == 1
        if is_endless and after - state:
            self.is_unclear = True  # held from one round to the next
        return broken if is_endless else state | after | broken

    def _switched(self, node: Node, state: State) -> State:
        cases = [each for each in node.named_children if each.type in _CASES]
        is_whole = node.type == "select_statement" or any(each.type == "default_case" for each in cases)
        self._broken.append(set())
        after = frozenset[int]() if is_whole else state
        for case in cases:
            after |= self._in_order(case.named_children, state)
        return after | frozenset(self._broken.pop())


def leaving(takes: str, releases: str, body: Node, file: SourceFile) -> dict[int, str]:
    """How the function leaves with the lock taken at a byte: `return`, or empty where it reaches its end. Nothing where
    it is not certain."""
    walk = Walk(takes, releases, file)
    walk.run(body)
    return {} if walk.is_unclear else walk.left_by
