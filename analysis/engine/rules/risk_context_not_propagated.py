"""A function that was given a context calls on without it: a cancelled request does not stop its work."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.fresh_contexts import CANCELS, has_own_limit, is_meant, is_started, is_taken_over
from analysis.engine.readers.go_results import bound_names, helps_tests
from analysis.engine.readers.reading import followed, function_name, text_after, text_before
from analysis.engine.rules.base import GO, Watch, last_names

RULE = Rule(
    id="risk-context-not-propagated",
    type="context_not_propagated",
    category=Category.RUNTIME_RISK,
    title="Context not passed on",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Pass `ctx` (`db.QueryContext(ctx, ...)`), so a cancelled request stops its work.",
    languages=GO,
    version=2,
)
GUIDE = Guide(
    why="The request is over, and the work for it goes on: nobody can stop it and nobody waits for it.",
    flagged=(
        {
            "shop/store.go": """
package shop

import "context"

func load(ctx context.Context, id string) error {
	return fetch(context.Background(), id)
}
"""
        },
    ),
    fine=(
        {
            "shop/store.go": """
package shop

import "context"

func load(ctx context.Context, id string) error {
	return fetch(ctx, id)
}
"""
        },
    ),
)

ANNOTATION = "context-or-none"  # rule of the marks that say that a function does without one
_LOGS = re.compile(
    r"(?i)(?:^|[./])(?:\w*log(?:ger)?\.\w+|(?:log|debug|info|warn(?:ing)?|error|fatal|trace)f?)$"
)  # nothing to cancel
_CHECKS = (b"ctx != nil", b"ctx == nil", b"context != nil", b"context == nil")
_CHECK = re.compile(rb"\w*(?:ctx|context) [!=]= nil")
_CONTEXT = re.compile(r"(\w+)\s+context\.Context\b")
_REQUEST = re.compile(r"(\w+)\s+\*http\.Request\b")
_OF_A_ROUTER = re.compile(r"(\w+)\s+\*?(?:gin|echo|fiber)\.(?:Context|Ctx)\b")
_OF_FUNCTIONS = re.compile(r"\bfunc\([^()]*\)")  # what a function that is given would be given
_FRESH = frozenset({"context.Background", "context.TODO"})
_WITHOUT = {
    "net/http.NewRequest": "http.NewRequestWithContext",
    "os/exec.Command": "exec.CommandContext",
    "net.Dial": "(&net.Dialer{}).DialContext",
}
_CONNECTS_AT_ONCE = re.compile(r"net\.Dial\(\s*\"(?:udp|unix|ip)")
_BEGINS = {"Begin": "BeginTx", "Beginx": "BeginTxx", "MustBegin": "MustBeginTx"}
_DATABASE = frozenset({"Query", "Exec", "QueryRow", "Prepare", "Ping", *_BEGINS}) | frozenset(
    {"Queryx", "QueryRowx", "Preparex", "PrepareNamed", "NamedExec", "NamedQuery", "MustExec"}
)
_ASKS = _DATABASE | {"Get", "Select"}
_READS_OF_SQLX = re.compile(rb"[\w.]+\.(?:Get|Select)\(")
_SQLX = "github.com/jmoiron/sqlx"
_HANDLE = re.compile(r"(?:^|\.)(?:(?P<known>db|DB|tx|conn|stmt)|(?P<named>\w+))\.\w+$")
_FIELD = re.compile(r"[a-z]\w*(?:\.\w+)+")
_OF_SQL = re.compile(r"\*?sqlx?\.(?:DB|Tx|Conn|Stmt)")
_OF_A_HANDLE = re.compile(rb"[ \t]+\*(?:sql|sqlx)\.(?:DB|Tx|Conn|Stmt)\b")
_ON_ITS_OWN = re.compile(
    r"(?i)(?:^|\.)(?:start|run|loop|work|serve|consume|poll|watch|new[A-Z_]|open|connect|init|setup|must|migrate)"
    r"|async|background|worker|job|cron"
)
_CONTEXT_GIVEN = re.compile(r"(?i)(?:^|\.)(?:ctx|context|\w*ctx|context\(\))$")
_TICKS = (b"time.NewTicker(", b"time.Tick(")
_WAITED_FOR = re.compile(r"\.(?:Wait|Run|Output|CombinedOutput)\(\)")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if helps_tests(file):
        return
    if callee == "net.Dial" and _CONNECTS_AT_ONCE.match(file.text(call)):
        return
    if callee in CANCELS or callee == "context.WithValue":
        yield from _derived(call, callee, file)
        return
    if callee.endswith("Context"):
        if (first := next(iter(file.arguments(call)[0]), None)) is not None and first.type == "nil":
            message = f"`{callee.rpartition('/')[2]}` gets no context: it may fail at once, and can never be cancelled"
            yield file.mark(RULE.id, call, message, suggestion="Pass `ctx`, or `context.TODO()` until there is one.")
        return
    given = _context_of(call, file)
    if not given:
        yield from _of_a_request(call, callee, file)
        return
    if callee in _FRESH:
        yield from _fresh(call, callee, given, file)
    elif callee == "os/exec.Command" and (
        is_taken_over(given, text_before(call, file)) or _outlives(text_after(call, file))
    ):
        return
    elif callee in _WITHOUT and not re.search(
        r"WithContext\(|\.Do\(ctx|\(ctx, [\w., ]*req", text_after(call, file), re.IGNORECASE
    ):
        yield _without(call, callee.rpartition("/")[2], _WITHOUT[callee], given, file)
    elif (_is_of_sql(callee, file) or _field_asked(callee, file)) and not _takes_context(call, file):
        yield _without(call, callee, _with_context(callee.rpartition(".")[2]), given, file)


def look_at_sqlx(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`db.Get(&order, q)` and `db.Select(&orders, q)`, which are names of many other things without sqlx."""
    if _SQLX in file.bindings.values():
        yield from look(call, file)


def _with_context(method: str) -> str:
    """The form of a method of a handle that takes a context."""
    return _BEGINS.get(method, f"{method}Context")


def look_at_nil(call: Node, file: SourceFile) -> Iterator[Mark]:
    """A function of the project that is given nil first: whether it wants a context there `judge` knows."""
    callee = file.callee(call)
    if callee.endswith("Context") or " " in callee or _LOGS.search(callee) or helps_tests(file):
        return
    message = f"`{callee.rpartition('/')[2]}` gets no context: it may fail at once, and can never be cancelled"
    advice = "Pass `ctx`, or `context.TODO()` until there is one."
    yield file.mark(RULE.id, call, message, suggestion=advice, confidence="medium", data={"called": callee})


def _wants_context(called: str, place: Place, codebase: Codebase) -> bool:
    """Whether all that a name can mean takes a context first, and does not ask whether it was given one."""
    found = place.meant_by(called)
    for each in found:
        facts = codebase.files[each.path]
        taken = facts.functions[each.position].parameters[:1]
        if not taken or not taken[0].annotation.endswith("context.Context"):
            return False
        if any(mark.rule == ANNOTATION and mark.function == each.position for mark in facts.marks):
            return False
    return bool(found)


def look_at_check(comparison: Node, file: SourceFile) -> Iterator[Mark]:
    """A function that asks whether it was given a context at all."""
    yield Mark(ANNOTATION, file.line(comparison), file.function_of(comparison), "", "")


def _outlives(after: str) -> bool:
    """Whether a process is started and not waited for: it lives on when its starter has returned."""
    return ".Start()" in after and not _WAITED_FOR.search(after)


def _is_of_sql(callee: str, file: SourceFile) -> bool:
    """Whether it is called on a handle of `database/sql`; GORM's carries its context with it."""
    handle = _HANDLE.search(callee)
    if handle is None or callee.rpartition(".")[2] not in _ASKS or not _imports_sql(file):
        return False
    if handle["known"]:
        return True
    return next(followed(handle["named"].encode(), file.source, _OF_A_HANDLE, b"_."), None) is not None


def _imports_sql(file: SourceFile) -> bool:
    imported = file.bindings.values()
    return ("database/sql" in imported or _SQLX in imported) and "gorm.io/gorm" not in imported


def _field_asked(callee: str, file: SourceFile) -> str:
    """The field that a method of `database/sql` may be called on in a file that does not import it, `h.db`: `judge`
    knows its type."""
    receiver, _, method = callee.rpartition(".")
    if method not in _DATABASE or not _FIELD.fullmatch(receiver) or _imports_sql(file):
        return ""
    return receiver if receiver.partition(".")[0] not in file.bindings else ""


def _takes_context(call: Node, file: SourceFile) -> bool:
    """Whether the method is given a context first: drivers of other databases have no form without one."""
    first = next(iter(file.arguments(call)[0]), None)
    return first is not None and _CONTEXT_GIVEN.search(file.text(first)) is not None


def _of_a_request(call: Node, callee: str, file: SourceFile) -> Iterator[Mark]:
    """A call without a context in a function that has none: on the way of a request it could have been given one."""
    better = ""
    if callee in _WITHOUT:
        if not re.search(r"WithContext\(|\.Do\(ctx", text_after(call, file)):
            better = _WITHOUT[callee]
    elif (_is_of_sql(callee, file) or _field_asked(callee, file)) and not _takes_context(call, file):
        better = _with_context(callee.rpartition(".")[2])
    name = function_name(call, file).rpartition(".")[2]
    if better and not is_started(name.encode(), file.source) and not _runs_by_the_clock(name, file):
        yield file.mark(
            RULE.id,
            call,
            f"`{callee.rpartition('/')[2]}` runs on when the request that it works for is cancelled",
            confidence="medium",
            suggestion=f"Give the function a context and use `{better}`.",
            data={"only": "request"} | _asked(callee, file),
        )


def _runs_by_the_clock(name: str, file: SourceFile) -> bool:
    """Whether a function of the file calls it at every tick of a clock, which no request waits for."""
    if not any(map(file.mentions, _TICKS)):
        return False
    texts = (file.source[each.node.start_byte : each.node.end_byte] for each in file.functions[1:])
    called = name.encode() + b"("
    return any(called in text and any(tick in text for tick in _TICKS) for text in texts)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A function without a context counts where a request comes through it and waits for it."""
    if "only" in mark.data and (not place.in_request_path or _ON_ITS_OWN.search(place.function.name)):
        return None  # what a handler starts goes on without it
    if "field" in mark.data and not _OF_SQL.fullmatch(
        codebase.calls.type_of(place.path, place.function, mark.data["field"])
    ):
        return None
    if "called" in mark.data and not _wants_context(mark.data["called"], place, codebase):
        return None
    return place.finding(mark)


def _derived(call: Node, callee: str, file: SourceFile) -> Iterator[Mark]:
    """A cancel function that is thrown away or left behind by a return, and a context that grows with each round."""
    names = bound_names(call, file)
    parent = next(iter(file.arguments(call)[0]), None)
    is_own = file.source[call.start_byte - 3 : call.start_byte - 1] == b":="
    grows = names and not is_own and parent is not None and file.text(parent) == names[0] and file.in_loop(call)
    if grows and not _has_a_key_for_each_round(call, file):
        message = f"`{names[0]}` wraps itself again in every round of the loop, and never lets go of one"
        yield file.mark(RULE.id, call, message, suggestion="Give each round a context of its own (`:=`).")
    if len(names) != 2 or callee == "context.WithValue":
        return
    if names[1] == "_" and not _is_made_once(callee, names[0], call, file):
        message = f"The cancel function of `{callee}` is thrown away: its context lives until the parent ends"
        yield file.mark(RULE.id, call, message, suggestion="Keep it and `defer cancel()`.")
    elif _leaves_before(names[1], text_after(call, file)):
        message = f"A return leaves before `{names[1]}` is called: its context lives until the parent ends"
        yield file.mark(RULE.id, call, message, suggestion=f"`defer {names[1]}()` right here.")


def _is_made_once(callee: str, name: str, call: Node, file: SourceFile) -> bool:
    """Whether a time limit ends the only context of this name: one that is made where there is none yet, and stays."""
    if "Cancel" in callee or re.match(r"context\.\w+\(\s*context\.Background\(\)", file.text(call)) is None:
        return False
    return re.search(rf"\bif {re.escape(name)} == nil \{{\s*[\w., ]+=\s*\Z", text_before(call, file)) is not None


def _has_a_key_for_each_round(call: Node, file: SourceFile) -> bool:
    """Whether the loop goes over the keys that are put into the context: it grows by each of them once."""
    given = file.arguments(call)[0]
    loop = file.loop_of(call)
    if len(given) != 3 or loop is None:
        return False
    head = file.text(loop.node).partition("{")[0]
    return re.search(rf"\b{re.escape(file.text(given[1]))}\b[^\n]*:=\s*range\b", head) is not None


def _leaves_before(cancel: str, after: str) -> bool:
    """Whether all that happens to a cancel function is that it is called, once, behind a return."""
    used = list(re.finditer(rf"(?<![\w.]){re.escape(cancel)}\b", after))
    if (
        len(used) != 1
        or not after.startswith("()", used[0].end())
        or re.search(r"\bdefer\b|func\(", after[: used[0].start()])
    ):
        return False
    return re.search(r"^\s*return\b", after[: used[0].start()], re.MULTILINE) is not None


def _fresh(call: Node, callee: str, given: str, file: SourceFile) -> Iterator[Mark]:
    if is_meant(call, callee, given, file):
        return
    # Whether somebody means the work to outlive its caller does not always stand there; a limit of its own hints at it.
    message = f"`{callee}()` in `{function_name(call, file)}` cuts off `{given}`, which is at hand"
    confidence = "low" if has_own_limit(call, file) else "medium"
    yield file.mark(RULE.id, call, message, confidence=confidence)


def _asked(callee: str, file: SourceFile) -> dict[str, str]:
    field = _field_asked(callee, file)
    return {"field": field} if field else {}


def _without(call: Node, callee: str, better: str, given: str, file: SourceFile) -> Mark:
    return file.mark(
        RULE.id,
        call,
        f"`{callee}` runs on when `{given}` is cancelled",
        suggestion=f"Use `{better}` with `{given}`.",
        data=_asked(callee, file),
    )


def _context_of(call: Node, file: SourceFile) -> str:
    """How the innermost function can get at a context through its parameters; empty when it cannot."""
    function = file.enclosing_function(call)
    listed = function.child_by_field_name("parameters") if function is not None else None
    if listed is None:
        return ""
    text = _OF_FUNCTIONS.sub("func", file.text(listed))
    context, request = _CONTEXT.search(text), _REQUEST.search(text)
    if context is not None and context[1] != "_":
        return context[1]
    if request is not None and request[1] != "_":
        return f"{request[1]}.Context()"
    router = _OF_A_ROUTER.search(text)
    if router is None or router[1] == "_":
        return ""
    return f"{router[1]}.{'Request().' if 'echo.' in router[0] else 'Request.' if 'gin.' in router[0] else ''}Context()"


WATCHES = (
    Watch("(binary_expression right: (nil)) @n", look_at_check, GO, needs=_CHECKS, starts=_CHECK),
    Watch("(call_expression arguments: (argument_list . (nil))) @n", look_at_nil, GO, needs=(b"(nil",)),
    Watch(
        "(call_expression arguments: (argument_list . (unary_expression))) @n",
        look_at_sqlx,
        GO,
        needs=(_SQLX.encode(),),
        starts=_READS_OF_SQLX,
    ),
    Watch(
        "call",
        look,
        GO,
        names=_DATABASE
        | {
            "Background",
            "TODO",
            "NewRequest",
            "Command",
            "Dial",
            "WithValue",
        }
        | last_names(CANCELS)
        | {"NewRequestWithContext", "CommandContext", "QueryContext", "ExecContext", "QueryRowContext", "DialContext"}
        | {"WithContext"},
    ),
)
