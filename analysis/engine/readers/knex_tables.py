"""Tables that a migration of Knex alters, as `risk-locking-migration` sees them: each statement of the function that is
given to `knex.schema.alterTable`."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.locking_sql import (
    ADDED_NOT_NULL,
    CHECKED_AT_ONCE,
    DIFFERS,
    MADE_NOT_NULL,
    MADE_UNIQUE,
    RENAMED,
    RETYPED,
    VOLATILE,
)
from analysis.engine.readers.reading import within

ALTERS = frozenset({"alterTable", "table"})

_SCHEMA = re.compile(r"(?:^|\.)schema\b")
_FUNCTIONS = frozenset({"arrow_function", "function_expression"})
_QUOTED = re.compile(r"[\"'`](\w+)[\"'`]")
_DRAWN = re.compile(rf"\.defaultTo\([^;]*?{VOLATILE}", re.IGNORECASE)
_OF_THE_TABLE = {
    "index": "an index is built without `CONCURRENTLY`: writes wait until it is done",
    "unique": MADE_UNIQUE,
    "foreign": CHECKED_AT_ONCE,
    "check": CHECKED_AT_ONCE,
    "renameColumn": RENAMED,
    "dropNullable": MADE_NOT_NULL,
}
_DROPS = frozenset({"dropColumn", "dropColumns"})
_NO_COLUMN = re.compile(r"^(?:drop|set|comment$|primary$|inherits$|increments$|bigIncrements$|timestamps$)")


class Change(NamedTuple):
    """A statement on an altered table: what it does under the lock, or the column that it drops."""

    node: Node
    table: str
    says: str = ""
    column: str = ""


def changes_in(call: Node, file: SourceFile) -> Iterator[Change]:
    """What `knex.schema.alterTable("visits", (table) => { ... })` does to a table that the file does not create."""
    given = file.arguments(call)[0]
    if len(given) < 2 or not _SCHEMA.search(file.callee(call).rpartition(".")[0]):
        return
    named, builds = _QUOTED.fullmatch(file.text(given[0])), given[-1]
    body = builds.child_by_field_name("body") if builds.type in _FUNCTIONS else None
    if named is None or body is None or not file.dialect.parameters(builds, file) or _is_created(named[1], file):
        return
    for each in _chains(body, file.dialect.parameters(builds, file)[0].name, file):
        yield from _changes(each, named[1], file)


def _is_created(table: str, file: SourceFile) -> bool:
    return re.search(rb"createTable\w*\(\s*[\"'`]" + table.encode() + rb"[\"'`]", file.source) is not None


def _chains(body: Node, builder: str, file: SourceFile) -> Iterator[Node]:
    """The whole chains that begin with what the function is given, `table.string("code").notNullable()`."""
    end = 0
    for node in (body, *within(body)):
        if node.type == "call_expression" and node.start_byte >= end and file.callee(node).startswith(f"{builder}."):
            end = node.end_byte
            yield node


def _changes(chain: Node, table: str, file: SourceFile) -> Iterator[Change]:
    first, *others = (step.removesuffix("()") for step in file.callee(chain).split(".")[1:])
    if first in _DROPS:
        for column in _QUOTED.findall(file.text(chain)):
            yield Change(chain, table, column=column)
        return
    says = _OF_THE_TABLE.get(first, "") or _of_column(first, frozenset(others), file.text(chain))
    if says:
        yield Change(chain, table, says)


def _of_column(kind: str, steps: frozenset[str], text: str) -> str:
    """What a column does that is altered, or added to the rows that are there."""
    if _NO_COLUMN.search(kind):
        return ""
    if "alter" in steps:
        return RETYPED
    if _DRAWN.search(text):
        return DIFFERS
    if "notNullable" in steps and "defaultTo" not in steps:
        return ADDED_NOT_NULL
    return "the new column builds its index under the lock" if steps & {"index", "unique"} else ""
