"""Which parameters of a function are given what a request of a script brings, and which an upper limit.

What a handler hands to a service is seen at the handler; who reads the service asks here. The `data` of a mark:

- `calls`: the callee, the position and what stands there for each argument that tells, `./orders.page@1:asked`
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.rules.base import SCRIPT, Watch

ANNOTATION = "handed"  # rule of these marks
ASKED, CLAMPED = "asked", "clamped"
_REQUEST = r"(?:req|request|ctx)(?:\.request)?\.(?:query|body|params)\b"
_TAKEN = rf"{_REQUEST}(?:[?!]?\.\w+|\[[^\]\n]*\])+"  # as it came, and no number that is made of it
_VALUE = rf"(?:(?P<clamped>Math\.min\(|clamp\()|(?:String\(\s*)?{_TAKEN}\)?\s*(?:(?:\|\||\?\?)[^,;\n]*)?"
_ARGUMENT = re.compile(rf"{_VALUE}\Z)")
_BEGINS = re.compile(rb"Math\.min\(|clamp\(|String\(|req|ctx")  # a cheap question before
_GIVEN = re.compile(rf"\b(\w+)\s*(?::[^=;\n]{{1,60}})?=\s*{_VALUE}[;\n])".encode())
_TAKEN_APART = re.compile(rf"\{{([^{{}}=]*)\}}\s*=\s*{_REQUEST}\s*[;\n]".encode())
_NAMES = re.compile(r"\w+")
_NEEDS = tuple(
    f"{name}.{part}".encode() for name in ("req", "request", "ctx") for part in ("query", "body", "params", "request")
)
MOST_CALLS = 40  # of one function

_Named = dict[tuple[int, str], str]  # by function and name what the name holds
_EXPRESSIONS = frozenset({"member_expression", "subscript_expression", "call_expression", "binary_expression"})


def look(root: Node, file: SourceFile) -> Iterator[Mark]:
    """By function the calls whose arguments tell."""
    if not any(map(file.mentions, _NEEDS)):
        return
    named = _named(file)
    found: dict[int, dict[str, None]] = {}
    for call in file.calls:
        for position, argument in enumerate(file.arguments(call)[0]):
            kind = _kind(argument, named, file)
            callee = file.callee(call) if kind else ""
            if callee and " " not in callee:
                found.setdefault(file.function_of(call), {})[f"{callee}@{position}:{kind}"] = None
    for index, said in found.items():
        line = file.line(file.functions[index].node)
        yield Mark(ANNOTATION, line, index, "", "", data={"calls": " ".join(list(said)[:MOST_CALLS])})


def _named(file: SourceFile) -> _Named:
    found: _Named = {}
    for given in _GIVEN.finditer(file.source):
        kind = CLAMPED if given["clamped"] else ASKED
        found[_function_at(given.start(), file), given[1].decode()] = kind
    for apart in _TAKEN_APART.finditer(file.source):
        index = _function_at(apart.start(), file)
        found.update(((index, name), ASKED) for name in _NAMES.findall(apart[1].decode("utf-8", "replace")))
    return found


def _function_at(start: int, file: SourceFile) -> int:
    return file.scope_at(start, start + 1).function.index


def _kind(argument: Node, named: _Named, file: SourceFile) -> str:
    if argument.type == "identifier":
        return named.get((file.function_of(argument), file.text(argument)), "") if named else ""
    if argument.type not in _EXPRESSIONS or not _BEGINS.match(file.source, argument.start_byte):
        return ""
    given = _ARGUMENT.match(file.text(argument))
    return "" if given is None else CLAMPED if given["clamped"] else ASKED


WATCHES = (Watch("program", look, SCRIPT, needs=_NEEDS),)


def handed_to(place: Place, position: int) -> frozenset[str]:
    """What the calls that tell give to a parameter of a function: `asked`, `clamped`, or both."""
    here, name = place.callee, place.function.short_name
    return frozenset(
        kind
        for caller, mark in place.codebase.marks(ANNOTATION)
        if f"{name}@{position}:" in mark.data["calls"]
        for call, at, kind in _said(mark)
        if at == position
        and call.rpartition(".")[2] == name
        and here in place.codebase.calls.resolve(caller.path, caller.function, call)
    )


def _said(mark: Mark) -> Iterator[tuple[str, int, str]]:
    for each in mark.data["calls"].split():
        call, _, rest = each.rpartition("@")
        position, _, kind = rest.partition(":")
        yield call, int(position), kind
