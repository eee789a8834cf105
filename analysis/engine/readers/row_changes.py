"""How a number that is written follows from one that was read, as `risk-lost-update` sees it."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.orm.steps import closing_bracket
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import followed

NAME = r"[A-Za-z_$][\w$]*"
# A number of a row that is changed where it stands, with the row, its column, the sign and what is added.
CHANGED = re.compile(rf"({NAME}(?:!?\.{NAME})*)!?\.({NAME})\s*([-+])=\s*([^\n;]+)".encode())
ASSIGNED = re.compile(rf"({NAME}(?:!?\.{NAME})*)!?\.({NAME})\s*=\s*\1!?\.\2!?\s*([-+])\s*([^\n;]+)".encode())
STEPPED = re.compile(rf"({NAME}(?:!?\.{NAME})*)!?\.({NAME})([-+])[-+]".encode())
COPIED = re.compile(rf"({NAME}(?:!?\.{NAME})*)!?\.({NAME})\s*=(?!=)\s*([^\n;]+)".encode())
ASSIGNS_ITSELF = re.compile(rf"({NAME}(?:!?\.{NAME})+)\s*=\s*\1!?\s*[-+]".encode())
ADDED = re.compile(rf"{NAME}(?:!?\.{NAME})+\s*[-+]=".encode())
CHANGED_IN_JAVA = re.compile(ADDED.pattern + b"|" + ASSIGNS_ITSELF.pattern)
LEVELS = 3  # of local variables between a number and what is written
_LOCAL = re.compile(r"(?<![\w.\"'`$])([A-Za-z_]\w*)\b(?!\s*[(.\[:\w])")
_GIVEN = re.compile(r"\s*(?::[^=\n]+)?(?P<step>[-+:])?=(?!=)\s*(?P<value>[^;\n]+)")
_BY_METHOD = r"\.(?P<verb>add|subtract|plus|minus)\("
_SIGN = re.compile(rf"[-+]|{_BY_METHOD}")
_OR_ZERO = r"(?:\s*(?:\|\||\?\?|\bor\b)\s*0)?"
_KEY = re.compile(rf"[{{(,\n]\s*[\"']?(?P<name>{NAME})[\"']?\s*(?:(?P<given>[:=,](?!=))|(?=\}}))")
_END = re.compile(r"[,})\n]")
_OPENS = re.compile(r"[(\[{]")
_ALONE = re.compile(rf"\(*\s*(?P<variable>{NAME})\s*(?P<sign>[-+])(?![-+=])\s*[\w.(]")
_LOADS_ONE = r"(?:scalar\w*|values_list|values|value|get|first|fetch\w*|find\w*|findUnique\w*|queryForObject)\("
_IS_GIVEN = re.compile(r"\s*(?::[^=\n]+)?=(?!=)\s*([^;]{0,400}?)(?:\n\s*\n|;|\n(?=\s*\w+\s*=)|\Z)")


def change_at(statement: Node, file: SourceFile) -> re.Match[bytes] | None:
    """How a statement adds to a number of a row or takes from it: `a.n -= 3`, `a.n = a.n - 3`, `a.n--`."""
    start, end = statement.start_byte, statement.end_byte
    return (
        CHANGED.match(file.source, start, end)
        or ASSIGNED.match(file.source, start, end)
        or STEPPED.match(file.source, start, end)
    )


def change_of(expression: str, reads: str, before: str) -> re.Match[str] | None:
    """Where an expression adds to the number that `reads` matches or takes from it, also by way of local variables
    that `before` sets; `sign_of` tells which."""
    last = re.sub(r"\(\?P<\w+>", "(?:", reads)
    plain = rf"(?:\w*\(\s*)?{reads}{_OR_ZERO}\s*\)?\s*(?P<sign>[-+])(?![-+=])|\+\s*{last}"
    method = rf"{reads}\s*{_BY_METHOD}"
    for _ in range(LEVELS):
        # Most expressions change nothing, and to compile a pattern costs more than to look for its signs.
        if _SIGN.search(expression) is not None:
            found = re.search(plain, expression) or re.search(method, expression)
            if found is not None:
                return found
        expression = _LOCAL.sub(lambda local: f"({_value(local[1], before)})", expression)
    return None


def number_read(name: str, expression: str, before: str) -> tuple[str, str]:
    """The variable that an expression adds to or takes from, and which of them, where a query gave the variable just
    this column: `const { stock } = await items.findOne(...)`, `n = rows.values_list("n", flat=True).get()`."""
    found = _ALONE.match(expression)
    if found is None or name not in before:
        return "", ""
    variable, column = re.escape(found["variable"]), re.escape(name)
    held = column if found["variable"] == name else rf"{column}\s*:\s*{variable}"
    taken_apart = rf"\{{[^{{}}]*(?<![\w.]){held}\b[^{{}}]*\}}\s*=\s*(?:await\s)?[^;]{{0,80}}{_LOADS_ONE}"
    is_read = re.search(taken_apart, before) is not None
    if not is_read:
        named = re.compile(rf"\.{column}\b(?!\s*[(=])|[\"']{column}[\"']")
        loads = (given[1] for given in followed(found["variable"], before, _IS_GIVEN, "_."))
        is_read = any(named.search(each) and re.search(_LOADS_ONE, each) for each in loads)
    return (found["variable"], found["sign"]) if is_read else ("", "")


def sign_of(change: re.Match[str]) -> str:
    """`+` or `-`."""
    said = change.groupdict()
    return "-" if (said.get("verb") or "").startswith(("sub", "min")) else said.get("sign") or "+"


def given_pairs(text: str) -> Iterator[tuple[str, str]]:
    """Names and the expressions that they are given: `stock: left`, `"stock": left`, `stock=left`, `"stock", left`, and
    `{ stock }` for itself."""
    for key in _KEY.finditer(text):
        if not key["given"]:
            yield key["name"], key["name"]
            continue
        start = position = key.end()
        while (end := _END.search(text, position)) is not None:
            opened = _OPENS.search(text, position, end.start())
            if opened is None:
                break
            position = closing_bracket(text, opened.end()) + 1
        yield key["name"], text[start : end.start() if end is not None else len(text)].strip()
        if key["given"] == ",":
            yield key["name"], key["name"]


def _value(name: str, before: str) -> str:
    """What a local variable was last set to, with the steps it was changed by since."""
    value = name
    for given in followed(name, before, _GIVEN, "_."):
        value = f"{value} {given['step']} {given['value']}" if given["step"] in ("-", "+") else given["value"]
    return value
