"""Deleting a row takes the rows of a very large table with it."""

from collections.abc import Iterator, Mapping

from analysis.engine.codebase import Codebase
from analysis.engine.facts import Relation
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Finding, Guide, Ladder, Rule, Severity, Volume
from analysis.engine.models import IndexedModel
from analysis.engine.policy import Policy
from analysis.engine.queries import QuerySite, runs_by_hand
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.volumes import is_large

RULE = Rule(
    id="risk-cascade-delete-large",
    type="cascade_delete",
    category=Category.RUNTIME_RISK,
    title="Cascade into a large table",
    severity=Severity.INFO,
    points=3,
    suggestion="Delete or archive the children in batches first, and restrict the deletion in the relation.",
    ladder=Ladder.LOCK,
)
GUIDE = Guide(
    why="Deleting one customer deletes millions of rows in one transaction: locks, replication lag, and no way back.",
    grades="Only where the table that goes along is declared large.",
    flagged=(
        {
            "shop/work.py": """
from shop.models import Customer


def leave(pk):
    Customer.objects.get(pk=pk).delete()
"""
        },
    ),
    given=DJANGO_SHOP,
    policy="""
data_volumes:
  shop_order: XL
""",
)


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Cascades whose child table is declared XL or XXL and whose parent is deleted somewhere in the code."""
    deleted = _deleted(codebase)
    for entry in codebase.models.all:
        volume = codebase.volumes.of(entry.table, entry.model.name)
        if not is_large(volume) or entry.model.orm == "ddl" or codebase.kind(entry.path) is FileKind.TEST:
            continue
        for relation in entry.model.relations:
            if relation.on_delete == "cascade" and relation.target in deleted:
                yield _finding(entry, relation, deleted[relation.target], volume)


def _deleted(codebase: Codebase) -> Mapping[str, QuerySite]:
    """Per model the first place that deletes rows of it, commands and scripts aside."""
    found: dict[str, QuerySite] = {}
    for site in codebase.queries.sites:
        is_delete = site.query.operation == "delete" and not runs_by_hand(codebase, site.path)
        if is_delete and site.schema is not None:
            found.setdefault(site.schema.name, site)
    return found


def _finding(entry: IndexedModel, relation: Relation, site: QuerySite, volume: Volume) -> Finding:
    return Finding(
        rule_id=RULE.id,
        file=entry.path,
        line=relation.line or entry.model.line,
        message=(
            f"Deleting a `{relation.target}` (`{site.path}:{site.line}`) deletes its rows of `{entry.table}` ({volume})"
            f" in the same transaction, through `{entry.model.name}.{relation.name}`"
        ),
        anchor=f"{entry.model.name}.{relation.name}",
        table=entry.table,
        volume=volume,
    )
