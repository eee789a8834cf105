"""Serializers of Django REST framework as loops: the relations that they read from each row, and the querysets that
views hand to them."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark, Relation
from analysis.engine.queries import FEW, QuerySite
from analysis.engine.readers.reading import assigned_values, followed
from analysis.engine.rules.base import PYTHON, Watch
from analysis.engine.schemas import Schema

DEEPEST = 4  # serializers inside serializers that are followed
_LISTS = re.compile(r"(?:ModelViewSet|ListAPIView|ListCreateAPIView|ListModelMixin)$")
_SERIALIZER = re.compile(r"Serializer$")
_SLICE = re.compile(r"\w\[[^\[\]\n:]*:[^\[\]\n:]+\]\)*$")
_COMPUTED = "SerializerMethodField"
_METHOD = re.compile(  # that gives the value of such a field, up to the next one
    r"^[ \t]+def get_(\w+)\(self, *(\w+)[^)\n]*\)[^:\n]*:((?:(?!^[ \t]+(?:def|class|@)\b)[\s\S])*)", re.MULTILINE
)
_BEHIND_ROW = re.compile(r"\.([a-z_]\w*)\.\w")
_NAMED = frozenset({"StringRelatedField", "SlugRelatedField"})  # fields that show a row of the relation


class Served(NamedTuple):
    """A queryset whose rows a serializer writes out, with the relations that each row loads, by their dotted paths."""

    place: Place
    mark: Mark
    site: QuerySite
    serializer: str
    relations: Mapping[str, Relation]
    is_explicit: bool  # `many=True` stands at the call


def watches(rule: str) -> tuple[Watch, ...]:
    """Watches that note serializers and who uses them, as marks of the rule."""

    def look_at_class(node: Node, file: SourceFile) -> Iterator[Mark]:
        header = file.headers.get(node.id)
        fields = list(_fields(node, file))
        if header is None:
            return
        if _SERIALIZER.search(header.name) or any(_SERIALIZER.search(base) for base in header.bases):
            reads = {**dict(_read_by_methods(fields, node, file)), **dict(_reads(fields, file))}
            if reads:
                given = " ".join(f"{path}={nested}" for path, nested in reads.items())
                yield file.mark(rule, node, "", data={"serializer": header.name, "reads": given})
        elif any(_LISTS.search(base) for base in header.bases) and b"get_serializer_class" not in _text(node, file):
            used = next((file.text(value) for name, value in fields if name == "serializer_class"), "")
            if used:
                lines = f"{file.line(node)} {file.lines.of(node.end_byte - 1)}"
                data = {"view": header.name, "uses": used.rpartition(".")[2], "lines": lines}
                yield file.mark(rule, node, "", data=data)

    def look_at_call(call: Node, file: SourceFile) -> Iterator[Mark]:
        given, keywords = file.arguments(call)
        rows = given[0] if given else keywords.get("instance")
        many = keywords.get("many")
        if rows is not None and many is not None and file.text(many) == "True":
            name = file.text(rows) if rows.type == "identifier" else ""
            lines = f"{file.line(rows)} {file.lines.of(rows.end_byte - 1)}"
            data = {"uses": file.callee(call).rpartition(".")[2], "rows": name, "lines": lines}
            if _is_part(rows, call, file):
                data["part"] = "1"
            yield file.mark(rule, call, "", data=data)

    return (
        Watch("class", look_at_class, PYTHON, needs=(b"erializer",)),
        Watch("call", look_at_call, PYTHON, endings=("Serializer",)),
    )


def _is_part(rows: Node, call: Node, file: SourceFile) -> bool:
    """Whether the rows are a slice of others, or what a name was last given is one: `list(orders[start:end])`."""
    given = [rows] if rows.type != "identifier" else assigned_values(file.text(rows), call, file)[-1:]
    return any(_SLICE.search(file.text(each)) for each in given)


def served(rule: str, codebase: Codebase) -> Iterator[Served]:
    """The querysets whose serializers read what nobody asked the database for."""
    marks = list(codebase.marks(rule))
    serializers: dict[str, list[tuple[str, Mark]]] = {}
    for place, mark in marks:
        if "serializer" in mark.data:
            serializers.setdefault(mark.data["serializer"], []).append((place.path, mark))
    sites: dict[str, list[QuerySite]] = {}
    for site in codebase.queries.sites if serializers else ():
        if site.is_read and site.query.orm == "django":
            sites.setdefault(site.path, []).append(site)
    for place, mark in marks:
        used = mark.data.get("uses", "")
        if used not in serializers:
            continue
        rows = _queryset(mark, sites.get(place.path, [])) if not _adds_to_it(mark, place) else None
        if rows is None or rows.schema is None or rows.query.columns or "own" in rows.notes:
            continue
        if rows.is_limited and rows.query.limit <= FEW:
            continue  # of a slice that is written out most rows may be read
        eager = (*rows.query.eager, *_brought_along(rows, sites))
        missing = dict(_missing(used, place.path, rows.schema, eager, serializers, codebase))
        if missing:
            yield Served(place, mark, rows, used, missing, "view" not in mark.data)


def _fields(node: Node, file: SourceFile) -> Iterator[tuple[str, Node]]:
    """What the body of a class assigns, by name."""
    body = node.child_by_field_name("body")
    for statement in body.named_children if body is not None else ():
        inner = statement.child(0) if statement.type == "expression_statement" else None
        name = inner.child_by_field_name("left") if inner is not None and inner.type == "assignment" else None
        value = inner.child_by_field_name("right") if name is not None and inner is not None else None
        if name is not None and value is not None:
            yield file.text(name), value


def _reads(fields: list[tuple[str, Node]], file: SourceFile) -> Iterator[tuple[str, str]]:
    """The paths of relations that the fields read, each with the serializer that goes on there."""
    for name, value in fields:
        if value.type != "call":
            continue
        kind, options = file.callee(value).rpartition(".")[2], file.arguments(value)[1]
        if "write_only" in options:
            continue
        source = file.text(options["source"]).strip("\"'") if "source" in options else name
        if _SERIALIZER.search(kind):
            yield source, kind
        elif kind in _NAMED:
            yield source, ""
        elif "." in source and kind.endswith("Field"):
            yield source.rpartition(".")[0], ""


def _read_by_methods(fields: list[tuple[str, Node]], node: Node, file: SourceFile) -> Iterator[tuple[str, str]]:
    """The relations that methods of a serializer go through: `get_city(self, order)` reads `order.customer.city`."""
    computed = [name for name, value in fields if value.type == "call" and file.callee(value).endswith(_COMPUTED)]
    text = file.text(node) if computed else ""
    for method in _METHOD.finditer(text):
        if method[1] in computed:
            for read in followed(method[2], method[3], _BEHIND_ROW, "_."):
                yield read[1], ""


def _text(node: Node, file: SourceFile) -> bytes:
    return file.source[node.start_byte : node.end_byte]


def _queryset(mark: Mark, sites: list[QuerySite]) -> QuerySite | None:
    """The one query of the file whose rows the serializer gets."""
    first, last = map(int, mark.data["lines"].split())
    if "view" in mark.data:
        inside = [site for site in sites if first <= site.line <= last]
        found = [site for site in inside if site.function.name.endswith(".get_queryset")]
        found = found or [site for site in inside if site.query.variable == "queryset"]
        return found[0] if len(found) == 1 else None
    own = [site for site in sites if site.query.function == mark.function]
    rows = mark.data["rows"]
    before = [
        site for site in own if (site.query.variable == rows if rows else site.line >= first) and site.line <= last
    ]
    return before[-1] if before else None


def _brought_along(rows: QuerySite, sites: Mapping[str, list[QuerySite]]) -> Iterator[str]:
    """What queries of the project bring with all rows of a relation: by a path through it, or by the queryset of a
    `Prefetch` that stands beside. Whoever loaded the owner of the rows may have asked so."""
    if not rows.may_be_loaded:
        return
    relation = rows.facts.queries[rows.position].model.rpartition(".")[2]
    for site in chain.from_iterable(sites.values()):
        for path in site.query.eager:
            _, found, behind = f".{path}.".partition(f".{relation}.")
            if found:
                yield behind.rstrip(".")
                for beside in sites[site.path] if not behind else ():
                    is_given = beside.query.function == site.query.function and not beside.query.terminal
                    yield from beside.query.eager if is_given and beside.model == rows.model else ()


def _adds_to_it(mark: Mark, place: Place) -> bool:
    """Whether the view loads relations in a method that the queryset goes through."""
    first, last = map(int, mark.data["lines"].split())
    return "view" in mark.data and any(
        call.rpartition(".")[2] in ("prefetch_related", "select_related")
        for each in place.facts.functions
        if first <= each.line <= last and each.name.endswith(".get_queryset")
        for call in each.calls
    )


def _missing(
    name: str,
    path: str,
    schema: Schema | None,
    eager: tuple[str, ...],
    serializers: Mapping[str, list[tuple[str, Mark]]],
    codebase: Codebase,
    before: str = "",
    depth: int = 0,
) -> Iterator[tuple[str, Relation]]:
    """Relations that a serializer reads and the query does not bring, by their paths from the query's rows."""
    found = _resolved(name, path, serializers, codebase)
    if found is None or depth > DEEPEST:
        return
    where, mark = found
    for read in mark.data["reads"].split():
        dotted, _, nested = read.partition("=")
        reached, lazy, rows = _walked(dotted, schema, eager, before, codebase)
        if lazy is not None:
            yield reached, lazy
        elif nested and rows is not None:
            yield from _missing(nested, where, rows, eager, serializers, codebase, reached, depth + 1)


def _walked(
    dotted: str, schema: Schema | None, eager: tuple[str, ...], before: str, codebase: Codebase
) -> tuple[str, Relation | None, Schema | None]:
    """How far a path leads: the path from the query's rows, the first relation on it that the query does not bring, and
    the model at its end, if all of it are relations."""
    reached = before
    for segment in dotted.split("."):
        relation = schema.relations.get(segment) if schema is not None else None
        if relation is None:
            return reached, None, None
        is_back = relation.one_to_one and bool(reached) and relation.reverse == reached.rpartition(".")[2]
        reached = f"{reached}.{segment}" if reached else segment
        if not is_back and not any(each == reached or each.startswith(reached + ".") for each in eager):
            return reached, relation, None
        schema = codebase.schemas.named(relation.target)
    return reached, None, schema


def _resolved(
    name: str, path: str, serializers: Mapping[str, list[tuple[str, Mark]]], codebase: Codebase
) -> tuple[str, Mark] | None:
    """The serializer that a file means by this name: its own, an imported one, else the only one."""
    named = serializers.get(name, [])
    imported = {edge.target for edge in codebase.graph.imports_of(path)}
    for near in ({path}, imported):
        found = [each for each in named if each[0] in near]
        if found:
            return found[0]
    return named[0] if len(named) == 1 else None
