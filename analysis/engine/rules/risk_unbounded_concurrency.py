"""One operation is started at once for every element of a collection of unknown size."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.scopes import Scope
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.browsers import runs_in_browsers
from analysis.engine.rules.reading import (
    assigned_values,
    function_text,
    is_short_list,
    round_of,
    short,
    text_after,
    text_before,
)
from analysis.engine.rules.sizes import Size, is_loaded, size_of

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

SMALL = 20  # elements that are known to be few

# What lets a few run at a time, in what is started or in the loop that starts it.
_LIMITS = re.compile(
    r"[sS]emaphore|p-?[lL]imit|pMap|\blimit(?:ed)?\(|[lL]imiter|CapacityLimiter|<-\s*sem|\bsem\w*\s*<-|\b(?:tokens?|slots?)\s*<-"
    r"|\bpool\b|[pP]ool\.|[eE]xecutor|\bsem\w*\.|\.[aA]cquire\(|[tT]hrottle|[cC]oncurrency"
)
# What cuts a collection into pieces of known size, or off.
_CUT = re.compile(
    r"slice\(|splice\(|[cC]hunk|[bB]atch|[pP]artition|\[[^\[\]]*:[^\[\]]*\]|\.take\(|paginat|[tT]op_?[kKnN]\b"
)
_COUNTED = r"(?:\blen\({0}\)|(?<![\w.]){0}\.(?:length|size\(\)))\s*>=?(?!\s*[01]\b)"
_CHANNEL = re.compile(r"\w\s*<-|<-\s*\w")
_LIMITED_INSIDE = re.compile(rf"{_LIMITS.pattern}|\basync\s+with\s+[\w.]*(?:sem|limit|slots?|gate)\w*", re.IGNORECASE)
_ENDLESS_QUEUE = re.compile(r"new\s+LinkedBlocking(?:Queue|Deque)(?:<[^>()]*>)?\(\s*\)")
ANNOTATION = "semaphore"  # rule of the marks that say that a function takes one
_SEMAPHORE = re.compile(rb"async\s+with\s+[\w.]*(?i:sem|limit|slots?|gate)")
_SIGNS = re.compile(r"(?i)\w*signed_?\w*url\w*\(")  # calculated, without asking anybody
_HEADER = 200  # characters
_EACH_OF_JAVA = frozenset({"enhanced_for_statement", "lambda_expression"})
_PAGE_SIDE = re.compile(r"(^|/)(frontend|ui|portal|components|hooks|stores?|static|public)/")
_LONG_LIVED = re.compile(r"\.(Run|Start|Serve|Watch|Listen)\w*\(|\b\w*(loop|run|watch|serve)\w*\(", re.IGNORECASE)
# Parts of the program, of which there are few.
_PARTS = re.compile(
    r"(?i)(service|provider|handler|listener|plugin|component|module|probe|check|hook|driver"
    r"|backend|worker|consumer|connector|exporter|notifier|sink|scraper)\w*s\b"
)
_AWAITS = re.compile(rb"<-\s*\w|\.Wait\(\)")
_LEAVES = re.compile(rb"\s*(?:break|return)\b")
_ENDS = re.compile(r"^_*(?i:destroy|close|shut_?down|dispose|disconnect|tear_?down|stop)(?![a-z])")
_CONTEXT = re.compile(r"(?i)(?:ctx|context|config|settings|options|opts|env|app)\b")
_SHUT_DOWN = re.compile(r"\bfinally\s*\{[^}]*\.shutdown(?:Now)?\(")
_RECEIVER = re.compile(r"func \((\w+) ")
_TRANSACTION = re.compile(r"\b(tx|trx)\.")  # one connection: its calls wait for each other anyway
_MAPPED = re.compile(r"^(.+?)\s*\.\s*map\(", re.DOTALL)
_EACH = re.compile(r"\bin\s+(?P<all>[\w.]+(?:\([\w.,\s]*\))?)\s*(?:if\b[^\]]*)?[\])]?$", re.DOTALL)
_MAP = re.compile(r"map\(\s*(?:self\.)?(?P<called>[\w.]+)\s*,\s*(?P<all>[\w.]+(?:\([\w.,\s]*\))?)\s*\)$")
_TASKS = re.compile(r"^asyncio\.(create_task|ensure_future)$|(^|[._])(loop(\(\))?|tg|group|nursery)\.create_task$")
_CLIENT = re.compile(
    r"\b(fetch|axios|prisma|db|client|api|http|s3|redis|mailer|queue|repository|repo|service|trpc|knex"
    r"|sequelize|storage)\b[\w.?]*\("
    r"|\b[A-Z]\w*\.(create|update\w*|delete\w*|destroy|find\w*|insert\w*)\(",
    re.IGNORECASE,
)
_IO = re.compile(
    r"\b(fetch|axios|prisma|db|client|api|http|s3|redis|mailer|queue|repository|repo|service|trpc|knex"
    r"|sequelize|storage)\b[\w.?]*\("
    r"|\bawait\s+[\w.]*(send|save|create|update|delete|upload|download|load|get|post|put|insert|query|publish"
    r"|fetch|read|write)\w*\("
    r"|=>\s*[\w.]*(send|save|create|update|delete|upload|download|load|post|put|insert|query|publish|fetch"
    r"|read|write)\w*\(",
    re.IGNORECASE,
)


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
    if mapped is None or not _IO.search(_SIGNS.sub("", text)) or _TRANSACTION.search(text):
        return
    collection = mapped[1].strip()
    if _is_limited(call, text, collection, file):
        return
    if (
        collection.lstrip("( \n").startswith(("[", "Object."))
        or re.fullmatch(r"[A-Z0-9_.]+", collection)
        or _is_small(collection, call, file)
    ):
        return
    yield from _started(
        call, collection, file, f"All of `{short(collection, 40)}`", known=_CLIENT.search(text) is not None
    )


def _started(
    node: Node,
    collection: str,
    file: SourceFile,
    what: str,
    *,
    known: bool = True,
    suggestion: str = "",
    data: dict[str, str] | None = None,
) -> Iterator[Mark]:
    """None where there are few by the name of the collection; a guess unless a query or a file gives them."""
    size = size_of(collection, node, file)
    if size is Size.FEW or _PARTS.search(collection):
        return
    is_many = size is Size.MANY or is_loaded(collection, node, file)
    if not is_many and (_is_own(collection, node, file) or not _is_given(collection, node, file)):
        return  # as many as the program has parts
    message = f"{what} start{'' if what.startswith('All') else 's'} at once, however many there are"
    if not what.startswith("All"):
        message = f"{what} starts for each of `{short(collection, 40)}`, however many there are"
    is_certain = known and size is Size.MANY and is_loaded(collection, node, file)
    confidence = "" if is_certain else "low"
    if size is Size.MANY:
        data = {"many": "1"} | (data or {})
    yield file.mark(RULE.id, node, message, confidence=confidence, suggestion=suggestion, data=data)


def _is_own(collection: str, node: Node, file: SourceFile) -> bool:
    """Whether the object keeps the collection itself: as many as were registered with it."""
    receiver = _RECEIVER.match(function_text(node, file)) if file.language == "go" else None
    return collection.startswith(("self.", f"{receiver[1]}." if receiver is not None else "self."))


def _is_given(collection: str, node: Node, file: SourceFile) -> bool:
    """Whether the function's caller gives the collection, or what it was taken from."""
    head = function_text(node, file)[:_HEADER].partition("{")[0].partition("(")[2]
    return _CONTEXT.match(collection) is None and collection.partition(".")[0] in re.findall(r"\w+", head)


def look_at_pushed(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Script: `for (...) jobs.push(fetch(...))` and then `Promise.all(jobs)`."""
    given = file.arguments(call)[0]
    if len(given) != 1 or not file.in_loop(call) or not _CLIENT.search(file.text(given[0])):
        return
    if given[0].type == "await_expression" or "=>" in file.text(given[0])[:20]:
        return
    index = file.loop_of(call)
    jobs = re.escape(file.callee(call).rpartition(".")[0])
    if index is None or not re.search(rf"Promise\.all(?:Settled)?\(\s*{jobs}\s*\)", text_after(call, file)):
        return
    loop = file.loops[index]
    if not loop.variables or 0 < loop.bound <= SMALL or _is_limited(call, file.text(loop.node), loop.iterable, file):
        return
    yield from _started(call, loop.iterable, file, f"All of `{short(loop.iterable, 40)}`")


def look_at_task(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: a task for every round of a loop."""
    callee = file.callee(call)
    if not _TASKS.search(callee) or not file.in_loop(call):
        return
    index = file.loop_of(call)
    loop = file.loops[index] if index is not None else None
    if loop is None or not loop.variables or 0 < loop.bound <= SMALL or loop.iterable.startswith(("range(", "[", "(")):
        return
    started = re.search(r"\(\s*(?:self\.)?([\w.]+)\(", file.text(call))
    if started is not None and _is_limited_inside(started[1], file):
        return
    if _is_limited(call, file.text(loop.node), loop.iterable, file):
        return
    if "asyncio.gather(" in file.text(file.statement_of(call)):
        return  # told at the `gather`
    called = {"called": file.resolve(started[1])} if started is not None else None
    yield from _started(call, loop.iterable, file, "A task", data=called)


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
    if comprehension is None or "create_task(" in splat or _is_limited(call, splat, comprehension["all"], file):
        return
    started = re.match(r"[\[(]*\s*(?:self\.)?([\w.]+)\(", splat)
    name = comprehension["called"] if splat.startswith("map(") else started[1] if started is not None else ""
    collection = comprehension["all"]
    if (name and _is_limited_inside(name, file)) or is_short_list(collection, call, file):
        return
    if collection.startswith(("range(", "[", "(")) or collection.isupper():
        return
    called = {"called": file.resolve(name)} if name else None
    yield from _started(call, collection, file, f"All of `{short(collection, 40)}`", data=called)


def look_at_go(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """Go: `go f(x)` for every element of a range."""
    index = file.loop_of(statement) if file.in_loop(statement) else None
    if index is None or not file.loops[index].variables or 0 < file.loops[index].bound <= SMALL:
        return
    loop = file.loops[index]
    if _LONG_LIVED.search(file.text(statement)[:200]):
        return
    head = file.source[loop.node.start_byte : loop.node.start_byte + 200].decode("utf-8", "replace").partition("{")[0]
    if "range" not in head:
        return
    collection = head.rpartition("range")[2].strip()
    if _is_limited(statement, file.text(loop.node), collection, file) or _waits_for_room(statement, loop.node, file):
        return
    if re.search(rf"\b{re.escape(collection)} \.\.\.func\(", function_text(statement, file)[:300]):
        return  # the caller lists them
    if collection.startswith(("[]", "map[")) or re.search(
        r"worker|concurren|parallel|shard|num|\b\d+\b", collection, re.IGNORECASE
    ):
        return
    rest = file.source[statement.end_byte : loop.node.end_byte]
    if _LEAVES.match(rest) or _AWAITS.search(rest):
        return  # there is no next round, or it waits for this one
    yield from _started(statement, collection, file, "A goroutine")


def look_at_group(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Go: `group.Go(func)` for every element of a range, without `SetLimit`."""
    group = file.text(call).partition(".Go(")[0]
    if file.mentions(b"errgroup.") and f"{group}.SetLimit(" not in function_text(call, file):
        yield from look_at_go(call, file)


def look_at_thread(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Java: a thread for every element or request, or a pool that grows without end."""
    advice = "Use a pool of fixed size with a bounded queue."
    callee = file.callee(call)
    if file.mentions(b"import android."):
        return  # one person's device, no server
    if _SHUT_DOWN.search(function_text(call, file)) and file.function_of(call):
        return  # the pool of one call, which ends with it
    if callee.endswith("Executors.newCachedThreadPool"):
        message = "`newCachedThreadPool` starts a thread for every task that finds none free"
        yield file.mark(RULE.id, call, message, suggestion=advice)
    if callee.endswith("ThreadPoolExecutor") and _ENDLESS_QUEUE.search(file.text(call)):
        message = "The queue of this `ThreadPoolExecutor` has no limit: tasks wait in memory, however many there are"
        fix = "Give the queue a capacity and the executor a `RejectedExecutionHandler`."
        yield file.mark(RULE.id, call, message, suggestion=fix)
        return
    if callee not in ("Thread", "java.lang.Thread"):
        return
    loop = round_of(call, file)
    if loop is not None and _is_limited(call, file.text(loop.node), loop.iterable, file):
        return
    if loop is None and file.arguments(call)[0]:
        message = "Every call starts a thread of its own, however many requests there are"
        yield file.mark(RULE.id, call, message, suggestion=advice, data={"alone": "yes"})
    elif loop is not None and loop.node.type in _EACH_OF_JAVA and not 0 < loop.bound <= SMALL:
        yield from _started(call, loop.iterable, file, "A thread", suggestion=advice)


def look_at_python_thread(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: a thread for every element of a loop."""
    index = file.loop_of(call) if file.callee(call) == "threading.Thread" and file.in_loop(call) else None
    loop = file.loops[index] if index is not None else None
    if loop is None or not loop.variables or 0 < loop.bound <= SMALL:
        return
    if loop.iterable.startswith(("range(", "[", "(")) or _is_limited(call, file.text(loop.node), loop.iterable, file):
        return
    yield from _started(call, loop.iterable, file, "A thread", suggestion="Use `ThreadPoolExecutor(max_workers=...)`.")


def look_at_semaphore(block: Node, file: SourceFile) -> Iterator[Mark]:
    """A coroutine that takes a semaphore itself: how many are started is no matter."""
    yield Mark(ANNOTATION, file.line(block), file.function_of(block), "", "")


def _is_limited_by(called: str, place: Place, codebase: Codebase) -> bool:
    """Whether what is started takes a semaphore, in whichever file it stands."""
    return any(
        mark.rule == ANNOTATION and mark.function == callee.position
        for callee in codebase.calls.resolve(place.path, place.function, called)
        for mark in codebase.files[callee.path].marks
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A script is watched by whoever runs it; a single thread counts where each request starts one. A browser opens
    few connections at once."""
    if "called" in mark.data and _is_limited_by(mark.data["called"], place, codebase):
        return None
    if (
        place.facts.language in SCRIPT
        and not place.in_request_path
        and (_PAGE_SIDE.search(place.path) or runs_in_browsers(place))
    ):
        return None
    if mark.data.get("alone") and not place.in_request_path:
        return None
    if _ENDS.search(place.function.name.rpartition(".")[2]):
        return None  # what is open when the process ends is closed, all of it
    if "many" not in mark.data and runs_by_hand(codebase, place.path):
        return None
    if place.kind is FileKind.SCRIPT or place.function.name in ("main", "init"):
        return place.finding(mark, severity=Severity.INFO)
    if mark.confidence == "low" and codebase.request_path and not (place.in_request_path or place.in_job_path):
        return None  # how many there are is decided when the process starts
    return None if mark.confidence == "low" and place.facts.is_entry else place.finding(mark)


def _is_limited(node: Node, started: str, collection: str, file: SourceFile) -> bool:
    """Whether a few run at a time: what is started or the loop around it waits for room, or the collection is a piece
    of one, or was measured before. A limit of something else in the function is none."""
    if _LIMITS.search(started) or _CUT.search(collection):
        return True
    if any(_LIMITS.search(file.text(block)[:_HEADER]) for block in _blocks_around(node, file)):
        return True
    name = collection.partition(".")[0].strip()
    if not name.isidentifier():
        return False
    index = file.loop_of(node)
    loop = file.loops[index] if index is not None else None
    while loop is not None:
        if name in loop.variables and _CUT.search(loop.iterable):
            return True
        loop = loop.parent
    if any(_CUT.search(file.text(value)[:_HEADER]) for value in assigned_values(name, node, file)):
        return True
    return re.search(_COUNTED.format(re.escape(collection)), text_before(node, file)) is not None


def _blocks_around(node: Node, file: SourceFile) -> Iterator[Node]:
    """The `with` statements of the same function that hold the node."""
    scope: Scope | None = file.scope_of(node)
    while scope is not None and scope.kind not in ("function", "closure", "module"):
        if scope.kind == "with":
            yield scope.node
        scope = scope.parent


def _waits_for_room(statement: Node, loop: Node, file: SourceFile) -> bool:
    """Go: whether each round sends or receives before it starts anything, as a channel of limited room makes it."""
    before = file.source[loop.start_byte : statement.start_byte].decode("utf-8", "replace").partition("{")[2]
    return _CHANNEL.search(before) is not None or "sizedwaitgroup" in function_text(statement, file)


def _is_small(collection: str, call: Node, file: SourceFile) -> bool:
    """Whether a local name stands for a short literal list."""
    if not re.fullmatch(r"\w+", collection):
        return False
    values = assigned_values(collection, call, file)
    return bool(values) and all(value.type == "array" and value.named_child_count <= SMALL for value in values)


def _is_limited_inside(name: str, file: SourceFile) -> bool:
    """Whether the coroutine function takes a semaphore itself."""
    return any(
        each.name.rpartition(".")[2] == name and _LIMITED_INSIDE.search(file.text(each.node)) is not None
        for each in file.functions[1:]
    )


WATCHES = (
    Watch("call", look_at_all, SCRIPT, names=frozenset({"all", "allSettled"})),
    Watch("call", look_at_gather, PYTHON, names=frozenset({"gather"})),
    Watch("go", look_at_go, GO),
    Watch("call", look_at_group, GO, names=frozenset({"Go"})),
    Watch("call", look_at_pushed, SCRIPT, names=frozenset({"push"})),
    Watch("call", look_at_task, PYTHON, names=frozenset({"create_task", "ensure_future"})),
    Watch("with", look_at_semaphore, PYTHON, starts=_SEMAPHORE),
    Watch("call", look_at_python_thread, PYTHON, names=frozenset({"Thread"})),
    Watch("call", look_at_thread, JAVA, names=frozenset({"newCachedThreadPool", "Thread", "ThreadPoolExecutor"})),
)
