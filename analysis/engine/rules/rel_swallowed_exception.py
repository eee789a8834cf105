"""A handler catches an exception and does nothing about it."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.answers import asks, asks_storage, is_failure, only_tells
from analysis.engine.readers.browsers import runs_in_browsers
from analysis.engine.readers.handlers import comment_above, explaining_words, says_it_may_fail
from analysis.engine.readers.promises import keeps_its_error
from analysis.engine.readers.reading import text_after
from analysis.engine.readers.silence_reasons import is_right, keeps_default
from analysis.engine.readers.silent_handlers import SENDS, WRITES, SilentHandler, handler_that_does_nothing
from analysis.engine.rules.base import JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="rel-swallowed-exception",
    type="swallowed_exception",
    category=Category.RELIABILITY,
    title="Swallowed exception",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Handle, log with context, or let it propagate.",
    languages=(*PYTHON, *SCRIPT, *JAVA),
    tests_too=True,
    version=2,
)
GUIDE = Guide(
    why="The failure happened and left no trace; what comes after it works on nothing.",
    flagged=(
        {
            "shop/work.py": """
def store(order):
    try:
        order.save()
    except ValueError:
        pass
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
import logging


def store(order):
    try:
        order.save()
    except ValueError:
        logging.exception("order was not stored")
"""
        },
    ),
)

_REACHES_OUT = re.compile(
    r"\bFiles\.|\bopen\(|\b(?:requests|httpx|axios|fs|os|subprocess|shutil|socket)\.\w|\.read(?:_text|_bytes|lines?)?\(|\breadFile"
    r"|\bfetch\w*\(|urlopen\(|(?:[cC]lient|[sS]ession|[rR]epo\w*|[gG]ateway|[cC]onnection|[dD]ao|[tT]emplate|cursor|\bdb|\bapi)\.(?!(?:get|is)[A-Z])\w+\("
    r"|\b(?:execute|query|connect|download|request)\w*\("
    r"|\b\w+\.(?:call|run|proceed)\(\)"  # whatever it was given to do
)
_NULLABLE = re.compile(rb"@Nullable\b|@CheckForNull\b|->\s*(?:Optional\[|[^:]*\|\s*None\b)|\bOptional<")
_WAITS_FOR = re.compile(r"\bawait\b")  # something outside, which may fail for many reasons
_GIVES_NOTHING = re.compile(r"\b(?:null|undefined)\b")
_ASSERTS = re.compile(r"\b(?:expect|assert)\w*\(|\bassert\b")
_CLEANS_UP = re.compile(
    r"\.\$?(?:close|end|quit|stop|kill|unlink|rm|rmdir|destroy|abort|disconnect|shutdown|terminate|cancel|dispose|cleanup)"
    # Of `close` and `stop` also what they are done to; `closeAccount` is business.
    r"(?:(?<=close|.stop|.kill)(?:Runtime|Process|Server|Connection|Client|Browser|Page|Worker|Session|Stream|All)\w*)?"
    r"\(\)\.catch$"
)
_BOUND = re.compile(rb"\b(?:const|let|var)\s+(\w+)\s*=\s*(?:await\s+)?\Z")
_EMPTY_FUNCTION = re.compile(
    r"(async\s+)?(\(\s*\w*\s*\)|\w+)\s*=>\s*(\{\s*(?:return(?:\s+(?:null|undefined))?;?)?\s*\}|null|undefined|void 0)"
    r"|function\s*\w*\(\s*\w*\s*\)\s*\{\s*\}|(_\.|\$\.)?noop"
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_BEST_EFFORT = re.compile(r"(?i)telemetry")  # nobody waits for it, and it must harm nobody


def look_at_handler(node: Node, file: SourceFile) -> Iterator[Mark]:
    handler = handler_that_does_nothing(node, file)
    if handler is None or is_right(handler):
        return
    confidence = _confidence(handler)
    yield file.mark(
        RULE.id,
        node,
        f"`{_title(handler.caught)}` "
        + ("does nothing about the error" if handler.does_nothing else "turns every error into nothing"),
        severity=_severity(handler, confidence),
        confidence=confidence,
        data=_form(handler) | _of_test(handler),
    )


def _form(handler: SilentHandler) -> dict[str, str]:
    if not _only_gives(handler):
        return {}
    # Who takes every error and says nothing at all has not thought of an answer.
    return {"form": "empty" if handler.is_broad and handler.does_nothing else "value"}


def _only_gives(handler: SilentHandler) -> bool:
    """Whether nothing is done but to get a value, and what says that there is none is one kind of error, or that what
    is tried reaches nothing outside: a text that cannot be read is no failure."""
    if handler.writes or handler.has_effect or (handler.is_script and _WAITS_FOR.search(handler.guarded) is not None):
        return False
    return not handler.is_broad or _REACHES_OUT.search(handler.guarded) is None


def _of_test(handler: SilentHandler) -> dict[str, str]:
    """Whether a test around it cannot fail: what is tried asserts something, or is what the test ends with, and nothing
    is asked of it."""
    is_blind = handler.is_broad and _ASSERTS.search(handler.guarded) is not None
    is_last = handler.does_nothing and handler.has_effect and not explaining_words(handler.file.text(handler.node))
    is_last = is_last and _ASSERTS.search(text_after(handler.attempt, handler.file)) is None
    return {"blind": "1"} if is_blind or is_last else {}


def _severity(handler: SilentHandler, confidence: str) -> str:
    """A lost write is critical. What nobody knows to be lost is worth knowing."""
    if handler.writes and (handler.is_broad or is_failure(handler.caught)):
        return "critical"
    return "info" if confidence == "low" else ""


def _confidence(handler: SilentHandler) -> str:
    """Sure is what loses work: something was called for what it does. What only gives a value may answer with none."""
    if handler.is_script:
        return "medium" if _is_sure_of_script(handler) else "low"
    if not handler.is_broad:
        is_lost = is_failure(handler.caught) and (handler.has_effect or handler.writes)
        return "medium" if is_lost else "low"
    if handler.gives_up and not handler.does_nothing:
        is_lost = handler.has_effect and not handler.is_one_step
        return "medium" if is_lost and not (asks(handler.guarded) or _may_be_empty(handler)) else "low"
    if handler.writes:
        return ""
    if not handler.has_effect or _is_tried_next(handler):
        return "low"
    # What is tried in one step is mostly tried because it may fail; but whoever sends something wants it to arrive.
    if handler.is_one_step:
        return "medium" if SENDS.search(handler.guarded) else "low"
    return ""


def _is_sure_of_script(handler: SilentHandler) -> bool:
    """Script cannot name one kind of error: sure is what waits for something outside and does more than that."""
    if not handler.does_nothing or handler.is_one_step or handler.has_another_way or asks_storage(handler.guarded):
        return False
    return handler.writes or (handler.has_effect and _WAITS_FOR.search(handler.guarded) is not None)


def _is_tried_next(handler: SilentHandler) -> bool:
    """Whether the function gives back what it tries for, and the next statement tries again in another way."""
    behind = handler.attempt.next_named_sibling
    return handler.gives_result and behind is not None and behind.type == "try_statement"


def _may_be_empty(handler: SilentHandler) -> bool:
    """Whether the header of the function says that it may give nothing: `@Nullable`, `-> str | None`."""
    function = handler.file.enclosing_function(handler.node)
    body = function.child_by_field_name("body") if function is not None else None
    if function is None or body is None:
        return False
    return _NULLABLE.search(handler.file.source, function.start_byte, body.start_byte) is not None


def look_at_suppress(call: Node, file: SourceFile) -> Iterator[Mark]:
    if file.callee(call) != "contextlib.suppress":
        return
    statement = file.statement_of(call)
    body = statement.child_by_field_name("body") if statement.type == "with_statement" else None
    if body is not None and keeps_default(file.text(body), statement, file, is_broad=True):
        return
    if any(file.text(each) in ("Exception", "BaseException") for each in file.arguments(call)[0]):
        yield file.mark(RULE.id, call, "`contextlib.suppress(Exception)` hides every error of its block")


def look_at_catch(call: Node, file: SourceFile) -> Iterator[Mark]:
    handlers = file.arguments(call)[0]
    if file.callee(call).endswith(".json().catch"):
        return  # a response without a readable body
    if _CLEANS_UP.search(file.callee(call)):
        return
    if keeps_its_error(call, file):
        return
    said = comment_above(file.statement_of(call), file)
    if explaining_words(said) > 1 and (says_it_may_fail(said)):
        return
    if only_tells(file.text(call).rpartition(".catch")[0] + ";"):
        return
    if len(handlers) == 1 and _is_empty(handlers[0], file) and not _is_asked_after(call, file):
        # What it gives in place of the value may be an answer.
        is_followed = ".then(" in file.callee(call) or WRITES.search(file.text(call)) is not None
        is_guess = _GIVES_NOTHING.search(file.text(handlers[0])) is not None or not is_followed
        confidence = "low" if is_guess else "medium"
        message = "`.catch` with an empty function hides a rejected promise"
        data = {} if is_guess or WRITES.search(file.text(call)) else {"form": "shown"}
        yield file.mark(RULE.id, call, message, severity="info" if is_guess else "", confidence=confidence, data=data)


def _is_empty(handler: Node, file: SourceFile) -> bool:
    """Whether a function does nothing and says no more about it than one word."""
    text = file.text(handler)
    if explaining_words(text) > 1:
        return False
    return _EMPTY_FUNCTION.fullmatch(_COMMENT.sub("", text)) is not None


def _is_asked_after(call: Node, file: SourceFile) -> bool:
    """Whether what stands in for the value is asked for right away: `const info = await stat(p).catch(() => null)`."""
    bound = _BOUND.search(file.source, max(0, call.start_byte - 80), call.start_byte)
    if bound is None:
        return False
    name = re.escape(bound[1])
    after = file.source[call.end_byte : call.end_byte + 300]
    return (
        re.search(rb"\bif\s*\(\s*!?\s*" + name + rb"\b|\b" + name + rb"\s*(?:\?|===?|!==?|&&|\|\|)", after) is not None
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """In tests it is worth knowing where it takes what the test asserts or tries. Elsewhere nothing may be a value like
    another, but somebody waits for the answer to a request, and whoever runs a server reads its log."""
    if place.kind is FileKind.TEST:
        is_blind = "blind" in mark.data
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW) if is_blind else None
    form = mark.data.get("form")
    if _BEST_EFFORT.search(f"{place.path} {place.function.name}"):
        return None
    if form == "value" and not (place.in_request_path or _is_task(place)):
        return None
    if form == "empty" and place.facts.language in SCRIPT and runs_in_browsers(place):
        return None
    if form == "shown" and runs_in_browsers(place):
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)  # what is not shown is seen
    return place.finding(mark)


def _is_task(place: Place) -> bool:
    """Whether whoever runs tasks runs the function itself, and takes it for done when it gives nothing."""
    return any(entry.kind == "job" and entry.function == place.function.name for entry in place.facts.entries)


def _title(caught: str) -> str:
    return " ".join(caught.split()).rstrip(":{ ")


WATCHES = (
    Watch("handler", look_at_handler, (*PYTHON, *SCRIPT, *JAVA)),
    Watch("call", look_at_suppress, PYTHON, names=frozenset({"suppress"})),
    Watch("call", look_at_catch, SCRIPT, names=frozenset({"catch"})),
)
