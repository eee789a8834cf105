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
from analysis.engine.rules.base import PYTHON, Watch
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
    languages=PYTHON,
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
_READ = re.compile(r"(?<![\w.\"'])(\w+)\.([a-z_]\w*)(?:\.(\w+)\(|(?![\w(]|\s*=[^=]))")
_MANAGED = re.compile(r"(?<![\w.])(?:\w+\.)*(\w+\.\w+)\.(?:all\(\)|filter\([^()]*\))$")
_QUERYSET = re.compile(r"QuerySet\[[\"']?([\w.]+)")
_ORMS = (b"django", b".objects", b".all()", b"sqlalchemy")
_COVERED_BY_PREFETCH = frozenset({"all", "count"})


def look(root: Node, file: SourceFile) -> Iterator[Mark]:
    """What loops over rows read from each row: one mark per loop."""
    if not any(file.mentions(word) for word in _ORMS):
        return
    asking = {query.function for query in file.queries if query.operation == "select"}
    for loop in file.loops:
        managed = _MANAGED.search(loop.iterable)
        if loop.kind == "while" or not (loop.function in asking or managed or _annotated(loop, file)):
            continue
        reads = _reads(loop, file)
        if reads:
            data = {"loop": str(loop.index), "reads": " ".join(reads)}
            if managed:
                data["manager"] = managed[1]
            yield file.mark(RULE.id, loop.node, "", data=data)


WATCHES = (Watch("module", look, PYTHON),)


def _annotated(loop: LoopDraft, file: SourceFile) -> bool:
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
    for match in _READ.finditer(text):
        name, step = match[2], match[3] or ""
        if match[1] not in loop.variables or _KEYS.match(name) or name in found or len(found) >= MOST_READS:
            continue
        found[name] = f"{name}:{first + text.count(chr(10), 0, match.start())}:{step}"
    return list(found.values())


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
            relation = schema.relations.get(name)
            if relation is not None and _is_lazy(relation, step, site):
                yield _finding(place, mark, loop, int(line), schema, relation, site, queries)


def _rows_of(site: QuerySite | None, place: Place, mark: Mark, loop: Loop, queries: Queries) -> Schema | None:
    """The model of the rows that the loop takes."""
    if site is not None:
        is_known = not site.query.columns and "own" not in site.notes and not 0 < site.query.limit <= 10
        return site.schema if is_known else None
    manager = mark.data.get("manager")
    if manager is None or loop.variables[1:]:
        return None
    asked = queries.by_function.get((place.path, loop.function), ())
    receiver, _, relation = manager.partition(".")
    if any(relation in path for each in asked for path in each.query.eager):
        return None  # the object's own query says how its rows are loaded
    return queries.related_by(relation, place.function.owner if receiver == "self" else receiver)


def _is_lazy(relation: Relation, step: str, site: QuerySite | None) -> bool:
    """Whether reading the relation asks the database again."""
    if relation.fetch in ("joined", "selectin", "subquery", "eager", "immediate"):
        return False
    is_django = site is None or site.query.orm == "django"
    if is_django and relation.kind == "to_many" and not step:
        return False  # a manager that is only named
    eager = site.query.eager if site is not None else ()
    is_asked = any(path == relation.name or path.startswith(relation.name + ".") for path in eager)
    return not is_asked or (relation.kind == "to_many" and bool(step) and step not in _COVERED_BY_PREFETCH)


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


def _suggestion(relation: Relation, site: QuerySite | None) -> str:
    where = f"the query at line {site.line}" if site is not None else "the query before the loop"
    if site is not None and site.query.orm == "sqlalchemy":
        return f"Add `options(selectinload(….{relation.name}))` to {where}."
    step = "select_related" if relation.kind == "to_one" else "prefetch_related"
    return f"Add `{step}('{relation.name}')` to {where}."
