"""A handler takes a cancellation or an interrupt, and the work goes on as if nobody had asked it to stop."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.readers.handlers import explaining_words, guarded_text, said_of_function
from analysis.engine.readers.reading import followed, function_name, function_text, text_after, text_before
from analysis.engine.rules.base import GO, JAVA, PYTHON, Watch

RULE = Rule(
    id="rel-cancellation-swallowed",
    type="cancellation_swallowed",
    category=Category.RELIABILITY,
    title="Cancellation swallowed",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Restore the interrupt flag or re-raise the cancellation, so shutdown works.",
    languages=(*PYTHON, *JAVA, *GO),
)
GUIDE = Guide(
    why="Somebody asked the work to stop and it goes on: shutdowns hang and time limits do not limit.",
    flagged=(
        {
            "shop/work.py": """
import asyncio


async def work(queue):
    while True:
        try:
            await queue.get()
        except asyncio.CancelledError:
            pass
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
import asyncio


async def work(queue):
    try:
        await queue.get()
    except asyncio.CancelledError:
        queue.close()
        raise
"""
        },
    ),
)

_INTERRUPTED = re.compile(rb"catch\s*\([^)]*\bInterruptedException\b")
_KEEPS_ON = re.compile(r"\.interrupt\(|System\.exit|propagate|[tT]hrow\w*\(|\bhandle\w*\(|halt\(|exit\(")
_THROWS = re.compile(r"\bthrow\b")
_WRAPS = re.compile(r"\bthrow\s+new\s+(?!\w*(?:Interrupt|Cancel|Abort))\w+")  # another kind, which says nothing of it
_BROAD = re.compile(rb"catch\s*\(\s*(?:final\s+)?(?:Exception|Throwable)\s+\w+\s*\)")
# Calls that declare it, the first group as sure as their names.
_WAITS = re.compile(
    r"\b(Thread\.sleep|TimeUnit\.\w+\.sleep)\(|\b\w*([lL]atch|[qQ]ueue|[tT]hread|[sS]emaphore)\.(await|take|join|acquire)\("
)
# The same for a variable of any name, by its type: `BlockingQueue<Job> inbox`.
_MAY_WAIT = re.compile(
    r"\b(\w+)\.(?:(?:take|put|await|join|acquire|get|exchange|awaitTermination|invokeAll|waitFor|send|lockInterruptibly)\("
    r"|(?:poll|tryAcquire|tryLock)\([^();]*,|offer\([^();]*,[^();]*,)"  # with a time for which they wait
)
_GIVEN_TYPES = rb"<(?:[^<>;=(){}]|<(?:[^<>;=(){}]|<[^<>;=(){}]*>)*>)*>"  # whole, as its brackets say
_WAITING_TYPE = re.compile(
    rb"(?:\w*Blocking(?:Queue|Deque)|TransferQueue|DelayQueue|CountDownLatch|CyclicBarrier|Semaphore|Thread|(?:Completion|Executor)Service"
    rb"|\w*Future|Process|Condition|(?<!\w)HttpClient|\w*Lock)(?:" + _GIVEN_TYPES + rb")?\s+\Z"
)
_TAKEN_INSIDE = re.compile(r"\bcatch\s*\([^)]*\b(?:Exception|Throwable|InterruptedException)\b")
_DECLARED = re.compile(rb"\s*[=;,)]")
_CLOSES = re.compile(r"\b(?:Close|Stop|Shutdown|Cancel)\w*\(|\w\s*=\s*(?:true|false)\b")
_SEEN = re.compile(
    rb"if\s+(?:(?:[^{\n;]*;\s*)?\w*[cC]tx\w*\.Err\(\)|(\w+)\s*:=\s*\w*[cC]tx\w*\.Err\(\);\s*\1)\s*!=\s*nil\s*\{|case\s+<-\s*\w*[cC]tx\w*\.Done\(\)\s*:"
)
_LEAVES = re.compile(
    r"\breturn\b|\bgoto\b|\bpanic\(|\bos\.Exit\(|\bbreak\s+\w|[fF]atal\w*\(|\bcancel\w*\(|\b\w*(?:err|Err)\w*\s*:?=|<-"
)
_ASKS_FLAG = re.compile(
    r"\bif\s*\(\s*!?\s*[\w.]*(?i:cancel|stop|clos|running|shut|exit|terminat|quit)\w*(?:\(\)|\.get\(\))?\s*\)\s*\{?\s*(?:break|return)\b"
    r"|\b(?:this\.)?\w*(?i:running|alive|active)\s*=\s*false\s*;|\b\w*(?i:stop|cancel|clos|shut|exit)\w*\s*=\s*true\s*;"
)
_ON_PURPOSE = re.compile(r"(?is)(?=.*interrupt)(?=.*\b(?:not|never|ignor|swallow|suppress))")
_ENDS_THREAD = re.compile(r"(^|\.)(run|main)$")
_OVER_CHANNEL = re.compile(rb"for\s+(?:\w+\s*:?=\s*)?range\b")
_TOLD_BY_RESULT = re.compile(r"\bappend\(|\]\s*=(?!=)|\.\w+\s*=(?!=)|\+\+|\+=")
_ROUNDS = re.compile(rb"for\s+(?:\w+\s*:=\s*)?range\s+\d+\s*\{")
_MAKES_THREAD = re.compile(rb"(?:\bnew\s+Thread|[eE]xecutor\w*\.(?:execute|submit))\(\s*\Z")
NEAR = 40  # bytes before a lambda
NEAR_TYPE = 120  # bytes of a type before what is declared
SENTENCE = 5  # words that say why
_CANCELLED = re.compile(rb"except\s*(\(?[^:\n]*\b(CancelledError|(?<!\.)BaseException)\b|:)")
_STARTED = re.compile(
    rb"\b(?:create_task|ensure_future|run_coroutine_threadsafe|start_soon|asyncio\.run)\(\s*(?:\w+\.)*(\w+)\("
)
_TELLS = re.compile(r"(?:self\.)?(?:_?log\w*|print)(?:\(\))?(?:\.\w+)?\((?:[^()]|\([^()]*\))*\)|#[^\n]*")
_RAISES = re.compile(r"\braise\b|sys\.exit|os\._exit")


def look_at_catch(handler: Node, file: SourceFile) -> Iterator[Mark]:
    confidence = _takes_interrupt(handler, file)
    body = handler.child_by_field_name("body")
    if not confidence or body is None or _KEEPS_ON.search(file.text(body)):
        return
    wraps = _WRAPS.search(file.text(body)) is not None and confidence == "high"
    if _THROWS.search(file.text(body)) and not (wraps and _INTERRUPTED.match(file.source, handler.start_byte)):
        return
    if _ON_PURPOSE.search(said_of_function(handler, file)):
        return
    name = function_name(handler, file)
    around = file.enclosing_function(handler)
    if around is not None and around.type == "lambda_expression" and re.search(r"\breturn\s*;\s*\}$", file.text(body)):
        return  # the body of a thread, which ends here
    is_thread = _ENDS_THREAD.search(name) is not None
    if (is_thread or _is_body_of_thread(around, file)) and not re.search(r"\w\s*\(", _text_behind(handler, file)):
        return
    if re.search(r"catch\s*\([^)]*\b(ignored?|expected|unused)\s*\)", file.text(handler).partition("{")[0]):
        return
    if is_thread and _ASKS_FLAG.search(file.text(body)):
        return  # who cancels it sets a flag, and wakes it
    message = f"`{name}` takes the interrupt and nobody above will see it"
    if wraps:
        message = f"`{name}` turns the interrupt into another exception, and the thread no longer knows of it"
    said = explaining_words(file.text(handler))
    if said > 1 and (is_thread or (said > SENTENCE and not re.search(r"\w\s*\(", text_after(handler, file)))):
        confidence = "low"  # it may be ended in another way
    yield file.mark(RULE.id, handler, message, confidence="medium" if wraps else confidence)


def _is_body_of_thread(function: Node | None, file: SourceFile) -> bool:
    """Whether a lambda is what a thread runs, `new Thread(() -> { ... })`, or one of a pool, which clears the flag."""
    if function is None or function.type != "lambda_expression":
        return False
    return _MAKES_THREAD.search(file.source, max(0, function.start_byte - NEAR), function.start_byte) is not None


def _text_behind(handler: Node, file: SourceFile) -> str:
    """Text behind the whole `try`: what its `finally` does is done whatever was caught."""
    return text_after(handler.parent or handler, file)


def look_at_seen(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """In Go a loop that has seen the end of its context and goes on."""
    body = statement.child_by_field_name("consequence") or statement
    if not _is_in_endless_loop(statement, file) or _LEAVES.search(
        file.text(body).partition("{" if body is not statement else ":")[2]
    ):
        return
    if statement.type == "if_statement" and re.search(r"\bbreak\b", file.text(body)):
        return
    if _asks_flag(statement, file) and _CLOSES.search(file.text(body)):
        return  # which is what the head of the loop asks for
    if _is_counted(statement, file):
        return
    if "continue" in file.text(body) and (_walks(statement, file) or _TOLD_BY_RESULT.search(file.text(body))):
        return  # what is left is only taken out, or told by what the loop gives
    message = f"`{function_name(statement, file)}` sees that its context is done and goes on"
    confidence = "" if statement.type == "if_statement" else "medium"
    yield file.mark(RULE.id, statement, message, confidence=confidence, suggestion="Return `ctx.Err()`.")


def look_at_except(handler: Node, file: SourceFile) -> Iterator[Mark]:
    found = _CANCELLED.match(file.source, handler.start_byte) if file.in_async(handler) else None
    if found is None:
        return
    body = handler.named_children[-1]
    attempt = handler.parent
    guarded = attempt.child_by_field_name("body") if attempt is not None else None
    if guarded is None or b"await " not in file.source[guarded.start_byte : guarded.end_byte]:
        return
    if _RAISES.search(file.text(body)):
        return
    if re.search(r"\.cancel\(\)", text_before(handler, file)) or _is_taken_before(handler, file):
        return
    if b"asyncio.shield(" in file.source[guarded.start_byte : guarded.end_byte] and _drains(handler, file):
        return
    caught = found[2].decode() if found[2] else "except:"
    message = f"`{caught}` around an await takes the cancellation of `{function_name(handler, file)}`"
    confidence = "medium" if attempt is not None and _is_end_of_task(body, attempt, file) else ""
    if attempt is not None and _ends_a_task(guarded, body, attempt, file):
        confidence = "low"  # who waits for the task is told that it has done its work
    yield file.mark(RULE.id, handler, message, confidence=confidence)


def _ends_a_task(guarded: Node, body: Node, attempt: Node, file: SourceFile) -> bool:
    """Whether the loop that a task runs for ever ends there and nothing comes after, as a cancellation asks."""
    if re.search(r"\breturn[ \t]+\w", file.text(body)) or text_after(attempt, file).strip():
        return False
    return any(each.type == "while_statement" for each in guarded.named_children)


def _is_end_of_task(body: Node, attempt: Node, file: SourceFile) -> bool:
    """Whether what the file starts as a task ends there: nothing but a line for the log comes after."""
    said = _TELLS.sub("", file.text(body)).strip()
    if said not in ("pass", "break", "return", ""):
        return False
    loop = file.loop_of(attempt) if said == "break" else None
    last = loop.node if loop is not None else attempt
    if _TELLS.sub("", text_after(last, file)).strip():
        return False
    started = {found[1].decode() for found in _STARTED.finditer(file.source)}
    return function_name(attempt, file).rpartition(".")[2] in started


def _drains(handler: Node, file: SourceFile) -> bool:
    """Whether a loop waits for something to be done, whatever comes meanwhile: `while not task.done():`."""
    loop = file.loop_of(handler)
    return loop is not None and ".done()" in file.text(loop.node).partition(":")[0]


def _takes_interrupt(handler: Node, file: SourceFile) -> str:
    """How sure it is that the handler takes an interrupt: by its type, or as a broad one around a call that waits."""
    if _INTERRUPTED.match(file.source, handler.start_byte):
        return "high"
    attempt = handler.parent
    if attempt is None or not _BROAD.match(file.source, handler.start_byte):
        return ""
    if b"InterruptedException" in file.source[attempt.start_byte : handler.start_byte]:
        return ""
    guarded = guarded_text(handler, file)
    waits = _WAITS.search(guarded)
    if waits is not None:
        return "high" if waits[1] else "medium"
    # A `try` inside may take it before.
    found = (each for each in _MAY_WAIT.finditer(guarded) if not _TAKEN_INSIDE.search(guarded, each.end()))
    return "medium" if any(_waits(each[1].encode(), file) for each in found) else ""


def _waits(name: bytes, file: SourceFile) -> bool:
    """Whether a variable or field of the file is declared as something whose methods wait."""
    declared = followed(name, file.source, _DECLARED, b"_.$")
    return any(
        _WAITING_TYPE.search(file.source, max(0, each.start() - len(name) - NEAR_TYPE), each.start() - len(name))
        for each in declared
    )


def _is_in_endless_loop(statement: Node, file: SourceFile) -> bool:
    """Whether a loop of the same function runs it whose head does not ask for the context."""
    loop = file.loop_of(statement)
    if loop is None or not file.in_loop(statement):
        return False
    text = file.text(loop.node)
    head = text.partition("{")[0]
    return "Err()" not in head and text.count(".Done()") + text.count(".Err()") == 1


def _is_counted(statement: Node, file: SourceFile) -> bool:
    """Whether the loop around has so many rounds and no more: `for range 2 {`."""
    return _is_in_loop_of(_ROUNDS, statement, file)


def _asks_flag(statement: Node, file: SourceFile) -> bool:
    """Whether the loop around goes on while something holds: `for !closed.Load() {`."""
    loop = file.loop_of(statement)
    head = file.text(loop.node).partition("{")[0] if loop is not None else ""
    return re.match(r"for\s+[^;\s]", head) is not None and " range " not in head


def _walks(statement: Node, file: SourceFile) -> bool:
    """Whether the loop around may walk over a channel, which has to be emptied: of lists and maps it takes two."""
    return _is_in_loop_of(_OVER_CHANNEL, statement, file)


def _is_in_loop_of(head: re.Pattern[bytes], statement: Node, file: SourceFile) -> bool:
    loop = file.loop_of(statement)
    return loop is not None and head.match(file.source, loop.node.start_byte) is not None


def _is_taken_before(handler: Node, file: SourceFile) -> bool:
    """Whether an earlier handler of the same `try` raises the cancellation again."""
    before = function_text(handler, file).partition(file.text(handler))[0]
    return bool(re.search(r"except[^\n]*CancelledError[^\n]*:\s*\n?\s*raise\b[^\n]*\s*\Z", before))


WATCHES = (
    Watch("handler", look_at_catch, JAVA),
    Watch("handler", look_at_except, PYTHON),
    Watch("if", look_at_seen, GO, needs=(b".Err()",), starts=_SEEN),
    Watch("communication_case", look_at_seen, GO, needs=(b".Done()",), starts=_SEEN),
)
