"""A goroutine can block for ever, or a ticker is never stopped."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Guide, Rule, Severity
from analysis.engine.rules.base import GO, Watch
from analysis.engine.rules.go_results import bound_names
from analysis.engine.rules.reading import function_name, text_after, text_before

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
_ADDS = re.compile(r"^go func\([^)]*\)\s*\{\s*(\w+(?:\.\w+)*)\.Add\(1\)")
_ENDLESS = re.compile(r"\bfor\s*\{")
_ALIVE = re.compile(r"(^|\.)(main|init)$")


def look_at_goroutine(statement: Node, file: SourceFile) -> Iterator[Mark]:
    if _ALIVE.search(function_name(statement, file)):
        return
    text = file.text(statement)
    added = _ADDS.match(text)
    if added is not None and re.search(rf"\b{re.escape(added[1])}\.Wait\(", text_after(statement, file)):
        message = f"`{added[1]}.Add` inside the goroutine may run after `{added[1]}.Wait`"
        yield file.mark(RULE.id, statement, message, suggestion=f"Call `{added[1]}.Add(1)` before the `go` statement.")
        return
    for sent in _SEND.finditer(text):
        channel = sent[1]
        if _is_unbuffered(channel, statement, file) and _receiver_may_leave(channel, text_after(statement, file)):
            yield file.mark(
                RULE.id,
                statement,
                f"The goroutine blocks for ever on `{channel}` when the receiver takes the other case and returns",
            )
            return


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
            and not re.search(r"for\s+(\w+\s*:?=\s*)?range\s*$", before)
        ):
            message = "The ticker of `time.Tick` cannot be stopped and outlives this function"
            yield file.mark(RULE.id, call, message, suggestion="Use `time.NewTicker` and `defer ticker.Stop()`.")
    elif callee == "time.NewTicker":
        names = bound_names(call, file)
        if len(names) != 1 or not re.fullmatch(r"\w+", names[0]):
            return
        name = names[0]
        kept = rf"\b{name}\.Stop\b|\breturn\b[^\n]*\b{name}\b(?!\.)|[:,(]\s*{name}\s*[,)}}]|=\s*{name}\b"
        if not re.search(kept, rest):
            message = f"`{name}` is never stopped: it ticks on after this function"
            yield file.mark(RULE.id, call, message, suggestion=f"Add `defer {name}.Stop()`.")


def _is_unbuffered(channel: str, statement: Node, file: SourceFile) -> bool:
    """Whether this function made the channel, without room."""
    before = text_before(statement, file)
    return re.search(rf"\b{re.escape(channel)}\s*:?=\s*make\(chan\s[^,\n]*\)\s*$", before, re.MULTILINE) is not None


def _receiver_may_leave(channel: str, rest: str) -> bool:
    """Whether the only receive stands in a `select` with a case that gives up."""
    received = re.findall(rf"<-\s*{re.escape(channel)}\b|range\s+{re.escape(channel)}\b", rest)
    if len(received) != 1:
        return False
    select = re.search(r"\bselect\s*\{([\s\S]*?)\n\s*\}", rest)
    if select is None or not re.search(rf"<-\s*{re.escape(channel)}\b", select[1]):
        return False
    loops = re.search(r"\bfor\b[^\n]*\{[^{}]*$", rest[: select.start()]) is not None
    return not loops and re.search(r"\.Done\(\)|time\.After|timer\.C|timeout", select[1]) is not None


WATCHES = (
    Watch("go", look_at_goroutine, GO),
    Watch("call", look_at_ticker, GO, names=frozenset({"Tick", "NewTicker"})),
)
