"""Entities of JPA by their annotations, on fields or on getters."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Column, Model, Relation

_TO_ONE = frozenset({"ManyToOne", "OneToOne"})
_TO_MANY = frozenset({"OneToMany", "ManyToMany", "ElementCollection"})
_KEYS = frozenset({"Id", "EmbeddedId"})
_ENTITIES = frozenset({"Entity", "Document", "MappedSuperclass", "Embeddable"})
_NAME = re.compile(r"\bname\s*=\s*\"([^\"]+)\"")
_CONSTANT_NAME = re.compile(r"\bname\s*=\s*([\w.]+)\s*[,)]")
_CONSTANT_WORDS = (b"TABLE", b"VIEW", b"COLLECTION")
_CONSTANT = re.compile(rb"\bString\s+(\w*(?:TABLE|VIEW|COLLECTION)\w*)\s*=\s*\"([^\"\n]+)\"\s*;")
_TARGET = re.compile(r"<\s*(?:[\w.]+\s*,\s*)?(?:\? extends\s+)?(?:\w+\.)*(\w+)\s*>|^(?:\w+\.)*(\w+)$")
_TARGET_ENTITY = re.compile(r"targetEntity\s*=\s*(?:\w+\.)*(\w+)\.class")
_MAPPED = re.compile(r"mappedBy\s*=\s*\"(\w+)\"")
_COLUMN_LIST = re.compile(
    r"columnList\s*=\s*\"([^\"]*)\"|@UniqueConstraint\([^()]*?columnNames\s*=\s*(\{[^}]*\}|\"[^\"]*\")"
)
_TEXT = re.compile(r"\"([^\"]+)\"")
_CASCADES = re.compile(r"CascadeType\.(?:ALL|REMOVE)|orphanRemoval\s*=\s*true")
_BATCHED = frozenset({"BatchSize", "Fetch"})


def models(file: SourceFile) -> Iterator[Model]:
    """Classes with `@Entity`, and those that entities extend."""
    if not any(map(file.mentions, (b"persistence", b"hibernate"))):
        return
    for scope in file.scopes:
        if scope.kind == "class" and scope.node.type == "class_declaration":
            above = annotations_of(scope.node, file)
            if not _ENTITIES.isdisjoint(above):
                yield _model(scope.node, scope.prefix.rstrip(".").rpartition(".")[2], above, file)


def table_constants(file: SourceFile) -> tuple[tuple[str, str], ...]:
    """Constants that may name a table, with their texts: `String ORDERS_TABLE = "orders"`."""
    if file.language != "java" or not any(map(file.mentions, _CONSTANT_WORDS)):
        return ()
    return tuple((name.decode(), text.decode("utf-8", "replace")) for name, text in _CONSTANT.findall(file.source))


def annotations_of(node: Node, file: SourceFile) -> dict[str, str]:
    """Annotations of a declaration by their last name, with their text."""
    first = node.child(0)
    if first is None or first.type != "modifiers":
        return {}
    found: dict[str, str] = {}
    for each in first.named_children:
        if each.type in ("annotation", "marker_annotation"):
            text = file.text(each)
            found[text.partition("(")[0].lstrip("@").rpartition(".")[2].strip()] = text
    return found


def _model(node: Node, name: str, above: dict[str, str], file: SourceFile) -> Model:
    columns: list[Column] = []
    relations: list[Relation] = []
    named: dict[str, str] = {}  # column of the database to attribute
    body = node.child_by_field_name("body")
    for each in body.named_children if body is not None else ():
        if each.type == "field_declaration":
            declarator = each.child_by_field_name("declarator")
            field = declarator.child_by_field_name("name") if declarator is not None else None
            if field is not None and " static " not in f" {file.text(each)[:80]} ":
                _read(file.text(field), each, columns, relations, named, file)
        elif each.type == "method_declaration" and (getter := each.child_by_field_name("name")) is not None:
            text = file.text(getter)
            if (
                text.startswith("get")
                and len(text) > 3
                and not _TO_ONE.union(_TO_MANY, _KEYS, ("Column",)).isdisjoint(annotations_of(each, file))
            ):
                _read(text[3].lower() + text[4:], each, columns, relations, named, file)
    table = above.get("Table", "")
    own = re.sub(r"@(?:Index|UniqueConstraint)\([^()]*(?:\([^()]*\)[^()]*)*\)", "", table)
    name_of_table, constant = _NAME.search(own), _CONSTANT_NAME.search(own)
    return Model(
        orm="jpa",
        name=name,
        table=name_of_table[1].strip("`") if name_of_table is not None else "",
        line=file.line(file.dialect.name_node(node)),
        columns=tuple(columns),
        relations=tuple(relations),
        indexes=tuple(_indexes(table, named)),
        abstract="Entity" not in above,
        bases=file.headers[node.id].bases,
        table_constant=constant[1] if constant is not None else "",
    )


def _read(
    name: str, node: Node, columns: list[Column], relations: list[Relation], named: dict[str, str], file: SourceFile
) -> None:
    above = annotations_of(node, file)
    if "Transient" in above:
        return
    kind_node = node.child_by_field_name("type")
    kind = file.text(kind_node) if kind_node is not None else ""
    line = file.line(kind_node if kind_node is not None else node)
    relation = next((each for each in above if each in _TO_ONE or each in _TO_MANY), "")
    join = _NAME.search(above.get("JoinColumn", ""))
    if relation:
        text = above[relation]
        eager = "EAGER" in text or (relation in _TO_ONE and "LAZY" not in text)
        cascades = _CASCADES.search(text) is not None
        if cascades or (eager and relation in _TO_MANY):  # what loads or deletes the rows stands in the annotation
            line = file.lines.of(file.source.find(text.encode(), node.start_byte))
        batched = not _BATCHED.isdisjoint(above)
        target = _TARGET_ENTITY.search(text) or _TARGET.search(kind)
        mapped = _MAPPED.search(text)
        relations.append(
            Relation(
                name,
                "to_one" if relation in _TO_ONE else "to_many",
                next((each for each in target.groups() if each), "") if target is not None else "",
                mapped[1] if mapped is not None else "",
                "cascade" if cascades else "",
                "batch" if batched else "eager" if eager else "lazy",
                line,
            )
        )
        if join is not None:
            named[join[1].lower()] = name
        return
    text = above.get("Column", "")
    key = not _KEYS.isdisjoint(above)
    nullable = re.search(r"\bnullable\s*=\s*false", text) is None and not key and kind[:1].isupper()
    unique = re.search(r"\bunique\s*=\s*true", text) is not None or "NaturalId" in above
    if "Lob" in above or re.search(r"columnDefinition\s*=\s*\"\s*\w*(?:text|json|blob)", text, re.IGNORECASE):
        kind = "text"
    written = _NAME.search(text)
    if written is not None:
        named[written[1].strip("`").lower()] = name
    is_enumerated = "Enumerated" in above
    columns.append(Column(name, kind, nullable, unique, unique or key or "Index" in above, key, line, is_enumerated))


def _indexes(table: str, named: dict[str, str]) -> Iterator[tuple[str, ...]]:
    """The column lists of `@Table(indexes = …)` in the names of the attributes."""
    for plain, listed in _COLUMN_LIST.findall(table):
        words = plain.split(",") if plain else _TEXT.findall(listed)
        names = [each.split()[0].strip('`"').lower() for each in words if each.strip()]
        yield tuple(named.get(each, _camel(each)) for each in names)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(each.title() for each in rest)
