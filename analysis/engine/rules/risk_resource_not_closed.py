"""A local owns a file, socket, stream or connection that is neither closed on every path nor given away."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.database_drivers import AWAITED_CONNECTS, CONNECTS
from analysis.engine.readers.go_resources import (
    asks_by_another_protocol,
    belongs_to_outer,
    is_closed_by_next_round,
    is_named_result,
    sends_request,
    without_borrowers,
)
from analysis.engine.readers.go_results import bound_names, helps_tests, without_failure
from analysis.engine.readers.java_resources import (
    STATEMENTS,
    closes_with_its_connection,
    gives_stream_back,
    is_held,
    outermost_wrapper,
    unread_answer,
    without_readers,
)
from analysis.engine.readers.reading import followed, full_callee, origin_of, text_after, text_before
from analysis.engine.readers.script_resources import descriptors_of, is_given_back, takes_from_pool, without_work_on
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch, last_names

RULE = Rule(
    id="risk-resource-not-closed",
    type="resource_not_closed",
    category=Category.RUNTIME_RISK,
    title="Resource not closed",
    severity=Severity.WARNING,
    points=1,
    suggestion="Open it in `with`/try-with-resources, or `defer x.Close()` right after the error check.",
    version=2,
)
GUIDE = Guide(
    why=(
        "Handles are few. Each one that is left open is gone until the process ends, and the error that shows it comes "
        "elsewhere."
    ),
    grades="Info in scripts, which end soon.",
    flagged=(
        {
            "shop/work.py": """
import json


def load(path):
    return json.load(open(path))
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
import json


def load(path):
    with open(path) as file:
        return json.load(file)
"""
        },
    ),
)

_PYTHON = frozenset(
    """open pathlib.Path.open io.open os.fdopen gzip.open bz2.open lzma.open tarfile.open zipfile.ZipFile socket.socket
    socket.create_connection urllib.request.urlopen tempfile.NamedTemporaryFile tempfile.TemporaryFile shelve.open
    mmap.mmap""".split()
).union(CONNECTS, AWAITED_CONNECTS)
_MEMORY = re.compile(r"\b(?:BytesIO|StringIO)\b")
_PIPED = r"\??\.(?:pipe\(|(?:on|once)\(\s*[\"'](?:close|end|error))"
_SERVED = re.compile(r"\.(Serve|ServeTLS|Accept)\(")
_READERS = re.compile(r"^(json|yaml|pickle|csv|toml|tomllib|configparser)\.|^(list|len|sum|sorted|print|enumerate)$")
_JAVA_TYPES = frozenset(
    """java.io.FileInputStream java.io.FileOutputStream java.io.FileReader java.io.FileWriter java.io.RandomAccessFile
    java.io.PrintWriter java.util.Scanner java.net.ServerSocket java.net.Socket java.util.zip.ZipFile
    java.util.jar.JarFile java.util.zip.ZipInputStream""".split()
)
_JAVA_CALLS = frozenset(
    f"java.nio.file.Files.{name}"
    for name in """lines list walk find newInputStream newOutputStream newBufferedReader newBufferedWriter
    newDirectoryStream""".split()
)
_JAVA_STREAMS = frozenset(f"java.nio.file.Files.{name}" for name in ("lines", "list", "walk", "find"))
_JAVA_WRAPPERS = frozenset({"java.io.PrintWriter", "java.util.Scanner"})
_FACES = r"(?:new\s+(?:InputStreamReader|OutputStreamWriter|(?:Buffered|Data)\w*)\s*\(\s*)*"  # these open nothing
_STREAM = re.compile(
    rf"(?i)^\s*{_FACES}(?:\w*(?:stream|writer|reader|response|socket)\w*|os|is|out|in|System\.\w+|sw"
    r"|new\s+File(?:Reader|Writer|InputStream|OutputStream))\b"
)
_JDBC = re.compile(
    r"^java\.sql\.DriverManager\.getConnection$|(?i:data_?source|\bds)\.getConnection$"
    r"|\.(?:prepareStatement|createStatement|prepareCall)$|URL(?:\(\))?\.openStream$"
)
_GO_OPENERS = frozenset(
    "os.Open os.OpenFile os.Create os.CreateTemp archive/zip.OpenReader net.Dial net.DialTimeout net.Listen".split()
)
_GO_BODIES = frozenset(f"net/http.{name}" for name in ("Get", "Post", "PostForm", "Head"))
_GO_CLIENT = re.compile(r"(^|[.])(\w*[cC]lient|DefaultClient)\.(Do|Get|Post|PostForm|Head)$")
_SCRIPT_CALLS = re.compile(
    r"^fs(/promises|\.promises)\.open$|^fs\.openSync$"
    r"|^(mysql2?(/promise)?|amqplib)\.(createConnection|connect)$|^net\.(createConnection|connect)$"
)
_ARGUMENTS = {"Do": 1, "Get": 1, "Head": 1, "Post": 3, "PostForm": 2}  # of a client of `net/http`
_CLOSER = re.compile(r"\b(\w+)\s*:=\s*func\(\)\s*\{(?:(?!\n\t?\})[\s\S])*\Z")
_NEAR = 2_000  # characters
_JDBC_TYPE = re.compile(r"(?:^var|Statement)$")
_CLOSES_DESCRIPTOR = "Close it in the callback of the last read (`fs.close(fd, ...)`), or use `fs.promises`."
_ENDS_PROCESS = re.compile(
    r"\.(?:wait|communicate|kill|terminate|poll|send_signal|pid|__exit__)\b|\.std(?:out|err|in)\s*(?:$|\n|[,)])"
)
_RELEASES = r"(close|release|end|destroy|shutdown|terminate|__exit__|detach|quit)"
# Behind the opening, handlers for it alone, and then the `else` that closes.
_HANDLED_ALONE = re.compile(
    r"\s*(?:except\b[^\n]*:\n(?:[ \t]+(?:raise|return|log|self\.log)[^\n]*\n|\s*\n)*\s*)+else:\s*"
)
_DECLARED = re.compile(rb"(?:^|[\s;{(])([A-Za-z_$][\w$]*)(?:\s*:\s*[^=\n]{1,60})?\s*=\s*(?:await\s+)?$")


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = "pathlib.Path.open" if full_callee(call, file) == "pathlib.Path().open" else file.callee(call)
    if callee not in _PYTHON or ("." not in callee and any(each.name == callee for each in file.functions)):
        return
    parent = call.parent
    if parent is not None and parent.type == "await":
        parent = parent.parent
    if parent is None or _is_in_memory(call, file):
        return
    if callee == "zipfile.ZipFile" and _is_open_already(call, file):
        return
    if parent.type == "assignment":
        left = parent.child_by_field_name("left")
        if left is not None and left.type == "identifier":
            yield from _local(call, file.text(left), callee, file)
    elif callee in ("open", "io.open", "urllib.request.urlopen"):
        yield from _held_by_nobody(call, callee, parent, file)


def _held_by_nobody(call: Node, callee: str, parent: Node, file: SourceFile) -> Iterator[Mark]:
    """A file that is read or gone through where it is opened."""
    if parent.type == "attribute":
        used = file.source[parent.end_byte - 8 : parent.end_byte].decode("utf-8", "replace").rpartition(".")[2]
        if used.startswith(("read", "write")):
            message = f"`{callee}(...).{used}` leaves the file open: nobody holds it to close it"
            severity = "info" if file.function_of(call) == 0 and not file.in_loop(call) else ""  # once, at the start
            yield file.mark(RULE.id, call, message, severity=severity)
    elif callee == "urllib.request.urlopen":
        return
    elif parent.type in ("for_statement", "for_in_clause"):
        yield file.mark(RULE.id, call, "The file of this loop is never closed: nobody holds it")
    elif parent.type == "argument_list":
        around = parent.parent
        if around is not None and around.type == "call" and _READERS.search(file.callee(around)):
            yield file.mark(RULE.id, call, f"The file that `{file.callee(around)}` reads is never closed")


def _is_in_memory(call: Node, file: SourceFile) -> bool:
    """Whether an archive is read from or written to a stream in memory."""
    first = next(iter(file.arguments(call)[0]), None)
    return first is not None and bool(
        _MEMORY.search(file.text(first)) or _MEMORY.search(origin_of(file.text(first), call, file))
    )


def _is_open_already(call: Node, file: SourceFile) -> bool:
    """Whether an archive is read from a file that a `with` around it closes."""
    first = next(iter(file.arguments(call)[0]), None)
    opened = rf"\bas {re.escape(file.text(first))}\s*[,:)]" if first is not None else ""
    return first is not None and first.type == "identifier" and re.search(opened, text_before(call, file)) is not None


def look_at_process(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: a process with a pipe that nobody waits for or ends."""
    parent = call.parent
    piped = any("PIPE" in file.text(value) for value in file.arguments(call)[1].values())
    if file.callee(call) != "subprocess.Popen" or not piped or parent is None or parent.type != "assignment":
        return
    left = parent.child_by_field_name("left")
    name = file.text(left) if left is not None and left.type == "identifier" else ""
    rest = text_after(call, file)
    if not name or file.function_of(call) == 0 or _is_given_away(name, rest):
        return
    if any(followed(name, rest, _ENDS_PROCESS, "_.")):
        return
    message = f"Nobody waits for `{name}` of `Popen`: its pipe stays open, and the process in the table"
    suggestion = "Use `subprocess.run`, or `with subprocess.Popen(...) as process:`."
    yield file.mark(RULE.id, call, message, confidence="medium", suggestion=suggestion)


def look_at_java(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if callee.endswith(".execute"):
        if answer := unread_answer(call, file):
            yield from _local(call, answer, "execute", file, {"kind": "connection"})
        return
    if callee not in _JAVA_TYPES and callee not in _JAVA_CALLS and not _JDBC.search(callee):
        return
    if callee in _JAVA_WRAPPERS and _STREAM.search(file.text(call).partition("(")[2]):
        return  # a face of a stream that somebody else opened, or that is told itself
    outer = outermost_wrapper(call)
    parent = outer.parent
    if callee in _JAVA_STREAMS and parent is not None and parent.type == "method_invocation":
        if is_held(parent, file):
            return
        opened = callee.removeprefix("java.nio.file.")
        yield file.mark(RULE.id, call, f"What `{opened}` opened stays open: nobody holds the stream to close it")
        return
    if parent is None or parent.type != "variable_declarator":
        return
    declaration = parent.parent
    name = parent.child_by_field_name("name")
    if callee in _JAVA_STREAMS and name is not None and gives_stream_back(file.text(name), call, file):
        return
    if declaration is not None and declaration.type == "local_variable_declaration" and name is not None:
        declared = declaration.child_by_field_name("type")
        if (
            callee.rpartition(".")[2] in STATEMENTS
            and declared is not None
            and not _JDBC_TYPE.search(file.text(declared))
        ):
            return  # of another library
        yield from _local(outer, file.text(name), callee.removeprefix("java.").rpartition(".")[2], file)


def look_at_go(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    is_response = callee in _GO_BODIES or (
        "net/http" in file.bindings.values()
        and (_GO_CLIENT.search(callee) is not None or sends_request(callee, call, file))
    )
    if (not is_response and callee not in _GO_OPENERS) or helps_tests(file):
        return
    method = callee.rpartition(".")[2]
    if is_response and (len(file.arguments(call)[0]) != _ARGUMENTS.get(method) or asks_by_another_protocol(call, file)):
        return  # of another client: `client.Get(ctx, name)`
    names = bound_names(call, file)
    if len(names) != 2 or not re.fullmatch(r"\w+", names[0]) or is_named_result(names[0], call, file):
        return
    name, short = names[0], callee.rpartition("/")[2]
    if name == "_":
        if is_response:
            yield file.mark(RULE.id, call, f"The body of the answer of `{short}` is never closed")
        return
    rest = text_after(call, file)
    if _lives_on_in_go(name, callee, rest, call, file):
        return
    closed = re.search(rf"\b{name}(?:\.Body|\.\([^()]*\))?\.Close\b", rest)
    if closed is None:
        what = f"`{name}.Body`" if is_response else f"`{name}`"
        yield file.mark(
            RULE.id,
            call,
            f"{what} of `{short}` is never closed",
            suggestion=f"Add `defer {what.strip('`')}.Close()` right after the error check.",
            data={"kind": "connection"} if is_response else None,
        )
    elif _leaves_before(without_failure(rest[: closed.start()], names), rest):
        message = f"`{name}` of `{short}` stays open on the way out by a return before its `Close`"
        yield file.mark(RULE.id, call, message, confidence="medium")


def _lives_on_in_go(name: str, callee: str, rest: str, call: Node, file: SourceFile) -> bool:
    """Whether somebody else closes it: the function around, the next round, who is given it, or the process."""
    if belongs_to_outer(name, call, file) or is_closed_by_next_round(name, call, file):
        return True
    if _is_given_away(name, without_borrowers(rest)):
        return True
    if re.search(rf"\breturn\b[^\n]*\b{name}\.Body\s*(?:[,)}}\n]|$)", rest):
        return True
    if re.search(rf"\}}\(\s*{name}(?:\.Body)?\s*\)|\bdefer\b[^\n]*[(,]\s*{name}(?:\.Body)?\s*[,)]", rest):
        return True  # a function that is deferred or started
    return callee == "net.Listen" and _SERVED.search(rest) is not None


def _leaves_before(before: str, rest: str) -> bool:
    """Whether a return stands between the opening and the `Close`, which nothing closes on the way."""
    if re.search(r"\breturn\b[^\n]*\bfunc\(", before):
        return False  # the caller is given a function that closes it
    closer = _CLOSER.search(before)  # `closeIt := func() { ... f.Close() }`, and then `defer closeIt()`
    if closer is not None and f"defer {closer[1]}()" in rest:
        return False
    earlier = before.partition("defer func")[0].rpartition("\n")[0]  # `return f.Close()` closes it
    return re.search(r"^\s*return\b", earlier, re.MULTILINE) is not None and len(before) < _NEAR


def look_at_script(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if callee == "fs.open":
        for name, rest in descriptors_of(call, file):
            if not re.search(rf"(?<![\w.]){re.escape(name)}\b(?!\s*:)", without_work_on(name, rest)):
                yield file.mark(RULE.id, call, f"`{name}` of `fs.open` is never closed", suggestion=_CLOSES_DESCRIPTOR)
        return
    named = _DECLARED.search(file.source, max(0, call.start_byte - 120), call.start_byte)
    if named is None:
        return
    name = named[1].decode("utf-8", "replace")
    if (
        _SCRIPT_CALLS.search(callee)
        or takes_from_pool(callee, file)
        or is_given_back(callee, name, text_after(call, file), file)
    ):
        yield from _local(call, name, callee, file)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A script ends and gives everything back; on the request path a lost connection is an outage to come."""
    is_run_by_hand = place.index == 0 and place.facts.is_entry
    if place.kind is FileKind.SCRIPT or is_run_by_hand or place.function.short_name == "main":
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    if "with" in mark.data:
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    if mark.data.get("kind") == "connection" and place.in_request_path:
        return place.finding(mark, severity=Severity.CRITICAL)
    return place.finding(mark)


def _local(call: Node, name: str, opened: str, file: SourceFile, data: dict[str, str] | None = None) -> Iterator[Mark]:
    """A resource in a local variable: what the rest of the function does with it."""
    rest = _without_users(name, text_after(call, file), file)
    if file.function_of(call) == 0 or _is_given_away(name, rest) or f"dup2({name}.fileno(" in rest:
        return
    if re.search(r"onnect|socket|urlopen|Socket", opened):
        data = {"kind": "connection"}
    word = re.escape(name)
    if file.language in SCRIPT and re.search(rf"\b{word}{_PIPED}", rest + file.text(call)):
        return  # a stream that ends with another, or has a listener for its end
    closed = rf"\b{word}\??\.{_RELEASES}\b"
    if file.language == "java" and closes_with_its_connection(call, opened, file):
        data = {"with": "connection"}
    if not re.search(closed, rest):
        yield file.mark(RULE.id, call, f"`{name}` of `{opened}` is never closed", data=data)
    elif not re.search(rf"\bfinally\b[\s\S]*{closed}|{closed}(?!\()|\bwith\s+{word}\b", rest):
        between = re.split(closed, rest, maxsplit=1)[0]
        if re.search(rf"{closed}[\s\S]*\b(?:except|catch)\b[^\n]*\n?[\s\S]{{0,200}}?{closed}", rest):
            return  # on both ways, one by one
        if between.count("(") > 0 and not _HANDLED_ALONE.fullmatch(between):
            message = f"`{name}` of `{opened}` stays open when something before its `close` fails"
            yield file.mark(RULE.id, call, message, confidence="medium", data=data)


def _without_users(name: str, rest: str, file: SourceFile) -> str:
    """The text without calls that use a resource and leave it open."""
    if file.language in SCRIPT:
        return without_work_on(name, rest)
    return without_readers(name, rest, file) if file.language == "java" else rest


def _is_given_away(name: str, rest: str) -> bool:
    """Returned, yielded, stored, closed over, or passed to somebody who may keep it."""
    word = re.escape(name)
    if re.search(
        rf"\b(return|yield|with)\s+([^\n;]*[\s,([{{&*])(?<!\bin ){word}\b(?!\s*\.)"
        rf"|\b(return|yield|with)\s+{word}\b(?!\.)",
        rest,
    ):
        return True
    if re.search(rf"[\w\])]\s*:?=\s*[\[{{(]?\s*{word}\b(?!\s*[.(\[])|[:{{]\s*{word}\s*[,}}]|&{word}\b", rest):
        return True
    if re.search(rf"\breturn\s+{word}\.(getChannel|makefile|detach)\b", rest):
        return True
    passed = re.finditer(rf"([\w.]+)\(\s*(?:[^()]*,\s*)?{word}\s*[,)]", rest)
    return any(
        not _READERS.search(match[1]) and not match[1].startswith(("io.Read", "io.Copy", "fmt.")) for match in passed
    )


_JAVA_NAMES = frozenset(
    last_names(_JAVA_TYPES | _JAVA_CALLS)
    | {"openStream", "getConnection", "prepareStatement", "createStatement", "prepareCall", "execute"}
)
WATCHES = (
    Watch("call", look_at_python, PYTHON, names=last_names(_PYTHON)),
    Watch("call", look_at_process, PYTHON, names=frozenset({"Popen"})),
    Watch("call", look_at_java, JAVA, names=_JAVA_NAMES),
    Watch(
        "call",
        look_at_go,
        GO,
        names=last_names(_GO_OPENERS | _GO_BODIES) | {"Do"},
    ),
    Watch(
        "call",
        look_at_script,
        SCRIPT,
        names=frozenset({"connect", "open", "openSync", "createConnection", "getConnection"}),
    ),
)
