"""SQLAlchemy: declarative models."""

import re
from collections.abc import Iterator

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.orm.chains import strings_in
from analysis.engine.extract.orm.steps import closing_bracket, parts_of
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import COMPUTED, Column, Model, Relation

_CASCADING = re.compile(
    r"ForeignKey\(\s*[\"'](?:\w+\.)?(\w+)\.\w+[\"'][^()]*\bondelete\s*=\s*[\"']CASCADE[\"']", re.IGNORECASE
)
# What a column without a type of its own holds: `price: Mapped[Optional[float]] = mapped_column()`.
_ANNOTATED = re.compile(r"\w+\s*:\s*[\w.]*Mapped\[(?:[\w.]*Optional\[)?\s*([\w.]+)")
_ENUMERATED = re.compile(r"(?i)(?:^|\W)\w*enum$|^ChoiceType$")
_INDEX = re.compile(r"\b(Index|UniqueConstraint)\(")
_INDEX_AT_THE_TOP = re.compile(rb"^(?:\w+\s*=\s*)?(?:\w+\.)?Index\(", re.MULTILINE)
_OF_A_CLASS = re.compile(r"\b([A-Z]\w*)\.")
_COLUMN = re.compile(r"(?:[\"'](\w+)[\"']|(?:\w+\.)*([a-z_]\w*)(?:\.(?:asc|desc)\(\))?)\s*\Z")
_COMPUTED = re.compile(r"(?:\w+\.)*func\.\w+\(\s*(?:\w+\.)?[\"']?(\w+)|[\s\S]*\btext\(\s*[\"']\w+\((\w+)\)")
_LONGEST_INDEX = 1_000  # bytes
_SEARCHES = re.compile(r"(?i)[\"'](?:gin|gist|fulltext)[\"']|_trgm_ops")
_BARE = re.compile(r"\[\s*[a-z_]\w*\s*\]|[a-z_]\w*\Z")  # columns of the class itself, by their names in its body
_SNAKE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAMED_BY_FLASK = re.compile(r"(?:^|\.)db\.Model$")


def models(file: SourceFile) -> Iterator[Model]:
    """Declarative classes: those with `__tablename__` or mapped columns."""
    if b"Column(" not in file.source and b"mapped_column(" not in file.source and b"__tablename__" not in file.source:
        return
    apart = _indexes_apart(file)
    for scope in file.scopes:
        if scope.kind == "class" and scope.node.type == "class_definition":
            model = _model(scope.node, scope.prefix.rstrip("."), file)
            if model is not None:
                yield _with_indexes(model, apart.get(model.name.rpartition(".")[2], []))


def _indexes_apart(file: SourceFile) -> dict[str, list[str]]:
    """By model the indexes that stand behind the classes: `Index("by_state", Order.state)`."""
    found: dict[str, list[str]] = {}
    for match in _INDEX_AT_THE_TOP.finditer(file.source):
        text = file.source[match.start() : match.end() + _LONGEST_INDEX].decode("utf-8", "replace")
        text = text[: closing_bracket(text, text.find("(") + 1) + 1]
        owner = _OF_A_CLASS.search(text, text.find("("))
        if owner is not None:
            found.setdefault(owner[1], []).append(text)
    return found


def _with_indexes(model: Model, texts: list[str]) -> Model:
    more = [each for text in texts for each in _indexes(text)]
    if not more:
        return model
    searched = (name for _, names in more for name in names)
    return structs.replace(
        model,
        indexes=(*model.indexes, *(names for names, _ in more)),
        searchable=(*model.searchable, *searched),
    )


def _model(node: Node, name: str, file: SourceFile) -> Model | None:
    table = ""
    columns: list[Column] = []
    relations: list[Relation] = []
    indexes: list[tuple[str, ...]] = []
    searchable: list[str] = []
    for field, statement, value in _attributes(node, file):
        callee = file.callee(value).rpartition(".")[2] if value is not None and value.type == "call" else ""
        if value is None:
            columns += _annotated(field, statement, file)
        elif field == "__tablename__":
            table = file.text(value).strip("\"'")
        elif field == "__table_args__" or callee == "Index":
            for names, searched in _indexes(file.text(value)):
                indexes.append(names)
                searchable += searched
        elif callee in ("Column", "mapped_column"):
            columns.append(_column(field, statement, value, file))
            relations += _cascading(field, value, file)
        elif callee == "relationship":
            relations.append(_relation(field, statement, value, file))
    if not table and not columns:
        return None
    keys = {each.name for each in columns}
    bases = file.headers[node.id].bases
    if not table and any(map(_NAMED_BY_FLASK.search, bases)) and b"__abstract__" not in file.source:
        table = _SNAKE.sub("_", name.rpartition(".")[2]).lower()
    return Model(
        orm="sqlalchemy",
        name=name,
        table=table,
        line=file.line(file.dialect.name_node(node)),
        columns=tuple(columns),
        relations=tuple(
            each if each.kind else structs.replace(each, kind=_kind(each.name, keys)) for each in relations
        ),
        indexes=tuple(indexes),
        searchable=tuple(searchable),
        abstract=not table,
        bases=bases,
    )


def _attributes(node: Node, file: SourceFile) -> Iterator[tuple[str, Node, Node | None]]:
    """What the body of a class assigns or annotates: name, statement, value (None for an annotation alone)."""
    body = node.child_by_field_name("body")
    for statement in body.named_children if body is not None else ():
        inner = statement.child(0) if statement.type == "expression_statement" else None
        target = inner.child_by_field_name("left") if inner is not None and inner.type == "assignment" else None
        if inner is not None and target is not None:
            yield file.text(target), statement, inner.child_by_field_name("right")


def _annotated(field: str, statement: Node, file: SourceFile) -> Iterator[Column]:
    """The column of `total: Mapped[int]`."""
    annotated = _ANNOTATED.match(file.text(statement))
    if annotated is not None:
        kind = annotated[1]
        yield Column(field, kind, line=file.line(statement), enumerated=bool(_ENUMERATED.search(kind)))


def _cascading(field: str, value: Node, file: SourceFile) -> Iterator[Relation]:
    """A foreign key whose rows the database deletes. Nothing can be read through it: for loading it counts as eager."""
    parent = _CASCADING.search(file.text(value))
    if parent is not None:
        yield Relation(field, "to_one", parent[1], on_delete="cascade", fetch="eager", line=file.line(value))


def _column(name: str, statement: Node, value: Node, file: SourceFile) -> Column:
    positional, keywords = file.arguments(value)
    options = {key: file.text(each) for key, each in keywords.items()}
    unique, key = options.get("unique") == "True", options.get("primary_key") == "True"
    kinds = [file.text(each).partition("(")[0].rpartition(".")[2] for each in positional if each.type != "string"]
    annotated = _ANNOTATED.match(file.text(statement))
    kinds += [annotated[1]] if annotated is not None else []
    return Column(
        name,
        kinds[0] if kinds else "",
        nullable=options.get("nullable", "True") == "True" and not key,
        unique=unique,
        indexed=unique or key or options.get("index") == "True",
        primary_key=key,
        line=file.line(value),
        enumerated=any(map(_ENUMERATED.search, kinds)),
        stored=next(iter(strings_in(positional[:1], file)), ""),
    )


def _relation(name: str, statement: Node, value: Node, file: SourceFile) -> Relation:
    positional, keywords = file.arguments(value)
    options = {key: file.text(each).strip("\"'") for key, each in keywords.items()}
    annotation = re.search(r"Mapped\[(.*)\]\s*=", file.text(statement))
    named = re.findall(r"[A-Z]\w+", annotation[1] if annotation is not None else "")
    target = next(iter(strings_in(positional, file)), "") or (file.text(positional[0]) if positional else "")
    target = target or next((each for each in named if each not in ("List", "Optional", "Set")), "")
    kind = ""
    if annotation is not None:
        kind = "to_many" if re.search(r"\b([Ll]ist|[Ss]et)\b", annotation[1]) else "to_one"
    elif "secondary" in options and options.get("uselist") != "False":
        kind = "to_many"
    elif options.get("uselist") == "False" or _BARE.match(options.get("foreign_keys", "")) or "remote_side" in options:
        kind = "to_one"
    return Relation(
        name,
        kind,
        target.rpartition(".")[2],
        options.get("back_populates", options.get("backref", "")),
        "cascade" if re.search(r"\b(all|delete)\b", options.get("cascade", "")) else "",
        {"False": "joined", "True": "select"}.get(options.get("lazy", ""), options.get("lazy", "")),
        file.line(value),
    )


def _kind(name: str, columns: set[str]) -> str:
    """A relation whose key stands in the class itself leads to one row."""
    return "to_one" if f"{name}_id" in columns else "to_many"


def _indexes(text: str) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The columns of each index in their order, and those that it finds inside of a text or of a function."""
    for match in _INDEX.finditer(text):
        arguments = parts_of(text[match.end() : closing_bracket(text, match.end())])
        if match[1] == "Index":
            arguments = arguments[1:]  # its name
        found = [_COLUMN.match(each.strip()) for each in arguments]
        names = tuple(each[1] or each[2] for each in found if each is not None)
        computed = filter(None, (_COMPUTED.match(each.strip()) for each in arguments))
        searched = [each[1] or each[2] for each in computed]
        if any(map(_SEARCHES.search, arguments)):
            yield names, [*searched, *names]
        else:
            yield names, [each + COMPUTED for each in searched]
