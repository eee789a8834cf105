"""What comments around a statement of Go say of an error that nobody takes (`rel-error-ignored`)."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile

_REASON = re.compile(rb"[^\n]*(?://|/\*)\s*(?!nolint|debt:)\w")
_REASON_ABOVE = re.compile(
    rb"(?:\A|\n)[ \t]*//\s*(?!nolint|debt:|\s)[^\n]*\w[^\n]*\n[ \t]*(?://\s*nolint[^\n]*\n[ \t]*)?\Z"
    rb"|//\s*nolint[^\n]*//\s*\w[^\n]*\n[ \t]*\Z"
)
_LIKE_IT = re.compile(rb"(?:\A|\n)([ \t]*\w+,\s*_\s*:?=[^\n]*\n)\Z")


def lines_around(statement: Node, file: SourceFile) -> bytes:
    """The line of a statement with the two above."""
    start = file.source.rfind(b"\n", 0, statement.start_byte)
    for _ in range(2):
        start = file.source.rfind(b"\n", 0, max(0, start))
    return file.source[max(0, start) : statement.end_byte] + file.source[statement.end_byte :].partition(b"\n")[0]


def has_reason(statement: Node, file: SourceFile) -> bool:
    """Whether a comment on the line, or alone on the line above, says why."""
    if _REASON.match(file.source, statement.end_byte) is not None:
        return True
    line_start = file.source.rfind(b"\n", 0, statement.start_byte) + 1
    while (before := _LIKE_IT.search(file.source, max(0, line_start - 200), line_start)) is not None:
        line_start = before.start(1)  # one comment for several lines
    return _REASON_ABOVE.search(file.source, max(0, line_start - 200), line_start) is not None
