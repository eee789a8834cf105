"""A goroutine can block for ever, or a ticker is never stopped."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.go_results import bound_names
from analysis.engine.readers.reading import ancestor, function_name, function_text, text_after, text_before, within
from analysis.engine.rules.base import GO, Watch

RULE = Rule(
    id="risk-goroutine-leak",
    type="goroutine_leak",
    category=Category.RUNTIME_RISK,
    title="Goroutine leak",
    severity=Severity.WARNING,
    points=2,
    suggestion="Give the channel room for the sender or select on `ctx.Done()` in the goroutine.",
    confidence=Confidence.MEDIUM,
    languages=GO,
)
GUIDE = Guide(
    why="A goroutine that waits for what never comes keeps its memory and whatever it holds until the process ends.",
    flagged=(
        {
            "shop/work.go": """
package shop

import "context"

func first(ctx context.Context, ask func() int) int {
	answers := make(chan int)
	go func() { answers <- ask() }()
	select {
	case answer := <-answers:
		return answer
	case <-ctx.Done():
		return 0
	}
}
"""
        },
    ),
    fine=(
        {
            "shop/work.go": """
package shop

import "context"

func first(ctx context.Context, ask func() int) int {
	answers := make(chan int, 1)
	go func() { answers <- ask() }()
	select {
	case answer := <-answers:
		return answer
	case <-ctx.Done():
		return 0
	}
}
"""
        },
    ),
)

_SEND = re.compile(r"^[ \t]*(?:go func\(\) \{ )?(\w+)\s*<-\s*[^\n]+", re.MULTILINE)
_RECEIVES = re.compile(
    r"\bfor\s+[^{\n]*\brange\s+(?P<range>\w+)\s*\{|^\s*(?:\w+\s*:?=\s*)?<-\s*(?P<channel>\w+)\s*$", re.MULTILINE
)
_TICKS = r"(?:<-\s*)?(?:time\.(?:Tick|After)\([^\n]*?\)|\w+\.C\b)"
_FOR_EVER = re.compile(rf"\bfor\s*(?:\{{|(?:\w+\s*:?=\s*)?range\s+{_TICKS}\s*\{{)")
_HELD_CHANNEL = re.compile(r"range\s+(\w+\.C)\b")
_NO_EXIT = re.compile(_TICKS)
_CALLED = re.compile(r"^go (?:\w+\.)?(\w+)\(([^()\n]*)\)$")
_ENDS = re.compile(
    r"\breturn\b|\bbreak\b|\bgoto\b|panic\(|Exit\(|Fatal|Goexit|<-|\.(?:Read|Accept|Recv|Wait|Next|Scan"
    r"|Receive\w*|Poll\w*)\("
)
_ADDS = re.compile(r"^go func\([^)]*\)\s*\{\s*(\w+(?:\.\w+)*)\.Add\(1\)")
_ENDLESS = re.compile(r"\bfor\s*(?:(?:range\s+(?:\w+(?:\.\w+)*\.C|\w*[tT]ick)\s*)?\{)")
_COLLECTS = re.compile(r'"(?:go|version|runtime)"\s*:\s*"(?:go ?)?1\.(?:2[3-9]|[3-9]\d)(?:\.\d+)?"')
_STARTERS = re.compile(r"(?i)(^|\.)((init|start|run|serve|launch|new|setup|main|configure)\w*|\w+init)$")
_WAY_OUT = "Select on `ctx.Done()` in the loop and return."
_SELECT = re.compile(r"^([ \t]*)select\s*\{[\s\S]*?\n\1\}", re.MULTILINE)  # with the blocks in it
_OF_TYPE = re.compile(r"^func \(\w+ \*?(\w+)|\)\s*\(?(?:\w+ )?\*?(?:\w+\.)?(\w+)[^()]*\)?\s*$")
_END_OF_TYPE = (
    r"\btype\s+{0}\s+struct\s*\{{[^}}]*\n\s*\w*(?i:done|stop|quit|clos|exit|shutdown|cancel)\w*\s+"
    r"(?:(?:<-)?chan\b|context\.CancelFunc|func\(\)\s*\n)"
)
_STOPS = re.compile(r"\.(?:Close|Stop|Shutdown|Destroy|close|stop|shutdown|destroy)$")
_WAITED = re.compile(r"\.Wait\(|<-")  # the function goes on for a while and then returns
_LOOPS = frozenset({"for_statement"})
_BROKEN = _LOOPS | {"select_statement", "expression_switch_statement", "type_switch_statement"}
_TESTS = re.compile(r"(?:^|/)(?!latest)\w*[tT]ests?(?:ing|utils?)?/")  # helpers of tests
_ONCE = re.compile(r"\b\w*[oO]nce\w*\.Do\(func\(\)\s*\{")
_SERVES = r"[\w.]*\b(?:ListenAndServe\w*|Serve\w*)\("  # there is one server, and the process ends with it
_IS_MISSING = re.compile(r"\bif (\w+) == nil \{")
_NEAR = 1_000  # bytes before a goroutine in which the call stands that starts it
_CLOSURE = re.compile(r"^([ \t]*)[^\n]*\bfunc\([^\n]*\{\n[\s\S]*?\n\1\}", re.MULTILINE)  # with all in it
_ALIVE = re.compile(r"(^|\.)(main|init)$")


def look_at_goroutine(statement: Node, file: SourceFile) -> Iterator[Mark]:
    if _ALIVE.search(function_name(statement, file)) or _starts_once(statement, file):
        return
    text = file.text(statement)
    added = _ADDS.match(text)
    if added is not None and re.search(rf"\b{re.escape(added[1])}\.Wait\(", text_after(statement, file)):
        message = f"`{added[1]}.Add` inside the goroutine may run after `{added[1]}.Wait`"
        yield file.mark(RULE.id, statement, message, suggestion=f"Call `{added[1]}.Add(1)` before the `go` statement.")
        return
    received = _RECEIVES.search(text)
    name = (received["range"] or received["channel"]) if received is not None else ""
    if name and _nobody_feeds(name, statement, file):
        message = f"The goroutine waits for ever for `{name}`: nobody in this function closes it or is given it"
        advice = f"Close `{name}` when all is sent (`defer close({name})`)."
        yield file.mark(RULE.id, statement, message, suggestion=advice)
        return
    called = _CALLED.match(text)
    worker = _function_called(called[1], file) if called is not None else None
    if _runs_for_ever(text if worker is None else file.text(worker), function_text(statement, file)):
        yield _endless(statement, file)
        return
    sent = [found[1] for found in _SEND.finditer(text)]
    if called is not None and worker is not None:
        sent = _sent_by(worker, called[2], file)
    stuck = next((channel for channel in sent if _may_block(channel, statement, file)), "")
    if stuck:
        message = f"The goroutine blocks for ever on `{stuck}` when the receiver takes the other case and returns"
        serves = re.search(rf"\b{stuck}\s*<-\s*{_SERVES}", text) is not None
        yield file.mark(RULE.id, statement, message, confidence="low" if serves else "")


def _endless(statement: Node, file: SourceFile) -> Mark:
    meant = _STARTERS.search(function_name(statement, file)) is not None
    data = {"form": "worker", "made": _made_by(statement, file)}
    if _WAITED.search(text_after(statement, file)) or _is_made_to_end(data["made"], file):
        data["outlives"] = "1"
    message = "The goroutine runs for ever: its loop has no way out"
    return file.mark(RULE.id, statement, message, confidence="low" if meant else "", suggestion=_WAY_OUT, data=data)


def _may_block(channel: str, statement: Node, file: SourceFile) -> bool:
    """Whether nobody may be there to take what is sent, on a channel that keeps nothing."""
    if not _is_unbuffered(channel, statement, file):
        return False
    rest = text_after(statement, file)
    if _receiver_may_leave(channel, rest):
        return True
    return file.in_loop(statement) and (_collector_may_leave(channel, rest) or _takes_one(channel, rest))


def _made_by(statement: Node, file: SourceFile) -> str:
    """The type whose object the function sets up: that of its receiver or of its first result."""
    head = file.text(file.functions[file.function_of(statement)].node)[:_NEAR].partition("{")[0]
    found = _OF_TYPE.search(head)
    return (found[1] or found[2]) if found is not None else ""


def _is_made_to_end(made: str, file: SourceFile) -> bool:
    """Whether the type keeps a channel or a cancel function that says when its work is over."""
    return bool(made) and re.search(_END_OF_TYPE.format(made).encode(), file.source) is not None


def _starts_once(statement: Node, file: SourceFile) -> bool:
    """Whether a `sync.Once`, `init`, or who makes the only object of the package starts it: there is one for the whole
    process."""
    name = re.escape(function_name(statement, file)).encode()
    called = rb"^func (?:init|main)\(\) \{(?:\n[^}\n]*)*?\b" + name + rb"\("
    if re.fullmatch(rb"\w+", name) and re.search(called, file.source, re.MULTILINE):
        return True
    before = file.source[max(0, statement.start_byte - _NEAR) : statement.start_byte].decode("utf-8", "replace")
    return _opened_by(_ONCE, before) is not None or _makes_the_only_one(before, file)


def _makes_the_only_one(before: str, file: SourceFile) -> bool:
    """Whether it stands under `if instance == nil`, where the variable of the package is set."""
    missing = _opened_by(_IS_MISSING, before)
    if missing is None or re.search(rf"\b{missing[1]}\s*=(?!=)", before[missing.end() :]) is None:
        return False
    return re.search(rb"^(?:var\s+|\t)" + missing[1].encode() + rb"\b", file.source, re.MULTILINE) is not None


def _opened_by(pattern: re.Pattern[str], before: str) -> re.Match[str] | None:
    """The last match that opens a block which is still open at the end of the text."""
    found = list(pattern.finditer(before))
    inside = before[found[-1].end() :] if found else "}"
    return found[-1] if inside.count("{") >= inside.count("}") else None


def _runs_for_ever(text: str, around: str) -> bool:
    """Whether a function is one loop that nothing ends: what ticks is no way out."""
    loop = _FOR_EVER.search(text)
    if loop is not None and (held := _HELD_CHANNEL.search(loop[0])) is not None and f"close({held[1]}" in around:
        return False  # no ticker, and somebody closes it
    return loop is not None and not _ENDS.search(_NO_EXIT.sub("", text[loop.start() :]))


def _function_called(name: str, file: SourceFile) -> Node | None:
    """The function or method of this file that a `go` statement runs; None when there are several."""
    found = [each.node for each in file.functions[1:] if each.short_name == name]
    return found[0] if len(found) == 1 else None


def _sent_by(worker: Node, given: str, file: SourceFile) -> list[str]:
    """The names of the arguments whose parameters the function sends on outside of any `select`."""
    listed, body = worker.child_by_field_name("parameters"), worker.child_by_field_name("body")
    if listed is None or body is None:
        return []
    text = file.text(body)
    names = [part.split()[0] for part in file.text(listed).strip("()").split(",") if part.strip()]
    sent = {found[1] for found in _SEND.finditer(text)} if "select" not in text else set()
    return [value.strip() for value, name in zip(given.split(","), names, strict=False) if name in sent]


def look_at_ticker(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if _ALIVE.search(function_name(call, file)) or file.scope_of(call).function.index == 0:
        return
    rest = text_after(call, file)
    if callee == "time.Tick":
        before = text_before(call, file)
        if (
            not _ENDLESS.search(rest)
            and not _ENDLESS.search(before)
            and not any(re.search(rf"\bfor\s+range\s+{name}\b", rest) for name in bound_names(call, file))
            and not (re.search(r"for\s+(\w+\s*:?=\s*)?range\s*$", before) and not _loop_ends(call))
        ):
            message = "The ticker of `time.Tick` cannot be stopped and outlives this function"
            yield file.mark(
                RULE.id,
                call,
                message,
                suggestion="Use `time.NewTicker` and `defer ticker.Stop()`.",
                data={"form": "ticker"},
            )
    elif callee == "time.NewTicker":
        names = bound_names(call, file)
        if len(names) != 1 or not re.fullmatch(r"\w+", names[0]):
            return
        name = names[0]
        if _is_stopped_elsewhere(name, call, rest, file):
            return
        kept = rf"\b{name}\.Stop\b|\breturn\b[^\n]*\b{name}\b(?!\.)|[:,(]\s*{name}\s*[,)}}]|=\s*{name}\b"
        endless = _ENDLESS.search(rest)
        if not re.search(kept, rest) and not (endless is not None and "return" not in rest[endless.start() :]):
            message = f"`{name}` is never stopped: it ticks on after this function"
            yield file.mark(RULE.id, call, message, suggestion=f"Add `defer {name}.Stop()`.", data={"form": "ticker"})


def _loop_ends(call: Node) -> bool:
    """Whether the loop over a ticker returns or breaks: then the ticker outlives its function."""
    loop = ancestor(call, _LOOPS)
    body = loop.child_by_field_name("body") if loop is not None else None
    return body is not None and any(
        each.type == "return_statement"
        or (each.type == "break_statement" and ancestor(each, _BROKEN) == loop and not each.named_children)
        for each in within(body)
    )


def _is_stopped_elsewhere(name: str, call: Node, rest: str, file: SourceFile) -> bool:
    """Whether another function stops the ticker: for a variable of the function only one that stands in the same."""
    around = file.functions[file.function_of(call)].node
    is_own = file.statement_of(call).type == "short_var_declaration"
    start, end = (around.start_byte, around.end_byte) if is_own else (0, len(file.source))
    stop, behind = f"{name}.Stop".encode(), call.end_byte + len(rest.encode())
    return stop in file.source[start : call.start_byte] or stop in file.source[behind:end]


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """From Go 1.23 on a ticker that nobody holds is collected, stopped or not. What a program's own package starts ends
    with the process, and so does the worker of what nobody stops, unless each request makes one or nobody is seen to
    start it, so that it may be anybody."""
    if mark.data.get("form") == "ticker":
        manifests = [facts.manifest for path, facts in codebase.files.items() if path.endswith("go.mod")]
        if manifests and all(_COLLECTS.search(text) for text in manifests):
            return None
    if _TESTS.search(place.path):
        return None
    if place.in_request_path:
        return place.finding(mark)
    if place.facts.is_entry or "/cmd/" in f"/{place.path}" or _STOPS.search(f".{place.function.name}"):
        return None
    if mark.data.get("form") == "worker" and any(facts.is_entry for _, facts in codebase.sources):
        if "outlives" in mark.data or _is_stopped(mark.data["made"], place):
            return place.finding(mark)
        return None if place.is_called else place.finding(mark, confidence=Confidence.LOW)
    return place.finding(mark)


def _is_stopped(made: str, place: Place) -> bool:
    """Whether the type has a method that ends it, in any file of its package: the worker outlives that."""
    folder = place.path.rpartition("/")[0]
    return any(
        function.name.startswith(f"{made}.") and _STOPS.search(function.name)
        for path, facts in place.codebase.sources
        if path.rpartition("/")[0] == folder and made
        for function in facts.functions
    )


def _is_unbuffered(channel: str, statement: Node, file: SourceFile) -> bool:
    """Whether this function made the channel, without room."""
    before = text_before(statement, file)
    return re.search(rf"\b{re.escape(channel)}\s*:?=\s*make\(chan\s[^,\n]*\)\s*$", before, re.MULTILINE) is not None


def _nobody_feeds(channel: str, statement: Node, file: SourceFile) -> bool:
    """Whether this function made the channel, gives it to nobody, and never closes it. What is ranged over has to be
    closed; a single receive is served by a send as well."""
    text, word = function_text(statement, file), re.escape(channel)
    if not re.search(rf"\b{word}\s*:?=\s*make\(chan\b", text_before(statement, file)):
        return False
    if re.search(rf"\bclose\(\s*{word}\s*\)|[(,:=&]\s*{word}\s*[,)}}\n]|\breturn\s[^\n]*\b{word}\b", text):
        return False
    return re.search(rf"\brange\s+{word}\b", text) is not None or not re.search(rf"\b{word}\s*<-", text)


def _collector_may_leave(channel: str, rest: str) -> bool:
    """Whether the loop that takes the results of several goroutines one by one returns before it has all."""
    received = re.search(rf"<-\s*{re.escape(channel)}\b", rest)
    loop = rest.rfind("for ", 0, received.start()) if received is not None else -1
    if received is None or loop < 0:
        return False
    depth = rest.count("{", loop, received.start()) - rest.count("}", loop, received.start())
    for found in re.finditer(r"[{}]|\breturn\b", rest[received.end() :]):
        if found[0] == "return":
            return True
        depth += 1 if found[0] == "{" else -1
        if depth <= 0:
            return False
    return False


def _takes_one(channel: str, rest: str) -> bool:
    """Whether of the results of several goroutines one is taken, behind the loop that starts them: `return <-ch`."""
    received = list(re.finditer(rf"<-\s*{re.escape(channel)}\b|range\s+{re.escape(channel)}\b", rest))
    if len(received) != 1 or received[0][0].startswith("range"):
        return False
    before = rest[: received[0].start()]
    is_behind = before.count("{") < before.count("}")
    return is_behind and re.search(r"\bfor\b[^\n]*\{[^{}]*$", before) is None


def _receiver_may_leave(channel: str, rest: str) -> bool:
    """Whether the only receive stands in a `select` with a case that gives up."""
    received = re.findall(rf"<-\s*{re.escape(channel)}\b|range\s+{re.escape(channel)}\b", rest)
    if len(received) != 1:
        return False
    first = re.search(rf"<-\s*{re.escape(channel)}\b", rest)
    earlier = _CLOSURE.sub("", rest[: rest.rfind("\n", 0, first.start()) + 1]) if first is not None else ""
    if re.search(r"^\s*return\b", earlier, re.MULTILINE):
        return True
    select = _SELECT.search(rest)
    if select is None or not re.search(rf"<-\s*{re.escape(channel)}\b", select[0]):
        return False
    loops = re.search(r"\bfor\b[^\n]*\{[^{}]*$", rest[: select.start()]) is not None
    return not loops and re.search(r"\.Done\(\)|time\.After|timer\.C|timeout", select[0]) is not None


WATCHES = (
    Watch("go", look_at_goroutine, GO),
    Watch("call", look_at_ticker, GO, names=frozenset({"Tick", "NewTicker"})),
)
