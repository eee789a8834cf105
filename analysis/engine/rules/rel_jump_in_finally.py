"""A jump out of `finally` discards the exception in flight or replaces the result."""

from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Rule, Severity
from analysis.engine.rules.base import JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="rel-jump-in-finally",
    type="jump_in_finally",
    category=Category.RELIABILITY,
    title="Jump out of finally",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Move the jump after the try statement.",
    languages=(*PYTHON, *SCRIPT, *JAVA),
)

_DEFINITIONS = frozenset(
    """function_definition lambda class_definition function_declaration function_expression arrow_function class_body
    generator_function generator_function_declaration method_definition class_declaration method_declaration
    constructor_declaration lambda_expression""".split()
)
_LOOPS = frozenset(
    """for_statement while_statement for_in_statement do_statement enhanced_for_statement switch_statement
    switch_expression""".split()
)
_RETURNS = {"return_statement": "return"}
_JUMPS = {"break_statement": "break", "continue_statement": "continue"}
_THROWS = {"throw_statement": "throw", "raise_statement": "raise"}
_HANDLED = frozenset({"except_clause", "catch_clause"})


def look(clause: Node, file: SourceFile) -> Iterator[Mark]:
    """Each statement below the clause that leaves it. Nested definitions, loops and handled tries keep theirs."""
    pending: list[tuple[Node, bool, bool]] = [(child, False, False) for child in clause.named_children]
    found: list[tuple[Node, str]] = []
    while pending:
        node, in_loop, handled = pending.pop()
        if node.type in _DEFINITIONS:
            continue
        word = _word(node, in_loop, handled)
        if word:
            found.append((node, word))
            continue
        in_loop = in_loop or node.type in _LOOPS
        handled = handled or (node.type == "try_statement" and any(each.type in _HANDLED for each in node.children))
        pending.extend((child, in_loop, handled) for child in node.named_children)
    for node, word in sorted(found, key=lambda each: each[0].start_byte):
        yield file.mark(
            RULE.id,
            node,
            f"`{word}` in `finally` discards an exception that is on its way",
            severity="info" if word == "raise" else "",
        )


def _word(node: Node, in_loop: bool, handled: bool) -> str:
    """How a statement leaves the clause; empty when it does not. A labelled jump may leave a nested loop."""
    if node.type in _RETURNS:
        return _RETURNS[node.type]
    if node.type in _JUMPS and (not in_loop or node.named_child_count > 0):
        return _JUMPS[node.type]
    return _THROWS.get(node.type, "") if not handled else ""


WATCHES = (Watch("finally", look, (*PYTHON, *SCRIPT, *JAVA)),)
