"""A jump out of `finally` discards the exception in flight or replaces the result."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.readers.handlers import HANDLERS
from analysis.engine.readers.reading import DEFINITIONS
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
GUIDE = Guide(
    why=(
        "A `return` in `finally` throws away the exception on its way out, and whatever the function was about to "
        "answer."
    ),
    flagged=(
        {
            "shop/work.py": """
def load(path):
    try:
        return read(path)
    finally:
        return None
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def load(path):
    try:
        return read(path)
    finally:
        close(path)
"""
        },
    ),
)

_LOOPS = frozenset({"for_statement", "while_statement", "for_in_statement", "do_statement", "enhanced_for_statement"})
_SWITCHES = frozenset({"switch_statement", "switch_expression"})
_LEAVES = {  # statement to its word
    "return_statement": "return",
    "break_statement": "break",
    "continue_statement": "continue",
    "throw_statement": "throw",
    "raise_statement": "raise",
}
_CAUGHT = re.compile(rb"except\b[^:\n]*\bas\s+(\w+)\s*:|catch\s*\((?:[^()]*\s)?(\w+)\s*\)")
_TAKES_ALL = re.compile(
    rb"except(?:\s*:|[^:\n]*\b(?:Base)?Exception\b)"
    rb"|catch\s*(?:\{|\(\s*(?:final\s+)?(?:\w+\s*\)|(?:Exception|Throwable)\b))"
)
_THROWS = re.compile(rb"\b(?:raise|throw)\b")


def look(clause: Node, file: SourceFile) -> Iterator[Mark]:
    """Each statement below the clause that leaves it. Nested definitions, loops and handled tries keep theirs."""
    found: list[tuple[Node, str]] = []
    pending: list[tuple[Node, frozenset[str]]] = [(clause, frozenset())]  # nodes with the jumps that stay inside
    while pending:
        node, kept = pending.pop()
        word = _LEAVES.get(node.type, "")
        if word:
            labelled = word in ("break", "continue") and node.named_child_count > 0
            if word not in kept or (labelled and not _has_label(clause, node, file)):
                found.append((node, word))
            continue
        pending.extend((child, kept | _kept_by(node, child)) for child in node.named_children if _is_entered(child))
    is_free = bool(found) and _has_nothing_in_flight(clause, file)
    for node, word in sorted(found, key=lambda each: each[0].start_byte):
        if word in ("throw", "raise") and (is_free or _throws_again(node, clause, file)):
            continue
        yield file.mark(
            RULE.id,
            node,
            f"`{word}` in `finally` discards an exception that is on its way",
            severity="info" if word == "raise" else "",
        )


def _has_nothing_in_flight(clause: Node, file: SourceFile) -> bool:
    """Whether a handler of the same `try` takes everything, and none throws: no exception is on its way any more."""
    attempt = clause.parent
    handlers = [each for each in attempt.named_children if each.type in HANDLERS] if attempt is not None else []
    return any(_TAKES_ALL.match(file.source, each.start_byte) for each in handlers) and not any(
        _THROWS.search(file.source, each.start_byte, each.end_byte) for each in handlers
    )


def _throws_again(statement: Node, clause: Node, file: SourceFile) -> bool:
    """Whether what a handler has caught is thrown again: one around the clause, or one before that has kept it."""
    thrown = statement.named_children[0] if statement.named_child_count else None
    if thrown is None or thrown.type != "identifier":
        return False
    name = re.escape(file.text(thrown))
    above = clause.parent
    while above is not None and above.type not in DEFINITIONS:
        if above.type == "catch_clause":
            return re.search(rf"\b{name}\s*\)", file.text(above).partition("{")[0]) is not None
        if any(_keeps(name, each, file) for each in above.named_children if each.type in HANDLERS):
            return True
        above = above.parent
    return False


def _keeps(name: str, handler: Node, file: SourceFile) -> bool:
    """Whether a handler puts what it has caught into a variable: `except OSError as exc: error = exc`."""
    found = _CAUGHT.match(file.source, handler.start_byte)
    caught = re.escape((found[1] or found[2]).decode()) if found is not None else r"(?!)"
    return re.search(rf"\b{name}\s*=\s*{caught}\b", file.text(handler)) is not None


def _is_entered(node: Node) -> bool:
    return node.type not in DEFINITIONS


def _kept_by(node: Node, child: Node) -> frozenset[str]:
    """Jumps below `child` that end at `node`."""
    if node.type in _LOOPS:
        return frozenset({"break", "continue"})
    if node.type in _SWITCHES:
        return frozenset({"break"})
    if node.type == "try_statement" and "block" in child.type and any(each.type in HANDLERS for each in node.children):
        return frozenset({"throw", "raise"})
    return frozenset()


def _has_label(clause: Node, jump: Node, file: SourceFile) -> bool:
    """Whether the label that the statement jumps to stands inside the clause."""
    label = re.escape(file.text(jump.named_children[0]))
    return bool(re.search(rf"\b{label}\s*:", file.text(clause)))


WATCHES = (Watch("finally", look, (*PYTHON, *SCRIPT, *JAVA)),)
