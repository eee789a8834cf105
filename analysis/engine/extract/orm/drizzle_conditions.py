"""Conditions of Drizzle: `and(eq(orders.userId, id), like(orders.note, "%x%"))`, as an argument of `where`, as what a
callback gives back, as an object, or in a template of SQL."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.orm import options
from analysis.engine.extract.orm.chains import is_literal
from analysis.engine.extract.orm.conditions import alternatives, conditions_in
from analysis.engine.extract.orm.drizzle_tables import object_given, table_named
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Filter
from analysis.engine.readers.reading import assigned_values

DEEPEST = 6  # levels of conditions that are read

_OPERATORS = {
    "eq": "eq",
    "inArray": "in",
    **dict.fromkeys(("gt", "gte", "lt", "lte", "between"), "range"),
    "like": "like",
    "ilike": "contains",
    **dict.fromkeys(("isNull", "isNotNull"), "null"),
    **dict.fromkeys(
        """ne notInArray notBetween notLike notIlike not arrayContains arrayContained arrayOverlaps""".split(),
        "other",
    ),
}
_WRAPPED = frozenset({"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"})
_OPEN = re.compile(r"[\"'`]%|[\"'`]\s*%|concat\(\s*[\"'`]%")
_PATH = re.compile(r"(?:\w+\.)*\w+")
_PART = re.compile(r"\$\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
_NAMES = re.compile(r"\w+")


class Asked(NamedTuple):
    """What conditions are about: the table that a query asks, and the names of a callback that stand for it or, taken
    apart, for its columns."""

    table: str
    rows: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()


class Conditions(NamedTuple):
    filters: tuple[Filter, ...] = ()
    is_opaque: bool = False  # some cannot be read, or do not always stand there


def conditions_of(node: Node | None, asked: Asked, file: SourceFile) -> Conditions:
    """The conditions of a `where`."""
    found = [*_read(node, asked, file, 0)]
    return Conditions(tuple(each for each in found if each is not None), None in found)


def column_in(text: str, asked: Asked, file: SourceFile) -> str:
    """The column that a path names: of the table that is asked its name alone, of another one with that before it.
    Empty when it is no column."""
    if _PATH.fullmatch(text) is None:
        return ""
    *before, column = text.split(".")
    if not before:
        return column if column in asked.columns else ""
    owner = before[-1]
    if owner in asked.rows:
        return column
    table = table_named(before, file)
    if not table:
        return ""
    return column if table == asked.table else f"{table}.{column}"


def callback(node: Node, asked: Asked, file: SourceFile) -> Asked:
    """What the first parameter of a callback stands for: `(order, { eq }) => …`, `({ total }, { gt }) => …`."""
    listed = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    first = listed
    if listed is not None and listed.type == "formal_parameters":
        first = listed.named_children[0] if listed.named_child_count else None
    text = file.text(first).partition(":")[0].strip() if first is not None else ""
    if text.startswith("{"):
        return asked._replace(columns=frozenset(_NAMES.findall(text)))
    return asked._replace(rows=frozenset(_NAMES.findall(text)[:1]))


def _read(node: Node | None, asked: Asked, file: SourceFile, depth: int) -> Iterator[Filter | None]:
    """The conditions one after the other; None for each that cannot be read."""
    while node is not None and node.type in _WRAPPED and node.named_child_count:
        node = node.named_children[0]
    if node is None or depth > DEEPEST:
        yield None
    elif node.type == "call_expression":
        yield from _of_call(node, asked, file, depth)
    elif node.type == "arrow_function":
        yield from _of_arrow(node, asked, file, depth)
    elif node.type == "object":
        yield from options.conditions(node, file)
    elif node.type == "identifier":
        yield from _held(node, asked, file, depth)
    elif node.type == "spread_element":
        yield from _spread(node, asked, file, depth)
    elif node.type not in ("undefined", "null", "comment"):
        yield None  # one that stands there in some cases only


def _of_call(call: Node, asked: Asked, file: SourceFile, depth: int) -> Iterator[Filter | None]:
    function = call.child_by_field_name("function")
    name = file.resolve(file.text(function)).rpartition(".")[2] if function is not None else ""
    written = call.child_by_field_name("arguments")
    if written is not None and written.type == "template_string":
        yield from _of_text(file.text(written).strip("`"), asked, file) if name == "sql" else (None,)
        return
    given = file.arguments(call)[0]
    if name == "or":
        sides = [[*_read(each, asked, file, depth + 1)] for each in given]
        yield from alternatives([[each for each in side if each is not None] for side in sides])
        yield from (None for side in sides if None in side)
    elif name == "and":
        for each in given:
            yield from _read(each, asked, file, depth + 1)
    elif name == "not":
        inner = [*_read(given[0] if given else None, asked, file, depth + 1)]
        yield from (each and Filter(each.column, "other") for each in inner)
    elif name in _OPERATORS and given:
        yield _compared(_OPERATORS[name], given, asked, file)
    else:
        yield None


def _compared(operator: str, given: list[Node], asked: Asked, file: SourceFile) -> Filter | None:
    """`eq(orders.id, id)`, also the other way round, and `eq(lower(users.email), email)`."""
    sides = [file.text(each) for each in given[:2]]
    column = column_in(sides[0], asked, file)
    if not column and operator == "eq" and (column := column_in(sides[-1], asked, file)):
        given = given[::-1]
    if column:
        value = given[1] if len(given) > 1 else None
        if operator == "like" and value is not None and _begins_open(value, file):
            operator = "contains"
        return Filter(column, operator, operator == "null" or (value is not None and is_literal(value)))
    inner = (column_in(each, asked, file) for each in _PATH.findall(sides[0]) if given[0].type == "call_expression")
    column = next((each for each in inner if each), "")
    return Filter(column, "function" if operator != "other" else operator) if column else None


def _begins_open(value: Node, file: SourceFile) -> bool:
    """Whether a pattern begins with a wildcard, here or where the variable is given it."""
    if value.type == "identifier":
        values = assigned_values(file.text(value), value, file)
        return any(_OPEN.match(file.text(each)) for each in values)
    return _OPEN.match(file.text(value)) is not None


def _of_text(text: str, asked: Asked, file: SourceFile) -> Iterator[Filter | None]:
    """The conditions of a template: columns that stand in it take their names, values become placeholders."""
    values: list[str] = []

    def named(part: re.Match[str]) -> str:
        column = column_in(part[1].strip(), asked, file)
        if not column:
            values.append(part[1])
        return column or "?"

    found = [*conditions_in(_PART.sub(named, text), "", values)]
    yield from found or (None,)


def _of_arrow(node: Node, asked: Asked, file: SourceFile, depth: int) -> Iterator[Filter | None]:
    body = node.child_by_field_name("body")
    if body is not None and body.type == "statement_block":
        returned = [each for each in body.named_children if each.type == "return_statement"]
        body = returned[0].named_children[0] if len(returned) == 1 and returned[0].named_child_count else None
    yield from _read(body, callback(node, asked, file), file, depth + 1)


def _held(name: Node, asked: Asked, file: SourceFile, depth: int) -> Iterator[Filter | None]:
    """What a variable holds that the function gives a value once."""
    if file.text(name) == "undefined":
        return
    values = assigned_values(file.text(name), name, file)
    if len(values) == 1 and values[0].type == "call_expression":
        yield from _read(values[0], asked, file, depth + 1)
    else:
        yield None


def _spread(node: Node, asked: Asked, file: SourceFile, depth: int) -> Iterator[Filter | None]:
    """`and(...conditions)`: those that the list begins with, and any others."""
    inner = node.named_children[0] if node.named_child_count else None
    values = assigned_values(file.text(inner), inner, file) if inner is not None and inner.type == "identifier" else []
    listed = object_given(values[0], file) if len(values) == 1 else inner
    for each in listed.named_children if listed is not None and listed.type == "array" else ():
        yield from _read(each, asked, file, depth + 1)
    yield None
