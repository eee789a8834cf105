"""Method chains as ORMs use them: `Order.objects.filter(paid=True).first()` as a base and its steps."""

import re
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile, innermost_loop
from analysis.engine.facts import Filter, Query
from analysis.engine.readers.transactions import in_transaction

LONGEST_CHAIN = 60  # steps

_GOES_ON = re.compile(rb"(?:\[[^\[\]]*:[^\[\]]*\])?\s*\??\.[A-Za-z_]\w*[(<]")
_GIVES_ALL = frozenset({"scalars", "unique", "mappings", "all", "fetchall"})  # of a result that was awaited
_MEMBERS = frozenset({"attribute", "member_expression", "selector_expression"})

_WRAPPERS = frozenset({"list", "tuple", "set", "frozenset", "sorted", "len", "bool", "sum", "min", "max", "any", "all"})
_MEASURES = frozenset({"len", "bool"})
_CONDITIONED = frozenset({"if_statement", "elif_clause", "while_statement"})  # of Python: querysets have a truth value
_LOOPS = frozenset({"for_statement", "for_in_clause", "for_in_statement"})
_LOGIC = frozenset({"not_operator", "boolean_operator"})
_MANY = re.compile(rb"\bmany\s*=\s*True\b")  # a serializer writes out all rows
_LITERALS = frozenset({"string", "integer", "float", "true", "false", "none", "number", "null", "unary_operator"})


class Step(NamedTuple):
    name: str
    call: Node


class Chain(NamedTuple):
    base: str  # text before the first call: `Order.objects`, `session`, `qs`
    steps: tuple[Step, ...]
    limit: int  # of a slice around the chain: 0 none, -1 an expression
    offset: int
    terminal: str  # what around the chain runs it: `list`, `iter`, `await`; empty when nothing does
    variable: str  # what the whole is assigned to
    top: Node  # chain with its slice


def chain_of(call: Node, file: SourceFile) -> Chain | None:
    """The whole chain that ends in this call; None when the chain goes on after it, or begins with no plain name. An
    attribute of the result (`.get(pk=1).name`) is no step."""
    if _GOES_ON.match(file.source, call.end_byte):
        return None
    parent = file.parent_of(call)
    if parent is not None and parent.type in _MEMBERS and _is_called(parent, file):
        return None
    steps: list[Step] = []
    within = (0, 0)  # of a slice that the chain goes on behind
    node = call
    while node.type in ("call", "call_expression") and len(steps) < LONGEST_CHAIN:
        function = node.child_by_field_name("function")
        if function is None or function.type not in ("attribute", "member_expression"):
            return None
        name = function.child_by_field_name("attribute") or function.child_by_field_name("property")
        inner = function.child_by_field_name("object")
        if name is None or inner is None:
            return None
        steps.append(Step(file.text(name), node))
        cut = inner.child_by_field_name("subscript") if inner.type == "subscript" else None
        if cut is not None and cut.type == "slice" and inner.named_child_count:
            within, inner = _bounds(cut, file), inner.named_children[0]
        node = inner
    if node.type not in ("identifier", "attribute", "member_expression"):
        return None
    limit, offset, top = _slice(call, parent, file)
    if not limit:
        limit, offset = within
    terminal, variable = _use(top, parent if top is call else file.parent_of(top), file)
    return Chain(file.text(node), tuple(reversed(steps)), limit, offset, terminal, variable, top)


def _is_called(member: Node, file: SourceFile) -> bool:
    outer = file.parent_of(member)
    function = outer.child_by_field_name("function") if outer is not None else None
    return function is not None and function.id == member.id


def _slice(call: Node, parent: Node | None, file: SourceFile) -> tuple[int, int, Node]:
    if parent is None or parent.type != "subscript":
        return 0, 0, call
    index = parent.child_by_field_name("subscript")
    if index is None:
        return 0, 0, call
    if index.type != "slice":
        return 1, 0, parent
    return *_bounds(index, file), parent


def _bounds(cut: Node, file: SourceFile) -> tuple[int, int]:
    """Limit and offset of a slice."""
    low, _, high = file.text(cut).partition(":")
    first, last = _number(low), _number(high)
    return (last - first if last > 0 and first >= 0 else last), first


def _number(text: str) -> int:
    text = text.strip()
    if not text:
        return 0
    return int(text[:9]) if text.isdigit() else -1


def _use(top: Node, parent: Node | None, file: SourceFile) -> tuple[str, str]:
    """What runs the chain, and the name it is given."""
    if parent is None:
        return "", ""
    if parent.type in ("await", "await_expression"):
        whole = _taken_whole(parent, file)
        terminal, variable = _use(whole, file.parent_of(whole), file)
        return terminal or "await", variable
    if parent.type in ("assignment", "variable_declarator"):
        left = parent.child_by_field_name("left") or parent.child_by_field_name("name")
        return "", file.text(left) if left is not None and left.type == "identifier" else ""
    if parent.type in _LOGIC:
        around, _ = _use(parent, file.parent_of(parent), file)
        return ("bool" if around == "bool" or parent.type == "not_operator" else ""), ""
    if parent.type in _CONDITIONED:
        return ("bool" if _is_field("condition", top, parent) else ""), ""
    if parent.type in _LOOPS:
        return ("iter" if _is_field("right", top, parent) else ""), ""
    return _use_as_argument(top, parent, file) if parent.type == "argument_list" else ("", "")


def _is_field(name: str, node: Node, parent: Node) -> bool:
    child = parent.child_by_field_name(name)
    return child is not None and child.id == node.id


def _use_as_argument(top: Node, arguments: Node, file: SourceFile) -> tuple[str, str]:
    """What a call makes of a chain that it is given: `len(…)`, or a list of all."""
    outer = file.parent_of(arguments) if arguments.named_child_count == 1 else None
    function = outer.child_by_field_name("function") if outer is not None else None
    name = file.text(function) if function is not None else ""
    if outer is not None and name in _WRAPPERS:
        around, variable = _use(outer, file.parent_of(outer), file)
        return (around if name in ("list", "tuple") and around in _MEASURES else name), variable
    return ("list" if _MANY.search(file.source, top.end_byte, arguments.end_byte) else ""), ""


def _taken_whole(awaited: Node, file: SourceFile) -> Node:
    """`(await …).scalars().all()` of the awaited part in it: what all rows stand for. The part itself where other steps
    follow, or none."""
    node = file.parent_of(awaited)
    if node is None or node.type != "parenthesized_expression":
        return awaited
    while (member := file.parent_of(node)) is not None and member.type in _MEMBERS:
        call = file.parent_of(member)
        step = member.child_by_field_name("attribute") or member.child_by_field_name("property")
        if call is None or step is None or not _is_called(member, file) or file.text(step) not in _GIVES_ALL:
            return awaited
        node = call
    return node


def query_at(
    node: Node,
    file: SourceFile,
    *,
    orm: str,
    model: str,
    operation: str,
    terminal: str = "",
    filters: tuple[Filter, ...] = (),
    order: tuple[str, ...] = (),
    limit: int = 0,
    offset: int = 0,
    eager: tuple[str, ...] = (),
    columns: tuple[str, ...] = (),
    lock: bool = False,
    streaming: bool = False,
    variable: str = "",
    raw: bool = False,
    counted: str = "",
) -> Query:
    """A query with what its place says: function, line, loop, transaction."""
    scope = file.scope_of(node)
    loop = innermost_loop(scope, node.start_byte)
    if variable:
        file.query_variables.add(variable)
    anchor = file.anchor(node)
    file.query_spans.setdefault((file.line(node), anchor, model), (node.start_byte, node.end_byte))
    return Query(
        function=scope.function.index,
        line=file.line(node),
        orm=orm,
        model=model,
        operation=operation,
        terminal=terminal,
        filters=filters,
        order=order,
        limit=limit,
        offset=offset,
        eager=eager,
        columns=columns,
        lock=lock,
        streaming=streaming,
        loop=loop.index if loop is not None else -1,
        uses_loop_variable=loop is not None and file.depends_on(loop, node),
        variable=variable,
        anchor=anchor,
        raw=raw,
        counted=counted,
        in_transaction=in_transaction(node.start_byte, file),
    )


def is_literal(node: Node) -> bool:
    """Whether a value is written out in the source."""
    if node.type in ("list", "tuple"):
        return all(map(is_literal, node.named_children))
    return node.type in _LITERALS


def strings_in(nodes: list[Node], file: SourceFile) -> tuple[str, ...]:
    """The texts of string literals among the nodes."""
    return tuple(file.text(each).strip("\"'`") for each in nodes if each.type == "string")
