"""What a function literal is called, read off the text before it.

`Node.parent` walks from the root; a look at the bytes before the function is cheaper and never quadratic.
"""

import re
from functools import lru_cache
from typing import NamedTuple

WINDOW = 300  # bytes before a function that are looked at
LONGEST_NAME = 80
LONGEST_RECEIVER = 200

# What calls a function once for each element: the result is none.
PER_ELEMENT = frozenset({"forEach", "map", "flatMap", "filter", "reduce", "some", "every", "find", "findIndex"})
_TYPED = re.compile(
    rb"\s*(?:export\s+)?(?:(?:const|let|var|static|readonly|public|private|protected)\s+)*([\w$#]+)[?!]?\s*:"
)
_DECLARED = re.compile(rb"\s*(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*(?::[^=\n]{1,80})?=")
_LITERAL = re.compile(rb"\s*[\"'`]([^\"'`\n]{0,60})[\"'`]")
_BRACKET = re.compile(rb"[()]")


class Place(NamedTuple):
    """`name` is empty for functions without one. `is_given`: by assignment, key or wrapping; else after the call that
    it is an argument of (`get("/orders")`). `callee` and `receiver` are of that call when it is its first argument."""

    name: str
    is_given: bool
    callee: str = ""
    receiver: str = ""


@lru_cache(maxsize=1)
def place_of(source: bytes, start: int) -> Place:
    """Where the function literal at this byte stands. Kept for the one asked last: its name and its call are asked
    one after the other."""
    before = source[max(0, start - WINDOW) : start].rstrip()
    last = before[-1:]
    if last == b"=":
        return Place(_assigned(before[:-1].rstrip()), True)
    if last == b":":
        return Place(_tail(before[:-1].rstrip().rstrip(b"\"'`]")) or "anonymous", True)  # also of `[Kind.ORDER]:`
    if last == b"(" or last == b",":
        return _argument(before, last == b"(")
    if before.endswith(b"default"):
        return Place("default", True)
    return Place("anonymous", False)


def _assigned(left: bytes) -> str:
    segment = left[left.rfind(b"\n") + 1 :]
    segment = segment[segment.rfind(b";") + 1 :]
    typed = _TYPED.match(segment)
    return _text(typed[1]) if typed is not None else _tail(left) or "anonymous"


def _argument(before: bytes, is_first: bool) -> Place:
    opening = len(before) - 1 if is_first else _opening(before)
    if opening < 0:
        return Place("anonymous", False)
    head = before[:opening].rstrip()
    if head.endswith(b">") and (generic := head.rfind(b"<")) > 0:
        head = head[:generic]
    segment = head[max(head.rfind(b"\n"), head.rfind(b";")) + 1 :]
    callee = _tail(head)
    receiver = ""
    if is_first and (dot := head.rfind(b".")) == len(head) - len(callee.encode()) - 1:
        receiver = _text(_expression_end(head[:dot].rstrip(b"? \n\t")))
    declared = _DECLARED.match(segment) if not receiver or callee not in PER_ELEMENT else None
    if (
        declared is not None
        and callee
        and segment[declared.end() :].strip().removeprefix(b"await ").replace(b".", b"").replace(b"_", b"").isalnum()
    ):
        return Place(_text(declared[1]), True, callee)
    literal = _LITERAL.match(before, opening + 1)
    title = f'"{_text(literal[1])}"' if literal is not None else ""
    return Place(
        f"{callee}({title})"[:LONGEST_NAME] if callee else "anonymous", False, callee if is_first else "", receiver
    )


def _opening(before: bytes) -> int:
    """Where the bracket opens that is still open at the end."""
    level = 0
    for match in reversed(list(_BRACKET.finditer(before))):
        level += 1 if match[0] == b")" else -1
        if level < 0:
            return match.start()
    return -1


def _expression_end(text: bytes) -> bytes:
    """The expression that ends here, roughly: back to a line end, a bracket that opens it, or an assignment."""
    text = text[_opening(text) + 1 :]
    for sign in (b"\n", b";", b"= ", b"=> ", b"return ", b"{ "):
        text = text[text.rfind(sign) + len(sign) :] if sign in text else text
    return text.strip()[-LONGEST_RECEIVER:]


def _tail(text: bytes) -> str:
    """The word at the end."""
    end = len(text)
    start = end
    while start and (text[start - 1 : start].isalnum() or text[start - 1] in b"_$#"):
        start -= 1
    return _text(text[start:end])[:LONGEST_NAME]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
