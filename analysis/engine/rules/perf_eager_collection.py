"""A relation to many rows is loaded with every object, or several of them are joined into one query."""

from collections.abc import Iterable, Iterator

from msgspec import structs

from analysis.engine.codebase import Codebase
from analysis.engine.facts import Relation
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity, Volume
from analysis.engine.models import IndexedModel
from analysis.engine.policy import Policy
from analysis.engine.queries import QuerySite
from analysis.engine.rules.perf_n_plus_one_query import size_of

RULE = Rule(
    id="perf-eager-collection",
    type="eager_collection",
    category=Category.PERFORMANCE,
    title="Collection that is always loaded",
    severity=Severity.WARNING,
    points=3,
    suggestion="Map the collection lazy and fetch it where it is needed.",
    ladder=Ladder.READ,
)
GUIDE = Guide(
    why=(
        "Every object drags its whole collection along, also for callers who want a name, and two such collections in "
        "one query multiply their rows."
    ),
    flagged=(
        {
            "shop/tables.py": """
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Line(Base):
    __tablename__ = "line"
    id: Mapped[int] = mapped_column(primary_key=True)


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    lines: Mapped[list["Line"]] = relationship(lazy="joined")
"""
        },
    ),
    fine=(
        {
            "shop/tables.py": """
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Line(Base):
    __tablename__ = "line"
    id: Mapped[int] = mapped_column(primary_key=True)


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    lines: Mapped[list["Line"]] = relationship(lazy="selectin")
"""
        },
    ),
)

_JOINING = {
    "sqlalchemy": frozenset({"joined", "subquery"}),
    "jpa": frozenset({"eager", "join", "subselect"}),
    "typeorm": frozenset({"eager"}),
    "sequelize": frozenset({"eager"}),
}
_BEARABLE = 2  # collections of one object: their product is small, that of three is mostly not
_JOINED_BY_QUERY = frozenset({"typeorm", "sequelize", "jpa"})  # the others ask once more for each collection
_WORDS = {
    "sqlalchemy": 'Map it with `lazy="select"` and add `selectinload({name})` to the queries that need it.',
    "jpa": "Map it with `FetchType.LAZY` and fetch it where needed with `JOIN FETCH` or an entity graph.",
    "typeorm": "Drop `eager: true` and name `{name}` in the `relations` of the queries that need it.",
}


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Relations to many that their model says to load always."""
    for entry in codebase.models.all:
        joining = _JOINING.get(entry.model.orm)
        if joining is None or codebase.kind(entry.path) not in (FileKind.SOURCE, FileKind.SCRIPT):
            continue
        for relation in entry.model.relations:
            many = _to_many(relation, entry, codebase) if relation.fetch.lower() in joining else None
            if many is not None and not _is_of_few_values(many, codebase):
                yield _finding(entry, many, codebase)
    for site in codebase.queries.sites:
        of_query = site.query.eager if site.query.orm in _JOINED_BY_QUERY else site.notes.get("joined", "").split()
        if len(of_query) > 1 and "apart" not in site.notes:
            joined = _collections(site, of_query, codebase)
            if len(joined) > 1:
                yield _multiplied(site, joined)


def _to_many(relation: Relation, entry: IndexedModel, codebase: Codebase) -> Relation | None:
    """The relation if it leads to many; of what a default scope only names, the relation that another file makes."""
    if relation.kind:
        return relation if relation.kind == "to_many" else None
    schema = codebase.schemas.named(entry.model.name)
    known = schema.relations.values() if schema is not None else ()
    made = next((each for each in known if relation.name in (each.name, each.target)), None)
    return structs.replace(made, line=relation.line) if made is not None and made.kind == "to_many" else None


def _is_of_few_values(relation: Relation, codebase: Codebase) -> bool:
    """Whether it is a collection of values, no rows of a model, whose table the policy declares small."""
    target = codebase.schemas.named(relation.target)
    is_of_values = target is None or target.entry.model.orm == "ddl"
    return is_of_values and codebase.volumes.declared(relation.target) is Volume.S


def _collections(site: QuerySite, paths: Iterable[str], codebase: Codebase) -> list[str]:
    """The paths of relations to many that a query joins side by side; one below another multiplies nothing more."""
    found: list[str] = []
    for path in paths:
        schema, kind = site.schema, ""
        for name in path.split("."):
            relation = schema.relations.get(name) if schema is not None else None
            kind = relation.kind if relation is not None else ""
            schema = codebase.schemas.named(relation.target) if relation is not None else None
        if kind == "to_many" and not any(path.startswith(f"{each}.") for each in found):
            found.append(path)
    return found


def _multiplied(site: QuerySite, joined: list[str]) -> Finding:
    names = " and ".join(f"`{name}`" for name in joined[:3])
    return Finding(
        rule_id=RULE.id,
        file=site.path,
        line=site.line,
        message=f"{names} of {site.label} are joined in one query: their rows multiply{size_of(site)}",
        function=site.function.name,
        anchor=site.query.anchor,
        suggestion="Load one of the collections with a query of its own.",
        severity=_of_one_row(joined) if site.query.limit == 1 else None,
        confidence=Confidence.MEDIUM,
        table=site.table,
        volume=site.volume if site.table else None,
    )


def _of_one_row(joined: list[str]) -> Severity:
    """How bad it is for one object, however many its table has."""
    return Severity.INFO if len(joined) <= _BEARABLE else Severity.WARNING


def _finding(entry: IndexedModel, relation: Relation, codebase: Codebase) -> Finding:
    target = codebase.schemas.named(relation.target)
    table = target.entry.table if target is not None else ""
    volume = codebase.queries.volume_of(target)
    size = f" (table `{table}`, {volume})" if table else ""
    return Finding(
        rule_id=RULE.id,
        file=entry.path,
        line=relation.line or entry.model.line,
        message=f"All of `{relation.name}` are loaded with every `{entry.model.name}`{size}",
        function="module",
        anchor=f"{entry.model.name}.{relation.name}",
        suggestion=_WORDS.get(entry.model.orm, "").format(name=relation.name),
        confidence=Confidence.HIGH if table else Confidence.MEDIUM,
        table=table,
        volume=volume if table else None,
    )
