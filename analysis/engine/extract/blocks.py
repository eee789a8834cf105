"""The bodies of functions as rows of hashes, by which `engine.copies` finds code that stands in two places.

Only code inside functions counts: imports, declarations of fields, tables of data and licence headers never do, and
tests have their own business. White space, comments, digits and the content of strings make no difference.
"""

import re
from array import array
from collections.abc import Sequence
from itertools import compress
from operator import mul
from zlib import crc32

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Function, FunctionFlag

SHORTEST_BLOCK = 10  # lines
SHORTEST_BODY, LONGEST_BODY = 4, 30  # lines of a whole function, its header included; longer ones are blocks
FEWEST_STATEMENTS = 3
SHORTEST_TEXT = 60  # characters of the body of a small function

_NOT_COMPARED = FunctionFlag.TEST | FunctionFlag.ABSTRACT | FunctionFlag.ACCESSOR
_STRING = re.compile(rb"\"[^\"\n\\]*(?:\\.[^\"\n\\]*)*\"|'[^'\n\\]*(?:\\.[^'\n\\]*)*'")
# A row of a table: nothing but keys and literals, as they are when they have been normalised.
_OF_TABLE = re.compile(
    rb"\n(?:(?:[\[({]|''[:=]|[\w$]+[:=])*(?:''|-?0[\w.]*|[Tt]rue|[Ff]alse|None|null|nil|undefined)[\])}]*,)+(?=\n)"
)
_ONLY_KEEPS = re.compile(
    rb"(?:(?:super\([\w,'.()]*\)|(?:this|self)\.\w+=[\w.']+);?)+\}?"
)  # what a constructor was given
_BLANK = b" \t\r"
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_PARTS = ("consequence", "alternative", "body")  # where statements stand in statements
_WRAPPERS = frozenset({"statement_list", "block", "statement_block", "else_clause", "except_clause", "finally_clause"})
_NO_STATEMENTS = frozenset({"comment", "line_comment", "block_comment"})


def blocks(file: SourceFile, functions: Sequence[Function]) -> bytes:
    """Unsigned 32-bit numbers. For each outermost function its first line, the number of its lines, the mean length of
    one without white space, and a hash of each, 0 for one without code. For one of few lines also its first line, a 0,
    its last line and a hash of its body."""
    packed = array("I")
    for draft, function in zip(file.functions, functions, strict=True):
        if function.parent != 0 or function.flags & _NOT_COMPARED or function.code_lines < SHORTEST_BODY:
            continue
        first = file.lines.of(draft.node.start_byte)
        rows = _normalised(file.source[draft.node.start_byte : draft.node.end_byte]).split(b"\n")
        has_code = file.lines.has_code[first - 1 : function.end_line]
        if function.code_lines >= SHORTEST_BLOCK:
            _pack_rows(rows, first, has_code, packed)
        if function.code_lines < LONGEST_BODY and (body := _body(draft.node, rows, first, has_code, file)) is not None:
            packed.extend((function.line, 0, function.end_line, body))
    return packed.tobytes()


def _pack_rows(rows: list[bytes], first: int, has_code: Sequence[bool], packed: "array[int]") -> None:
    """By `map` alone: it runs for every line of a repository."""
    length = sum(map(len, rows)) + len(rows) - 1
    packed.extend((first, len(rows), length // len(rows)))
    packed.extend(map(mul, map(crc32, rows), has_code))


def _body(function: Node, rows: list[bytes], first: int, has_code: Sequence[bool], file: SourceFile) -> int | None:
    """The hash of the statements of a function, if there are enough of them."""
    body = function.child_by_field_name("body")
    if body is None or not body.named_child_count:
        return None
    start = file.lines.of(body.named_children[0].start_byte) - first
    if start == 0:
        return None
    text = b"".join(compress(rows[start:], has_code[start:]))
    if len(text) < SHORTEST_TEXT or _ONLY_KEEPS.fullmatch(text) or _statements(body, FEWEST_STATEMENTS) > 0:
        return None
    return crc32(text)


def _statements(block: Node, missing: int) -> int:
    """How many statements are missing to so many, of those in the block and in the blocks of its statements."""
    blocks = [block]
    while blocks and missing > 0:
        for each in blocks.pop().named_children:
            if each.type in _NO_STATEMENTS or (each.child_count == 1 and each.child(0).type == "string"):
                continue
            if each.type in _WRAPPERS:
                blocks.append(each)
                continue
            missing -= 1
            blocks.extend(inner for part in _PARTS if (inner := each.child_by_field_name(part)) is not None)
    return missing


def _normalised(text: bytes) -> bytes:
    plain = _STRING.sub(b"''", text).translate(_DIGITS, _BLANK)
    return _OF_TABLE.sub(b"\n", plain) if plain.count(b",\n") >= SHORTEST_BLOCK else plain
