"""A condition or an order that no plain index can serve reads the whole table."""

import re
from collections.abc import Iterator

from analysis.engine.codebase import Codebase
from analysis.engine.facts import Filter
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.queries import QuerySite
from analysis.engine.readers.bounds import grows
from analysis.engine.rules.perf_n_plus_one_query import size_of
from analysis.engine.schemas import KEYS, Schema

RULE = Rule(
    id="perf-unindexable-predicate",
    type="unindexable_predicate",
    category=Category.PERFORMANCE,
    title="Predicate without a usable index",
    severity=Severity.INFO,
    points=4,
    suggestion="Use a trigram or full-text index, or a normalised column.",
    ladder=Ladder.SOFT,
)
GUIDE = Guide(
    why="An index is ordered by how a text begins; what may stand anywhere in it must be looked for in every row.",
    flagged=(
        {
            "shop/work.py": """
from shop.models import Customer


def find(text):
    return list(Customer.objects.filter(note__icontains=text))
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from shop.models import Customer


def find(text):
    return list(Customer.objects.filter(note__startswith=text))
"""
        },
    ),
    given={
        "shop/models.py": """
from django.db import models


class Customer(models.Model):
    note = models.CharField(max_length=90)
"""
    },
)

_CONTAINERS = re.compile(r"(?i)json|array|hstore|range|\[\]")  # what they contain is no part of a text
_RANDOM = frozenset({"?", "random", "rand"})
_SAID = {
    "contains": "`{column}` is searched inside of its text: every row is read",
    "function": "`{column}` is compared inside of a function, so that no plain index serves it",
    "excluded": "`{column}` is compared by `NOT IN` with a subquery: every row is checked",
    "either": "An `OR` joins `{column}` with a column of another table: no index serves both",
}
_ADVICE = {
    "contains": "Use a trigram or full-text index on `{column}`, or a normalised column.",
    "function": "Compare `{column}` as it is stored (a range, a normalised column), or index the expression.",
    "excluded": "Use `NOT EXISTS` for `{column}`, which an index can serve.",
    "either": "Ask once for each side, with `UNION` or two queries, so that `{column}` can be found by its index.",
}


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Conditions that must look at every row, and random orders, where no other condition finds few rows."""
    told: set[tuple[str, int, str]] = set()  # one chain may run several times in its function
    for site in codebase.queries.sites:
        schema = site.schema
        if schema is None or site.looks_small or runs_by_hand(codebase, site.path):
            continue
        if not site.runs and "declared" not in site.notes:
            continue
        if any(each.operator in ("eq", "in") and _finds_few(each.column, schema) for each in site.query.filters):
            continue
        message, suggestion = _said(site, schema)
        cause = (site.path, site.query.function, message)
        if message and (cause not in told or not site.query.function):
            told.add(cause)
            yield Finding(
                rule_id=RULE.id,
                file=site.path,
                line=site.line,
                message=message,
                function=site.function.name,
                anchor=site.query.anchor,
                suggestion=suggestion,
                confidence=_confidence(site, codebase),
                table=site.table,
                volume=site.volume,
            )


def _confidence(site: QuerySite, codebase: Codebase) -> Confidence | None:
    """Nobody knows how many rows conditions leave that are not read, or how many there are; those of a span of time are
    few."""
    if site.leaves_few:
        return Confidence.LOW
    return Confidence.MEDIUM if site.is_unreadable or not grows(site.model, codebase) else None


def _finds_few(column: str, schema: Schema) -> bool:
    """Whether an index leads to few rows, here or by way of the rows of another table that are asked for."""
    relation = schema.relations.get(column)
    return schema.finds_few(column) or (relation is not None and relation.kind == "to_many")


def _is_served(condition: Filter, schema: Schema) -> bool:
    """Whether an index of another kind serves the condition. What a function makes of a text is ordered by how it
    begins, too."""
    if condition.operator == "function":
        return schema.finds_computed(condition.column)
    return schema.finds_inside(condition.column)


def _said(site: QuerySite, schema: Schema) -> tuple[str, str]:
    if site.query.order and site.query.order[0].lower().removesuffix("()") in _RANDOM and not site.is_narrowed:
        fix = f"Pick random keys first, or sample (`TABLESAMPLE`): this sorts all of `{site.table}`."
        matched = " that match" if site.query.filters else ""
        return f"All rows of {site.label}{matched} are sorted in random order{size_of(site)}", fix
    for each in site.query.filters:
        # A key that the model does not write out is one, too.
        known = each.column in schema.columns or (each.operator == "excluded" and each.column in KEYS)
        known = known and not _is_served(each, schema)
        is_contained = (
            each.operator == "contains"
            and known
            and each.column in schema.columns
            and _CONTAINERS.search(schema.columns[each.column].type)
        )
        if each.operator in _SAID and known and not is_contained:
            message = _SAID[each.operator].format(column=f"{schema.name}.{each.column}")
            return message + size_of(site), _ADVICE[each.operator].format(column=f"{site.table}.{each.column}")
    return "", ""
