"""A coroutine calls something that blocks, and with it blocks every other coroutine of the process."""

import re
import sys
from collections.abc import Iterator

from msgspec import structs
from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FunctionFlag, Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.database_drivers import CONNECTS
from analysis.engine.readers.file_paths import is_path
from analysis.engine.readers.reading import followed, full_callee, function_name, is_awaited, is_own_function, origin_of
from analysis.engine.rules.base import PYTHON, Watch, last_names

RULE = Rule(
    id="risk-blocking-call-in-async",
    type="blocking_in_async",
    category=Category.RUNTIME_RISK,
    title="Blocking call in a coroutine",
    severity=Severity.WARNING,
    points=1,
    suggestion="Await the async variant or move the call to a thread (`asyncio.to_thread`).",
    languages=PYTHON,
    version=2,
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
    | {"socket.create_connection", "socket.getaddrinfo"}
    | CONNECTS
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
    **dict.fromkeys(CONNECTS, _CURSOR),
    "sqlite3.Connection": _CURSOR,
    "psycopg.Connection": _CURSOR,
    "concurrent.futures.Future": frozenset({"result"}),
    "subprocess.Popen": frozenset({"communicate", "wait"}),
    **dict.fromkeys(
        ("socket.socket", "socket.create_connection"),
        frozenset({"connect", "recv", "recv_into", "recvfrom", "send", "sendall", "accept"}),
    ),
}
_METHODS = frozenset().union(*_BLOCKING_METHODS.values())
_LOCAL_FILES = frozenset({"open", "io.open", "io.open_code", "os.fdopen"})
_TERMINALS = frozenset("get create first last exists count delete update iterator aggregate bulk_create save".split())
_AWAITED = re.compile(rb"\bawait\s*\Z")
_WAITED = frozenset({"await", "lambda"})  # a lambda is run by whom it is given to
_NAMES = last_names(_BLOCKING) | _METHODS
_OPENS = re.compile(rb"\(")
_AWAITS = re.compile(rb"\bawait\b|\bfor\b|\bwith\b|create_task|ensure_future|gather|_to_async|to_thread|def\b|lambda\b")
_COMMAND_LINES = frozenset({"argparse", "click", "typer", "getpass"})
# What runs before the first request comes, or after the last.
_AT_THE_ENDS = re.compile(
    r"(?i)(?:^|\.)_*(?:lifespan|on_?startup|startup|on_?shutdown|shutdown)\b|on_event\(|_server_(?:start|stop)\b"
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_OWN_NAME = re.compile(r"(?:self\.)?[A-Za-z_]\w*")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Calls directly inside `async def` that are not awaited."""
    if not file.in_async(call) or (blocking := _blocking_name(call, file)) is None or is_awaited(call):
        return
    if _is_rule_of_a_build(call, file):
        return
    message = f"`{blocking}` blocks the event loop inside `{function_name(call, file)}`"
    yield file.mark(RULE.id, call, message, data={"asks": "1"} if blocking == "input" else None)


def look_at_queries(root: Node, file: SourceFile) -> Iterator[Mark]:
    """Queries of Django in coroutines: the ORM is not async unless its `a` methods are awaited."""
    for query in file.queries:
        function = file.functions[query.function]
        if (
            query.orm != "django"
            or not query.model
            or not function.flags & FunctionFlag.ASYNC
            or not query.terminal
            or not query.function
        ):
            continue
        start = file.lines.starts[query.line - 1]
        row = file.source[start:].partition(b"\n")[0]
        if (query.terminal.startswith("a") and query.terminal[1:] in _TERMINALS) or re.search(
            rb"\bawait\b"
            rb"|\basync "
            rb"for\b|_to_async",
            row,
        ):
            continue
        node = root.descendant_for_byte_range(start + len(row) - len(row.lstrip()), start + len(row)) or root
        if _is_inside(node, _WAITED, file):
            continue
        message = f"`{query.model}.objects` waits for the database and blocks the event loop inside `{function.name}`"
        fix = "Await the async variant (`aget`, `acreate`, `async for`), or use `sync_to_async`."
        yield file.mark(RULE.id, node, message, suggestion=fix)


def _is_inside(node: Node, types: frozenset[str], file: SourceFile) -> bool:
    """Whether a node of one of these types stands around the node within its function."""
    function = file.enclosing_function(node)
    above: Node | None = node
    while above is not None and (function is None or above.id != function.id):
        if above.type in types:
            return True
        above = above.parent
    return function is not None and function.type in types


def look_one_level_deep(root: Node, file: SourceFile) -> Iterator[Mark]:
    """Coroutines that call a plain function of their file which blocks itself."""
    blocked = _blocked_functions(file)
    for function in file.functions[1:]:
        if function.flags & (FunctionFlag.ASYNC | FunctionFlag.ANONYMOUS) or function.decorators:
            continue
        blocking = min(blocked.get(function.index, ()), key=_is_of_local_file, default=None)
        if blocking is None:
            continue
        called = re.compile(rb"(?<![\w.])(?:self\.|cls\.)?" + re.escape(function.short_name.encode()) + rb"\(")
        for match in called.finditer(file.source):
            scope = file.scope_at(match.start(), match.end())
            around = scope.function
            if (
                not scope.is_async
                or not around.flags & FunctionFlag.ASYNC
                or _AWAITED.search(file.source, match.start() - 8, match.start())
            ):
                continue
            if function.owner and around.owner != function.owner:
                continue
            node = root.descendant_for_byte_range(match.start(), match.end() - 1) or root
            message = f"`{function.name}` calls `{blocking}`, which blocks the event loop inside `{around.name}`"
            data = {"file": "1"} if _is_of_local_file(blocking) else None
            yield file.mark(RULE.id, node, message, confidence="medium", data=data)


def _blocked_functions(file: SourceFile) -> dict[int, list[str]]:
    """What blocks in each plain function. A lock is held for a moment there: who waits for one says so himself."""
    blocked: dict[int, list[str]] = {}
    for call, name in zip(file.calls, file.call_names, strict=True):
        if name.rpartition(".")[2] not in _NAMES or file.in_async(call):
            continue
        blocking = _blocking_name(call, file)
        if blocking is not None and not blocking.startswith("threading."):
            blocked.setdefault(file.function_of(call), []).append(blocking)
    return blocked


def _is_of_local_file(blocking: str) -> bool:
    return blocking in _LOCAL_FILES or blocking.startswith("pathlib.")


def look_at_imported(root: Node, file: SourceFile) -> Iterator[Mark]:
    """Coroutines that call an imported function without awaiting it: `judge` knows whether that one blocks."""
    own = {target.partition(".")[0] for target in file.bindings.values()} - sys.stdlib_module_names
    for function in file.functions[1:]:
        if not function.flags & FunctionFlag.ASYNC:
            continue
        for name in function.calls:
            head, _, last = name.rpartition(".")
            if not head or "(" in name or name.partition(".")[0] not in own or last[:1].isupper() or name in _BLOCKING:
                continue
            start, end = function.node.start_byte, function.node.end_byte
            for match in followed(last.encode(), file.source, _OPENS, b"_", start, end):
                scope = file.scope_at(match.start(), match.end())
                line_start = file.source.rfind(b"\n", 0, match.start()) + 1
                if (
                    scope.function.index != function.index
                    or not scope.is_async
                    or _AWAITS.search(file.source, line_start, match.start())
                ):
                    continue
                node = root.descendant_for_byte_range(match.start(), match.end() - 1) or root
                yield file.mark(RULE.id, node, "", confidence="medium", data={"call": name})


def _blocked_by(call: str, place: Place, codebase: Codebase) -> str:
    """The call by which a plain function of another file blocks; empty when what is called may be a coroutine."""
    meant = place.meant_by(call)
    others = [each for each in meant if each.path != place.path]
    if len(others) != 1:
        return ""
    facts = codebase.files[others[0].path]
    function = facts.functions[others[0].position]
    if function.flags & FunctionFlag.ASYNC or function.decorators:
        return ""
    classes = {name: f"{each.target}.{name}" for each in facts.imports for name in each.names}
    names = [_whole(name, classes) for name in function.calls]
    blocking = [name for name in names if _blocks(name) and ("." in name or name == "open")]
    return min(blocking, key=_is_of_local_file, default="")


def _whole(call: str, classes: dict[str, str]) -> str:
    """A call on what an imported class just made, by the full name of the class: `Path().open`."""
    head, made, rest = call.partition("().")
    return f"{classes.get(head, head)}.{rest}" if made else call


def _blocks(name: str) -> bool:
    owner, _, method = name.rpartition(".")
    return name in _BLOCKING or method in _BLOCKING_METHODS.get(owner, ())


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """In a request handler every other request waits too."""
    if "call" in mark.data:
        call = mark.data["call"]
        blocking = _blocked_by(call, place, codebase)
        if not blocking:
            return None
        called = call.rpartition(".")[2]
        message = f"`{called}` calls `{blocking}`, which blocks the event loop inside `{place.function.name}`"
        data = mark.data | ({"file": "1"} if _is_of_local_file(blocking) else {})
        mark = structs.replace(mark, message=message, data=data)
    named = (place.function.name, *place.function.decorators)
    if any(map(_AT_THE_ENDS.search, named)) and not place.in_handler:
        return None
    if "asks" in mark.data and (place.facts.is_entry or _is_command_line(place)):
        return None  # who types is the one who waits
    if place.kind is FileKind.SCRIPT and "file" in mark.data:
        return None
    if place.kind is FileKind.SCRIPT or place.function.name == "main" or "asks" in mark.data:  # nobody else waits there
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    if place.in_request_path:
        return place.finding(mark, severity=Severity.CRITICAL)
    # A file of this machine is short to read: a loss where requests wait, a guess elsewhere.
    return place.finding(mark, confidence=Confidence.LOW) if "file" in mark.data else place.finding(mark)


def _is_command_line(place: Place) -> bool:
    """Whether a file reads arguments of a command line, or asks its questions in words of its own."""
    known = {each.target.partition(".")[0] for each in place.facts.imports}
    return not known.isdisjoint(_COMMAND_LINES) or "print" in place.function.calls


def _blocking_name(call: Node, file: SourceFile) -> str | None:
    """What blocks, or None: a function known for it, or a method of a client that the function made or annotated."""
    callee = full_callee(call, file)
    if callee in _BLOCKING:
        return None if is_own_function(callee, file) else callee
    receiver, _, method = callee.rpartition(".")
    if method not in _METHODS:
        return None
    owner = file.resolve(_origin(receiver, call, file).removesuffix("()"))
    if method == "result" and owner.endswith(".submit"):
        return f"{receiver}.result"  # of a pool of threads
    if method in _BLOCKING_METHODS.get(owner, ()):
        return f"{owner}.{method}"
    return f"pathlib.Path.{method}" if method in _PATH and is_path(_receiver(call), file) else None


def _receiver(call: Node) -> Node | None:
    function = call.child_by_field_name("function")
    return function.child_by_field_name("object") if function is not None else None


def _origin(receiver: str, call: Node, file: SourceFile) -> str:
    """What gave a local, a name of the file or a field of the object its value; else the receiver itself."""
    if _NAME.fullmatch(receiver) and (local := origin_of(receiver, call, file)):
        return local
    if not _OWN_NAME.fullmatch(receiver):
        return receiver
    indent = b"" if _NAME.fullmatch(receiver) else rb"[ \t]+"
    made = re.search(
        rb"^" + indent + re.escape(receiver.encode()) + rb"\s*(?::[^=\n]+)?=\s*([\w.]+)\(", file.source, re.MULTILINE
    )
    return file.resolve(made[1].decode()) if made is not None else receiver


def _is_rule_of_a_build(call: Node, file: SourceFile) -> bool:
    """Whether the coroutine is a rule of Pants, whose engine runs each in a thread of its own."""
    decorators = file.functions[file.function_of(call)].decorators
    return any(file.resolve(each).startswith("pants.") for each in decorators)


WATCHES = (
    Watch("call", look, PYTHON, names=_NAMES),
    Watch("module", look_at_queries, PYTHON, needs=(b"async def",)),
    Watch("module", look_one_level_deep, PYTHON, needs=(b"async def",)),
    Watch("module", look_at_imported, PYTHON, needs=(b"async def",)),
)
