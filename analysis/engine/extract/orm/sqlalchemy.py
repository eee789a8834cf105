"""SQLAlchemy: session queries, `select()` statements and declarative models."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.orm.chains import Chain, chain_of, query_at, strings_in
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Column, Filter, Mark, Model, Relation
from analysis.engine.rules.reading import followed

_SESSION = re.compile(r"(?i)(^|\.)(db\.)?_?\w*session(\(\))?$")
_TERMINALS = {
    "all": "select",
    "first": "select",
    "one": "select",
    "one_or_none": "select",
    "scalar": "select",
    "scalars": "select",
    "scalar_one": "select",
    "scalar_one_or_none": "select",
    "get": "select",
    "count": "count",
    "delete": "delete",
    "update": "update",
    "yield_per": "select",
}
_SINGLE = frozenset({"first", "one", "one_or_none", "scalar", "scalar_one", "scalar_one_or_none", "get"})
_OPERATORS = {"==": "eq", "!=": "other", "<": "range", "<=": "range", ">": "range", ">=": "range"}
_COMPARED = re.compile(r"\b[A-Z]\w*\.(\w+)\s*(==|!=|<=?|>=?)\s*(['\"\d]|True|False|None)?")
_METHOD = re.compile(
    r"\b[A-Z]\w*\.(\w+)\.(in_|not_in|notin_|like|ilike|contains|icontains|startswith|endswith|iendswith|is_|between)\("
    r"\s*([^\n]{0,60})"
)
_WRAPPED = re.compile(
    r"\b(?:func\.\w+|cast|extract)\(\s*(?:[\"']\w+[\"']\s*,\s*)?[A-Z]\w*\.(\w+)[^()]*\)\s*(?:==|!=|<=?|>=?|\.(?:in_|like|between)\()"
)
_LEADING = re.compile(r"[rf]{0,2}[\"']%")
_METHODS = {
    "in_": "in",
    "like": "like",
    "not_in": "other",
    "notin_": "other",
    "ilike": "contains",
    "contains": "contains",
    "icontains": "contains",
    "endswith": "contains",
    "iendswith": "contains",
    "startswith": "like",
    "is_": "null",
}
_EAGER = re.compile(r"\b(?:joinedload|selectinload|subqueryload|contains_eager)\(\s*(?:[\w.]*\.)?(\w+)")
_MODEL = re.compile(r"\b([A-Z]\w*)")
_TAKES = re.compile(
    rb"(?:\.(?:scalars|unique|mappings|tuples)\(\))*\.(all|first|one|one_or_none|scalar\w*|fetchall)\(\)"
)
LONGEST_WAY = 300  # bytes behind a statement in which its rows are taken
_CASCADING = re.compile(
    r"ForeignKey\(\s*[\"'](?:\w+\.)?(\w+)\.\w+[\"'][^()]*\bondelete\s*=\s*[\"']CASCADE[\"']", re.IGNORECASE
)


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`session.query(A).filter(...).all()`, `session.scalars(select(A))`, `A.query.filter_by(...).first()`."""
    chain = chain_of(call, file) if _uses_sqlalchemy(file) else None
    if chain is None:
        return iter(())
    first = chain.steps[0]
    on_session = _SESSION.search(chain.base) is not None
    if on_session and first.name in ("query", "execute", "scalars", "scalar", "get", "stream"):
        _append(chain, file)
    elif chain.base.endswith(".query") and chain.base[:1].isupper():
        _append(chain, file, model=chain.base.rpartition(".")[0].rpartition(".")[2])
    return iter(())


def look_at_session(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Flushes, commits and deletions of a session."""
    chain = chain_of(call, file) if _uses_sqlalchemy(file) else None
    if chain is not None and len(chain.steps) == 1 and _SESSION.search(chain.base):
        name = chain.steps[0].name
        operation = {"commit": "commit", "flush": "commit", "delete": "delete"}.get(name, "bulk_insert")
        file.queries.append(query_at(call, file, orm="sqlalchemy", model="", operation=operation, terminal=name))
    elif chain is not None:
        return look(call, file)
    return iter(())


READERS = {
    **dict.fromkeys((*_TERMINALS, "query", "execute", "stream"), look),
    **dict.fromkeys(
        ("commit", "flush", "delete", "bulk_save_objects", "bulk_insert_mappings", "add_all"), look_at_session
    ),
}


def _uses_sqlalchemy(file: SourceFile) -> bool:
    return file.mentions(b"sqlalchemy") or file.mentions(b"session") or file.mentions(b".query")


def _append(chain: Chain, file: SourceFile, model: str = "") -> None:
    text = file.text(chain.top)
    names = [step.name for step in chain.steps]
    raw = re.search(r"\b(select|insert|update|delete)\(", text)
    if not model:
        named = _MODEL.search(text.partition("(")[2].replace("text(", ""))
        model = named[1] if named is not None else ""
    if not model or (names[0] == "execute" and raw is None):
        return  # SQL text is the business of the `sql` adapter
    last = next((name for name in reversed(names) if name in _TERMINALS), "")
    operation = _TERMINALS.get(last, "select")
    if raw is not None and raw[1] != "select":
        operation = raw[1]
    terminal = last or (names[0] if names[0] != "query" else chain.terminal)
    if terminal == "execute" and operation == "select" and chain.variable:
        terminal = _taken(chain, file) or terminal
    limit = re.search(r"\.limit\((\d+|[^)])", text)
    file.queries.append(
        query_at(
            chain.top,
            file,
            orm="sqlalchemy",
            model=model,
            operation=operation,
            terminal=terminal,
            filters=_filters(text),
            order=tuple(re.findall(r"order_by\(\s*(?:\w+\.)?(\w+)", text)),
            limit=1 if terminal in _SINGLE else _number(limit[1]) if limit else chain.limit,
            offset=-1 if ".offset(" in text else 0,
            eager=tuple(_EAGER.findall(text)),
            lock="with_for_update" in text,
            streaming="yield_per" in text or names[0] == "stream",
            variable=chain.variable,
        )
    )


def _taken(chain: Chain, file: SourceFile) -> str:
    """What takes the rows out of a result that a variable holds: `all` of `result.scalars().all()`."""
    after = file.source[chain.top.end_byte : chain.top.end_byte + LONGEST_WAY]
    for match in followed(chain.variable.encode(), after, _TAKES, b"_.$"):
        return match[1].decode()
    return ""


def _number(text: str) -> int:
    return int(text[:9]) if text.isdigit() else -1


def _filters(text: str) -> tuple[Filter, ...]:
    found = [Filter(name, _OPERATORS[sign], bool(value)) for name, sign, value in _COMPARED.findall(text)]
    found += [Filter(name, _operator(method, value)) for name, method, value in _METHOD.findall(text)]
    found += [Filter(name, "function") for name in _WRAPPED.findall(text)]
    for arguments in re.findall(r"filter_by\(([^()]*)\)", text):
        found += [Filter(name, "eq") for name in re.findall(r"(\w+)\s*=", arguments)]
    return tuple(found)


def _operator(method: str, value: str) -> str:
    if method == "like" and _LEADING.match(value):
        return "contains"
    if method in ("not_in", "notin_") and "select(" in value:
        return "excluded"
    return _METHODS.get(method, "other")


# Models


def models(file: SourceFile) -> Iterator[Model]:
    """Declarative classes: those with `__tablename__` or mapped columns."""
    if b"Column(" not in file.source and b"mapped_column(" not in file.source and b"__tablename__" not in file.source:
        return
    for scope in file.scopes:
        if scope.kind == "class" and scope.node.type == "class_definition":
            model = _model(scope.node, scope.prefix.rstrip("."), file)
            if model is not None:
                yield model


def _model(node: Node, name: str, file: SourceFile) -> Model | None:
    table, columns, relations = "", [], []
    indexes: list[tuple[str, ...]] = []
    body = node.child_by_field_name("body")
    for statement in body.named_children if body is not None else ():
        inner = statement.child(0) if statement.type == "expression_statement" else None
        target = inner.child_by_field_name("left") if inner is not None and inner.type == "assignment" else None
        value = inner.child_by_field_name("right") if target is not None and inner is not None else None
        if target is None or value is None:
            continue
        field = file.text(target)
        callee = file.callee(value).rpartition(".")[2] if value.type == "call" else ""
        if field == "__tablename__":
            table = file.text(value).strip("\"'")
        elif field == "__table_args__":
            indexes += _indexes(file.text(value))
        elif callee in ("Column", "mapped_column"):
            columns.append(_column(field, value, file))
            if (parent := _CASCADING.search(file.text(value))) is not None:
                # Nothing can be read through it: for loading it counts as eager.
                relations.append(
                    Relation(field, "to_one", parent[1], on_delete="cascade", fetch="eager", line=file.line(value))
                )
        elif callee == "relationship":
            relations.append(_relation(field, statement, value, file))
    if not table and not columns:
        return None
    bases = file.headers[node.id].bases
    return Model(
        orm="sqlalchemy",
        name=name,
        table=table,
        line=file.line(file.dialect.name_node(node)),
        columns=tuple(columns),
        relations=tuple(relations),
        indexes=tuple(indexes),
        abstract=not table,
        bases=bases,
    )


def _column(name: str, value: Node, file: SourceFile) -> Column:
    positional, keywords = file.arguments(value)
    options = {key: file.text(each) for key, each in keywords.items()}
    unique, key = options.get("unique") == "True", options.get("primary_key") == "True"
    kinds = [file.text(each).partition("(")[0].rpartition(".")[2] for each in positional if each.type != "string"]
    return Column(
        name,
        kinds[0] if kinds else "",
        options.get("nullable", "True") == "True" and not key,
        unique,
        unique or key or options.get("index") == "True",
        key,
        file.line(value),
    )


def _relation(name: str, statement: Node, value: Node, file: SourceFile) -> Relation:
    positional, keywords = file.arguments(value)
    options = {key: file.text(each).strip("\"'") for key, each in keywords.items()}
    annotation = re.search(r"Mapped\[(.*)\]\s*=", file.text(statement))
    named = re.findall(r"[A-Z]\w+", annotation[1] if annotation is not None else "")
    target = next(iter(strings_in(positional, file)), "") or (file.text(positional[0]) if positional else "")
    target = target or next((each for each in named if each not in ("List", "Optional", "Set")), "")
    to_many = annotation is not None and re.search(r"\b([Ll]ist|[Ss]et)\b", annotation[1]) is not None
    return Relation(
        name,
        "to_many" if to_many or (annotation is None and options.get("uselist") != "False") else "to_one",
        target.rpartition(".")[2],
        options.get("back_populates", options.get("backref", "")),
        "cascade" if re.search(r"\b(all|delete)\b", options.get("cascade", "")) else "",
        options.get("lazy", ""),
        file.line(value),
    )


def _indexes(text: str) -> list[tuple[str, ...]]:
    found = [re.findall(r"[\"'](\w+)[\"']", each)[1:] for each in re.findall(r"Index\(([^()]*)\)", text)]
    found += [re.findall(r"[\"'](\w+)[\"']", each) for each in re.findall(r"UniqueConstraint\(([^()=]*)", text)]
    return [tuple(each) for each in found if each]
