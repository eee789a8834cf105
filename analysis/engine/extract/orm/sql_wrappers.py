"""SQL that is handed to a helper of the project: `db.list("SELECT …", mapper)`, `database.many("SELECT …")`."""

import re

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.orm import sql
from analysis.engine.extract.orm.sql_rows import MEASURES
from analysis.engine.extract.orm.steps import assigned_to, steps_after, takes_length
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Query
from analysis.engine.readers.reading import CALLS, node_at

_CALLS = re.compile(  # on what is called like a database, with a statement as its first text or a constant
    rb"\b(?:db|database|dao|sql|jdbc|query_?runner|conn|connection|pool|tx)\s*\.\s*(\w+)(?:<[\w<>, ]*>)?"
    rb"\(\s*(?:\w+\s*,\s*)?(?:f?[\"'`]+\s*(?:SELECT|INSERT|UPDATE|DELETE|select|insert|update|delete)\s"
    rb"|[A-Z][A-Z_\d]{2,}\s*[,)])",
)
_ALL = re.compile(
    r"(?i)^(?:list|all|many|any|rows|query(?:all|list)?|find(?:all|many)?|fetch_?(?:all|many)|select(?:all|list|many)?)$"
)
_ONE = re.compile(
    r"(?i)^(?:query|find|fetch|select|get)?_?(?:one|single|first|row|scalar|val|value|int|long|optional|one_?or_?none)$"
)


def read(file: SourceFile) -> None:
    """The calls by names that no library of the `sql` adapter has."""
    if not any(map(file.mentions, sql.WORDS)):
        return
    for found in _CALLS.finditer(file.code):
        call = None if found[1].decode() in sql.READERS else _call_at(found.start(1), file)
        given = file.arguments(call)[0][:2] if call is not None else ()
        if call is not None and any(
            sql.append_statement(call, sql.statement_in(each, call, file), file) for each in given
        ):
            file.queries[-1] = _with_rows(file.queries[-1], call, file)


def _call_at(start: int, file: SourceFile) -> Node | None:
    """The call whose name begins at a byte."""
    node: Node | None = node_at(start, file.tree.root_node)
    while node is not None and node.type not in CALLS:
        node = node.parent
    return node


def _with_rows(query: Query, call: Node, file: SourceFile) -> Query:
    """The query with what the helper's name says of the rows, and what the program does with them."""
    if query.operation != "select":
        return query
    if _ONE.match(query.terminal):
        return structs.replace(query, limit=query.limit or 1)
    if not _ALL.match(query.terminal):
        return query
    after = steps_after(call.end_byte, file)
    counted = MEASURES.get(after[0].name, "") if after else ""
    if takes_length(call.start_byte, call.end_byte, file) or file.source.endswith(b"len(", 0, call.start_byte):
        counted = "len"
    variable = "" if counted else assigned_to(call.start_byte, file)
    return structs.replace(query, terminal="fetchall", counted=counted, variable=variable)
