"""A coroutine calls something that blocks, and with it blocks every other coroutine of the process."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.rules.base import PYTHON, Watch
from analysis.engine.rules.reading import full_callee, function_name, origin_of

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
GUIDE = Guide(
    why="One thread runs all coroutines: while one blocks, all others of the process stand still.",
    flagged=(
        {
            "shop/work.py": """
import time


async def poll(job):
    while not job.done:
        time.sleep(1)
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
import asyncio


async def poll(job):
    while not job.done:
        await asyncio.sleep(1)
"""
        },
    ),
)

_VERBS = ("get", "post", "put", "patch", "delete", "head", "options", "request", "stream")
_SUBPROCESS = ("run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput")
_OS = "fdopen popen system wait waitpid wait3 wait4 waitid posix_spawn posix_spawnp".split()
_SPAWN = [f"spawn{form}" for form in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")]
_BLOCKING = frozenset(
    {"time.sleep", "open", "io.open", "io.open_code", "input", "urllib.request.urlopen", "urllib3.request"}
    | {f"{client}.{verb}" for client in ("requests", "httpx") for verb in _VERBS}
    | {f"subprocess.{name}" for name in _SUBPROCESS}
    | {f"os.{name}" for name in (*_OS, *_SPAWN)}
    | {"psycopg2.connect", "sqlite3.connect", "pymysql.connect", "socket.create_connection", "socket.getaddrinfo"}
)
_SESSION = frozenset(_VERBS)
_PATH = frozenset({"read_text", "read_bytes", "write_text", "write_bytes", "open"})
_CURSOR = frozenset({"execute", "executemany", "fetchone", "fetchall", "fetchmany", "commit"})
_BLOCKING_METHODS = {  # what made or annotates the receiver, to the methods of it that block
    "requests.Session": _SESSION,
    "requests.session": _SESSION,
    "httpx.Client": _SESSION,
    "urllib3.PoolManager": frozenset({"request", "urlopen"}),
    "pathlib.Path": _PATH,
    "threading.Lock": frozenset({"acquire"}),
    "threading.RLock": frozenset({"acquire"}),
    "threading.Event": frozenset({"wait"}),
    "psycopg2.connect": _CURSOR,
    "sqlite3.connect": _CURSOR,
    "pymysql.connect": _CURSOR,
    "sqlite3.Connection": _CURSOR,
    "subprocess.Popen": frozenset({"communicate", "wait"}),
    "socket.socket": frozenset({"connect", "recv", "send", "sendall", "accept"}),
}
_METHODS = frozenset().union(*_BLOCKING_METHODS.values())
_NAMES = frozenset({name.rpartition(".")[2] for name in _BLOCKING}) | _METHODS
_NAME = re.compile(r"[A-Za-z_]\w*")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Calls directly inside `async def` that are not awaited."""
    if not file.in_async(call) or (blocking := _blocking_name(call, file)) is None or _is_awaited(call):
        return
    yield file.mark(RULE.id, call, f"`{blocking}` blocks the event loop inside `{function_name(call, file)}`")


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """In a request handler every other request waits too."""
    if place.in_request_path:
        return place.finding(mark, severity=Severity.CRITICAL)
    return place.finding(mark)


def _blocking_name(call: Node, file: SourceFile) -> str | None:
    """What blocks, or None: a function known for it, or a method of a client that the function made or annotated."""
    callee = full_callee(call, file)
    if callee in _BLOCKING:
        return None if _is_shadowed(callee, file) else callee
    receiver, _, method = callee.rpartition(".")
    if method not in _METHODS:
        return None
    owner = origin_of(receiver, call, file) if _NAME.fullmatch(receiver) else receiver
    owner = owner.removesuffix("()")
    return f"{owner}.{method}" if method in _BLOCKING_METHODS.get(owner, ()) else None


def _is_awaited(call: Node) -> bool:
    parent = call.parent
    return parent is not None and parent.type == "await"


def _is_shadowed(callee: str, file: SourceFile) -> bool:
    """A builtin of that name that the file defines itself."""
    return "." not in callee and any(function.name == callee for function in file.functions)


WATCHES = (Watch("call", look, PYTHON, names=_NAMES),)
