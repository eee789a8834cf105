"""A query runs once for every round of a loop, directly or in a function that the loop calls."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from analysis.engine.calls import OWN_RECEIVERS, Callee
from analysis.engine.codebase import REQUEST, Codebase
from analysis.engine.facts import FileFacts, Function, FunctionFlag, Loop, LoopCall
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.queries import FEW, Queries, QuerySite
from analysis.engine.readers import query_text
from analysis.engine.readers.loop_calls import changing_parameters, goes_through_few, rounds_of, unchanged_parameters
from analysis.engine.readers.sizes import Size
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.severity import MILDER

RULE = Rule(
    id="perf-n-plus-one-query",
    version=3,
    type="n_plus_one",
    category=Category.PERFORMANCE,
    title="One query per round of a loop",
    severity=Severity.WARNING,
    points=6,
    suggestion="Load all rows for the collected keys in one query before the loop and look them up in a map.",
    ladder=Ladder.READ,
)
GUIDE = Guide(
    why=(
        "Each round waits for the network and the database: what takes 5 ms for ten rows takes a minute for a hundred "
        "thousand."
    ),
    grades="By the larger of the tables that drive the loop and that are queried.",
    flagged=(
        {
            "shop/work.py": """
from shop.models import Order, Customer


def owners(orders):
    names = []
    for order in Order.objects.filter(is_paid=True):
        names.append(Customer.objects.get(pk=order.customer_id))
    return names
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from shop.models import Order, Customer


def owners(customer_ids):
    return Customer.objects.in_bulk(customer_ids)
"""
        },
    ),
    given=DJANGO_SHOP,
)
WATCHES = query_text.WATCHES

SEEDED = re.compile(r"(^|/)(?:(?:seeds?|seeders?|fixtures|demo|samples?)(?:/|[-_.])|seed[A-Z])")  # few rows, made up
ONE_ROUND = frozenset({"retried", "searched"})  # notes of loops that stop once the query was right
RARELY = frozenset({"failed"})  # of queries that ask only when something went wrong
# A schema has few tables, and a table few columns.
_OF_CATALOGUE = re.compile(
    r"(?i)(?:\w+\.)?(?:pg_\w+|key_column_usage|\w+_constraints|sqlite_(?:master|schema)"
    r"|(?:all|user|dba)_(?:tables|tab_columns|cons_columns|ind_columns|indexes|views|sequences|triggers))"
)
_ENDLESS = re.compile(
    r"(?i)queue|chan(?:nel)?(?:\(\)|$)|<-|(?:^|\.)(?:ch|c|jobs|ticker\.C|incoming)$|\.Chan\(|\.(?:listen|subscribe|consume|iter_messages)\("
)  # consumers
_ROWS = re.compile(r"\.objects\b|\.(?:all|filter|exclude|query|find\w*|select_related|prefetch_related)\(")
_CONSTANTS = re.compile(
    r"(?:^|[(.])[A-Z]\w*[a-z]\w*\.(?:values\(\)\)?|choices)$|\bEnumSet\.|^constants?\."
)  # all that an enumeration names
# A constant by its name, also listed or counted; the argument of a query is none: `findByStatus(Status.OPEN)`.
_NAMED_CONSTANT = re.compile(
    r"(?:\[\.\.\.)?(?:(?:\w+\.)*(?:enumerate|list|sorted|reversed|set|tuple|iter|keys|values|entries|items|asList|of)\()?"
    r"(?:\w+\.)*[A-Z][A-Z\d_]*(?:\[[^\]]*\])?\)?\]?"
)
_LOCKS = re.compile(r"(?:^|[._])lock(?:_|[A-Z])")  # rows one by one, as it has to be
_WORDS = re.compile(r"[A-Z]?[a-z]+")
SHORT = 2  # letters that tell nothing of a class
_ONE_BATCH = re.compile(r"(?i)\w*(?:batch|chunk|page)")  # by itself: its rows are gone through one by one
_BATCHES = ("batch", "chunk", "page", "ids", "pks", "keys")
_CACHED = ("cache", "memo", "once")
_BATCH_LOADERS = ("batch_load", "batchLoad", "load_many", "loadMany")


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Queries in loops, then calls in loops of functions that query."""
    queries = codebase.queries
    for site in queries.sites:
        if site.is_read and site.runs and multiplies(site) and not SEEDED.search(site.path):
            yield from _direct(site, queries, codebase)
    yield from _indirect(queries, codebase)


def multiplies(site: QuerySite) -> bool:
    """Whether the loop around a query runs it with other values again and again."""
    loop = site.loop
    if loop is None or not site.query.uses_loop_variable or not goes_on(loop):
        return False
    silent = {"guarded"} | ONE_ROUND | RARELY
    if not site.notes.keys().isdisjoint(silent) or _is_batch_function(site.function.name):
        return False
    if site.query.lock:
        return False  # rows that are locked one by one are meant to be
    if "opaque" in site.notes and site.query.orm == "sqlalchemy" and not site.query.filters:
        return False  # a list of conditions for many keys
    if _OF_CATALOGUE.fullmatch(site.query.model):
        return False
    narrowing = [each for each in site.query.filters if not each.constant]
    return not (narrowing and all(each.operator == "in" for each in narrowing))


def goes_on(loop: Loop, written: str = "") -> bool:
    """Whether a loop takes single items, and maybe many of them. What is `written` to a table of that name are rows,
    though a page or a batch may be meant by it elsewhere."""
    if written and loop.iterable.lower() == written.lower():
        return True
    is_endless = (loop.kind == "while" and not loop.variables) or _ENDLESS.search(loop.iterable)
    if (is_endless and _ROWS.search(loop.iterable) is None) or 0 < loop.bound <= FEW:
        return False
    if loop.batched and _ONE_BATCH.fullmatch(loop.iterable) is None:
        return False
    if any(word in name.lower() for name in loop.variables for word in _BATCHES if name.lower() != "keys"):
        return False
    return _NAMED_CONSTANT.fullmatch(loop.iterable) is None and _CONSTANTS.search(loop.iterable) is None


def _is_batch_function(name: str) -> bool:
    return name.rpartition(".")[2] in _BATCH_LOADERS


def _direct(site: QuerySite, queries: Queries, codebase: Codebase) -> Iterator[Finding]:
    """A command may go through few rows, and so may a loop by its name or a table: two of them cost nobody anything."""
    loop = site.loop
    driver = queries.driver(site.path, loop) if loop is not None else None
    if loop is not None and goes_through_few(loop, driver):
        return
    size = rounds_of(loop, driver) if loop is not None else Size.UNKNOWN
    is_few = driver is not None and driver.leaves_few
    is_short = size is Size.FEW or _is_first_of_each(site)
    tags = milder(site.path, codebase) | (frozenset({MILDER}) if is_few else frozenset())
    if is_short and (tags or site.looks_small):
        return
    # Else there may be no query for many rounds, or few of them.
    is_sure = site.schema is not None and not tags and site.asks_by_value and size is Size.MANY
    yield Finding(
        rule_id=RULE.id,
        file=site.path,
        line=site.line,
        message=f"{site.label} is queried once per {rounds(loop)}{size_of(site)}",
        function=site.function.name,
        anchor=site.query.anchor,
        suggestion=_suggestion(site),
        confidence=Confidence.LOW if is_short else Confidence.HIGH if is_sure else Confidence.MEDIUM,
        table=site.table,
        volume=site.volume if site.table else None,
        severity=queries.severity(site.volume, driver),
        tags=tags,
    )


def _is_first_of_each(site: QuerySite) -> bool:
    """Whether each round takes the first rows of its own, in an order or behind others: no one query takes all of
    them."""
    query = site.query
    return query.operation == "select" and query.limit not in (0, 1) and bool(query.order or query.offset)


def rounds(loop: Loop | None) -> str:
    """What a loop goes through, for a message."""
    if loop is None:
        return "round"
    each = f"`{loop.variables[0]}`" if loop.variables else "round"
    through = " ".join(loop.iterable.split())
    through = through if len(through) <= 60 else through[:59] + "…"
    return f"{each} of the loop over `{through}` (line {loop.line})" if through else each


def size_of(site: QuerySite) -> str:
    """Table and volume, for a message."""
    return f" (table `{site.table}`, {site.volume})" if site.table else ""


def milder(path: str, codebase: Codebase) -> frozenset[str]:
    """One step down in commands, scripts and files that fill a database."""
    return frozenset({MILDER}) if runs_by_hand(codebase, path) or _is_script(codebase.files[path]) else frozenset()


def _is_script(facts: FileFacts) -> bool:
    """Whether a file of Python is started by itself (`if __name__ == "__main__"`), and answers no requests."""
    is_served = any(entry.kind == REQUEST for entry in facts.entries)
    return facts.language == "python" and facts.is_entry and not is_served


def _suggestion(site: QuerySite) -> str:
    name = site.schema.name if site.schema else "the"
    rows = f"`{name}` rows" if site.schema else "rows"
    how = {
        "django": "`filter(…__in=keys)` or `in_bulk(keys)`",
        "sqlalchemy": "`where(column.in_(keys))`",
        "prisma": "`findMany({ where: { …: { in: keys } } })`",
        "typeorm": "`find({ where: { …: In(keys) } })`",
        "sequelize": "`findAll({ where: { …: keys } })`",
        "drizzle": "`where(inArray(…, keys))`",
        "mongoose": "`find({ …: { $in: keys } })`",
        "jpa": "`findAllById(keys)` or a `…In` method",
        "gorm": '`Where("… IN ?", keys)`',
        "bun": '`Where("… IN (?)", bun.In(keys))`',
        "sql": "`WHERE … IN (…)`",
    }.get(site.query.orm, "one query")
    if site.query.operation in ("count", "aggregate", "exists"):
        group = {"django": "`values(…).annotate(Count(…))`", "prisma": "`groupBy`", "drizzle": "`groupBy(…)`"}.get(
            site.query.orm, "`GROUP BY`"
        )
        return f"Ask once for all keys before the loop with {group} and look the answers up in a map."
    return f"Load all {rows} for the collected keys with {how} before the loop and look them up in a map."


# One level deep


def _indirect(queries: Queries, codebase: Codebase) -> Iterator[Finding]:
    asking = _asking(queries)
    names = {codebase.files[path].functions[position].short_name for path, position in asking}
    called_in = codebase.summaries(_called_in_loops)
    for path, facts in codebase.sources:
        if path not in called_in or SEEDED.search(path) or called_in[path].isdisjoint(names):
            continue
        for loop in facts.loops:
            for call in loop.calls:
                if not call.uses_variable or call.callee.rpartition(".")[2] not in names or not goes_on(loop):
                    continue
                asked = _asked(call, loop, path, facts, asking, codebase)
                if asked is not None:
                    yield from _one_level(call, loop, path, facts, asked, queries, codebase)


def _called_in_loops(facts: FileFacts) -> frozenset[str]:
    return frozenset(call.callee.rpartition(".")[2] for loop in facts.loops for call in loop.calls)


def _asking(queries: Queries) -> Mapping[Callee, QuerySite]:
    """The functions that run a read for the values they are given, each with its first such query."""
    found: dict[Callee, QuerySite] = {}
    for site in queries.sites:
        function = site.function
        if site.query.function == 0 or not site.is_read or not site.runs or site.may_be_loaded:
            continue
        if site.schema is None and not _names_its_rows(site):
            continue
        is_for_one = site.query.raw and site.query.limit == 1  # by conditions that stand elsewhere
        is_for_given = is_for_one or any(not each.constant for each in site.query.filters)
        if not is_for_given or _is_batch_function(function.name):
            continue
        if any(word in decorator.lower() for decorator in function.decorators for word in _CACHED):
            continue
        if function.flags & FunctionFlag.GENERATOR or not function.parameters:
            continue
        if "optional" in site.notes or "remembered" in site.notes or site.query.lock or _LOCKS.search(function.name):
            continue
        found.setdefault(Callee(site.path, site.query.function), site)
    return found


def _names_its_rows(site: QuerySite) -> bool:
    """Whether a query of no known model is one for certain: SQL that names a table, or one of the model that a
    repository was made for."""
    query = site.query
    if _OF_CATALOGUE.fullmatch(query.model):
        return False
    return bool(query.model) if query.orm == "sql" else query.orm == "sqlalchemy" and query.model == ""


def _asked(
    call: LoopCall, loop: Loop, path: str, facts: FileFacts, asking: Mapping[Callee, QuerySite], codebase: Codebase
) -> QuerySite | None:
    """The query that a call runs, when it is sure which function is meant."""
    caller = facts.functions[loop.function]
    targets = codebase.calls.resolve(path, caller, call.callee)
    if len(targets) != 1 or targets[0] not in asking or not is_named(call.callee, caller, targets[0], codebase):
        return None
    site = asking[targets[0]]
    if site.path == path and site.query.function == loop.function:
        return None
    changing = changing_parameters(call, loop, site.function)
    keyed = site.notes.get("keyed", "").split()
    if keyed and unchanged_parameters(call, loop, caller, site.function).issuperset(keyed):
        return None
    return None if changing and keyed and changing.isdisjoint(keyed) else site  # the same query in each round


def is_named(callee: str, caller: Function, target: Callee, codebase: Codebase) -> bool:
    """Whether what stands before the function's name is its class, its module, or the caller's own object."""
    receiver = callee.rpartition(".")[0]
    if not receiver or receiver in OWN_RECEIVERS:
        return True
    last = receiver.rpartition("/")[2].rpartition(".")[2]
    file = PurePosixPath(target.path)
    owner = codebase.files[target.path].functions[target.position].owner
    is_own = codebase.files[target.path].language == "go" and owner == caller.owner and receiver.isidentifier()
    return (
        is_own  # `s.replies` in another method of the same type
        or last in (file.stem, file.parent.name)
        or last.lstrip("_").lower() == owner.lower()  # `this.orderService` of the class `OrderService`
        or (file.suffix == ".java" and last.lower() in owner.lower())  # which `OrderServiceImpl` implements
        or receiver.rpartition("/")[2].startswith(file.stem)
        or _speaks_of(last, owner)
    )


def _speaks_of(name: str, owner: str) -> bool:
    """Whether each word of an object's name, in the plural or not, begins one of its class: `repo`, `invoice_repo` or
    `invoices` of `InvoiceRepository`."""
    words = [word.lower().removesuffix("s") for word in _WORDS.findall(name) if len(word) > SHORT]
    known = [word.lower() for word in _WORDS.findall(owner.rpartition(".")[2])]
    return bool(words) and all(any(each.startswith(word) for each in known) for word in words)


def _one_level(
    call: LoopCall, loop: Loop, path: str, facts: FileFacts, asked: QuerySite, queries: Queries, codebase: Codebase
) -> Iterator[Finding]:
    """Medium where each call runs the query, for what changes from round to round. One doubt makes it a guess, two
    make it none."""
    driver = queries.driver(path, loop)
    tags = milder(path, codebase)
    keyed = asked.notes.get("keyed", "").split()
    doubts = (
        changing_parameters(call, loop, asked.function).isdisjoint(keyed),
        "branched" in asked.notes,
        rounds_of(loop, driver) is Size.FEW,
        bool(tags),
    )
    if sum(doubts) > 1:
        return
    name = call.callee.rpartition(".")[2]
    where = f"`{asked.path}:{asked.line}`" if asked.path != path else f"line {asked.line}"
    yield Finding(
        rule_id=RULE.id,
        file=path,
        line=call.line,
        message=f"`{name}` queries {asked.label} ({where}) once per {rounds(loop)}{size_of(asked)}",
        function=facts.functions[loop.function].name,
        anchor=call.anchor,
        suggestion=f"Give `{name}` all keys at once, so that one query before the loop answers for every round.",
        confidence=Confidence.LOW if any(doubts) else Confidence.MEDIUM,
        table=asked.table,
        volume=asked.volume,
        severity=queries.severity(asked.volume, driver),
        tags=tags,
    )
