"""Models of Django: classes with its fields, their relations and indexes."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import COMPUTED, Column, Model, Relation

_FIELD = re.compile(r"(?:^|\.)(\w+Field|ForeignKey|OneToOneField|ManyToManyField|GenericForeignKey)$")
_NOT_BASES = re.compile(
    r"Form|Serializer|ObjectType|Mutation|Input|FilterSet|Admin|Interface|\["
)  # they name fields too
_TO_ONE = frozenset({"ForeignKey", "OneToOneField", "ParentalKey"})
_TEXT = re.compile(r"[\"']([\w.]+)[\"']")


def models(file: SourceFile) -> Iterator[Model]:
    """Classes whose bases or fields are Django's."""
    if b"models" not in file.source:
        return
    for scope in file.scopes:
        if scope.kind == "class" and scope.node.type == "class_definition" and not scope.prefix.endswith("Meta."):
            model = _model(scope.node, scope.prefix.rstrip(".").rpartition(".")[2], file)
            if model is not None:
                yield model


_COMPUTED = re.compile(r"\b(?!\w*Index\b|\w*Constraint\b|Q\b|F\b)[A-Z]\w*\(\s*(?:[A-Z]\w*\(\s*)?[\"'](\w+)[\"']")
_INSIDE_INDEX = re.compile(r"\b(?:Gin|Gist|SpGist)Index\([^()]*?fields\s*=\s*[\[(]([^\])]*)")


def _model(node: Node, name: str, file: SourceFile) -> Model | None:
    header = file.headers[node.id]
    if any(_NOT_BASES.search(base) for base in header.bases):
        return None
    columns: list[Column] = []
    relations: list[Relation] = []
    has_model_field = False  # as in a class whose base is a model of the project
    for target, value in _assignments(node, file):
        callee = file.callee(value) if value.type == "call" else ""
        if (kind := _FIELD.search(callee)) is not None:
            _read_field(target, kind[1], value, file, columns, relations)
            has_model_field = has_model_field or callee.startswith("django.db.models.")
    is_model = any(base.endswith(("models.Model", "MPTTModel", "TimeStampedModel")) for base in header.bases)
    if not is_model and not has_model_field and not (columns and any("odel" in base for base in header.bases)):
        return None
    meta = next((each for each in _body(node) if _class_name(each, file) == "Meta"), None)
    options = {target: file.text(value) for target, value in _assignments(meta, file)} if meta is not None else {}
    return Model(
        orm="django",
        name=name,
        table=options.get("db_table", "").strip("\"'"),
        line=file.line(file.dialect.name_node(node)),
        columns=tuple(columns),
        relations=tuple(relations),
        indexes=_indexes(options),
        searchable=_searchable(options.get("indexes", "") + options.get("constraints", "")),
        abstract=options.get("abstract") == "True",
        bases=header.bases,
        managed=options.get("managed") != "False",
    )


def _read_field(
    name: str, kind: str, value: Node, file: SourceFile, columns: list[Column], relations: list[Relation]
) -> None:
    positional, keywords = file.arguments(value)
    options = {key: file.text(each) for key, each in keywords.items()}
    line = file.line(value)
    if kind in _TO_ONE or kind == "ManyToManyField":
        target = file.text(positional[0]) if positional else options.get("to", "")
        on_delete = options.get("on_delete", file.text(positional[1]) if len(positional) > 1 else "")
        relations.append(
            Relation(
                name,
                "to_one" if kind in _TO_ONE else "to_many",
                target.strip("\"'").rpartition(".")[2],
                options.get("related_name", "").strip("\"'"),
                on_delete.rpartition(".")[2].lower(),
                line=line,
                one_to_one=kind == "OneToOneField",
            )
        )
    if kind not in ("ManyToManyField", "GenericForeignKey"):
        unique = options.get("unique") == "True" or kind == "OneToOneField"
        key = options.get("primary_key") == "True"
        indexed = unique or key or (kind in _TO_ONE and options.get("db_index") != "False")
        indexed = indexed or options.get("db_index") == "True" or kind.endswith("SlugField")
        columns.append(
            Column(name, kind, options.get("null") == "True", unique, indexed, key, line, "choices" in options)
        )


def _indexes(options: dict[str, str]) -> tuple[tuple[str, ...], ...]:
    """Column lists of `indexes`, `constraints`, `unique_together` and `index_together`."""
    found: list[tuple[str, ...]] = []
    for text in re.findall(
        r"fields\s*=\s*[\[(]([^\])]*)[\])]", options.get("indexes", "") + options.get("constraints", "")
    ):
        found.append(tuple(name.lstrip("-") for name in re.findall(r"[\"'](-?\w+)[\"']", text)))
    for option in ("unique_together", "index_together"):
        for text in re.findall(r"[\[(]([^()\[\]]+)[\])]", options.get(option, "")):
            found.append(tuple(_TEXT.findall(text)))
    return tuple(each for each in found if each)


def _searchable(text: str) -> tuple[str, ...]:
    """Columns with an index on what a function makes of them, `Lower("email")`, or for what stands inside of a text."""
    inside = " ".join(_INSIDE_INDEX.findall(text))
    by_trigrams = "Gin" in text or "Gist" in text  # `GinIndex(OpClass(Upper("email"), …))`, or beside one
    computed = (name if by_trigrams else name + COMPUTED for name in _COMPUTED.findall(text))
    return (*computed, *_TEXT.findall(inside))


def _body(node: Node) -> list[Node]:
    body = node.child_by_field_name("body")
    return body.named_children if body is not None else []


def _assignments(node: Node, file: SourceFile) -> Iterator[tuple[str, Node]]:
    for statement in _body(node):
        inner = statement.child(0) if statement.type == "expression_statement" else None
        if inner is not None and inner.type == "assignment":
            left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
            if left is not None and right is not None and left.type == "identifier":
                yield file.text(left), right


def _class_name(node: Node, file: SourceFile) -> str:
    name = node.child_by_field_name("name") if node.type == "class_definition" else None
    return file.text(name) if name is not None else ""
