"""All columns of a wide table are fetched."""

import re
from collections.abc import Iterator

from msgspec import structs
from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.orm.steps import assigned_to
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity
from analysis.engine.models import IndexedModel
from analysis.engine.policy import Policy
from analysis.engine.queries import QuerySite
from analysis.engine.readers.reading import assigned_values, followed
from analysis.engine.rules.base import ALL, SCRIPT, Watch
from analysis.engine.rules.perf_n_plus_one_query import size_of
from analysis.engine.schemas import Schema
from analysis.engine.volumes import UNDECLARED, is_large

RULE = Rule(
    id="perf-over-fetch",
    version=2,
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
LONGEST_HEAD = 40  # bytes before a call, or a name, that say whether it is given back
_RETURNS = re.compile(rb"\breturn\s+(?:await\s+)?\Z")
_ALL_OF_IT = re.compile(rb"(?:\s*\.(?:fetchone|fetchall|mappings|all|first|one)\(\))*\s*(?:[;\n}]|\Z)")
_END_OF_RETURN = re.compile(rb"(?:\.rows\b)?(?:\[0\])?\s*(?:[;,\n}]|\Z|\?\?|\|\|)")
_BY_VALUE = re.compile(r"(?i)\bWHERE\b[^=]*=\s*(?:[?:$%@]|['\"]?\s*\+)")  # few rows, most likely
_FEW_ROWS = re.compile(r"(?i)\bFOR\s+(?:UPDATE|SHARE)\b|\bLIMIT\s+[01]\b")  # that are locked, or one of them
_LARGE = re.compile(r"(?i)text|json|blob|binary|bytea|bytes|\[\]byte|clob|xml|array")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`SELECT * FROM orders` as the first or second argument of a call that runs it; in Go a context and a destination
    may come before."""
    template = call.child_by_field_name("arguments") if file.language in SCRIPT else None  # $queryRaw`SELECT …`
    is_template = template is not None and template.type == "template_string"
    for argument in (
        [template]
        if is_template and template is not None
        else file.arguments(call)[0][: 3 if file.language == "go" else 2]
    ):
        found = _STAR.match(_text_of(argument, file))
        if found is not None and _FEW_ROWS.search(_text_of(argument, file)) is None and not _escapes(call, file):
            yield file.mark(
                RULE.id,
                call,
                f"`SELECT *` fetches every column of `{found[1]}`",
                confidence=Confidence.LOW.value if _BY_VALUE.search(_text_of(argument, file)) else "",
                data={"table": found[1]},
            )


def _escapes(call: Node, file: SourceFile) -> bool:
    """Whether the function gives back what it fetched: its callers may read every column."""
    before = file.source[max(0, call.start_byte - LONGEST_HEAD) : call.start_byte]
    if _RETURNS.search(before) is not None:
        return _ALL_OF_IT.match(file.source, call.end_byte) is not None
    function = file.enclosing_function(call)
    into = [file.text(each).lstrip("&") for each in file.arguments(call)[0] if file.text(each).startswith("&")]
    name = into[0] if into else assigned_to(call.start_byte, file)
    if function is None or not name:
        return False
    for each in followed(name.encode(), file.source, _END_OF_RETURN, b"_.$\"'", call.end_byte, function.end_byte):
        start = each.start() - len(name)
        if file.language == "python" and b"[0]" in each[0]:
            continue  # the first column of a row
        if _RETURNS.search(file.source[max(0, start - LONGEST_HEAD) : start]) is not None:
            return True
    return False


def _text_of(argument: Node, file: SourceFile) -> str:
    """The text that is run: written out, in `text(...)` of SQLAlchemy, or given to a name once."""
    if argument.type == "identifier":
        values = assigned_values(file.text(argument), argument, file)
        argument = values[0] if len(values) == 1 else argument
    if argument.type == "call":
        given = file.arguments(argument)[0]
        argument = given[0] if given and file.callee(argument).rpartition(".")[2] == "text" else argument
    return file.text(argument) if "string" in argument.type else ""


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Where the table is known to be wide."""
    entry = _entry(mark.data["table"], codebase)
    if entry is None or place.kind is not FileKind.SOURCE:
        return None
    large = [column.name for column in entry.model.columns if _LARGE.search(column.type)]
    count = len(entry.model.columns)
    if count <= MANY_COLUMNS and not large:
        return None
    if not is_large(codebase.volumes.declared(entry.table, entry.model.name) or UNDECLARED):
        mark = structs.replace(mark, confidence=Confidence.LOW.value)  # a few rows may well be wanted whole
    why = f", among them `{large[0]}` ({count} columns)" if large else f" ({count} columns)"
    return place.finding(mark, message=mark.message + why, table=entry.table)


def _entry(table: str, codebase: Codebase) -> IndexedModel | None:
    """What describes a table: its model before its migrations, in which Prisma calls every string a TEXT."""
    entries = (each for each in codebase.models.all if each.table.lower() == table.lower())
    return min(entries, key=lambda each: each.model.orm == "ddl", default=None)


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """`SELECT *` of wide tables, then whole objects of large tables of which a function reads two columns at most."""
    for place, mark in codebase.marks(RULE.id):
        finding = judge(mark, place, codebase, policy)
        if finding is not None:
            yield finding
    for site in codebase.queries.sites:
        taken = site.notes.get("taken", "").split()
        schema = site.schema
        if not 0 < len(taken) <= FEW_COLUMNS or schema is None or not is_large(site.volume):
            continue
        if "kept" in site.notes:
            continue  # no rows are needed then, nor their columns
        if site.query.columns or site.is_limited or site.is_narrowed or site.asks_by_value:
            continue
        if site.query.raw or not schema.columns.keys() >= set(taken):
            continue
        if len(schema.columns) > len(taken) + 1 and schema.relations.keys().isdisjoint(taken):
            yield _whole_objects(site, schema, taken)


def _whole_objects(site: QuerySite, schema: Schema, taken: list[str]) -> Finding:
    names = " and ".join(f"`{name}`" for name in taken)
    return Finding(
        rule_id=RULE.id,
        file=site.path,
        line=site.line,
        message=f"All {len(schema.columns)} columns of {site.label} are loaded, and only {names} read{size_of(site)}",
        function=site.function.name,
        anchor=site.query.anchor,
        suggestion=_NARROWER.get(site.query.orm, "Select only {names}.").format(names=names),
        confidence=Confidence.MEDIUM,
        table=site.table,
        volume=site.volume,
    )


FEW_COLUMNS = 2
_NARROWER = {
    "django": "Ask for {names} only, with `values_list` or `only`.",
    "sqlalchemy": "Select the columns {names} instead of the objects.",
    "prisma": "Add `select` with {names}.",
    "typeorm": "Add `select` with {names}.",
    "sequelize": "Add `attributes` with {names}.",
    "drizzle": "Select {names} by name, `select({{ … }})` or `columns`.",
    "mongoose": "Add `.select(…)` with {names}.",
    "jpa": "Use a projection of {names}.",
    "bun": "Add `Column(…)` with {names}.",
    "gorm": "Add `Select(…)` with {names}, or `Pluck`.",
}
_NAMES = """execute query Query QueryContext Queryx raw $queryRaw $queryRawUnsafe executeQuery prepareStatement
    createNativeQuery queryForList queryForObject queryForMap Raw QueryRow QueryRowContext Select Get
    SelectContext GetContext QueryxContext QueryRowx QueryRowxContext fetch fetchrow"""

WATCHES = (Watch("call", look, ALL, names=frozenset(_NAMES.split())),)
