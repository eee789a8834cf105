"""Mongoose schemas: `new Schema({ … })`, `schema.index(…)`, and the models that they are given to."""

import re
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from analysis.engine.extract.orm.options import elements, options_of, pairs
from analysis.engine.extract.orm.script_models import held_as
from analysis.engine.extract.orm.steps import assigned_to, text_of_callee
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Column, Mark, Model, Relation

DEEPEST = 3  # levels of nested documents that are read
LONGEST_HEAD = 120  # bytes before a schema that name the model which it is written for

_MODELS = re.compile(rb"[mM]odel(?:<[^;()]*>)?\(\s*[\"'](\w+)[\"']\s*,\s*(\w+)")
_GIVEN_TO = re.compile(rb"[mM]odel(?:<[^;()]*>)?\(\s*[\"'](\w+)[\"']\s*,\s*\Z")
_CREATED = re.compile(rb"\b(\w+)\s*=\s*SchemaFactory\.createForClass\(\s*(\w+)")
_REFERENCE = re.compile(r"^[\"'`](\w+)[\"'`]$|^(?:\w+\.)?([A-Z]\w*)(?:\.name)?$")


def look_at_schema(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`new Schema({ email: { type: String, unique: true } }, { timestamps: true })`."""
    positional = file.arguments(call)[0]
    if not file.mentions(b"ongoose") or not positional or positional[0].type != "object":
        return iter(())
    name = _model_around(call, file)
    if not name:
        return iter(())  # a schema inside of another
    columns: list[Column] = [Column("_id", "ObjectId", False, True, True, True)]
    relations: list[Relation] = []
    for key, value in pairs(positional[0], file):
        _read(key, value, columns, relations, file, 0)
    options = options_of(positional[1] if len(positional) > 1 else None, file)
    if "timestamps" in options:
        columns += [Column("createdAt", "Date"), Column("updatedAt", "Date")]
    collection = options.get("collection")
    table = file.text(collection).strip("\"'`") if collection is not None and collection.type == "string" else ""
    model = Model(
        "mongoose", name, table, file.line(call), tuple(columns), tuple(relations), known_as=held_as(name, file)
    )
    file.models.append(model)
    return iter(())


def _model_around(call: Node, file: SourceFile) -> str:
    """The model that a schema is written for: by its variable, or by the call that it stands in."""
    variable = assigned_to(call.start_byte, file)
    if variable:
        return _model_of(variable, file)
    given = _GIVEN_TO.search(file.source, max(0, call.start_byte - LONGEST_HEAD), call.start_byte)
    return given[1].decode() if given is not None else ""


def _read(
    name: str, value: Node | None, columns: list[Column], relations: list[Relation], file: SourceFile, depth: int
) -> None:
    is_many = value is not None and value.type == "array"
    inner = next(iter(elements(value)), None) if is_many else value
    line = file.line(value) if value is not None else 0
    options = dict(pairs(inner, file))
    texts = {key: file.text(each) if each is not None else "" for key, each in options.items()}
    if options and "type" not in texts and "ref" not in texts:
        for key, each in options.items() if depth < DEEPEST else ():
            _read(f"{name}.{key}", each, columns, relations, file, depth + 1)
        return
    kind = texts.get("type", "") or (file.text(inner) if inner is not None else "")
    unique = texts.get("unique") == "true"
    indexed = unique or texts.get("index", "false") != "false" or texts.get("sparse") == "true"
    required = texts.get("required", "false") != "false"
    columns.append(
        Column(
            name,
            kind.rpartition(".")[2][:40] if not is_many else "array",
            not required,
            unique,
            indexed,
            False,
            line,
            "enum" in texts,
        )
    )
    reference = _REFERENCE.match(texts.get("ref", ""))
    if reference is not None:
        is_many = is_many or kind.startswith("[")
        relations.append(Relation(name, "to_many" if is_many else "to_one", reference[1] or reference[2], line=line))


def look_at_index(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`schema.index({ owner: 1, createdAt: -1 })`, also with a text index."""
    receiver = text_of_callee(call, file).rpartition(".")[0]
    positional = file.arguments(call)[0]
    if not file.mentions(b"ongoose") or not receiver.isidentifier() or not positional or positional[0].type != "object":
        return iter(())
    given = [(key, file.text(value) if value is not None else "") for key, value in pairs(positional[0], file)]
    name = _model_of(receiver, file)
    if name and given:
        searchable = tuple(key for key, kind in given if "text" in kind)
        plain = tuple(key for key, kind in given if "text" not in kind)
        file.models.append(
            Model(
                "mongoose",
                name,
                "",
                file.line(call),
                indexes=(plain,) if plain else (),
                abstract=True,
                searchable=searchable,
            )
        )
    return iter(())


def _model_of(schema: str, file: SourceFile) -> str:
    """The model that a schema is for: as the file says, else by the variable's name."""
    known = _given(file).get(schema)
    if known is not None:
        return known
    name = re.sub(r"_?[sS]chema$", "", schema).lstrip("_")
    return name[:1].upper() + name[1:]


@lru_cache(maxsize=1)
def _given(file: SourceFile) -> dict[str, str]:
    found = {schema.decode(): name.decode() for name, schema in _MODELS.findall(file.source)}
    found.update((schema.decode(), name.decode()) for schema, name in _CREATED.findall(file.source))
    return found


READERS = {"Schema": look_at_schema, "index": look_at_index}


def models(file: SourceFile) -> Iterator[Model]:
    """What stands in schemas is read with their calls; see `sequelize.models`."""
    return iter(())
