"""Bun: chains from `NewSelect()` and its like to what runs them, and structs with its tags."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.orm.chains import query_at
from analysis.engine.extract.orm.conditions import conditions_in
from analysis.engine.extract.orm.go_structs import Field, fields_of, is_handed_on, snake, text_above, type_of
from analysis.engine.extract.orm.steps import Step, parts_of, split, statements_on
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Column, Filter, Mark, Model, Relation

BEGINS = {"NewSelect": "select", "NewInsert": "insert", "NewUpdate": "update", "NewDelete": "delete"}
_IS_BUN = tuple(f".{name}(".encode() for name in BEGINS)
_RUNS = {"Scan": "", "Exec": "", "Rows": "", "ScanAndCount": "", "Count": "count", "Exists": "exists"}
_TABLES = frozenset({"Model", "Table", "TableExpr", "ModelTableExpr"})
_WHERES = frozenset({"Where", "WhereOr"})
_UNREAD = frozenset({"WhereGroup", "Apply", "ApplyQueryBuilder", "QueryBuilder", "With", "Group", "GroupExpr", "Union"})
_JOINS = frozenset({"Join", "Relation"})
_LITERAL = re.compile(r"\s*([\"`])(.*)\1\s*\Z", re.DOTALL)
_ALWAYS = re.compile(r"\s*[\"`](?:1 ?= ?1|(?i:true))[\"`]\s*\Z")
_ALIAS = re.compile(r"^(\w+)\.")
_AGGREGATE = re.compile(r"(?i)\b(?:count|sum|max|min|avg)\(")
_ORDERED = re.compile(r"\s*[\"`](?:\w+\.)?(\w+)")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`db.NewSelect().Model(&orders).Where("status = ?", s).Scan(ctx)`, also with the first steps in a variable."""
    if any(map(file.mentions, _IS_BUN)):
        written = split(file.text(call))
        steps, base = written.steps, written.base
        if steps and steps[0].name not in BEGINS and base.isidentifier():
            earlier = (split(text).steps for text in statements_on(base, call, file))
            steps = (*(step for each in earlier for step in each), *steps)
        if steps and steps[0].name in BEGINS and any(step.name in _TABLES for step in steps):
            _append(call, steps, base, file)
    return iter(())


READERS = dict.fromkeys(_RUNS, look)


def _append(call: Node, steps: tuple[Step, ...], base: str, file: SourceFile) -> None:
    terminal = steps[-1].name
    names = {step.name for step in steps}
    model, variable, is_list = _model(steps, call, file)
    operation = _RUNS[terminal] or BEGINS[steps[0].name]
    if is_list and (operation == "insert" or (operation == "update" and "Bulk" in names)):
        operation = "bulk_insert"
    if operation == "select" and any(_AGGREGATE.search(text) for text in _given(steps, "ColumnExpr")):
        operation = "aggregate"
    filters = tuple(_filters(steps, is_joined=not names.isdisjoint(_JOINS)))
    file.queries.append(
        query_at(
            call,
            file,
            orm="bun",
            model=model,
            operation=operation,
            terminal=terminal,
            filters=filters,
            order=tuple(
                match[1] for text in _given(steps, "Order", "OrderExpr") if (match := _ORDERED.match(text)) is not None
            ),
            limit=_amount(_given(steps, "Limit")) or (1 if operation == "select" and not is_list else 0),
            offset=_amount(_given(steps, "Offset")),
            eager=tuple(found[2] for text in _given(steps, "Relation") if (found := _LITERAL.match(parts_of(text)[0]))),
            columns=tuple(
                found[2]
                for text in _given(steps, "Column")
                for each in parts_of(text)
                if (found := _LITERAL.match(each))
            ),
            lock=any("UPDATE" in text for text in _given(steps, "For")),
            streaming=terminal == "Rows",
            variable=variable if operation == "select" else "",
            raw=not names.isdisjoint(_UNREAD)
            or len(filters) < sum(step.name in _WHERES and not _ALWAYS.match(step.arguments) for step in steps)
            or is_handed_on(base, call, file),
        )
    )


def _given(steps: tuple[Step, ...], *names: str) -> list[str]:
    return [step.arguments for step in steps if step.name in names]


def _amount(texts: list[str]) -> int:
    return (int(texts[-1][:9]) if texts[-1].strip().isdigit() else -1) if texts else 0


def _filters(steps: tuple[Step, ...], *, is_joined: bool) -> Iterator[Filter]:
    """The conditions. Where no other table is joined, whatever stands before the dot is an alias of the only one."""
    for step in steps:
        if step.name == "WherePK":
            yield Filter("id", "eq")
        arguments = parts_of(step.arguments) if step.name in _WHERES else []
        text = _LITERAL.match(arguments[0]) if arguments else None
        for each in conditions_in(text[2], "", arguments[1:]) if text is not None else ():
            column = each.column if is_joined else _ALIAS.sub("", each.column)
            yield Filter(column, each.operator, each.constant)


def _model(steps: tuple[Step, ...], call: Node, file: SourceFile) -> tuple[str, str, bool]:
    """The model, the variable that the rows go into, and whether they may be several. What `Scan` is given takes them
    where the model is named only: `Model((*Order)(nil)).Scan(ctx, &totals)`."""
    named = next((step for step in steps if step.name in _TABLES), Step("", ""))
    model, is_list = type_of(named.arguments, call, file)
    variable = named.arguments.strip().lstrip("&")
    if named.name != "Model":
        text = _LITERAL.match(next(iter(parts_of(named.arguments)), ""))
        model, variable = (text[2].split()[0] if text is not None and text[2].split() else ""), ""
    taken = [each.lstrip("&") for each in parts_of(steps[-1].arguments)[1:]]
    if taken and steps[-1].name in ("Scan", "ScanAndCount"):
        variable = taken[0]
        is_list = (
            re.search(rf"\b{re.escape(variable)}\s*(?::?=\s*(?:make\()?)?\[\]", text_above(call, file)) is not None
        )
    return model, variable if variable.isidentifier() else "", is_list


# Structs

_TAG = re.compile(r"bun:\"([^\"]*)\"")
_TO_MANY = frozenset({"has-many", "m2m"})
_TARGET = re.compile(r"(\w+)$")


def models(file: SourceFile) -> Iterator[Model]:
    """Structs with `bun` tags; the one of its base names the table."""
    for scope in file.scopes if file.mentions(b'bun:"') or file.mentions(b"bun.BaseModel") else ():
        struct = scope.node.child_by_field_name("type") if scope.node.type == "type_spec" else None
        if scope.kind != "class" or struct is None or struct.type != "struct_type":
            continue
        text = file.text(struct)
        if 'bun:"' in text or "bun.BaseModel" in text:
            name = scope.prefix.rstrip(".").rpartition(".")[2]
            yield _struct(name, file.line(file.dialect.name_node(scope.node)), fields_of(struct, file))


def _struct(name: str, line: int, fields: Iterator[Field]) -> Model:
    table = ""
    columns: list[Column] = []
    relations: list[Relation] = []
    bases: list[str] = []
    for field in fields:
        tag = _TAG.search(field.tags)
        first, *rest = tag[1].split(",") if tag is not None else ("",)
        options = dict(_option(part) for part in (first, *rest))
        if field.kind.endswith("bun.BaseModel"):
            table = options.get("table", "")
        elif not field.names and "embed" not in options:
            bases.append(field.kind.lstrip("*").rpartition(".")[2])
        elif "rel" in options or "m2m" in options:
            relations += _relations(field, options)
        elif first != "-":
            named = first if ":" not in first else ""
            columns += [_column(named or snake(each), field, options) for each in field.names]
    return Model("bun", name, table, line, tuple(columns), tuple(relations), bases=tuple(bases))


def _option(part: str) -> tuple[str, str]:
    name, _, value = part.partition(":")
    return name.strip().lower(), value.strip()


def _relations(field: Field, options: dict[str, str]) -> Iterator[Relation]:
    kind = "to_many" if options.get("rel") in _TO_MANY or "m2m" in options else "to_one"
    target = _TARGET.search(field.kind)
    for name in field.names:
        yield Relation(name, kind, target[1] if target is not None else "", line=field.line)


def _column(name: str, field: Field, options: dict[str, str]) -> Column:
    is_key, is_unique = "pk" in options, options.get("unique") == ""
    return Column(
        name,
        options.get("type", field.kind),
        nullable="notnull" not in options and not is_key,
        unique=is_key or is_unique,
        indexed=is_key or is_unique,
        primary_key=is_key,
        line=field.line,
    )
