"""Clients for HTTP that one file of a script makes and others import: `export const stock = axios.create({ … })`."""

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from analysis.engine.codebase import Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts, Mark
from analysis.engine.rules.base import SCRIPT, Watch

ANNOTATION = "shared client"  # rule of these marks

_MAKES = {"axios.create": "axios", "got.extend": "got", "got.default.extend": "got"}
_GIVEN = re.compile(rb"\b(?:const|let|var)\s+(\w+)\s*(?::[^=\n]{1,60})?=\s*\Z|\b(?:module\.)?exports\.(\w+)\s*=\s*\Z")
_NEAR = 120  # bytes before the call in which its name stands


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    library = _MAKES.get(file.callee(call), "")
    given = _GIVEN.search(file.source, max(0, call.start_byte - _NEAR), call.start_byte) if library else None
    if given is not None and file.function_of(call) == 0:
        name = (given[1] or given[2]).decode()
        yield Mark(ANNOTATION, file.line(call), 0, "", "", data={"name": name, "library": library})


WATCHES = (Watch("call", look, SCRIPT, names=frozenset({"create", "extend"})),)


def by_library(call: str, place: Place) -> str:
    """A call on a client that another file makes, named after its library: `./http.stock.get` is `axios.get`."""
    receiver, dot, verb = call.rpartition(".")
    module, _, name = receiver.rpartition(".")
    clients = place.codebase.summaries(_clients) if dot and "/" in module else {}
    if not any(name in each for each in clients.values()):
        return call
    edges = place.codebase.graph.imports_of(place.path)
    made = (clients.get(each.target, {}).get(name, "") for each in edges if {name, "*"}.intersection(each.names))
    library = next(filter(None, made), "")
    return f"{library}.{verb}" if library else call


def _clients(facts: FileFacts) -> Mapping[str, str]:
    """The clients that a file makes at its top level, by name, with their libraries."""
    return {each.data["name"]: each.data["library"] for each in facts.marks if each.rule == ANNOTATION}
