"""Chains read off their text: `db.Where("a = ?", x).Find(&rows)` as a base and its steps.

ORMs whose chains stand in any grammar are read this way; asking the tree for parents costs a walk from the root.
"""

import re
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile

LONGEST_CHAIN = 4_000  # characters that are read
LONGEST_FUNCTION = 20_000  # bytes of a function that are searched for what a variable holds
WIDEST_HEAD = 240  # characters before a chain that say what it is assigned to

_SIGN = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])*'|`[^`]*`)|//[^\n]*|[()\[\]{}]""")
_GENERIC = re.compile(r"<[^<>()]*(?:<[^<>()]*>[^<>()]*)*>\s*$")
_NAME = re.compile(r"(?:^|[\s.?!])([\w$]+)\s*$")
_NEXT = re.compile(r"\s*[?!]?\.\s*([\w$]+)")
_OPENS = re.compile(r"\s*(?:<[^<>()]*(?:<[^<>()]*>[^<>()]*)*>)?\(")
_ASSIGNED = re.compile(
    r"(?:(?<=[\s(;{])|^)(?:([A-Za-z_$][\w$]*)|\[\s*([\w$]+)\s*(?:,[^\]=]*)?\]|\{\s*(?:count\s*(?::\s*\w+\s*)?,\s*)?rows(?:\s*:\s*([\w$]+))?[^}=]*\})"
    r"\s*(?::\s*[^=;\n]{1,80})?\s*:?=\s*(?:\(?await\s+)?$"
)
# What is written at once, by its text: `rows`, `orders.map(…)`, and no `s` of `for (const s of shipments)`.
MANY_ROWS = re.compile(r"\.(?:map|slice)\(|\w(?<!statu)(?<!s)s$|List$")
_AWAITED = re.compile(r"(?<![\w$)\]>])\(\s*await\s+\Z")
_MEASURED = re.compile(r"\s*\)\s*[?!]?\.\s*length\b")
_LENGTH = re.compile(r"\{\s*length\s*(?::\s*\w+\s*)?\}\s*=\s*\(?(?:await\s+)?\Z")


class Step(NamedTuple):
    name: str
    arguments: str


class Written(NamedTuple):
    """A chain as text."""

    base: str  # before the first call's name: `this.orders`, `db`, empty for a plain call
    steps: tuple[Step, ...]


def split(text: str) -> Written:
    """Base and steps of a chain; what stands in brackets is left together."""
    steps: list[Step] = []
    base, last, position = "", 0, 0
    while (sign := _SIGN.search(text, position)) is not None and sign[0] not in (")", "]", "}"):
        position = sign.end()
        if sign[0] not in ("(", "[", "{"):
            continue  # a text in quotes
        closing = closing_bracket(text, sign.end())
        if sign[0] == "(":
            before, name = _before_and_name(text[last : sign.start()])
            base = base if steps else before
            if closing < len(text):
                steps.append(Step(name, text[sign.end() : closing]))
            last = closing + 1
        position = closing + 1
    return Written("".join(base.split()), tuple(steps))


def _before_and_name(head: str) -> tuple[str, str]:
    """What stands before the name of a call, and the name; the whole of it when a call has none."""
    head = _GENERIC.sub("", head)
    named = _NAME.search(head)
    return (head, "") if named is None else (head[: named.start(1)].rstrip(" \t\n.?!"), named[1])


def steps_after(end: int, file: SourceFile) -> tuple[Step, ...]:
    """What is called or read on the result of the call that ends at this byte, also behind the bracket of
    `(await …)`. A property that is read is a step without arguments."""
    text = file.source[end : end + LONGEST_CHAIN].decode("utf-8", "replace")
    found: list[Step] = []
    position = 0
    if text.startswith(")") and _NEXT.match(text, 1):
        position = 1
    while (match := _NEXT.match(text, position)) is not None:
        position = match.end()
        opened = _OPENS.match(text, position)
        if opened is None:
            found.append(Step(match[1], ""))
            continue
        closing = closing_bracket(text, opened.end())
        found.append(Step(match[1], text[opened.end() : closing]))
        position = closing + 1
    return tuple(found)


def closing_bracket(text: str, start: int) -> int:
    """Where the bracket closes that was opened right before `start`; the end of the text when it does not."""
    level = 1
    for match in _SIGN.finditer(text, start):
        if match[0] in ("(", "[", "{"):
            level += 1
        elif match[0] in (")", "]", "}"):
            level -= 1
            if level == 0:
                return match.start()
    return len(text)


def parts_of(arguments: str, between: str = ",") -> list[str]:
    """The arguments of a call, or the sides of another sign, apart."""
    found, level, begin = [], 0, 0
    for match in re.finditer(f"{_SIGN.pattern}|{re.escape(between)}", arguments):
        sign = match[0]
        if sign in ("(", "[", "{"):
            level += 1
        elif sign in (")", "]", "}"):
            level -= 1
        elif sign == between and level == 0:
            found.append(arguments[begin : match.start()].strip())
            begin = match.end()
    last = arguments[begin:].strip()
    return [*found, last] if last else found


def assigned_to(start: int, file: SourceFile) -> str:
    """The variable that what begins at this byte is assigned to, of a pair the first: `const [rows, count] = `."""
    head = file.source[max(0, start - WIDEST_HEAD) : start].decode("utf-8", "replace")
    head = head[max(head.rfind(";"), head.rfind("\n\n")) + 1 :]
    match = _ASSIGNED.search(head[head.rfind("\n", 0, len(head.rstrip())) + 1 :] if "\n" in head else head)
    if match is None:
        return ""
    return match[1] or match[2] or match[3] or "rows"


def takes_length(start: int, end: int, file: SourceFile) -> bool:
    """Whether only the length is taken out of the chain that stands between these bytes, or goes on behind them:
    `const { length } = await …`, `(await …).length`."""
    head = file.source[max(0, start - WIDEST_HEAD) : start].decode("utf-8", "replace")
    if _LENGTH.search(head) is not None:
        return True
    if _AWAITED.search(head) is None:
        return False
    text = file.source[end : end + LONGEST_CHAIN].decode("utf-8", "replace")
    return _MEASURED.match(text, _behind_steps(text, 0)) is not None


def statements_on(name: str, node: Node, file: SourceFile, *, only_given: bool = False) -> list[str]:
    """What the function says before the node to give a variable its chain and to add steps to it, in order:
    `query := db.Model(&Order{})` and `query = query.Where(…)` and `query.andWhere(…)`, each from the chain's start.
    With `only_given` calls that assign nothing are left out."""
    function = file.enclosing_function(node)
    start = max(function.start_byte if function is not None else 0, node.start_byte - LONGEST_FUNCTION)
    text = file.source[start : node.start_byte].decode("utf-8", "replace")
    word = re.escape(name)
    given = rf"{word}(?:\s*:\s*[^=;\n]{{1,60}})?\s*:?=\s*(?!=)"
    goes_on = given if only_given else rf"{given}|(?={word}\s*\.\w+\()"
    found: list[str] = []
    for match in re.finditer(rf"(?m)(?:^|[{{;(\s])(?:const\s+|let\s+|var\s+)?(?:{goes_on})", text):
        chain = text[match.end() : match.end() + LONGEST_CHAIN]
        found.append(chain[: _end_of_chain(chain)])
    return found


def _end_of_chain(text: str) -> int:
    """Where the chain ends that the text begins with."""
    opened = re.match(r"(?:await\s+)?[\w$.&*\s?!]*\(", text)
    if opened is None:
        return 0
    return _behind_steps(text, closing_bracket(text, opened.end()) + 1)


def _behind_steps(text: str, end: int) -> int:
    """Where the calls end that follow one another from this place on: `.sort("name").lean()`."""
    while (match := _NEXT.match(text, end)) is not None and (bracket := _OPENS.match(text, match.end())) is not None:
        end = closing_bracket(text, bracket.end()) + 1
    return end


def text_of_callee(call: Node, file: SourceFile) -> str:
    """What a call calls, as it is written."""
    start, end = file.dialect.callee(call)
    return file.source[start:end].decode("utf-8", "replace")
