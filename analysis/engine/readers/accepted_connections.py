"""What starts for each connection that a listener of Go accepts."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.fan_out import is_limited, waits_for_room
from analysis.engine.readers.reading import function_text, round_of

_ACCEPTED = re.compile(r"\b(?P<conn>\w+)\s*,\s*\w+\s*:?=\s*(?P<of>[\w.]+)\.Accept\(\)")


def accepted_by(statement: Node, file: SourceFile) -> str:
    """The listener whose connection a `go` statement is given in an endless loop; empty where something limits them."""
    loop = round_of(statement, file)
    if loop is None or loop.variables or "LimitListener" in function_text(statement, file):
        return ""
    accepted = _ACCEPTED.search(file.source[loop.node.start_byte : statement.start_byte].decode("utf-8", "replace"))
    if accepted is None or re.search(rf"\b{accepted['conn']}\b", file.text(statement)) is None:
        return ""
    if is_limited(statement, file.text(loop.node), "", file) or waits_for_room(statement, loop.node, file):
        return ""
    return accepted["of"]
