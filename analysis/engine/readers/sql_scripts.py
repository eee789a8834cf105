"""The statements of SQL files that change rows: which table, and by what conditions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.engine.extract.orm.conditions import conditions_in
from analysis.engine.facts import Filter

LONGEST_SCRIPT = 100_000  # characters: what is longer is data
# Comments, and bodies of functions; what nobody closes goes on to the end.
_NO_STATEMENT = re.compile(r"--[^\n]*|/\*(?:.*?\*/|.*)|\$(\w*)\$(?:.*?\$\1\$|.*)", re.DOTALL)
_TEXT = re.compile(r"'(?:[^']|'')*'")
_NOT_A_LINE = re.compile(r"[^\n]")
_CHANGES = re.compile(
    r"\s*(?P<verb>UPDATE|DELETE\s+FROM)\s+(?:ONLY\s+)?(?:[\"`\[]?\w+[\"`\]]?\.)?[\"`\[]?(?P<table>\w+)", re.IGNORECASE
)
_NARROWED = re.compile(r"(?i)\b(?:JOIN|USING|LIMIT|TOP|CURRENT\s+OF)\b")
_OTHER_TABLES = re.compile(r"(?i)\bSET\b.*\bFROM\b", re.DOTALL)
_WHERE = re.compile(r"\bWHERE\b", re.IGNORECASE)
_FILLED = re.compile(r"(?i)\b(?:CREATE\s+(?:\w+\s+)*TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?|INSERT\s+INTO\s+)([\w.\"`\[\]]+)")


@dataclass(frozen=True, slots=True)
class Write:
    """An UPDATE or DELETE of a SQL file."""

    line: int
    operation: str  # update, delete
    table: str
    filters: tuple[Filter, ...]
    text: str


def writes_in(source: str) -> Iterator[Write]:
    """Every UPDATE and DELETE of which all conditions are read, but of tables that the file makes or fills itself; none
    of a file that is too long for a script."""
    if len(source) > LONGEST_SCRIPT:
        return
    plain = _TEXT.sub(_masked, _NO_STATEMENT.sub(lambda match: _NOT_A_LINE.sub(" ", match[0]), source))
    filled = {name.rpartition(".")[2].strip('"`[]').lower() for name in _FILLED.findall(plain)}
    line = 1
    for statement in plain.split(";"):
        found = _CHANGES.match(statement)
        if found is not None and found["table"].lower() not in filled and _NARROWED.search(statement) is None:
            operation = "update" if found["verb"].upper() == "UPDATE" else "delete"
            _, *conditions = _WHERE.split(statement, maxsplit=1)
            filters = tuple(conditions_in(conditions[0])) if conditions else ()
            is_read = bool(filters) == bool(conditions) and _OTHER_TABLES.search(statement) is None
            if is_read:
                first = line + statement.count("\n", 0, found.start("verb"))
                yield Write(first, operation, found["table"], filters, " ".join(statement.split()))
        line += statement.count("\n")


def _masked(text: re.Match[str]) -> str:
    """A text of the same length in which nothing ends a statement."""
    return text[0].replace(";", ",").replace("--", "  ")
