"""When a query runs, where it does not whenever its function does."""

import re

from tree_sitter import Node

from analysis.engine.extract.places import PER_ELEMENT
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import DJANGO
from analysis.engine.readers.loop_text import indent_of, is_in_block
from analysis.engine.readers.query_surroundings import Surroundings

LINES_OF_A_LAMBDA = 9

_GOES_ON = frozenset({"then", "catch", "finally"})
# What calls the function that it is given, and keeps it for nobody.
_CALLS_AT_ONCE = PER_ELEMENT | _GOES_ON | {"transaction", "$transaction"}
_BRACKETS = re.compile(r"[()\[\]{}]")
_LAMBDA = re.compile(r"\blambda\b[^:\n]*:")
_STAND_IN = re.compile(r"\b(?:or|else)\s+\(?(?:await\s+)?[\w.]+\(?[^\n]*\Z|\bor\s+$")
_MISSING = re.compile(r"\bif\b[^\n]*(?:=== (?:undefined|null)|== null|is None|\bnot \w+|\(!\w+\))[^\w\n]*\Z")
_REMEMBERED = re.compile(r"(?i)\bif\b[^\n]*cache[^\n]*\n?\s*return\b|\bif\b[^\n]*cache[^\n]*:\s*return\b")
_BRANCH = re.compile(r"\s*(?:\}\s*)?(?:if\b|elif\b|else\b|except\b|catch\b|case\b|switch\b)")


def runs_later(at: Surroundings) -> bool:
    """Whether it stands in a lambda of Django, or at the top level in a closure that is only declared there."""
    if at.query.orm in DJANGO and _is_in_lambda(at):
        return True
    if at.query.function != 0:
        return False
    return _is_in_closure(at.lines, at.query.line) if at.file.language == "go" else _is_handed_over(at)


def stands_in(at: Surroundings) -> bool:
    """Whether the query is only what follows `or`, `else`, `??`, or an `if` for a value that is missing."""
    before = at.lines[max(0, at.query.line - 3) : at.query.line]
    text = "\n".join(before)
    if "??" in text or (("or" in text or "else" in text) and _STAND_IN.search(text)):
        return True
    return len(before) > 1 and "if" in before[-2] and _MISSING.search(before[-2]) is not None


def is_remembered(at: Surroundings) -> bool:
    """Whether the function returns before the query what a cache of its own knows."""
    if not at.before or not (at.file.mentions(b"cache") or at.file.mentions(b"Cache")):
        return False
    return _REMEMBERED.search("\n".join(at.before)) is not None


def is_branched(at: Surroundings) -> bool:
    """Whether a branch of the function holds the query."""
    below_header = at.before[1:]
    return is_in_block(_BRANCH, "\n".join(below_header), indent_of(at.lines[at.query.line - 1]))


def _is_in_lambda(at: Surroundings) -> bool:
    """Whether a lambda of the same line, or one whose bracket is still open, holds the query."""
    if _LAMBDA.search(at.chain.partition(".objects")[0]):
        return True
    above = "\n".join(at.lines[max(0, at.query.line - LINES_OF_A_LAMBDA) : at.query.line - 1])
    made = above.rfind("lambda")
    if made < 0 or not (begun := _LAMBDA.match(above, made)):
        return False
    level = 0
    for bracket in _BRACKETS.findall(above, begun.end()):
        level += 1 if bracket in "([{" else -1
        if level < 0:
            return False
    return level > 0


def _is_in_closure(lines: list[str], line: int) -> bool:
    """Whether the declaration that begins above the line, at the margin, holds a function."""
    for above in reversed(lines[:line]):
        if "func(" in above:
            return True
        if above[:1].strip():
            return False
    return False


def _is_handed_over(at: Surroundings) -> bool:
    """Whether a closure around the query is a value for others to call: the handler of a route, a default."""
    query, file = at.query, at.file
    span = file.query_spans.get((query.line, query.anchor, query.model))
    scope = file.scope_at(*span) if span is not None else None
    while scope is not None:
        if scope.kind == "closure" and not _is_called_at_once(scope.node, file):
            return True
        scope = scope.parent
    return False


def _is_called_at_once(closure: Node, file: SourceFile) -> bool:
    """Whether a closure is called where it is made, by itself or by what it is given to: that is waited for, or known
    to keep none."""
    around = file.parent_of(closure)
    call = file.parent_of(around) if around is not None else None
    callee = call.child_by_field_name("function") if call is not None else None
    if call is None or callee is None:
        return False
    if callee == around or file.text(callee).rpartition(".")[2] in _CALLS_AT_ONCE:
        return True
    user = file.parent_of(call)
    if user is None:
        return False
    step = user.child_by_field_name("property")
    return user.type in ("await_expression", "await") or (step is not None and file.text(step) in _GOES_ON)
