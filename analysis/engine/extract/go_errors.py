"""Whether a function of Go leaves nothing to hear of its error result: it gives none, or has logged each."""

import re
from collections.abc import Iterator

from tree_sitter import Node

# A cheap question first: mostly an error is passed on, and nothing is logged.
_PASSES_ON = re.compile(rb"\breturn\b[^\n]*(?:[eE]rr|\bfmt\.Errorf\b)")
_LOGS = re.compile(
    rb"[\w.]*(?:\w+\(\)\.)*(?i:\w*log\w*)(?:\(\))?(?:\.With\w*\([^\n]*\))*\.(?:Error|Warn|Print|Info|Fatal)\w*\("
)
_HOLDS_STATEMENTS = frozenset(
    """block statement_list if_statement for_statement expression_switch_statement type_switch_statement
    select_statement expression_case type_case default_case communication_case labeled_statement""".split()
)


def settles_errors(body: Node, source: bytes) -> bool:
    """Whether each `return` of a function whose last result is an error gives nil, or stands behind a log."""
    text = source[body.start_byte : body.end_byte]
    if b"return" not in text or (b"og" not in text and _PASSES_ON.search(text) is not None):
        return False
    return all(_gives_nil(each, source) or _is_logged(each, source) for each in _returns(body))


def _returns(body: Node) -> Iterator[Node]:
    pending = [body]
    while pending:
        for child in pending.pop().named_children:
            if child.type == "return_statement":
                yield child
            elif child.type in _HOLDS_STATEMENTS:
                pending.append(child)


def _gives_nil(statement: Node, source: bytes) -> bool:
    given = statement.named_children[0] if statement.named_child_count else None
    if given is not None and given.type == "expression_list":
        given = given.named_children[-1]
    return given is not None and source[given.start_byte : given.end_byte] == b"nil"


def _is_logged(statement: Node, source: bytes) -> bool:
    """Whether a log stands right before, in the same branch."""
    before = statement.prev_named_sibling
    return before is not None and _LOGS.match(source, before.start_byte) is not None
