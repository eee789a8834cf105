"""Writes that may run twice, as `risk-missing-transaction` sees them."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import node_at
from analysis.engine.readers.table_writes import Write

_UPSERT = re.compile(
    r"(?:update|get)_or_create\(|\bupsert\w*\(|ON CONFLICT|on_conflict|ON DUPLICATE KEY|onConflict|onDuplicateKey"
)
_FINDS = re.compile(r"\.(?:get_or_create|findOrCreate|first_or_create|FirstOrCreate)\(")
_SETS = re.compile(r"\.(?:update|bulk_update|updateMany)\(")
_COUNTS = re.compile(r"\bF\(|\b(?:in|de)crement\b|[\w)\]}]\s*[-+]\s*[\w($]")


def is_upsert(write: Write, root: Node, file: SourceFile) -> bool:
    """Whether the statement of a write may run twice: it inserts or updates, whichever is due."""
    return _UPSERT.search(file.text(file.statement_of(node_at(write.start, root)))) is not None


def finds_or_makes(write: Write, root: Node, file: SourceFile) -> bool:
    """Whether the write makes its row only where there is none, and leaves it as it is where there is one."""
    return _FINDS.search(file.text(file.statement_of(node_at(write.start, root)))) is not None


def comes_out_alike(write: Write, root: Node, file: SourceFile) -> bool:
    """Whether a second run leaves the rows as the first did: they are gone, or hold the same values."""
    if write.verb == "deleted":
        return True
    text = file.text(file.statement_of(node_at(write.start, root)))
    return write.verb == "updated" and _SETS.search(text) is not None and _COUNTS.search(text) is None
