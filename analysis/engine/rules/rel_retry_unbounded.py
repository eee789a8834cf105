"""An operation is tried again and again, without a limit or without a pause."""

import re
from collections.abc import Callable, Iterator
from functools import partial, wraps

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.attempts import (
    DAEMON,
    LIMITED,
    OPTIMISTIC,
    REMOTE,
    TIMEOUT_OF_A_CALL,
    WAITS,
    attempt_in,
    goes_out,
    is_counted_down,
)
from analysis.engine.readers.handlers import HANDLERS, comment_above
from analysis.engine.readers.held_clients import by_client
from analysis.engine.readers.outside_calls import by_class, what_it_does
from analysis.engine.readers.promises import awaits_only_what_keeps_errors
from analysis.engine.readers.reading import CALLS, WORD_END, followed, function_name, within
from analysis.engine.readers.recursive_attempts import GO_AGAIN, Again, again_in_catch, again_in_go, again_in_handler
from analysis.engine.readers.retry_libraries import said_of_annotation, said_of_decorator, said_of_option
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Look, Watch

RULE = Rule(
    id="rel-retry-unbounded",
    type="retry_unbounded",
    category=Category.RELIABILITY,
    title="Retry without limit",
    severity=Severity.WARNING,
    points=1.5,
    suggestion=(
        "Limit the attempts and wait exponentially with jitter; endless instant retries keep a struggling service down."
    ),
    confidence=Confidence.MEDIUM,
)
GUIDE = Guide(
    why="When the other side is down, everybody knocks for ever and as fast as they can, and keeps it down.",
    flagged=(
        {
            "shop/work.py": """
def load(client, key):
    while True:
        try:
            return client.fetch(key)
        except OSError:
            continue
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
import time


def load(client, key):
    for attempt in range(5):
        try:
            return client.fetch(key)
        except OSError:
            time.sleep(2**attempt)
    raise TimeoutError(key)
"""
        },
    ),
)

LONGEST_LOOP = 4_000  # bytes that are read

_ENDLESS = re.compile(
    rb"while\s+(?:True|1)\s*:|while\s*\(\s*true\s*\)\s*\{|for\s*\(\s*;\s*;\s*\)\s*\{|for\s*\{|do\s*\{"
    rb"|while\s+not\s+([\w.]+)\s*:|while\s*\(\s*!\s*([\w.]+)\s*\)\s*\{|for\s+!([\w.]+)\s*\{"
    rb"|while\s+([\w.]+)\s+is\s+None\s*:|while\s*\(\s*([\w.]+)\s*===?\s*(?:null|undefined)\s*\)\s*\{"
    rb"|for\s+([\w.]+)\s*==\s*nil\s*\{|for\s+(\w*[eE]rr)\s*!=\s*nil\s*\{"
)
_COUNTED = re.compile(
    rb"for\s+\w*\s+in\s+range\(|for\s*\(\s*(?:let|var|int)\s+\w+\s*=\s*\d+\s*;|for\s+\w+\s*:=\s*\d+\s*;"
    rb"|for\s+(?:\w+\s*:=\s*)?range\s+\w+\s*\{|while\b[^\n]*(?:attempt|retr|tries)|while\s*\(?\s*\w+\s*<=?\s*\w+"
)
_COUNTER = re.compile(r"(?:for\s*\(?\s*(?:let\s+|var\s+|int\s+)?|while\s*\(?\s*)(\w+)")
_CHANGES = re.compile(r"(?<![\w.])(\w+)\[[^\]\n]*\]\s*=(?!=)|(?<![\w.])(\w+)\.(?:add|append|discard|remove|pop)\(")
_TAKES_ANOTHER = re.compile(r"(?i)\b(?:get_?next|next|rotate|switch|fail_?over)\w*\(")
_MAKES_ANOTHER = re.compile(
    r"(?i)uuid|random(?:ize|_?(?:name|string|bytes|key|id|hex))|random\w*\.(?:next|choice)|nanoid|generate\w*\("
)
_OVER_LIST = re.compile(r"for\b[^\n{;]*;[^\n{;]*<=?\s*(?:[\w.]+\.(?:length|size\(\))|len\()")
_GOES_ON = re.compile(r"(?i)\buntil\b|for ?ever|as long as|keeps? (?:trying|retrying)|back ?off")
_STEPS = re.compile(r"(?<![\w.])(\w+)\s*=\s*(?:[\w.]+\()?\1\s*[.\[,)]")  # `zone = zone.parent()`, `port = after(port)`
_NAMES_ATTEMPTS = re.compile(r"(?i)attempt|retr(?:y|ies)|\btries\b|\bmax_?tries")
_WAITS_LONGER = re.compile(r"(?i)back_?off|jitter|\*=\s*2|\*\*|\bmin\(|<<=?\s*1|Math\.pow|math\.Pow")
_DECISIONS = frozenset({"if_statement", "assignment_expression", "variable_declarator", "try_statement"})
_ENDS_ENDLESS = re.compile(r"\}\s*while\s*\(\s*true\s*\)\s*;?\Z")
_SUCCEEDS = re.compile(r"\breturn\b|\bbreak\b")
# A file is near: it needs no pause, but an end.
_FILE = re.compile(
    r"\bopen\(|\bos\.(?:Open|ReadFile|WriteFile|rename|remove)\w*\(|\bFiles\.\w+\(|\bfs\.\w+\(|\bshutil\.\w+\("
)
_TEXT = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`")
_TOLD = re.compile(r"\b(?:log\w*|logger|console|slog|fmt|print\w*)(?:\.\w+)?\([^\n]*", re.IGNORECASE)
_COUNTS_ON = re.compile(r"(?<![\w.])(\w+)\s*(?:\+\+|\+=\s*1\b);?|\+\+(\w+);")
_NOTHING = re.compile(rb"None|null|undefined|nil")
_GIVEN_TRUE = re.compile(r"\s*=\s*[Tt]rue\b")
_GIVEN_SOMETHING = re.compile(r"\s*=(?!=)\s*(?!(?:[Ff]alse|None|null|nil|undefined)\b)")
_OVER_HTTP = re.compile(r"\b(?:fetch|axios|got|requests|httpx|urlopen)\b[\w.]*\(")
_LOCKS = re.compile(r"(?i)acquire|(?:^|[._])(?:try)?lock|[a-z]Lock")
_CAUGHT_LOCK = re.compile(r"(?i)(?:except|catch)\b[^:{\n]*(?:lock|conflict|duplicate|collision|stale|integrity)")
_GIVEN_ON = re.compile(
    r"(?:except|catch)\b[^:{\n]*[ (](\w+)\)?\s*[:{][^}]*?\b(?:sleep|wait|handle\w*|check\w*|back_?off)\(\s*\1\s*\)"
)
_STARTS_THREAD = re.compile(rb"\b(?:Thread|submit|execute|scheduleWith\w+|runAsync|go)\s*\(?\s*\Z")
_LAMBDAS = frozenset({"lambda_expression", "lambda", "func_literal", "arrow_function"})
NEAR = 60  # bytes before a lambda


def look_at_loop(loop: Node, file: SourceFile) -> Iterator[Mark]:
    """A loop whose body fails, catches that, and goes round again; success leaves it."""
    if loop.end_byte - loop.start_byte > LONGEST_LOOP or (file.language == "go" and file.mentions(b'"testing"')):
        return  # what helps tests waits for its servers
    endless = _ENDLESS.match(file.source, loop.start_byte)
    text = file.text(loop)
    is_endless = endless is not None and (not text.startswith("do") or _ENDS_ENDLESS.search(text) is not None)
    if not _may_succeed(endless, text):
        return
    attempt = attempt_in(loop, file, is_counted=not is_endless, ends=partial(_sets_flag, endless))
    if attempt is None or not _is_attempt(attempt.text, text, endless if is_endless else None, loop, file):
        return
    tried = attempt.text
    is_known = REMOTE.search(tried) is not None or (
        is_endless and (_FILE.search(tried) is not None or goes_out(tried, file))
    )
    called = {} if is_known else _called_in(loop, file)
    if called and file.language != "go" and not _SUCCEEDS.search(tried):
        return  # success does not end it: it is no attempt, but the next piece of work
    data = called | attempt.awaited
    if is_endless and is_counted_down(text):
        return
    if is_endless and not LIMITED.search(_without_counts(TIMEOUT_OF_A_CALL.sub("", _TOLD.sub("", text)))):
        yield from _without_limit(loop, text, data, file)
    elif not is_endless and not WAITS.search(text) and not _is_optimistic(text, tried):
        yield from _without_pause(loop, text, tried, data, file)


def _without_counts(text: str) -> str:
    """The text of a loop without what it quotes and what only counts its rounds: a number that nobody asks ends
    nothing."""
    text = _TEXT.sub("", text)
    for counted in {found[1] or found[2] for found in _COUNTS_ON.finditer(text)}:
        if not any(followed(counted, _COUNTS_ON.sub("", text), WORD_END, "_.")):
            text = re.sub(rf"\b{counted}\b", "", text)
    return text


def _is_attempt(tried: str, text: str, endless: re.Match[bytes] | None, loop: Node, file: SourceFile) -> bool:
    """Whether each round tries the same again, rather than take the next piece of work."""
    if DAEMON.search(function_name(loop, file)):
        return False
    if endless is not None and file.language != "go" and not _ends_behind(tried, text, _given(endless)):
        return False  # it asks for the end before it tries
    return not _moves_on(tried, loop, file) and not _GOES_ON.search(comment_above(loop, file))


def _is_optimistic(text: str, tried: str) -> bool:
    """Whether the loop tries again because another one was first. What another server answers may be called anything:
    there only what is done with the failure tells."""
    return OPTIMISTIC.search(text.replace(tried, "") if _OVER_HTTP.search(tried) else text) is not None


def _without_limit(loop: Node, text: str, data: dict[str, str], file: SourceFile) -> Iterator[Mark]:
    if _WAITS_LONGER.search(text):
        return
    name = function_name(loop, file)
    waits = WAITS.search(text) is not None
    # Who waits between the attempts has thought of them; who does not keeps a struggling service down.
    is_guess = waits or "calls" in data or _decides(loop) or _may_wait_for_work(loop, name, text, file)
    message = f"`{name}` tries again for ever{'' if waits else ' and at full speed'} when the call fails"
    severity, confidence = ("info", "low") if is_guess else ("", "")
    yield file.mark(RULE.id, loop, message, severity=severity, confidence=confidence, data=data)


def _without_pause(loop: Node, text: str, tried: str, data: dict[str, str], file: SourceFile) -> Iterator[Mark]:
    if _is_same_each_time(text, tried):
        message = f"`{function_name(loop, file)}` tries again without a pause when the call fails"
        fix = "Wait exponentially with jitter between the attempts."
        is_sure = _NAMES_ATTEMPTS.search(text.partition("\n")[0]) is not None and not _decides(loop)
        yield file.mark(RULE.id, loop, message, confidence="" if is_sure else "low", suggestion=fix, data=data)


def _decides(loop: Node) -> bool:
    """Whether a handler of the loop asks what went wrong, or prepares the next attempt."""
    handlers = (each for each in within(loop) if each.type in HANDLERS)
    return any(step.type in _DECISIONS for each in handlers for step in within(each))


def _may_wait_for_work(loop: Node, name: str, text: str, file: SourceFile) -> bool:
    """Whether an endless loop may be meant to be one: it is what a thread runs, waits for a lock that another holds, or
    gives the error to something that may end it."""
    if _LOCKS.search(name) or _CAUGHT_LOCK.search(text) or _GIVEN_ON.search(text):
        return True
    function = file.enclosing_function(loop)
    start = function.start_byte if function is not None and function.type in _LAMBDAS else 0
    return _STARTS_THREAD.search(file.source, max(0, start - NEAR), start) is not None


def _moves_on(tried: str, loop: Node, file: SourceFile) -> bool:
    """Whether a handler changes what is tried next, so that it is not the same again: `fields[error.name] = "-"`."""
    handlers = (each for each in within(loop) if each.type in HANDLERS)
    said = [file.text(each) for each in handlers]
    if any(map(_TAKES_ANOTHER.search, said)) or _MAKES_ANOTHER.search(file.text(loop)):
        return True
    changed = {found[1] or found[2] for each in said for found in _CHANGES.finditer(each)}
    changed.update(found[1] for found in _STEPS.finditer(file.text(loop)))
    return any(re.search(rf"\b{re.escape(name)}\b", tried) for name in changed)


def _ends_behind(tried: str, text: str, given: re.Pattern[str]) -> bool:
    """Whether a loop is left, or its flag is set, in what is tried or behind that."""
    start = text.find(tried)
    found = _SUCCEEDS.search(text, start) if start >= 0 else None
    return found is not None or given.search(text, max(0, start)) is not None


def _called_in(loop: Node, file: SourceFile) -> dict[str, str]:
    """What a loop calls, for want of a name that tells of something remote."""
    calls = (file.callee(each) for each in within(loop) if each.type in CALLS)
    return {"calls": " ".join(dict.fromkeys("".join(each.split()) for each in calls))}


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Where no name tells, one of the functions that are called has to leave the process or ask the database, or the
    class of a field tells. Functions that handle their own errors are never tried again."""
    if awaits_only_what_keeps_errors(mark, place):
        return None
    if "calls" not in mark.data:
        return place.finding(mark)
    if any(_leaves(call, place) for call in mark.data["calls"].split()):
        return place.finding(mark)
    called = (
        codebase.place(callee.path, callee.position)
        for name in mark.data["calls"].split()
        for callee in place.meant_by(name)
    )
    return place.finding(mark) if any(map(_is_remote, called)) else None


def _is_remote(place: Place) -> bool:
    queries = (each for each in place.facts.queries if each.function == place.index)
    return any(each.terminal for each in queries) or any(
        _leaves(call, place) or REMOTE.search(f"{call}(") for call in place.function.calls
    )


def _leaves(call: str, place: Place) -> bool:
    named = by_client(by_class(call, place.function, place.facts), place.path, place.codebase)
    return what_it_does(named, place.facts.language) not in ("", "sleeps")


def _may_succeed(endless: re.Match[bytes] | None, text: str) -> bool:
    """Whether the loop ends when the call has worked: it is left, or sets what its head asks for."""
    if endless is not None and any(endless.groups()):
        return _sets_flag(endless, text)
    return _SUCCEEDS.search(text) is not None


def _sets_flag(endless: re.Match[bytes] | None, text: str) -> bool:
    """Whether a piece of the loop sets what its head waits for; there may be nothing."""
    flag = next((each.decode() for each in endless.groups() if each), "") if endless is not None else ""
    return bool(flag) and next(followed(flag, text, _given(endless), "_."), None) is not None


def _given(endless: re.Match[bytes] | None) -> re.Pattern[str]:
    """What ends a loop whose head waits for a variable: that it becomes true, or anything where none was there."""
    is_missing = endless is not None and _NOTHING.search(endless[0]) is not None
    return _GIVEN_SOMETHING if is_missing else _GIVEN_TRUE


def _told_again(read: Callable[[Node, SourceFile], Iterator[Again]]) -> Look:
    """A look that marks where a function calls itself."""

    @wraps(read)
    def look(node: Node, file: SourceFile) -> Iterator[Mark]:
        for again in read(node, file):
            yield file.mark(RULE.id, again.call, again.message, data=again.called)

    return look


def _told(read: Callable[[Node, SourceFile], str]) -> Look:
    """A look that marks what a reader of libraries for retrying says of a node."""

    @wraps(read)
    def look(node: Node, file: SourceFile) -> Iterator[Mark]:
        message = read(node, file)
        if message:
            yield file.mark(RULE.id, node, message)

    return look


def _is_same_each_time(text: str, tried: str) -> bool:
    """Whether a counted loop does not give its number to what it tries: it is no walk over a list."""
    if _OVER_LIST.match(text):
        return False
    counter = _COUNTER.match(text)
    if text.startswith("while") and counter is not None:
        # What is counted is failures: it does not move when the call has worked.
        return re.search(rf"\b{counter[1]}\s*(?:\+\+|\+=)|\+\+{counter[1]}\b", tried) is None
    tried = _TOLD.sub("", tried)
    if counter is None or re.search(rf"=[^=\n]*\b{counter[1]}\b(?!\s*(?:[-+]|[<>=]=?))", text.partition("\n")[2]):
        return False  # what is asked for is made of it
    return not re.search(rf"[\[(,]\s*{counter[1]}\b|\b{counter[1]}\s*[\],)]", tried)


WATCHES = (
    Watch("loop", look_at_loop, (*PYTHON, *SCRIPT, *JAVA, *GO), starts=_ENDLESS),
    Watch("loop", look_at_loop, (*PYTHON, *SCRIPT, *JAVA, *GO), starts=_COUNTED),
    Watch("handler", _told_again(again_in_handler), (*PYTHON, *SCRIPT, *JAVA)),
    Watch("call", _told_again(again_in_catch), SCRIPT, names=frozenset({"catch"})),
    Watch("if", _told_again(again_in_go), GO, starts=GO_AGAIN),
    Watch("annotation", _told(said_of_annotation), JAVA, needs=(b"MAX_VALUE",)),
    Watch("call", _told(said_of_decorator), PYTHON, names=frozenset({"Retrying", "AsyncRetrying"})),
    Watch("decorator", _told(said_of_decorator), PYTHON, needs=(b"tenacity", b"backoff", b"max_retries", b"retry")),
    Watch("pair", _told(said_of_option), SCRIPT, needs=(b"Infinity", b"forever", b"Number.")),
)
