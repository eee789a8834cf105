"""Lists of Go that a query fills by their address: `db.Where(…).Find(&orders)`."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import WORD_END, followed, text_before

# What an ORM or a driver calls its reading of rows, up to the list that it fills.
FILLS = re.compile(
    r"\.\s*(?:Find|Scan|Select|SelectContext|All|Pluck|QueryRows\w*|StructScan)\((?:[^\n;]*)\Z"
    r"|\.NewSelect\(\)[^\n;]*\.Model\([^\n;()]*\Z"
)
LONGEST_CALL = 200  # characters of a call before what it fills
_STEP = re.compile(r"[.,(]\s*\Z")  # what a line ends with whose chain goes on


def filled_by(name: str, node: Node, file: SourceFile) -> str:
    """The statement that last filled a list before the node, from the beginning of its chain to the end of its line;
    empty when nothing did that reads rows."""
    if file.language != "go" or not name.isidentifier() or not file.mentions(b"&" + name.encode()):
        return ""
    before = text_before(node, file)
    for filled in reversed(list(followed(f"&{name}", before, WORD_END, ""))):
        if FILLS.search(before, max(0, filled.start() - LONGEST_CALL), filled.start()):
            end = before.find("\n", filled.end())
            return before[_begin(before, filled.start()) : end if end >= 0 else len(before)]
    return ""


def _begin(text: str, position: int) -> int:
    """Where the line begins that a chain of several lines begins on."""
    start = text.rfind("\n", 0, position) + 1
    while start and _STEP.search(text, max(0, start - LONGEST_CALL), start - 1):
        start = text.rfind("\n", 0, start - 1) + 1
    return start
