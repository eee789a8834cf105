"""Calls of annotated methods by their own object, which Spring's proxy does not see."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.scopes import FunctionDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.transactions import in_transaction

_BY_TEMPLATE = re.compile(rb"\bTransactionTemplate\b|\btransactionTemplate\.")
_PRIVATE = re.compile(rb"\bprivate\b")


def self_invocations(method: Node, name: str, file: SourceFile) -> Iterator[Node]:
    """Where methods of its class call an annotated one on `this`, while no transaction is open."""
    for caller, call in _callers(method, name, file):
        if not runs_in_transaction(caller, file):
            yield call


def _callers(method: Node, name: str, file: SourceFile) -> Iterator[tuple[FunctionDraft, Node]]:
    owner = file.functions[file.function_of(method)].owner
    called = re.compile(rb"(?<![\w.])(?:this\.)?" + re.escape(name.encode()) + rb"\(")
    for function in file.functions[1:]:
        node, body = function.node, function.node.child_by_field_name("body")
        if function.owner != owner or node.id == method.id or body is None or node.type != "method_declaration":
            continue
        found = called.search(file.code, body.start_byte, body.end_byte)
        if found is not None:
            root = file.tree.root_node
            yield function, root.descendant_for_byte_range(found.start(), found.start() + 1) or root


def runs_in_transaction(function: FunctionDraft, file: SourceFile) -> bool:
    """Whether the method runs in a transaction: by an annotation of its own, or, when it is private, by those of all
    that call it."""
    node, name = function.node, function.node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if body is None or name is None:
        return False
    if in_transaction(body.start_byte + 1, file) or _BY_TEMPLATE.search(file.source, body.start_byte, body.end_byte):
        return True
    if not _PRIVATE.search(file.source, node.start_byte, name.start_byte):
        return False
    bodies = [caller.node.child_by_field_name("body") for caller, _ in _callers(node, file.text(name), file)]
    return bool(bodies) and all(each is not None and in_transaction(each.start_byte + 1, file) for each in bodies)
