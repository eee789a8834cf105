"""An exception is created and dropped, or something that is no exception is raised."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.rules.base import JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="rel-exception-not-raised",
    type="exception_not_raised",
    category=Category.RELIABILITY,
    title="Exception created but not raised",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Add `raise`/`throw`.",
    languages=(*PYTHON, *SCRIPT, *JAVA),
)
GUIDE = Guide(
    why="The check is there and does nothing: the exception is made and thrown away.",
    flagged=(
        {
            "shop/work.py": """
def pay(amount):
    if amount < 0:
        ValueError("negative")
    return amount
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def pay(amount):
    if amount < 0:
        raise ValueError("negative")
    return amount
"""
        },
    ),
)

_OF_SCRIPT = frozenset(
    "Error TypeError RangeError SyntaxError ReferenceError EvalError URIError AggregateError".split()
)
_RAISED = re.compile(rb"\b(?:raise|throw|return)\s+\Z")
_NOT_IMPLEMENTED = re.compile(rb"raise\s+NotImplemented\b(?!Error)")
_BRACKET = re.compile(rb"assert ?\(")


def look_at_creation(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee, start = file.callee(call), call.start_byte
    name = callee.rpartition(".")[2]
    if not name[:1].isupper() or _RAISED.search(file.source, max(0, start - 20), start):
        return
    statement = call.parent
    if statement is None or statement.type != "expression_statement" or statement.start_byte != start:
        return
    if _is_value_of_switch(statement):
        return
    # In script only those of the language can be made without `new`: another name is that of a function.
    if file.language in SCRIPT and not file.source.startswith(b"new", start) and name not in _OF_SCRIPT:
        return
    if not _is_something_else(callee, file):
        yield file.mark(RULE.id, call, f"`{name}` is created and dropped; nothing is raised here")


def look_at_raise(statement: Node, file: SourceFile) -> Iterator[Mark]:
    if _NOT_IMPLEMENTED.match(file.source, statement.start_byte):
        yield file.mark(
            RULE.id,
            statement,
            "`NotImplemented` is a value, not an exception: this raises a TypeError",
            suggestion="Raise `NotImplementedError`.",
        )


def look_at_assert(statement: Node, file: SourceFile) -> Iterator[Mark]:
    asserted = statement.named_children[0]
    if asserted.type == "tuple" and asserted.named_child_count == 2:
        yield file.mark(
            RULE.id,
            statement,
            "`assert (condition, message)` asserts a tuple, which is always true",
            suggestion="Remove the brackets: `assert condition, message`.",
        )


def _is_value_of_switch(statement: Node) -> bool:
    """Whether it is what a case of a `switch` gives that is itself a value: `case 404 -> new NotFoundException();`."""
    rule = statement.parent
    block = rule.parent if rule is not None and rule.type == "switch_rule" else None
    switch = block.parent if block is not None else None
    return (
        switch is not None and switch.parent is not None and switch.parent.type not in ("block", "expression_statement")
    )


def _is_something_else(callee: str, file: SourceFile) -> bool:
    """A class of the file that has no base, so it is no exception."""
    return any(scope.kind == "class" and _declared(scope.node, file) == (callee, False) for scope in file.scopes)


def _declared(node: Node, file: SourceFile) -> tuple[str, bool]:
    name = node.child_by_field_name("name")
    bases = node.child_by_field_name("superclasses") or node.child_by_field_name("superclass")
    heritage = bases is not None or any(child.type == "class_heritage" for child in node.children)
    return (file.text(name) if name is not None else ""), heritage


WATCHES = (
    Watch("call", look_at_creation, (*PYTHON, *SCRIPT, *JAVA), endings=("Error", "Exception")),
    Watch("throw", look_at_raise, PYTHON),
    Watch("(assert_statement . (tuple)) @n", look_at_assert, PYTHON, needs=(b"assert (", b"assert("), starts=_BRACKET),
)
