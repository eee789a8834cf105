"""Calls that a function of Go makes one after the other, on no branch: one run makes all of them, as long as none
fails."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import statements

_STATEMENTS = frozenset(
    {"expression_statement", "short_var_declaration", "assignment_statement", "return_statement", "if_statement"}
)
# A method that is given the context: one of those that ask somebody.
_CALL = re.compile(rb"(?<![\w.])((?:\w+\.)+\w+)\(\s*(?:\w*[cC]tx|\w+(?:\.Request(?:\(\))?)?\.Context(?:\(\))?)\b")
MOST = 12


def calls_in_a_row(body: Node, file: SourceFile) -> Iterator[tuple[str, int]]:
    """The first such call of each statement of a function's own block, with its line."""
    found = 0
    for statement in statements(body):
        if statement.type not in _STATEMENTS or found == MOST:
            continue
        asked: Node | None = statement
        if statement.type == "if_statement":
            asked = statement.child_by_field_name("initializer")
        call = _CALL.search(file.source, asked.start_byte, asked.end_byte) if asked is not None else None
        if call is not None and b"func(" not in file.source[statement.start_byte : call.start()]:
            found += 1
            yield file.resolve(call[1].decode("utf-8", "replace")), file.lines.of(call.start())
