"""The bodies of functions as rows of hashes, by which `engine.copies` finds code that stands in two places.

Only code inside functions counts: imports, declarations of fields, tables of data and licence headers never do, and
tests have their own business. White space, comments, digits and the content of strings make no difference.
"""

import re
from array import array
from collections.abc import Sequence
from operator import mul
from zlib import crc32

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Function, FunctionFlag

SHORTEST_BLOCK = 10  # lines
SHORTEST_BODY = 5  # lines of a whole function, its header included
SHORTEST_TEXT = 120  # characters of the body of a small function

_NOT_COMPARED = FunctionFlag.TEST | FunctionFlag.ABSTRACT | FunctionFlag.ACCESSOR
_STRING = re.compile(rb"\"[^\"\n\\]*(?:\\.[^\"\n\\]*)*\"|'[^'\n\\]*(?:\\.[^'\n\\]*)*'")
_BLANK = b" \t\r"
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)


def blocks(file: SourceFile, functions: Sequence[Function]) -> bytes:
    """Unsigned 32-bit numbers. For each outermost function its first line, the number of its lines, the mean length of
    one without white space, and a hash of each, 0 for one without code. For a small function its first line, a 0, its
    last line and a hash of its body."""
    packed = array("I")
    for draft, function in zip(file.functions, functions, strict=True):
        if function.parent != 0 or function.flags & _NOT_COMPARED or function.code_lines < SHORTEST_BODY:
            continue
        text = file.source[draft.node.start_byte : draft.node.end_byte]
        if function.code_lines >= SHORTEST_BLOCK:
            first = file.lines.of(draft.node.start_byte)
            _pack_rows(text, first, file.lines.has_code[first - 1 : function.end_line], packed)
        elif (body := _body(text)) is not None:
            packed.extend((function.line, 0, function.end_line, body))
    return packed.tobytes()


def _pack_rows(text: bytes, first: int, has_code: Sequence[bool], packed: "array[int]") -> None:
    """By `map` alone: it runs for every line of a repository."""
    plain = _normalised(text)
    rows = plain.split(b"\n")
    packed.extend((first, len(rows), len(plain) // len(rows)))
    packed.extend(map(mul, map(crc32, rows), has_code))


def _body(text: bytes) -> int | None:
    """The hash of what follows the header's line, if there is enough of it."""
    body = _normalised(text.partition(b"\n")[2])
    return crc32(body) if len(body) >= SHORTEST_TEXT else None


def _normalised(text: bytes) -> bytes:
    return _STRING.sub(b"''", text).translate(_DIGITS, _BLANK)
