"""Prisma: calls of the client, and models of schema files."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.orm.chains import chain_of, is_literal, query_at
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Column, Filter, Mark, Model, Relation

_CLIENT = re.compile(r"(?i)(?:^|\.)(?:\w*prisma\w*|tx|trx|db|\w*client)\.(\w+)$")
_OPERATIONS = {
    "findMany": "select",
    "findFirst": "select",
    "findFirstOrThrow": "select",
    "findUnique": "select",
    "findUniqueOrThrow": "select",
    "count": "count",
    "aggregate": "aggregate",
    "groupBy": "aggregate",
    "create": "insert",
    "createMany": "bulk_insert",
    "createManyAndReturn": "bulk_insert",
    "update": "update",
    "updateMany": "update",
    "upsert": "insert",
    "delete": "delete",
    "deleteMany": "delete",
}
_OPERATORS = {
    "equals": "eq",
    "in": "in",
    "lt": "range",
    "lte": "range",
    "gt": "range",
    "gte": "range",
    "contains": "contains",
    "endsWith": "contains",
    "startsWith": "like",
}


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`prisma.order.findMany({ where, take, include })`."""
    if not file.mentions(b"risma"):
        return iter(())
    chain = chain_of(call, file)
    client = _CLIENT.search(chain.base) if chain is not None and len(chain.steps) == 1 else None
    if chain is None or client is None:
        return iter(())
    name = chain.steps[0].name
    options = _options(call, file)
    file.queries.append(
        query_at(
            call,
            file,
            orm="prisma",
            model=client[1],
            operation=_OPERATIONS[name],
            terminal=name,
            filters=tuple(_filters(options.get("where"), file, "")),
            order=tuple(_keys(options.get("orderBy"), file)),
            limit=1 if name.startswith(("findFirst", "findUnique")) else _amount(options.get("take"), file),
            offset=_amount(options.get("skip"), file),
            eager=tuple(_keys(options.get("include"), file)),
            columns=tuple(_keys(options.get("select"), file)),
            variable=chain.variable,
        )
    )
    return iter(())


READERS = dict.fromkeys(_OPERATIONS, look)


def models(file: SourceFile) -> Iterator[Model]:
    """Models stand in schema files; see `schema`."""
    return iter(())


def _options(call: Node, file: SourceFile) -> dict[str, Node | None]:
    positional, _ = file.arguments(call)
    return dict(_pairs(positional[0], file)) if positional else {}


def _pairs(node: Node | None, file: SourceFile) -> Iterator[tuple[str, Node | None]]:
    for each in node.named_children if node is not None and node.type == "object" else ():
        key, value = each.child_by_field_name("key"), each.child_by_field_name("value")
        if each.type == "pair" and key is not None and value is not None:
            yield file.text(key).strip("\"'"), value
        elif each.type == "shorthand_property_identifier":
            yield file.text(each), None


def _keys(node: Node | None, file: SourceFile) -> Iterator[str]:
    for each in node.named_children if node is not None and node.type == "array" else (node,):
        for key, value in _pairs(each, file):
            if value is None or value.type != "false":
                yield key


def _filters(node: Node | None, file: SourceFile, path: str, depth: int = 0) -> Iterator[Filter]:
    for key, value in _pairs(node, file):
        if depth > 4:
            return
        if key in ("AND", "OR", "NOT"):
            for each in value.named_children if value is not None and value.type == "array" else (value,):
                yield from _filters(each, file, path, depth + 1)
        elif key in _OPERATORS and path:
            yield Filter(path, _OPERATORS[key], value is not None and is_literal(value))
        elif key in ("some", "every", "none", "is", "isNot"):
            yield from _filters(value, file, path, depth + 1)
        elif value is not None and value.type == "object":
            yield from _filters(value, file, f"{path}.{key}" if path else key, depth + 1)
        elif key not in ("mode", "not"):
            yield Filter(f"{path}.{key}" if path else key, "eq", value is not None and is_literal(value))


def _amount(node: Node | None, file: SourceFile) -> int:
    if node is None:
        return 0
    text = file.text(node)
    return int(text[:9]) if text.isdigit() else -1


# Schema files

_MODEL = re.compile(r"^model\s+(\w+)\s*\{([^}]*)\}", re.MULTILINE)
_FIELD = re.compile(r"^\s*(\w+)\s+(\w+)(\[\])?(\?)?(.*)$")
_BLOCK = re.compile(r"^\s*@@(index|unique|id|map)\(\s*(?:fields:\s*|name:\s*)?(\[[^\]]*\]|\"[^\"]*\")", re.MULTILINE)
_ON_DELETE = {"Cascade": "cascade", "Restrict": "restrict", "SetNull": "set_null", "NoAction": "no_action"}


def schema(source: str) -> tuple[Model, ...]:
    """Models of a `schema.prisma`."""
    blocks = [(match[1], match[2], source.count("\n", 0, match.start()) + 1) for match in _MODEL.finditer(source)]
    names = {name for name, _, _ in blocks}
    return tuple(_schema_model(name, body, line, names) for name, body, line in blocks)


def _schema_model(name: str, body: str, line: int, names: set[str]) -> Model:
    columns: list[Column] = []
    relations: list[Relation] = []
    for offset, text in enumerate(body.split("\n")):
        match = _FIELD.match(text.partition("//")[0])
        if match is None:
            continue
        field, kind, many, optional, rest = match.groups()
        if kind in names:
            on_delete = re.search(r"onDelete:\s*(\w+)", rest)
            relations.append(
                Relation(
                    field,
                    "to_many" if many else "to_one",
                    kind,
                    on_delete=_ON_DELETE.get(on_delete[1], "") if on_delete is not None else "",
                    line=line + offset,
                )
            )
        else:
            key, unique = "@id" in rest, "@unique" in rest
            columns.append(Column(field, kind, bool(optional), unique, unique or key, key, line + offset))
    found = _BLOCK.findall(body)
    table = next((value.strip('"') for kind, value in found if kind == "map"), "")
    indexes = tuple(tuple(re.findall(r"(\w+)(?:\([^)]*\))?", value)) for kind, value in found if kind != "map")
    return Model(
        orm="prisma",
        name=name,
        table=table,
        line=line,
        columns=tuple(columns),
        relations=tuple(relations),
        indexes=indexes,
    )
