"""Where a row that a function has changed in memory is written, so that the database gets what memory held."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import assigned_values, text_after, text_before
from analysis.engine.readers.row_locks import is_loaded
from analysis.engine.readers.transactions import in_transaction

_NOT_NULL = re.compile(r"(?<=[\w)\]])!(?=[.\s)\],;+-])")  # of TypeScript, `member!.points`
_LOADED = r"\b(?:find|get|load|select|fetch|read)\w*\("
_LOADS = r"\.(?:query|get(?:_or_404|_one)?|first(?:_or_404)?|scalars?|one\w*|execute|fetch\w*|all)\("
_BY_EXPRESSION = re.compile(r"\.SetExpr\(|\.(?:Incr|Decr)\(")  # the database adds


def plain(text: str) -> str:
    """A text of TypeScript without the signs that something is there."""
    return _NOT_NULL.sub("", text) if "!" in text else text


def saved_on(owner: str, node: Node, file: SourceFile) -> int:
    """The line on which the row is written after the change, whole; 0 when it is not."""
    word = re.escape(owner)
    after = plain(text_after(node, file))
    saved = re.search(
        rf"(?<![\w.]){word}\.(?:a?save|persist(?:AndFlush)?)\(|\.(?:save|saveAndFlush|merge|persist|Save|Updates?)\([^\n"
        rf")]*&?(?<![\w.]){word}\b(?!\.)|\.NewUpdate\(\)\.\s*Model\(&?{word}\)(?!\.\s*Set\()|(?:[sS]ession|\bdb)\.commit\(",
        after,
    )
    if saved is None or _BY_EXPRESSION.search(after[after.rfind("\n", 0, saved.start()) + 1 : saved.start()]):
        return 0
    line = file.lines.of(node.end_byte) + after[: saved.start()].count("\n")
    if not saved[0].endswith(".commit("):
        return line
    # A session writes what it loaded; other objects of the function are none of its business.
    if re.search(rf"\bfor\s+{word}\s+in\b[^\n]*(?:{_LOADS})", text_before(node, file)) is not None:
        return line
    return line if any(re.search(_LOADS, file.text(each)) for each in assigned_values(owner, node, file)) else 0


def updated_on(owner: str, name: str, node: Node, file: SourceFile) -> int:
    """The line of an UPDATE after the change that is given the column alone, of a row that the function loads:
    `db.Model(&item).Update("stock", item.Stock)`, `update({ data: { stock: item.stock } })`."""
    after = plain(text_after(node, file))
    value = f"{owner}.{name}"
    is_of_go = file.language == "go"
    if ("pdate" not in after or value not in after) and not (is_of_go and "UPDATE " in after):
        return 0
    if not (is_loaded(owner, text_before(node, file)) or _is_row_given(owner, node, file)):
        return 0
    named = r"\"\w+\"\s*[,:]" if is_of_go else rf"(?<![\w.]){re.escape(name)}[\"']?\s*[:=]"
    found = re.search(rf"\.(?:[uU]pdate\w*|values)\((?P<given>[^;]{{0,200}}?){named}\s*{re.escape(value)}\b", after)
    if found is None and is_of_go:
        found = re.search(_sets_column(owner, name), after)
    return 0 if found is None else file.lines.of(node.end_byte) + after[: found.start()].count("\n")


def flushed_on(owner: str, call: Node, file: SourceFile) -> int:
    """The line of the change, when the row was loaded in a transaction of Spring's: its commit writes it."""
    if not in_transaction(call.start_byte, file):
        return 0
    loaded = rf"(?<![\w.]){re.escape(owner)}\s*=[^;]*{_LOADED}"
    return file.line(call) if re.search(loaded, text_before(call, file)) is not None else 0


def _sets_column(owner: str, name: str) -> str:
    """A pattern for SQL of Go that gives a column the field of a row, or takes it of the row by its name."""
    column = "_?".join(map(re.escape, name))
    row = rf"(?<![\w.]){re.escape(owner)}"
    given = rf"(?:\$\d|\?)[^;]{{0,200}}?{row}\.{re.escape(name)}\b(?!\s*[-+])|:\w+[^;]{{0,200}}?,\s*&?{row}\)"
    return rf"(?i:\bUPDATE\s+\w+\s+SET\b[^;]{{0,200}}?\b{column}\s*=\s*)(?:{given})"


def _is_row_given(owner: str, node: Node, file: SourceFile) -> bool:
    """Go: whether the function is given the row, `item *Item`, which somebody has loaded."""
    listed = file.functions[file.function_of(node)].node.child_by_field_name("parameters")
    if file.language != "go" or listed is None:
        return False
    return re.search(rf"\b{re.escape(owner)}\s+\*", file.text(listed)) is not None
