"""Sequelize models that are no decorated classes: `define`, `init`, associations, and indexes of migrations."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.orm.classes import indexes_of
from analysis.engine.extract.orm.options import options_of, pairs
from analysis.engine.extract.orm.steps import assigned_to, text_of_callee
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Column, Mark, Model, Relation

_ASSOCIATIONS = {"hasMany": "to_many", "belongsToMany": "to_many", "hasOne": "to_one", "belongsTo": "to_one"}
_INCLUDED = re.compile(
    r"\b(?:association\s*:\s*[\"'](\w+)|as\s*:\s*[\"'](\w+)|model\s*:\s*(?:\w+\.)*(\w+)|include\s*:\s*\[?\s*[\"'](\w+)[\"'])"
)


def look_at_definition(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`sequelize.define("Order", { … }, { … })` and `Order.init({ … }, { sequelize, … })`."""
    if not file.mentions(b"equelize"):
        return iter(())
    receiver, _, verb = text_of_callee(call, file).rpartition(".")
    positional = file.arguments(call)[0]
    name = receiver.rpartition(".")[2]
    if verb == "define" and positional and positional[0].type == "string":
        name = file.text(positional[0]).strip("\"'`")
        positional = positional[1:]
    if positional and positional[0].type == "object" and (verb == "define" or name[:1].isupper()):
        file.models.append(_model(name, call, positional, file))
    return iter(())


def _model(name: str, call: Node, positional: list[Node], file: SourceFile) -> Model:
    options = options_of(positional[1] if len(positional) > 1 else None, file)
    texts = {key: file.text(value) if value is not None else "" for key, value in options.items()}
    columns = [_column(key, value, file) for key, value in pairs(positional[0], file)]
    if all(not each.primary_key for each in columns):
        columns.append(Column("id", "INTEGER", False, True, True, True))
    if texts.get("timestamps") != "false":
        columns += [Column("createdAt", "DATE"), Column("updatedAt", "DATE")]
    table = texts.get("tableName", "").strip("\"'`")
    name = texts["modelName"].strip("\"'`") if texts.get("modelName", "")[:1] in ("'", '"') else name
    if not table and texts.get("freezeTableName") == "true":
        table = name
    return Model(
        orm="sequelize",
        name=name,
        table=table,
        line=file.line(call),
        columns=tuple(columns),
        relations=tuple(
            Relation(included, "", included, fetch="eager", line=_line_of(included, options, file))
            for match in _INCLUDED.findall(texts.get("defaultScope", ""))
            for included in match
            if included
        ),
        indexes=tuple(_in_words_of(columns, each) for each in indexes_of(options.get("indexes"), file)),
        known_as=held if (held := assigned_to(call.start_byte, file))[:1].isupper() and held != name else "",
    )


def _in_words_of(columns: list[Column], index: tuple[str, ...]) -> tuple[str, ...]:
    """An index by the attributes of the model, where it names columns: `device_id` is `deviceId`."""
    known = {_folded(stored): each.name for each in columns for stored in (each.stored, each.name) if stored}
    return tuple(known.get(_folded(name), name) for name in index)


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


def _line_of(included: str, options: dict[str, Node | None], file: SourceFile) -> int:
    """Where the default scope names a relation."""
    scope = options["defaultScope"]
    return file.lines.of(file.source.find(included.encode(), scope.start_byte)) if scope is not None else 0


def _column(name: str, value: Node | None, file: SourceFile) -> Column:
    options = {key: file.text(each) if each is not None else "" for key, each in pairs(value, file)}
    kind = options.get("type", "") or (file.text(value) if value is not None else "")
    key, unique = options.get("primaryKey") == "true", options.get("unique", "false") != "false"
    line = file.line(value) if value is not None else 0
    return Column(
        name,
        kind.rpartition(".")[2][:40],
        nullable=options.get("allowNull") != "false" and not key,
        unique=unique,
        indexed=unique or key,
        primary_key=key,
        line=line,
        enumerated=kind.rpartition(".")[2].startswith("ENUM"),
        stored=options.get("field", "").strip("\"'`"),
    )


def look_at_association(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`Order.hasMany(Line, { as: "lines" })` adds a relation to a model that may be defined elsewhere."""
    receiver, _, verb = text_of_callee(call, file).rpartition(".")
    owner = receiver.rpartition(".")[2]
    positional = file.arguments(call)[0]
    if not positional or not owner or not positional[0].type.endswith(("identifier", "member_expression")):
        return iter(())
    target = file.text(positional[0]).rpartition(".")[2]
    options = options_of(positional[1] if len(positional) > 1 else None, file)
    named = options.get("as")
    deleted = options.get("onDelete")
    kind = _ASSOCIATIONS[verb]
    name = file.text(named).strip("\"'`") if named is not None else _default_name(target, kind)
    relation = Relation(
        name,
        kind,
        target,
        on_delete=file.text(deleted).strip("\"'`").lower() if deleted is not None else "",
        line=file.line(call),
    )
    file.models.append(Model("sequelize", owner, "", file.line(call), relations=(relation,), abstract=True))
    return iter(())


def _default_name(target: str, kind: str) -> str:
    return target + "s" if kind == "to_many" and not target.endswith("s") else target


def look_at_index(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`queryInterface.addIndex("orders", ["a", "b"])` of a migration adds to a table."""
    positional = file.arguments(call)[0]
    table = file.text(positional[0]).strip("\"'`") if positional and positional[0].type == "string" else ""
    columns: tuple[str, ...] = ()
    for each in positional[1:]:
        fields = each if each.type == "array" else options_of(each, file).get("fields")
        if fields is not None:
            columns = columns or tuple(re.findall(r"[\"'`](\w+)[\"'`]", file.text(fields)))
    if table and columns:
        file.models.append(Model("ddl", table, table, file.line(call), indexes=(columns,)))
    return iter(())


READERS = {
    **dict.fromkeys(("define", "init"), look_at_definition),
    **dict.fromkeys(_ASSOCIATIONS, look_at_association),
    **dict.fromkeys(("addIndex", "addConstraint"), look_at_index),
}
