"""Queries that Spring Data derives from the names of methods: `findFirst10ByStatusAndCustomerIdOrderByCreatedDesc`."""

import re
from typing import NamedTuple

from analysis.engine.facts import Filter

_NAME = re.compile(
    r"^(find|read|get|query|search|stream|count|exists|delete|remove)(?:(?!By[A-Z]|By$)\w)*?"
    r"(?:(First|Top)(\d*))?(?:(?!By[A-Z]|By$)\w)*?(?:By(?=[A-Z])(.*))?$"
)
_OPERATIONS = {"count": "count", "exists": "exists", "delete": "delete", "remove": "delete"}
_ENDINGS = (
    ("IsNotNull", "null"),
    ("NotNull", "null"),
    ("IsNull", "null"),
    ("Null", "null"),
    ("NotContaining", "other"),
    ("NotLike", "other"),
    ("NotIn", "other"),
    ("IsNot", "other"),
    ("Not", "other"),
    ("IsContaining", "contains"),
    ("Containing", "contains"),
    ("Contains", "contains"),
    ("IsEndingWith", "contains"),
    ("EndingWith", "contains"),
    ("EndsWith", "contains"),
    ("MatchesRegex", "contains"),
    ("Regex", "contains"),
    ("StartingWith", "like"),
    ("StartsWith", "like"),
    ("Like", "like"),
    ("GreaterThanEqual", "range"),
    ("GreaterThan", "range"),
    ("LessThanEqual", "range"),
    ("LessThan", "range"),
    ("Between", "range"),
    ("Before", "range"),
    ("After", "range"),
    ("In", "in"),
)


class Derived(NamedTuple):
    operation: str
    limit: int
    filters: tuple[Filter, ...]
    order: tuple[str, ...]


def derived(name: str) -> Derived | None:
    """What a method of this name asks; None when the name says nothing."""
    match = _NAME.match(name)
    if match is None or match[4] is None:
        return None
    condition, _, order = match[4].partition("OrderBy")
    limit = int(match[3]) if match[3] else 1 if match[2] else 0
    operation = _OPERATIONS.get(match[1], "select")
    filters = tuple(_filter(part) for part in re.split(r"(?:And|Or)(?=[A-Z])", condition) if part)
    ordered = re.match(r"(.+?)(?:Asc|Desc|$)", order)
    return Derived(operation, limit, filters, (_lower(ordered[1]),) if ordered is not None else ())


def _filter(part: str) -> Filter:
    ignores_case = part.endswith(("IgnoreCase", "AllIgnoreCase"))
    part = re.sub(r"(?:All)?Ignor(?:e|ing)Case$", "", part)
    for value in ("True", "False"):
        if part.endswith(value) and part != value:
            return Filter(_lower(part.removesuffix(value).removesuffix("Is")), "eq", True)
    for ending, operator in _ENDINGS:
        if part.endswith(ending) and part != ending:
            return Filter(_lower(part.removesuffix(ending)), operator)
    part = re.sub(r"(?:Is|Equals)$", "", part) or part
    return Filter(_lower(part), "function" if ignores_case else "eq")


def _lower(name: str) -> str:
    path = name.replace("_", ".")
    return path[:1].lower() + path[1:]
