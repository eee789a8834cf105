"""What outside calls in Go: functions registered as handlers of routes."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Entry, Mark

LONGEST_NAME = 100  # characters of a handler
LONGEST_PATH = 80

_VERBS = ("Get", "Post", "Put", "Patch", "Delete", "Head", "Options")
REGISTRATIONS = frozenset({"HandleFunc", "Handle", "Any", *_VERBS, *(verb.upper() for verb in _VERBS)})

_PATH = re.compile(r"[\"`](?:(?:[A-Z]+ )?[\w.-]*/[^\"`]*)?[\"`]$")  # `GET host/path`; groups also register ""
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
        name = _handler_name(each, file)
        if name:
            file.entries.append(Entry(name, "request", "go", detail.strip()))
    return iter(())


def _handler_name(node: Node, file: SourceFile) -> str:
    """The function that is registered, as the file names it; a literal is part of the function around it."""
    if node.type == "func_literal":
        return file.scope_of(node).function.name
    if node.type in ("identifier", "selector_expression"):
        return file.resolve(file.text(node))[:LONGEST_NAME]
    if node.type == "call_expression" and file.callee(node).rpartition(".")[2] in _WRAPPERS:
        wrapped = file.arguments(node)[0]
        return _handler_name(wrapped[0], file) if wrapped else ""
    return ""
