"""What outside calls in Go: functions registered as handlers of routes."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Entry, Mark
from analysis.engine.readers.reading import assigned_values

LONGEST_NAME = 100  # characters of a handler
LONGEST_PATH = 80

_VERBS = ("Get", "Post", "Put", "Patch", "Delete", "Head", "Options")
REGISTRATIONS = frozenset({"HandleFunc", "Handle", "Any", *_VERBS, *(verb.upper() for verb in _VERBS)})

_PATH = re.compile(r"[\"`](?:(?:[A-Z]+ )?[\w.-]*/[^\"`]*)?[\"`]$")  # `GET host/path`; groups also register ""
_MADE = re.compile(r"(?:\w+\.)?New([A-Z]\w*)\(|&?(?:\w+\.)?([A-Z]\w*)\{")  # an object, by what makes it
_WRAPPERS = frozenset({"HandlerFunc", "WrapF", "WrapH"})


def look_at_registration(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`http.HandleFunc("/x", handle)`, `mux.Handle("GET /x", handler)`, `r.GET("/x", auth, list)`: every function after
    the path is called by requests."""
    positional, _ = file.arguments(call)
    receiver, _, verb = file.callee(call).rpartition(".")
    if len(positional) < 2 or not receiver or (receiver == "net/http" and not verb.startswith("Handle")):
        return iter(())
    written = file.text(positional[0])
    if _PATH.match(written) is None:
        return iter(())
    path = written.strip('"`')[:LONGEST_PATH]
    detail = path if verb.startswith("Handle") else f"{verb.upper()} {path}"
    for each in positional[1:]:
        for name in _handler_names(each, file):
            file.entries.append(Entry(name, "request", "go", detail.strip()))
    return iter(())


def _handler_names(node: Node, file: SourceFile) -> Iterator[str]:
    """The functions that are registered, as the file names them: a literal is part of the function around it, and a
    call gives one that it makes itself or that it was given, `list(db)` or `auth(h.List)`."""
    if node.type == "func_literal":
        yield file.scope_of(node).function.name
    elif node.type in ("identifier", "selector_expression"):
        yield (_method_of_made(node, file) or file.resolve(file.text(node)))[:LONGEST_NAME]
    elif node.type == "call_expression":
        callee = file.callee(node)
        if callee.rpartition(".")[2] not in _WRAPPERS:
            yield callee[:LONGEST_NAME]
        for each in file.arguments(node)[0]:
            if each.type in ("func_literal", "identifier", "selector_expression", "call_expression"):
                yield from _handler_names(each, file)


def _method_of_made(node: Node, file: SourceFile) -> str:
    """`OrderHandler.List` for `orders.List` where the function says `orders := handlers.NewOrderHandler(db)`."""
    name, _, method = file.text(node).partition(".")
    values = assigned_values(name, node, file) if method.isidentifier() else []
    made = _MADE.match(file.text(values[-1])) if values else None
    return f"{made[1] or made[2]}.{method}" if made is not None else ""
