"""Prisma: calls of the client, and models of schema files."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.orm.chains import chain_of, query_at
from analysis.engine.extract.orm.options import amount, conditions, keys, options_of
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Column, Mark, Model, Relation

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


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`prisma.order.findMany({ where, take, include })`."""
    if not file.mentions(b"risma"):
        return iter(())
    chain = chain_of(call, file)
    client = _CLIENT.search(chain.base) if chain is not None and len(chain.steps) == 1 else None
    if chain is None or client is None:
        return iter(())
    name = chain.steps[0].name
    positional = file.arguments(call)[0]
    options = options_of(positional[0] if positional else None, file)
    file.queries.append(
        query_at(
            call,
            file,
            orm="prisma",
            model=client[1],
            operation=_OPERATIONS[name],
            terminal=name,
            filters=tuple(conditions(options.get("where"), file)),
            order=tuple(keys(options.get("orderBy"), file)),
            limit=1 if name.startswith(("findFirst", "findUnique")) else amount(options.get("take"), file),
            offset=amount(options.get("skip"), file),
            eager=tuple(keys(options.get("include"), file)),
            columns=tuple(keys(options.get("select"), file)),
            variable=chain.variable,
        )
    )
    return iter(())


READERS = dict.fromkeys(_OPERATIONS, look)


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
