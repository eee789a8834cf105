"""Functions that call themselves again when they fail (`rel-retry-unbounded`)."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.attempts import DAEMON, LIMITED, OPTIMISTIC, TIMEOUT_OF_A_CALL, WAITS, goes_out
from analysis.engine.readers.handlers import guarded_text
from analysis.engine.readers.reading import CALLS, followed, function_name, text_before, within

_RAISES_LATE = re.compile(r"\b(?:raise|throw)\b[^\n]*[tT]ime_?[oO]ut")
_SWITCHES = re.compile(r"\b[\w.]+\s*=\s*(?:true|false|True|False)\b")  # what is asked for then is something else
GO_AGAIN = re.compile(
    rb"if\s+(?![^{\n]*==\s*nil)[^{\n]*(?:\w*[eE]rr\b|\.StatusCode\b)[^{\n]*\{[^{}]*\breturn\s+(?:\w+\.)?(\w+)\(([^(){}\n]*)\)\s*\}"
)
_ENDS_IN_GO = re.compile(r"ctx\.(?:Err|Done)\(|\b(?:attempt|deadline)", re.IGNORECASE)
_GIVEN = re.compile(r"\(([^()\n]*)\)")
_NEXT_ATTEMPT = re.compile(r"(?i)attempt|retr(?:y|ies)|tries|(?<!ac)(?<!dis)count(?!r(?:y|ies))|[-+] ?1\b|depth|left")


class Again(NamedTuple):
    """Where a function calls itself, what to say of that, and what it has called, for want of a name that tells of
    something remote."""

    call: Node
    message: str
    called: dict[str, str]


def again_in_handler(handler: Node, file: SourceFile) -> Iterator[Again]:
    """A handler that calls its own function again."""
    name = function_name(handler, file)
    short_name = name.rpartition(".")[2]
    body = file.text(handler).partition("\n" if file.language == "python" else "{")[2]
    if f"{short_name}(" not in body or _RAISES_LATE.search(body) or _SWITCHES.search(body):
        return
    again = re.search(
        rf"(?:return|await|yield)\s+(?:await\s+)?(?:self\.|this\.)?{re.escape(short_name)}\(([^\n]*)", body
    )
    if again is None or not short_name.isidentifier() or DAEMON.search(name) or _NEXT_ATTEMPT.search(body):
        return
    given = _arguments(again[1].rpartition(")")[0])
    if not _are_own(given, handler, file):
        return  # a part of the work, no second try
    if any(re.search(rf"\b{re.escape(each)}\.set\w*\(", body) for each in given):
        return  # another way to the same, which fails for good
    if LIMITED.search(TIMEOUT_OF_A_CALL.sub("", text_before(handler, file))):
        return
    if OPTIMISTIC.search(file.text(handler)):
        return
    called = {} if goes_out(guarded_text(handler, file), file) else _called_in_try(handler, short_name, file)
    yield Again(
        _call_of(short_name, handler, file), f"`{name}` calls itself again when it fails, without a limit", called
    )


def again_in_catch(call: Node, file: SourceFile) -> Iterator[Again]:
    """`client.connect().catch(() => connect())`: the function around, again, for as long as it fails."""
    given = file.arguments(call)[0]
    name = function_name(call, file)
    short_name = name.rpartition(".")[2]
    if len(given) != 1 or not short_name.isidentifier() or DAEMON.search(name):
        return
    handler, tried = file.text(given[0]), file.source[call.start_byte : given[0].start_byte].decode("utf-8", "replace")
    if f"{short_name}(" not in handler:
        return
    again = next(followed(short_name, handler, _GIVEN, "$"), None)
    if again is None or not _are_own(_arguments(again[1]), call, file):
        return
    if not (WAITS.search(handler) or _NEXT_ATTEMPT.search(handler)):
        message = f"`{name}` calls itself again when it fails, without a limit or a pause"
        yield Again(call, message, {} if goes_out(tried, file) else {"calls": file.callee(call).partition("()")[0]})


def again_in_go(statement: Node, file: SourceFile) -> Iterator[Again]:
    """`if err != nil { return load(key) }` in `load` itself, also for some failures only."""
    again = GO_AGAIN.match(file.source, statement.start_byte)
    name = function_name(statement, file)
    short_name = name.rpartition(".")[2]
    if again is None or again[1].decode() != short_name:
        return
    body = again[0].decode("utf-8", "replace")
    if not _are_own(_arguments(again[2].decode("utf-8", "replace")), statement, file):
        return
    before = text_before(statement, file)
    if _NEXT_ATTEMPT.search(body) or OPTIMISTIC.search(body) or _ENDS_IN_GO.search(before):
        return
    called = {} if goes_out(before, file) else _called_before(statement, short_name, file)
    yield Again(
        _call_of(short_name, statement, file), f"`{name}` calls itself again when it fails, without a limit", called
    )


def _call_of(short_name: str, node: Node, file: SourceFile) -> Node:
    """The call of a function of this name in a node; for want of one the node."""
    calls = (each for each in within(node) if each.type in CALLS)
    return next((each for each in calls if file.callee(each).rpartition(".")[2] == short_name), node)


def _called_before(statement: Node, own: str, file: SourceFile) -> dict[str, str]:
    """What the function calls up to a statement, for want of a name that tells of something remote."""
    function = file.enclosing_function(statement) or statement
    return _others_in(function, own, statement.end_byte, file)


def _called_in_try(handler: Node, own: str, file: SourceFile) -> dict[str, str]:
    """The same for what the `try` of a handler calls."""
    tried = handler.parent.child_by_field_name("body") if handler.parent is not None else None
    return _others_in(tried or handler, own, handler.end_byte, file)


def _others_in(node: Node, own: str, end: int, file: SourceFile) -> dict[str, str]:
    """What is called in a node, up to this byte, but for the function itself."""
    names = (file.callee(each) for each in within(node) if each.type in CALLS and each.end_byte <= end)
    return {"calls": " ".join(dict.fromkeys(each for each in names if " " not in each and not each.endswith(own)))}


def _arguments(listed: str) -> set[str]:
    return {each.strip() for each in listed.split(",") if each.strip()}


def _are_own(given: set[str], node: Node, file: SourceFile) -> bool:
    """Whether all that a function gives itself is what it was given."""
    function = file.functions[file.function_of(node)]
    return given <= {each.name for each in file.dialect.parameters(function.node, file)}
