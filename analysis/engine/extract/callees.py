"""What calls call, read off the text: `Order.objects.filter().first`.

Calls are the most frequent nodes by far, and most are a plain dotted name before a bracket: for them, and for the steps
of a chain, the tree is not asked. The calls of a chain begin at the same byte; each name is the inner one's and a step.
"""

import re

from tree_sitter import Node

from analysis.engine.extract.source import LONGEST_NAME, SourceFile, plain_name

_DIRECT = re.compile(rb"([\w.$]{1,%d})\(|new\s+([\w.$]+)[(<]" % LONGEST_NAME)
_STEP = re.compile(rb"(?:\s|//[^\n]*\n|#[^\n]*\n)*\??\.\s*([\w$]+)\(")
_LITERALS = (b"function(", b"func(")  # functions called where they stand
_BRACKET = ord(")")


class Callees:
    """The names of the calls of one file, resolved through its imports."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.source = file.source
        self._known: dict[bytes, str | None] = dict.fromkeys(_LITERALS)

    def single(self, call: Node, start: int) -> str:
        """Of a call that no other call shares its start with."""
        found = _DIRECT.match(self.source, start)
        if found is None:
            return self.file.resolve(self._spelled(call))
        text = found[0]
        if text not in self._known:
            self._known[text] = self.file.resolve(found[found.lastindex].decode())  # type: ignore[index]
        return self._known[text] or self.file.resolve(self._spelled(call))

    def chain(self, calls: list[Node], start: int) -> list[str]:
        """Of calls that begin at the same byte, given and returned from the outermost to the innermost."""
        inner = calls[-1]
        names = [self.single(inner, start)]
        so_far = self._prefix(inner, start)
        for call in reversed(calls[:-1]):
            end = inner.end_byte
            step = _STEP.match(self.source, end) if self.source[end - 1] == _BRACKET else None
            if step is None:
                so_far = self._spelled(call)
            elif step.end() - 1 - start > LONGEST_NAME:
                so_far = "()." + step[1].decode()
            else:
                so_far += "()." + step[1].decode()
            names.append(self.file.resolve(so_far))
            inner = call
        names.reverse()
        return names

    def _prefix(self, call: Node, start: int) -> str:
        """The call as the beginning of a longer name; `new Order` is one word."""
        return plain_name(self.source[start : self.file.dialect.callee(call)[1]])

    def _spelled(self, call: Node) -> str:
        first, last = self.file.dialect.callee(call)
        return plain_name(self.source[max(first, last - LONGEST_NAME - 1) : last])
