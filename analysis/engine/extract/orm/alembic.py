"""Alembic: the indexes that migrations add to tables."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.orm.sql import tables
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.readers.reading import function_name, text_before

_BATCH = re.compile(r"batch_alter_table\(\s*[\"'](\w+)[\"'][^\n]*\bas\s+(\w+)")
_QUOTED = re.compile(r"[\"']([^\"'\n]+)[\"']")
_METHOD = re.compile(r"postgresql_using\s*=\s*[\"'](\w+)[\"']")
_OPERATORS = re.compile(r"[\"'](\w+_ops)[\"']")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`op.create_index("by_day", "orders", ["day"])`, also on the table of a batch. What takes a migration back adds
    nothing."""
    receiver = file.callee(call).rpartition(".")[0]
    if not file.mentions(b"alembic") or function_name(call, file).startswith("downgrade"):
        return iter(())
    given = file.arguments(call)[0][1:]  # behind its name
    table = _table_of_batch(receiver, call, file)
    if not table and given:
        table, given = file.text(given[0]).strip("\"'"), given[1:]
    columns = _QUOTED.findall(file.text(given[0])) if given and given[0].type == "list" else []
    if table.isidentifier() and columns:
        text = file.text(call)
        method = _METHOD.search(text)
        using = f"USING {method[1]} " if method is not None else ""
        classes = " ".join(_OPERATORS.findall(text))
        unique = "UNIQUE " if "create_unique" in text or "unique=True" in text else ""
        file.models.extend(tables(f"CREATE {unique}INDEX i ON {table} {using}({', '.join(columns)} {classes})"))
    return iter(())


READERS = dict.fromkeys(("create_index", "create_unique_constraint"), look)


def _table_of_batch(receiver: str, call: Node, file: SourceFile) -> str:
    """The table of the batch that the receiver stands for: `with op.batch_alter_table("orders") as batch:`."""
    if receiver in ("op", "alembic.op"):
        return ""
    batches = _BATCH.findall(text_before(call, file))
    return next((table for table, name in reversed(batches) if name == receiver), "")
