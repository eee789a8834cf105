"""Rows are written, or a transaction committed, one by one in a loop."""

import re
from collections.abc import Iterator
from itertools import chain

from analysis.engine.codebase import Codebase
from analysis.engine.facts import FileFacts, FunctionFlag
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity
from analysis.engine.names import MADE_UP, runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.queries import Queries, QuerySite
from analysis.engine.readers.loop_calls import goes_through_few, rounds_of
from analysis.engine.readers.sizes import Size
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.rules.perf_n_plus_one_query import ONE_ROUND, RARELY, goes_on, rounds, size_of
from analysis.engine.severity import MILDER

RULE = Rule(
    id="perf-write-in-loop",
    version=4,
    type="row_by_row_write",
    category=Category.PERFORMANCE,
    title="Row by row write",
    severity=Severity.WARNING,
    points=4,
    suggestion="Collect the objects and write them with one bulk call in batches of a few hundred.",
    ladder=Ladder.READ,
)
GUIDE = Guide(
    why=(
        "A round trip, and often a commit, per row: a thousand rows take seconds where one statement takes "
        "milliseconds."
    ),
    grades=(
        "Info where each row has error handling or a transaction of its own, a model does more than write, or few "
        "rounds are likely."
    ),
    flagged=(
        {
            "shop/work.py": """
from shop.models import Line


def store(rows):
    for row in rows:
        Line.objects.create(amount=row.amount)
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from shop.models import Line


def store(rows):
    Line.objects.bulk_create([Line(amount=row.amount) for row in rows], batch_size=500)
"""
        },
    ),
    given=DJANGO_SHOP,
)

MOST_QUESTIONS = 2  # that leave a finding likely
SHORT_LOOP = 6  # different calls of a loop that does little else than writing
_VERBS = {"insert": "inserted", "update": "updated", "delete": "deleted"}
_BULK = {
    ("django", "insert"): "`bulk_create(rows, batch_size=500)`",
    ("django", "update"): "`bulk_update(rows, fields, batch_size=500)`",
    ("django", "delete"): "`filter(pk__in=keys).delete()`",
    ("sqlalchemy", "insert"): "`session.execute(insert(Model), rows)`",
    ("sqlalchemy", "update"): "`session.execute(update(Model), rows)`",
    ("sqlalchemy", "delete"): "`delete(Model).where(Model.id.in_(keys))`",
    ("prisma", "insert"): "`createMany({ data: rows })`",
    ("prisma", "delete"): "`deleteMany({ where: { id: { in: keys } } })`",
    ("typeorm", "insert"): "`insert(rows)`",
    ("typeorm", "update"): "`save(rows, { chunk: 500 })`",
    ("typeorm", "delete"): "`delete({ id: In(keys) })`",
    ("sequelize", "insert"): "`bulkCreate(rows)`",
    ("sequelize", "update"): "`bulkCreate(rows, { updateOnDuplicate: […] })`",
    ("sequelize", "delete"): "`destroy({ where: { id: keys } })`",
    ("drizzle", "insert"): "`insert(table).values(rows)`",
    ("drizzle", "update"): "`insert(table).values(rows).onConflictDoUpdate({ … })`",
    ("drizzle", "delete"): "`delete(table).where(inArray(table.id, keys))`",
    ("mongoose", "insert"): "`insertMany(rows)`",
    ("mongoose", "update"): "`bulkWrite(operations)`",
    ("mongoose", "delete"): "`deleteMany({ _id: { $in: keys } })`",
    ("jpa", "insert"): "`saveAll(rows)` and JDBC batching",
    ("jpa", "update"): "`saveAll(rows)` and JDBC batching",
    ("jpa", "delete"): "`deleteAllByIdInBatch(keys)`",
    ("gorm", "insert"): "`CreateInBatches(rows, 500)`",
    ("gorm", "delete"): '`Where("id IN ?", keys).Delete(…)`',
    ("bun", "insert"): "`NewInsert().Model(&rows)`",
    ("bun", "update"): "`NewUpdate().Model(&rows).Bulk()`",
    ("bun", "delete"): '`Where("id IN (?)", bun.In(keys))`',
    ("sql", "insert"): "`executemany` or an INSERT with many rows",
}
_UNIT_OF_WORK = frozenset({"add", "delete"})  # of SQLAlchemy's session, which sends them together at the flush
_ALWAYS_ONE_BY_ONE = frozenset({"update", "upsert"})  # of Prisma: no bulk call takes other values for each row
_BY_KEY = frozenset({"get_or_create", "update_or_create", "upsert"})
_REMOTE = re.compile(
    r"(?i)send|(?:remove|delete|create|move|copy)_?(?:folder|directory|file|blob|object)|charge|mail|fetch|upload|https?\b|requests\.|runTask|publish|putPdf|putFile|s3\b"
)
_HOOK = re.compile(r"(?:^|[. ])hook\(|lifecycle", re.IGNORECASE)
_SIGNALS = ("pre_save", "post_save", "pre_delete", "post_delete")
_OUTSIDE_BULK = frozenset({"save", "delete"})


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Writes on the data of a loop, and commits inside one."""
    queries = codebase.queries
    listeners = _listeners(codebase)
    overridden = frozenset(chain.from_iterable(codebase.summaries(_own_writes).values()))
    for site in queries.sites:
        if site.query.loop >= 0 and _repeats(site) and (site.is_declared or not MADE_UP.search(site.path)):
            yield from _finding(site, listeners, overridden, queries, codebase)


def _repeats(site: QuerySite) -> bool:
    loop, query = site.loop, site.query
    if loop is None or not goes_on(loop, site.table) or not site.notes.keys().isdisjoint(ONE_ROUND | RARELY):
        return False
    if query.operation == "commit":
        return query.terminal in ("commit", "flush") and "batched" not in site.notes
    if query.orm == "sqlalchemy" and query.terminal in _UNIT_OF_WORK and not query.model:
        return False
    return site.is_write and query.uses_loop_variable and not query.terminal.startswith("bulk")


def _listeners(codebase: Codebase) -> str:
    """Decorators that connect functions to the signals of writes, as one text to look models up in."""
    heard = codebase.summaries(_receivers)
    return " ".join(heard[path] for path, _ in codebase.sources if path in heard)


def _receivers(facts: FileFacts) -> str:
    return " ".join(
        decorator
        for function in facts.functions
        for decorator in function.decorators
        if "receiver" in decorator and any(signal in decorator for signal in _SIGNALS)
    )


def _finding(
    site: QuerySite, listeners: str, overridden: frozenset[str], queries: Queries, codebase: Codebase
) -> Iterator[Finding]:
    loop, query = site.loop, site.query
    driver = queries.driver(site.path, loop) if loop is not None else None
    if loop is not None and goes_through_few(loop, driver):
        return
    confidence = _confidence(site, driver, codebase)
    if confidence is None:
        return
    side_effect = _side_effect(site, listeners, overridden, codebase)
    is_mild = confidence is Confidence.LOW or runs_by_hand(codebase, site.path) or _is_meant(site)
    severity = queries.severity(site.volume, driver)
    if "tried" in site.notes or side_effect or (query.orm == "jpa" and query.in_transaction):
        severity = Severity.INFO
    yield Finding(
        rule_id=RULE.id,
        file=site.path,
        line=site.line,
        message=_message(site, side_effect),
        function=site.function.name,
        anchor=query.anchor,
        suggestion=_suggestion(site),
        severity=severity,
        confidence=confidence,
        table=site.table,
        volume=site.volume if site.table else None,
        tags=frozenset({MILDER}) if is_mild else frozenset(),
    )


def _confidence(site: QuerySite, driver: QuerySite | None, codebase: Codebase) -> Confidence | None:
    """Medium at most, as nobody sees here how many rounds there are. Low with many questions, or with a reason to write
    row by row; None with two reasons."""
    query, loop = site.query, site.loop
    rounds_there = rounds_of(loop, driver) if loop is not None else Size.UNKNOWN
    is_commit = query.operation == "commit"
    reasons = (
        runs_by_hand(codebase, site.path),
        _is_meant(site),
        rounds_there is Size.FEW,
        not is_commit and (site.looks_small or (site.schema is None and query.orm != "sql")),
        "opaque" in site.notes and query.orm == "django",  # each round may have conditions of its own
        # The round goes on with the new row, mostly with its key; GORM names what it writes.
        query.operation == "insert" and query.variable != "" and query.orm != "gorm",
    )
    questions = (
        rounds_there is not Size.MANY,
        "sometimes" in site.notes or "optional" in site.notes,  # maybe few rounds write
        "tried" in site.notes,
        query.operation == "update" and query.terminal != "save",  # each row may get other values
        query.orm == "sql" and len(query.filters) > 1,  # other conditions for each row
        query.terminal in _BY_KEY,
        query.orm == "jpa",  # a flush may send the rows together, when batching is switched on
        not is_commit and site.schema is None,
        loop is not None and len({call.callee for call in loop.calls}) > SHORT_LOOP,
    )
    if sum(reasons) > 1:
        return None
    return Confidence.LOW if any(reasons) or sum(questions) > MOST_QUESTIONS else Confidence.MEDIUM


def _is_meant(site: QuerySite) -> bool:
    """Whether something says that the rows are written one by one for a reason: no bulk form, another service or a
    transaction of its own in each round, a comment, a row that is claimed."""
    by_word = not site.notes.keys().isdisjoint({"reasoned", "claimed", "apart"})
    return by_word or _has_no_bulk_form(site) or _waits_for_others(site)


def _has_no_bulk_form(site: QuerySite) -> bool:
    query = site.query
    if query.orm == "gorm":
        return query.operation == "update" and query.terminal != "Save"
    if query.orm == "django":
        return query.terminal == "update_or_create" and not _ends_conflicts(site)
    if query.orm != "prisma":
        return False
    is_of_one = query.operation == "update" and site.has_key  # `updateMany({ where: { id } })`
    return is_of_one or query.terminal in _ALWAYS_ONE_BY_ONE or "nested" in site.notes


def _ends_conflicts(site: QuerySite) -> bool:
    """Whether a key of the database covers what is looked up, without which no bulk call finds the rows that exist."""
    if site.schema is None:
        return True
    wanted = {each.column.removesuffix("_id") or each.column for each in site.query.filters}
    is_covered = any(wanted.issuperset(columns) for columns in site.schema.unique)
    return is_covered or site.has_key or any(map(site.schema.is_key, wanted))


def _waits_for_others(site: QuerySite) -> bool:
    """Whether every round also talks to another service: then the write is not what takes the time."""
    loop = site.loop
    return loop is not None and any(_REMOTE.search(call.callee) for call in loop.calls)


def _side_effect(site: QuerySite, listeners: str, overridden: frozenset[str], codebase: Codebase) -> str:
    """Why a bulk call would not do the same, if that is known."""
    if site.schema is None or site.query.orm != "django" or site.query.terminal not in _OUTSIDE_BULK | {"create"}:
        return ""
    name = site.schema.name
    if f"sender={name}" in listeners or f".{name}" in listeners:
        return f"signals of `{name}` do not fire for bulk calls"
    own = "delete" if site.query.operation == "delete" else "save"
    functions = codebase.files[site.schema.entry.path].functions
    if any(each.owner == name and _HOOK.search(" ".join(each.decorators)) for each in functions):
        return f"hooks of `{name}` do not run for bulk calls"
    for model in codebase.schemas.lineage(site.schema.entry.model):
        for each in (model.name, *(base.rpartition(".")[2] for base in model.bases)):
            if f"{each}.{own}" in overridden:
                return f"bulk calls pass by `{each}.{own}`"
    return ""


def _own_writes(facts: FileFacts) -> frozenset[str]:
    """The methods of a file that a class calls like those that write a row."""
    if not facts.models:
        return frozenset()
    return frozenset(
        f"{each.owner}.{last}"
        for each in facts.functions
        if each.flags & FunctionFlag.METHOD and (last := each.short_name) in _OUTSIDE_BULK
    )


def _message(site: QuerySite, side_effect: str) -> str:
    query = site.query
    if query.operation == "commit":
        return f"`{query.terminal}` runs once per {rounds(site.loop)}"
    what = site.label if site.schema is not None or query.model else "A row"
    verb = "looked up and written" if query.terminal in _BY_KEY else _VERBS[_operation(site)]
    text = f"{what} is {verb} once per {rounds(site.loop)}{size_of(site)}"
    return f"{text}; note that {side_effect}" if side_effect else text


def _operation(site: QuerySite) -> str:
    """What a write does: the `save` of an object that the round makes inserts it."""
    return "insert" if "made" in site.notes else site.query.operation


def _suggestion(site: QuerySite) -> str:
    query = site.query
    if query.operation == "commit":
        return "Commit once after the loop, or once per batch of a few hundred rows."
    if query.orm == "prisma" and query.terminal in _ALWAYS_ONE_BY_ONE:
        return "Group the rows that get equal values into one `updateMany`, or write all with one `$executeRaw`."
    if query.terminal in _BY_KEY:
        return "Load the rows that exist with one query and write the others with `bulk_create(update_conflicts=True)`."
    bulk = _BULK.get((query.orm, _operation(site)))
    if query.orm == "django" and query.operation == "update" and query.terminal == "update":
        return "Load the rows and write them with one `bulk_update`, or with one `update` and a `Case` expression."
    return f"Collect the rows in the loop and write them after it with {bulk}." if bulk else ""
