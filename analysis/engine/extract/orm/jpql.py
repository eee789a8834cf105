"""Queries in the language of JPA: `select o from Order o join fetch o.lines where o.status = :status`."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from analysis.engine.extract.orm.conditions import conditions_in
from analysis.engine.facts import Filter

_FROM = re.compile(
    r"\b(?:from|update)\s+(?:\w+\.)*([A-Z]\w*)(?:\s+(?:as\s+)?(?!where\b|set\b|order\b|join\b|left\b)(\w+))?",
    re.IGNORECASE,
)
_VERB = re.compile(r"^\s*(select|from|update|delete|insert)\b", re.IGNORECASE)
_FETCHED = re.compile(
    r"\bjoin\s+fetch\s+(\w+)\.([\w.]+)(?:\s+(?:as\s+)?(?!(?:left|inner|join|where|order|group|fetch)\b)(\w+))?",
    re.IGNORECASE,
)
_JOINED = re.compile(r"(?<!left )\bjoin\s+(?!fetch\b)|\bexists\s*\(", re.IGNORECASE)
_WHERE = re.compile(r"\bwhere\b", re.IGNORECASE)
_END = re.compile(r"\b(?:order|group)\s+by\b", re.IGNORECASE)
_ORDER = re.compile(r"\border\s+by\s+(?:function\(\s*'|\w+\.)?(\w+)", re.IGNORECASE)
_COUNTS = re.compile(r"^\s*select\s+(?:new\s+[\w.]+\(|distinct\s+)?\s*(count|sum|avg|max|min)\s*\(", re.IGNORECASE)
_DIFFERENT = re.compile(r"^\s*select\s+distinct\s+\w+\.\w", re.IGNORECASE)  # values of a column, as a group has one
_GROUPED = re.compile(r"\bgroup\s+by\b", re.IGNORECASE)


class Parsed(NamedTuple):
    model: str
    operation: str
    filters: tuple[Filter, ...]
    order: tuple[str, ...]
    eager: tuple[str, ...]
    narrowed: bool  # joins that leave rows out


def parsed(text: str, values: Sequence[str] = ()) -> Parsed | None:
    """What a query asks; None for a text that is none. `values` are what is bound to it, see `conditions_in`."""
    verb, source = _VERB.match(text), _FROM.search(text)
    if verb is None or source is None:
        return None
    alias = source[2] or ""
    condition = _END.split(_WHERE.split(text, maxsplit=1)[1])[0] if _WHERE.search(text) else ""
    operation = {"update": "update", "delete": "delete", "insert": "insert"}.get(verb[1].lower(), "select")
    if operation == "select" and (_COUNTS.match(text) or _GROUPED.search(text) or _DIFFERENT.match(text)):
        operation = "aggregate"
    order = _ORDER.search(text)
    known = {alias: ""}
    eager: list[str] = []
    for match in _FETCHED.finditer(text):
        path = f"{known.get(match[1], '')}.{match[2]}".strip(".")
        eager.append(path)
        if match[3]:
            known[match[3]] = path
    return Parsed(
        source[1],
        operation,
        tuple(conditions_in(condition, alias, values)),
        (order[1],) if order is not None else (),
        tuple(eager),
        _JOINED.search(text) is not None,
    )
