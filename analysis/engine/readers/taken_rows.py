"""What is read of a query's rows that go nowhere else."""

import re

from analysis.engine.extract.orm.steps import closing_bracket
from analysis.engine.readers.row_reads import attribute, attributes
from analysis.engine.readers.row_text import SOURCE
from analysis.engine.readers.row_work import BRACE_LOOP, blanks_before, body_of, indented

_PYTHON_ROW = re.compile(rf"\bfor\s+(\w+)\s+in\s+{SOURCE}")
_GOES_ON = frozenset({"filter", "sort", "toSorted", "sorted", "peek", "stream"})
_ENDS = frozenset(
    """map forEach forEachOrdered flatMap some every reduce anyMatch allMatch noneMatch mapToInt mapToLong
    mapToDouble""".split()
)
_STEP = re.compile(r"\s*\)?\s*\??\.(\w+)\(")
_PARAMETERS = re.compile(r"\s*\(?([^()=]*?)\)?\s*(?:=>|->)")
_REFERENCE = re.compile(r"\s*\w+::(\w+)\s*\Z")


def taken_by(text: str, language: str) -> str:
    """The attributes that loops over a query's rows read of them, when nothing else is done with the rows. Empty when
    a row goes anywhere as a whole. `text` is that of the function, see `row_text`."""
    found: dict[str, None] = {}
    position = text.find(SOURCE)
    while position >= 0:
        taken = _taken_at(position, text, language)
        if not taken:
            return ""
        found.update(dict.fromkeys(taken))
        position = text.find(SOURCE, position + 1)
    return " ".join(found)


def _taken_at(position: int, text: str, language: str) -> list[str]:
    """What one use of the rows reads of them."""
    if language == "python":
        start = text.rfind("for ", 0, position)
        match = _PYTHON_ROW.match(text, start) if start >= 0 else None
        if match is None or match.end() != position + len(SOURCE):
            return []
        line = text[text.rfind("\n", 0, start) + 1 : start]
        if not line.strip() and text[match.end() : match.end() + 1] == ":":
            return attributes(
                match[1], indented(text[text.find("\n", match.end()) + 1 :], blanks_before(line)), language
            )
        opened = _opening(text, start)
        around = text[opened + 1 : start] + text[match.end() : closing_bracket(text, match.end())]
        return attributes(match[1], around, language) if opened >= 0 else []
    loop = next((each for each in BRACE_LOOP.finditer(text) if each.start() < position < each.end()), None)
    if loop is not None:
        return attributes(loop[1], body_of(loop, text), language)
    return _taken_by_steps(text, position + len(SOURCE), language)


def _taken_by_steps(text: str, end: int, language: str) -> list[str]:
    """What callbacks read, up to the one whose results are no rows any more."""
    found: list[str] = []
    while (step := _STEP.match(text, end)) is not None and step[1] in _GOES_ON | _ENDS:
        closing = closing_bracket(text, step.end())
        given = text[step.end() : closing]
        reference, header = _REFERENCE.match(given), _PARAMETERS.match(given)
        if reference is not None:
            read = [attribute(reference[1])]
        elif header is not None:
            names = re.findall(r"(\w+)(?:\s*:\s*[\w<>\[\].]+)?", header[1])
            rows = names[1:2] if step[1] == "reduce" else names[:2] if "ort" in step[1] else names[:1]
            read = [each for row in rows for each in attributes(row, given[header.end() :], language)]
        else:
            read = []
        if not read and step[1] != "stream":
            return []
        found += read
        if step[1] in _ENDS:
            return found
        end = closing + 1
    return []


def _opening(text: str, end: int) -> int:
    """Where the bracket stands that is open at this place."""
    level = 0
    for position in range(end - 1, -1, -1):
        if text[position] in ")]}":
            level += 1
        elif text[position] in "([{":
            if level == 0:
                return position
            level -= 1
    return -1
