"""A query brings a whole table, or most of it, into memory."""

from collections.abc import Iterator

from analysis.engine.codebase import Codebase
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity
from analysis.engine.names import MADE_UP, runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.queries import QuerySite
from analysis.engine.readers.bounds import grows, is_streamed_whole, is_unbounded
from analysis.engine.readers.sizes import is_named_for_many
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.rules.perf_missing_pagination import listing_handlers
from analysis.engine.rules.perf_n_plus_one_query import milder, size_of
from analysis.engine.severity import MILDER
from analysis.engine.volumes import is_large

RULE = Rule(
    id="perf-unbounded-query",
    version=3,
    type="unbounded_query",
    category=Category.PERFORMANCE,
    title="Query without a bound",
    severity=Severity.WARNING,
    points=5,
    suggestion="Bound the query (a limit, a slice, keyset pages) or stream it in batches.",
    ladder=Ladder.READ,
)
GUIDE = Guide(
    why=(
        "A table grows and memory does not. The query that loads all of it works until the day it takes the process "
        "with it."
    ),
    grades=(
        "One step milder when a condition narrows by a key, and in commands run by hand. Where no size is declared, "
        "only tables that grow are told of: by their name, or because the program inserts many rows at once."
    ),
    flagged=(
        {
            "shop/work.py": """
from shop.models import Order


def export():
    return list(Order.objects.all())
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from shop.models import Order


def latest():
    return list(Order.objects.order_by("-pk")[:100])
"""
        },
    ),
    given=DJANGO_SHOP,
)

_WORDS = {
    "django": "Slice the queryset, page by key, or stream it with `iterator(chunk_size=2000)`",
    "sqlalchemy": "Add `limit(…)`, page by key, or stream it with `yield_per(1000)`",
    "prisma": "Add `take` with a `cursor` and page by key",
    "typeorm": "Add `take` and page by key, or `stream()` the rows of a query builder",
    "sequelize": "Add `limit` and page by key",
    "drizzle": "Add `.limit(…)` and page by key",
    "mongoose": "Add `.limit(…)`, page by key, or read through `.cursor()`",
    "jpa": "Take a `Pageable` or `Limit`, or stream the rows and detach them in batches",
    "bun": "Add `Limit(…)` and page by key",
    "gorm": "Add `Limit`, page by key, or use `FindInBatches`",
    "sql": "Add a `LIMIT`, page by key, or read it through a server-side cursor",
}

_LOOSE = frozenset({"other", "excluded"})  # conditions that most rows may meet


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Reads that run, are materialised, and have neither a limit nor a condition that narrows."""
    listed = {id(site) for _, site, _ in listing_handlers(codebase)}
    for site in codebase.queries.sites:
        if id(site) in listed or MADE_UP.search(site.path):
            continue
        if not (is_unbounded(site) or (is_streamed_whole(site) and _is_waited_for(site, codebase))):
            continue
        if site.is_declared or _grows(site, codebase):
            yield _finding(site, codebase)


def _finding(site: QuerySite, codebase: Codebase) -> Finding:
    query = site.query
    narrowed = site.is_narrowed
    wanted = ", ".join(dict.fromkeys(f"`{each.column}`" for each in query.filters if each.operator not in _LOOSE))
    extent = f"All rows with a given {wanted}" if wanted else "All rows"
    match = " that match" if query.filters and not wanted else ""
    tags = frozenset({MILDER}) if narrowed or query.streaming else milder(site.path, codebase)
    return Finding(
        rule_id=RULE.id,
        file=site.path,
        line=site.line,
        message=f"{extent} of {site.label}{match} are {_how(site)}{size_of(site)}",
        function=site.function.name,
        anchor=query.anchor,
        suggestion=_suggestion(site),
        confidence=_confidence(site, codebase),
        table=site.table,
        volume=site.volume if site.table else None,
        tags=tags,
    )


def _how(site: QuerySite) -> str:
    return "streamed while a request waits" if site.query.streaming else "loaded at once"


def _is_waited_for(site: QuerySite, codebase: Codebase) -> bool:
    """Whether a request waits for the rows."""
    return site.query.function in codebase.request_path.get(site.path, ())


def _confidence(site: QuerySite, codebase: Codebase) -> Confidence:
    """High where a size is declared and all rows are read. Few rows may have a given status, and outside of requests
    all of them may be meant."""
    is_picked = site.is_narrowed or "passing" in site.notes
    if site.is_declared and not is_picked:
        return Confidence.MEDIUM if site.query.filters else Confidence.HIGH
    if is_picked or site.query.filters or site.query.columns:
        return Confidence.LOW
    is_waited_for = _is_waited_for(site, codebase)
    return Confidence.MEDIUM if is_waited_for and is_named_for_many(site.model) else Confidence.LOW


def _grows(site: QuerySite, codebase: Codebase) -> bool:
    """Whether the table grows with use, and nothing says that few of its rows are meant, or all of them."""
    if "passing" in site.notes or runs_by_hand(codebase, site.path) or _starts_up(site):
        return False  # a command goes through all that it is for, and so does what starts
    if len(site.query.filters) > 1 or any(each.operator == "null" for each in site.query.filters):
        return False  # the rows that miss something, or that several conditions leave
    return is_named_for_many(site.model) or (not site.query.filters and grows(site.model, codebase))


def _starts_up(site: QuerySite) -> bool:
    """Whether Spring calls the function when the program starts, which needs all that it registers or fills."""
    owner = site.function.owner
    bases = (base for each in site.facts.classes if owner and each.name == owner for base in each.bases)
    return any(base.endswith(("ApplicationRunner", "CommandLineRunner")) for base in bases) or any(
        "PostConstruct" in each for each in site.function.decorators
    )


def _suggestion(site: QuerySite) -> str:
    how = _WORDS.get(site.query.orm, "Bound the query or stream it in batches")
    declared = f"; `{site.table}` is declared {site.volume}" if is_large(site.volume) else ""
    return f"{how}{declared}."
