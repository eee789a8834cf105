"""Knex: `knex("visits").where({ id }).first()`, read off the text of the chain as SQL on a table.

A file that never names Knex may use a handle of another one: what that asks is a query if the project has Knex.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.orm.chains import query_at
from analysis.engine.extract.orm.conditions import conditions_in
from analysis.engine.extract.orm.steps import (
    MANY_ROWS,
    Step,
    Written,
    assigned_to,
    parts_of,
    split,
    steps_after,
    takes_length,
)
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Filter, Mark
from analysis.engine.readers.reading import followed

_HANDLES = frozenset({"knex", "trx", "db", "tx", "conn", "database"})
_NAMED = re.compile(rb"\b(\w+)\s*(?:\?\s*)?(?::\s*Knex\b|=\s*(?:require\([\"']knex[\"']\)|[kK]nex)\()")
_WRITES = {
    **dict.fromkeys(("insert", "batchInsert"), "insert"),
    **dict.fromkeys(("update", "increment", "decrement"), "update"),
    **dict.fromkeys(("del", "delete", "truncate"), "delete"),
}
_SUMS = frozenset({"sum", "avg", "min", "max", "groupBy", "groupByRaw", "sumDistinct"})
_COUNTS = frozenset({"count", "countDistinct"})
_OF_ROWS = frozenset(
    {"first", "select", "pluck", "where", "orderBy", "limit", "offset", "from", "distinct", "forUpdate"}
)
_WHERES = {
    **dict.fromkeys(("where", "andWhere"), "eq"),
    **dict.fromkeys(("whereIn", "andWhereIn"), "in"),
    **dict.fromkeys(("whereNull", "whereNotNull"), "null"),
    **dict.fromkeys(("whereBetween",), "range"),
    **dict.fromkeys(("whereLike", "whereILike"), "like"),
    **dict.fromkeys(("whereNot", "whereNotIn", "orWhere", "orWhereIn"), "other"),
}
_RAW_WHERES = frozenset({"whereRaw", "andWhereRaw"})
_RAW_ORDER = re.compile(r"\s*[\"'`]\s*(\w+)")
_OPERATORS = {"=": "eq", "<": "range", ">": "range", "<=": "range", ">=": "range", "in": "in", "like": "like"}
_TEXT = re.compile(r"[\"'`]([\w.]+)(?: as \w+)?[\"'`]$")
# A column, and its value where that is written out.
_KEY = re.compile(r"[\"']?([\w.]+)[\"']?\s*(?::\s*(true\b|false\b|[\"'`\d])?|$)")
_INSIDE = re.compile(r"[\"'`]%")
_GOES_ON = re.compile(rb"\s*\??\.\s*(?!(?:then|catch|finally|stream|asCallback)\b)[A-Za-z_]\w*\s*\(")
_STREAMED = re.compile(rb"\s*\.\s*stream\s*\(")
_NAMED_CHAIN = re.compile(rb"\b(\w+)\s*(?::[^=;\n]{1,60})?=\s*\Z")
_STEP_BEHIND = re.compile(rb"(?=\s*\.\s*\w)")
_AWAITED = re.compile(rb"\bawait\s+\Z")
_WAITS = re.compile(rb"\bawait\b|\bPromise\.|\.then\(|[mM]ap(?:Series|Limit)?\(\s*[\w.]+\s*,|\b[tT]ransaction\(")
_GIVES = re.compile(rb"(?:=>|\breturn)\s*(?:this\.)?\Z")
_GIVER = re.compile(
    rb"\b(\w+)\s*(?:=\s*(?:\([^()\n]*\)\s*(?::[^=;\n]{1,60})?)?=>|\([^()\n]*\)\s*(?::[^{;\n]{1,60})?\{\s*return)\s*"
    rb"(?:this\.)?(\w+)(?:<[^<>()]*>)?\(\s*[\"'`](?:\w+\.)?(\w+)[\"'`]\s*\)\s*[;}\n,]"
)
_STEPS = (
    set(_WRITES)
    | set(_WHERES)
    | _RAW_WHERES
    | {"orderByRaw"}
    | _SUMS
    | _COUNTS
    | _OF_ROWS
    | {"ignore", "merge", "returning"}
)
_ASKED = re.compile(
    rb"\b(?:%s)\s*(?:\(\s*[\"'`]\w|\.\s*(?:batchInsert|select)\s*\()" % "|".join(sorted(_HANDLES)).encode()
)


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """A chain that begins with a table, at its last call."""
    handles = _handles(file)
    if not handles or _GOES_ON.match(file.source, call.end_byte):
        return iter(())
    written = split(file.text(call))
    given = _givers(file).get(written.steps[0].name, "") if written.steps and written.base in ("", "this") else ""
    if given and len(written.steps) > 1:
        _append(call, given, "", (*written.steps, *_added_later(call, file)), file)
        return iter(())
    handle = _handle(written.base, written.steps, handles)
    if handle and all(step.name not in ("raw", "schema", "transaction") for step in written.steps):
        table = _table(handle, written.steps)
        is_only_given = len(written.steps) == 1 and _GIVES.search(
            file.source, max(0, call.start_byte - 80), call.start_byte
        )
        if table and not is_only_given and (_names_knex(file) or _speaks_knex(handle, written, call, file)):
            _append(call, table, handle, (*written.steps, *_added_later(call, file)), file)
    return iter(())


READERS = dict.fromkeys(_HANDLES | _STEPS, look)


def _added_later(call: Node, file: SourceFile) -> Iterator[Step]:
    """The steps that the function adds to a chain which it gives a name before it waits for the rows."""
    named = _NAMED_CHAIN.search(file.source, max(0, call.start_byte - 120), call.start_byte)
    function = file.enclosing_function(call)
    if named is None or function is None:
        return
    for used in followed(named[1], file.source, _STEP_BEHIND, b"_.$", call.end_byte, function.end_byte):
        yield from (step for step in steps_after(used.start(), file) if step.name in _STEPS)


@lru_cache(maxsize=1)
def _givers(file: SourceFile) -> dict[str, str]:
    """Functions of the file that only give a table: `const visits = () => knex("visits")`, each with that."""
    handles = _handles(file)
    found = _GIVER.finditer(file.source) if handles else ()
    return {each[1].decode(): each[3].decode() for each in found if each[2].decode() in handles}


def _names_knex(file: SourceFile) -> bool:
    return file.mentions(b"knex") or file.mentions(b"Knex")


def _speaks_knex(handle: str, written: Written, call: Node, file: SourceFile) -> bool:
    """Whether a chain is one of Knex by its words alone: `db("visits").where(…)`, `db.batchInsert("visits", rows)`,
    `db.select("id").from("visits")`, and `await db("visits")`."""
    names = [step.name for step in written.steps]
    if len(names) == 1 and names[0] == handle:
        return (
            written.base in ("", "this")
            and _AWAITED.search(file.source, max(0, call.start_byte - 12), call.start_byte) is not None
        )
    is_begun = names[0] == handle and names[1] in _STEPS
    is_of_text = names[0] == "select" and bool(_texts(written.steps[0].arguments)) and "from" in names
    return names[0] == "batchInsert" or is_begun or is_of_text


def _handle(base: str, steps: tuple[Step, ...], handles: frozenset[str]) -> str:
    """What the chain is asked of: `knex` of `knex("visits")`, `this.knex("visits")` and `knex.select()`. Empty when
    that is no handle."""
    last = base.rpartition(".")[2]
    if not steps or last in handles:
        return last if steps else ""
    return steps[0].name if steps[0].name in handles else ""


@lru_cache(maxsize=1)
def _handles(file: SourceFile) -> frozenset[str]:
    """What the file declares as Knex, or may have been handed; kept for the file that was asked last."""
    if _names_knex(file):
        return frozenset(name.decode() for name in _NAMED.findall(file.source)) | _HANDLES
    return _HANDLES if _ASKED.search(file.source) else frozenset()


def _table(handle: str, steps: tuple[Step, ...]) -> str:
    for step in steps:
        if step.name in ("from", "into", "table", "batchInsert") or (step is steps[0] and step.name == handle):
            found = _TEXT.match(next(iter(parts_of(step.arguments)), "").strip())
            if found is not None:
                return found[1].rpartition(".")[2]
    return ""


def _append(call: Node, table: str, handle: str, steps: tuple[Step, ...], file: SourceFile) -> None:
    given = {step.name: step.arguments for step in steps}
    operation = _operation(given)
    is_counted = takes_length(call.start_byte, call.end_byte, file)
    query = query_at(
        call,
        file,
        orm="sql",
        model=table,
        operation=operation,
        terminal="fetchall" if operation == "select" else next(reversed(given)),
        filters=tuple(each for step in steps for each in _filters(step)),
        order=_texts(given.get("orderBy", "")) or tuple(_RAW_ORDER.findall(given.get("orderByRaw", ""))[:1]),
        limit=1 if "first" in given else _amount(given.get("limit")),
        offset=_amount(given.get("offset")),
        columns=_texts(given.get("select", "")) or _texts(given.get("pluck", "")),
        lock="forUpdate" in given,
        variable="" if is_counted else assigned_to(call.start_byte, file),
        raw=True,
        counted="len" if is_counted else "",
        streaming=_STREAMED.match(file.source, call.end_byte) is not None,
    )
    if query.loop >= 0 and _is_only_made(call, file):
        query = structs.replace(query, loop=-1, uses_loop_variable=False)
    is_inside = query.in_transaction or handle in ("trx", "tx") or "transacting" in given
    needs = "" if _names_knex(file) else "knex"
    file.queries.append(structs.replace(query, in_transaction=is_inside, needs=needs))


def _is_only_made(call: Node, file: SourceFile) -> bool:
    """Whether a call-back gives back a chain for each element, and nobody waits for them here."""
    function = file.enclosing_function(call)
    if function is None or function.type != "arrow_function" or file.source.startswith(b"async", function.start_byte):
        return False
    body = function.child_by_field_name("body")
    loop = file.loop_of(call)
    if body is None or loop is None or body.end_byte != call.end_byte or loop.node.id != function.id:
        return False
    statement = file.statement_of(function)
    around = file.enclosing_function(function) or file.tree.root_node
    return _WAITS.search(file.source, statement.start_byte, around.end_byte) is None


def _operation(given: dict[str, str]) -> str:
    for name in given:
        if name in _WRITES:
            rows = given[name].strip()
            is_many = name == "batchInsert" or rows.startswith("[") or MANY_ROWS.search(rows)
            return "bulk_insert" if _WRITES[name] == "insert" and is_many else _WRITES[name]
    if not _SUMS.isdisjoint(given):
        return "aggregate"
    return "select" if _COUNTS.isdisjoint(given) else "count"


def _filters(step: Step) -> Iterator[Filter]:
    if step.name in _RAW_WHERES:
        yield from _raw_filters(step)
        return
    operator = _WHERES.get(step.name)
    parts = [each.strip() for each in parts_of(step.arguments)] if operator is not None else []
    if not parts or operator is None:
        return
    if parts[0].startswith("{"):
        keys = (_KEY.match(each) for each in parts_of(parts[0].removeprefix("{").removesuffix("}")))
        yield from (Filter(key[1].rpartition(".")[2], operator, bool(key[2])) for key in keys if key is not None)
        return
    column = _TEXT.match(parts[0])
    if column is None:
        return
    if operator == "eq" and len(parts) == 3:
        operator = _OPERATORS.get(parts[1].strip("\"'`").lower().removeprefix("i"), "other")
    if operator == "like" and _INSIDE.match(parts[-1]):
        operator = "contains"
    yield Filter(column[1].rpartition(".")[2], operator, parts[-1][:1] in "\"'`0123456789" and len(parts) > 1)


def _raw_filters(step: Step) -> Iterator[Filter]:
    """The conditions of `whereRaw("lower(name) = ?", [name])`."""
    text, *bound = parts_of(step.arguments) or [""]
    if text[:1] in "\"'`" and text:
        yield from conditions_in(
            text[1:-1], "", parts_of(bound[0].removeprefix("[").removesuffix("]")) if bound else ()
        )


def _texts(arguments: str) -> tuple[str, ...]:
    found = (_TEXT.match(each.strip()) for each in parts_of(arguments))
    return tuple(each[1].rpartition(".")[2] for each in found if each is not None)


def _amount(given: str | None) -> int:
    """The number that is written, -1 for an expression, 0 where nothing is given."""
    if given is None:
        return 0
    return int(given) if given.strip().isdigit() else -1
