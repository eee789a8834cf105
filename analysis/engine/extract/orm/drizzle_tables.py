"""Drizzle's tables: `pgTable("orders", { … }, (t) => [index("…").on(t.userId)])`, and relations declared beside them.

A table is called by the variable that holds it, as queries name it.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.orm.options import elements, pairs
from analysis.engine.extract.orm.steps import Step, assigned_to, parts_of, split
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import COMPUTED, Column, Model, Relation
from analysis.engine.readers.reading import given_values

_MAKERS = re.compile(r"(?:^|\.)(?:(?:pg|mysql|sqlite|singlestore|gel|cockroach|mssql)Table|create\w*Table)$")
_OF_SCHEMA = re.compile(rb"\b(\w+)\s*=\s*(?:pg|mysql|singlestore|gel|cockroach|mssql)Schema\(")
_MADE = re.compile(
    rb"\b(\w+)\s*=\s*(?:\w+\.)?(?:(?:pg|mysql|sqlite|singlestore|gel|cockroach|mssql)Table|create\w*Table)\("
)
_ALIASES = re.compile(rb"\b(\w+)\s*=\s*(?:alias|aliasedTable)\(\s*([\w.]+)")
_ENUMS = re.compile(rb"\b(\w+)\s*=\s*(?:\w+\.)?pgEnum\(")
_TEXT = re.compile(r"^[\"'`]([^\"'`]+)[\"'`]")
_POINTS_TO = re.compile(r"=>\s*\(?\s*(?:\w+\.)*(\w+)\.(\w+)")
_ON_DELETE = re.compile(r"onDelete\s*:\s*[\"']([\w ]+)[\"']")
_COLUMN = re.compile(r"^\s*(?:\w+\()?\s*\w+\.(\w+)\b(?!\s*\()")  # `t.createdAt`, `desc(t.createdAt)`
_COLUMNS = re.compile(r"\.(\w+)\b(?!\s*\()")
_COMPUTED = re.compile(r"\bsql\s*`|^\s*(?!(?:asc|desc)\b)\w+\(")
_FINDS_INSIDE = re.compile(r"(?i)^[\"'`](?:gin|gist|fulltext|hnsw|ivfflat)[\"'`]$")
_LISTED = re.compile(r"\bcolumns\s*:\s*\[([^\]]*)\]")
_MODE = re.compile(r"\bmode\s*:\s*[\"'](boolean|timestamp\w*|json)[\"']")
_TYPES = {"doublePrecision": "double precision", "json": "JSON", "jsonb": "JSONB", "float": "float"}
_INDEXES = frozenset({"index", "uniqueIndex", "unique", "primaryKey", "spatialIndex", "vectorIndex"})
_ALONE = frozenset({"uniqueIndex", "unique", "primaryKey"})  # of one column: no other row has its value


def models(file: SourceFile) -> Iterator[Model]:
    """The tables of a file, and the relations that it declares of tables of any file."""
    if not file.mentions(b"drizzle-orm"):
        return
    makers = {f"{name.decode()}.table" for name in _OF_SCHEMA.findall(file.source)}
    for call, name in zip(file.calls, file.call_names, strict=True):
        if _MAKERS.search(name) or name in makers:
            if (table := _table(call, file)) is not None:
                yield table
        elif name == "drizzle-orm.relations":
            yield from _declared(call, file)


@lru_cache(maxsize=1)
def tables_in(file: SourceFile) -> dict[str, str]:
    """Names of the file that stand for a table, with that table: its own, those that it imports as they are called
    there, and other names of one, `const parent = alias(users, "parent")`. Kept for the file that was asked last."""
    found = {local: full.rpartition(".")[2] for local, full in file.bindings.items()}
    made = _MADE.findall(file.source) if file.mentions(b"Table(") else ()
    found.update((name.decode(), name.decode()) for name in made)
    for name, table in _ALIASES.findall(file.source) if file.mentions(b"alias") else ():
        written = table.decode().rpartition(".")[2]
        found[name.decode()] = found.get(written, written)
    return found


def table_named(path: list[str], file: SourceFile) -> str:
    """The table that a path stands for, `orders` or `schema.orders`; empty when it may be anything. What is called a
    schema may be handed over."""
    known = tables_in(file).get(path[0], "")
    if len(path) == 1:
        return known
    return path[1] if len(path) == 2 and (known or path[0].endswith(("schema", "Schema"))) else ""


def _table(call: Node, file: SourceFile) -> Model | None:
    positional = file.arguments(call)[0]
    named = _TEXT.match(file.text(positional[0])) if positional else None
    listed = object_given(positional[1], file) if len(positional) > 1 else None
    if named is None or listed is None:
        return None
    is_mysql = "mysql" in file.callee(call)
    read = [_column(key, value, file, is_mysql=is_mysql) for key, value in _columns(listed, file)]
    columns = {column.name: column for column, _ in read}
    relations = [relation for _, relation in read if relation is not None]
    indexes: list[tuple[str, ...]] = []
    searchable: list[str] = []
    for written in _beside(positional[2], file) if len(positional) > 2 else ():
        if written[0].name == "foreignKey":
            relations += _foreign(written)
        elif written[0].name in _INDEXES:
            _read_index(written, columns, indexes, searchable)
    return Model(
        orm="drizzle",
        name=assigned_to(call.start_byte, file) or named[1],
        table=named[1],
        line=file.line(call),
        columns=tuple(columns.values()),
        relations=tuple(relations),
        indexes=tuple(indexes),
        searchable=tuple(searchable),
    )


def object_given(node: Node, file: SourceFile) -> Node | None:
    """An object literal or an array: as it stands, or as what an arrow function gives back. None for anything else."""
    if node.type == "arrow_function":
        body = node.child_by_field_name("body")
        returned = _returned(body) if body is not None and body.type == "statement_block" else body
        return object_given(returned, file) if returned is not None else None
    if node.type in ("parenthesized_expression", "as_expression", "satisfies_expression") and node.named_child_count:
        return object_given(node.named_children[0], file)
    return node if node.type in ("object", "array") else None


def _returned(block: Node) -> Node | None:
    """What the only `return` of a block gives back."""
    found = [each for each in block.named_children if each.type == "return_statement"]
    return found[0].named_children[0] if len(found) == 1 and found[0].named_child_count else None


def _columns(listed: Node, file: SourceFile) -> Iterator[tuple[str, Node]]:
    """Columns by name, with those of objects of the file that are spread: `...timestamps`."""
    yield from ((key, value) for key, value in pairs(listed, file) if value is not None)
    for each in listed.named_children:
        inner = each.named_children[0] if each.type == "spread_element" and each.named_child_count else None
        if inner is not None and inner.type == "identifier":
            for shared in given_values(file.text(inner), file)[:1]:
                yield from ((key, value) for key, value in pairs(shared, file) if value is not None)


def _column(name: str, value: Node, file: SourceFile, *, is_mysql: bool) -> tuple[Column, Relation | None]:
    text = file.text(value)
    steps = split(text).steps
    kind, given = steps[0] if steps else Step(text, "")
    named = {step.name for step in steps}
    # Tables of one project share helpers for their keys, which are called as what they make.
    key, unique = "primaryKey" in named, "unique" in named
    stored = _TEXT.match(given.strip())
    column = Column(
        name,
        _type(kind, given, is_mysql=is_mysql),
        nullable=not key and "notNull" not in named,
        unique=unique,
        indexed=unique or key,
        primary_key=key,
        line=file.line(value),
        enumerated="Enum" in kind or "enum:" in given or kind in _enums_in(file),
        stored=stored[1] if stored is not None else "",
    )
    pointed = next((step.arguments for step in steps if step.name == "references"), "")
    target = _POINTS_TO.search(pointed)
    if target is None:
        return column, None
    line = file.line(value) + text[: text.find("references")].count("\n")
    return column, Relation(name, "to_one", target[1], on_delete=_deleted(pointed), line=line)


@lru_cache(maxsize=1)
def _enums_in(file: SourceFile) -> frozenset[str]:
    """The types that the file makes of a list of values. Kept for the file that was asked last."""
    return frozenset(name.decode() for name in _ENUMS.findall(file.source))


def _type(kind: str, given: str, *, is_mysql: bool) -> str:
    """The type as SQL has it; PostgreSQL and SQLite keep strings of any length as texts."""
    mode = _MODE.search(given)
    if mode is not None and kind in ("int", "integer", "blob", "text"):
        return mode[1].partition("_")[0]
    return "string" if kind == "text" and not is_mysql else _TYPES.get(kind, kind)[:40]


def _deleted(options: str) -> str:
    found = _ON_DELETE.search(options)
    return found[1].replace(" ", "_") if found is not None else ""


def _beside(node: Node, file: SourceFile) -> Iterator[tuple[Step, ...]]:
    """The chains of the third argument: indexes, keys and checks, in an array or an object."""
    listed = object_given(node, file)
    values = (value for _, value in pairs(listed, file)) if listed is not None and listed.type == "object" else ()
    for each in values if listed is None or listed.type == "object" else elements(listed):
        steps = split(file.text(each)).steps if each is not None else ()
        if steps:
            yield steps


def _read_index(
    steps: tuple[Step, ...], columns: dict[str, Column], indexes: list[tuple[str, ...]], searchable: list[str]
) -> None:
    """`index("…").on(t.a, t.b)`, `.using("gin", t.a)`, `primaryKey({ columns: [t.a, t.b] })`, `unique().on(t.a)`."""
    listed = _LISTED.search(steps[0].arguments)
    parts = parts_of(listed[1]) if listed is not None else parts_of(steps[0].arguments)
    is_inside = steps[0].name in ("spatialIndex", "vectorIndex")
    for step in steps[1:]:
        if step.name in ("on", "onOnly", "using"):
            parts = parts_of(step.arguments)
            is_inside = is_inside or (step.name == "using" and any(map(_FINDS_INSIDE.match, parts[:1])))
    keys = [part for part in parts if not _TEXT.match(part)]
    if is_inside or any(map(_COMPUTED.search, keys)):
        found = [name for key in keys for name in _COLUMNS.findall(key)[:1]]
        searchable += found if is_inside else [name + COMPUTED for name in found]
        return
    names = tuple(match[1] for match in map(_COLUMN.match, keys) if match is not None)
    if not names:
        return
    is_partial = any(step.name == "where" for step in steps)
    known = columns.get(names[0]) if len(names) == 1 else None
    if known is not None and steps[0].name in _ALONE and not is_partial:
        columns[names[0]] = structs.replace(
            known, unique=True, indexed=True, primary_key=known.primary_key or steps[0].name == "primaryKey"
        )
    else:
        indexes.append(names)


def _foreign(steps: tuple[Step, ...]) -> Iterator[Relation]:
    """`foreignKey({ columns: [t.a], foreignColumns: [other.id] }).onDelete("cascade")`."""
    own = _LISTED.search(steps[0].arguments)
    other = re.search(r"\bforeignColumns\s*:\s*\[\s*(\w+)\.", steps[0].arguments)
    names = _COLUMNS.findall(own[1]) if own is not None else []
    deleted = next((step.arguments.strip(" \n\t\"'") for step in steps if step.name == "onDelete"), "")
    if other is not None and len(names) == 1:
        yield Relation(names[0], "to_one", other[1], on_delete=deleted.replace(" ", "_"))


def _declared(call: Node, file: SourceFile) -> Iterator[Model]:
    """`relations(users, ({ one, many }) => ({ posts: many(posts) }))` adds relations to a table of any file."""
    positional = file.arguments(call)[0]
    listed = object_given(positional[1], file) if len(positional) > 1 else None
    if listed is None:
        return
    found = []
    for key, value in pairs(listed, file):
        steps = split(file.text(value)).steps if value is not None else ()
        target = next(iter(parts_of(steps[0].arguments)), "").rpartition(".")[2] if steps else ""
        if target and steps[0].name in ("one", "many"):
            kind = "to_many" if steps[0].name == "many" else "to_one"
            found.append(Relation(key, kind, target, line=file.line(value) if value is not None else 0))
    owner = file.resolve(file.text(positional[0])).rpartition(".")[2]
    yield Model("drizzle", owner, "", file.line(call), relations=tuple(found), abstract=True)
