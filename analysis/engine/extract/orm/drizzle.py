"""Drizzle: `db.select().from(orders).where(…)`, `db.query.orders.findMany({ … })`, `db.insert(orders).values(…)`.

A chain is read from the call that it begins with. Tables are variables, so a call counts when it is given what the file
imports or makes; whether that is a table the index of models says.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.orm.chains import query_at
from analysis.engine.extract.orm.drizzle_conditions import Asked, Conditions, column_in, conditions_of
from analysis.engine.extract.orm.drizzle_tables import object_given, table_named
from analysis.engine.extract.orm.options import amount, elements, keys, limit_of, options_of, pairs
from analysis.engine.extract.orm.steps import MANY_ROWS, assigned_to, steps_after, takes_length
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.readers.reading import text_after

_RELATIONAL = re.compile(r"\.query\.(\w+)\.find(?:Many|First)$")
_HANDLE = re.compile(
    r"(?i)(?:^|\.)(?:\w*db|\w*database|tx|trx|transaction|\w*conn(?:ection)?|\w*drizzle|\w*client)\w*(?:\(\))?$"
)
_NEXT_STEP = re.compile(rb"(?:\s|//[^\n]*\n)*\.\s*(\w+)\s*\(")
_GOES_ON = {  # with which step a chain goes on that begins so
    **dict.fromkeys(("select", "selectDistinct", "selectDistinctOn"), frozenset({b"from"})),
    "insert": frozenset({b"values", b"select", b"ignore"}),
    "update": frozenset({b"set"}),
}
_OPERATIONS = {
    **dict.fromkeys(("select", "selectDistinct", "selectDistinctOn", "findMany", "findFirst"), "select"),
    "insert": "insert",
    "update": "update",
    "delete": "delete",
    "$count": "count",
}
_AGGREGATES = re.compile(
    r"(?i)^(?:\w+\.)?(?:countDistinct|sum\w*|avg\w*|min|max)\(|^(?:\w+\.)?sql\b.*?\b(?:sum|avg|min|max|array_agg|json_agg)\("
)
_COUNTS = re.compile(r"(?i)^(?:\w+\.)?count\(|^(?:\w+\.)?sql\b.*?\bcount\(")
_HELD_BACK = frozenset({"as", "prepare", "$dynamic", "getSQL", "toSQL"})
_RUNS = frozenset({"execute", "all", "get", "run", "iterator"})
_PROMISES = frozenset({"then", "catch", "finally"})
_TAKES_ALL = frozenset({"all", "allSettled", "race", "batch", "waitUntil", "resolve"})
_THROUGH = frozenset(
    """parenthesized_expression as_expression satisfies_expression non_null_expression ternary_expression
    binary_expression""".split()
)
_ONE = re.compile(r"(?:const|let|var)\s*\[\s*[\w$]+\s*\]\s*(?::[^=;\n]+)?=\s*\(?\s*(?:await\s+)?\Z")
_FIRST = re.compile(
    rb"""
    (?:\s|\))*(?:\?\.|!)?
    (?:\[\s*0\s*\]|\.at\(\s*0\s*\)
    |\.\s*then\(\s*(?:\(?\s*\w+\s*\)?\s*=>\s*\w+(?:\??\.?\[0\]|\.at\(0\))|\(\[\s*\w+\s*\]\)\s*=>|\w*(?:[fF]irst|[uU]nique)\w*\s*\)))
    """,
    re.VERBOSE,
)
_ORDER = re.compile(r"^(?:\w+\.)?(?:(?:asc|desc)\(\s*)?([\w.]+)")
_RANDOM = re.compile(r"(?i)\brandom\(\)|\brand\(\)")
_JOINS = frozenset({"innerJoin", "rightJoin", "crossJoin", "innerJoinLateral"})  # they leave rows out


class _Step(NamedTuple):
    name: str
    call: Node


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """The call that a chain begins with."""
    receiver, _, name = file.callee(call).rpartition(".")
    if name in ("findMany", "findFirst"):
        found = _RELATIONAL.search(f"{receiver}.{name}")
        if found is not None:
            _append_relational(call, found[1], receiver, file)
    elif receiver and _begins(name, call, file):
        _append_chain(call, name, receiver, file)
    return iter(())


READERS = dict.fromkeys(_OPERATIONS, look)


def _begins(name: str, call: Node, file: SourceFile) -> bool:
    """Whether the call may begin a chain: most that are called so go on in another way, or not at all."""
    if name not in _GOES_ON:
        return True
    following = _NEXT_STEP.match(file.source, call.end_byte)
    return following is not None and following[1] in _GOES_ON[name]


def _append_relational(call: Node, table: str, receiver: str, file: SourceFile) -> None:
    """`db.query.orders.findMany({ where, limit, with, columns })`."""
    given = file.arguments(call)[0]
    options = options_of(given[0] if given else None, file)
    is_first = file.callee(call).endswith("findFirst")
    asked = Asked(table)
    where = Conditions()
    if "where" in options or (given and given[0].type != "object"):
        where = conditions_of(options.get("where"), asked, file)
    steps, top = _chain(call, file)
    _append(
        top,
        steps,
        receiver,
        file,
        table=table,
        operation="select",
        terminal="findFirst" if is_first else "findMany",
        where=where,
        order=tuple(_ordered(_listed(options.get("orderBy"), file), asked, file)),
        limit=1 if is_first else limit_of(options, "limit", file),
        offset=limit_of(options, "offset", file),
        eager=tuple(_brought(options.get("with"), file)),
        columns=tuple(keys(options.get("columns"), file)),
    )


def _brought(node: Node | None, file: SourceFile, before: str = "") -> Iterator[str]:
    """The relations that `with` names, and those that these bring along in turn, by dots."""
    for key, value in pairs(node, file):
        if value is None or value.type != "false":
            yield before + key
            yield from _brought(options_of(value, file).get("with"), file, f"{before}{key}.")


def _listed(node: Node | None, file: SourceFile) -> list[Node]:
    """The elements of an option that is one value, an array, or a callback that gives either."""
    if node is None:
        return []
    given = object_given(node, file)
    body = node.child_by_field_name("body") if node.type == "arrow_function" else node
    return [*elements(given if given is not None else body)]


def _append_chain(call: Node, name: str, receiver: str, file: SourceFile) -> None:
    is_read = name.startswith("select")
    first = file.arguments(call)[0]
    if not is_read and not _table(first, file):
        return
    steps, top = _chain(call, file)
    given = {step.name: file.arguments(step.call)[0] for step in steps}
    table = _table(given.get("from", []) if is_read else first, file)
    if not table or (name in ("delete", "$count") and not ("where" in given or _HANDLE.search(receiver))):
        return
    asked = Asked(table)
    where = Conditions()
    for node in given.get("where", first[1:2] if name == "$count" else []):
        where = conditions_of(node, asked, file)
    is_joined = not _JOINS.isdisjoint(given)
    _append(
        top,
        steps,
        receiver,
        file,
        table=table,
        operation=_operation(name, call, given, file),
        terminal=name,
        where=where._replace(is_opaque=where.is_opaque or is_joined),
        order=tuple(_ordered(given.get("orderBy", []), asked, file)),
        limit=1 if "get" in given else amount(next(iter(given.get("limit", [])), None), file),
        offset=amount(next(iter(given.get("offset", [])), None), file),
        columns=tuple(_selected(call, asked, file)) if is_read else (),
    )


def _chain(call: Node, file: SourceFile) -> tuple[list[_Step], Node]:
    """The calls on what this one gives, in order, and the last of them."""
    steps: list[_Step] = []
    top = call
    while (member := file.parent_of(top)) is not None and member.type == "member_expression":
        outer, named = file.parent_of(member), member.child_by_field_name("property")
        name = file.text(named) if named is not None else ""
        if outer is None or outer.type != "call_expression" or name in _PROMISES:
            break
        top = outer
        steps.append(_Step(name, outer))
    return steps, top


def _table(given: list[Node], file: SourceFile) -> str:
    """The table that the first argument names, `orders` or `schema.orders`; empty when it may be anything."""
    if not given or given[0].type not in ("identifier", "member_expression"):
        return ""
    return table_named(file.text(given[0]).split("."), file)


def _append(
    top: Node,
    steps: list[_Step],
    receiver: str,
    file: SourceFile,
    *,
    table: str,
    operation: str,
    terminal: str,
    where: Conditions,
    order: tuple[str, ...],
    limit: int,
    offset: int,
    columns: tuple[str, ...],
    eager: tuple[str, ...] = (),
) -> None:
    given = {step.name for step in steps}
    counted, variable = _kept_as(top, file)
    if operation == "select" and not limit and (where.filters or where.is_opaque) and _takes_first(top, file):
        limit = 1
    query = query_at(
        top,
        file,
        orm="drizzle",
        model=table,
        operation=operation,
        terminal=terminal if _runs(top, given, file) else "",
        filters=where.filters,
        order=order,
        limit=limit,
        offset=offset,
        eager=eager,
        columns=columns,
        lock="for" in given,
        streaming="iterator" in given,
        variable=variable,
        raw=where.is_opaque,
        counted=counted,
    )
    is_inside = receiver.rpartition(".")[2] in ("tx", "trx", "transaction") or _taken_by(top, file) == "batch"
    file.queries.append(structs.replace(query, in_transaction=True) if is_inside else query)


def _kept_as(top: Node, file: SourceFile) -> tuple[str, str]:
    """`len` where only the number of rows is asked for, and the variable that holds the rows."""
    after = steps_after(top.end_byte, file)
    if takes_length(top.start_byte, top.end_byte, file) or (
        after and after[0].name == "length" and not after[0].arguments
    ):
        return "len", ""
    return "", assigned_to(top.start_byte, file) if not after or after[0].name in _PROMISES else ""


def _takes_first(top: Node, file: SourceFile) -> bool:
    """Whether the first row only is taken: `const [order] = await …`, `(await …)[0]`."""
    before = file.source[max(0, top.start_byte - 120) : top.start_byte].decode("utf-8", "replace")
    return _ONE.search(before) is not None or _FIRST.match(file.source, top.end_byte) is not None


def _operation(name: str, call: Node, given: dict[str, list[Node]], file: SourceFile) -> str:
    operation = _OPERATIONS[name]
    if name == "insert":
        rows = next(iter(given.get("values", [])), None)
        text = file.text(rows) if rows is not None else ""
        is_many = rows is None or rows.type == "array" or (rows.type != "object" and MANY_ROWS.search(text))
        return "bulk_insert" if is_many else operation
    if operation != "select":
        return operation
    wanted = file.arguments(call)[0]
    values = [file.text(value) for _, value in pairs(wanted[-1] if wanted else None, file) if value is not None]
    if values and all(_COUNTS.match(each) for each in values) and "groupBy" not in given:
        return "count"
    is_summed = bool(values) and all(_COUNTS.match(each) or _AGGREGATES.match(each) for each in values)
    return "aggregate" if is_summed or "groupBy" in given or name == "selectDistinct" else operation


def _selected(call: Node, asked: Asked, file: SourceFile) -> Iterator[str]:
    """The columns of the table that `select({ … })` names; what is computed, or stands for a table, by its key."""
    wanted = file.arguments(call)[0]
    for key, value in pairs(wanted[-1] if wanted else None, file):
        column = column_in(file.text(value), asked, file) if value is not None else key
        yield column or key


def _ordered(given: list[Node], asked: Asked, file: SourceFile) -> Iterator[str]:
    """The columns of `orderBy`; `random` where the rows are mixed."""
    for each in given:
        text = file.text(each)
        named = _ORDER.match(text)
        if _RANDOM.search(text):
            yield "random"
        elif each.type == "object":
            yield from keys(each, file)
        elif named is not None:
            yield named[1].rpartition(".")[2] if "sql" not in named[1] else text[:40]


def _runs(node: Node, given: set[str], file: SourceFile) -> bool:
    """Whether the statement reaches the database here, and is no part of another one or kept for later."""
    if not _HELD_BACK.isdisjoint(given):
        return False
    if not _RUNS.isdisjoint(given):
        return True
    parent = file.parent_of(node)
    while parent is not None and parent.type in _THROUGH:
        node, parent = parent, file.parent_of(parent)
    if parent is None:
        return False
    if parent.type == "variable_declarator":
        return _is_awaited_later(node, file)
    if parent.type in ("array", "arguments"):
        return _taken_by(node, file) in _TAKES_ALL
    if parent.type == "member_expression":
        named = parent.child_by_field_name("property")
        return named is not None and file.text(named) in _PROMISES
    return parent.type in ("await_expression", "return_statement", "arrow_function")


def _taken_by(node: Node, file: SourceFile) -> str:
    """The last name of the call that is given this, alone or in a list: `Promise.all([…])`, `db.batch([…])`."""
    outer = file.parent_of(node)
    if outer is not None and outer.type == "array":
        outer = file.parent_of(outer)
    call = file.parent_of(outer) if outer is not None and outer.type == "arguments" else None
    return file.callee(call).rpartition(".")[2] if call is not None and call.type == "call_expression" else ""


def _is_awaited_later(node: Node, file: SourceFile) -> bool:
    """Whether a variable holds the statement, and the function awaits just that, alone or with others."""
    name = assigned_to(node.start_byte, file)
    awaited = rf"\b(?:await|return)\s+(?:Promise\.\w+\(\s*\[[^\]]*)?\b{re.escape(name)}\s*[;)\],\n]"
    return bool(name) and re.search(awaited, text_after(node, file)) is not None
