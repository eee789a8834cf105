"""An async function is handed to somebody who ignores its promise."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FunctionFlag, Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.browsers import is_copied_library, nearest_manifest, runs_in_browsers
from analysis.engine.readers.outside_calls import what_it_does
from analysis.engine.readers.promises import (
    async_function,
    async_functions,
    awaited_elsewhere,
    awaits_only_what_keeps_errors,
    never_rejects,
)
from analysis.engine.readers.reading import followed
from analysis.engine.readers.script_versions import major_version
from analysis.engine.rules.base import SCRIPT, Watch

RULE = Rule(
    id="risk-async-in-sync-callback",
    type="async_in_sync_callback",
    category=Category.RUNTIME_RISK,
    title="Async function where nobody waits",
    severity=Severity.WARNING,
    points=1,
    suggestion="`forEach` does not wait: use `for ... of` with `await` or `Promise.all(items.map(...))`.",
    languages=SCRIPT,
    version=2,
)
GUIDE = Guide(
    why="The caller does not know about promises: it goes on before the work is done, and takes a promise for `true`.",
    flagged=(
        {
            "shop/work.ts": """
export function send(orders: Order[]) {
  orders.forEach(async (order) => {
    await mail(order);
  });
}
"""
        },
    ),
    fine=(
        {
            "shop/work.ts": """
export async function send(orders: Order[]) {
  for (const order of orders) {
    await mail(order);
  }
}
"""
        },
    ),
)

_PREDICATES = frozenset({"filter", "some", "every", "sort", "find", "findIndex"})
_TIMERS = frozenset({"setTimeout", "setInterval"})
_EMITTERS = frozenset({"on", "once", "addListener"})
_ROUTES = frozenset({"get", "post", "put", "patch", "delete", "use", "all"})
_ROUTER = re.compile(r"(^|\.)(app|router|server|api)$|^express(\.Router)?\(\)$", re.IGNORECASE)
_TESTS_A_CALL = re.compile(
    rb"if\s*\(\s*(?:[!~+-]|\w+\b)?\s*(?:this\s*\??\.\s*)?[\w$#]+\s*(?:<[^()\n]*>)?\s*(?:\?\.)?\("
)
_WAITING = re.compile(r"(?:^|\.)(?:\w*Promise|\w*[bB]luebird|async|each|pMap)$")  # libraries that await what they call
_OF_NODE = re.compile(r"(?:^|\.)(?:process|stdin|stdout|stderr|socket|server|httpServer|emitter|eventEmitter)$")
_EMITS = re.compile(r"\bawait\s+[\w.]+\.emit\(")
# What a person does in a page: there the error stands in the console of one visitor.
_OF_A_PAGE = re.compile(
    r"[\"'](?:(?:dbl)?click|change|submit|input|key(?:up|down|press)|mouse\w+|focus(?:in|out)?|blur|select|scroll|touch\w+"
    r"|drag\w*|drop|paste|copy|cut|load|resize)(?:\.\w+)?[\"']"
)
_OF_BROWSERS = re.compile(rb"\b(?:document|window)\.[a-zA-Z]")
_EXPRESS = re.compile(r'"express"')
_TAKES_REJECTIONS = 5  # the version of Express from which on it does
# They wrap every handler by themselves.
_HANDS_ON = re.compile(
    r"^(?:express-(?:async-errors|promise-router|async-router)|async-express-decorator|@awaitjs/express)\b"
)
_MAKES_ROUTERS = frozenset({"express", "express.Router"})
_MADE_ROUTER = re.compile(rb"\s*(?::[^=\n]{1,60})?=\s*([\w.]+)\(")
_FUNCTIONS = frozenset({"arrow_function", "function_expression"})


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    receiver, _, method = callee.rpartition(".")
    for given in file.arguments(call)[0]:
        if given.type in _FUNCTIONS and given.child(0).type == "async" and not _WAITING.search(receiver):
            yield from _given(call, given, callee, receiver, method, file)
    if method in _ROUTES and _is_of_express(receiver, file):
        yield from _named_handlers(call, callee, file)


def _named_handlers(call: Node, callee: str, file: SourceFile) -> Iterator[Mark]:
    """Async functions that a route of Express is given by name; whether one of another file is async `judge` knows."""
    for given in file.arguments(call)[0]:
        for each in given.named_children if given.type == "array" else [given]:
            name = file.resolve(file.text(each)) if each.type in ("identifier", "member_expression") else ""
            known = async_function(name, each, file) if name else None
            if known is not None and not never_rejects(known, file):
                yield _handler(call, callee, file)
                return
            if known is None and name.startswith("."):
                yield _handler(call, callee, file, name)


def _handler(place: Node, callee: str, file: SourceFile, called: str = "") -> Mark:
    message = f"Express 4 never sees a rejection of the async handler of `{callee}`"
    suggestion = "Wrap the handler, so that a rejection reaches `next`, or move to Express 5."
    maker = _maker(callee.rpartition(".")[0], file)
    data = {"library": "express"} | ({"called": called} if called else {}) | ({"maker": maker} if maker else {})
    return file.mark(RULE.id, place, message, suggestion=suggestion, confidence="medium", data=data)


def _is_of_express(receiver: str, file: SourceFile) -> bool:
    """Whether the receiver is a router of Express: by what made it, or by its name in a file that imports Express."""
    bound = file.bindings.values()
    if any(_HANDS_ON.match(full) for full in bound) or not any("express" in full for full in bound):
        return False
    if _ROUTER.search(receiver):
        return True
    made = followed(receiver.encode(), file.source, _MADE_ROUTER, b"_.$") if receiver.isidentifier() else ()
    return any(file.resolve(each[1].decode()) in _MAKES_ROUTERS for each in made)


def _maker(receiver: str, file: SourceFile) -> str:
    """What of the project's own made the router: `const router = asyncRouter()`."""
    made = followed(receiver.encode(), file.source, _MADE_ROUTER, b"_.$") if receiver.isidentifier() else ()
    names = (file.resolve(each[1].decode()) for each in made)
    return next((name for name in names if name.startswith((".", "@", "~"))), "")


def look_at_condition(statement: Node, file: SourceFile) -> Iterator[Mark]:
    condition = statement.child_by_field_name("condition") if async_functions(file) else None
    if condition is None or not condition.named_child_count:
        return
    tested = condition.named_children[0]
    if tested.type == "unary_expression":
        tested = tested.named_children[0]
    if tested.type == "call_expression" and async_function(file.callee(tested), tested, file) is not None:
        yield file.mark(
            RULE.id,
            tested,
            f"`{file.callee(tested)}` is async: as a condition its promise is always true",
            suggestion="Await the call before testing its result.",
        )


def _given(call: Node, given: Node, callee: str, receiver: str, method: str, file: SourceFile) -> Iterator[Mark]:
    if method == "forEach" and receiver:
        called = _handed_on(given, file)
        if called or (_awaits(given, file) and not (never_rejects(given, file) and _is_last(call, file))):
            message = f"`{callee}` does not wait for the async function it is given"
            yield file.mark(RULE.id, call, message, data={"called": called} if called else None)
    elif method in _PREDICATES and receiver and not file.text(given).startswith("async ()"):
        message = f"`{callee}` sees a promise, which is always true, not the answer of the async function"
        suggestion = "Await the answers first (`Promise.all(items.map(...))`), then select."
        yield file.mark(RULE.id, call, message, suggestion=suggestion)
    elif method == "reduce" and receiver and _hands_on_promise(given, file):
        message = f"The async function of `{callee}` gets a promise for what the round before gave, and never awaits it"
        yield file.mark(RULE.id, call, message, suggestion="Use `for ... of` with `await`.")
    elif callee == "Promise" and call.type == "new_expression":
        if not _settles_by_hand(given, file):
            message = "The executor of `new Promise` is async: what it throws rejects nothing"
            yield file.mark(RULE.id, call, message, suggestion="Make the enclosing function async and await in it.")
    elif _handed_on(given, file) or (_awaits(given, file) and not never_rejects(given, file)):
        yield from _unseen(call, given, callee, receiver, method, file)


def _unseen(call: Node, given: Node, callee: str, receiver: str, method: str, file: SourceFile) -> Iterator[Mark]:
    """An async function that may reject, given to a timer, an emitter or a route."""
    first, called = file.arguments(call)[0][0], _handed_on(given, file)
    if callee in _TIMERS or (method in _EMITTERS and receiver and first.type == "string"):
        # That `on` belongs to an emitter of Node is a convention: emitters of others may wait for what they call.
        is_known = callee in _TIMERS or _OF_NODE.search(receiver) is not None
        is_page = receiver.startswith("window.") or _OF_BROWSERS.search(file.source) is not None
        yield file.mark(
            RULE.id,
            call,
            f"`{callee}` ignores the promise of the async function: its errors are unhandled",
            severity="info" if first.type == "string" and _OF_A_PAGE.fullmatch(file.text(first)) else "",
            suggestion="Catch inside the function, or end it with `.catch`.",
            confidence="" if is_known else "medium",
            data=(awaited_elsewhere(given, file) or {})
            | {"form": "page" if is_page else "unseen"}
            | ({"called": called} if called else {}),
        )
    elif method in _ROUTES and _is_of_express(receiver, file):
        yield _handler(given, callee, file, called)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Express 5 hands the rejection of a handler on by itself."""
    if "library" in mark.data:
        if major_version("express", place) >= _TAKES_REJECTIONS:
            return None
        if '"express-async-errors"' in nearest_manifest(place, _EXPRESS):
            return None
    if "maker" in mark.data and _takes_rejections(mark.data["maker"], place, codebase):
        return None
    if "called" in mark.data and not _rejects(mark.data["called"], place, codebase):
        return None
    if is_copied_library(place):
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    if awaits_only_what_keeps_errors(mark, place):
        return None
    form = mark.data.get("form")
    if form == "page" or (form == "unseen" and runs_in_browsers(place)):  # its console shows the error all the same
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    if place.kind is FileKind.SCRIPT:  # who runs it sees it end with its error
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    return place.finding(mark)


def _takes_rejections(maker: str, place: Place, codebase: Codebase) -> bool:
    """Whether a function of the project makes routers with a package that wraps every handler."""
    found = place.meant_by(maker)
    imported = (statement.target for each in found for statement in codebase.files[each.path].imports)
    return any(_HANDS_ON.match(target) for target in imported)


def _rejects(called: str, place: Place, codebase: Codebase) -> bool:
    """Whether a name is that of a call to another service, or all that it can mean are async functions that do not
    handle their own errors."""
    if what_it_does(called, place.facts.language):
        return True
    found = place.meant_by(called)
    flags = [codebase.files[each.path].functions[each.position].flags for each in found]
    return bool(flags) and all(each & FunctionFlag.ASYNC and not each & FunctionFlag.KEEPS_ERRORS for each in flags)


def _is_last(call: Node, file: SourceFile) -> bool:
    """Whether nothing in the function follows the call, so that nothing could wait for it."""
    statement = file.statement_of(call)
    block = statement.parent
    return (
        block is not None and block.named_children[-1].id == statement.id and file.enclosing_function(call) is not None
    )


def _settles_by_hand(given: Node, file: SourceFile) -> bool:
    """Whether the whole body is a `try` whose handler rejects or resolves."""
    body = given.child_by_field_name("body")
    listed = given.child_by_field_name("parameters")
    if body is None or listed is None or body.named_child_count != 1 or body.named_children[0].type != "try_statement":
        return False
    handler = body.named_children[0].child_by_field_name("handler")
    names = re.findall(r"[\w$]+", file.text(listed))
    return handler is not None and any(f"{name}(" in file.text(handler) for name in names)


def _handed_on(given: Node, file: SourceFile) -> str:
    """What an async function calls whose promise is all that it gives: `async () => refresh()`."""
    body = given.child_by_field_name("body")
    return file.callee(body) if body is not None and body.type == "call_expression" else ""


def _awaits(given: Node, file: SourceFile) -> bool:
    """Whether the function awaits anything but the `emit` of an emitter, which gives no promise."""
    text = file.text(given)
    return text.count("await") > len(_EMITS.findall(text))


def _hands_on_promise(given: Node, file: SourceFile) -> bool:
    """Whether an async accumulator never awaits its first parameter."""
    text = file.text(given)
    first = re.match(r"async\s*(?:function\s*\w*\s*)?\(\s*(\w+)", text)
    return first is not None and re.search(rf"\bawait\s+{first[1]}\b|\b{first[1]}\.then\(", text) is None


WATCHES = (
    Watch(
        "call",
        look,
        SCRIPT,
        names=frozenset({"reduce"}) | _PREDICATES | _TIMERS | _EMITTERS | _ROUTES | {"forEach", "Promise"},
    ),
    Watch("if", look_at_condition, SCRIPT, needs=(b"async",), starts=_TESTS_A_CALL),
)
