"""What the rounds of a loop attempt: what is tried there, and tried again when it fails."""

import re
from collections.abc import Callable
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.handlers import HANDLERS, TRIES
from analysis.engine.readers.promises import awaited_elsewhere
from analysis.engine.readers.reading import statements, within
from analysis.engine.rules.base import SCRIPT

REMOTE = re.compile(
    r"(?:\b|_)(requests|httpx|urlopen|fetch|axios|client|connect\w*|session|cursor|execute|prisma|db|api|socket|http\w*|send|publish"
    r"|sequelize|mongoose|knex|mongo\w*|amqp\w*|kafka\w*|channel|pool|data_?source|engine"
    r"|upload|download|query|request|dial\w*|redis|s3|rpc|grpc|stripe|rest|\w*gateway|\w*[cC]lient|\w*[rR]epository|\w*[tT]emplate)\b\.?\w*\("
    r"|\w\.(?:\w*_)?(?:publish|send|upload|download|save|commit|ping|authenticate)\w*\(|\bsql\.open\("
    r"|\.(?:open(?:stream|connection)|get_?connection|execute(?:query|update|batch))\(",
    re.IGNORECASE,
)
# What is asked of an object that the own one holds in the way that only what goes out is: with the context of the
# caller, or awaited. What holds it need not say what is behind it.
_WITH_CONTEXT = re.compile(r"\b\w+\.\w+\.[A-Z]\w*\(\s*(?:\w*[cC]tx|\w+(?:\.\w+)*\.Context\(\))\s*[,)]")
_AWAITED = re.compile(r"\bawait\s+(?:this|self)\.#?\w+\.\w+\(")
LIMITED = re.compile(
    r"monotonic\(|time\(\)\s*-|time\.Since|attempt|retries|retry_?count|tries|max_|\bmax[A-Z]|deadline|expir|timeout|fail(?:ure)?s?_?count|elapsed|\bcount(?!ry|ries)|remaining|ctx\.|context\.|\bcontext\(\)|<-\s*(?!time\.)[\w.]|cancel"
    r"|stopped|shutdown|closed|isInterrupted|is_running|poll|prompt\(|\binput\(|readline|\w*queue\w*\.get\(|recv|\baccept\(|await_|[mM]essages?\b|\bjob\b",
    re.IGNORECASE,
)
# How long one call may take says nothing about how often it is made; neither does what it fails with.
TIMEOUT_OF_A_CALL = re.compile(
    r"\b(?:\w+_)?timeout\s*[=:]\s*[\w.]+\s*[,)}]|\.(?:set)?\w*timeout\([^()\n]*(?:\([^()\n]*\))?\)|AbortSignal\.timeout\([^()\n]*\)|(?:except|catch)\b[^:{\n]*[:{]",
    re.IGNORECASE,
)
OPTIMISTIC = re.compile(
    r"(?i)integrity|conflict|lock|stale|version|serializ|watch|unique|exists|collision|duplicate|token"
)
WAITS = re.compile(r"sleep|delay|backoff|\bwait|setTimeout|time\.After|pause|ticker", re.IGNORECASE)
DAEMON = re.compile(
    r"(^|[._])(run|loop|main|worker|consume\w*|listen\w*|serve\w*|poll\w*|watch\w*|daemon)$|_(loop|forever|worker)$"
)
_LEAVES = re.compile(r"\b(raise|throw|return|break|panic|reject|exit)\b")
_LAST_TIME = re.compile(
    r"\bif\b[^\n{;]*(?:==|>=?|<=?)[^\n{;]*[:{)]\s*(?:\{\s*)?(?:(?!\})[^\n]*\n\s*)?(?:raise|throw|return|break)\b[^\n;}]*"
)
_GO_FAILED = re.compile(r"\bif\s+(?:[^{\n]*;\s*)?\w*[eE]rr\s*!=\s*nil\s*\{([^{}]*)\}")
_WHILE_IT_FAILS = re.compile(r"for\s+\w*[eE]rr\s*!=\s*nil\s*\{")
_INNER_LOOP = re.compile(r"\bfor\b[^\n]*\{")
_GO_WORKED = re.compile(r"\bif\s+(?:[^{\n]*;\s*)?\w*[eE]rr\s*==\s*nil\s*\{[^{}]*\b(?:return|break)\b[^{}]*\}")
_STEPS_DOWN = re.compile(r"(?<![\w.])(\w+)\s*(?:-=\s*1\b|--)|--(\w+)\b")


def goes_out(tried: str, file: SourceFile) -> bool:
    """Whether what is tried leaves the process, as far as its own text tells."""
    if REMOTE.search(tried) is not None:
        return True
    asked = {"go": _WITH_CONTEXT, "java": None}.get(file.language, _AWAITED)
    return asked is not None and asked.search(tried) is not None


class Attempt(NamedTuple):
    """What the rounds of a loop try: its text, and the functions that a script awaits there (see
    `promises.awaited_elsewhere`)."""

    text: str
    awaited: dict[str, str]


def attempt_in(loop: Node, file: SourceFile, *, is_counted: bool, ends: Callable[[str], bool]) -> Attempt | None:
    """What each round tries, when failing does not leave the loop. Where attempts are counted, the last one may; `ends`
    says of the text of a handler whether it sets what the head of the loop waits for. None as well where what is tried
    handles its own errors."""
    if file.language == "go":
        text = _go_try(file.text(loop))
        return Attempt(text, {}) if text is not None else None
    tried = _try_in(loop, file, is_counted=is_counted, ends=ends)
    body = tried.child_by_field_name("body") if tried is not None else None
    if tried is None or body is None:
        return None
    awaited = (awaited_elsewhere(tried, file) if file.language in SCRIPT else None) or {}
    opened = tried.child_by_field_name("resources") or body  # what Java opens in the head is tried as well
    text = file.source[opened.start_byte : body.end_byte].decode("utf-8", "replace")
    return Attempt(text, awaited) if awaited != {"awaits": ""} else None


def is_counted_down(text: str) -> bool:
    """Whether a loop counts down what it may still try, and asks how much is left: `if not checks: ... checks -= 1`."""
    counted = {found[1] or found[2] for found in _STEPS_DOWN.finditer(text)}
    return any(re.search(rf"\bif\b[^\n]*\b{name}\b", text) for name in counted)


def _try_in(loop: Node, file: SourceFile, *, is_counted: bool, ends: Callable[[str], bool]) -> Node | None:
    """A `try` right in the loop, when none of its handlers leaves or ends the loop."""
    own = next((each for each in file.loops if each.node.id == loop.id), None)
    for node in within(loop):
        if node.type in TRIES and file.loop_of(node) is own:
            handlers = [each for each in node.named_children if each.type in HANDLERS]
            said = [file.text(each) for each in handlers]
            if is_counted and not any(map(_ends_by_leaving, handlers)):
                said = [_LAST_TIME.sub("", each) for each in said]
            if handlers and not any(_LEAVES.search(each) or ends(each) for each in said):
                return node
    return None


def _go_try(text: str) -> str | None:
    """What comes before an `if err != nil` of the loop that only goes on; all of a loop that asks so in its head."""
    if _WHILE_IT_FAILS.match(text):
        return text
    for found in _GO_FAILED.finditer(text):
        if _is_in_inner_loop(text, found.start()):
            continue
        if not _LEAVES.search(found[1]) and ("continue" in found[1] or "Sleep" in found[1]):
            return text[: found.end()]
    worked = _GO_WORKED.search(text)
    return text[: worked.end()] if worked is not None and not _LEAVES.search(text, worked.end()) else None


def _ends_by_leaving(handler: Node) -> bool:
    """Whether the last statement of a handler raises: it goes on for some errors only."""
    held = statements(handler.child_by_field_name("body") or handler.named_children[-1])
    return bool(held) and held[-1].type in ("raise_statement", "throw_statement", "return_statement")


def _is_in_inner_loop(text: str, position: int) -> bool:
    """Whether a place in a loop of Go stands in another loop of it, which goes on with its next row."""
    return any(
        text.count("{", inner.start(), position) > text.count("}", inner.start(), position)
        for inner in _INNER_LOOP.finditer(text, 1, position)
    )
