"""All columns of a wide table are fetched."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.rules.base import ALL, Watch

RULE = Rule(
    id="perf-over-fetch",
    type="over_fetch",
    category=Category.PERFORMANCE,
    title="Over-fetching",
    severity=Severity.INFO,
    points=2,
    suggestion="Fetch only the needed columns.",
    confidence=Confidence.MEDIUM,
    ladder=Ladder.SOFT,
)
GUIDE = Guide(
    why="Long texts and documents travel through the network and memory, and nobody reads them.",
    flagged=(
        {
            "shop/work.py": """
def names(cursor):
    cursor.execute("SELECT * FROM shop_customer")
    return [row[1] for row in cursor.fetchall()]
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def names(cursor):
    cursor.execute("SELECT name FROM shop_customer")
    return [row[0] for row in cursor.fetchall()]
"""
        },
    ),
    given={
        "shop/models.py": """
from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=90)
    history = models.TextField()
"""
    },
)

MANY_COLUMNS = 15
_STAR = re.compile(r"^[\s\"'`(fr]*SELECT\s+\*\s+FROM\s+[\"`\[]?(?:\w+[\"`\]]?\.[\"`\[]?)?(\w+)", re.IGNORECASE)
_LARGE = re.compile(r"(?i)text|json|blob|binary|bytea|clob|xml|array")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`SELECT * FROM orders` as the first or second argument of a call that runs it."""
    for argument in file.arguments(call)[0][:2]:
        found = _STAR.match(file.text(argument)) if "string" in argument.type else None
        if found is not None:
            yield file.mark(RULE.id, call, f"`SELECT *` fetches every column of `{found[1]}`", data={"table": found[1]})


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Where the table is known to be wide."""
    entry = codebase.models.of_table(mark.data["table"])
    if entry is None or place.kind is not FileKind.SOURCE:
        return None
    large = [column.name for column in entry.model.columns if _LARGE.search(column.type)]
    count = len(entry.model.columns)
    if count <= MANY_COLUMNS and not large:
        return None
    why = f", among them `{large[0]}` ({count} columns)" if large else f" ({count} columns)"
    return place.finding(mark, message=mark.message + why, table=entry.table)


_NAMES = "execute query Query QueryContext Queryx raw $queryRawUnsafe executeQuery prepareStatement createNativeQuery"

WATCHES = (Watch("call", look, ALL, names=frozenset(_NAMES.split())),)
