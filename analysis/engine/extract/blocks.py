"""The bodies of functions as rows of hashes, by which `engine.copies` finds code that stands in two places.

Only code inside functions counts: imports, declarations of fields, tables of data and licence headers never do, and
tests have their own business. White space, comments, digits and the content of strings make no difference.

Of a longer function that decides something there is also a hash in which each name stands for the place where it first
came up (parameterized matching, after Baker 1995): equal for two functions that differ in their names alone, where
the same name always has the same counterpart.
"""

import re
from array import array
from collections.abc import Sequence
from itertools import compress
from operator import mul
from zlib import crc32

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import RENAMED, Function, FunctionFlag

SHORTEST_BLOCK = 10  # lines
SHORTEST_BODY, LONGEST_BODY = 4, 30  # lines of a whole function, its header included; longer ones are blocks
FEWEST_STATEMENTS = 3
SHORTEST_TEXT = 60  # characters of the body of a small function
LEAST_TOKENS = 100
LEAST_COMPLEXITY = 3
# They say of each class the same with other names.
_CUSTOMARY = frozenset({"equals", "hashCode", "compareTo", "toString", "clone", "__eq__", "__hash__", "__repr__"})

_NOT_COMPARED = FunctionFlag.TEST | FunctionFlag.ABSTRACT | FunctionFlag.ACCESSOR
_STRING = re.compile(rb"\"[^\"\n\\]*(?:\\.[^\"\n\\]*)*\"|'[^'\n\\]*(?:\\.[^'\n\\]*)*'")
# A row of a table: nothing but keys and literals, as they are when they have been normalised.
_OF_TABLE = re.compile(
    rb"\n(?:(?:[\[({]|''[:=]|[\w$]+[:=])*(?:''|-?0[\w.]*|[Tt]rue|[Ff]alse|None|null|nil|undefined)[\])}]*,)+(?=\n)"
)
_ONLY_KEEPS = re.compile(
    rb"(?:(?:super\([\w,'.()]*\)|(?:this|self)\.\w+=[\w.']+);?)+\}?"
)  # what a constructor was given
_NAME = re.compile(rb"[A-Za-z_$][\w$]*")
_WORD_CHARACTERS = bytes(each for each in range(128) if re.match(rb"[\w$]", bytes([each])))
# Words that no other word may stand for; those of one language are no names in the others either.
_KEYWORDS = {
    word: -number
    for number, word in enumerate(
        b"""
        and as async await break case catch chan class const continue default defer del delete do elif else except
        extends false False final finally for func function global go goto if import in instanceof is lambda let map
        match new nil None nonlocal not null or pass raise range return select self static super switch this throw true
        True try type typeof undefined var void while with yield
        """.split(),
        start=1,
    )
}
_BLANK = b" \t\r"
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_PARTS = ("consequence", "alternative", "body")  # where statements stand in statements
_WRAPPERS = frozenset({"statement_list", "block", "statement_block", "else_clause", "except_clause", "finally_clause"})
_NO_STATEMENTS = frozenset({"comment", "line_comment", "block_comment"})


def blocks(file: SourceFile, functions: Sequence[Function]) -> bytes:
    """Unsigned 32-bit numbers. For each outermost function its first line, the number of its lines, the mean length of
    one without white space, and a hash of each, 0 for one without code. For one with decisions also its first line,
    `RENAMED`, its last line and a hash without names. For each named function of few lines its first line, a 0, its
    last line and a hash of its body."""
    packed = array("I")
    hidden: set[int] = set()  # functions that are not compared, nor are those inside
    for draft, function in zip(file.functions[1:], functions[1:], strict=True):
        if function.parent in hidden or function.flags & _NOT_COMPARED:
            hidden.add(draft.index)
            continue
        if function.code_lines < SHORTEST_BODY or (function.parent and not _is_small_and_named(function)):
            continue
        first = file.lines.of(draft.node.start_byte)
        rows = _normalised(file.source[draft.node.start_byte : draft.node.end_byte]).split(b"\n")
        has_code = file.lines.has_code[first - 1 : function.end_line]
        if function.code_lines >= SHORTEST_BLOCK and not function.parent:
            _pack_rows(rows, first, has_code, packed)
            if _decides(function) and (shape := _shape(draft.node, first, has_code, file)) is not None:
                packed.extend((function.line, RENAMED, function.end_line, shape))
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


def _is_small_and_named(function: Function) -> bool:
    return function.code_lines < LONGEST_BODY and not function.flags & FunctionFlag.ANONYMOUS


def _decides(function: Function) -> bool:
    """Whether equal steps with other names are more than custom: calls in a row and tables look alike anywhere."""
    return (
        function.cyclomatic >= LEAST_COMPLEXITY
        and not function.flags & FunctionFlag.FLAT_SWITCH
        and function.short_name not in _CUSTOMARY
    )


def _shape(function: Node, first: int, has_code: Sequence[bool], file: SourceFile) -> int | None:
    """The hash of the body of a function with its names by their first places, if it has enough tokens."""
    body = function.child_by_field_name("body")
    if body is None:
        return None
    lines = file.source[body.start_byte : body.end_byte].split(b"\n")
    text = _STRING.sub(b"''", b"\n".join(compress(lines, has_code[file.lines.of(body.start_byte) - first :])))
    names = _NAME.findall(text)
    signs = text.translate(None, _WORD_CHARACTERS + _BLANK + b"\n")
    if len(names) + len(signs) < LEAST_TOKENS:
        return None
    places = dict(_KEYWORDS)
    numbers = array("i", [places.setdefault(name, len(places)) for name in names])
    return crc32(signs, crc32(numbers.tobytes()))


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
