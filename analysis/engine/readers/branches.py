"""Which of two places of a function run together, and what runs only where a row is missing, as the tree tells."""

import re
from collections.abc import Iterator
from itertools import takewhile

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import statements

_BLOCKS = frozenset({"block", "statement_block", "switch_block_statement_group", "case_clause", "else_clause"})
_FORKS = frozenset(
    """if_statement switch_statement switch_expression switch_body switch_block match_statement select_statement
    expression_switch_statement type_switch_statement try_statement conditional_expression ternary_expression
    elif_clause""".split()
)
_CONDITIONS = frozenset({"condition", "value", "subject", "initializer"})
_LEAVES = frozenset({"return_statement", "raise_statement", "throw_statement", "continue_statement", "break_statement"})
_MISSING = re.compile(r"\(?\s*(?:not\s+(\w+)|!\s*(\w+)|(\w+)\s+is\s+None|(\w+)\s*={2,3}\s*(?:null|undefined))\s*\)?$")
_SAYS_WHY = re.compile(rb"^[ \t]*(?:#|//|\*)[^\n]*\b(?:transaction|commit|atomic)", re.MULTILINE | re.IGNORECASE)
_TO_DO = re.compile(rb"\b(?:TODO|FIXME|XXX|HACK)\b|\b(?:should|missing|must)\b", re.IGNORECASE)
_LINES_ABOVE = 5
_CALLED = re.compile(rb"(?<![\w.])([A-Za-z_][\w.]*)\(")


def run_together(first: Node, second: Node) -> bool:
    """Whether one run through the function may reach both, the first before the second: they stand in no two branches
    of one fork, and no block that leaves the function or the round ends between them."""
    above = {node.id: node for node in _upwards(second)}
    below = first
    for node in _upwards(first):
        if node.id in above:
            return node.type not in _FORKS or _is_condition(node, below)
        if node.type in _BLOCKS and _leaves(node):
            return False
        below = node
    return False


def _upwards(node: Node | None) -> Iterator[Node]:
    while node is not None:
        yield node
        node = node.parent


def _is_condition(fork: Node, child: Node) -> bool:
    return any((found := fork.child_by_field_name(name)) is not None and found.id == child.id for name in _CONDITIONS)


def _leaves(block: Node) -> bool:
    inside = statements(block)
    return bool(inside) and inside[-1].type in _LEAVES


def made_when_missing(write: Node, file: SourceFile) -> Node | None:
    """The `if` under which a row is made because the one that a variable should hold is not there: whoever comes again
    finds it. Python and scripts."""
    return next((fork for fork, name in _missing_around(write, file) if _assigns(fork, name, file)), None)


def excludes(first: Node, second: Node, file: SourceFile) -> bool:
    """Whether the branch of the first gives a variable its value, and the second runs only where that has none."""
    branches = [node for node in _upwards(first) if node.type in _BLOCKS and node.end_byte <= second.start_byte]
    missing = {name for _, name in _missing_around(second, file)}
    return any(_assigns(branch, name, file) for branch in branches for name in missing)


def _missing_around(node: Node, file: SourceFile) -> Iterator[tuple[Node, str]]:
    """The forks around a node that ask whether a variable holds nothing, each with its name."""
    for fork in _upwards(node):
        condition = fork.child_by_field_name("condition") if fork.type == "if_statement" else None
        missing = _MISSING.match(file.text(condition)) if condition is not None else None
        if missing is not None:
            yield fork, next(filter(None, missing.groups()))


def _assigns(node: Node, name: str, file: SourceFile) -> bool:
    made = rb"(?<![\w.])" + re.escape(name.encode()) + rb"\s*=(?!=)"
    return re.search(made, file.source[node.start_byte : node.end_byte]) is not None


def is_on_purpose(start: int, file: SourceFile) -> bool:
    """Whether a comment above says that the transaction is ended, or left out, on purpose."""
    line = file.lines.of(start)
    above = file.source[file.lines.starts[max(0, line - 1 - _LINES_ABOVE)] : file.lines.starts[line - 1]]
    return _SAYS_WHY.search(above) is not None and _TO_DO.search(above) is None


def calls_apart(write: Node, function: Node, file: SourceFile) -> list[str]:
    """The names of what a function calls in such places only that never run together with a write: in other branches,
    behind a block that leaves, and in blocks before it that leave."""
    apart = list(_ranges_apart(write, function))
    if not apart:
        return []
    inside, outside = set[bytes](), set[bytes]()
    for call in _CALLED.finditer(file.source, function.start_byte, function.end_byte):
        is_apart = any(start <= call.start() < end for start, end in apart)
        (inside if is_apart else outside).add(call[1])
    return sorted(file.resolve(name.decode("utf-8", "replace")) for name in inside - outside)


def _ranges_apart(write: Node, function: Node) -> Iterator[tuple[int, int]]:
    below = write
    for node in _upwards(write):
        if node.id == function.id:
            return
        if node.type in _FORKS and not _is_condition(node, below):
            yield from _other_branches(node, below)
        if node.type in _BLOCKS:
            if _leaves(node):
                yield node.end_byte, function.end_byte
            yield from _leaving_before(node, below.start_byte)
        below = node


def _other_branches(fork: Node, taken: Node) -> Iterator[tuple[int, int]]:
    for branch in fork.named_children:
        if branch.id != taken.id and not _is_condition(fork, branch):
            yield branch.start_byte, branch.end_byte


def _leaving_before(block: Node, start: int) -> Iterator[tuple[int, int]]:
    """What runs only where the function is left before this byte."""
    for each in takewhile(lambda statement: statement.start_byte < start, statements(block)):
        body = each.child_by_field_name("consequence") if each.type == "if_statement" else None
        if body is not None and _leaves(body):
            yield body.start_byte, body.end_byte
