"""Rows that Drizzle looks for and then makes, as `risk-check-then-act` sees them."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.checked_rows import NEAR, SCRIPT_VALUE, RowAct, decoded, knows_of_others, line_of
from analysis.engine.readers.reading import followed

LONGEST_CONDITION = 500  # characters behind a table that its conditions stand in

_LOADED = re.compile(
    r"(?:\s*\])?\s*(?::[^=\n]+)?=\s*await\s+(?:[\w.?!]|\(\))+?\s*\.\s*"
    r"(?:query\s*\.\s*(?P<asked>\w+)\s*\.\s*find(?:First|Many)\("
    r"|select\([^;]{0,300}?\.\s*from\(\s*(?:\w+\.)*(?P<table>\w+)\s*\))"
)
_COLUMN = re.compile(r"\beq\(\s*(?:\w+\.)+(\w+)\s*,")
_FIX = "Insert at once with `.onConflictDoNothing()`, backed by a unique index{on}, and see what it returns."


def drizzle_act(branch: Node, file: SourceFile) -> RowAct | None:
    """`const [row] = await db.select().from(users)…; if (!row) await db.insert(users).values(…)`."""
    found = SCRIPT_VALUE.match(file.source, branch.start_byte)
    if found is None or found["inline"] is not None:
        return None
    absent = bool(found["not"] or found["none"])
    name = decoded(found["absent"] or found["none"] or found["there"])
    before = file.source[max(0, branch.start_byte - NEAR) : branch.start_byte].decode("utf-8", "replace")
    loads = list(followed(name, before, _LOADED, "_."))
    if not loads:
        return None
    table = loads[-1]["asked"] or loads[-1]["table"]
    line = line_of(rf"(?:[\w.?!]|\(\))+\s*\.\s*insert\(\s*(?:\w+\.)*{table}\s*\)", branch, file, inside=absent)
    if not line or knows_of_others(branch, file):
        return None
    asked = before[loads[-1].end() :][:LONGEST_CONDITION].partition(";")[0]
    return RowAct(table, line, tuple(dict.fromkeys(_COLUMN.findall(asked))), fix=_FIX)
