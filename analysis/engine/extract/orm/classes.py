"""Model classes of TypeScript by their decorators: TypeORM, sequelize-typescript, Mongoose by way of Nest."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.orm.options import elements, options_of, pairs
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Access, Column, Model, Relation

_TARGET = re.compile(r"=>\s*\(?\s*(?:\w+\.)?([A-Z]\w*)|^[\"'](\w+)[\"']|^([A-Z]\w*)$")
_REVERSE = re.compile(r"=>\s*\w+[?!]?\.(\w+)")
_TO_ONE = frozenset({"ManyToOne", "OneToOne", "BelongsTo", "HasOne"})
_TO_MANY = frozenset({"OneToMany", "ManyToMany", "HasMany", "BelongsToMany"})
_COLUMNS = re.compile(r"(?:Column|Prop|ObjectIdColumn|IsEmail|ForeignKey|PrimaryKey|CreatedAt|UpdatedAt|DeletedAt)$")
_MARKS = ("Entity", "ViewEntity", "ChildEntity", "Table", "Schema")
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
    given = _decorators(node, file, with_parent=True)
    above = {each.name: each for each in given}
    mark = next((above[each] for each in _MARKS if each in above), None)
    columns: list[Column] = []
    relations: list[Relation] = []
    body = node.child_by_field_name("body")
    for each in body.named_children if body is not None else ():
        if each.type in ("public_field_definition", "method_definition") and (on_field := _decorators(each, file)):
            _read_field(each, on_field, columns, relations, file)
    if mark is None and not columns and not relations:
        return None
    options = _options(mark, file)
    if mark is not None and (orm == "sequelize" or (orm == "mongoose" and "timestamps" in options)):
        known = {each.name for each in columns}
        columns += [Column(timed, "date") for timed in ("createdAt", "updatedAt") if timed not in known]
    return Model(
        orm=orm,
        name=name,
        table=_table(mark, options, file),
        line=file.line(file.dialect.name_node(node)),
        columns=tuple(columns),
        relations=tuple(_with_scope(relations, above.get("DefaultScope"))),
        indexes=(
            *(_index(each, file) for each in given if each.name in ("Index", "Unique")),
            *indexes_of(options.get("indexes"), file),
        ),
        abstract=mark is None,
        bases=file.headers[node.id].bases,
    )


def _index(decorator: Decorator, file: SourceFile) -> tuple[str, ...]:
    """The attributes of `@Index(["a", "b"])` or `@Index((order) => [order.a])`."""
    listed = next((argument for argument in decorator.arguments if argument.type == "array"), None)
    if listed is not None:
        return tuple(_STRINGS.findall(file.text(listed)))
    arrows: list[str] = re.findall(r"=>\s*\[?[^\]]*", decorator.text)
    return tuple(re.findall(r"\.(\w+)", " ".join(arrows)))


def _with_scope(relations: list[Relation], scope: Decorator | None) -> Iterator[Relation]:
    """The relations, eager where the default scope of the class includes them."""
    included = {each for match in _INCLUDED.findall(scope.text) for each in match} if scope is not None else set()
    for each in relations:
        is_included = each.name in included or each.target in included
        yield structs.replace(each, fetch="eager") if is_included else each


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
    related = next((each for each in given if each.name in _TO_ONE or each.name in _TO_MANY), None)
    if related is not None:
        relations.append(_relation(name, related, kind, line, file))
    elif any(_COLUMNS.search(each.name) for each in given):
        options = {key: _written(value, file) for each in given for key, value in _options(each, file).items()}
        columns.append(_column(name, kind, given, options, file, line))
        reference = options.get("ref", "").rpartition(".")[0] or options.get("ref", "")
        if reference:
            relations.append(Relation(name, "to_many" if "[" in kind else "to_one", reference, line=line))


def _column(
    name: str, kind: str, given: list[Decorator], options: dict[str, str], file: SourceFile, line: int
) -> Column:
    names = {each.name for each in given}
    decorator = next(each for each in given if _COLUMNS.search(each.name))
    first = next((each for each in decorator.arguments[:1] if each.type in ("string", "member_expression")), None)
    written = _written(first, file)
    is_key = not names.isdisjoint(_KEYS) or options.get("primaryKey") == "true"
    unique = "Unique" in names or options.get("unique") == "true"
    declared = options.get("type", "")
    return Column(
        name,
        declared or written or kind,
        nullable=options.get("nullable") == "true" or options.get("required") not in (None, "true"),
        unique=unique,
        indexed=is_key or unique or "Index" in names or options.get("index") == "true",
        primary_key=is_key,
        line=line,
        enumerated="enum" in options or "enum" in (declared.lower(), written),
        stored=options.get("name") or options.get("field", ""),
    )


def _written(value: Node | None, file: SourceFile) -> str:
    """The text of a value, that of a string without its quotes."""
    return file.text(value).strip("\"'`") if value is not None else ""


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
        one_to_one=decorator.name == "OneToOne",
    )


def indexes_of(node: Node | None, file: SourceFile) -> list[tuple[str, ...]]:
    """`indexes: [{ fields: ["a", "b"] }]` of Sequelize."""
    given = (value for each in elements(node) for key, value in pairs(each, file) if key == "fields")
    return [tuple(_STRINGS.findall(file.text(value))) for value in given if value is not None]
