"""A query searches or orders a table by a column that no index begins with."""

import re
from collections.abc import Iterator
from itertools import islice

from analysis.engine.codebase import Codebase
from analysis.engine.facts import Filter
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity
from analysis.engine.models import snake_case
from analysis.engine.names import FLAG, runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.queries import Queries, QuerySite
from analysis.engine.readers.bounds import grows
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.rules.perf_n_plus_one_query import size_of
from analysis.engine.schemas import Schema
from analysis.engine.severity import MILDER
from analysis.engine.volumes import is_large

RULE = Rule(
    id="perf-unindexed-filter",
    version=3,
    type="unindexed_filter",
    category=Category.PERFORMANCE,
    title="Filter on a column without an index",
    severity=Severity.INFO,
    points=3,
    suggestion="Add an index on the column, or filter by an indexed one.",
    ladder=Ladder.SCAN,
)
GUIDE = Guide(
    why="Without an index the database reads the whole table to find one row, every time somebody asks.",
    flagged=(
        {
            "shop/work.py": """
from shop.models import Order


def by_reference(reference):
    return Order.objects.get(reference=reference)
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from shop.models import Order


def by_key(key):
    return Order.objects.get(pk=key)
"""
        },
    ),
    given=DJANGO_SHOP,
)

_SEARCHES = frozenset({"eq", "in", "range", "like"})
_FEW_VALUES = frozenset({"BooleanField", "NullBooleanField", "Boolean", "bool", "boolean", "BOOLEAN"})
_FLAGS = frozenset(each.lower() for each in _FEW_VALUES)
_FEW_NAMES = frozenset({"country", "country_code", "currency", "language", "language_code", "format", "size", "role"})
_NOT_COLUMNS = frozenset({"JSONField", "ArrayField", "Json", "JSON", "JSONB", "GeneratedField", "TextField"})
_BARE_KEYS = frozenset({"sqlalchemy", "typeorm", "prisma", "drizzle"})
_OF_POSTGRESQL = re.compile(r"(?i)(?:big|small)?serial\b|timestamptz\b|jsonb\b|bytea\b|int[48]\b")
_CHANGELOG = re.compile(
    r"(?i)(?:liquibase|change-?log)[^/]*(?:/[^/]+)*\.(?:xml|ya?ml)$"
)  # says of indexes what nobody reads here
MOST_PLACES = 3  # further places that a message names


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """One finding per column, at its first query by path and line."""
    found: dict[tuple[str, str], list[QuerySite]] = {}
    for site in codebase.queries.sites:
        schema = site.schema
        if schema is None or not schema.columns or site.is_unreadable or site.query.operation == "commit":
            continue
        if _goes_on(site, codebase.queries) or _reads_all(site):
            continue
        if (
            site.looks_small
            or runs_by_hand(codebase, site.path)
            or any(_serves(each.column, schema, site) for each in site.query.filters)
        ):
            continue
        for column in islice(_searched(site, schema), 1):  # one index serves a query
            found.setdefault((schema.entry.table, column), []).append(site)
    has_changelogs = any(map(_CHANGELOG.search, codebase.files))
    described = {entry.model.orm for entry in codebase.models.all if entry.model.indexes}
    for (_, column), sites in found.items():
        schema = sites[0].schema
        if schema is not None and (is_large(sites[0].volume) or not _has_few_values(column, schema)):
            is_elsewhere = schema.entry.model.orm == "jpa" and (has_changelogs or described.isdisjoint({"jpa", "ddl"}))
            is_sure = grows(schema.name, codebase) and not is_elsewhere
            yield _finding(column, schema, sites, is_sure=is_sure)


def _serves(column: str, schema: Schema, site: QuerySite) -> bool:
    """Whether an index leads to few rows by this condition. A foreign key alone does only where one is built for it."""
    if _is_bare_key(column, schema) and len(site.query.filters) == 1:
        return False
    return schema.finds_few(column) or column.endswith("_ptr") or _joins(column, schema)


def _joins(column: str, schema: Schema) -> bool:
    """Whether a condition of Django is on rows of another table, which point here by an indexed key."""
    relation = schema.relations.get(column)
    return relation is not None and relation.kind == "to_many" and schema.entry.model.orm == "django"


def _is_bare_key(column: str, schema: Schema) -> bool:
    """Whether the column is a foreign key for which the ORM builds no index: PostgreSQL has none of its own."""
    orm = schema.entry.model.orm
    is_bare = (orm in _BARE_KEYS or (orm == "ddl" and _is_of_postgresql(schema))) and column in schema.columns
    return is_bare and schema.is_foreign_key(column) and not schema.is_indexed(column)


def _is_of_postgresql(schema: Schema) -> bool:
    """Whether a table that SQL makes is one of PostgreSQL, by the types of its columns."""
    return any(map(_OF_POSTGRESQL.match, (each.type for each in schema.columns.values())))


def _reads_all(site: QuerySite) -> bool:
    """Whether a sum or a maximum over a span of time or numbers reads most rows anyway."""
    query = site.query
    return query.operation == "aggregate" and all(each.operator == "range" for each in query.filters)


def _is_flag_column(name: str, schema: Schema) -> bool:
    column = schema.columns.get(name)
    return column is not None and column.type.lower() in _FLAGS and not schema.is_indexed(name)


def _has_few_values(name: str, schema: Schema) -> bool:
    """Whether an index on the column would leave many rows for each value."""
    column = schema.columns.get(name)
    is_of_few = column is not None and (column.enumerated or column.type in _FEW_VALUES)
    return is_of_few or FLAG.search(name) is not None or name in _FEW_NAMES


def _goes_on(site: QuerySite, queries: Queries) -> bool:
    """Whether a lazy chain gets more conditions from another one in the same function."""
    query = site.query
    if query.terminal or not query.variable:
        return False
    others = queries.by_function[site.path, query.function]
    return any(
        len(each.query.filters) > len(query.filters) and each.query.filters[: len(query.filters)] == query.filters
        for each in others
    )


def _searched(site: QuerySite, schema: Schema) -> Iterator[str]:
    """The plain columns that the query searches, or orders by under a limit; those that leave many rows come last."""
    wanted = [each.column for each in site.query.filters if _is_searched(each) and _is_plain(each.column, schema)]
    yield from (name for name in wanted if not _has_few_values(name, schema))
    is_small = any(each.operator in _SEARCHES and not _is_flag(each, schema) for each in site.query.filters)
    if site.query.limit and site.query.limit != 1 and site.query.order and not is_small:
        first = site.query.order[0].lstrip("-")
        if _is_plain(first, schema) and not schema.is_indexed(first):
            yield first
    yield from (name for name in wanted if _has_few_values(name, schema))
    if is_large(site.volume):  # a flag is always compared with a value that is written out
        written = (each.column for each in site.query.filters if each.constant and each.operator == "eq")
        yield from (name for name in written if _is_flag_column(name, schema))


def _is_searched(condition: Filter) -> bool:
    """Whether the condition looks for a value. One that is written out names a kind, of which there are many rows."""
    return condition.operator in _SEARCHES and not (condition.operator == "eq" and condition.constant)


def _is_flag(condition: Filter, schema: Schema) -> bool:
    """Whether many rows are left by a condition, as by one on a kind that is written out."""
    return (condition.constant and condition.operator == "eq") or _has_few_values(condition.column, schema)


def _is_plain(name: str, schema: Schema) -> bool:
    column = schema.columns.get(name)
    return column is not None and column.type not in _NOT_COLUMNS


def _confidence(column: str, schema: Schema, site: QuerySite, *, is_sure: bool) -> Confidence:
    """High where the table surely grows and is made here; MySQL indexes keys by itself."""
    is_sure = is_sure and schema.entry.model.managed and not _is_bare_key(column, schema)
    # A span of time may hold most rows: then all are wanted.
    is_span = {each.operator for each in site.query.filters if each.column == column} == {"range"}
    return Confidence.HIGH if is_sure and not is_span else Confidence.MEDIUM


def _finding(column: str, schema: Schema, sites: list[QuerySite], *, is_sure: bool) -> Finding:
    first = sites[0]
    few = _has_few_values(column, schema)
    others = [each for each in sites[1:] if (each.path, each.line) != (first.path, first.line)]
    also = f"; also {', '.join(_place(each, first) for each in others[:MOST_PLACES])}" if others else ""
    more = f" and {len(others) - MOST_PLACES} more" if len(others) > MOST_PLACES else ""
    stored = snake_case(column) if schema.entry.model.orm == "jpa" else column
    note = "; it holds few values, so an index alone helps little" if few else ""
    return Finding(
        rule_id=RULE.id,
        file=first.path,
        line=first.line,
        message=f"`{schema.name}.{column}` is searched without an index{size_of(first)}{note}{also}{more}",
        function=first.function.name,
        anchor=f"{schema.name}.{column}",
        suggestion=f"Add an index on `{first.table}.{stored}` (built concurrently) or filter by an indexed column.",
        severity=Severity.INFO if few and is_large(first.volume) else None,
        confidence=_confidence(column, schema, first, is_sure=is_sure),
        table=first.table,
        volume=first.volume,
        tags=frozenset() if schema.entry.model.managed else frozenset({MILDER}),
    )


def _place(site: QuerySite, first: QuerySite) -> str:
    return f"line {site.line}" if site.path == first.path else f"`{site.path}:{site.line}`"
