"""Deleting a row takes the rows of a very large table with it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.codebase import Codebase
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark, Relation
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity, Volume
from analysis.engine.models import IndexedModel
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.queries import QuerySite
from analysis.engine.readers.reading import node_at
from analysis.engine.readers.soft_deletes import NEEDS, soft_deletes
from analysis.engine.rules.base import ROOTS, Watch
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.severity import MILDER
from analysis.engine.volumes import is_large, larger

RULE = Rule(
    id="risk-cascade-delete-large",
    type="cascade_delete",
    category=Category.RUNTIME_RISK,
    title="Cascade into a large table",
    severity=Severity.INFO,
    points=3,
    suggestion="Delete or archive the children in batches first, and restrict the deletion in the relation.",
    ladder=Ladder.LOCK,
    version=3,
)
GUIDE = Guide(
    why="Deleting one customer deletes millions of rows in one transaction: locks, replication lag, and no way back.",
    grades=(
        "Only where the table that goes along is declared large and the one that is deleted from is not: a row of a "
        "large table has few others. From a table declared M into one declared XL one step milder."
    ),
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


_SIZES = tuple(Volume)
_FORCED = re.compile(r"\bforce\s*:\s*true|\bforce_delete\b|\bhard_delete\b|\bUnscoped\(\)")
_IN_BULK = re.compile(r"\.(?:filter|exclude|all)\((?:[^()]|\([^()]*\))*\)\.delete\(")


_Table = tuple[str, str]  # the schema file, where a repository may hold several, and the table


def look(root: Node, file: SourceFile) -> Iterator[Mark]:
    """The models of a file whose rows stay when they are deleted."""
    for each in soft_deletes(file):
        data = {"soft": each.model} | ({"only_rows": "1"} if each.only_rows else {})
        yield file.mark(RULE.id, node_at(each.start, root), "", data=data)


class _Cascade(NamedTuple):
    """Deleting a row of `parent` deletes its rows of `child`; `owner` is the model whose relation says so."""

    parent: IndexedModel
    child: IndexedModel
    owner: IndexedModel
    relation: Relation


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Cascades into tables declared XL or XXL, also by way of other tables, where the code deletes what they start
    from; a word where that is as large, so that each of its rows has few of them. Nobody deletes it so far: worth
    knowing for XXL."""
    by_parent = _cascades(codebase)
    told: set[_Table] = set()
    for cascade, site in _reached(by_parent, _deleted(codebase)):
        volume = _volume(cascade.child, codebase)
        if is_large(volume) and _key(cascade.child) not in told:
            told.add(_key(cascade.child))
            above, is_certain = _size_above(site, codebase)
            if above is volume or (is_large(above) and not is_certain):
                yield replace(_finding(cascade, volume, site), severity=Severity.INFO, confidence=Confidence.LOW)
            elif larger(above, volume) is volume:
                found = _finding(cascade, volume, site)
                yield replace(found, tags=frozenset({MILDER})) if is_large(above) else found
    for cascade in (each for cascades in by_parent.values() for each in cascades):
        if _volume(cascade.child, codebase) is Volume.XXL and _key(cascade.child) not in told:
            told.add(_key(cascade.child))
            yield _finding(cascade, Volume.XXL, None)


def _size_above(site: QuerySite, codebase: Codebase) -> tuple[Volume, bool]:
    """The size of the table that is deleted from, and whether somebody declared it. Where nobody did, its rows may be
    parts of the rows of a large table, as the fulfillments of an order."""
    if site.is_declared or site.schema is None:
        return site.volume, True
    owners = (
        _target(each, site.schema.entry, codebase)
        for each in site.schema.entry.model.relations
        if each.kind == "to_one" and each.on_delete == "cascade"
    )
    sizes = (_volume(owner, codebase) for owner in owners if owner is not None)
    return next(filter(is_large, sizes), site.volume), False


def _key(entry: IndexedModel) -> _Table:
    return entry.path if entry.model.orm == "prisma" else "", entry.table.lower()


def _cascades(codebase: Codebase) -> dict[_Table, list[_Cascade]]:
    """By the table that rows are deleted of; what a model says before what a table's definition says."""
    by_parent: dict[_Table, list[_Cascade]] = {}
    for entry in (*sorted(codebase.models.all, key=lambda each: each.model.orm == "ddl"), *_associations(codebase)):
        if codebase.kind(entry.path) is FileKind.TEST:
            continue
        for relation in entry.model.relations:
            other = _target(relation, entry, codebase) if relation.on_delete == "cascade" else None
            if other is None:
                continue
            parent, child = (entry, other) if _is_told_by_parent(entry, relation) else (other, entry)
            if child is entry and _is_unique(relation, entry):
                continue  # one row goes with each
            by_parent.setdefault(_key(parent), []).append(_Cascade(parent, child, entry, relation))
    return by_parent


def _is_unique(relation: Relation, entry: IndexedModel) -> bool:
    """Whether the column of the relation is unique, so that a parent has one row at most."""
    names = {relation.name, f"{relation.name}_id", f"{relation.name}Id"}
    return any(column.name in names and (column.unique or column.primary_key) for column in entry.model.columns)


def _associations(codebase: Codebase) -> Iterator[IndexedModel]:
    """What Sequelize says of a model apart from its definition, under the table of that."""
    for path, facts in codebase.files.items():
        for model in facts.models:
            defined = codebase.models.named(model.name) if model.abstract and model.orm == "sequelize" else None
            if defined is not None:
                yield IndexedModel(path, defined.table, model)


def _target(relation: Relation, entry: IndexedModel, codebase: Codebase) -> IndexedModel | None:
    return codebase.models.named(relation.target, near=entry.path) or codebase.models.of_table(relation.target)


def _is_told_by_parent(entry: IndexedModel, relation: Relation) -> bool:
    """JPA's cascade goes along the relation that has it; elsewhere only a relation to many stands at the parent."""
    return entry.model.orm == "jpa" or relation.kind == "to_many"


def _reached(
    by_parent: Mapping[_Table, list[_Cascade]], deleted: Mapping[_Table, QuerySite]
) -> Iterator[tuple[_Cascade, QuerySite]]:
    """The cascades that a deletion sets off, each with the deletion. Those from small tables come first: their rows
    have most children."""
    seen: set[_Table] = set()
    for start, site in sorted(deleted.items(), key=lambda item: _SIZES.index(item[1].volume)):
        pending = [start]
        while pending:
            table = pending.pop(0)
            if table in seen:
                continue
            seen.add(table)
            for cascade in by_parent.get(table, ()):
                yield cascade, site
                pending.append(_key(cascade.child))


def _deleted(codebase: Codebase) -> dict[_Table, QuerySite]:
    """By table the first place that deletes rows of it, commands and scripts aside, and where they only are marked."""
    found: dict[_Table, QuerySite] = {}
    soft = {mark.data["soft"]: "only_rows" in mark.data for _, mark in codebase.marks(RULE.id)}
    for site in codebase.queries.sites:
        if site.query.operation == "delete" and site.table and not runs_by_hand(codebase, site.path):
            if soft and _is_soft(site, soft, codebase):
                continue
            found.setdefault(_key(site.schema.entry) if site.schema else ("", site.table.lower()), site)
    return found


def _is_soft(site: QuerySite, soft: Mapping[str, bool], codebase: Codebase) -> bool:
    """Whether the row that is deleted stays in its table. A bulk deletion asks no row."""
    if site.schema is None or _FORCED.search(site.query.anchor):
        return False
    names = {each.name for each in codebase.schemas.lineage(site.schema.entry.model)} & soft.keys()
    return any(not soft[name] or not _IN_BULK.search(site.query.anchor) for name in names)


def _volume(entry: IndexedModel, codebase: Codebase) -> Volume:
    return codebase.volumes.of(entry.table, entry.model.name)


def _finding(cascade: _Cascade, volume: Volume, site: QuerySite | None) -> Finding:
    parent, table = cascade.parent.model.name, cascade.child.table
    relation = f"`{cascade.owner.model.name}.{cascade.relation.name}`"
    place = f" (`{site.path}:{site.line}`)" if site is not None else ""
    nobody = "" if site is not None else "; no code does so today"
    start = site.schema.name if site is not None and site.schema is not None else parent
    is_some = volume is Volume.XL and site is not None and site.is_declared and site.volume is Volume.M
    return Finding(
        rule_id=RULE.id,
        file=cascade.owner.path,
        line=cascade.relation.line or cascade.owner.model.line,
        message=(
            f"Deleting a `{start}`{place} deletes its rows of `{table}` ({volume}) in the same transaction, through "
            f"{relation}{nobody}"
        ),
        anchor=f"{cascade.owner.model.name}.{cascade.relation.name}",
        table=table,
        volume=volume,
        severity=None if site is not None else Severity.INFO,
        tags=frozenset({MILDER}) if is_some else frozenset(),
    )


WATCHES = tuple(Watch(root, look, languages, needs=NEEDS[languages]) for languages, root in ROOTS)
