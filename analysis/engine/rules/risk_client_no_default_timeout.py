"""A long-lived client or server is built without any time limit."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.go_clients import CONNECTING_LIBRARIES, CONNECTS, connects_for_ever
from analysis.engine.readers.go_pools import OPENS, without_limit
from analysis.engine.readers.go_results import helps_tests
from analysis.engine.readers.grpc_stubs import calls_without_deadline
from analysis.engine.readers.java_clients import unlimited_client
from analysis.engine.readers.java_waits import waits_for_ever
from analysis.engine.readers.python_waits import waits_for_another
from analysis.engine.readers.reading import (
    assigned_values,
    first_argument,
    function_name,
    function_text,
    known_values,
)
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch, last_names

RULE = Rule(
    id="risk-client-no-default-timeout",
    type="client_no_timeout",
    category=Category.RUNTIME_RISK,
    title="Client without a time limit",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Set connect and operation timeouts when building the client.",
    confidence=Confidence.MEDIUM,
)
GUIDE = Guide(
    why=(
        "A client or server without any limit waits for ever for a peer that has gone, and holds a connection while it "
        "does."
    ),
    flagged=(
        {
            "shop/mail.py": """
import smtplib

server = smtplib.SMTP("mail.example.org")
"""
        },
    ),
    fine=(
        {
            "shop/mail.py": """
import smtplib

server = smtplib.SMTP("mail.example.org", timeout=10)
"""
        },
    ),
)

_PYTHON = {  # to the position of a timeout among positional arguments; -1: by keyword only
    "smtplib.SMTP": 3,
    "smtplib.SMTP_SSL": 5,
    "ftplib.FTP": 4,
    "socket.create_connection": 1,
    "redis.Redis": -1,
    "redis.StrictRedis": -1,
    "redis.asyncio.Redis": -1,
    "pymongo.MongoClient": -1,
    "psycopg2.connect": -1,
    "pymysql.connect": -1,
    "MySQLdb.connect": -1,
    "mysql.connector.connect": -1,
    "psycopg.connect": -1,
    "asyncpg.connect": -1,
    "asyncpg.create_pool": -1,
    "motor.motor_asyncio.AsyncIOMotorClient": -1,
    "redis.from_url": -1,
    "redis.Redis.from_url": -1,
    "redis.ConnectionPool": -1,
    "redis.ConnectionPool.from_url": -1,
    "redis.asyncio.from_url": -1,
    "pika.ConnectionParameters": -1,
    "imaplib.IMAP4": 1,
    "imaplib.IMAP4_SSL": -1,
    "poplib.POP3": 2,
    "telnetlib.Telnet": 2,
    "ftplib.FTP_TLS": -1,
    "sqlalchemy.create_engine": -1,
    "sqlalchemy.ext.asyncio.create_async_engine": -1,
}
_ENDS_BY_ITSELF = frozenset({"psycopg.connect"})  # gives up connecting after two minutes; statements wait on
_ENGINES = frozenset({"sqlalchemy.create_engine", "sqlalchemy.ext.asyncio.create_async_engine"})
_HOLD_LIMITS = frozenset({"connect_args", "creator", "async_creator", "poolclass", "pool", "options"})
# How long a connection may lie unused limits nobody who waits for an answer.
_LIMIT = re.compile(r"(?<!idle)(?<!idle_)(?<!idle-)time_?out", re.IGNORECASE)
_HEADER_LIMIT = re.compile(r"\bRead(?:Header)?Timeout\b")
_GO_SERVERS = frozenset({"net/http.ListenAndServe", "net/http.ListenAndServeTLS", "net/http.Serve"})
_SCRIPT = {  # to the option that limits it
    "pg.Pool": "`connectionTimeoutMillis` or `query_timeout`",
    "pg.Client": "`connectionTimeoutMillis` or `query_timeout`",
    "mongodb.MongoClient": "`socketTimeoutMS`",
    "mongoose.connect": "`socketTimeoutMS`",
    "mongoose.createConnection": "`socketTimeoutMS`",
    "ioredis": "`commandTimeout`",
    "ioredis.Redis": "`commandTimeout`",
    "amqplib.connect": "`timeout`",
}
_UNKNOWN = frozenset({"identifier", "spread_element", "call_expression"})
_UNKNOWN_OPTIONS = _UNKNOWN | {"member_expression"}
_ENDS = re.compile(r"(?i)(?:^|\.)_*(?:a?close|shutdown|stop|join|terminate|dispose|a?exit|drain|wait)\w*$")
_IN_MEMORY = re.compile(r"(?i)mem_?conn|bufconn|in_?mem(?:ory)?listen|net\.Pipe\(|\"unix\"")
_ASSIGNED_TO = re.compile(rb"([\w.]+)\s*:?=\s*&?\Z")
_LISTENS_HERE = re.compile(
    r'net\.Listen\((?:"unix"|"tcp[46]?",\s*(?:fmt\.Sprintf\(\s*)?"(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]):)'
)
_LOOPBACK = re.compile(r'(?:fmt\.Sprintf\(\s*)?"(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]):')
# A URL may carry a limit; where it comes from the environment nobody can tell.
_FROM_OUTSIDE = re.compile(
    r"(?i)\b(?:process\.env|os\.environ|os\.getenv|getenv|environ|env|settings|config\w*|conf|cfg|options|opts)\b"
)
_ENVIRONMENT = re.compile(r"\bos\.(?:environ|getenv)\b")
_ADDRESS = re.compile(r"(?i)ur[li]|dsn|address")


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    position = _PYTHON.get(callee)
    if position is None:
        return
    if callee in ("socket.create_connection", "imaplib.IMAP4_SSL") and "setdefaulttimeout" in function_text(call, file):
        return
    positional, keywords = file.arguments(call)
    if "**" in keywords or any(each.type == "list_splat" for each in positional) or _LIMIT.search(file.text(call)):
        return
    if "connection_pool" in keywords or any(map(_LIMIT.search, _held_texts(positional[:1], file))):
        return
    if 0 <= position < len(positional):
        return
    if callee in _ENGINES and (_is_limited_engine(keywords, file) or _ends_with_its_function(call, file)):
        return
    is_address = len(positional) == 1 and _is_address(positional[0], file)
    if position < 0 and _is_unknown(positional, callee) and not is_address:
        return
    if "setdefaulttimeout" not in function_text(call, file):
        message = f"`{callee}` is built without a time limit: a silent server holds its caller for ever"
        is_from_outside = len(positional) == 1 and _comes_from_outside(positional[0], file)
        is_given = is_address and not is_from_outside  # by a caller, who may have put a limit into it
        is_limited = callee in _ENDS_BY_ITSELF
        if is_limited:
            message = f"`{callee}` is built without a time limit: connecting takes minutes, a statement for ever"
        severity = "info" if is_given or is_limited else ""
        confidence = "low" if is_address or is_limited else ""
        yield file.mark(RULE.id, call, message, severity=severity, confidence=confidence)


def _held_texts(given: list[Node], file: SourceFile) -> list[str]:
    """What the function, or else the file, gives the names among the arguments, as text."""
    names = [each for each in given if each.type == "identifier"]
    values = [known_values(file.text(each), each, file) for each in names]
    return [file.text(value) for each in values for value in each]


def _is_limited_engine(keywords: dict[str, Node], file: SourceFile) -> bool:
    """Whether the limits of an engine of SQLAlchemy may stand in its options, or its database is a file."""
    return not _HOLD_LIMITS.isdisjoint(keywords) or file.mentions(b"sqlite")


def _ends_with_its_function(call: Node, file: SourceFile) -> bool:
    """Whether only the function around it uses an engine: one that makes a database, or moves rows."""
    parent = call.parent
    left = parent.child_by_field_name("left") if parent is not None and parent.type == "assignment" else None
    if left is None or left.type != "identifier" or not file.function_of(call):
        return False
    name = re.escape(file.text(left))
    return re.search(rf"\b(?:return|yield|global)\s[^\n]*\b{name}\b", function_text(call, file)) is None


def _is_address(given: Node, file: SourceFile) -> bool:
    """Whether a URL is all that is known of the server, by its name or as one of the environment."""
    if given.type == "string":
        return False
    held = assigned_values(file.text(given), given, file) if given.type == "identifier" else []
    texts = [file.text(given), *(file.text(value) for value in held)]
    return any(_ADDRESS.search(text) or _ENVIRONMENT.search(text) for text in texts)


def look_at_script(call: Node, file: SourceFile) -> Iterator[Mark]:
    given = file.arguments(call)[0]
    callee = file.callee(call)
    options = next((each for each in given if each.type == "object"), None)
    if callee not in _SCRIPT or any(each.type in _UNKNOWN_OPTIONS for each in given[1:]):
        return
    if not given and not callee.startswith("ioredis"):
        return  # set by the environment
    if options is None and given and given[0].type in _UNKNOWN and not _ADDRESS.search(file.text(given[0])):
        return
    text = "".join(file.text(each) for each in given)
    if not _LIMIT.search(text) and "..." not in text:
        # What a call gives may hold a limit.
        severity = "info" if options is None and given and given[0].type == "call_expression" else ""
        message = f"`{callee}` is built without {_SCRIPT[callee]}: a silent server holds its caller"
        is_unknown = options is None and bool(given) and _comes_from_outside(given[0], file)
        yield file.mark(RULE.id, call, message, severity=severity, confidence="low" if is_unknown else "")


def look_at_waiting(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: `queue.get()` and `future.result()` without limit, where a request waits."""
    callee = file.callee(call)
    positional, keywords = file.arguments(call)
    if positional or keywords or not waits_for_another(callee, call, file):
        return
    before = function_text(call, file)
    if "as_completed" in before or ".done()" in before or (file.in_async(call) and callee.endswith(".get")):
        return
    data = {"only": "request"} | ({"ends": "1"} if _ENDS.search(function_name(call, file)) else {})
    yield file.mark(RULE.id, call, f"`{callee}()` waits without limit", data=data)


def look_at_go_call(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if callee in _GO_SERVERS:
        name = callee.rpartition("/")[2]
        first = first_argument(call, file)
        is_local = _LOOPBACK.match(first) is not None or helps_tests(file) or _shows_profiles(call, file)
        if name == "http.Serve" and _IN_MEMORY.search(function_text(call, file)):
            return
        yield file.mark(
            RULE.id,
            call,
            f"`{name}` sets no limit: slow clients hold connections as long as they like",
            severity="info" if is_local else "",  # nobody but this machine gets there
            confidence="low" if is_local else "" if name == "http.Serve" else "high",
            suggestion="Use an `http.Server` with `ReadHeaderTimeout`.",
        )


def look_at_go_pool(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`sql.Open("mysql", "reader@tcp(rows)/stock")`: the driver waits for a silent server as long as it takes."""
    driver = without_limit(call, file)
    if driver:
        fix = "connect_timeout" if driver == "postgres" else "timeout=5s&readTimeout=30s&writeTimeout=30s"
        message = f"The pool of `{driver}` has no time limit in its address: a silent server holds whoever asks"
        yield file.mark(RULE.id, call, message, suggestion=f"Set `{fix}` in the address.")


def look_at_go_client(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Clients of Redis, MongoDB and gRPC that connect, or read, as long as it takes."""
    built = connects_for_ever(call, file)
    if built is not None:
        yield file.mark(RULE.id, call, built.message, confidence=built.confidence, suggestion=built.suggestion)


def look_at_go_literal(literal: Node, file: SourceFile) -> Iterator[Mark]:
    if not file.source.startswith(b"http.Server{", literal.start_byte):
        return
    if (
        file.bindings.get("http") == "net/http"
        and not helps_tests(file)
        and not _HEADER_LIMIT.search(file.text(literal))
        and b".ReadHeaderTimeout" not in file.source
        and b".ReadTimeout" not in file.source
    ):
        is_local = _listens_here(literal, file) or _is_given(literal)
        yield file.mark(
            RULE.id,
            literal,
            "This `http.Server` has no `ReadHeaderTimeout`: slow clients hold connections as long as they like",
            severity="info" if is_local else "",
            confidence="low" if is_local else "",
            suggestion="Set `ReadHeaderTimeout`.",
        )


def _shows_profiles(call: Node, file: SourceFile) -> bool:
    """Whether the server is one for profiles, which only its operators reach."""
    return "pprof" in function_name(call, file).lower()


def _is_given(literal: Node) -> bool:
    """Whether a function is given the server, which may set its limits: `withDefaults(&http.Server{...})`."""
    node = literal.parent
    return node is not None and node.parent is not None and node.parent.type == "argument_list"


def _listens_here(literal: Node, file: SourceFile) -> bool:
    """Whether a server is given a listener alone, in a function that makes one for this machine."""
    text = function_text(literal, file)
    assigned = _ASSIGNED_TO.search(file.source, max(0, literal.start_byte - 80), literal.start_byte)
    if assigned is None or not _LISTENS_HERE.search(text):
        return False
    name = assigned[1].decode()
    return f"{name}.Serve(" in text and f"{name}.ListenAndServe" not in text


def look_at_stub(root: Node, file: SourceFile) -> Iterator[Mark]:
    """Calls on a stub of gRPC, which waits for ever unless each call is given a deadline."""
    advice = "Give the call a deadline (`context.WithTimeout`, `stub.withDeadlineAfter(…)`, `timeout=`)."
    for node, name in calls_without_deadline(root, file):
        message = f"`{name}` has no deadline: a silent server holds its caller"
        yield file.mark(RULE.id, node, message, suggestion=advice)


def look_at_java_client(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`MongoClients.create("mongodb://rows")`, and `consumer.poll(Duration.ofMillis(Long.MAX_VALUE))`."""
    message = unlimited_client(call, file)
    if message:
        yield file.mark(RULE.id, call, message)


def look_at_java(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`future.get()` and `latch.await()` without limit, where a request waits."""
    if waits_for_ever(call, file):
        yield file.mark(RULE.id, call, f"`{file.callee(call)}()` waits without limit", data={"only": "request"})


def _comes_from_outside(address: Node, file: SourceFile) -> bool:
    """Whether a URL is read from the environment or from settings, right there or into the local name that is given."""
    name = file.text(address)
    values = assigned_values(name, address, file) if address.type == "identifier" else []
    return any(_FROM_OUTSIDE.search(text) for text in (name, *(file.text(value) for value in values)))


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Waiting is the business of workers. Who runs a script sees it hang; a server there is worth knowing."""
    if mark.data.get("only") == "request" and not place.in_request_path:
        return None
    if "ends" in mark.data and not place.in_handler:
        return None  # closing waits for what is under way
    if place.kind is FileKind.SCRIPT and place.facts.language != "go":
        return None
    if place.kind is FileKind.SCRIPT:
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    if mark.data.get("only") == "request" and not place.in_handler:
        return place.finding(mark, confidence=Confidence.LOW)  # another thread may be the one that waits
    return place.finding(mark)


def _is_unknown(positional: list[Node], callee: str) -> bool:
    """Whether the limit may stand in a DSN or settings that cannot be read here."""
    return "redis" not in callee and any(each.type != "string" for each in positional)


WATCHES = (
    Watch("call", look_at_python, PYTHON, names=last_names(_PYTHON)),
    Watch("call", look_at_waiting, PYTHON, names=frozenset({"get", "result"})),
    Watch("call", look_at_script, SCRIPT, names=last_names(_SCRIPT)),
    Watch("call", look_at_go_call, GO, names=frozenset({"ListenAndServe", "ListenAndServeTLS", "Serve"})),
    Watch("call", look_at_go_pool, GO, needs=(b'"mysql"', b'"postgres"', b"driver/mysql"), names=OPENS),
    Watch("literal", look_at_go_literal, GO, needs=(b"http.Server{",)),
    Watch("call", look_at_go_client, GO, needs=CONNECTING_LIBRARIES, names=CONNECTS),
    Watch("program", look_at_stub, JAVA, needs=(b"BlockingStub",)),
    Watch("module", look_at_stub, PYTHON, needs=(b"_pb2_grpc",)),
    Watch("source_file", look_at_stub, GO, needs=(b"context.Background()", b"context.TODO()")),
    Watch("call", look_at_java_client, JAVA, needs=(b"mongodb", b"kafka"), names=frozenset({"create", "poll"})),
    Watch("call", look_at_java, JAVA, names=frozenset({"get", "join", "await", "take"})),
)
