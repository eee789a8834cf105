"""A fresh context of Go, made where a given one is at hand: whether its work is meant to outlive the caller."""

import re
from collections.abc import Iterator
from itertools import takewhile

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.go_results import bound_names
from analysis.engine.readers.reading import (
    conditions_around,
    followed,
    function_name,
    function_text,
    text_after,
    text_before,
)

CANCELS = frozenset(
    f"context.With{what}{cause}" for what in ("Cancel", "Timeout", "Deadline") for cause in ("", "Cause")
)
LONGEST_PARAGRAPH = 2  # lines between a comment and what it is about
MOST_CALLS = 2  # around a fresh context, in which the given one may stand beside it
LONGEST_COMMENT = 500  # bytes
LONGEST_START = 600  # bytes behind `go func(` in which it calls what it is for
_LIMITS = frozenset(name for name in CANCELS if "Cancel" not in name.removesuffix("Cause"))
_CLEANUP = re.compile(
    r"shutdown|cleanup|close|stop|flush|rollback|release|unlock|detach|teardown|terminate|sigterm|sigkill|abort|drain|delCtx",
    re.IGNORECASE,
)
_MEANT = re.compile(
    r"(?i)//[^\n]*(?:\b(?:context|ctx)\b|background|detach|independent|outlive|even (?:if|when)|fire.and.forget"
    r"|must not be cancel)"
)
_USED = re.compile(r"(\.(?:Done|Err)\(\))?(?!\w)")
_LOGGED = re.compile(r"(?i)\blog\w*(?:\.\w+|\(\))*\(\w+\Z")  # with the name itself
_SIGNALLED = re.compile(r"\b(?i:\w*sig(?:nal|term|int)\w*)(?:\.\w+)?\(\s*\w+\Z")  # with the name itself
_ENDED = re.compile(r"\.Err\(\)\s*!=\s*nil\s*\{[^}]*\Z")
_UPGRADED = re.compile(r"(?i)(?:upgrade\w*|websocket)\.(?:Upgrade|Accept)\(|\.Hijack\(")
_MAKES = re.compile(r"(?:^|[./])New(?!Request|[a-z])\w*$")
_STARTED = re.compile(r"\bgo func\([\s\S]*?\n\s*\}\(")
_FAILED = re.compile(r"(?:\w+\.)*\w*[eE]rr\w*\s*!=\s*nil")
_DEFAULTED = re.compile(r"==\s*nil\s*\{\s*[\w.]+\s*=\s*$")
_MEASURES = re.compile(
    r"(?i)(?:^|[./])\w*(?:metric|diag|telemetry|monitoring|counter|gauge|histogram|stats)s?\w*\.(?:\w+\.)*\w+$"
)
_KEPT_IN_FIELDS = re.compile(r"[\w.]+\.\w+,\s*[\w.]+\.\w+\s*=\s*\Z")


def is_meant(call: Node, callee: str, given: str, file: SourceFile) -> bool:
    """Whether the text around `context.Background()` says why the work there does not end with the given context: it
    cleans up, only measures, lives on, or hands the given one over as well."""
    before = file.source[max(0, call.start_byte - 120) : call.start_byte].decode("utf-8", "replace")
    statement = file.text(file.statement_of(call))
    # `TODO` says that nobody has decided yet, so the work is not meant to be done whatever happens.
    is_cleanup = callee == "context.Background" and _CLEANUP.search(function_name(call, file) + statement) is not None
    if _DEFAULTED.search(before) or is_cleanup or _goes_with(given, call, file) or _only_measures(call, file):
        return True
    earlier = text_before(call, file)
    if _MEANT.search(_lines_above(call, file)) or _ENDED.search(earlier):
        return True
    if _ends_by_itself(call, file):
        return True
    if _waits_for_its_end(given, call, file) or _lives_on(call, file) or _follows_an_error(call, file):
        return True
    return is_taken_over(given, earlier) or _is_cancelled_elsewhere(call, file) or _is_for_a_goroutine(call, file)


def _only_measures(call: Node, file: SourceFile) -> bool:
    """Whether the fresh context goes to a metric: that is noted in memory, also of work that was cancelled."""
    around = _call_around(call)
    return around is not None and _MEASURES.search(file.callee(around)) is not None


def has_own_limit(call: Node, file: SourceFile, limits: frozenset[str] = CANCELS) -> bool:
    """Whether the fresh context is given a time limit or a cancel function of its own."""
    around = _call_around(call)
    return around is not None and file.callee(around) in limits


def _call_around(call: Node) -> Node | None:
    """The call that a fresh context is given to."""
    around = call.parent.parent if call.parent is not None else None
    return around if around is not None and around.type == "call_expression" else None


def is_started(name: bytes, source: bytes) -> bool:
    """Whether the file calls a function of this name in a goroutine: no request waits for it then."""
    if b"go " + name + b"(" in source:
        return True
    start = source.find(b"go func(")
    while start >= 0:
        called = source.find(name + b"(", start, start + LONGEST_START)
        if called >= 0 and b"\n}\n" not in source[start:called]:
            return True
        start = source.find(b"go func(", start + 1)
    return False


def _ends_by_itself(call: Node, file: SourceFile) -> bool:
    """Whether the fresh context has a time limit, and what is done under it is nothing that the caller waits for."""
    if not has_own_limit(call, file, _LIMITS):
        return False
    return _runs_beside(call, file) or _only_watches(call, file) or _is_signalled(call, file)


def _runs_beside(call: Node, file: SourceFile) -> bool:
    """Whether the function around is one that the file starts in a goroutine."""
    return is_started(function_name(call, file).rpartition(".")[2].encode(), file.source)


def _only_watches(call: Node, file: SourceFile) -> bool:
    """Whether all that is done with the fresh context is to wait for its end, so that no work runs under it."""
    uses = list(_uses(call, file))
    return any(is_end for _, is_end in uses) and all(is_end or _LOGGED.search(before) for before, is_end in uses)


def _is_signalled(call: Node, file: SourceFile) -> bool:
    """Whether a signal to the process ends the fresh context too, as a command does it for its user."""
    return any(_SIGNALLED.search(before) for before, _ in _uses(call, file))


def _uses(call: Node, file: SourceFile) -> Iterator[tuple[str, bool]]:
    """Where the context that is made of the fresh one is used: the text up to its name, and whether its end is asked
    for there."""
    around = call.parent.parent if call.parent is not None else None
    names = bound_names(around, file) if around is not None else []
    if around is None or not names:
        return
    after = text_after(around, file)
    for used in followed(names[0], after, _USED, "_."):
        yield after[: used.start()], used[1] is not None


def is_taken_over(given: str, earlier: str) -> bool:
    """Whether a connection was taken over: the context of its request no longer says when the client leaves."""
    return given.endswith("Context()") and _UPGRADED.search(earlier) is not None


def _is_cancelled_elsewhere(call: Node, file: SourceFile) -> bool:
    """Whether the cancel function of the fresh context is kept for others to call, as that of a job is, or called in
    several places: then the function says itself when the work ends."""
    around = _call_around(call)
    if around is None or file.callee(around) not in CANCELS:
        return False
    if _KEPT_IN_FIELDS.search(
        file.source[max(0, around.start_byte - 120) : around.start_byte].decode("utf-8", "replace")
    ):
        return True
    names = bound_names(around, file)
    if len(names) != 2 or names[1] == "_":
        return False
    after = text_after(around, file)
    used = re.findall(rf"(?<![\w.]){re.escape(names[1])}\(", after)
    if used:
        return len(used) > 1
    return re.search(rf"[(,:=]\s*{re.escape(names[1])}\s*[,)}}\n]", after) is not None


def _is_for_a_goroutine(call: Node, file: SourceFile) -> bool:
    """Whether the fresh context is kept under a name that a goroutine is given: `go relaunch(own)`."""
    names = bound_names(call, file)
    return (
        bool(names) and re.search(rf"(?m)^\s*go\s[^\n]*\b{re.escape(names[0])}\b", text_after(call, file)) is not None
    )


def _waits_for_its_end(given: str, call: Node, file: SourceFile) -> bool:
    """Whether the function ends its own context when the given one ends: `case <-requestCtx.Done()`."""
    text = function_text(call, file)
    named = re.search(rf"(\w+)\s*:?=\s*{re.escape(given)}\s", text)
    return any(f"<-{name}.Done()" in text for name in (given, *([named[1]] if named is not None else [])))


def _lives_on(call: Node, file: SourceFile) -> bool:
    """Whether what is made with the fresh context is an object that stays, or is handed to a goroutine."""
    made = _call_around(call)
    if made is None:
        return False
    if _MAKES.search(file.callee(made)):
        return True
    names = bound_names(made, file)
    started = _STARTED.search(text_after(made, file)) if names else None
    return started is not None and re.search(rf"\b{re.escape(names[0])}\.", started[0]) is not None


def _follows_an_error(call: Node, file: SourceFile) -> bool:
    """Whether the branch around it begins with an error: its reason may be that the given context has ended."""
    return any(
        _FAILED.fullmatch(file.text(condition)) is not None and call.start_byte > condition.end_byte
        for condition in conditions_around(call, file)
    )


def _lines_above(call: Node, file: SourceFile) -> str:
    """The comment right above the statement, or above the few statements of its paragraph."""
    end = file.source.rfind(b"\n", 0, file.statement_of(call).start_byte) + 1
    above = file.source[max(0, end - LONGEST_COMMENT) : end].decode("utf-8", "replace").splitlines()
    above.reverse()
    skipped = list(takewhile(_is_statement, above[:LONGEST_PARAGRAPH]))
    lines = takewhile(lambda line: line.lstrip().startswith("//"), above[len(skipped) :])
    return "\n".join(lines)


def _is_statement(line: str) -> bool:
    """Whether a line is one of the same paragraph, and opens no block."""
    return bool(line.strip()) and not line.lstrip().startswith("//") and not line.rstrip().endswith("{")


def _goes_with(given: str, call: Node, file: SourceFile) -> bool:
    """Whether the fresh context is handed over beside the given one: what it tells goes on, how it ends does not."""
    names = (given, given.partition(".")[0]) if given.endswith(".Context()") else (given,)
    around = call.parent
    for _ in range(MOST_CALLS):
        if around is None or around.type != "argument_list":
            return False
        if any(file.text(each) in names for each in around.named_children):
            return True
        around = around.parent.parent if around.parent is not None else None
    return False
