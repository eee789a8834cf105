"""Names of a function that hide those of a library: `def load(requests): requests.get(url)`."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import LONGEST_TEXT, followed, parameter_list

_HEAD = re.compile(rb"\w+")
# What stands behind a name among parameters; in Go its type. A default of the same name is the library again.
_TAKEN = re.compile(rb"\s*(?:\?\s*)?(?P<end>[,)}\]:=]|\Z)|[ \t]+(?:\.\.\.)?[*\[\w]")
_DEFAULT = re.compile(rb"\s*(?:\?\s*)?(?::[^,=]+)?=\s*(\w+)")
_ASSIGNED = re.compile(rb"\s*(?::[^=\n]+)?(?P<sign>:?=)(?![=>])")
_DECLARES = re.compile(rb"\b(?:const|let|var|final)\s+\Z")


def is_own_name(call: Node, file: SourceFile) -> bool:
    """Whether what the call begins with is a parameter or a variable of a function around it."""
    head = _HEAD.match(file.source, call.start_byte, call.end_byte)
    if head is None:
        return False
    function, end = file.enclosing_function(call), call.start_byte
    while function is not None:
        if _is_taken(head[0], function, file) or _is_made(head[0], function, end, file):
            return True
        end = function.start_byte
        function = file.enclosing_function(function.parent) if function.parent is not None else None
    return False


def _is_taken(name: bytes, function: Node, file: SourceFile) -> bool:
    listed = parameter_list(function)
    if listed is None:
        return False
    text = file.source[listed.start_byte : listed.end_byte]
    for found in followed(name, text, _TAKEN, b"_$.:=\"'"):
        before = text[: found.start() - len(name)].rstrip()
        default = _DEFAULT.match(text, found.start())
        is_place = not before or before[-1:] in b"(,{[*"
        if is_place and (default is None or default[1] != name):
            return True
    return False


def _is_made(name: bytes, function: Node, end: int, file: SourceFile) -> bool:
    """Whether the function gives the name another value before the call: in Python any value, elsewhere a variable
    of its own."""
    start = max(function.start_byte, end - LONGEST_TEXT)
    for found in followed(name, file.code, _ASSIGNED, b"_$.", start, end):
        before = file.source[file.source.rfind(b"\n", 0, found.start()) + 1 : found.start() - len(name)]
        is_declared = found["sign"] == b":=" or _DECLARES.search(before) is not None
        if is_declared or (file.language == "python" and not before.strip()):
            return True
    return False
