"""Whether the rounds of a loop have to wait for each other, by what one leaves for the next or by what is said."""

import re

from tree_sitter import Node

from analysis.engine.extract.scopes import LoopDraft
from analysis.engine.extract.source import SourceFile

_DEPENDS = re.compile(
    r"\b(break|return|yield|sleep|delay|setTimeout|waitFor\w*|retry|retries|attempt|cursor|previous|prev|last|rate.?limit\w*|limiter"
    r"|throttle|lock|(?:last|prev|previous)\w*_?id|sequential|in order|one by one|one at a time|serially)\b"
    r"|\bif \(!?[\w.]+\) \{?\s*throw\b|\bfor\s+await\b|\basync for\b",
    re.IGNORECASE,
)
ON_PURPOSE = re.compile(
    r"(?i)memory|order|sequen|serial|one by one|one at a time|concurren|parallel|rate|overload|avoid"
)
_KNOWN = re.compile(
    rb"\bif \([^\n]*\.has\(|\bif [^\n]* not in \w*(?:cache|known|seen|memo)"
    rb"|\b(\w+) = [\w.]+\.get\([^\n]*\);?\s+if \((?:!\1|\1 ===? (?:undefined|null))\)"
)
_COUNTED = re.compile(r"\(?\s*(\w+)\s*<\s*(?:[\w.]+\.length\b|len\()")
_TAKEN = re.compile(r"([\w$]+)\s*=\s*([\w$.]+)\.(?:shift|pop|popleft)\(")
_SPENT = re.compile(r"([\w$.]+)\.(?:shift|pop|popleft)\(\)")  # and given to a call at once
_AWAITED = re.compile(r"\bawait\s+([\w$.]+)\(([^()\n]*)\)")
_SLEEPS = re.compile(r"(?:^|\.)(?:sleep|setTimeout|delay|waitForTimeout)$")
_SPAN = re.compile(
    r"\d[\d_.]*|(?i:(?:\w+\.)*\w*(?:delay|pause|backoff|interval|wait)(?:_?ms|millis|seconds)?)|\w*(?:Ms|MS|_ms)"
)
_WORDS = re.compile(r"[A-Za-z_$][\w$]*")


def needs_order(
    node: Node, call: Node, loop: LoopDraft, variables: tuple[str, ...], body: str, file: SourceFile
) -> bool:
    """Whether a round needs what the one before has brought, or somebody says that they come one by one."""
    if _ends_by_result(loop, variables, body) or _is_remembered(node, loop, file) or _DEPENDS.search(body):
        return True
    if any(_sleeps(each[1], each[2], file) for each in _AWAITED.finditer(body)):
        return True
    # What the head waits for is there before the first round.
    first = file.source.find(b"await ", max(loop.node.start_byte, loop.head_end), loop.node.end_byte)
    if first < node.start_byte - len("await ") and file.source.count(b"await ", first, loop.node.end_byte) > 1:
        return True
    is_of_round = re.search(rf"\b({'|'.join(map(re.escape, variables))})\b", file.text(call))
    if (
        is_of_round is None
        or _carries(node, call, variables, body, file)
        or _feeds_on(body, file.text(call), variables)
    ):
        return True
    return any(ON_PURPOSE.search(comments_near(each, file)) for each in (loop.node, node))


def _sleeps(callee: str, given: str, file: SourceFile) -> bool:
    """Whether a call only lets time pass: under another name, `import { setTimeout as pause }`, or as a function of the
    project that is given nothing but how long."""
    return _SLEEPS.search(file.resolve(callee)) is not None or _SPAN.fullmatch(given) is not None


def of_each_round(loop: LoopDraft, body: str) -> tuple[str, ...]:
    """What each round works on: the loop's variables, the index that it counts, or what it takes out of a collection
    that nothing is put into."""
    if loop.kind in ("for", "comprehension"):
        return loop.variables
    if loop.kind != "while":
        return ()
    counted = _COUNTED.match(loop.iterable)
    if counted is not None:
        return (counted[1],)
    taken = [match for match in _TAKEN.finditer(body) if match[2] in loop.iterable]
    if not taken and (spent := _SPENT.search(body)) is not None and spent[1] == loop.iterable.strip(" ()"):
        return (spent[1],) if not _is_filled(spent[1], body) else ()
    return tuple(match[1] for match in taken if not _is_filled(match[2], body))


def _is_filled(name: str, body: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\.(?:push|append|add|extend)\(", body) is not None


def _is_remembered(node: Node, loop: LoopDraft, file: SourceFile) -> bool:
    """Whether a round asks only for what no round before it has asked: `if (!known.has(key))`."""
    return _KNOWN.search(file.source, loop.node.start_byte, node.start_byte) is not None


def _ends_by_result(loop: LoopDraft, variables: tuple[str, ...], body: str) -> bool:
    """Whether the head asks for something that the rounds find out: `i < n && !full`."""
    has_condition = loop.kind == "while" or "&&" in loop.iterable
    asked = {name for name in _WORDS.findall(loop.iterable) if name not in variables} if has_condition else ()
    return any(re.search(rf"(?m)^\s*{re.escape(name)}\s*=(?!=)", body) for name in asked)


def comments_near(loop: Node, file: SourceFile) -> str:
    """The comments on the few lines above a loop, also with other lines between."""
    before = file.source[max(0, loop.start_byte - 300) : loop.start_byte].decode("utf-8", "replace")
    return " ".join(line for line in before.split("\n")[-4:] if line.lstrip().startswith(("//", "#", "*", "/*")))


def _feeds_on(body: str, call: str, variables: tuple[str, ...]) -> bool:
    """Whether the call takes what an earlier round assigned, `doc = …` without a declaration, and which is no index
    that the loop counts."""
    assigned = re.findall(r"(?m)^\s*(\w+)\s*[+-]?=(?!=|>)", body)
    return any(re.search(rf"(?<![.\w]){name}\b", call.partition("(")[2]) for name in {*assigned}.difference(variables))


def _carries(node: Node, call: Node, variables: tuple[str, ...], body: str, file: SourceFile) -> bool:
    """Whether what one round awaits is what the next one works with."""
    named = re.search(rb"(\w+\.)?([\w$]+)\s*[+]?=\s*\Z", file.source[max(0, node.start_byte - 60) : node.start_byte])
    if named is None or (named[1] is not None and named[1].decode()[:-1] in variables):
        return False  # each round fills its own object
    name = re.escape(named[2].decode("utf-8", "replace"))
    declared = re.search(rf"\b(const|let|var)\s+{name}\b", body) is not None
    return bool(re.search(rf"\b{name}\b", file.text(call))) or (file.language != "python" and not declared)
