"""One operation is started at once for every element of a collection of unknown size."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.scopes import LoopDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.readers.accepted_connections import accepted_by
from analysis.engine.readers.browsers import runs_in_browsers
from analysis.engine.readers.fan_out import (
    SMALL,
    answered_by,
    are_parts,
    are_rows,
    called_in,
    is_asked_for,
    is_given,
    is_given_one,
    is_limited,
    is_limited_inside,
    is_of_request,
    is_own,
    is_small,
    leaves_process,
    loads_rows,
    starts_them_once,
    takes_messages,
    waits_for_room,
)
from analysis.engine.readers.own_callers import gets_only_written_lists
from analysis.engine.readers.reading import (
    assigned_values,
    function_text,
    is_short_list,
    round_of,
    short,
    text_after,
)
from analysis.engine.readers.script_asks import how_it_asks, names_client, signs_address
from analysis.engine.readers.sizes import Size, is_loaded, size_of
from analysis.engine.readers.thread_pools import BOUNDED, grows_for_ever, is_of_a_pool
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="risk-unbounded-concurrency",
    version=2,
    type="unbounded_concurrency",
    category=Category.RUNTIME_RISK,
    title="Unlimited fan-out",
    severity=Severity.WARNING,
    points=2,
    suggestion="Limit the fan-out (semaphore, worker pool, `p-limit`): 10,000 items open 10,000 connections.",
    confidence=Confidence.MEDIUM,
)
GUIDE = Guide(
    why=(
        "With ten elements it is quick; with ten thousand it opens ten thousand connections at once, and the other side"
        " is down."
    ),
    flagged=(
        {
            "shop/work.ts": """
export async function load(ids: string[]) {
  return Promise.all(ids.map((id) => fetch(`/orders/${id}`)));
}
"""
        },
    ),
    fine=(
        {
            "shop/work.ts": """
import pLimit from "p-limit";

const limit = pLimit(10);
export async function load(ids: string[]) {
  return Promise.all(ids.map((id) => limit(() => fetch(`/orders/${id}`))));
}
"""
        },
    ),
)

ANNOTATION = "semaphore"  # rule of the marks that say that a function takes one
_SEMAPHORE = re.compile(rb"async\s+with\s+[\w.]*(?i:sem|limit|slots?|gate)")
_EACH_OF_JAVA = frozenset({"enhanced_for_statement", "lambda_expression"})
_PAGE_SIDE = re.compile(r"(^|/)(frontend|ui|portal|components|hooks|stores?|static|public)/")
_SEEDS = re.compile(r"(^|/)(?:seeds?|fixtures)/")
_LONG_LIVED = re.compile(r"\.(Run|Start|Serve|Watch|Listen)\w*\(|\b\w*(loop|run|watch|serve)\w*\(", re.IGNORECASE)
_AWAITS = re.compile(rb"<-\s*\w|\.Wait\(\)")
_LEAVES = re.compile(rb"\s*(?:break|return)\b")
_ENDS = re.compile(r"^_*(?i:destroy|close|shut_?down|dispose|disconnect|tear_?down|stop)(?![a-z])")
_SHUT_DOWN = re.compile(r"\bfinally\s*\{[^}]*\.shutdown(?:Now)?\(")
# One connection: its calls wait for each other anyway.
_TRANSACTION = re.compile(r"\b(?:tx|trx)\.|[,{]\s*(?:\w+:\s*)?(?:tx|trx|\w*[tT]ransaction)\s*[,})]")
_BATCHED = re.compile(r"[lL]oaders?\b(?!\()")  # a loader of data asks once for all that is wanted at the same time
_ELEMENT = re.compile(r"\s*(?:async\s*)?(?:function\s*\w*\s*)?\(?\s*(\w+)")  # what the given function calls it
_MAPPED = re.compile(r"^(.+?)\s*\.\s*map\(", re.DOTALL)
_EACH = re.compile(r"\bin\s+(?P<all>[\w.]+(?:\([\w.,\s]*\))?)\s*(?:if\b[^\]]*)?[\])]?$", re.DOTALL)
_WRITTEN_OUT = ("range(", "[", "(")
_MAP = re.compile(r"map\(\s*(?:self\.)?(?P<called>[\w.]+)\s*,\s*(?P<all>[\w.]+(?:\([\w.,\s]*\))?)\s*\)$")
_TASKS = re.compile(r"^asyncio\.(create_task|ensure_future)$|(^|[._])(loop(\(\))?|tg|group|nursery)\.create_task$")


def look_at_all(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Script: `Promise.all(items.map(...))` with I/O inside, also when a name stands for what `map` gave."""
    if file.callee(call) not in ("Promise.all", "Promise.allSettled") or file.language == "tsx":
        return
    given = file.arguments(call)[0]
    started = given[0] if len(given) == 1 else None
    if started is not None and started.type == "identifier":
        values = assigned_values(file.text(started), call, file)
        started = values[0] if len(values) == 1 else None
    if started is None or started.type != "call_expression":
        return
    text = file.text(started)
    mapped = _MAPPED.match(text)
    if mapped is None or _TRANSACTION.search(text) or _BATCHED.search(text):
        return
    by = next(iter(file.arguments(started)[0]), started)
    io = how_it_asks(text)
    if not io and (signs_address(text) or not called_in(by, file)):
        return
    collection = mapped[1].strip()
    if is_limited(call, text, collection, file):
        return
    if (
        collection.lstrip("( \n").startswith(("[", "Object."))
        or re.fullmatch(r"[A-Z0-9_.]+", collection)
        or is_small(collection, call, file)
    ):
        return
    element = _ELEMENT.search(text, mapped.end())
    what = f"All of `{short(collection, 40)}`"
    elements = (element[1],) if element is not None else ()
    yield from _started(call, collection, file, what, by=by, elements=elements, io=io)


def _started(
    node: Node,
    collection: str,
    file: SourceFile,
    what: str,
    *,
    by: Node,
    elements: tuple[str, ...],
    io: str = "known",
    suggestion: str = "",
    data: dict[str, str] | None = None,
) -> Iterator[Mark]:
    """None where there are few by the name of the collection; a guess unless a query or a file gives them, or `judge`
    sees that what is started leaves the process. `by` holds what is started for each of `elements`; `io` says whether
    its text speaks of asking somebody, by an object that is known for it or by a verb."""
    size = size_of(collection, node, file)
    is_read = is_loaded(collection, node, file)
    if (size is Size.FEW and not is_of_request(collection, node, file)) or (
        not is_read and are_parts(collection, file.text(by), elements)
    ):
        return
    if starts_them_once(node, file) or gets_only_written_lists(collection, node, file):
        return
    is_many = size is Size.MANY or is_read
    given = is_given(collection, node, file)
    answered = answered_by(collection, node, file) if file.language == "go" and not given else ""
    is_named = not (is_many or given or answered) and is_asked_for(collection, node, file)
    if not is_many and (is_own(collection, node, file) or not (given or answered or is_named)):
        return  # as many as the program has parts
    message = f"{what} start{'' if what.startswith('All') else 's'} at once, however many there are"
    if not what.startswith("All"):
        message = f"{what} starts for each of `{short(collection, 40)}`, however many there are"
    is_certain = io == "known" and size is Size.MANY and is_read
    confidence = "" if is_certain else "low"
    data = {"each": called_in(by, file), "io": io} | (data or {})
    data |= {name: "1" for name, holds in (("many", size is Size.MANY), ("given", given or is_read)) if holds}
    data |= {"answered": answered} if answered and not is_many else {}
    data |= {"rows": collection} if is_named else {}
    yield file.mark(RULE.id, node, message, confidence=confidence, suggestion=suggestion, data=data)


def _loop_of_many(node: Node, file: SourceFile) -> LoopDraft | None:
    """The loop of the same function that runs the node for each element, unless there are few by the look of it."""
    loop = file.loop_of(node) if file.in_loop(node) else None
    return loop if loop is not None and loop.variables and not 0 < loop.bound <= SMALL else None


def look_at_pushed(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Script: `for (...) jobs.push(fetch(...))` and then `Promise.all(jobs)`."""
    given = file.arguments(call)[0]
    if len(given) != 1 or not file.in_loop(call) or not names_client(file.text(given[0])):
        return
    if given[0].type == "await_expression" or "=>" in file.text(given[0])[:20]:
        return
    loop = _loop_of_many(call, file)
    jobs = re.escape(file.callee(call).rpartition(".")[0])
    if loop is None or not re.search(rf"Promise\.all(?:Settled)?\(\s*{jobs}\s*\)", text_after(call, file)):
        return
    if is_limited(call, file.text(loop.node), loop.iterable, file):
        return
    what = f"All of `{short(loop.iterable, 40)}`"
    yield from _started(call, loop.iterable, file, what, by=given[0], elements=tuple(loop.variables))


def look_at_task(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: a task for every round of a loop."""
    loop = _loop_of_many(call, file) if _TASKS.search(file.callee(call)) else None
    if loop is None or loop.iterable.startswith(_WRITTEN_OUT):
        return
    started = re.search(r"\(\s*(?:self\.)?([\w.]+)\(", file.text(call))
    if started is not None and is_limited_inside(started[1], file):
        return
    if is_limited(call, file.text(loop.node), loop.iterable, file):
        return
    if "asyncio.gather(" in file.text(file.statement_of(call)):
        return  # told at the `gather`
    called = {"called": file.resolve(started[1])} if started is not None else None
    yield from _started(call, loop.iterable, file, "A task", by=call, elements=tuple(loop.variables), data=called)


def look_at_gather(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: `asyncio.gather(*[f(x) for x in xs])`, `gather(*map(f, xs))`, and a name for such a list."""
    given = file.arguments(call)[0]
    if file.callee(call) != "asyncio.gather" or len(given) != 1 or given[0].type != "list_splat":
        return
    splat = file.text(given[0]).lstrip("* ")
    if splat.isidentifier():
        values = assigned_values(splat, call, file)
        splat = file.text(values[0]) if len(values) == 1 else ""
    comprehension = _EACH.search(splat) or _MAP.match(splat)
    if re.match(r"[\[(]?\s*\w+\s+for\b", splat):
        return  # what it waits for runs already
    if comprehension is None or "create_task(" in splat or is_limited(call, splat, comprehension["all"], file):
        return
    started = re.match(r"[\[(]*\s*(?:self\.)?([\w.]+)\(", splat)
    name = comprehension["called"] if splat.startswith("map(") else started[1] if started is not None else ""
    collection = comprehension["all"]
    if (name and is_limited_inside(name, file)) or is_short_list(collection, call, file):
        return
    if collection.startswith(_WRITTEN_OUT) or collection.isupper():
        return
    called = {"called": file.resolve(name)} if name else None
    element = re.search(r"\bfor\s+(\w+)\b", splat)
    elements = (element[1],) if element is not None else ()
    what = f"All of `{short(collection, 40)}`"
    yield from _started(call, collection, file, what, by=given[0], elements=elements, data=called)


def look_at_go(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """Go: `go f(x)` for every element of a range."""
    loop = _loop_of_many(statement, file)
    if loop is None:
        return
    head = file.source[loop.node.start_byte : loop.node.start_byte + 200].decode("utf-8", "replace").partition("{")[0]
    if "range" not in head:
        return
    collection = head.rpartition("range")[2].strip()
    started = _LONG_LIVED.search(file.text(statement)[:200])
    if started is not None and not (
        size_of(collection, statement, file) is Size.MANY and is_given_one(started, loop.variables)
    ):
        return  # `go listener.Serve()`, but `go run(job)`
    if is_limited(statement, file.text(loop.node), collection, file) or waits_for_room(statement, loop.node, file):
        return
    if collection.startswith(("[]", "map[")) or re.search(
        r"worker|concurren|parallel|shard|num|\b\d+\b", collection, re.IGNORECASE
    ):
        return
    rest = file.source[statement.end_byte : loop.node.end_byte]
    if _LEAVES.match(rest) or _AWAITS.search(rest):
        return  # there is no next round, or it waits for this one
    elements = (*loop.variables, collection)
    yield from _started(statement, collection, file, "A goroutine", by=statement, elements=elements)


def look_at_accepted(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """Go: a goroutine for each connection that a listener accepts, as is usual: worth knowing where nothing limits
    them."""
    listener = accepted_by(statement, file)
    if listener:
        message = f"A goroutine starts for each connection that `{listener}` accepts, however many there are"
        advice = "Limit the connections (`netutil.LimitListener`) or take a place of a semaphore before each `Accept`."
        yield file.mark(RULE.id, statement, message, severity="info", suggestion=advice)


def look_at_group(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Go: `group.Go(func)` for every element of a range, without `SetLimit`."""
    group = file.text(call).partition(".Go(")[0]
    if file.mentions(b"errgroup.") and f"{group}.SetLimit(" not in function_text(call, file):
        yield from look_at_go(call, file)


def look_at_thread(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Java: a thread for every element or request, or a pool that grows without end."""
    if file.mentions(b"import android."):
        return  # one person's device, no server
    if _SHUT_DOWN.search(function_text(call, file)) and file.function_of(call):
        return  # the pool of one call, which ends with it
    if (pool := grows_for_ever(call, file)) is not None:
        yield file.mark(RULE.id, call, pool.message, suggestion=pool.suggestion)
        return
    if file.callee(call) not in ("Thread", "java.lang.Thread") or is_of_a_pool(call, file):
        return
    loop = round_of(call, file)
    if loop is not None and is_limited(call, file.text(loop.node), loop.iterable, file):
        return
    if loop is None and file.arguments(call)[0]:
        message = "Every call starts a thread of its own, however many requests there are"
        yield file.mark(RULE.id, call, message, suggestion=BOUNDED, data={"alone": "yes"})
    elif loop is not None and loop.node.type in _EACH_OF_JAVA and not 0 < loop.bound <= SMALL:
        elements = tuple(loop.variables)
        yield from _started(call, loop.iterable, file, "A thread", by=call, elements=elements, suggestion=BOUNDED)


def look_at_python_thread(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: a thread for every element of a loop."""
    loop = _loop_of_many(call, file) if file.callee(call) == "threading.Thread" else None
    if loop is None or loop.iterable.startswith(_WRITTEN_OUT):
        return
    if is_limited(call, file.text(loop.node), loop.iterable, file):
        return
    advice, elements = "Use `ThreadPoolExecutor(max_workers=...)`.", tuple(loop.variables)
    target = file.arguments(call)[1].get("target")
    yield from _started(call, loop.iterable, file, "A thread", by=target or call, elements=elements, suggestion=advice)


def look_at_semaphore(block: Node, file: SourceFile) -> Iterator[Mark]:
    """A coroutine that takes a semaphore itself: how many are started is no matter."""
    yield Mark(ANNOTATION, file.line(block), file.function_of(block), "", "")


def _is_limited_by(called: str, place: Place, codebase: Codebase) -> bool:
    """Whether what is started takes a semaphore, in whichever file it stands."""
    return any(
        mark.rule == ANNOTATION and mark.function == callee.position
        for callee in place.meant_by(called)
        for mark in codebase.files[callee.path].marks
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A script is watched by whoever runs it; a single thread counts where each request starts one. A browser opens
    few connections at once."""
    if _is_harmless(mark, place, codebase):
        return None
    is_guess = mark.confidence == "low" and "each" in mark.data
    if "answered" in mark.data and not loads_rows(mark.data["answered"], place, codebase):
        return None
    if "rows" in mark.data and not are_rows(mark.data["rows"], place, codebase):
        return None
    is_loaded = "answered" in mark.data or "rows" in mark.data
    leaves = is_guess and ("given" in mark.data or is_loaded) and leaves_process(mark.data["each"], place, codebase)
    if is_guess and not leaves and (is_loaded or not mark.data["io"]):
        return None
    if place.kind is FileKind.SCRIPT or place.function.name in ("main", "init"):
        return place.finding(mark, severity=Severity.INFO)
    if mark.confidence == "low" and place.facts.is_entry:
        return None
    is_reached = place.in_request_path or place.in_job_path
    if leaves:
        return place.finding(mark, confidence=Confidence.MEDIUM if is_reached else Confidence.LOW)
    if mark.confidence == "low" and codebase.request_path and not is_reached and place.is_called:
        return None  # how many there are is decided when the process starts
    return place.finding(mark)


def _is_harmless(mark: Mark, place: Place, codebase: Codebase) -> bool:
    """Whether something limits the number, or only who starts it by hand, looks at a page or ends the process waits."""
    if "called" in mark.data and _is_limited_by(mark.data["called"], place, codebase):
        return True
    if not place.in_request_path:
        is_page = _PAGE_SIDE.search(place.path) is not None or runs_in_browsers(place)
        if (place.facts.language in SCRIPT and is_page) or (mark.data.get("alone") and not takes_messages(place)):
            return True
    if _ENDS.search(place.function.short_name) or _SEEDS.search(place.path):
        return True
    return "many" not in mark.data and runs_by_hand(codebase, place.path)


WATCHES = (
    Watch("call", look_at_all, SCRIPT, names=frozenset({"all", "allSettled"})),
    Watch("call", look_at_gather, PYTHON, names=frozenset({"gather"})),
    Watch("go", look_at_go, GO),
    Watch("go", look_at_accepted, GO, needs=(b".Accept()",)),
    Watch("call", look_at_group, GO, names=frozenset({"Go"})),
    Watch("call", look_at_pushed, SCRIPT, names=frozenset({"push"})),
    Watch("call", look_at_task, PYTHON, names=frozenset({"create_task", "ensure_future"})),
    Watch("with", look_at_semaphore, PYTHON, starts=_SEMAPHORE),
    Watch("call", look_at_python_thread, PYTHON, names=frozenset({"Thread"})),
    Watch("call", look_at_thread, JAVA, names=frozenset({"newCachedThreadPool", "Thread", "ThreadPoolExecutor"})),
)
