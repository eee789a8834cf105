"""Rows are loaded only to learn how many there are, or whether there are any."""

from collections.abc import Iterator

from analysis.engine.codebase import Codebase
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.queries import LOADED_AT_ONCE, QuerySite
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.rules.perf_n_plus_one_query import milder, size_of

RULE = Rule(
    id="perf-count-by-loading",
    type="count_by_loading",
    category=Category.PERFORMANCE,
    title="Rows loaded to be counted",
    severity=Severity.WARNING,
    points=1,
    suggestion="Count in the database; the rows are not needed.",
    ladder=Ladder.READ,
)
GUIDE = Guide(
    why="The database counts without sending a row; the program has to receive, decode and keep all of them.",
    flagged=(
        {
            "shop/work.py": """
from shop.models import Order


def busy(customer):
    return len(Order.objects.filter(customer=customer)) > 5
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from shop.models import Order


def busy(customer):
    return Order.objects.filter(customer=customer).count() > 5
"""
        },
    ),
    given=DJANGO_SHOP,
)

_ASKS = frozenset({"len", "bool"})
_WORDS = {
    ("django", "len"): "Use `.count()`; the rows are not needed.",
    ("django", "bool"): "Use `.exists()`; the rows are not needed.",
    ("django", "zero"): "Use `.exists()`; it stops at the first row.",
    ("prisma", "len"): "Use `count({ where })`; the rows are not needed.",
    ("sqlalchemy", "len"): "Use `select(func.count())`; the rows are not needed.",
    ("typeorm", "len"): "Use `count({ where })`; the rows are not needed.",
    ("typeorm", "bool"): "Use `exists({ where })`; the rows are not needed.",
    ("sequelize", "len"): "Use `count({ where })`; the rows are not needed.",
    ("mongoose", "len"): "Use `countDocuments(filter)`; the documents are not needed.",
    ("mongoose", "bool"): "Use `exists(filter)`; the documents are not needed.",
    ("jpa", "len"): "Use a `countBy…` method or `select count(…)`; the rows are not needed.",
    ("jpa", "zero"): "Use an `existsBy…` method; it stops at the first row.",
    ("jpa", "bool"): "Use an `existsBy…` method; the rows are not needed.",
    ("bun", "len"): "Use `Count(ctx)`, or `Exists(ctx)`; the rows are not needed.",
    ("gorm", "len"): "Use `Count(&n)`; the rows are not needed.",
    ("drizzle", "len"): "Use `db.$count(table, condition)`; the rows are not needed.",
}
_EXISTS = "Ask whether there is a row (`EXISTS`, or one row with a limit); that stops at the first."
# They count what is left of a limit; elsewhere it is one of the single row that a count gives.
_LIMIT_BEFORE_COUNT = frozenset({"django", "prisma", "sqlalchemy"})
_LOADED_AS = frozenset({"", "list", "all", "findMany", "fetchall", "scalars"})


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Queries whose rows are only measured, and counts that are only compared with zero."""
    for site in codebase.queries.sites:
        asked = asked_of(site)
        if asked:
            yield _finding(site, asked, codebase)
        elif _is_only_compared(site):
            yield _finding(site, "zero", codebase)


def asked_of(site: QuerySite) -> str:
    """`len` or `bool` when that is all that the function wants to know of the rows."""
    query = site.query
    if query.operation != "select" or query.limit != 0 or site.has_key or "limited" in site.notes or _is_picked(site):
        return ""
    if query.counted or query.terminal in _ASKS:
        return query.counted or query.terminal
    if (
        (query.terminal not in _LOADED_AS and query.orm not in LOADED_AT_ONCE)
        or not query.variable
        or site.facts.functions[query.function].line == 0
    ):
        return ""
    uses = {word.partition(":")[0] for word in site.notes.get("uses", "").split()}
    if not uses or not uses <= _ASKS:
        return ""
    return "len" if "len" in uses else "bool"


def _is_only_compared(site: QuerySite) -> bool:
    """Whether a count is compared with zero, of rows of which neither a key nor a limit leaves few."""
    is_asked = site.query.operation == "count" and "compared" in site.notes
    is_limited = site.query.limit != 0 and site.query.orm in _LIMIT_BEFORE_COUNT
    return is_asked and not site.has_key and not is_limited and not _is_of_panache(site)


def _is_of_panache(site: QuerySite) -> bool:
    """Whether an entity of Panache is asked, which has no other question for whether there is a row."""
    return site.facts.queries[site.position].orm == "panache"


def _is_picked(site: QuerySite) -> bool:
    """Whether the caller names the rows by their keys: there are no more of them."""
    wanted = (each.column for each in site.query.filters if each.operator == "in")
    return site.schema is not None and any(map(site.schema.is_key, wanted))


def _finding(site: QuerySite, asked: str, codebase: Codebase) -> Finding:
    query = site.query
    purpose = {
        "len": f"Rows of {site.label} are loaded only to be counted",
        "bool": f"Rows of {site.label} are loaded only to see whether there are any",
        "zero": f"All matching rows of {site.label} are counted only to see whether there are any",
    }[asked]
    return Finding(
        rule_id=RULE.id,
        file=site.path,
        line=site.line,
        message=purpose + size_of(site),
        function=site.function.name,
        anchor=query.anchor,
        suggestion=_WORDS.get((query.orm, asked), _EXISTS if asked == "zero" else ""),
        severity=Severity.INFO if asked == "zero" else None,
        confidence=_confidence(site),
        table=site.table,
        volume=site.volume if site.table else None,
        tags=milder(site.path, codebase),
    )


def _confidence(site: QuerySite) -> Confidence:
    if site.may_be_loaded:
        return Confidence.LOW
    return Confidence.HIGH if site.table and "related" not in site.notes else Confidence.MEDIUM
