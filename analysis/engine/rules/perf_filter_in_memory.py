"""All rows of a table are loaded, then filtered, sorted or summed by the program."""

from collections.abc import Iterator

from analysis.engine.codebase import Codebase
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity, Volume
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.queries import QuerySite
from analysis.engine.readers.bounds import grows, is_unbounded, points_to_a_row
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.rules.perf_n_plus_one_query import milder, size_of
from analysis.engine.severity import MILDER
from analysis.engine.volumes import is_large

RULE = Rule(
    id="perf-filter-in-memory",
    type="filter_in_memory",
    category=Category.PERFORMANCE,
    title="Rows filtered by the program",
    severity=Severity.WARNING,
    points=3,
    suggestion="Move the condition into the query.",
    ladder=Ladder.READ,
)
GUIDE = Guide(
    why="The database would send the few rows that match; so it sends all of them, and the program looks at each.",
    flagged=(
        {
            "shop/work.py": """
from shop.models import Order


def paid():
    return [order for order in Order.objects.all() if order.is_paid]
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from shop.models import Order


def paid(customer):
    return Order.objects.filter(customer=customer, is_paid=True)
"""
        },
    ),
    given=DJANGO_SHOP,
)

_DONE = {"filter": "filtered", "sum": "summed", "sort": "ordered", "group": "grouped", "slice": "cut to the first few"}
_ADVICE = {
    "filter": "Move the condition on {columns} into the query.",
    "sum": "Sum {columns} in the database with an aggregate.",
    "sort": "Order by {columns} in the query and limit it to the rows you need.",
    "group": "Group by {columns} in the query, or load only what each group needs.",
    "slice": "Let the query take the first rows only, with a limit.",
}


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Unbounded queries whose rows are only used for work on columns of the model."""
    for site in codebase.queries.sites:
        kept = site.notes.get("kept", "").split()
        if kept[:1] == ["filter"] and set(kept[1:]) <= {each.column for each in site.query.filters}:
            continue  # the query leaves the other rows out already
        if (
            kept
            and (_is_unbounded(site, codebase) or is_unbounded(site) or _is_of_one_parent(site, codebase))
            and site.schema is not None
            and site.schema.columns.keys() >= set(kept[1:])
        ):
            yield _finding(site, kept[0], kept[1:], codebase)


def _is_unbounded(site: QuerySite, codebase: Codebase) -> bool:
    is_whole = not site.is_narrowed or _is_of_few_parents(site, codebase)
    return not site.is_limited and not site.query.streaming and is_whole


def _is_of_few_parents(site: QuerySite, codebase: Codebase) -> bool:
    """Whether a large table is asked for the rows of a parent of which there are few, as the policy says of both: each
    has very many."""
    if not is_large(site.volume) or site.is_unreadable or not site.query.filters:
        return False
    parents = (site.schema.parent(each.column) if site.schema is not None else None for each in site.query.filters)
    is_equal = all(each.operator == "eq" for each in site.query.filters)
    return is_equal and all(
        parent is not None and codebase.queries.volume_of(codebase.schemas.named(parent)) is Volume.S
        for parent in parents
    )


def _is_of_one_parent(site: QuerySite, codebase: Codebase) -> bool:
    """Whether it asks for the rows of one parent, of a table that grows and whose size nobody declares: how many one
    has is a guess."""
    if (
        site.is_limited
        or site.query.streaming
        or site.is_unreadable
        or site.is_declared
        or len(site.query.filters) != 1
    ):
        return False
    if "related" in site.notes or _goes_through(site):
        return False  # the parts of a whole that the program has, or rows that it looks at one by one
    (condition,) = site.query.filters
    is_key = condition.operator == "eq" and not condition.constant and points_to_a_row(condition.column, site)
    return is_key and grows(site.model, codebase) and not runs_by_hand(codebase, site.path)


def _goes_through(site: QuerySite) -> bool:
    loops = (each for each in site.facts.loops if each.kind == "for" and each.function == site.query.function)
    return any(each.line == site.line or each.iterable == site.query.variable for each in loops)


def _finding(site: QuerySite, work: str, attributes: list[str], codebase: Codebase) -> Finding:
    columns = " and ".join(f"`{name}`" for name in attributes)
    given = " and ".join(f"`{each.column}`" for each in site.query.filters) if site.is_narrowed else ""
    by = f" by {columns}" if columns else ""
    matched = f" with the given {given}" if given else " that match" if site.query.filters else ""
    return Finding(
        rule_id=RULE.id,
        file=site.path,
        line=site.line,
        message=f"All rows of {site.label}{matched} are loaded and then {_DONE[work]}{by}{size_of(site)}",
        function=site.function.name,
        anchor=site.query.anchor,
        suggestion=_ADVICE[work].format(columns=columns),
        confidence=_confidence(site, codebase),
        table=site.table,
        volume=site.volume,
        tags=frozenset({MILDER}) if given else milder(site.path, codebase),
    )


def _confidence(site: QuerySite, codebase: Codebase) -> Confidence:
    """High where the table surely grows; else a guess, as it may have few rows, or a command runs once. Of the rows of
    one parent medium at most."""
    if site.is_narrowed:
        return Confidence.MEDIUM if _is_of_few_parents(site, codebase) else Confidence.LOW
    is_sure = grows(site.model, codebase) and not site.looks_small and not runs_by_hand(codebase, site.path)
    return Confidence.HIGH if is_sure else Confidence.LOW
