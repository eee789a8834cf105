"""Conditions of a query that stand in its text and cannot be read, so that it may pick fewer rows than it seems."""

import re
from collections.abc import Callable

from analysis.engine.facts import DJANGO
from analysis.engine.readers.query_surroundings import Surroundings
from analysis.engine.readers.reading import followed

LINES_OF_CONDITIONS = 40  # above a query, in which they are put together

_EMPTY_WHERE = re.compile(r"\.(?:delete|update)Many\(\s*\{\s*where:\s*\{\s*\}")
# SQL
_PUT_TOGETHER = re.compile(r"\$\{|\bf\"[^\"\n]*\{|\bf'[^'\n]*\{|%s\b|[\"'`]\s*\+|\+\s*[\"'`]|\.format\(|Sprintf\(")
_WHERE = re.compile(r"\bWHERE\b", re.IGNORECASE)
# Django
_DJANGO_STEPS = frozenset(
    """objects all filter exclude order_by values values_list only defer select_related prefetch_related
    select_for_update annotate distinct using reverse get first last latest earliest in_bulk iterator count exists
    aggregate create update delete bulk_create bulk_update get_or_create update_or_create alias list set tuple len
    sorted""".split()
)
_STEP = re.compile(
    r"\.(?:a(?=(?:get|first|last|latest|earliest|count|exists|aggregate|create|update|delete|bulk_|in_bulk|iterator)))?(\w+)\("
)
_ARGUMENTS = re.compile(r"\([^()]*\)")
_ANY_ARGUMENTS = "\x00"  # stands for the brackets of a call and what is in them
_OUTER_STEP = re.compile(_STEP.pattern.removesuffix(r"\(") + _ANY_ARGUMENTS)
_UNREAD_CONDITION = re.compile(r"\.(?:filter|exclude)\(\s*(?:\*|~|Exists\(|[a-z_][\w.]*\s*[,)|&]|self\.|[\w.]+\()")
_UNREAD_KEYWORDS = re.compile(r"\.(?:filter|exclude|get)\([^()]*(?:\([^()]*\)[^()]*)*\*\*[\w{]")
_ON_VARIABLE = re.compile(
    r"(?<![\w.])([a-z_]\w*)\.(?:filter|exclude|values|values_list|annotate|order_by|all|distinct|select_related)\("
)
_GIVEN_CHAIN = re.compile(r"\s*=(?!=)\s*([^\n]*(?:\n[^\n]*)?)")
_GROUPED = re.compile(r"\.values(?:_list)?\s*(?:\.order_by\s*)?\.annotate\b")  # without their arguments
# Prisma
_UNREAD_OPTIONS = re.compile(
    r"\bwhere\s*[,}]|\bwhere\s*:(?!\s*\{)|(?:find\w*|count|\w+Many)\(\s*[A-Za-z_$]|^\s*\.\.\.|[{,]\s*\.\.\."
)
_HELD_WHERE = re.compile(r"\bwhere: (\w+)\b")
# SQLAlchemy: conditions that are unpacked, of other tables, or on the columns of a subquery
_UNREAD_CLAUSE = re.compile(
    r"\.filter\(\s*\*|\.where\(\s*\*|\.join\(|\.c\.\w+\.?\w*(?: ?[=<>!]|\()|\b(?:or|and)_\(\s*\*|\.(?:any|has)\(\w+ ?="
)
_ANY_CLAUSE = re.compile(r"\.(?:filter|filter_by|where)\(\s*[^\s)]")


def is_opaque(at: Surroundings) -> bool:
    """Whether conditions stand there that neither the reader of its ORM nor this one can read."""
    if at.query.operation != "select" and _EMPTY_WHERE.search(at.chain):
        return False
    if at.query.raw and at.query.orm != "sql":
        return True
    look = _LOOKS.get(at.query.orm)
    return look is not None and look(at)


def has_own_steps(at: Surroundings) -> bool:
    """Whether a step of a chain of Django is no word of Django. What its arguments call, `timezone.now()`, is no
    step."""
    chain = at.chain.partition(".objects")[2]
    if at.query.orm != "django" or _DJANGO_STEPS.issuperset(_STEP.findall(chain)):
        return False
    while (shorter := _ARGUMENTS.sub(_ANY_ARGUMENTS, chain)) != chain:
        chain = shorter
    return not _DJANGO_STEPS.issuperset(_OUTER_STEP.findall(chain.partition(")")[0]))


def _of_sql(at: Surroundings) -> bool:
    """Whether its condition may stand in another part of the text, or does where it was not read."""
    if at.query.filters:
        return False
    is_put_together = at.query.operation in ("update", "delete") and _PUT_TOGETHER.search(at.chain) is not None
    return is_put_together or _WHERE.search(at.chain) is not None


def _of_django(at: Surroundings) -> bool:
    return _names_unread(at.chain) or _is_grouped(at.chain) or _goes_on_unread(at)


def _names_unread(chain: str) -> bool:
    return _UNREAD_CONDITION.search(chain) is not None or _UNREAD_KEYWORDS.search(chain) is not None


def _is_grouped(text: str) -> bool:
    """Whether the chain itself, and none in its arguments, gives a row for each group."""
    if ".values" not in text or ".annotate(" not in text:
        return False
    before, _, chain = text.partition(".objects")
    while (plain := _ARGUMENTS.sub("", chain)) != chain:
        chain = plain
    return ".annotate(" not in before and _GROUPED.search(chain) is not None


def _goes_on_unread(at: Surroundings) -> bool:
    """Whether the chain goes on with what a variable holds, and conditions that cannot be read stand there."""
    base = _ON_VARIABLE.search(at.chain)
    if base is None or not at.before:
        return False
    return any(_names_unread(given[1]) for given in followed(base[1], "\n".join(at.before), _GIVEN_CHAIN, "_."))


def _of_prisma(at: Surroundings) -> bool:
    if any("where" not in each for each in _UNREAD_OPTIONS.findall(at.chain)):
        return True
    return (not at.query.filters and "where" in at.chain) or _is_added_to(at)


def _is_added_to(at: Surroundings) -> bool:
    """Whether the lines above add conditions to the variable that holds those of the query."""
    held = _HELD_WHERE.search(at.chain)
    if held is None:
        return False
    above = "\n".join(at.lines[max(0, at.query.line - LINES_OF_CONDITIONS) : at.query.line])
    return re.search(rf"\b{held[1]}(?:\.\w+|\[[^\]\n]+\]) = ", above) is not None


def _of_sqlalchemy(at: Surroundings) -> bool:
    if _UNREAD_CLAUSE.search(at.chain):
        return True
    return not at.query.filters and _ANY_CLAUSE.search(at.chain) is not None


_LOOKS: dict[str, Callable[[Surroundings], bool]] = {
    **dict.fromkeys(DJANGO, _of_django),
    "prisma": _of_prisma,
    "sql": _of_sql,
    "sqlalchemy": _of_sqlalchemy,
}
