"""Which queries bring more rows into memory than anybody said (rules.md 1.5.3)."""

import re

from analysis.engine.codebase import Codebase
from analysis.engine.queries import LOADED_AT_ONCE, QuerySite
from analysis.engine.readers.sizes import is_named_for_many
from analysis.engine.volumes import is_large

# What brings all rows into memory. A Django queryset is loaded as a whole by iterating over it.
LOADING = frozenset({"iter", "list", "tuple", "set", "frozenset", "sorted", "all", "findMany", "scalars", "fetchall"})
_CATALOG = re.compile(  # what a database, or what changes its schema, says of itself
    r"(?i)pg_|sqlite_|information_schema|columns$|tables$|alembic_version$|schema_migrations$|flyway_"
)
_KEY_OF_ANOTHER = re.compile(r"\w(?:_id|Id)$")


def is_unbounded(site: QuerySite) -> bool:
    """Whether the query loads rows without a limit, by conditions on flags at most. On tables declared large the rows
    of one foreign key count as too many as well."""
    return _loads(site) and asks_for_all(site)


def is_streamed_whole(site: QuerySite) -> bool:
    """Whether the query goes through all rows of a table that is declared large, a few at a time."""
    return site.query.streaming and is_large(site.volume) and not site.is_narrowed and _asks_for_all(site)


def asks_for_all(site: QuerySite) -> bool:
    """Whether a query that loads its rows would be unbounded, as far as its conditions tell; it may still be lazy."""
    return not site.query.streaming and _asks_for_all(site)


def _asks_for_all(site: QuerySite) -> bool:
    if site.query.operation != "select" or site.is_limited:
        return False
    if site.is_unreadable or site.looks_small or not _is_known(site):
        return False
    return not site.is_narrowed or (is_large(site.volume) and by_foreign_key_only(site))


def is_declared(model: str, codebase: Codebase) -> bool:
    """Whether the policy tells the size of this model's table."""
    schema = codebase.schemas.named(model)
    declared = codebase.volumes.declared
    return (declared(schema.entry.table, schema.name) if schema is not None else declared(model)) is not None


def grows(model: str, codebase: Codebase) -> bool:
    """Whether the table grows with use: a declared size, its name, or many rows that the program inserts say so."""
    return is_declared(model, codebase) or is_named_for_many(model) or model in codebase.queries.filled


def _is_known(site: QuerySite) -> bool:
    """Whether the table is known, by its model or by the name in the text."""
    return (
        site.schema is not None
        or site.query.orm == "prisma"
        or (site.query.orm == "sql" and bool(site.query.model) and not _CATALOG.match(site.query.model))
    )


def _loads(site: QuerySite) -> bool:
    query = site.query
    return query.terminal in LOADING or (query.orm in LOADED_AT_ONCE and bool(query.terminal) and not query.counted)


def by_foreign_key_only(site: QuerySite) -> bool:
    """Whether the only condition that narrows is on a foreign key."""
    narrowing = [each for each in site.query.filters if not each.constant and each.operator == "eq"]
    return site.schema is not None and bool(narrowing) and all(points_to_a_row(each.column, site) for each in narrowing)


def points_to_a_row(column: str, site: QuerySite) -> bool:
    """Whether a column is a foreign key, by a relation, `order` or `order.id`, or by its name."""
    owner = column.removesuffix(".id")
    is_key = site.schema is not None and any(map(site.schema.is_foreign_key, {column, owner}))
    return is_key or _KEY_OF_ANOTHER.search(owner) is not None
