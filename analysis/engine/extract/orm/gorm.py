"""GORM: chains that end in a finisher, and structs with its tags."""

import re
from collections.abc import Iterator, Sequence

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.orm.bun import BEGINS
from analysis.engine.extract.orm.chains import query_at
from analysis.engine.extract.orm.conditions import conditions_in
from analysis.engine.extract.orm.go_structs import Field, fields_of, is_handed_on, snake, type_of
from analysis.engine.extract.orm.sql import filters_of
from analysis.engine.extract.orm.steps import Step, parts_of, split, statements_on
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Column, Filter, Mark, Model, Relation

_OPERATIONS = {
    **dict.fromkeys("Find First Take Last Scan Pluck FirstOrInit FindInBatches Rows Row".split(), "select"),
    "Count": "count",
    **dict.fromkeys(("Create", "FirstOrCreate"), "insert"),
    "CreateInBatches": "bulk_insert",
    **dict.fromkeys("Save Update Updates UpdateColumn UpdateColumns".split(), "update"),
    "Delete": "delete",
}
_SINGLE = frozenset({"First", "Take", "Last", "FirstOrInit", "FirstOrCreate", "Row"})
_BASE = re.compile(
    r"(?i)(?:^|[._])(?:\w*db\w*|\w*tx|gorm|orm|conn|session|query|q|stmt|scope|s|result)(?:\([^()]*\))?$"
)
_IS_GORM = (b"gorm", b".Where(", b".Find(&", b".First(&", b".Preload(", b".Create(&")
_OF_XORM = frozenset({"Context", "In", "NotIn", "And", "ID", "SQL", "Cols"})
_OF_GORM = frozenset(
    """Where Or Not Having Model Table Preload Joins InnerJoins Order Limit Offset Select Omit Group Distinct Unscoped
    WithContext Session Debug Clauses Scopes Raw Set Attrs Assign MapColumns Begin Error RowsAffected""".split()
)
_ALSO_OF_XORM = frozenset({"Desc", "Asc", "OrderBy", "GroupBy", "Alias", "AllCols"})  # that leave the conditions alone
_KNOWN = _OF_GORM | _ALSO_OF_XORM | _OF_XORM | _OPERATIONS.keys()
_WHERES = frozenset({"Where", "Or", "Not", "Having"})
_LITERAL = re.compile(r"^\s*(?:fmt\.Sprintf\(\s*)?[\"`]")
_WHOLE_TABLE = re.compile(  # SQL that asks for all rows of one table, its blanks made one each
    r"(?i)[\"`] ?SELECT (?!DISTINCT\b)[\w*., ]+? FROM [\w.]+(?: ORDER BY [\w., ]+?)?;? ?[\"`]"
)
_STRUCT = re.compile(r"^&?(?:\w+\.)?([A-Z]\w*)\{")
_FIELD = re.compile(r"[{,]\s*([A-Z]\w*)\s*:")
_MAP_KEY = re.compile(r"\"(\w+)\"\s*:")
_NOT_MODELS = frozenset({"Time", "DB", "Context", "Response", "Request", "Error"})


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`db.Where("status = ?", s).Find(&orders)`, also with the first steps in a variable."""
    base, _, _ = file.callee(call).partition(".")
    if not any(map(file.mentions, _IS_GORM)):
        return iter(())
    written = split(file.text(call))
    steps, base = written.steps, written.base
    if not steps or not (steps[0].name in _STARTS or _BASE.search(base)):
        return iter(())
    if base.isidentifier() and not file.mentions(b"database/sql"):
        earlier = tuple(step for text in statements_on(base, call, file, only_given=True) for step in split(text).steps)
        steps = (*(step for step in earlier if step.name not in _OPERATIONS or step.name == "Count"), *steps)
    if any(step.name in BEGINS for step in steps):
        return iter(())  # of Bun, which calls its steps alike
    destination = steps[-1].arguments
    model, variable, is_list = _model(steps, destination, call, file)
    if model or _is_sure(steps):
        _append(call, steps, model, variable, is_list, base, file)
    return iter(())


READERS = dict.fromkeys(_OPERATIONS, look)
_STARTS = frozenset(
    """Where Model Table Preload Joins Order Limit Offset Select Omit Unscoped WithContext Session Debug Clauses Scopes
    Raw Set Distinct""".split()
)


def _is_sure(steps: tuple[Step, ...]) -> bool:
    """Whether the chain can be of GORM only."""
    return any(step.name in ("Preload", "Model", "Where") for step in steps[:-1]) or steps[-1].arguments.startswith("&")


def _append(
    call: Node, steps: tuple[Step, ...], model: str, variable: str, is_list: bool, base: str, file: SourceFile
) -> None:
    if any(step.name == "Association" for step in steps):
        return  # of another model's rows: `perf-n-plus-one-relation` reads them
    terminal = steps[-1].name
    operation = _OPERATIONS.get(terminal, "")
    if not operation:
        return  # the grammar took the last step for a conversion: `Update("seen_at", new(time.Time(now)))`
    if operation == "insert" and is_list:
        operation = "bulk_insert"
    texts = {name: [step.arguments for step in steps if step.name == name] for name in {step.name for step in steps}}
    raw_text = next(iter(texts.get("Raw", ())), "")
    filters = [each for step in steps if step.name in _WHERES for each in _filters(step)]
    if raw_text and not filters:
        statement, *bound = parts_of(raw_text)
        filters += filters_of(statement.strip('"`'), bound)
    inline = parts_of(steps[-1].arguments)[1:] if terminal in ("Find", "First", "Take", "Last", "Delete") else []
    if inline:
        filters += _inline(inline)
    if operation == "select" and re.search(r"(?i)\b(?:count|sum|max|min|avg)\(", " ".join(texts.get("Select", ()))):
        operation = "aggregate"
    is_single = terminal in _SINGLE or (terminal in ("Find", "Scan") and not is_list and bool(variable))
    file.queries.append(
        query_at(
            call,
            file,
            orm="gorm",
            model=model,
            operation=operation,
            terminal=terminal,
            filters=tuple(filters),
            order=tuple(
                match[1] for text in texts.get("Order", ()) if (match := re.match(r"\s*[\"`](?:\w+\.)?(\w+)", text))
            ),
            limit=1
            if is_single
            else _amount(texts.get("Limit", ())) or (-1 if raw_text and "limit" in raw_text.lower() else 0),
            offset=_amount(texts.get("Offset", ())),
            eager=tuple(
                match[1]
                for name in ("Preload", "Joins")
                for text in texts.get(name, ())
                if (match := re.match(r"\s*\"([\w.]+)\"", text))
            ),
            lock="Locking" in " ".join(texts.get("Clauses", ())),
            streaming=terminal in ("FindInBatches", "Rows"),
            variable=variable,
            raw=(bool(raw_text) and _WHOLE_TABLE.fullmatch(" ".join(raw_text.split())) is None)
            or "Scopes" in texts
            or any(_is_opaque(step) for step in steps)
            or _is_xorm(base, steps)
            or not _KNOWN.issuperset(step.name for step in steps)  # steps of the project's own
            or is_handed_on(base, call, file),
        )
    )
    if _is_of_each_table(texts.get("Table", ()), call, file):
        file.queries[-1] = structs.replace(file.queries[-1], uses_loop_variable=False)


def _is_of_each_table(named: Sequence[str], call: Node, file: SourceFile) -> bool:
    """Whether each round of the loop around asks another table: no rows that one statement could gather."""
    loop = file.loop_of(call) if named else None
    return loop is not None and named[-1].strip() in loop.variables


def _is_xorm(base: str, steps: tuple[Step, ...]) -> bool:
    """Whether the chain is one of XORM, whose sessions take conditions in statements of their own."""
    return base in ("session", "sess") or any(step.name in _OF_XORM for step in steps)


def _is_opaque(step: Step) -> bool:
    """Conditions in a variable, and joins that leave rows out."""
    if step.name == "Joins":
        return re.search(r"(?i)(?<!left )\bjoin\b", step.arguments) is not None
    if step.name not in _WHERES:
        return False
    first = next(iter(parts_of(step.arguments)), "")
    if first.strip(' "`') in ("?", "(?)"):
        return True
    return first.startswith("builder.") or not (
        _LITERAL.match(first) or _STRUCT.match(first) or first.startswith("map[")
    )


def _filters(step: Step) -> Iterator[Filter]:
    arguments = parts_of(step.arguments)
    first = arguments[0] if arguments else ""
    if _LITERAL.match(first):
        text = first.partition("(")[2] if first.startswith("fmt") else first
        if re.fullmatch(r"\s*[\"`][\w.]+[\"`]\s*", text):
            yield Filter(text.strip(' "`').rpartition(".")[2], "eq")  # Where("name", value)
        else:
            operator_free = text.strip().strip('"`')
            kind = "other" if step.name == "Not" else ""
            for each in conditions_in(operator_free, "", arguments[1:]):
                yield Filter(each.column, kind, each.constant) if kind else each
    elif _STRUCT.match(first):
        yield from (Filter(snake(name), "eq") for name in _FIELD.findall(first))
    elif first.startswith("map["):
        yield from (Filter(name, "eq") for name in _MAP_KEY.findall(first))


def _inline(parts: list[str]) -> list[Filter]:
    """Conditions behind the destination: `First(&user, "email = ?", x)`, `First(&user, 10)`."""
    if _LITERAL.match(parts[0]):
        return list(_filters(Step("Where", ", ".join(parts))))
    return [Filter("id", "eq" if not re.search(r"(?i)ids$|^\[\]", parts[0]) else "in")]


def _amount(texts: list[str] | tuple[str, ...]) -> int:
    return (int(texts[-1][:9]) if texts[-1].strip().isdigit() else -1) if texts else 0


# Which model


def _model(steps: tuple[Step, ...], destination: str, call: Node, file: SourceFile) -> tuple[str, str, bool]:
    """The model, the variable that the rows go into, and whether that is a list of them."""
    parts = parts_of(destination)
    position = 1 if steps[-1].name == "Pluck" else 0
    given = parts[position] if len(parts) > position else ""
    variable = given.lstrip("&*")
    named = next((step.arguments for step in reversed(steps) if step.name in ("Model", "Table")), "")
    kind, is_list = type_of(given, call, file)
    model = ""
    if named:
        model = named.strip(' "`') if named.strip()[:1] in '"`' else type_of(named.strip(), call, file)[0]
    model = model or kind
    plain = variable if re.fullmatch(r"\w+", variable) else ""
    is_list = is_list or steps[-1].name in ("Pluck", "FindInBatches", "Rows", "CreateInBatches")
    return ("" if model in _NOT_MODELS else model), plain, is_list


# Structs

_TAG = re.compile(r"gorm:\"([^\"]*)\"")
_XORM = re.compile(r"xorm:\"([^\"]*)\"")
_XORM_INDEX = re.compile(r"(?i)\b(index|unique|pk)\b(?:\((\w+)\))?")
_TABLE = re.compile(
    rb"func\s*\(\s*(?:\w+\s+)?\*?(\w+)\s*\)\s*TableName\(\s*\)\s*string\s*\{\s*return\s+[\"`](\w+)[\"`]"
)
_PLAIN = re.compile(
    r"^(?:\*|\[\])*(?:string|bool|byte|rune|error|u?int\d*|float\d*|any|interface\{\}|(?:time|sql|gorm|datatypes|uuid|json|decimal|null)\.\w+|map\[.*|json\.RawMessage)$"
)
_OWNED = re.compile(r"^(\[\])?\*?(\[\])?\*?(?:\w+\.)?([A-Z]\w*)$")


def models(file: SourceFile) -> Iterator[Model]:
    """Structs with `gorm` tags or with `gorm.Model` in them, and those with a table's name."""
    if not file.mentions(b"gorm") and not file.mentions(b"xorm:") and not file.mentions(b"TableName()"):
        return
    tables = {name.decode(): table.decode() for name, table in _TABLE.findall(file.source)}
    for scope in file.scopes:
        if scope.kind == "class" and scope.node.type == "type_spec":
            name = scope.prefix.rstrip(".").rpartition(".")[2]
            model = _struct(scope.node, name, tables.get(name, ""), file)
            if model is not None:
                yield model


def _struct(node: Node, name: str, table: str, file: SourceFile) -> Model | None:
    kind = node.child_by_field_name("type")
    if kind is None or kind.type != "struct_type" or not kind.named_child_count:
        return None
    text = file.text(kind)
    is_xorm = "xorm:" in text
    if not table and not is_xorm and "gorm" not in text:
        return None
    if is_xorm:
        table = table or snake(name)  # xorm takes names as they are, in the singular
    columns: list[Column] = []
    relations: list[Relation] = []
    indexes: dict[str, list[str]] = {}
    bases: list[str] = []
    for each in fields_of(kind, file):
        _read_field(each, columns, relations, indexes, bases)
    is_base = not table and all(not column.primary_key for column in columns) and "gorm.Model" not in text and not bases
    return Model(
        orm="gorm",
        name=name,
        table=table,
        line=file.line(file.dialect.name_node(node)),
        columns=tuple(columns),
        relations=tuple(relations),
        indexes=tuple(tuple(each) for each in indexes.values()),
        abstract=is_base and "gorm:" not in text,
        bases=tuple(bases),
    )


def _read_field(
    field: Field,
    columns: list[Column],
    relations: list[Relation],
    indexes: dict[str, list[str]],
    bases: list[str],
) -> None:
    names, kind, tags, line = field
    tag, xorm = _TAG.search(tags), _XORM.search(tags)
    options = dict(_options(tag[1])) if tag is not None else {}
    if "-" in options or (xorm is not None and xorm[1] == "-"):
        return
    if not names or "embedded" in options:
        if kind.endswith("gorm.Model"):
            columns += _columns_of_base(line)
        else:
            bases.append(kind.lstrip("*").rpartition(".")[2])
        return
    xorm_indexes = _XORM_INDEX.findall(xorm[1]) if xorm is not None else []
    for name in names:
        relation = _relation_of(name, kind, options, line)
        if relation is not None:
            relations.append(relation)
        else:
            columns.append(_column_of(name, kind, options, xorm_indexes, indexes, line))


def _columns_of_base(line: int) -> list[Column]:
    """What a struct gets by embedding `gorm.Model`."""
    return [
        Column("id", "uint", False, True, True, True, line),
        Column("created_at", "time.Time"),
        Column("updated_at", "time.Time"),
        Column("deleted_at", "gorm.DeletedAt", True, False, True),
    ]


def _relation_of(name: str, kind: str, options: dict[str, str], line: int) -> Relation | None:
    """The relation that a field of another struct's type is, unless its tag makes a column of it."""
    owned = _OWNED.match(kind) if not _PLAIN.match(kind) else None
    if owned is None or not options.keys().isdisjoint(("column", "type", "serializer")):
        return None
    is_list = bool(owned[1] or owned[2])
    cascades = "cascade" if "CASCADE" in options.get("constraint", "").upper() else ""
    return Relation(name, "to_many" if is_list else "to_one", owned[3], on_delete=cascades, line=line)


def _column_of(
    name: str,
    kind: str,
    options: dict[str, str],
    xorm_indexes: list[tuple[str, str]],
    indexes: dict[str, list[str]],
    line: int,
) -> Column:
    """The column of a field. Where its tag names an index, the column joins that index."""
    column = options.get("column") or snake(name)
    for option in ("index", "uniqueindex", "unique_index"):
        given = options.get(option, "").partition(",")[0]
        if given:
            indexes.setdefault(given, []).append(column)
    for kind_of, given in xorm_indexes:
        if given or kind_of.lower() == "pk":  # several columns can make up the primary key
            indexes.setdefault(given or "primary key", []).append(column)
    own = [kind_of.lower() for kind_of, given in xorm_indexes if not given and kind_of.lower() != "pk"]
    key = "primarykey" in options or "primary_key" in options or name == "ID"
    unique = (
        "unique" in options
        or options.get("uniqueindex", "-") == ""
        or options.get("unique_index", "-") == ""
        or "unique" in own
    )
    indexed = key or unique or bool(own) or options.get("index", "-").partition(",")[0] == ""
    return Column(column, options.get("type", kind), "not null" not in options, unique, indexed, key, line)


def _options(tag: str) -> Iterator[tuple[str, str]]:
    for part in tag.split(";"):
        name, _, value = part.partition(":")
        yield name.strip().lower(), value.strip()
