"""A block of code stands in two places."""

from collections.abc import Iterator

from analysis.engine.codebase import Codebase
from analysis.engine.copies import SHORTEST_BLOCK, Copy
from analysis.engine.facts import FileFacts, Function
from analysis.engine.graph.paths import folder_of
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.report import POINTS_PER_DUPLICATED_LINE

MANY_PLACES, MANY_LINES = 3, 30

RULE = Rule(
    id="maint-duplicated-block",
    type="duplicated_block",
    category=Category.MAINTAINABILITY,
    title="Duplicated block",
    severity=Severity.INFO,
    points=1,
    suggestion="Extract the block into one function.",
)
GUIDE = Guide(
    why="A fault repaired in one copy stays in the others, and nobody knows how many there are.",
    grades=(
        "Warning for thirty lines, or for ten in three places or more, else info: a small function is soon compared. "
        "One finding for the second and each further copy; the first is named in the message. A whole function that "
        "differs in its names alone is a copy too, of confidence medium; so is code of two packages of Go that calls "
        "functions of theirs."
    ),
)


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """One finding for the second and each further copy, with what it says more than once as excess."""
    for copy in codebase.copies:
        lines = copy.last - copy.first + 1
        grave = lines >= MANY_LINES or (copy.places >= MANY_PLACES and lines >= SHORTEST_BLOCK)
        yield Finding(
            rule_id=RULE.id,
            file=copy.path,
            line=copy.first,
            message=_message(copy, lines),
            function=_function_at(copy.first, codebase.files[copy.path]).name,
            anchor=copy.identity,
            suggestion=f"Extract the {lines} lines into one function, also for `{copy.original}:{copy.line}`.",
            severity=Severity.WARNING if grave else Severity.INFO,
            confidence=Confidence.MEDIUM if copy.is_renamed or _means_another(copy, codebase) else Confidence.HIGH,
            excess=lines * POINTS_PER_DUPLICATED_LINE,
        )


def _message(copy: Copy, lines: int) -> str:
    what = "This function's body stands" if copy.is_function else f"These {lines} lines stand"
    if copy.is_renamed:
        what = f"This function of {lines} lines stands with other names"
    places = f", and in {copy.places} places in all" if copy.places >= MANY_PLACES else ""
    return f"{what} at `{copy.original}:{copy.line}` too{places}"


def _means_another(copy: Copy, codebase: Codebase) -> bool:
    """Whether the same words name functions of two packages of Go: what they take and give may be of other types."""
    if not copy.path.endswith(".go") or folder_of(copy.path) == folder_of(copy.original):
        return False
    here = _function_at(copy.first, codebase.files[copy.path])
    there = _function_at(copy.line, codebase.files[copy.original])
    return any(
        "." not in call and codebase.calls.resolve(copy.path, here, call)
        for call in set(here.calls).intersection(there.calls)
    )


def _function_at(line: int, facts: FileFacts) -> Function:
    """The innermost function around a line."""
    around = [each for each in facts.functions[1:] if each.line <= line <= each.end_line]
    return max(around, key=lambda each: each.line) if around else facts.functions[0]
