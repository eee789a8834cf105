"""When a query runs, where it does not whenever its function does."""

import re

from analysis.engine.facts import DJANGO
from analysis.engine.readers.loop_text import indent_of, is_in_block
from analysis.engine.readers.query_surroundings import Surroundings

LINES_OF_A_LAMBDA = 9

_BRACKETS = re.compile(r"[()\[\]{}]")
_LAMBDA = re.compile(r"\blambda\b[^:\n]*:")
_STAND_IN = re.compile(r"\b(?:or|else)\s+\(?(?:await\s+)?[\w.]+\(?[^\n]*\Z|\bor\s+$")
_MISSING = re.compile(r"\bif\b[^\n]*(?:=== (?:undefined|null)|== null|is None|\bnot \w+|\(!\w+\))[^\w\n]*\Z")
_REMEMBERED = re.compile(r"(?i)\bif\b[^\n]*cache[^\n]*\n?\s*return\b|\bif\b[^\n]*cache[^\n]*:\s*return\b")
_BRANCH = re.compile(r"\s*(?:\}\s*)?(?:if\b|elif\b|else\b|except\b|catch\b|case\b|switch\b)")


def runs_later(at: Surroundings) -> bool:
    """Whether it stands in a lambda, or in a closure that a declaration of Go holds."""
    if at.query.orm in DJANGO and _is_in_lambda(at):
        return True
    return at.query.function == 0 and at.file.language == "go" and _is_in_closure(at.lines, at.query.line)


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
