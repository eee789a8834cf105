"""A relation of the loop's rows is loaded row by row, because the query before the loop did not ask for it."""

from collections.abc import Iterator

from analysis.engine.codebase import Codebase, Place
from analysis.engine.facts import Loop, Mark, Relation
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity, Volume
from analysis.engine.policy import Policy
from analysis.engine.queries import QuerySite
from analysis.engine.readers import loop_reads, serialized_rows
from analysis.engine.readers.loop_calls import goes_through_few
from analysis.engine.readers.loop_reads import ANNOTATED
from analysis.engine.readers.serialized_rows import Served
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.rules.perf_n_plus_one_query import goes_on, is_named, milder, rounds
from analysis.engine.schemas import Schema
from analysis.engine.severity import MILDER

RULE = Rule(
    id="perf-n-plus-one-relation",
    type="n_plus_one_lazy",
    category=Category.PERFORMANCE,
    title="Relation loaded row by row",
    severity=Severity.WARNING,
    points=4,
    suggestion="Ask for the relation in the query before the loop.",
    ladder=Ladder.READ,
)
GUIDE = Guide(
    why=(
        "The loop looks innocent: reading an attribute runs a query per row, because the query before it did not ask "
        "for the relation."
    ),
    flagged=(
        {
            "shop/work.py": """
from shop.models import Order


def emails():
    for order in Order.objects.filter(is_paid=False):
        send(order.customer.email)
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from shop.models import Order


def emails():
    for order in Order.objects.filter(is_paid=False).select_related("customer"):
        send(order.customer.email)
"""
        },
    ),
    given=DJANGO_SHOP,
)

_CHANGES = frozenset({"add", "set", "remove", "clear", "create", "bulk_create", "get_or_create", "update_or_create"})
_LOADED = frozenset({"joined", "selectin", "subquery", "eager", "immediate", "batch"})
_WITHOUT_LAZY_RELATIONS = frozenset({"mongoose", "drizzle"})  # what a query did not bring is not there
_NEVER_LOADED = frozenset({"dynamic", "write_only", "noload", "raise", "raise_on_sql"})  # by naming them
_ADDS = frozenset({"", "append", "add", "add_all", "extend", "remove"})
_KNOWS_ROWS = frozenset({"jpa", "sqlalchemy"})  # their sessions give the same object for the same row
_COVERED_BY_PREFETCH = frozenset({"all", "count"})
_BROUGHT_ALONG = _COVERED_BY_PREFETCH | {""}

WATCHES = (*loop_reads.watches(RULE.id), *serialized_rows.watches(RULE.id))
_FIXES = {
    "sqlalchemy": "Add `options(selectinload(….{name}))` to {where}.",
    "typeorm": "Add `relations: {{ {name}: true }}` to {where}.",
    "sequelize": "Add `include: ['{name}']` to {where}.",
    "jpa": "Add `join fetch` for `{name}`, or an entity graph, to {where}.",
    "gorm": 'Add `Preload("{name}")` to {where} and read it from the rows.',
}


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Reads of lazy relations, in loops whose rows come from a known query, then in serializers."""
    # Rows that a caller gives may come from a query that asks for what some query of the project asks for.
    asked_for = {
        name
        for site in codebase.queries.sites
        if site.query.limit != 1  # a single row is no list
        for path in site.query.eager
        for name in path.split(".")
    }
    for place, mark in codebase.marks(RULE.id):
        if "loop" in mark.data:
            yield from _of_loop(place, mark, asked_for, codebase)
    for served in serialized_rows.served(RULE.id, codebase):
        yield _of_serializer(served, codebase)


def _of_loop(place: Place, mark: Mark, asked_for: set[str], codebase: Codebase) -> Iterator[Finding]:
    """The lazy relations that a loop reads of its rows, each once."""
    loop = place.facts.loops[int(mark.data["loop"])]
    if not goes_on(loop):
        return
    site = codebase.queries.driver(place.path, loop)
    if site is None and "giver" in mark.data and "manager" not in mark.data:
        site = _given_by(mark.data["giver"], place, codebase)
    schema = _rows_of(site, place, mark, loop, codebase)
    if schema is None or goes_through_few(loop, site):
        return
    told: set[str] = set()
    is_list = site is None and place.facts.language not in ("java", "go") and "manager" not in mark.data
    for read in mark.data["reads"].split():
        name, line, step, further = read.split(":")
        relation = _relation(name, schema)
        if relation is None or name in told or (is_list and name in asked_for):
            continue
        if _is_lazy(relation, step, site, schema):
            told.add(name)
            may_be_brought = (site is None or site.may_be_loaded) and step in _BROUGHT_ALONG
            if not may_be_brought or not _is_brought(name, place, mark, schema, codebase):
                yield _finding(place, mark, loop, int(line), schema, relation, site, codebase, step=step)
        elif further and (behind := _behind(relation, further, site, codebase)) is not None:
            yield _finding(place, mark, loop, int(line), behind[0], behind[1], site, codebase, name)


def _given_by(name: str, place: Place, codebase: Codebase) -> QuerySite | None:
    """The query whose rows the named function gives back, when it is sure which function is meant and that it runs no
    other."""
    targets = place.meant_by(name)
    if len(targets) != 1 or not is_named(name, place.function, targets[0], codebase):
        return None
    asked = codebase.queries.by_function.get((targets[0].path, targets[0].position), ())
    return asked[0] if len(asked) == 1 and "returned" in asked[0].notes else None


def _rows_of(site: QuerySite | None, place: Place, mark: Mark, loop: Loop, codebase: Codebase) -> Schema | None:
    """The model of the rows that the loop takes."""
    if site is not None:
        is_known = not site.query.columns and "own" not in site.notes
        return site.schema if is_known else None
    manager = mark.data.get("manager")
    if manager is None:
        return _annotated_rows(place, loop, codebase)
    if loop.variables[1:]:
        return None
    asked = codebase.queries.by_function.get((place.path, loop.function), ())
    receiver, _, relation = manager.partition(".")
    if any(relation in path for each in asked for path in each.query.eager):
        return None  # the object's own query says how its rows are loaded
    return codebase.schemas.related_by(relation, place.function.owner if receiver == "self" else receiver)


def _annotated_rows(place: Place, loop: Loop, codebase: Codebase) -> Schema | None:
    """The model of a parameter such as `List<Order> orders` that the loop goes through."""
    given = next((each for each in place.function.parameters if each.name == loop.iterable), None)
    kinds = ANNOTATED.get(place.facts.language)
    named = kinds.match(given.annotation.strip("\"'")) if given is not None and kinds is not None else None
    return codebase.schemas.named(named[named.lastindex or 0]) if named is not None else None


def _is_brought(name: str, place: Place, mark: Mark, schema: Schema, codebase: Codebase) -> bool:
    """Whether a function that calls this one asks for the relation of the rows together with them. A serializer is
    called by its framework: with the rows of any query that asks for them so."""
    if "Serializer" in place.function.owner and any(
        name in site.query.eager and site.model == schema.name for site in codebase.queries.sites
    ):
        return True
    wanted = f".{mark.data.get('manager', '').partition('.')[2]}.{name}."
    called = place.function.short_name
    return any(
        any(wanted in f".{path}." for path in site.query.eager)
        and any(call.rpartition(".")[2] == called for call in site.function.calls)
        for site in codebase.queries.sites
    )


def _relation(name: str, schema: Schema) -> Relation | None:
    """The relation of this name; Sequelize makes `getLines` for what may be called `lines` or `Lines`."""
    found = schema.relations.get(name)
    if schema.entry.model.orm == "sequelize":
        if not name[:1].isupper():
            return None  # a property holds what the query included, if anything
        folded = name.lower()
        found = next(
            (each for each in schema.relations.values() if folded in (each.name.lower(), each.name.lower() + "s")), None
        )
    return found


def _is_lazy(relation: Relation, step: str, site: QuerySite | None, schema: Schema) -> bool:
    """Whether reading the relation asks the database again."""
    orm = schema.entry.model.orm
    if orm in _KNOWS_ROWS and _is_shared(relation, site):
        return False
    if relation.fetch in _NEVER_LOADED and step in _ADDS:
        return False
    if relation.fetch in _LOADED or (orm == "typeorm" and relation.fetch != "lazy") or orm in _WITHOUT_LAZY_RELATIONS:
        return False
    if orm == "jpa":
        return relation.fetch == "lazy" and _reads_more(relation, step) and not _is_asked(relation, site)
    if orm == "gorm":
        return step in ("Find", "Count", "")
    if orm == "django" and relation.kind == "to_many" and (not step or step in _CHANGES):
        return False  # a manager that is only named, or that writes
    return not _is_asked(relation, site) or (
        relation.kind == "to_many" and bool(step) and orm == "django" and step not in _COVERED_BY_PREFETCH
    )


def _is_shared(relation: Relation, site: QuerySite | None) -> bool:
    """Whether the query asks for the rows of one parent, `findByOrderId(id)`: the session loads it once for all."""
    keys = {relation.name, f"{relation.name}_id", f"{relation.name}Id"}
    filters = site.query.filters if site is not None and relation.kind == "to_one" else ()
    return any(
        each.operator == "eq" and (each.column in keys or each.column in (f"{relation.name}.id", f"{relation.name}.pk"))
        for each in filters
    )


def _behind(
    relation: Relation, name: str, site: QuerySite | None, codebase: Codebase
) -> tuple[Schema, Relation] | None:
    """A relation to one that is read from a row which the query brought along, without what is behind it."""
    if site is None or site.query.orm not in ("django", "sqlalchemy") or relation.kind != "to_one":
        return None
    if relation.fetch in _LOADED:
        return None
    schema = codebase.schemas.named(relation.target)
    found = schema.relations.get(name) if schema is not None else None
    if schema is None or found is None or found.kind != "to_one" or found.fetch in _LOADED:
        return None
    path = f"{relation.name}.{name}" if site.query.orm == "django" else name
    is_asked = any(each == path or each.startswith(path + ".") for each in site.query.eager)
    return None if is_asked or "*" in site.query.eager else (schema, found)


def _reads_more(relation: Relation, step: str) -> bool:
    """Whether more than the key of a proxy is read: the key stands in the row."""
    return relation.kind == "to_many" or (step.startswith(("get", "is")) and step not in ("getId", "getClass"))


def _is_asked(relation: Relation, site: QuerySite | None) -> bool:
    """Whether the query brings the relation along."""
    eager = site.query.eager if site is not None else ()
    names = (relation.name, relation.target) if site is not None and site.query.orm == "sequelize" else (relation.name,)
    return any(path == name or path.startswith(name + ".") for path in eager for name in names) or "*" in eager


def _finding(
    place: Place,
    mark: Mark,
    loop: Loop,
    line: int,
    schema: Schema,
    relation: Relation,
    site: QuerySite | None,
    codebase: Codebase,
    through: str = "",
    step: str = "",
) -> Finding:
    target = codebase.schemas.named(relation.target)
    volume = codebase.queries.volume_of(target) if target is not None else None
    table = target.entry.table if target is not None else ""
    size = f" (table `{table}`, {volume})" if table else ""
    tags = milder(place.path, place.codebase)  # what runs by hand may go through few rows
    is_few = site is not None and site.leaves_few
    is_own = not tags and site is not None and site.path == place.path and site.query.function == loop.function
    # What loaded the object whose rows these are may have loaded their relations as well.
    may_be_brought = not is_own and "manager" in mark.data and step in _BROUGHT_ALONG
    if site is not None and site.may_be_loaded:
        is_own, may_be_brought = False, step in _BROUGHT_ALONG
    seen = Confidence.HIGH if is_own and not is_few else Confidence.MEDIUM
    of_file = f" of `{site.path}`" if site is not None and site.path != place.path else ""
    return Finding(
        rule_id=RULE.id,
        file=place.path,
        line=line,
        message=f"`{schema.name}.{relation.name}` is loaded once per {rounds(loop)}{size}",
        function=place.function.name,
        anchor=f"{mark.anchor} {relation.name}",
        suggestion=_suggestion(relation, site, through, step, of_file),
        confidence=Confidence.LOW if may_be_brought else seen,
        table=table,
        volume=volume,
        severity=codebase.queries.severity(volume, site),
        tags=tags | {MILDER} if is_few else tags,
    )


def _of_serializer(served: Served, codebase: Codebase) -> Finding:
    """The query whose rows a serializer writes out; of several tables the largest counts."""
    tables = [codebase.schemas.named(relation.target) for relation in served.relations.values()]
    known = [(codebase.queries.volume_of(each), each.entry.table) for each in tables if each is not None]
    volume, table = max(known, key=lambda pair: tuple(Volume).index(pair[0]), default=(None, ""))
    label = served.site.schema.name if served.site.schema is not None else served.site.query.model
    read = ", ".join(f"`{label}.{path}`" for path in served.relations)
    size = f" (table `{table}`, {volume})" if table else ""
    is_or_are = "is" if len(served.relations) == 1 else "are"
    first, relation = next(iter(served.relations.items()))
    step = "select_related" if relation.kind == "to_one" else "prefetch_related"
    return Finding(
        rule_id=RULE.id,
        file=served.place.path,
        line=served.site.line,
        message=f"{read} {is_or_are} loaded once per row that `{served.serializer}` writes out{size}",
        function=served.site.function.name,
        anchor=f"{served.site.query.anchor} {served.serializer}",
        suggestion=f"Add `{step}('{first.replace('.', '__')}')` to the query at line {served.site.line}.",
        confidence=Confidence.HIGH if served.is_explicit else Confidence.MEDIUM,
        table=table,
        volume=volume,
        severity=codebase.queries.severity(volume, served.site),
    )


def _is_django(site: QuerySite | None) -> bool:
    return site is None or site.query.orm == "django"


def _suggestion(
    relation: Relation, site: QuerySite | None, through: str = "", step: str = "", of_file: str = ""
) -> str:
    if relation.kind == "to_many" and step and step not in _COVERED_BY_PREFETCH and _is_django(site):
        return (
            f"`{step}` asks again whatever was prefetched: load the rows of `{relation.name}` for all of the loop in "
            "one query, or annotate what is needed with a `Subquery`."
        )
    where = f"the query at line {site.line}{of_file}" if site is not None else "the query before the loop"
    words = _FIXES.get(site.query.orm) if site is not None else None
    if words is not None:
        return words.format(name=relation.name, where=where)
    step = "select_related" if relation.kind == "to_one" else "prefetch_related"
    name = f"{through}__{relation.name}" if through else relation.name
    return f"Add `{step}('{name}')` to {where}."
