"""A relation of the loop's rows is loaded row by row, because the query before the loop did not ask for it."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.scopes import LoopDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Loop, Mark, Relation
from analysis.engine.model import Category, Confidence, Finding, Guide, Ladder, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.queries import Queries, QuerySite, Schema, runs_by_hand
from analysis.engine.rules.base import ALL, Watch
from analysis.engine.rules.example_models import DJANGO_SHOP
from analysis.engine.rules.perf_n_plus_one_query import goes_on, rounds
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

MOST_READS = 40  # attributes of one loop that are noted
_KEYS = re.compile(r"^(?:pk|id|objects|_meta|\w+_id|__\w+)$")
# Row, relation, and what is done with it.
_READS = {
    "python": re.compile(r"(?<![\w.\"'])(\w+)\.([a-z_]\w*)(?:\.(\w+)\(|(?![\w(]|\s*=[^=]))"),
    "java": re.compile(r"(?<![\w.\"'])(\w+)\.get([A-Z]\w*)\(\)(?:\s*\.(\w+)\()?"),
    "go": re.compile(r"\.Model\(&?(\w+)\)\.Association\(\"(\w+)\"\)(?:\.(\w+)\()?"),
}
_SCRIPT_READ = re.compile(
    r"\bawait\s+(\w+)\.([a-z]\w*)\b(?!\()(?:\)\.(\w+))?|(?<![\w.])(\w+)\.get([A-Z]\w*)\((?:\)|\{)(?:\.(\w+)\()?"
)
_MANAGED = re.compile(r"(?<![\w.])(?:\w+\.)*(\w+\.\w+)\.(?:all\(\)|filter\([^()]*\))$")
_QUERYSET = re.compile(r"QuerySet\[[\"']?([\w.]+)")
_ORMS = {
    "python": (b"django", b".objects", b".all()", b"sqlalchemy"),
    "java": (b"Repository", b"createQuery"),
    "go": (b".Association(",),
}
_SCRIPT_ORMS = (b"typeorm", b"await", b"equelize")
_PARAMETER = re.compile(r"^(?:java\.util\.)?(?:List|Set|Collection|Iterable|Page|Slice|Stream)<(?:\? extends )?(\w+)>$")
_LOADED = frozenset({"joined", "selectin", "subquery", "eager", "immediate", "batch"})
_COVERED_BY_PREFETCH = frozenset({"all", "count"})


def look(root: Node, file: SourceFile) -> Iterator[Mark]:
    """What loops over rows read from each row: one mark per loop."""
    if not any(file.mentions(word) for word in _ORMS.get(file.language, _SCRIPT_ORMS)):
        return
    if not file.loops:
        return
    asking = {query.function for query in file.queries if query.operation == "select"}
    for loop in file.loops:
        is_python = file.language == "python"
        managed = _MANAGED.search(loop.iterable) if is_python and loop.iterable.endswith(")") else None
        if loop.kind == "while" or not (loop.function in asking or managed or _annotated(loop, file)):
            continue
        reads = _reads(loop, file)
        if reads:
            data = {"loop": str(loop.index), "reads": " ".join(reads)}
            if managed:
                data["manager"] = managed[1]
            yield file.mark(RULE.id, loop.node, "", data=data)


WATCHES = tuple(
    Watch(root, look, languages)
    for root, languages in (("module", ALL[:1]), ("program", ALL[1:5]), ("source_file", ALL[5:]))
)


def _annotated(loop: LoopDraft, file: SourceFile) -> bool:
    if file.language == "java":
        return loop.iterable.isidentifier()
    if not file.mentions(b"QuerySet["):
        return False
    header = file.functions[loop.function].node.child_by_field_name("parameters")
    return (
        header is not None
        and re.search(rf"\b{re.escape(loop.iterable)}\s*:[^,]*QuerySet\[", file.text(header)) is not None
    )


def _reads(loop: LoopDraft, file: SourceFile) -> list[str]:
    """Attributes that are read from a loop variable, each with its line and, of a manager, the step that follows."""
    node = loop.node
    function = file.functions[loop.function].node
    text = file.source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    whole = file.source[function.start_byte : function.end_byte]
    if b"prefetch_related_objects(" in whole:
        return []
    first = file.line(node)
    found: dict[str, str] = {}
    for position, row, name, step in _read_in(text, file.language):
        if row not in loop.variables or _KEYS.match(name) or name in found or len(found) >= MOST_READS:
            continue
        found[name] = f"{name}:{first + text.count(chr(10), 0, position)}:{step}"
    return list(found.values())


def _read_in(text: str, language: str) -> Iterator[tuple[int, str, str, str]]:
    """What may be relations: where, of which variable, its name, and the step that follows."""
    for match in _READS.get(language, _SCRIPT_READ).finditer(text):
        row, name, step = match.groups()[:3]
        if row is None:  # a getter of Sequelize
            row, name, step = match.groups()[3:]
        yield match.start(), row, name[:1].lower() + name[1:] if language == "java" else name, step or ""


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Reads of lazy relations, in loops whose rows come from a known query."""
    queries = codebase.queries
    for place, mark in codebase.marks(RULE.id):
        loop = place.facts.loops[int(mark.data["loop"])]
        if not goes_on(loop, place.facts):
            continue
        site = queries.driver(place.path, loop)
        schema = _rows_of(site, place, mark, loop, queries)
        if schema is None:
            continue
        for read in mark.data["reads"].split():
            name, line, step = read.split(":")
            relation = _relation(name, schema)
            if relation is not None and _is_lazy(relation, step, site, schema):
                yield _finding(place, mark, loop, int(line), schema, relation, site, queries)


def _rows_of(site: QuerySite | None, place: Place, mark: Mark, loop: Loop, queries: Queries) -> Schema | None:
    """The model of the rows that the loop takes."""
    if site is not None:
        is_known = not site.query.columns and "own" not in site.notes and not 0 < site.query.limit <= 10
        return site.schema if is_known else None
    if place.facts.language == "java":
        return _annotated_rows(place, loop, queries)
    manager = mark.data.get("manager")
    if manager is None or loop.variables[1:]:
        return None
    asked = queries.by_function.get((place.path, loop.function), ())
    receiver, _, relation = manager.partition(".")
    if any(relation in path for each in asked for path in each.query.eager):
        return None  # the object's own query says how its rows are loaded
    return queries.related_by(relation, place.function.owner if receiver == "self" else receiver)


def _annotated_rows(place: Place, loop: Loop, queries: Queries) -> Schema | None:
    """The model of a parameter such as `List<Order> orders` that the loop goes through."""
    given = next((each for each in place.function.parameters if each.name == loop.iterable), None)
    named = _PARAMETER.match(given.annotation) if given is not None else None
    return queries.schema(named[1]) if named is not None else None


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
    if relation.fetch in _LOADED or (orm == "typeorm" and relation.fetch != "lazy") or orm == "mongoose":
        return False
    if orm == "jpa":
        return relation.fetch == "lazy" and _reads_more(relation, step) and not _is_asked(relation, site)
    if orm == "gorm":
        return step in ("Find", "Count", "")
    if orm == "django" and relation.kind == "to_many" and not step:
        return False  # a manager that is only named
    return not _is_asked(relation, site) or (
        relation.kind == "to_many" and bool(step) and orm == "django" and step not in _COVERED_BY_PREFETCH
    )


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
    queries: Queries,
) -> Finding:
    target = queries.schema(relation.target)
    volume = queries.volume_of(target) if target is not None else None
    table = target.entry.table if target is not None else ""
    size = f" (table `{table}`, {volume})" if table else ""
    return Finding(
        rule_id=RULE.id,
        file=place.path,
        line=line,
        message=f"`{schema.name}.{relation.name}` is loaded once per {rounds(loop)}{size}",
        function=place.function.name,
        anchor=f"{mark.anchor} {relation.name}",
        suggestion=_suggestion(relation, site),
        confidence=Confidence.HIGH if site is not None else Confidence.MEDIUM,
        table=table,
        volume=volume,
        severity=queries.severity(volume, site),
        tags=frozenset({MILDER}) if runs_by_hand(place.codebase, place.path) else frozenset(),
    )


_WORDS = {
    "sqlalchemy": "Add `options(selectinload(….{name}))` to {where}.",
    "typeorm": "Add `relations: {{ {name}: true }}` to {where}.",
    "sequelize": "Add `include: ['{name}']` to {where}.",
    "jpa": "Add `join fetch` for `{name}`, or an entity graph, to {where}.",
    "gorm": 'Add `Preload("{name}")` to {where} and read it from the rows.',
}


def _suggestion(relation: Relation, site: QuerySite | None) -> str:
    where = f"the query at line {site.line}" if site is not None else "the query before the loop"
    words = _WORDS.get(site.query.orm) if site is not None else None
    if words is not None:
        return words.format(name=relation.name, where=where)
    step = "select_related" if relation.kind == "to_one" else "prefetch_related"
    return f"Add `{step}('{relation.name}')` to {where}."
