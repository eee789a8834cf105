"""A coroutine calls something that blocks, and with it blocks every other coroutine of the process."""

from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Finding, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.rules.base import PYTHON, Watch

RULE = Rule(
    id="risk-blocking-call-in-async",
    type="blocking_in_async",
    category=Category.RUNTIME_RISK,
    title="Blocking call in a coroutine",
    severity=Severity.WARNING,
    points=1,
    suggestion="Await the async variant or move the call to a thread (`asyncio.to_thread`).",
    languages=PYTHON,
)

_VERBS = ("get", "post", "put", "patch", "delete", "head", "options", "request", "stream")
_BLOCKING = frozenset(
    {"time.sleep", "open", "io.open", "os.fdopen", "os.popen", "os.system", "input", "urllib.request.urlopen"}
    | {f"{client}.{verb}" for client in ("requests", "httpx") for verb in _VERBS}
    | {f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen", "getoutput")}
    | {
        f"os.{name}"
        for name in ("wait", "waitpid", "wait3", "wait4", "posix_spawn", "posix_spawnp", "spawnl", "spawnv")
    }
    | {"psycopg2.connect", "sqlite3.connect", "pymysql.connect", "socket.create_connection", "socket.getaddrinfo"}
)
_BLOCKING_METHODS = {
    "requests.Session()": frozenset(_VERBS),
    "requests.session()": frozenset(_VERBS),
    "httpx.Client()": frozenset(_VERBS),
    "pathlib.Path()": frozenset({"read_text", "read_bytes", "write_text", "write_bytes", "open"}),
}
_NAMES = frozenset({name.rpartition(".")[2] for name in _BLOCKING}) | frozenset().union(*_BLOCKING_METHODS.values())


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Calls directly inside `async def` that are not awaited."""
    if not file.in_async(call):
        return
    callee = file.callee(call)
    receiver, _, method = callee.rpartition(".")
    if callee not in _BLOCKING and method not in _BLOCKING_METHODS.get(receiver, frozenset()):
        return
    if _is_shadowed(callee, file) or _is_awaited(call):
        return
    yield file.mark(RULE.id, call, f"`{callee}` blocks the event loop inside `{_function_name(call, file)}`")


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """In a request handler every other request waits too."""
    if place.in_request_path:
        return place.finding(mark, severity=Severity.CRITICAL)
    return place.finding(mark)


def _is_awaited(call: Node) -> bool:
    parent = call.parent
    return parent is not None and parent.type == "await"


def _is_shadowed(callee: str, file: SourceFile) -> bool:
    """A builtin of that name that the file defines itself."""
    return "." not in callee and any(function.name == callee for function in file.functions)


def _function_name(call: Node, file: SourceFile) -> str:
    return file.functions[file.function_of(call)].name


WATCHES = (Watch("call", look, PYTHON, names=_NAMES),)
