"""Methods of Go that are given to others to call, `each(w, r, h.svc.Close)`: who gives them calls them, in a way."""

import re

from analysis.engine.extract.scopes import FunctionDraft
from analysis.engine.extract.source import SourceFile

MOST = 20  # of one function

_GIVEN = re.compile(rb"(?<=[(,:])[ \t]*((\w+)(?:\.\w+)+)[ \t]*(?=[,)}])")
_RECEIVER = re.compile(rb"func[ \t]*\([ \t]*(\w+)[ \t]")


def note(file: SourceFile) -> None:
    """Note at each function what it gives away that may be a method: one of its own object, or one of a field. Fields
    look the same here, and the call graph tells them apart."""
    receivers: dict[int, bytes] = {}
    for given in _GIVEN.finditer(file.source):
        root = given[2]
        if root.decode("utf-8", "replace") in file.bindings:
            continue
        scope = file.scope_at(given.start(1), given.end(1))
        function = scope.function
        if not function.index or scope.broken or len(function.handed) >= MOST:
            continue
        if given[1].count(b".") == 1:
            if function.index not in receivers:
                receivers[function.index] = _receiver(function, file)
            if root != receivers[function.index]:
                continue
        function.handed[given[1].decode("utf-8", "replace")] = None


def _receiver(function: FunctionDraft, file: SourceFile) -> bytes:
    head = _RECEIVER.match(file.source, function.node.start_byte)
    return head[1] if head is not None else b""
