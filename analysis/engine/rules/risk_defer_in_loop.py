"""A `defer` in a loop runs when the function ends, not when the iteration does."""

from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Finding, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.rules.base import GO, Watch

RULE = Rule(
    id="risk-defer-in-loop",
    type="defer_in_loop",
    category=Category.RUNTIME_RISK,
    title="Defer in a loop",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Move the body into a function so each iteration releases its resource.",
    languages=GO,
    tests_too=True,
)

_ENDS = frozenset({"return_statement", "break_statement"})


def look(statement: Node, file: SourceFile) -> Iterator[Mark]:
    if not file.in_loop(statement) or _leaves_the_loop_after(statement):
        return
    deferred = file.text(statement).removeprefix("defer").strip().partition("\n")[0][:60]
    yield file.mark(
        RULE.id, statement, f"`defer {deferred}` piles up until the function returns, one for each iteration"
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """In tests and in `main` the pile is short."""
    if place.kind is FileKind.TEST or place.function.name == "main":
        return place.finding(mark, severity=Severity.INFO)
    return place.finding(mark)


def _leaves_the_loop_after(statement: Node) -> bool:
    """Whether the block that holds the statement ends by leaving the loop in the same iteration."""
    block = statement.parent
    last = block.named_child(block.named_child_count - 1) if block is not None and block.named_child_count else None
    return last is not None and last.type in _ENDS


WATCHES = (Watch("defer", look, GO),)
