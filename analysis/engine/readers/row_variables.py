"""What a function does with the variable that holds the rows of a query: whether it gives them back, and how it uses
them until it holds something else."""

import re
from collections import Counter
from collections.abc import Iterator

from analysis.engine.readers.loop_text import indent_of
from analysis.engine.readers.query_surroundings import Surroundings
from analysis.engine.readers.row_text import ready_at

LONGEST_FUNCTION = 60_000
LONGEST_RETURN = 12  # lines behind a query in which its rows are given back
LINES_OF_A_HEAD = 4  # that may stand between the variable and the chain it is given

_RETURN = re.compile(r"\s*return\b")
_RETURNED = re.compile(r"\s*return\s+(?:list\()?(\w+)(?:\.scalars\(\)|\.all\(\)|\))*(?:, (?:nil|res\.Error))?;?\s*$")
_HEAD = re.compile(
    r"(?:\b(?P<len>len\(\s*)|\b(?P<bool>bool\(\s*)|\b(?P<test>if\s+(?:not\s+)?)|\b(?P<braced>if\s*\(!?)"
    r"|(?P<start>^[ \t]*))\Z",
    re.MULTILINE,
)
_TAIL = re.compile(
    r"(?P<close>\s*\))|(?P<size>\.(?:length|size\(\))(?![\w(]))|(?P<empty>\.isEmpty\(\))|(?P<colon>\s*(?::|\band\b|\bor\b))|(?P<given>\s*=(?!=))"
)
_KINDS: dict[tuple[str | None, str | None], str] = {
    ("len", "close"): "len",
    ("bool", "close"): "bool",
    ("braced", "close"): "bool",
    ("test", "colon"): "bool",
    ("start", "given"): "again",
}
_WITH_ZERO = re.compile(r"\s*(?:(?:>|[!=]==?)\s*0|>=\s*1|<\s*1)\b(?!\.)")
_WORD = re.compile(r"\w")
LONGEST_HEAD = 12  # the longest of the signs that are asked for, `if not`, with room for more blanks
WIDEST_HEAD = 120  # characters before a name that say how it is used


def is_returned(at: Surroundings) -> bool:
    """Whether a `return` stands before the query, or right behind it with its variable and nothing more."""
    query = at.query
    if query.limit == 1 or query.function == 0:
        return False
    if not query.variable:
        return _RETURN.match(at.lines[query.line - 1]) is not None
    after = at.lines[query.line : query.line + LONGEST_RETURN]
    return any((found := _RETURNED.match(line)) is not None and found[1] == query.variable for line in after)


def is_only_compared(at: Surroundings) -> bool:
    """Whether the function compares the variable that holds a count with zero, and does nothing else with it."""
    name = at.query.variable
    if not name or not at.query.function:
        return False
    after = "\n".join(at.lines[at.query.line + at.chain.count("\n") : at.last])[:LONGEST_FUNCTION]
    ends = [match.end() for match in re.finditer(rf"(?<![\w.$\"'`]){re.escape(name)}(?![\w$\"'`])", after)]
    return bool(ends) and all(_WITH_ZERO.match(after, end) for end in ends)


def uses_of(at: Surroundings) -> Counter[str]:
    """How often the function asks the rows for their `len`, as a `bool`, or something `other`."""
    uses: Counter[str] = Counter()
    if not at.query.variable:
        return uses
    start = ready_at(at, at.query.line + at.chain.count("\n"))
    after = "\n".join(at.lines[start : at.last])[:LONGEST_FUNCTION]
    for position, kind in _mentions(at.query.variable, after):
        if kind == "again":
            indent = indent_of(_first_line(at))
            between = after[:position].split("\n")
            is_other_branch = any(each.strip() and indent_of(each) < indent for each in between[:-1])
            if is_other_branch or len(between[-1]) > indent:
                uses["other"] += 1  # only in one branch: the rows may be used after it
            break
        uses[kind] += 1
    return uses


def _first_line(at: Surroundings) -> str:
    """The line that assigns the variable: a chain may stand a few lines below, inside of `list(`."""
    above = reversed(at.lines[max(0, at.query.line - LINES_OF_A_HEAD) : at.query.line])
    begins = (line for line in above if line.lstrip().startswith(at.query.variable))
    return next(begins, at.lines[at.query.line - 1])


def _mentions(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Where the variable stands, and as what: `len`, `bool`, `again` when it is assigned, `other`. By two patterns
    around each place, since a pattern for each name would have to be compiled first."""
    position = text.find(name)
    while position >= 0:
        end = position + len(name)
        head = _HEAD.search(_before(text, position))
        tail = _TAIL.match(text, end)
        before = text[position - 1 : position] if position else ""
        is_word = not (before.isalnum() or before in ("_", ".", "$"))
        kind = _KINDS.get((head.lastgroup if head else None, tail.lastgroup if tail else None))
        if kind:
            yield position, kind
        elif is_word and tail is not None and tail.lastgroup in ("size", "empty"):
            yield position, "len" if tail.lastgroup == "size" else "bool"
        elif is_word and before not in ('"', "'") and not _WORD.match(text, end):
            yield position, "other"
        position = text.find(name, end)


def _before(text: str, position: int) -> str:
    """The end of the text before a place, a gap as short as it can be: searching costs by length."""
    before = text[max(0, position - WIDEST_HEAD) : position]
    stem = before.rstrip()
    return stem[-LONGEST_HEAD:] + before[len(stem) :]
