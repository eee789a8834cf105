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
from analysis.engine.readers.attempts import HANDLERS, attempt_in, is_counted_down
from analysis.engine.readers.handlers import comment_above, guarded_text
from analysis.engine.readers.held_clients import by_client
from analysis.engine.readers.outside_calls import by_class, what_it_does
from analysis.engine.readers.promises import awaits_only_what_keeps_errors
from analysis.engine.readers.reading import followed, function_name, text_before, within
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
_SWITCHES = re.compile(r"\b[\w.]+\s*=\s*(?:true|false|True|False)\b")  # what is asked for then is something else
_OVER_LIST = re.compile(r"for\b[^\n{;]*;[^\n{;]*<=?\s*(?:[\w.]+\.(?:length|size\(\))|len\()")
_GOES_ON = re.compile(r"(?i)\buntil\b|for ?ever|as long as|keeps? (?:trying|retrying)|back ?off")
_STEPS = re.compile(r"(?<![\w.])(\w+)\s*=\s*(?:[\w.]+\()?\1\s*[.\[,)]")  # `zone = zone.parent()`, `port = after(port)`
_RAISES_LATE = re.compile(r"\b(?:raise|throw)\b[^\n]*[tT]ime_?[oO]ut")
_NAMES_ATTEMPTS = re.compile(r"(?i)attempt|retr(?:y|ies)|\btries\b|\bmax_?tries")
_WAITS_LONGER = re.compile(r"(?i)back_?off|jitter|\*=\s*2|\*\*|\bmin\(|<<=?\s*1|Math\.pow|math\.Pow")
_DECISIONS = frozenset({"if_statement", "assignment_expression", "variable_declarator", "try_statement"})
_ENDS_ENDLESS = re.compile(r"\}\s*while\s*\(\s*true\s*\)\s*;?\Z")
_CALLS = frozenset({"call", "call_expression", "method_invocation"})
_SUCCEEDS = re.compile(r"\breturn\b|\bbreak\b")
_REMOTE = re.compile(
    r"(?:\b|_)(requests|httpx|urlopen|fetch|axios|client|connect\w*|session|cursor|execute|prisma|db|api|socket|http\w*|send|publish"
    r"|sequelize|mongoose|knex|mongo\w*|amqp\w*|kafka\w*|channel|pool|data_?source|engine"
    r"|upload|download|query|request|dial\w*|redis|s3|rpc|grpc|stripe|rest|\w*gateway|\w*[cC]lient|\w*[rR]epository|\w*[tT]emplate)\b\.?\w*\("
    r"|\w\.(?:\w*_)?(?:publish|send|upload|download|save|commit|ping|authenticate)\w*\(|\bsql\.open\(",
    re.IGNORECASE,
)
# A file is near: it needs no pause, but an end.
_FILE = re.compile(
    r"\bopen\(|\bos\.(?:Open|ReadFile|WriteFile|rename|remove)\w*\(|\bFiles\.\w+\(|\bfs\.\w+\(|\bshutil\.\w+\("
)
_TEXT = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`")
_LIMITED = re.compile(
    r"monotonic\(|time\(\)\s*-|time\.Since|attempt|retries|retry_?count|tries|max_|\bmax[A-Z]|deadline|expir|timeout|fail(?:ure)?s?_?count|elapsed|\bcount(?!ry|ries)|remaining|ctx\.|context\.|\bcontext\(\)|<-\s*(?!time\.)[\w.]|cancel"
    r"|stopped|shutdown|closed|isInterrupted|is_running|poll|prompt\(|\binput\(|readline|\w*queue\w*\.get\(|recv|\baccept\(|await_|[mM]essages?\b|\bjob\b",
    re.IGNORECASE,
)
# How long one call may take says nothing about how often it is made; neither does what it fails with.
_TIMEOUT_OF_A_CALL = re.compile(
    r"\b(?:\w+_)?timeout\s*[=:]\s*[\w.]+\s*[,)}]|\.(?:set)?\w*timeout\([^()\n]*(?:\([^()\n]*\))?\)|AbortSignal\.timeout\([^()\n]*\)|(?:except|catch)\b[^:{\n]*[:{]",
    re.IGNORECASE,
)
_TOLD = re.compile(r"\b(?:log\w*|logger|console|slog|fmt|print\w*)(?:\.\w+)?\([^\n]*", re.IGNORECASE)
_COUNTS_ON = re.compile(r"(?<![\w.])(\w+)\s*(?:\+\+|\+=\s*1\b);?|\+\+(\w+);")
_WORD_END = re.compile(r"\b")
_NOTHING = re.compile(rb"None|null|undefined|nil")
_GIVEN_TRUE = re.compile(r"\s*=\s*[Tt]rue\b")
_GIVEN_SOMETHING = re.compile(r"\s*=(?!=)\s*(?!(?:[Ff]alse|None|null|nil|undefined)\b)")
_WAITS = re.compile(r"sleep|delay|backoff|\bwait|setTimeout|time\.After|pause|ticker", re.IGNORECASE)
_OPTIMISTIC = re.compile(
    r"(?i)integrity|conflict|lock|stale|version|serializ|watch|unique|exists|collision|duplicate|token"
)
_OVER_HTTP = re.compile(r"\b(?:fetch|axios|got|requests|httpx|urlopen)\b[\w.]*\(")
_LOCKS = re.compile(r"(?i)acquire|(?:^|[._])(?:try)?lock|[a-z]Lock")
_CAUGHT_LOCK = re.compile(r"(?i)(?:except|catch)\b[^:{\n]*(?:lock|conflict|duplicate|collision|stale|integrity)")
_GIVEN_ON = re.compile(
    r"(?:except|catch)\b[^:{\n]*[ (](\w+)\)?\s*[:{][^}]*?\b(?:sleep|wait|handle\w*|check\w*|back_?off)\(\s*\1\s*\)"
)
_STARTS_THREAD = re.compile(rb"\b(?:Thread|submit|execute|scheduleWith\w+|runAsync|go)\s*\(?\s*\Z")
_LAMBDAS = frozenset({"lambda_expression", "lambda", "func_literal", "arrow_function"})
NEAR = 60  # bytes before a lambda
_DAEMON = re.compile(
    r"(^|[._])(run|loop|main|worker|consume\w*|listen\w*|serve\w*|poll\w*|watch\w*|daemon)$|_(loop|forever|worker)$"
)
_GO_AGAIN = re.compile(
    rb"if\s+(?![^{\n]*==\s*nil)[^{\n]*(?:\w*[eE]rr\b|\.StatusCode\b)[^{\n]*\{[^{}]*\breturn\s+(?:\w+\.)?(\w+)\(([^(){}\n]*)\)\s*\}"
)
_ENDS_IN_GO = re.compile(r"ctx\.(?:Err|Done)\(|\b(?:attempt|deadline)", re.IGNORECASE)
_NO_ARGUMENTS = re.compile(r"\(\s*\)")
_NEXT_ATTEMPT = re.compile(r"(?i)attempt|retr(?:y|ies)|tries|(?<!ac)(?<!dis)count(?!r(?:y|ies))|[-+] ?1\b|depth|left")


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
    is_known = _REMOTE.search(tried) is not None or (is_endless and _FILE.search(tried) is not None)
    called = {} if is_known else _called_in(loop, file)
    if called and file.language != "go" and not _SUCCEEDS.search(tried):
        return  # success does not end it: it is no attempt, but the next piece of work
    data = called | attempt.awaited
    if is_endless and is_counted_down(text):
        return
    if is_endless and not _LIMITED.search(_without_counts(_TIMEOUT_OF_A_CALL.sub("", _TOLD.sub("", text)))):
        yield from _without_limit(loop, text, data, file)
    elif not is_endless and not _WAITS.search(text) and not _is_optimistic(text, tried):
        yield from _without_pause(loop, text, tried, data, file)


def _without_counts(text: str) -> str:
    """The text of a loop without what it quotes and what only counts its rounds: a number that nobody asks ends
    nothing."""
    text = _TEXT.sub("", text)
    for counted in {found[1] or found[2] for found in _COUNTS_ON.finditer(text)}:
        if not any(followed(counted, _COUNTS_ON.sub("", text), _WORD_END, "_.")):
            text = re.sub(rf"\b{counted}\b", "", text)
    return text


def _is_attempt(tried: str, text: str, endless: re.Match[bytes] | None, loop: Node, file: SourceFile) -> bool:
    """Whether each round tries the same again, rather than take the next piece of work."""
    if _DAEMON.search(function_name(loop, file)):
        return False
    if endless is not None and file.language != "go" and not _ends_behind(tried, text, _given(endless)):
        return False  # it asks for the end before it tries
    return not _moves_on(tried, loop, file) and not _GOES_ON.search(comment_above(loop, file))


def _is_optimistic(text: str, tried: str) -> bool:
    """Whether the loop tries again because another one was first. What another server answers may be called anything:
    there only what is done with the failure tells."""
    return _OPTIMISTIC.search(text.replace(tried, "") if _OVER_HTTP.search(tried) else text) is not None


def _without_limit(loop: Node, text: str, data: dict[str, str], file: SourceFile) -> Iterator[Mark]:
    if _WAITS_LONGER.search(text):
        return
    name = function_name(loop, file)
    waits = _WAITS.search(text) is not None
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
    calls = (file.callee(each) for each in within(loop) if each.type in _CALLS)
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
        for callee in codebase.calls.resolve(place.path, place.function, name)
    )
    return place.finding(mark) if any(map(_is_remote, called)) else None


def _is_remote(place: Place) -> bool:
    queries = (each for each in place.facts.queries if each.function == place.index)
    return any(each.terminal for each in queries) or any(
        _leaves(call, place) or _REMOTE.search(f"{call}(") for call in place.function.calls
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


def look_at_recursion(handler: Node, file: SourceFile) -> Iterator[Mark]:
    """A handler that calls its own function again."""
    name = function_name(handler, file)
    short_name = name.rpartition(".")[2]
    body = file.text(handler).partition("\n" if file.language == "python" else "{")[2]
    if f"{short_name}(" not in body or _RAISES_LATE.search(body) or _SWITCHES.search(body):
        return
    again = re.search(
        rf"(?:return|await|yield)\s+(?:await\s+)?(?:self\.|this\.)?{re.escape(short_name)}\(([^\n]*)", body
    )
    if again is None or not short_name.isidentifier() or _DAEMON.search(name) or _NEXT_ATTEMPT.search(body):
        return
    given = {each.strip() for each in again[1].rpartition(")")[0].split(",") if each.strip()}
    function = file.functions[file.function_of(handler)]
    if not given <= {each.name for each in file.dialect.parameters(function.node, file)}:
        return  # a part of the work, no second try
    if any(re.search(rf"\b{re.escape(each)}\.set\w*\(", body) for each in given):
        return  # another way to the same, which fails for good
    if _LIMITED.search(_TIMEOUT_OF_A_CALL.sub("", text_before(handler, file))):
        return
    if _REMOTE.search(guarded_text(handler, file)) and not _OPTIMISTIC.search(file.text(handler)):
        calls = (each for each in within(handler) if each.type in _CALLS)
        call = next((each for each in calls if file.callee(each).rpartition(".")[2] == short_name), handler)
        yield file.mark(RULE.id, call, f"`{name}` calls itself again when it fails, without a limit")


def look_at_catch(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`client.connect().catch(() => connect())`: the function around, again, for as long as it fails."""
    given = file.arguments(call)[0]
    name = function_name(call, file)
    short_name = name.rpartition(".")[2]
    if len(given) != 1 or not short_name.isidentifier() or _DAEMON.search(name):
        return
    handler, tried = file.text(given[0]), file.source[call.start_byte : given[0].start_byte].decode("utf-8", "replace")
    if f"{short_name}()" not in handler or not any(followed(short_name, handler, _NO_ARGUMENTS, "$")):
        return
    if not _REMOTE.search(tried):
        return
    if not (_WAITS.search(handler) or _NEXT_ATTEMPT.search(handler)):
        yield file.mark(RULE.id, call, f"`{name}` calls itself again when it fails, without a limit or a pause")


def look_at_go_recursion(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """`if err != nil { return load(key) }` in `load` itself, also for some failures only."""
    again = _GO_AGAIN.match(file.source, statement.start_byte)
    name = function_name(statement, file)
    if again is None or again[1].decode() != name.rpartition(".")[2]:
        return
    body = again[0].decode("utf-8", "replace")
    given = {each.strip() for each in again[2].decode("utf-8", "replace").split(",") if each.strip()}
    function = file.functions[file.function_of(statement)]
    if not given <= {each.name for each in file.dialect.parameters(function.node, file)}:
        return
    before = text_before(statement, file)
    if _NEXT_ATTEMPT.search(body) or _OPTIMISTIC.search(body) or _ENDS_IN_GO.search(before):
        return
    short_name, calls = name.rpartition(".")[2], [each for each in within(statement) if each.type in _CALLS]
    call = next((each for each in calls if file.callee(each).rpartition(".")[2] == short_name), statement)
    data = None if _REMOTE.search(before) else _called_before(statement, short_name, file)
    yield file.mark(RULE.id, call, f"`{name}` calls itself again when it fails, without a limit", data=data)


def _called_before(statement: Node, own: str, file: SourceFile) -> dict[str, str]:
    """What the function calls up to a statement, for want of a name that tells of something remote."""
    function = file.enclosing_function(statement) or statement
    names = (
        file.callee(each) for each in within(function) if each.type in _CALLS and each.end_byte <= statement.end_byte
    )
    return {"calls": " ".join(dict.fromkeys(each for each in names if " " not in each and not each.endswith(own)))}


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
    Watch("handler", look_at_recursion, (*PYTHON, *SCRIPT, *JAVA)),
    Watch("call", look_at_catch, SCRIPT, names=frozenset({"catch"})),
    Watch("if", look_at_go_recursion, GO, starts=_GO_AGAIN),
    Watch("annotation", _told(said_of_annotation), JAVA, needs=(b"MAX_VALUE",)),
    Watch("call", _told(said_of_decorator), PYTHON, names=frozenset({"Retrying", "AsyncRetrying"})),
    Watch("decorator", _told(said_of_decorator), PYTHON, needs=(b"tenacity", b"backoff", b"max_retries", b"retry")),
    Watch("pair", _told(said_of_option), SCRIPT, needs=(b"Infinity", b"forever", b"Number.")),
)
