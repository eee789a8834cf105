"""SQL that changes tables and keeps them locked for as long as they are large, as `risk-locking-migration` sees it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_NAME = r"(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:ONLY\s+)?[\"`\[]?(?:\w+[\"`\]]?\.[\"`\[]?)?(\w+)[\"`\]]?"
_CREATED = re.compile(rf"\bCREATE\s+(?:UNLOGGED\s+|TEMP\w*\s+)?(?:TABLE|MATERIALIZED\s+VIEW)\s+{_NAME}", re.IGNORECASE)
_STATEMENT = re.compile(r"[^;]+")
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
# In these words the other ways to change a table are told as well.
RENAMED = "a column is renamed: the code that runs until the roll-out ends still asks for the old name"
CHECKED_AT_ONCE = "a constraint is added and checked at once: all rows are read under the lock"
RETYPED = "the type of a column is changed: the whole table may be rewritten"
ADDED_NOT_NULL = "a column is added `NOT NULL` without a default: that fails on rows, or rewrites them"
MADE_NOT_NULL = "`SET NOT NULL` reads all rows under the lock"
MADE_UNIQUE = "a unique constraint builds its index under the lock"
DIFFERS = "a column is added with a default that differs for each row: the whole table is rewritten"
VOLATILE = r"(?:random|gen_random_uuid|uuid_generate_v\d\w*|clock_timestamp|nextval|uuid)\s*\("
_SQL: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), says)
    for pattern, says in (
        (
            rf"\A\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+(?!CONCURRENTLY)[^;]*?\bON\s+{_NAME}",
            "an index is built without `CONCURRENTLY`: writes wait until it is done",
        ),
        (
            rf"\A\s*ALTER\s+TABLE\s+{_NAME}\s+ADD\s+(?:COLUMN\s+)?(?!CONSTRAINT)(?![^;]*\bDEFAULT\b)[^;,]*\bNOT\s+NULL",
            ADDED_NOT_NULL,
        ),
        (
            rf"\A\s*ALTER\s+TABLE\s+{_NAME}[^;]*?\bADD\s+(?:COLUMN\s+)?[^;,]*\bDEFAULT\s+{VOLATILE}",
            DIFFERS,
        ),
        (
            rf"\A\s*ALTER\s+TABLE\s+{_NAME}[^;]*?\bALTER\s+(?:COLUMN\s+)?\S+\s+(?:SET\s+DATA\s+)?TYPE\b",
            RETYPED,
        ),
        (
            rf"\A\s*ALTER\s+TABLE\s+{_NAME}[^;]*?\b(?:MODIFY|CHANGE)\s+(?:COLUMN\s+)?",
            RETYPED,
        ),
        (
            rf"\A\s*ALTER\s+TABLE\s+{_NAME}[^;]*?\bADD\s+(?:CONSTRAINT\s+\S+\s+)?(?:FOREIGN\s+KEY"
            rf"|CHECK)\b(?![^;]*NOT\s+VALID)",
            CHECKED_AT_ONCE,
        ),
        (
            rf"\A\s*ALTER\s+TABLE\s+{_NAME}[^;]*?\bADD\s+(?:CONSTRAINT\s+\S+\s+)?UNIQUE\b(?!\s+USING)",
            MADE_UNIQUE,
        ),
        (
            rf"\A\s*ALTER\s+TABLE\s+{_NAME}[^;]*?\bRENAME\s+(?:COLUMN\s+)?(?!TO\b|CONSTRAINT\b|INDEX\b"
            rf"|KEY\b)\S+\s+TO\b",
            RENAMED,
        ),
        (
            rf"\A\s*ALTER\s+TABLE\s+{_NAME}[^;]*?\bADD\s+(?:UNIQUE\s+)?(?:INDEX|KEY)\b(?![^;]*ALGORITHM\s*=\s*INPLACE)",
            "an index is built while the table is changed: writes wait until it is done",
        ),
        (
            rf"\A\s*ALTER\s+TABLE\s+{_NAME}[^;]*?\bSET\s+NOT\s+NULL",
            MADE_NOT_NULL,
        ),
        (
            rf"\A\s*UPDATE\s+{_NAME}\s+SET\b(?![^;]*\bLIMIT\b)(?![^;]*\bctid\b)",
            "rows are updated in one statement, and stay locked until the migration ends",
        ),
    )
)
_PICKED = re.compile(r"\A\s*UPDATE\b[\s\S]*\bWHERE\s+[\"`]?(\w+)[\"`]?\s*=\s*(?:'[^']*'|\d+)\s*\Z", re.IGNORECASE)
_DROPS = re.compile(
    rf"\A\s*ALTER\s+TABLE\s+{_NAME}[^;]*?\bDROP\s+COLUMN\s+(?:IF\s+EXISTS\s+)?[\"`\[]?(\w+)", re.IGNORECASE | re.DOTALL
)


class Lock(NamedTuple):
    """A statement that holds the lock of a table: what is wrong with it, and the column that picks its rows where only
    one does."""

    line: int
    table: str
    says: str
    key: str = ""


class Drop(NamedTuple):
    """A statement that drops a column."""

    line: int
    table: str
    column: str


def drops_in(source: str) -> Iterator[Drop]:
    """Each statement that drops a column."""
    for line, statement in _statements(source):
        found = _DROPS.search(statement)
        if found is not None:
            yield Drop(line, found[1], found[2])


def locks_in(source: str, whole: str) -> Iterator[Lock]:
    """Each statement that holds the lock of a table which the whole migration does not create."""
    created = {name.lower() for name in _CREATED.findall(whole)}
    for line, statement in _statements(source):
        match = next(((found, says) for pattern, says in _SQL if (found := pattern.search(statement))), None)
        if match is not None and match[0][1].lower() not in created:
            picked = _PICKED.search(statement)
            yield Lock(line, match[0][1], match[1], picked[1] if picked is not None else "")


def _statements(source: str) -> Iterator[tuple[int, str]]:
    """The statements of a script with the lines that they begin on, without its comments."""
    text = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)
    for statement in _STATEMENT.finditer(text):
        start = statement.start() + len(statement[0]) - len(statement[0].lstrip())
        yield text.count("\n", 0, start) + 1, statement[0]
