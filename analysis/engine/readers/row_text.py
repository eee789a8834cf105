"""The text in which a function uses the rows of a query, with a sign in their place."""

import re
from collections.abc import Iterator

from analysis.engine.readers.loop_text import indent_of
from analysis.engine.readers.query_surroundings import Surroundings
from analysis.engine.readers.reading import followed

SOURCE = "§"  # stands for the rows in the text that is read
LONGEST_HEAD = 200  # characters before a query that say what its rows are for
LONGEST_WORK = 2_000  # characters behind a query in which its only use must lie
LONGEST_READ = 20_000  # characters of a function
LINES_OF_A_WALK = 40  # behind a query in which a cursor is read to its end

_PASSING = re.compile(  # steps that give all rows as they are
    r"\s*\.(?:lean|exec|all|fetchall|fetch_all|toArray|toList|getResultList|scalars|unique|mappings|list)\([^()]*\)"
)
_OPENED = re.compile(r"(?:\(\s*)?(?:\bawait\s+)?(?:\b(?:list|tuple|set)\()?\Z")
_READ = re.compile(r"\b(?!\s*=[^=>])")
_MEASURED_BEFORE = re.compile(r"(?:\blen\(|\bnot\s|!)\s*\Z")
_MEASURED_BEHIND = re.compile(
    r"\??\.(?:length\b|size\(\)|isEmpty\(\)|Count\b)|\s*(?:[!=]=\s*(?:nil|null)\b|is (?:not )?None\b)"
)
_ASKED = re.compile(r"\b(?:if|elif|while)\s+\Z")
_ASKED_BEHIND = re.compile(r"\s*(?::|and\b|or\b)")


def marked(at: Surroundings) -> str:
    """The text around the query, or after it where a variable holds the rows, with the sign in place of the rows. Where
    the variable is used again, for more than to ask how many there are, the sign stands more than once."""
    query, file = at.query, at.file
    if query.variable:
        text = "\n".join(at.lines[ready_at(at, query.line) : at.last])[:LONGEST_READ]
        for start, end in reversed(list(uses(query.variable, text))):
            text = text[:start] + SOURCE + text[end:]
        return text
    span = file.query_spans.get((query.line, query.anchor, query.model))
    if span is None:
        return ""
    function = file.functions[query.function].node
    before = file.source[max(function.start_byte, span[0] - LONGEST_HEAD) : span[0]].decode("utf-8", "replace")
    behind = file.source[span[1] : min(function.end_byte, span[1] + LONGEST_WORK)].decode("utf-8", "replace")
    behind = _behind_all(behind)
    opened = _OPENED.search(before)
    wrapped = opened[0] if opened is not None else ""
    for _ in range(wrapped.count("(")):
        if behind.lstrip()[:1] != ")":
            wrapped = wrapped[wrapped.rfind("(") + 1 :]
            break
        behind = _behind_all(behind.lstrip()[1:])  # `(await …).all()`
    return before[: len(before) - len(wrapped)] + SOURCE + behind


def _behind_all(text: str) -> str:
    """What comes behind the steps that give all rows."""
    while (step := _PASSING.match(text)) is not None:
        text = text[step.end() :]
    return text


def uses(name: str, text: str) -> Iterator[tuple[int, int]]:
    """Where the variable is read as a whole, with a `list(` around it; asking how many rows it holds is no use."""
    for match in followed(name, text, _READ, "_.$\"'"):
        start, end = match.start() - len(name), match.start()
        if _MEASURED_BEFORE.search(text, max(0, start - 12), start) or _MEASURED_BEHIND.match(text, end):
            continue
        if _ASKED.search(text, max(0, start - 8), start) and _ASKED_BEHIND.match(text, end):
            continue
        is_list = text.endswith("list(", 0, start) and text[end : end + 1] == ")"
        yield (start - len("list("), end + 1) if is_list else (start, end)


def ready_at(at: Surroundings, start: int) -> int:
    """The position in the lines from which the variable of a query holds all its rows: `start`, or for a cursor that is
    read afterwards the line behind."""
    query, lines = at.query, at.lines
    if query.orm != "sql":
        return start
    given = re.compile(
        rf"\s*(?:(?:var|const|let)\s+)?{re.escape(query.variable)}\b(?:\s*,\s*\w+)*\s*:?=(?!=)\s*(append\()?"
    )
    for position, line in enumerate(lines[start : start + LINES_OF_A_WALK], start):
        found = given.match(line)
        if found is not None and found[1]:
            rest = lines[position + 1 : position + LINES_OF_A_WALK]
            ends = (
                end for end, each in enumerate(rest, position + 1) if each.strip() and indent_of(each) < indent_of(line)
            )
            return next(ends, position) + 1
        if found is not None and f"{query.variable}(" not in line and "(" in line and "make(" not in line:
            return position + 1
    return start
