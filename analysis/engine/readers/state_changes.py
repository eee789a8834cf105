"""How a function changes what all requests share."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile

# How a function changes state: it sets a value that it was given, maybe before the first request, or some other one, or
# it changes what is kept there.
GIVEN, PREPARED, SET, KEPT = "given", "prepared", "set", "kept"
_IS_SET = re.compile(rb"^[^\[\].]*(?<![-+])=\Z|^\s*(?<![-+])=\Z|^this\.\w+\s*=\Z")  # and neither counted nor filled
_WORD = re.compile(rb"[A-Za-z_]\w*")
_TEXTS = re.compile(rb"\"[^\"\n]*\"|'[^'\n]*'")
_LONGEST_VALUE = 200  # bytes
_LONGEST_WAY = 4_000  # bytes before a change in which its value is made
# A local variable and what it is made of.
_MADE = re.compile(
    rb"^[ \t]*(?:(?:const|let|var|final)\s+)?(?:[\w<>\[\], .?]{1,60}\s)?(\w+)(?:,[ ]*\w+){0,3}"
    rb"(?:\s*:[^=\n]{1,60})?[ ]*:?=(?!=)([^\n]*)",
    re.MULTILINE,
)


def kind_of(change: re.Match[bytes], function: Node, file: SourceFile) -> str:
    """How a function changes the name."""
    if _IS_SET.search(change[0]) is None:
        return KEPT
    value = file.source[change.end() : change.end() + _LONGEST_VALUE].partition(b"\n")[0].partition(b";")[0]
    body = function.child_by_field_name("body")
    head = file.source[function.start_byte : body.start_byte if body is not None else function.start_byte]
    given = set(_WORD.findall(_TEXTS.sub(b"", head.partition(b"(")[2]))) - {b"self", b"this"}
    start = body.start_byte if body is not None else function.start_byte
    for made in _MADE.finditer(file.source, max(start, change.start() - _LONGEST_WAY), change.start()):
        if not given.isdisjoint(_WORD.findall(_TEXTS.sub(b"", made[2]))):
            given.add(made[1])
    return GIVEN if not given.isdisjoint(_WORD.findall(_TEXTS.sub(b"", value))) else SET
