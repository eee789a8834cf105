"""Model classes of TypeScript by their decorators: TypeORM, sequelize-typescript, Mongoose by way of Nest."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.orm.options import elements, options_of, pairs
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Access, Column, Model, Relation

_TARGET = re.compile(r"=>\s*\(?\s*(?:\w+\.)?([A-Z]\w*)|^[\"'](\w+)[\"']|^([A-Z]\w*)$")
_REVERSE = re.compile(r"=>\s*\w+[?!]?\.(\w+)")
_TO_ONE = frozenset({"ManyToOne", "OneToOne", "BelongsTo", "HasOne"})
_TO_MANY = frozenset({"OneToMany", "ManyToMany", "HasMany", "BelongsToMany"})
_COLUMNS = re.compile(r"(?:Column|Prop|ObjectIdColumn|IsEmail|ForeignKey|PrimaryKey|CreatedAt|UpdatedAt|DeletedAt)$")
_KEYS = frozenset({"PrimaryColumn", "PrimaryGeneratedColumn", "ObjectIdColumn", "PrimaryKey"})
_STRINGS = re.compile(r"[\"'`](\w+)[\"'`]")
_INCLUDED = re.compile(r"\b(?:association\s*:\s*[\"'](\w+)|model\s*:\s*(\w+)|as\s*:\s*[\"'](\w+))")
_HERITAGE = re.compile(r"\bextends\s+(?:\w+\.)?\w*Repository\s*<\s*([\w.]+)")
_SUPER = re.compile(r"\bsuper\(\s*([A-Z]\w*)\s*[,)]")
_SUFFIX = re.compile(r"(?:DBModel|Entity|Document)$")
_DELETED = re.compile(r"onDelete\s*:\s*[\"'](\w[\w ]*)[\"']")


class Decorator(NamedTuple):
    name: str
    arguments: list[Node]
    text: str
    line: int


def models(file: SourceFile) -> Iterator[Model]:
    """Classes with `@Entity`, `@Table` or `@Schema`, and those with columns that others extend."""
    if not any(map(file.mentions, (b"@Entity", b"Column", b"@Table", b"@Schema", b"Entity("))):
        return
    orm = _orm(file)
    for scope in file.scopes if orm else ():
        if scope.kind == "class":
            model = _model(scope.node, scope.prefix.rstrip("."), orm, file)
            if model is not None:
                yield model


def accesses(file: SourceFile) -> Iterator[Access]:
    """Classes that extend a repository of one entity."""
    if not file.mentions(b"Repository<"):
        return
    for scope in file.scopes:
        if scope.kind == "class":
            text = file.text(scope.node)
            extended = _HERITAGE.search(text.partition("{")[0])
            if extended is not None:
                given = _SUPER.search(text)
                model = given[1] if given is not None else _SUFFIX.sub("", extended[1].rpartition(".")[2])
                yield Access(scope.prefix.rstrip("."), model, file.line(scope.node))


def _orm(file: SourceFile) -> str:
    if file.mentions(b"typeorm"):
        return "typeorm"
    if file.mentions(b"sequelize"):
        return "sequelize"
    return "mongoose" if file.mentions(b"mongoose") else ""


def _model(node: Node, name: str, orm: str, file: SourceFile) -> Model | None:
    above = {each.name: each for each in _decorators(node, file, with_parent=True)}
    mark = next(
        (above[each] for each in ("Entity", "ViewEntity", "ChildEntity", "Table", "Schema") if each in above), None
    )
    columns: list[Column] = []
    relations: list[Relation] = []
    indexes: list[tuple[str, ...]] = []
    body = node.child_by_field_name("body")
    for each in body.named_children if body is not None else ():
        if each.type in ("public_field_definition", "method_definition") and (given := _decorators(each, file)):
            _read_field(each, given, columns, relations, file)
    if mark is None and not columns and not relations:
        return None
    for decorator in _decorators(node, file, with_parent=True):
        if decorator.name in ("Index", "Unique"):
            listed = next((argument for argument in decorator.arguments if argument.type == "array"), None)
            found = (
                _STRINGS.findall(file.text(listed))
                if listed is not None
                else re.findall(r"=>\s*\[?[^\]]*", decorator.text)
            )
            indexes.append(tuple(found if listed is not None else re.findall(r"\.(\w+)", " ".join(found))))
    options = _options(mark, file)
    included = (
        {each for match in _INCLUDED.findall(above["DefaultScope"].text) for each in match}
        if "DefaultScope" in above
        else set()
    )
    if "indexes" in options:
        indexes += indexes_of(options["indexes"], file)
    is_timed = orm == "sequelize" or (orm == "mongoose" and "timestamps" in options)
    for timed in ("createdAt", "updatedAt") if is_timed and mark is not None else ():
        if all(each.name != timed for each in columns):
            columns.append(Column(timed, "date"))
    return Model(
        orm=orm,
        name=name,
        table=_table(mark, options, file),
        line=file.line(file.dialect.name_node(node)),
        columns=tuple(columns),
        relations=tuple(
            Relation(each.name, each.kind, each.target, each.reverse, each.on_delete, "eager", each.line)
            if each.name in included or each.target in included
            else each
            for each in relations
        ),
        indexes=tuple(each for each in indexes if each),
        abstract=mark is None,
        bases=file.headers[node.id].bases,
    )


def _table(mark: Decorator | None, options: dict[str, Node | None], file: SourceFile) -> str:
    for key in ("tableName", "name", "collection"):
        value = options.get(key)
        if value is not None and value.type == "string" and (key != "name" or mark is None or mark.name != "Table"):
            return file.text(value).strip("\"'")
    if mark is not None and mark.arguments and mark.arguments[0].type == "string":
        return file.text(mark.arguments[0]).strip("\"'")
    return ""


def _options(mark: Decorator | None, file: SourceFile) -> dict[str, Node | None]:
    return (
        next((options_of(each, file) for each in mark.arguments if each.type == "object"), {})
        if mark is not None
        else {}
    )


def _decorators(node: Node, file: SourceFile, *, with_parent: bool = False) -> list[Decorator]:
    nodes = [each for each in node.named_children if each.type == "decorator"]
    parent = node.parent if with_parent else None
    if parent is not None and parent.type == "export_statement":
        nodes += [each for each in parent.named_children if each.type == "decorator"]
    if not nodes and node.type == "method_definition":
        return []
    found = []
    for each in nodes:
        inner = each.named_child(0)
        called = inner.child_by_field_name("function") if inner.type == "call_expression" else inner
        arguments = file.arguments(inner)[0] if inner.type == "call_expression" else []
        found.append(
            Decorator(file.text(called or inner).rpartition(".")[2], arguments, file.text(each), file.line(each))
        )
    return found


def _read_field(
    node: Node, given: list[Decorator], columns: list[Column], relations: list[Relation], file: SourceFile
) -> None:
    name_node = node.child_by_field_name("name")
    annotated = node.child_by_field_name("type")
    if name_node is None:
        return
    name, line = file.text(name_node), file.line(name_node)
    kind = file.text(annotated).lstrip(": ") if annotated is not None else ""
    names = {each.name for each in given}
    for each in given:
        if each.name in _TO_ONE or each.name in _TO_MANY:
            relations.append(_relation(name, each, kind, line, file))
            return
    column = next((each for each in given if _COLUMNS.search(each.name)), None)
    if column is None:
        return
    options = {
        key: file.text(value) if value is not None else ""
        for each in given
        for key, value in _options(each, file).items()
    }
    written = next(
        (
            file.text(each).strip("\"'`")
            for each in column.arguments[:1]
            if each.type in ("string", "member_expression")
        ),
        "",
    )
    is_key = not names.isdisjoint(_KEYS) or options.get("primaryKey") == "true"
    unique = "Unique" in names or options.get("unique") == "true"
    indexed = is_key or unique or "Index" in names or options.get("index") == "true"
    reference = options.get("ref", "").strip("\"'").rpartition(".")[0] or options.get("ref", "").strip("\"'")
    columns.append(
        Column(
            name,
            options.get("type", "").strip("\"'`") or written or kind,
            options.get("nullable") == "true" or options.get("required") not in (None, "true"),
            unique,
            indexed,
            is_key,
            line,
            "enum" in options or "enum" in (options.get("type", "").strip("\"'`").lower(), written),
        )
    )
    if reference:
        relations.append(Relation(name, "to_many" if "[" in kind else "to_one", reference, line=line))


def _relation(name: str, decorator: Decorator, kind: str, line: int, file: SourceFile) -> Relation:
    first = file.text(decorator.arguments[0]) if decorator.arguments else ""
    target = _TARGET.search(first)
    reverse = _REVERSE.search(file.text(decorator.arguments[1])) if len(decorator.arguments) > 1 else None
    deleted = _DELETED.search(decorator.text)
    fetch = (
        "eager" if re.search(r"\beager\s*:\s*true", decorator.text) else "lazy" if kind.startswith("Promise<") else ""
    )
    return Relation(
        name,
        "to_one" if decorator.name in _TO_ONE else "to_many",
        next((each for each in target.groups() if each), "") if target is not None else "",
        reverse[1] if reverse is not None else "",
        deleted[1].lower().replace(" ", "_") if deleted is not None else "",
        fetch,
        decorator.line if fetch == "eager" or deleted is not None else line,
    )


def indexes_of(node: Node | None, file: SourceFile) -> list[tuple[str, ...]]:
    """`indexes: [{ fields: ["a", "b"] }]` of Sequelize."""
    found: list[tuple[str, ...]] = []
    for each in elements(node):
        for key, value in pairs(each, file):
            if key == "fields" and value is not None:
                found.append(tuple(_STRINGS.findall(file.text(value))))
    return [each for each in found if each]
