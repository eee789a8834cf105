"""Entities of JPA by their annotations, on fields or on getters."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Column, Model, Relation

_TO_ONE = frozenset({"ManyToOne", "OneToOne"})
_TO_MANY = frozenset({"OneToMany", "ManyToMany", "ElementCollection"})
_KEYS = frozenset({"Id", "EmbeddedId"})
_MAPPING = _TO_ONE | _TO_MANY | _KEYS | {"Column"}  # on a getter: it stands for an attribute
_ENTITIES = frozenset({"Entity", "Document", "MappedSuperclass", "Embeddable"})
_NAME = re.compile(r"\bname\s*=\s*\"([^\"]+)\"")
_CONSTANT_NAME = re.compile(r"\bname\s*=\s*([\w.]+)\s*[,)]")
_CONSTANT_WORDS = (b"TABLE", b"VIEW", b"COLLECTION")
_CONSTANT = re.compile(rb"\bString\s+(\w*(?:TABLE|VIEW|COLLECTION)\w*)\s*=\s*\"([^\"\n]+)\"\s*;")
_TARGET = re.compile(r"<\s*(?:[\w.]+\s*,\s*)?(?:\? extends\s+)?(?:\w+\.)*(\w+)\s*>|^(?:\w+\.)*(\w+)$")
_TARGET_ENTITY = re.compile(r"targetEntity\s*=\s*(?:\w+\.)*(\w+)\.class")
_MAPPED = re.compile(r"mappedBy\s*=\s*\"(\w+)\"")
_COLUMN_LIST = re.compile(
    r"columnList\s*=\s*(?P<columns>\"[^\"]*\"|[\w.]+)"
    r"|@UniqueConstraint\([^()]*?columnNames\s*=\s*(?P<names>\{[^}]*\}|\"[^\"]*\"|[\w.]+)"
)
_CONSTANTS = re.compile(r"[A-Za-z_][\w.]*")
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
    for attribute, member in _attributes(node, file):
        given = annotations_of(member, file)
        if "Transient" in given:
            continue
        kind = next((each for each in given if each in _TO_ONE or each in _TO_MANY), "")
        if kind:
            relations.append(_relation(attribute, member, kind, given, file))
        else:
            columns.append(_column(attribute, member, given, file))
        mapping = given.get("JoinColumn" if kind else "Column", "")
        named.update((stored, attribute) for stored in (_name_in(mapping).lower(), _constant_in(mapping)) if stored)
    table = above.get("Table", "")
    own = re.sub(r"@(?:Index|UniqueConstraint)\([^()]*(?:\([^()]*\)[^()]*)*\)", "", table)
    return Model(
        orm="jpa",
        name=name,
        table=_name_in(own),
        line=file.line(file.dialect.name_node(node)),
        columns=tuple(columns),
        relations=tuple(relations),
        indexes=tuple(_indexes(table, named)),
        abstract="Entity" not in above,
        bases=file.headers[node.id].bases,
        table_constant=_constant_in(own),
    )


def _attributes(node: Node, file: SourceFile) -> Iterator[tuple[str, Node]]:
    """The attributes of a class by name, with the field or the getter that declares them."""
    body = node.child_by_field_name("body")
    for each in body.named_children if body is not None else ():
        if each.type == "field_declaration" and " static " not in f" {file.text(each)[:80]} ":
            declarator = each.child_by_field_name("declarator")
            field = declarator.child_by_field_name("name") if declarator is not None else None
            if field is not None:
                yield file.text(field), each
        elif each.type == "method_declaration" and (getter := each.child_by_field_name("name")) is not None:
            name = file.text(getter)
            if name.startswith("get") and len(name) > 3 and not _MAPPING.isdisjoint(annotations_of(each, file)):
                yield name[3].lower() + name[4:], each


def _relation(name: str, member: Node, kind: str, above: dict[str, str], file: SourceFile) -> Relation:
    text, declared = above[kind], _declared_type(member, file)
    eager = "EAGER" in text or (kind in _TO_ONE and "LAZY" not in text)
    cascades = _CASCADES.search(text) is not None
    line = _line_of(member, file)
    if cascades or (eager and kind in _TO_MANY):  # what loads or deletes the rows stands in the annotation
        line = file.lines.of(file.source.find(text.encode(), member.start_byte))
    batched = not _BATCHED.isdisjoint(above)
    target = _TARGET_ENTITY.search(text) or _TARGET.search(declared)
    mapped = _MAPPED.search(text)
    stored = _name_in(above.get("CollectionTable", "")) if kind == "ElementCollection" else ""
    return Relation(
        name,
        "to_one" if kind in _TO_ONE else "to_many",
        stored or (next((each for each in target.groups() if each), "") if target is not None else ""),
        mapped[1] if mapped is not None else "",
        "cascade" if cascades else "",
        "batch" if batched else "eager" if eager else "lazy",
        line,
        one_to_one=kind == "OneToOne",
    )


def _column(name: str, member: Node, above: dict[str, str], file: SourceFile) -> Column:
    text, kind = above.get("Column", ""), _declared_type(member, file)
    key = not _KEYS.isdisjoint(above)
    unique = re.search(r"\bunique\s*=\s*true", text) is not None or "NaturalId" in above
    is_text = "Lob" in above or re.search(r"(?i)columnDefinition\s*=\s*\"\s*\w*(?:text|json|blob)", text) is not None
    return Column(
        name,
        "text" if is_text else kind,
        nullable=re.search(r"\bnullable\s*=\s*false", text) is None and not key and kind[:1].isupper(),
        unique=unique,
        indexed=unique or key or "Index" in above,
        primary_key=key,
        line=_line_of(member, file),
        enumerated="Enumerated" in above,
        stored=_name_in(text),
    )


def _name_in(annotation: str) -> str:
    """The name that an annotation gives in the database, else nothing."""
    found = _NAME.search(annotation)
    return found[1].strip("`") if found is not None else ""


def _constant_in(annotation: str) -> str:
    """The constant that stands for the name in the database, as it is written."""
    found = _CONSTANT_NAME.search(annotation)
    return found[1] if found is not None else ""


def _declared_type(member: Node, file: SourceFile) -> str:
    kind = member.child_by_field_name("type")
    return file.text(kind) if kind is not None else ""


def _line_of(member: Node, file: SourceFile) -> int:
    return file.line(member.child_by_field_name("type") or member)


def _indexes(table: str, named: dict[str, str]) -> Iterator[tuple[str, ...]]:
    """The column lists of `@Table(indexes = …)` in the names of the attributes."""
    for match in _COLUMN_LIST.finditer(table):
        written = match["columns"] or match["names"]
        texts = [each for text in _TEXT.findall(written) for each in text.split(",")]
        names = [each.split()[0].strip("`").lower() for each in texts if each.strip()]
        constants = [] if names else [named[each] for each in _CONSTANTS.findall(written) if each in named]
        yield (*(named.get(each, _camel(each)) for each in names), *constants)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(each.title() for each in rest)
