"""Limits of a query that its shape does not show: of how many rows it reads, and of how many its offset skips."""

import re

from analysis.engine.extract.orm.steps import closing_bracket
from analysis.engine.readers.query_surroundings import LONGEST_CHAIN, Surroundings

_BUILT_ABOVE = frozenset({"typeorm", "jpa"})  # by a builder, or as text
_GROUPS_ABOVE = re.compile(r"\bgroupBy\(|\bselect\s+distinct\b", re.IGNORECASE)
_UNREAD_LIMIT = re.compile(
    r"\btake\b|\.slice\(|\blimit\b|\.limit\(|\bLIMIT\b|paginat|\bcursor\s*[:,}]|Page\b|\bdistinct\b", re.IGNORECASE
)
_LIMITS = ("take", ".slice(", "limit", "paginat", "cursor", "page", "distinct")
_AWAITED_APART = re.compile(rb"\(\s*await\s+\Z")
LONGEST_AWAIT = 12  # characters of `(await `, with room for more blanks
_POSITION = r"(?<!per)(?<!per_)(?:page|offset|skip|start)(?!_?s(?:ize)?\b)\w*"  # and no size of a page
_CLAMP = re.compile(  # of the offset; a clamp of the limit leaves it free
    rf"\b\w*?{_POSITION}\s*:?=[^=\n]*\b(?:min|clamp)\(|\b(?:min|clamp)\((?:[^()\n]|\([^()\n]*\))*?(?:\w\()?{_POSITION}|max_?{_POSITION}"
    rf"|\b{_POSITION}\s*:\s*(?:Annotated\[[\w ]+,\s*)?[^\n,()]*\([^()\n]*\ble=|\bif\b[^\n]*\b{_POSITION}\s*>=?\s*\d",
    re.IGNORECASE,
)
# A clamp of how many rows a page has: `min(size, MAX_PAGE)`.
_CLAMPED_SIZE = re.compile(
    r"\b(?:min|clamp)\((?=[^()\n]*(?:size|limit|per_?page|take|count))(?![^()\n]*\b(?:page|offset|skip)\b)[^()\n]*\)",
    re.IGNORECASE,
)
_OFFSET_BOUND = re.compile(r"(?i)\w*(?:offset|skip)")  # a parameter that a statement gets for `OFFSET $1`
_OFFSET_NAMED = re.compile(r"\b(?:offset|skip)\s*[(:]\s*(\w+)\s*[,)}\n]|[{,]\s*(offset|skip)\s*[,}\n]")


def is_limited(at: Surroundings) -> bool:
    """Whether a limit stands there that was not read, or the query gives a row for each group."""
    if at.query.limit == 0:
        own = _own_text(at)
        if _may_be_limited(own) and _UNREAD_LIMIT.search(own):
            return True
    return at.query.orm in _BUILT_ABOVE and _GROUPS_ABOVE.search(at.around) is not None


def is_clamped(at: Surroundings) -> bool:
    """Whether an upper limit of the offset stands near."""
    return _CLAMP.search(_CLAMPED_SIZE.sub("", at.around)) is not None


def parameter_of_offset(at: Surroundings) -> int | None:
    """The position of the parameter that is the offset."""
    if not at.query.function:
        return None
    given = [each.name for each in at.file.dialect.parameters(at.file.functions[at.query.function].node, at.file)]
    named = _OFFSET_NAMED.search(at.chain)
    if named is not None:
        name = named[1] or named[2]
        return given.index(name) if name in given else None
    bound = [name for name in given if _OFFSET_BOUND.fullmatch(name)] if at.query.orm == "sql" else []
    return given.index(bound[0]) if len(bound) == 1 else None


def _own_text(at: Surroundings) -> str:
    """The text up to the end of the query: Python names what it does with the rows behind it, `if row.size > limit`,
    and so does a script behind the bracket of `(await orders.find())`."""
    query, file = at.query, at.file
    span = file.query_spans.get((query.line, query.anchor, query.model))
    if span is None:
        return at.chain
    own = file.source[file.lines.starts[query.line - 1] : span[1]].decode("utf-8", "replace")
    if file.language == "python":
        return own
    if file.language == "java":
        return at.chain.partition(".stream()")[0]  # behind it the program works on the rows
    if not _AWAITED_APART.search(file.source, max(0, span[0] - LONGEST_AWAIT), span[0]):
        return at.chain
    rest = file.source[span[1] : span[1] + LONGEST_CHAIN].decode("utf-8", "replace")
    return own + rest[: closing_bracket(rest, 0)]


def _may_be_limited(text: str) -> bool:
    """A cheap question before the pattern, which looks everywhere for either case."""
    text = text.lower()
    return any(map(text.__contains__, _LIMITS))
