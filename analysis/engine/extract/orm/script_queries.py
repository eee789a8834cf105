"""Queries of TypeORM, Sequelize and Mongoose: calls on model classes, repositories, entity managers and documents."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.orm import mongoose_steps
from analysis.engine.extract.orm.chains import query_at
from analysis.engine.extract.orm.options import (
    conditions,
    either_of,
    elements,
    is_readable,
    keys,
    limit_of,
    object_of,
    options_of,
    pairs,
    paths,
)
from analysis.engine.extract.orm.script_models import OWN, class_of, model_of, model_of_row
from analysis.engine.extract.orm.steps import MANY_ROWS, Step, assigned_to, steps_after, takes_length, text_of_callee
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Filter, Mark

_MANY = frozenset("""find findAll findBy findByIds findAndCount findAndCountBy findAndCountAll""".split())
_SINGLE = frozenset(
    """findOne findOneBy findOneOrFail findOneByOrFail findByPk findById findOneById findByPkOrThrow""".split()
)
_OPERATIONS = {
    **dict.fromkeys(_MANY | _SINGLE, "select"),
    **dict.fromkeys(("count", "countBy", "countDocuments", "estimatedDocumentCount"), "count"),
    **dict.fromkeys(("exist", "exists", "existsBy"), "exists"),
    **dict.fromkeys(("aggregate", "distinct"), "aggregate"),
    **dict.fromkeys(("create", "insert", "findOrCreate"), "insert"),
    **dict.fromkeys(("insertMany", "bulkCreate", "bulkWrite", "upsert"), "bulk_insert"),
    **dict.fromkeys(
        """update updateOne updateMany findByIdAndUpdate findOneAndUpdate findOneAndReplace replaceOne increment
        decrement save""".split(),
        "update",
    ),
    **dict.fromkeys(
        """delete destroy remove deleteOne deleteMany softDelete softRemove findByIdAndDelete findOneAndDelete
        findByIdAndRemove""".split(),
        "delete",
    ),
}
_BY_KEY = frozenset({"findByPk", "findById", "findOneById", "findByPkOrThrow"})
_ON_ROWS = frozenset({"save", "destroy", "update", "remove", "delete", "deleteOne", "softRemove"})
_OPTIONS = frozenset(
    """where include relations limit take skip offset attributes order select transaction raw paranoid cache
    withDeleted lock group loadRelationIds rejectOnEmpty subQuery""".split()
)
_MANAGER = re.compile(r"(?:^|\.)(?:\w*[mM]anager|em|dataSource|\w*[tT]x|trx)$")
_FUNCTIONS = frozenset({"arrow_function", "function_expression"})
_COUNTING = frozenset({"length", "size"})
_CONTINUED = frozenset({"then", "catch", "finally", "tap"})
_WRITTEN = frozenset({"save", "insert", "create", "insertMany", "bulkCreate"})  # they take rows
_MADE = re.compile(r"new\s+(?:\w+\.)*([A-Z]\w*)\(.*\)\s*\.save$", re.DOTALL)
_HANDED_OVER = re.compile(rb"\bnew\s+[\w.]+(?:<[\w, ]*>)?\(\s*\Z")
_NARROWING = re.compile(r"\bwhere\b|\brequired\s*:\s*true")  # inner joins of Sequelize
_RANDOM = re.compile(r"(?i)\b(?:random|rand)\(|\bfn\(\s*[\"'`]rand(?:om)?[\"'`]")
_PARAMETER = re.compile(r"^\s*(?:async\s+)?(?:function\s*\w*\s*)?\(?\s*\[?\s*([\w$]+)")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`Order.findAll(…)`, `this.orders.find(…)`, `manager.find(Order, …)`, `order.save()`."""
    base, _, verb = file.callee(call).rpartition(".")
    model = _model(call, verb, file) if base else None
    if model is not None:
        _append(call, verb, *model, file)
    elif base.isidentifier() and verb in _ON_ROWS and (row := model_of_row(call, base, verb, file)) is not None:
        operation, terminal = _OPERATIONS[verb], f"row.{verb}"
        file.queries.append(query_at(call, file, orm=row[1], model=row[0], operation=operation, terminal=terminal))
    elif verb == "save" and (made := _MADE.match(text_of_callee(call, file))) is not None:
        model_name = class_of(made[1], file)
        file.queries.append(query_at(call, file, orm="class", model=model_name, operation="insert", terminal=verb))
    return iter(())


READERS = dict.fromkeys(_OPERATIONS, look)


def _model(call: Node, verb: str, file: SourceFile) -> tuple[str, str] | None:
    """The model that a call asks, and the ORM as far as the receiver tells. None for other calls."""
    written = text_of_callee(call, file)
    receiver = "".join(written[: written.rfind(".")].rstrip("?! \n").split())
    if (found := model_of(receiver, call, file)) is not None:
        makes_only = verb == "create" and found[1] != "mongoose" and file.mentions(b"typeorm")
        is_own_write = receiver in OWN and verb in _ON_ROWS
        return None if makes_only or is_own_write else found
    if not _MANAGER.search(receiver):
        return None
    first = next(iter(file.arguments(call)[0]), None)
    named_class = file.text(first) if first is not None and first.type == "identifier" else ""
    is_told = file.mentions(b"typeorm")
    if named_class[:1].isupper() and (is_told or named_class in file.bindings):
        return named_class, "typeorm" if is_told else "class"  # the manager may come from another file
    return ("", "typeorm") if is_told and verb in ("save", "remove") else None


def _append(call: Node, verb: str, model: str, orm: str, file: SourceFile) -> None:
    positional = file.arguments(call)[0]
    if positional and positional[0].type == "identifier" and file.text(positional[0]) == model:
        positional = positional[1:]  # of an entity manager
    if _OPERATIONS[verb] in ("select", "count", "exists"):
        positional = [object_of(each, file) for each in positional]
    if orm == "class" and verb == "find" and positional and positional[0].type in _FUNCTIONS:
        return  # of an array
    steps = steps_after(call.end_byte, file)
    operation = _operation(verb, positional, file)
    options, filters = _shape(verb, positional, file)
    if verb in _WRITTEN and "where" not in options:
        filters = ()  # what is written
    if operation == "select" and "group" in options:
        operation = "aggregate"
    variable, counted = _kept_as(call, steps, file)
    limit = _number(("take", "limit"), "limit", options, steps, file)
    file.queries.append(
        query_at(
            call,
            file,
            orm=orm,
            model=model,
            operation=operation,
            terminal="" if (variable or _is_handed_over(call, file)) and _is_held_back(call, steps, file) else verb,
            filters=(*filters, *mongoose_steps.filters_of(steps)),
            order=(*_ordered(options.get("order"), file), *mongoose_steps.ordered_by(steps)),
            limit=1 if verb in _SINGLE or operation == "exists" else limit,
            offset=_number(("skip", "offset"), "skip", options, steps, file),
            eager=(*_eager(options, file), *mongoose_steps.populated(steps)),
            columns=(
                *keys(options.get("select"), file),
                *keys(options.get("attributes"), file),
                *_projected(verb, positional, file),
                *mongoose_steps.selected(steps),
            ),
            lock="lock" in options,
            streaming=mongoose_steps.is_streamed(steps),
            variable=variable,
            raw=_is_opaque(verb, positional, options, steps, file),
            counted=counted,
        )
    )


def _kept_as(call: Node, steps: tuple[Step, ...], file: SourceFile) -> tuple[str, str]:
    """The variable that holds the rows, and `len` where only their number is asked for."""
    counted = "len" if takes_length(call.start_byte, call.end_byte, file) else ""
    variable = "" if counted else assigned_to(call.start_byte, file)
    for step in steps:
        if step.name in _COUNTING and not step.arguments:
            counted, variable = "len", ""
        elif step.name == "then" and not variable:
            given = _PARAMETER.match(step.arguments)
            variable = given[1] if given is not None else ""
        elif step.name not in _CONTINUED and step.name not in mongoose_steps.STEPS:
            return "", counted
    return variable, counted


def _operation(verb: str, positional: list[Node], file: SourceFile) -> str:
    operation = _OPERATIONS[verb]
    if verb in ("save", "insert", "create", "remove") and positional:
        first = positional[0]
        if first.type == "array" or MANY_ROWS.search(file.text(first)[:200]):
            return "bulk_insert" if operation != "delete" else "delete"
    return operation


def _shape(verb: str, positional: list[Node], file: SourceFile) -> tuple[dict[str, Node | None], tuple[Filter, ...]]:
    """Options and conditions of a call. Mongoose, and the `…By` of TypeORM, take the conditions themselves."""
    if verb in _BY_KEY or verb.startswith("findById"):
        return options_of(positional[1] if len(positional) > 1 else None, file), (Filter("id", "eq"),)
    if verb in ("create", "insert"):
        return {}, ()  # what is written is no condition
    first = positional[0] if positional else None
    if verb == "findByIds":
        return {}, (Filter("id", "in"),)
    if first is None or first.type not in ("object", "array"):
        return {}, _of_value(first, verb)
    if first.type == "array":
        return {}, either_of(first, file)
    options = options_of(first, file)
    if verb in ("update", "increment", "decrement") and len(positional) > 1 and positional[1].type == "object":
        second = options_of(positional[1], file)
        if "where" in second:
            return second, tuple(conditions(second["where"], file))
    if verb == "update" and len(positional) == 1 and "where" not in options:
        return {}, (Filter("id", "eq"),)  # a row of Sequelize gets other values
    if "where" in options or (_are_options(options) and not verb.endswith("By")):
        return options, either_of(options.get("where"), file)
    further = options_of(positional[2] if len(positional) > 2 else None, file)
    return further, tuple(conditions(first, file))


def _projected(verb: str, positional: list[Node], file: SourceFile) -> Iterator[str]:
    """The fields that Mongoose is asked for, behind the conditions: `find({ paid: true }, { total: 1 })`, `"total"`."""
    second = positional[1] if len(positional) > 1 and verb in ("find", "findOne", "findById") else None
    if second is not None and second.type == "string":
        yield from file.text(second).strip("\"'").split()
    elif second is not None and second.type == "object":
        yield from (
            key for key, value in pairs(second, file) if value is not None and file.text(value) in ("1", "true")
        )


def _is_held_back(call: Node, steps: tuple[Step, ...], file: SourceFile) -> bool:
    """Whether a query of Mongoose is kept to be changed before it runs: it is neither awaited nor executed."""
    if not file.mentions(b"ongoose") or mongoose_steps.is_run(steps):
        return False
    return not file.source[max(0, call.start_byte - 8) : call.start_byte].rstrip().endswith(b"await")


def _is_handed_over(call: Node, file: SourceFile) -> bool:
    """Whether an object is made with the query, `new PageQuery(Page.find())`: a builder that goes on with it."""
    return _HANDED_OVER.search(file.source, max(0, call.start_byte - 60), call.start_byte) is not None


def _are_options(given: dict[str, Node | None]) -> bool:
    """Whether an object names options, and no column that is called like one."""
    if not given or not _OPTIONS.issuperset(given):
        return False
    order = given.get("order")
    return set(given) != {"order"} or (order is not None and order.type in ("array", "object", "string"))


def _is_opaque(
    verb: str, positional: list[Node], options: dict[str, Node | None], steps: tuple[Step, ...], file: SourceFile
) -> bool:
    """Whether conditions are given that cannot be read: in a variable, by a spread, or by a further step."""
    if verb in _BY_KEY or _OPERATIONS[verb] in ("insert", "bulk_insert"):
        return False
    first = positional[0] if positional else None
    if first is not None and first.type not in ("object", "array"):
        return _OPERATIONS[verb] in ("select", "count", "exists")
    where = options.get("where")
    if "where" in options and not is_readable(where, file):
        return True
    include = options.get("include")
    if include is not None and _NARROWING.search(file.text(include)):
        return True
    if mongoose_steps.adds_conditions(steps):
        return True
    shown = where if where is not None else first
    return any(
        child.type == "spread_element"
        for each in (first, *elements(shown))
        if each is not None
        for child in each.named_children
    )


def _of_value(node: Node | None, verb: str) -> tuple[Filter, ...]:
    """`delete(id)` and `update(id, …)` of TypeORM name the key."""
    if (
        node is not None
        and verb in ("delete", "update", "softDelete")
        and node.type in ("identifier", "member_expression")
    ):
        return (Filter("id", "eq"),)
    return ()


def _number(
    names: tuple[str, ...], step: str, options: dict[str, Node | None], steps: tuple[Step, ...], file: SourceFile
) -> int:
    """What the first of these options says, or else the step."""
    given = filter(None, (limit_of(options, name, file) for name in names))
    return next(given, 0) or mongoose_steps.number_of(step, steps)


def _ordered(node: Node | None, file: SourceFile) -> Iterator[str]:
    """The columns of `order`; `random` where a function of that name or a fragment of SQL mixes the rows."""
    if node is not None and _RANDOM.search(file.text(node)):
        yield "random"
    yield from keys(node, file)


def _eager(options: dict[str, Node | None], file: SourceFile) -> Iterator[str]:
    """Relations that the options ask for: paths of TypeORM, `include` of Sequelize by alias or model."""
    yield from paths(options.get("relations"), file)
    for each in elements(options.get("include")):
        if each.type in ("identifier", "member_expression"):
            yield file.text(each).rpartition(".")[2]
        elif each.type == "string":
            yield file.text(each).strip("\"'")
        inner = dict(pairs(each, file))
        named = inner.get("as") or inner.get("association") or inner.get("model")
        if named is not None:
            yield file.text(named).strip("\"'").rpartition(".")[2]
        elif "model" in inner or "association" in inner:
            yield "*"
