"""Bytes to text that can be parsed: encodings, line ends, and the reasons to leave a blob alone."""

import re
from bisect import bisect_right
from itertools import accumulate
from operator import add

LARGEST_BYTES = 1_000_000
LONGEST_LINE = 2_000
LONGEST_MEAN_LINE = 400  # characters a line, of files large enough for a mean to say something
BINARY_WINDOW = 8_000
GENERATED_WINDOW = 20  # lines

_GENERATED = re.compile(
    # The warning may stand on the next line, or after an empty one.
    rb"generated[^\n]{0,120}[\s*#/]{0,40}do not (edit|modify)|do not (edit|modify)[^\n]{0,120}generated"
    rb"|@(mbg\.)?generated\b"
    rb"|^\W*(note: )?(this (file|code|class) (is|was|has been) )?auto[- ]?generated (by|from|with|file|code)\b",
    re.MULTILINE,
)
# The banner that the release of a library carries: its version in three parts, and where it is from or who may use it.
_BANNER = re.compile(rb"\s*(?:[\"']use strict[\"'];?\s*)?(?:/\*(?:[^*]|\*(?!/))*\*/\s*){1,3}")
_RELEASE = re.compile(rb"(?:@version\s+|\bv|\s)\d+\.\d+\.\d+\b")
_ORIGIN = re.compile(rb"(?i)@license|\blicen[sc]ed?\b|\(c\)|copyright|@preserve")
# What a bundler puts around a library, right behind the banner.
_BUNDLED = re.compile(
    rb"[\s;!(]*function\s*\w*\s*\(\s*(?:[a-z]\s*,\s*[a-z]\s*,\s*[a-z]\b|(?:global|root|window)\s*,\s*\w+)[^\n]*"
    rb"(?:\n[^\n]*){0,4}?(?:require|define\.amd|\bexports\b)"
)
_BLANKS = b" \t\r\x0b\x0c"
_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def normalise(blob: bytes) -> bytes:
    """UTF-8 without a byte order mark, lines ended by LF or CRLF. Bytes that are not UTF-8 stay as they are."""
    if blob.startswith(b"\xef\xbb\xbf"):
        blob = blob[3:]
    else:
        for mark, encoding in _BYTE_ORDER_MARKS:
            if blob.startswith(mark):
                blob = blob[len(mark) :].decode(encoding, "replace").encode("utf-8", "replace")
                break
    if b"\r" in blob and b"\n" not in blob:
        blob = blob.replace(b"\r", b"\n")
    return blob


def reason_to_skip(source: bytes) -> str:
    """Why a normalised source is not worth parsing, or an empty string. (A single long line is seen by `Lines`.)"""
    if b"\0" in source[:BINARY_WINDOW]:
        return "binary"
    if len(source) > LARGEST_BYTES:
        return "too large"
    head = _first_lines(source)
    if b"generated" in head and _GENERATED.search(head):
        return "generated"
    if len(source) > LONGEST_LINE and len(source) > LONGEST_MEAN_LINE * (source.count(b"\n") + 1):
        return "minified"
    return ""


def is_copied_library(source: bytes) -> bool:
    """Whether a script is the release of a library that was put beside the project's own: nobody edits it here."""
    banner = _BANNER.match(source, 0, BINARY_WINDOW)
    if banner is None or _ORIGIN.search(banner[0]) is None:
        return False
    return _RELEASE.search(banner[0]) is not None or _BUNDLED.match(source, banner.end(), BINARY_WINDOW) is not None


def _first_lines(source: bytes) -> bytes:
    return b"\n".join(source[:BINARY_WINDOW].split(b"\n", GENERATED_WINDOW)[:GENERATED_WINDOW]).lower()


class Lines:
    """Where lines start, and which of them hold code. Lines count from 1."""

    def __init__(self, source: bytes) -> None:
        rows = source.split(b"\n")
        if (rows[-1] == b"" and len(rows) > 1) or source == b"":
            rows.pop()
        lengths = list(map(len, rows))
        self.count = len(rows)
        self.longest = max(lengths, default=0)
        self.starts = list(map(add, accumulate(lengths, initial=0), range(self.count)))
        self.has_code = list(map(bool, source.translate(None, _BLANKS).split(b"\n", self.count)))[: self.count]
        self.comments = 0
        self._sums: list[int] | None = None

    def of(self, byte: int) -> int:
        """The line of a byte offset."""
        return bisect_right(self.starts, byte) or 1

    def blank_out(self, source: bytes, start: int, end: int) -> None:
        """Count the lines that the comment or docstring at `start:end` has for itself as comment, not as code."""
        starts, has_code = self.starts, self.has_code
        first = bisect_right(starts, start) - 1
        last = bisect_right(starts, end - 1, first) - 1 if end > start else first
        if source[starts[first] : start].strip():
            first += 1
        if first <= last:
            line_end = starts[last + 1] if last + 1 < len(starts) else len(source)
            if source[end:line_end].strip():
                last -= 1
        for row in range(first, last + 1):
            if has_code[row]:
                has_code[row] = False
                self.comments += 1

    def code(self, first: int, last: int) -> int:
        """Lines of code from `first` to `last`, both included. Call it when all comments are blanked out."""
        if self._sums is None:
            self._sums = list(accumulate(self.has_code, initial=0))
        return self._sums[min(last, self.count)] - self._sums[min(first - 1, self.count)]

    def next_code(self, line: int) -> int:
        """The first line of code after `line`, or `line + 1` when none follows."""
        for row in range(line, self.count):
            if self.has_code[row]:
                return row + 1
        return line + 1
