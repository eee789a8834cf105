"""Prisma: calls of the client, and models of schema files."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.orm.chains import chain_of, query_at
from analysis.engine.extract.orm.options import condition, conditions, keys, limit_of, options_of
from analysis.engine.extract.orm.steps import steps_after, takes_length
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Column, Filter, Mark, Model, Relation
from analysis.engine.readers.reading import assigned_values, followed

_CLIENT = re.compile(r"(?i)(?:^|\.)(?:\w*prisma\w*|tx|trx|db|\w*client)(?:\(\))?\.(\w+)$")
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
_ADDED = re.compile(rb"\.(\w+)\s*=(?![=>])")  # behind a variable: a property that it is given
_ENDED = re.compile(rb"\s*([,)])")


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
    after = steps_after(call.end_byte, file) if name == "findMany" else ()
    is_measured = (bool(after) and after[0].name == "length") or takes_length(call.start_byte, call.end_byte, file)
    file.queries.append(
        query_at(
            call,
            file,
            orm="prisma",
            model=client[1],
            operation=_OPERATIONS[name],
            terminal=name,
            filters=tuple(_conditions(options, call, file)),
            order=tuple(keys(options.get("orderBy"), file)),
            limit=1 if name.startswith(("findFirst", "findUnique")) else limit_of(options, "take", file),
            offset=limit_of(options, "skip", file),
            eager=tuple(keys(options.get("include"), file)),
            columns=tuple(keys(options.get("select"), file)),
            variable=chain.variable,
            counted="len" if is_measured else "",
        )
    )
    return iter(())


READERS = dict.fromkeys(_OPERATIONS, look)


def _conditions(options: dict[str, Node | None], call: Node, file: SourceFile) -> Iterator[Filter]:
    """The conditions of `where`; of a variable those that it has on every path."""
    if "where" not in options:
        return
    where = options["where"]
    if where is not None and where.type != "identifier":
        yield from conditions(where, file)
    else:
        yield from _held_by(file.text(where) if where is not None else "where", call, file)


def _held_by(name: str, call: Node, file: SourceFile) -> Iterator[Filter]:
    """The conditions of an object that the function makes before the call, `const where = { userId }`, and those that
    it adds outside of branches. None when the object is made again, or handed to a function that may change it."""
    made = assigned_values(name, call, file)
    if len(made) != 1 or made[0].type != "object":
        return
    start, end = made[0].end_byte, call.start_byte
    ends = followed(name.encode(), file.source, _ENDED, b"_.$", start, end)
    if any(_is_argument(match, file.source[start : match.start() - len(name)]) for match in ends):
        return
    yield from conditions(made[0], file)
    block = file.parent_of(file.statement_of(made[0]))
    for match in followed(name.encode(), file.source, _ADDED, b"_.$", start, end):
        added = file.tree.root_node.descendant_for_byte_range(match.start(), match.end())
        assignment = file.parent_of(added) if added is not None and added.type == "member_expression" else added
        value = assignment.child_by_field_name("right") if assignment is not None else None
        if assignment is not None and file.parent_of(file.statement_of(assignment)) == block:
            yield from condition(match[1].decode(), value, file)


def _is_argument(end: re.Match[bytes], before: bytes) -> bool:
    """Whether what ends here is an argument of a call, `f(where)`, and no short property of an object."""
    return before.rstrip().endswith((b"(", b",") if end[1] == b")" else b"(")


# Schema files

# The brace that ends a model stands alone; one in `@default("{}")` ends nothing.
_MODEL = re.compile(r"^model\s+(\w+)\s*\{([^\n}]*\}|.*?^\s*\})", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^\s*(?P<name>\w+)\s+(?P<kind>\w+)(?P<many>\[\])?(?P<optional>\?)?(?P<rest>.*)$")
_MAP = re.compile(r"@map\(\s*(?:name:\s*)?\"([^\"]+)\"")
_BLOCK = re.compile(r"^\s*@@(index|unique|id|map)\(\s*(?:fields:\s*|name:\s*)?(\[[^\]]*\]|\"[^\"]*\")", re.MULTILINE)
_SCALARS = frozenset(
    {"String", "Boolean", "Int", "BigInt", "Float", "Decimal", "DateTime", "Json", "Bytes", "Unsupported"}
)
_ON_DELETE = {"Cascade": "cascade", "Restrict": "restrict", "SetNull": "set_null", "NoAction": "no_action"}


def schema(source: str) -> tuple[Model, ...]:
    """Models of a `schema.prisma`."""
    blocks = [(match[1], match[2], source.count("\n", 0, match.start()) + 1) for match in _MODEL.finditer(source)]
    names = {name for name, _, _ in blocks}
    return tuple(_schema_model(name, body, line, names) for name, body, line in blocks)


def _schema_model(name: str, body: str, line: int, names: set[str]) -> Model:
    columns: list[Column] = []
    relations: list[Relation] = []
    for number, text in enumerate(body.split("\n"), line):
        match = _FIELD.match(text.partition("//")[0])
        if match is not None and match["kind"] in names:
            relations.append(_relation(match, number))
        elif match is not None:
            columns.append(_column(match, number))
    found = _BLOCK.findall(body)
    return Model(
        orm="prisma",
        name=name,
        table=next((value.strip('"') for kind, value in found if kind == "map"), ""),
        line=line,
        columns=tuple(columns),
        relations=tuple(relations),
        indexes=tuple(tuple(re.findall(r"(\w+)(?:\([^)]*\))?", value)) for kind, value in found if kind != "map"),
    )


def _relation(field: re.Match[str], line: int) -> Relation:
    on_delete = re.search(r"onDelete:\s*(\w+)", field["rest"])
    return Relation(
        field["name"],
        "to_many" if field["many"] else "to_one",
        field["kind"],
        on_delete=_ON_DELETE.get(on_delete[1], "") if on_delete is not None else "",
        line=line,
    )


def _column(field: re.Match[str], line: int) -> Column:
    kind, rest = field["kind"], field["rest"]
    key, unique = "@id" in rest, "@unique" in rest
    stored = _MAP.search(rest)
    return Column(
        field["name"],
        kind,
        nullable=bool(field["optional"]),
        unique=unique,
        indexed=unique or key,
        primary_key=key,
        line=line,
        enumerated=kind not in _SCALARS and not field["many"],
        stored=stored[1] if stored is not None else "",
    )
