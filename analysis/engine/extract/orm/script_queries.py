"""Queries of TypeORM, Sequelize and Mongoose: calls on model classes, repositories, entity managers and documents."""

import re
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

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
from analysis.engine.extract.orm.steps import MANY_ROWS, Step, assigned_to, steps_after, takes_length, text_of_callee
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Filter, Mark, Query

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
_CLASS = re.compile(r"(?:^|\.)([A-Z]\w*)(?:\.(?:schema|scope|unscoped|withScope|withMembershipScope)\(\)|\.unscoped)*$")
_BUILT_IN = frozenset("Object Array Map Set JSON Promise Reflect Math Buffer Date Number String Symbol Error".split())
_NO_MODELS = ("Repository", "Service", "Manager", "Controller", "Factory", "Helper", "Utils", "Api", "Client")
_GIVEN = re.compile(r"\.get(?:Custom|Tree|Mongo)?Repository(?:<\w+>)?\(\s*(?:\w+\s*,\s*)?([A-Z]\w*)")
_NAMED = re.compile(r"\bmodel(?:<[^()]*>)?\(\s*[\"'](\w+)[\"']")
_MANAGER = re.compile(r"(?:^|\.)(?:\w*[mM]anager|em|dataSource|\w*[tT]x|trx)$")
_OWN = frozenset({"this", "super"})
_FUNCTIONS = frozenset({"arrow_function", "function_expression"})
_OWN_MODEL = re.compile(r"this\.(_?[mM]odel|MongooseModel|_?repo(?:sitory)?)$")  # what a class for one model asks
_DECLARED = re.compile(rb"\b(\w+)\s*[?!]?\s*:\s*(?:\w+\.)?(?:\w*Repository|\w*Model\w*)<\s*(?:\w+\.)?(\w+)")
_TYPED = re.compile(rb"\b(\w+)\s*[?!]?\s*:\s*(?:typeof\s+)?([A-Z]\w*(?:Repository|Repo))\b(?!<)")
_HELD = re.compile(rb"\b(\w+)\s*=\s*[^;\n]*?\bget(?:Custom|Tree)?Repository(?:<\w+>)?\(\s*(?:\w+\s*,\s*)?([A-Z]\w*)")
_GIVES = re.compile(  # `function orders() { return source.getRepository(Order); }`
    rb"\b(\w+)\(\)\s*(?::[^{;\n]{1,80})?\{\s*return\s[^;\n]*?\bget(?:Custom|Tree)?Repository(?:<\w+>)?\(\s*(?:\w+\s*,\s*)?([A-Z]\w*)"
)
_GIVER = re.compile(r"(?:this\.)?(\w+)\(\)")
_MODELLED = re.compile(rb"\b(\w+)\s*(?::[^=;\n]{1,80})?=\s*[^;\n]*?\bmodel(?:<[^;\n()]*>)?\(\s*[\"'](\w+)[\"']")
_OF_CLASS = re.compile(r"(?:Document|Doc)$")
_COUNTING = frozenset({"length", "size"})
_CONTINUED = frozenset({"then", "catch", "finally", "tap"})
_WRITTEN = frozenset({"save", "insert", "create", "insertMany", "bulkCreate"})  # they take rows
_MADE = re.compile(r"new\s+(?:\w+\.)*([A-Z]\w*)\(.*\)\s*\.save$", re.DOTALL)
_PARAMETER = re.compile(r"^\s*(?:async\s+)?(?:function\s*\w*\s*)?\(?\s*\[?\s*([\w$]+)")
_NUMBER = re.compile(r"\d{1,9}$")
LONGEST_BEFORE = 6_000  # bytes before a document that are searched for what gave it


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`Order.findAll(…)`, `this.orders.find(…)`, `manager.find(Order, …)`, `order.save()`."""
    base, _, verb = file.callee(call).rpartition(".")
    model = _model(call, verb, file) if base else None
    if model is not None:
        _append(call, verb, *model, file)
    elif base.isidentifier() and verb in _ON_ROWS and (row := _document(call, base, verb, file)) is not None:
        operation, terminal = _OPERATIONS[verb], f"row.{verb}"
        file.queries.append(query_at(call, file, orm=row[1], model=row[0], operation=operation, terminal=terminal))
    elif verb == "save" and (made := _MADE.match(text_of_callee(call, file))) is not None:
        model_name = _names_in(file).get(made[1], made[1])
        file.queries.append(query_at(call, file, orm="class", model=model_name, operation="insert", terminal=verb))
    return iter(())


READERS = dict.fromkeys(_OPERATIONS, look)


def _model(call: Node, verb: str, file: SourceFile) -> tuple[str, str] | None:
    """The model that a call asks, and the ORM as far as the receiver tells. None for other calls."""
    written = text_of_callee(call, file)
    receiver = "".join(written[: written.rfind(".")].rstrip("?! \n").split())
    if (found := model_of(receiver, call, file)) is not None:
        makes_only = verb == "create" and found[1] != "mongoose" and file.mentions(b"typeorm")
        is_own_write = receiver in _OWN and verb in _ON_ROWS
        return None if makes_only or is_own_write else found
    if not _MANAGER.search(receiver):
        return None
    first = next(iter(file.arguments(call)[0]), None)
    named_class = file.text(first) if first is not None and first.type == "identifier" else ""
    is_told = file.mentions(b"typeorm")
    if named_class[:1].isupper() and (is_told or named_class in file.bindings):
        return named_class, "typeorm" if is_told else "class"  # the manager may come from another file
    return ("", "typeorm") if is_told and verb in ("save", "remove") else None


def model_of(receiver: str, call: Node, file: SourceFile) -> tuple[str, str] | None:
    """The model that a receiver stands for: a class, a repository, `getRepository(Order)`, `model("Order")`, `this`."""
    if (held := _OWN_MODEL.match(receiver)) is not None and held[1] not in _names_in(file):
        own = _own_model(call, file)
        return (own, "class") if own else None
    if (found := _CLASS.search(_without_arguments(receiver))) is not None:
        model = found[1]
        if model in _BUILT_IN or model.endswith(_NO_MODELS):
            return None
        return _names_in(file).get(model, model), "class"
    if (given := _last(_GIVEN, receiver)) is not None:
        return given, "typeorm"
    if receiver.endswith(")"):
        giver = _GIVER.fullmatch(receiver)
        if giver is not None and giver[1] in _names_in(file):
            return _names_in(file)[giver[1]], "class"
        named = _last(_NAMED, receiver)
        return (named, "mongoose") if named is not None else None
    if receiver in _OWN:
        own = _own_model(call, file)
        return (own, "class") if own else None
    last = receiver.rpartition(".")[2]
    declared = _names_in(file).get(last) if receiver in (last, f"this.{last}") else None
    return (declared, "class") if declared is not None else None


def _without_arguments(receiver: str) -> str:
    return re.sub(r"\([^()]*\)", "()", receiver) if "(" in receiver else receiver


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.findall(text) if "(" in text else []
    return found[-1] if found else None


@lru_cache(maxsize=1)
def _names_in(file: SourceFile) -> dict[str, str]:
    """Names of the file that hold a model class, or a repository of one, with the class. Kept for the file that was
    asked last."""
    found: dict[str, str] = {}
    if file.mentions(b"Repo") or file.mentions(b"Model") or file.mentions(b"model("):
        for pattern in (_DECLARED, _TYPED, _HELD, _GIVES, _MODELLED):
            for name, model in pattern.findall(file.source):
                found.setdefault(name.decode(), _OF_CLASS.sub("", model.decode()))
    return found


def _own_model(call: Node, file: SourceFile) -> str:
    """The model of `this`: the class that is one, or gives access to one; in a file of one schema its model."""
    scope = file.scope_of(call)
    owner = scope.function.owner
    while not owner and scope.parent is not None:
        scope = scope.parent
        owner = scope.function.owner
    if owner:
        return owner
    named = set(_names_in(file).values())
    return named.pop() if len(named) == 1 and file.mentions(b"Schema(") else ""


def _document(call: Node, name: str, verb: str, file: SourceFile) -> tuple[str, str] | None:
    """A row that writes itself: `order.save()`, `order.destroy()`; known when the function shows what it is."""
    if (query := _query_of(call, name, file)) is not None:
        return query.model, query.orm
    if verb not in ("save", "destroy") or file.arguments(call)[0][1:]:
        return None
    before = file.source[max(0, call.start_byte - LONGEST_BEFORE) : call.start_byte].decode("utf-8", "replace")
    made = re.findall(rf"\b{re.escape(name)}\s*=\s*new\s+(?:this\.)?([A-Za-z]\w*)\(", before)
    if made:
        return _names_in(file).get(made[-1], made[-1]), "class"
    if (named := name[:1].upper() + name[1:]) in file.bindings and name[:1].islower():
        return named, "class"  # `device` of the imported `Device`
    if file.mentions(b"mongoose") and verb == "save":
        return "", "mongoose"
    return ("", "sequelize") if file.mentions(b"sequelize") else None


def _query_of(call: Node, name: str, file: SourceFile) -> Query | None:
    """The query of the same function whose row a variable holds: its own, or that whose rows a loop goes through."""
    function, line = file.function_of(call), file.line(call)
    near = [each for each in reversed(file.queries) if each.function == function]
    own = (each for each in near if each.variable == name and each.line <= line and each.orm != "prisma")
    loops = (each for each in reversed(file.loops) if each.function == function and each.variables[:1] == (name,))
    driving = (each for loop in loops for each in near if each.variable and loop.iterable == each.variable)
    return next(own, None) or next(driving, None)


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
    file.queries.append(
        query_at(
            call,
            file,
            orm=orm,
            model=model,
            operation=operation,
            terminal="" if (variable or _is_handed_over(call, file)) and _is_held_back(call, steps, file) else verb,
            filters=(*filters, *_step_filters(steps)),
            order=(*_ordered(options.get("order"), file), *_order(steps)),
            limit=1 if verb in _SINGLE or operation == "exists" else _limit(options, steps, file),
            offset=limit_of(options, "skip", file) or limit_of(options, "offset", file) or _stepped("skip", steps),
            eager=(*_eager(options, file), *_populated(steps)),
            columns=(
                *keys(options.get("select"), file),
                *keys(options.get("attributes"), file),
                *_projected(verb, positional, file),
                *_selected(steps),
            ),
            lock="lock" in options,
            streaming=any(step.name in ("cursor", "stream") for step in steps),
            variable=variable,
            raw=_is_opaque(verb, positional, options, steps, file),
            counted=counted,
        )
    )


def _kept_as(call: Node, steps: tuple[Step, ...], file: SourceFile) -> tuple[str, str]:
    """The variable that holds the rows, and `len` where only their number is asked for."""
    counted = "len" if takes_length(call.start_byte, file) else ""
    variable = assigned_to(call.start_byte, file)
    for step in steps:
        if step.name in _COUNTING and not step.arguments:
            counted, variable = "len", ""
        elif step.name == "then" and not variable:
            given = _PARAMETER.match(step.arguments)
            variable = given[1] if given is not None else ""
        elif step.name not in _CONTINUED and step.name not in _MONGOOSE_STEPS:
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
    if not file.mentions(b"ongoose") or any(step.name in ("exec", "then") for step in steps):
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
    if any(step.name in _CONDITION_STEPS for step in steps):
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


# What stands behind the call, in Mongoose

_MONGOOSE_STEPS = frozenset(
    """exec lean populate sort limit skip select where equals in gt gte lt lte session read hint cursor stream maxTimeMS
    collation allowDiskUse batchSize orFail setOptions cache comment""".split()
)
_CONDITION_STEPS = frozenset({"and", "or", "setOptions"})
_HANDED_OVER = re.compile(rb"\bnew\s+[\w.]+(?:<[\w, ]*>)?\(\s*\Z")
_NARROWING = re.compile(r"\bwhere\b|\brequired\s*:\s*true")  # inner joins of Sequelize
_FIRST_TEXT = re.compile(r"^\s*\{?\s*(?:path\s*:\s*)?[\"'`]?([\w.]+)")
_PATH = re.compile(r"[\"'`]([\w.]+)")
_RANDOM = re.compile(r"(?i)\b(?:random|rand)\(|\bfn\(\s*[\"'`]rand(?:om)?[\"'`]")


def _stepped(name: str, steps: tuple[Step, ...]) -> int:
    for step in steps:
        if step.name == name:
            text = step.arguments.strip()
            return int(text) if _NUMBER.match(text) else -1
    return 0


def _limit(options: dict[str, Node | None], steps: tuple[Step, ...], file: SourceFile) -> int:
    return limit_of(options, "take", file) or limit_of(options, "limit", file) or _stepped("limit", steps)


def _ordered(node: Node | None, file: SourceFile) -> Iterator[str]:
    """The columns of `order`; `random` where a function of that name or a fragment of SQL mixes the rows."""
    if node is not None and _RANDOM.search(file.text(node)):
        yield "random"
    yield from keys(node, file)


def _order(steps: tuple[Step, ...]) -> tuple[str, ...]:
    found = (_FIRST_TEXT.match(step.arguments) for step in steps if step.name == "sort")
    return tuple(match[1] for match in found if match is not None)


def _populated(steps: tuple[Step, ...]) -> tuple[str, ...]:
    return tuple(each for step in steps if step.name == "populate" for each in _PATH.findall(step.arguments)[:1])


def _selected(steps: tuple[Step, ...]) -> tuple[str, ...]:
    return tuple(word for step in steps if step.name == "select" for word in re.findall(r"[\w.]+", step.arguments)[:20])


def _step_filters(steps: tuple[Step, ...]) -> tuple[Filter, ...]:
    return tuple(
        Filter(match[1], "eq")
        for step in steps
        if step.name == "where" and (match := _PATH.match(step.arguments.strip())) is not None
    )


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
