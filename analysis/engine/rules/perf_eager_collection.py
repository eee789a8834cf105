"""A relation to many rows is loaded with every object, or several of them are joined into one query."""

from collections.abc import Iterator

from analysis.engine.codebase import Codebase
from analysis.engine.facts import Relation
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity
from analysis.engine.models import IndexedModel
from analysis.engine.policy import Policy

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
            if relation.kind == "to_many" and relation.fetch.lower() in joining:
                yield _finding(entry, relation, codebase)


def _finding(entry: IndexedModel, relation: Relation, codebase: Codebase) -> Finding:
    target = codebase.queries.schema(relation.target)
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
