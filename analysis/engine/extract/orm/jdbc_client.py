"""Clients of Java that take a statement first and what is bound to it in steps: Spring's `JdbcClient` and
`DatabaseClient`, `client.sql("SELECT …").param("id", id).query(Order.class).list()`, and Jdbi,
`handle.createQuery("SELECT …").bind("id", id).mapTo(Order.class).list()`."""

from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.orm.sql import append_statement, statement_in
from analysis.engine.extract.orm.sql_rows import TAKES_STATEMENT
from analysis.engine.extract.orm.steps import parts_of, steps_after
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark

_CLIENTS = (b"JdbcClient", b"DatabaseClient", b"jdbi")
_BINDS = frozenset({"param", "bind"})


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """The call that takes the statement; the steps behind it bind its values and run it."""
    arguments = file.arguments(call)[0] if any(map(file.mentions, _CLIENTS)) else []
    if arguments:
        append_statement(call, statement_in(arguments[0], call, file), file, _bound(call, file))
    return iter(())


def _bound(call: Node, file: SourceFile) -> list[str]:
    """What the steps bind: values in their order, or each with its name before it."""
    given = (parts_of(step.arguments) for step in steps_after(call.end_byte, file) if step.name in _BINDS)
    return [": ".join((each[0].strip('"'), *each[1:2])) for each in given if each]


READERS = dict.fromkeys(TAKES_STATEMENT, look)
