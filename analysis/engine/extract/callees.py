"""What calls call, read off the text: `Order.objects.filter().first`.

Calls are the most frequent nodes by far, and most are a plain dotted name before a bracket: for them, and for the steps
of a chain, the tree is not asked. The calls of a chain begin at the same byte; each name is the inner one's and a step.
"""

import re

from tree_sitter import Node

from analysis.engine.extract.source import LONGEST_NAME, SourceFile, plain_name

_DIRECT = re.compile(rb"([\w.$]+)\Z|new\s+([\w.$]+)(?:\Z|<)")
_STEP = re.compile(rb"(?:\s|//[^\n]*\n|#[^\n]*\n)*\??\.\s*([\w$]+)\(")
_LITERALS = (b"function", b"func")  # functions called where they stand
_BRACKET = ord(")")
AWAIT = b"await "  # which the grammar of TypeScript puts into a call whose types are given


def names_of(calls: list[Node], starts: list[int], file: SourceFile) -> list[str]:
    """The names of all calls of a file, given in the order of the document, resolved through its imports."""
    source, find = file.source, file.source.find
    texts = [source[start:end] if (end := find(b"(", start, start + LONGEST_NAME)) > 0 else b"" for start in starts]
    direct = {text: _direct(text) for text in set(texts)}
    resolved = {text: file.resolve(name) if name else "" for text, name in direct.items()}
    names = [resolved[text] for text in texts]
    chained = [index for index, start in enumerate(starts[1:]) if start == starts[index]]
    step, following = "", -1
    for index in reversed(chained):
        if index + 1 != following:
            step = _beginning(calls[index + 1], starts[index], texts[index + 1], direct, file)
        step = _step(calls[index], calls[index + 1], starts[index], step, file)
        names[index] = file.resolve(step)
        following = index
    for index in [index for index, name in enumerate(names) if not name]:
        names[index] = file.resolve(_spelled(calls[index], file))
    return names


def _direct(text: bytes) -> str:
    """The name that this text before a bracket is, empty when only the tree can tell."""
    found = _DIRECT.match(text) if text not in _LITERALS else None
    return found[found.lastindex].decode() if found is not None else ""  # type: ignore[index]


def _step(call: Node, inner: Node, start: int, so_far: str, file: SourceFile) -> str:
    """The name of a call on the result of the inner one, which is called `so_far`."""
    end = inner.end_byte
    step = _STEP.match(file.source, end) if file.source[end - 1] == _BRACKET else None
    if step is None:
        return _spelled(call, file)
    if step.end() - 1 - start > LONGEST_NAME:
        return "()." + step[1].decode()
    return so_far + "()." + step[1].decode()


def _beginning(call: Node, start: int, text: bytes, direct: dict[bytes, str], file: SourceFile) -> str:
    """The innermost call as the beginning of a longer name; `new Order` is one word."""
    if name := direct[text]:
        return name if len(name) == len(text) else "new" + name
    first, last = file.dialect.callee(call)
    return plain_name(file.source[first if text.startswith(AWAIT) else start : last])


def _spelled(call: Node, file: SourceFile) -> str:
    first, last = file.dialect.callee(call)
    return plain_name(file.source[max(first, last - LONGEST_NAME - 1) : last])
