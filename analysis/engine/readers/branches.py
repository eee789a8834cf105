"""Which of two places of a function run together, as the tree tells."""

from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.readers.reading import statements

_BLOCKS = frozenset({"block", "statement_block", "switch_block_statement_group", "case_clause", "else_clause"})
_FORKS = frozenset(
    """if_statement switch_statement switch_expression switch_body switch_block match_statement select_statement
    expression_switch_statement type_switch_statement try_statement conditional_expression ternary_expression
    elif_clause""".split()
)
_CONDITIONS = frozenset({"condition", "value", "subject", "initializer"})
_LEAVES = frozenset({"return_statement", "raise_statement", "throw_statement", "continue_statement", "break_statement"})


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
