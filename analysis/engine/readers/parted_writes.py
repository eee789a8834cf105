"""Writes of one function to different tables, of which a failure may leave the first without the second."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.branches import excludes, made_when_missing, run_together
from analysis.engine.readers.proxied_calls import runs_in_transaction
from analysis.engine.readers.reading import function_text, node_at
from analysis.engine.readers.repeatable_writes import finds_or_makes
from analysis.engine.readers.table_writes import Write, is_claim
from analysis.engine.readers.transactions import in_transaction

_BY_HAND = re.compile(r"(?i)\bbegin\b|\.commit\(|rollback|start_transaction")
# Rows are locked, and work waits for the commit, inside a transaction only: that of the caller.
_RUNS_INSIDE = re.compile(r"\.select_for_update\(|\bon_commit\(")
_ANSWER = re.compile(rb"(?:(?:const|let|var)\s+)?(?!err\b)(\w+)\s*:?=(?!=)")  # and no failure


def is_begun_by_hand(text: str) -> bool:
    """Whether the text of a function speaks of transactions that it begins and ends itself."""
    return _BY_HAND.search(text) is not None


def unprotected(writes: list[Write], root: Node, file: SourceFile) -> tuple[Write, Write] | None:
    """The first two writes to different tables that one run may reach."""
    if len({(write.label, write.row, write.verb == "deleted") for write in writes}) < 2:
        return None
    text = function_text(node_at(writes[0].start, root), file)
    if is_begun_by_hand(text) or (_RUNS_INSIDE.search(text) and "atomic" not in text):
        return None
    bare = [write for write in writes if not in_transaction(write.start, file)]
    if (
        bare
        and file.language == "java"
        and runs_in_transaction(file.scope_at(bare[0].start, bare[0].start + 1).function, file)
    ):
        return None
    for position, first in enumerate(bare):
        if finds_or_makes(first, root, file):
            continue  # whoever comes again finds the row and goes on
        for second in bare[position + 1 :]:
            if not first.differs_from(second) or is_claim(second) or _settles(first, second, file):
                continue  # what is kept behind the work says that it was done
            place, other = node_at(first.start, root), node_at(second.start, root)
            if run_together(place, other) and not _is_found_again(place, other, file):
                return first, second
    return None


def _is_found_again(first: Node, second: Node, file: SourceFile) -> bool:
    """Whether the first row is made only where it is missing, and the second for itself: the next run goes on there.
    Or where there is a row, of which the second asks that there is none."""
    around = made_when_missing(first, file)
    is_for_itself = around is not None and not around.start_byte <= second.start_byte < around.end_byte
    return is_for_itself or excludes(first, second, file)


def _settles(first: Write, second: Write, file: SourceFile) -> bool:
    """Whether the function leaves by what the first write answered, so that the second one is made in its stead."""
    named = _ANSWER.match(file.source, first.start)
    if named is None:
        return False
    between = file.source[first.start : second.start]
    return re.search(rb"\bif\b[^\n]*\b" + named[1] + rb"\b[^\n]*(?:\n\s*)?\breturn\b", between) is not None
