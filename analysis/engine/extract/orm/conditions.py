"""Conditions written as text: SQL, JPQL, and the fragments that query builders take."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from analysis.engine.facts import Filter

LONGEST_CONDITION = 4_000  # characters

_CONDITION = re.compile(
    r"""
    (?:\b(?P<function>lower|upper|date|date_trunc|cast|to_char|year|month|day|coalesce|ifnull|substr|substring|trim
        |extract|function|json_extract|strftime|unix_timestamp|length)\s*\(\s*(?:'\w+'\s*,\s*|\w+\s+FROM\s+)?)?
    (?P<path>["`\[]?[A-Za-z_]\w*["`\]]?(?:\.["`\[]?\w+["`\]]?)*)
    (?:::(?P<cast>\w+))?
    (?(function)(?:\s+AS\s+\w+(?:\s*\(\s*[\d,\s]+\))?|\s*,[^()]*)?\s*\))
    \s*
    (?P<operator>=|<>|!=|<=?|>=?|~\*?|\bNOT\s+IN\b|\bIN\b|\bNOT\s+I?LIKE\b|\bI?LIKE\b|\bIS\b|\bBETWEEN\b|\bMEMBER\s+OF\b)
    \s*\(?\s*(?P<value>SELECT\b|(?:lower|upper|concat)\s*\(\s*'%|["']?%|'|\d|true\b|false\b|null\b|not\b)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OPERATORS = {
    "=": "eq",
    "IN": "in",
    "LIKE": "like",
    "ILIKE": "contains",
    "IS": "null",
    "~": "contains",
    "~*": "contains",
}
_OTHERS = frozenset({"<>", "!=", "NOT LIKE", "NOT ILIKE", "MEMBER OF"})
_PLACEHOLDER = re.compile(r"\?|%s|\$\d")
_OPEN = re.compile(r"""\s*(?:[rfb]{0,2}["'`]%|fmt\.Sprintf\(\s*["`]%%)""")  # a text that begins with a wildcard
_CONSTANT = re.compile(r"""\s*(?:true|false|True|False|null|None|-?\d+|"[^"%]*"|'[^'%]*')\s*$""")
_OR = re.compile(r"\bOR\b", re.IGNORECASE)
_AND = re.compile(r"\bAND\b", re.IGNORECASE)
_FLAG = re.compile(r"(?i)(?:NOT\s+|!\s*)?\(?\s*([A-Za-z_][\w.\"`]*)")
_KEY = re.compile(r"^\w+\.(?:id|pk)$")  # as good as the foreign key
_WORDS = frozenset({"and", "or", "not", "where", "on", "when", "then", "else", "case", "between", "having", "select"})

_NO_FLAGS = _WORDS | {"true", "false", "null", "exists", "any", "all"}


def conditions_in(text: str, alias: str = "", values: Sequence[str] = ()) -> Iterator[Filter]:
    """The conditions of a text. Names lose the alias of the table that is asked; those of another table keep theirs.
    `values` are what is bound to it, in order or by name: a wildcard may stand there."""
    text = text[:LONGEST_CONDITION]
    column, sides = _either(text, alias) if alias and _OR.search(text) else ("", ())
    if column:
        yield Filter(column, "either")
    for match in _CONDITION.finditer(text):
        path = re.sub(r"[\"`\[\]]", "", match["path"])
        if path.lower() in _WORDS or match["path"] in sides:
            continue  # a side of that `OR` narrows nothing
        operator = " ".join(match["operator"].upper().split())
        written, value = (match["value"] or "").lower(), _bound(text, match.end(), values)
        is_bound = _PLACEHOLDER.match(text, match.end()) is not None
        yield Filter(
            _column(path, alias),
            _kind(operator, written, match, value),
            bool(_CONSTANT.match(value)) if is_bound else bool(written) and "%" not in written and written != "select",
        )
    for part in _AND.split(text):
        flag = _FLAG.fullmatch(part.strip(" \t\r\n\"'`;()"))
        path = re.sub(r"[\"`\[\]]", "", flag[1]) if flag is not None else ""
        if path and path.lower() not in _NO_FLAGS:
            yield Filter(_column(path, alias), "eq", True)  # `WHERE active AND NOT hidden`


def alternatives(sides: Sequence[Sequence[Filter]]) -> Iterator[Filter]:
    """The conditions of an `OR`, by its sides. Where one side asks the table itself and another one only tables that
    are joined to it, no condition narrows anything."""
    joined = [all("." in each.column and not _KEY.search(each.column) for each in side) for side in sides if side]
    own = next((each.column for side in sides for each in side if "." not in each.column), "")
    if own and any(joined) and not all(joined):
        yield Filter(own, "either")
    else:
        for side in sides:
            yield from side


def _kind(operator: str, written: str, match: re.Match[str], value: str) -> str:
    if operator == "NOT IN":
        return "excluded" if written == "select" else "other"
    if operator in _OTHERS:
        return "other"
    if operator == "LIKE" and ("%" in written or _begins_open(value)):
        return "contains"
    if match["function"] or match["cast"]:
        return "function"
    return _OPERATORS.get(operator, "range")


def _bound(text: str, end: int, values: Sequence[str]) -> str:
    """The value of the placeholder at this place: by its name or number, else by how many stand before it."""
    named = re.match(r"\s*:(\w+)", text[end:])
    if named is not None:
        given = re.search(rf"\b{named[1]}\s*:\s*(.*)", " ".join(values), re.DOTALL)
        return given[1] if given is not None else ""
    numbered = re.match(r"\s*\?(\d)", text[end:])
    if numbered is not None:
        named_so = (each.partition(":")[2] for each in values if each.startswith(f"{numbered[1]}:"))
        return next(named_so, values[int(numbered[1]) - 1] if int(numbered[1]) <= len(values) else "")
    position = len(_PLACEHOLDER.findall(text, 0, end))
    return values[min(position, len(values) - 1)] if values else ""


def _begins_open(value: str) -> bool:
    return _OPEN.match(value) is not None


def _column(path: str, alias: str) -> str:
    head, dot, rest = path.partition(".")
    if not dot or (alias and head.lower() != alias.lower()):
        return path
    return rest


def _either(text: str, alias: str) -> tuple[str, tuple[str, ...]]:
    """The column on one side of an `OR` whose other side asks another table, and both sides as they are written."""
    sides = _OR.split(text)
    for left, right in pairwise(sides):
        before = [match["path"] for match in _CONDITION.finditer(left)]
        after = [match["path"] for match in _CONDITION.finditer(right)]
        if not before or not after or "." not in before[-1] or "." not in after[0]:
            continue
        one, other = before[-1].partition("."), after[0].partition(".")
        if one[0].lower() != other[0].lower() and alias.lower() in (one[0].lower(), other[0].lower()):
            return one[2] if one[0].lower() == alias.lower() else other[2], (before[-1], after[0])
    return "", ()
