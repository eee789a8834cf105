"""An exception is created and dropped, or something that is no exception is raised."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts, Mark
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
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
_OWN = ("self.", "cls.", "this.")
_RAISED = re.compile(rb"\b(?:raise|throw|return)\s+\Z")
_NOT_IMPLEMENTED = re.compile(rb"raise\s+NotImplemented\b(?!Error)")
_NAMED = re.compile(r"(?:Error|Exception|Throwable)$")
_MADE = re.compile(rb"(?:[a-z_]\w*\.)*[A-Z]\w*\(")
_CREATIONS = frozenset({"call", "new_expression", "object_creation_expression"})
DEEPEST = 5  # classes above a class that are followed
_BRACKET = re.compile(rb"assert ?\(")


def look_at_creation(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee, start = file.callee(call), call.start_byte
    name = callee.rpartition(".")[2]
    if callee.startswith(_OWN) or not name[:1].isupper() or not name.isidentifier():
        return  # a method of an object, whatever it is called
    if _RAISED.search(file.source, max(0, start - 20), start):
        return
    statement = call.parent
    if statement is None or statement.type != "expression_statement" or statement.start_byte != start:
        return
    if _is_value_of_switch(statement):
        return
    # In script only those of the language can be made without `new`: another name is that of a function.
    if file.language in SCRIPT and not file.source.startswith(b"new", start) and name not in _OF_SCRIPT:
        return
    yield file.mark(RULE.id, call, f"`{name}` is created and dropped; nothing is raised here", data={"class": name})


def look_at_dropped(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """An object of a class with any other name: whether it is an exception is looked up."""
    made = statement.named_children[0]
    if made.type in _CREATIONS and not _NAMED.search(file.callee(made)):
        yield from look_at_creation(made, file)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Only what is an exception: by the classes of the project that have the name, else by how that ends."""
    name = mark.data.get("class")
    return place.finding(mark) if name is None or _is_exception(name, codebase) else None


def _is_exception(name: str, codebase: Codebase, depth: int = 0) -> bool:
    short_name = name.rpartition(".")[2]
    declared = [bases[short_name] for bases in codebase.summaries(_bases_by_class).values() if short_name in bases]
    if not declared or depth > DEEPEST:
        return _NAMED.search(short_name) is not None
    return all(any(_is_base_exception(base, short_name, codebase, depth) for base in bases) for bases in declared)


def _is_base_exception(base: str, name: str, codebase: Codebase, depth: int) -> bool:
    """Whether a base is an exception; of one that has the name of the class itself, its name alone says it."""
    is_namesake = base.rpartition(".")[2] == name
    return _NAMED.search(name) is not None if is_namesake else _is_exception(base, codebase, depth + 1)


def _bases_by_class(facts: FileFacts) -> dict[str, tuple[str, ...]]:
    return {each.name.rpartition(".")[2]: each.bases for each in facts.classes}


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


WATCHES = (
    Watch("call", look_at_creation, (*PYTHON, *SCRIPT, *JAVA), endings=("Error", "Exception")),
    Watch("(expression_statement (call)) @n", look_at_dropped, PYTHON, starts=_MADE),
    Watch("(expression_statement (new_expression)) @n", look_at_dropped, SCRIPT, needs=(b"new",)),
    Watch("(expression_statement (object_creation_expression)) @n", look_at_dropped, JAVA, needs=(b"new",)),
    Watch("throw", look_at_raise, PYTHON),
    Watch("(assert_statement . (tuple)) @n", look_at_assert, PYTHON, needs=(b"assert (", b"assert("), starts=_BRACKET),
)
