"""An UPDATE or DELETE touches every row of a table, because nothing says which."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath

from analysis.engine.codebase import Codebase
from analysis.engine.facts import Filter, Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity, Volume
from analysis.engine.names import FLAG, MADE_UP, SMALL, runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.queries import QuerySite
from analysis.engine.readers.sql_scripts import writes_in
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.rules.perf_n_plus_one_query import size_of
from analysis.engine.schemas import KEYS
from analysis.engine.severity import MILDER
from analysis.engine.volumes import is_large

RULE = Rule(
    id="risk-unscoped-bulk-write",
    type="unscoped_bulk_write",
    category=Category.RUNTIME_RISK,
    title="Write to every row of a table",
    severity=Severity.WARNING,
    points=1.5,
    suggestion="Add a condition, or work in batches of a few thousand rows with a commit each.",
    ladder=Ladder.READ,
    version=2,
    in_migrations=True,
)
GUIDE = Guide(
    why=(
        "One statement without a condition rewrites or empties the table, and holds a lock on all of it while it does."
    ),
    flagged=(
        {
            "shop/work.py": """
from shop.models import Order


def unpay():
    Order.objects.update(is_paid=False)
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from shop.models import Order


def unpay(customer):
    Order.objects.filter(customer=customer).update(is_paid=False)
"""
        },
    ),
    given=DJANGO_SHOP,
)

_VERBS = {"update": "updated", "delete": "deleted"}
_STATEMENTS = {
    "django": frozenset({"update", "delete"}),
    "prisma": frozenset({"updateMany", "deleteMany"}),
    "sqlalchemy": frozenset({"update", "delete", "execute", "exec"}),
    "typeorm": frozenset({"update", "delete", "softDelete", "execute"}),
    "sequelize": frozenset({"update", "destroy"}),
    "drizzle": frozenset({"update", "delete"}),
    "mongoose": frozenset({"updateMany", "deleteMany", "update"}),
    "gorm": frozenset({"Update", "Updates", "UpdateColumn", "UpdateColumns", "Delete"}),
    "bun": frozenset({"Exec"}),
    "jpa": frozenset({"deleteAll", "deleteAllInBatch", "executeUpdate"}),
}
_TEAR_DOWN = re.compile(
    r"clear|reset|flush|purge|tear_?down|wipe|truncate|empty|scrub|anonymi[sz]e|saniti[sz]e", re.IGNORECASE
)
_ALL = re.compile(
    r"(?i)(delete|remove|destroy|clear|purge|reset|drop|update|mark|set)_?all|^_?[a-z]+_all(?:_|$)|^_*(?:truncate|empty)(?:_|(?-i:[A-Z])|$)"
)
_MEANS_ALL = re.compile(
    r"(?i)rebuild|reindex|recalc|recompute|backfill|repopulate|(?:^|_)refresh|re_?sync|invalidate|revoke|(?:^|_)release"
    r"|migrat|upgrade|schema|(?:^|_)db_?check|create_?tables?|test_?data|fixture|seed|demo|auto_?update|bridge"
)
_OF_SETTINGS = re.compile(r"(?i)setting|config|preference|licen[cs]e")
_ALL_OF_ROUTE = re.compile(
    r"""\(["'](?:/[\w:-]+)*/(?:all|clear|reset|truncate|purge)["']\)$"""
)  # `router.delete("/all")`
_TESTS = re.compile(r"(?:^|/)(?:src/\w*[tT]est\w*|(?:integ|integration|e2e|functional|acceptance)[-_]?[tT]ests?)/")
_ONE_ROW = re.compile(
    r"(?i)(?:^|_)(?:alembic|schema|db|database)_?(?:version|info|migrations?)$|_(?:stream_)?(?:ordering|position|cursor)$"
)
_BY_KEYS = re.compile(r"\(update\(\w+\),\w")  # rows that are given with their keys
# A script of SQL that sets a database up or brings it to a version, by its name.
_OF_A_VERSION = re.compile(
    r"(?i)^[vur]?\d|__|schema|init|setup|install|bootstrap|structure|dump|patch|update|alter|import"
)
MOST_OF_A_SCRIPT = 50  # statements of a file that are told
# Tables that hold what is thrown away anyway, by a whole word of their name: not `attempts`, not `templates`.
_SCRATCH = re.compile(
    r"(?i)(?<![a-z])(?:tmp|(?:temp(?:orary)?|staging|scratch)(?![a-z]))|(?-i:[a-z](?:Tmp|Temp|Staging)(?![a-z]))"
)


def look_at_sql(source: str) -> Iterator[Mark]:
    """Statements of a SQL file without a condition, or with none but on flags and spans."""
    if "UPDATE" not in source.upper() and "DELETE" not in source.upper():
        return
    told = (each for each in writes_in(source) if not each.filters or _leaves_many(each.filters))
    for each in islice(told, MOST_OF_A_SCRIPT):
        data = {"table": each.table, "operation": each.operation}
        data["columns"] = " ".join(dict.fromkeys(condition.column for condition in each.filters))
        yield Mark(RULE.id, each.line, 0, "", each.text, data=data)


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Statements without any condition, and those on large tables whose conditions leave a good part of the rows."""
    declared = _declared_writes(codebase)
    for site in codebase.queries.sites:
        by_hand = runs_by_hand(codebase, site.path)
        if _TESTS.search(site.path) or (by_hand and (_tears_down(site.path) or not is_large(site.volume))):
            continue  # who starts it by hand wants just that
        if (_is_unscoped(site, declared) and not _all_are_meant(site)) or _is_unbounded(site, declared):
            yield _finding(site, codebase)
    yield from _of_scripts(codebase)
    yield from _of_migrations(codebase)


def _of_migrations(codebase: Codebase) -> Iterator[Finding]:
    """All rows of a table that is declared large, in a migration; what `risk-locking-migration` tells of those that a
    change adds is left to it."""
    for path, facts in codebase.files.items():
        if not (facts.queries or facts.marks) or codebase.kind(path) is not FileKind.MIGRATION:
            continue
        for mark in facts.marks if facts.language == "sql" else ():
            if mark.rule == RULE.id and not mark.data["columns"]:
                found = _of_script(mark, path, codebase)
                if (
                    found is not None
                    and is_large(found.volume)
                    and not _is_told(mark.data["operation"], path, codebase)
                ):
                    yield found
        for site in codebase.queries.sites_of(path, facts):
            is_whole = is_large(site.volume) and _is_unscoped(site, frozenset())
            if is_whole and not _is_told(site.query.operation, path, codebase):
                yield _finding(site, codebase)


def _is_told(operation: str, path: str, codebase: Codebase) -> bool:
    return operation == "update" and path in codebase.added


def _of_scripts(codebase: Codebase) -> Iterator[Finding]:
    """Statements of SQL files that a job runs, which are neither migrations nor what sets a database up."""
    for path, facts in codebase.files.items():
        if facts.language != "sql" or not facts.marks or codebase.kind(path) is not FileKind.SOURCE:
            continue
        name = PurePosixPath(path).stem
        said = (name, PurePosixPath(path).parent.name)
        if MADE_UP.search(path) or _OF_A_VERSION.search(name) or _tears_down(path):
            continue
        if _TESTS.search(path) or any(_MEANS_ALL.search(each) for each in said):
            continue
        for mark in facts.marks:
            if mark.rule == RULE.id and (finding := _of_script(mark, path, codebase)) is not None:
                yield finding


def _of_script(mark: Mark, path: str, codebase: Codebase) -> Finding | None:
    table, columns = mark.data["table"], mark.data["columns"].split()
    schema = codebase.schemas.named(table)
    model = schema.name if schema is not None else table
    volume = codebase.volumes.of(table, model)
    is_known = schema is not None or is_large(volume) or mark.data["operation"] == "update"
    if not is_known or _SCRATCH.search(table) or _ONE_ROW.search(table):
        return None
    if columns and (not is_large(volume) or any(schema.is_key(each) for each in columns if schema is not None)):
        return None
    if not is_large(volume) and SMALL.search(model):
        return None
    return Finding(
        rule_id=RULE.id,
        file=path,
        line=mark.line,
        message=f"{_extent(columns)} of `{table}` is {_VERBS[mark.data['operation']]} in one statement"
        f" (table `{table}`, {volume})",
        function="module",
        anchor=mark.anchor,
        confidence=_confidence(volume, is_known=schema is not None, is_whole=not columns),
        table=table,
        volume=volume,
    )


def _is_unscoped(site: QuerySite, declared: frozenset[tuple[str, str]]) -> bool:
    query = site.query
    if query.operation not in _VERBS or query.filters or query.limit or site.is_unreadable or site.loop is not None:
        return False
    looks_small = site.looks_small or SMALL.search(query.model.removesuffix("Entity")) is not None
    if not is_large(site.volume) and (looks_small or _says_all(site)):
        return False  # one row, or all are meant and the name says so
    if "limited" in site.notes or _SCRATCH.search(site.table):
        return False
    if _ONE_ROW.search(site.table or query.model):
        return False
    if query.orm == "sql":
        # A DELETE from a table that only the statement knows is meant.
        is_known = site.schema is not None or is_large(site.volume) or query.operation == "update"
        return bool(query.model) and is_known
    if query.orm == "sqlalchemy" and _BY_KEYS.search(query.anchor):
        return False
    if query.orm == "jpa" and ("declared" in site.notes or _declaration(site) in declared):
        return not query.raw and site.schema is not None
    is_whole = "whole" in site.notes or query.orm == "drizzle"  # whose chains are read to their end
    return query.terminal in _STATEMENTS.get(query.orm, ()) and is_whole


def _declaration(site: QuerySite) -> tuple[str, str]:
    """The repository that is called, and its method."""
    return site.facts.queries[site.position].model, site.query.terminal


def _declared_writes(codebase: Codebase) -> frozenset[tuple[str, str]]:
    """Spring's repositories with the methods that declare a statement that writes, in an `@Query`."""
    return frozenset(
        (access.name, query.terminal)
        for _, facts in codebase.sources
        for access in facts.accesses
        for query in access.queries
        if query.operation in _VERBS and not query.raw
    )


def _is_unbounded(site: QuerySite, declared: frozenset[tuple[str, str]]) -> bool:
    """Whether a large table is changed by conditions on flags or spans only, all in one statement."""
    query = site.query
    if query.operation not in _VERBS or not query.filters or query.limit or site.is_unreadable or site.loop is not None:
        return False
    is_statement = query.orm == "sql" or "declared" in site.notes or _declaration(site) in declared
    if not (is_statement or query.terminal in _STATEMENTS.get(query.orm, ())) or not is_large(site.volume):
        return False
    if site.has_key:
        return False
    conditions = [each for each in query.filters if each.operator != "range"]
    if query.orm == "sql" and not all(FLAG.search(each.column) for each in conditions):
        return False  # a value in quotes may be put together: `'" + code + "'`
    return _leaves_many(query.filters)


def _leaves_many(conditions: Sequence[Filter]) -> bool:
    """Whether conditions on flags or spans only leave a good part of the rows."""
    ranges = [each.column for each in conditions if each.operator == "range"]
    if len(ranges) > len(set(ranges)):
        return False  # between two bounds: a batch
    if any(each.operator == "eq" and each.column in KEYS for each in conditions):
        return False
    return all(each.operator == "range" or each.constant or _is_shared(each) for each in conditions)


def _is_shared(condition: Filter) -> bool:
    """Whether many rows have each of the values that a column can have: whichever kind is given."""
    return condition.operator == "eq" and FLAG.search(condition.column) is not None


def _says_all(site: QuerySite) -> bool:
    """Whether the function, or the file of a command, says by its name that every row is meant."""
    if _ALL_OF_ROUTE.search(site.function.name):
        return True
    name, path = site.function.short_name, PurePosixPath(site.path)
    said = (site.function.name, path.stem, path.parent.name)
    declared = "" if site.query.terminal in _STATEMENTS["jpa"] else site.query.terminal
    return any(_MEANS_ALL.search(each) for each in said) or any(map(_ALL.search, (name, declared)))


def _all_are_meant(site: QuerySite) -> bool:
    """Whether the function empties several tables at once, what it fills anew, or what holds settings."""
    own = site.query
    if own.operation != "delete" or is_large(site.volume):
        return False
    filled = (
        each for each in site.facts.queries if each.function == own.function and each.operation.endswith("insert")
    )
    emptied = {
        each.model
        for each in site.facts.queries
        if (each.function, each.orm, each.operation) == (own.function, own.orm, "delete") and not each.filters
    }
    if len(emptied) > 1:
        return True
    return any(each.model == own.model and each.line > own.line for each in filled) or any(
        _OF_SETTINGS.search(name) for name in (own.model, site.function.name, PurePosixPath(site.path).stem)
    )


def _tears_down(path: str) -> bool:
    """Whether a command says by its name that it empties the database."""
    return _TEAR_DOWN.search(PurePosixPath(path).stem) is not None


def _finding(site: QuerySite, codebase: Codebase) -> Finding:
    columns = [each.column for each in site.query.filters]
    # That many rows share a value is known by the name of its column alone.
    is_known = site.schema is not None and all(each.constant or not _is_shared(each) for each in site.query.filters)
    return Finding(
        rule_id=RULE.id,
        file=site.path,
        line=site.line,
        message=f"{_extent(columns)} of {site.label} is {_VERBS[site.query.operation]} in one statement{size_of(site)}",
        function=site.function.name,
        anchor=site.query.anchor,
        confidence=_confidence(site.volume, is_known=is_known, is_whole=not columns),
        table=site.table,
        volume=site.volume if site.table else None,
        tags=frozenset({MILDER}) if runs_by_hand(codebase, site.path) else frozenset(),
    )


def _confidence(volume: Volume, *, is_known: bool, is_whole: bool) -> Confidence:
    """High where the model is known; low for all rows of a table that nobody calls large, which are mostly meant."""
    if is_whole and not is_large(volume):
        return Confidence.LOW
    return Confidence.HIGH if is_known else Confidence.MEDIUM


def _extent(columns: Sequence[str]) -> str:
    conditions = ", ".join(f"`{each}`" for each in dict.fromkeys(columns))
    return f"Every row with the given {conditions}" if conditions else "Every row"
