"""An outgoing call waits for ever, because its client has no time limit unless one is given."""

import re
import sys
from collections.abc import Iterator

from msgspec import structs
from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts, Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.browsers import runs_in_browsers
from analysis.engine.readers.go_http_clients import Limits, is_of_a_socket, limits_of
from analysis.engine.readers.held_clients import client_behind
from analysis.engine.readers.http_clients import call_on_client, session_of
from analysis.engine.readers.java_requests import has_limit_near, is_unlimited_request
from analysis.engine.readers.own_names import is_own_name
from analysis.engine.readers.reading import (
    assigned_values,
    declarations,
    full_callee,
    function_text,
    is_imported,
)
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="risk-http-no-timeout",
    version=2,
    type="http_no_timeout",
    category=Category.RUNTIME_RISK,
    title="HTTP call without a time limit",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Pass an explicit timeout (connect and read) to this call.",
)
GUIDE = Guide(
    why=(
        "The other side accepts the connection and never answers. The caller waits for ever; a pool of such callers is "
        "an outage."
    ),
    grades="Critical where a request waits for it, but for `fetch` of Node, which gives up after minutes by itself.",
    flagged=(
        {
            "shop/client.py": """
import requests


def rates(region):
    return requests.get(f"https://rates.example.org/{region}").json()
"""
        },
    ),
    fine=(
        {
            "shop/client.py": """
import requests


def rates(region):
    return requests.get(f"https://rates.example.org/{region}", timeout=(3, 10)).json()
"""
        },
    ),
)

_VERBS = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "request"})
_OF_HTTP = frozenset({"params", "json", "data", "headers", "auth", "files", "cookies", "verify"})
_ADDRESS = re.compile(r"[rbfRBF]{0,2}[\"'][^\"'\n]*/")
_LOOPBACK = re.compile(r"[fF]?[\"'`]https?://(?:127\.0\.0\.1|localhost)\b")
_UNLIMITED = frozenset({"requests." + verb for verb in _VERBS} | {"urllib.request.urlopen"})
_LIMITED = frozenset(
    {"httpx." + verb for verb in (*_VERBS, "stream", "Client", "AsyncClient")}
    | {"aiohttp." + verb for verb in (*_VERBS, "ClientSession")}
)
_NO_TOTAL = re.compile(r"ClientTimeout\([^)]*\btotal\s*=\s*None(?![^)]*sock_read)|Timeout\(\s*None\s*\)")
_TIMEOUT_POSITION = {"urllib.request.urlopen": 2}
_FETCHES = frozenset({"fetch", "node-fetch", "undici.fetch", "undici.request"})
_ENDS_LATE = frozenset({"fetch", "undici.fetch", "undici.request"})  # Node ends them after 300 silent seconds
_NODE_CALLS = frozenset(f"{library}.{verb}" for library in ("http", "https") for verb in ("get", "request"))
_OWN_ORIGIN = re.compile(rb"(?:[\w.]+)\(\s*[\"'`]/(?!/)")
_RACED = re.compile(rb"Promise\.race\(\s*\[\s*(?:await\s+)?\Z")
_NO_BODY = frozenset({"get", "delete", "head", "options"})  # axios takes its options second here, third elsewhere
_OWN_FETCH = re.compile(
    rb"\b(?:const|let|var)\s+fetch\s*(?::[^=\n]+)?=\s*(?:async\s*)?(?:\(|\w+\s*=>|function\b)"
    rb"|^[ \t]+(?:async\s+)?function\s+fetch\(",
    re.MULTILINE,
)
_BROWSER = re.compile(
    rb"\b(window|document|localStorage|useState|useEffect|XMLHttpRequest|requestAnimationFrame)\b|['\"]use client['\"]"
)
# What only runs on the server: a component that is awaited, and what Next asks before it renders.
_ON_SERVER = re.compile(
    rb"\bexport\s+default\s+async\s+function\b|\basync\s+function\s+(?:getServerSideProps|getStaticProps|generateMetadata)\b"
)
_URL_TYPE = re.compile(rb"\b(?:java\.net\.)?URL\s+\Z")
# A file or a resource of the class path, which no server has to send.
_NO_SERVER = re.compile(r"[gG]etResource|to(?:URI|Uri)\(\)|file:|[cC]lass[lL]oader|\bjar:")
_HTTP_CLIENT = re.compile(r"(?:^|\.)HttpClient\.new(?:Builder|HttpClient)$")
_IN_THE_CLASS_PATH = re.compile(r"\bgetResource\(|JarURLConnection")
_DEADLINE = re.compile(r"WithTimeout|WithDeadline")
_CONTEXT = re.compile(r"NewRequestWithContext|\.WithContext\(")  # which may bring a deadline
_ENDLESS_CONTEXT = re.compile(r"WithContext\(\s*context\.(?:Background|TODO)\(\)")
_SETS_DEADLINES = re.compile(r"(?:^|\.)(?:WithTimeout|WithDeadline|TimeoutHandler|Timeout)$")
_OPTIONS = re.compile(r"(?i)opt|conf|param|settings")
_JAVA_NAMES = frozenset({"newHttpClient", "newBuilder", "openStream", "openConnection", "RestTemplate"})
_GO_CALLS = frozenset({"net/http." + verb for verb in ("Get", "Post", "PostForm", "Head")})


def _asks_itself(call: Node, file: SourceFile) -> bool:
    """Whether the address is one of this machine, written there or in the local name that is given."""
    first = next(iter(file.arguments(call)[0]), None)
    if first is None:
        return False
    return any(_LOOPBACK.match(file.text(each)) is not None for each in (first, *_held(first, file)))


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = full_callee(call, file)
    receiver, _, verb = callee.rpartition(".")
    session = session_of(receiver, call, file) if verb in _VERBS and file.mentions(b"ession") else None
    if session is not None:
        callee = f"requests.{verb}"
    if callee.startswith(("requests.Session().", "requests.session().")):
        callee = "requests." + callee.rpartition(".")[2]
    positional, keywords = file.arguments(call)
    if verb in _VERBS and "timeout" in keywords and (file.mentions(b"aiohttp") or file.mentions(b"httpx")):
        callee = call_on_client(callee, call, file)
    if callee not in _UNLIMITED and callee not in _LIMITED:
        if verb in _VERBS and _may_ask_by_imported(callee, positional, keywords, file):
            yield file.mark(RULE.id, call, "", confidence="medium", data={"imported": callee})
        return
    if "**" in keywords or any(each.type == "list_splat" for each in positional):
        return
    if callee == file.callee(call) and is_own_name(call, file):
        return
    timeout = keywords.get("timeout")
    if timeout is None:
        if callee in _LIMITED or len(positional) > _TIMEOUT_POSITION.get(callee, len(positional)):
            return
        message = f"`{callee}` has no time limit of its own and none is given here"
        is_given = session is not None and not session.is_made  # by somebody who may have limited it
        sure = "low" if _asks_itself(call, file) else "medium" if is_given else ""
        yield file.mark(RULE.id, call, message, confidence=sure)
    elif any(_waits_for_ever(file.text(each)) for each in (timeout, *_held(timeout, file))):
        yield file.mark(RULE.id, call, f"`{callee}` is told to wait for ever (`{file.text(timeout)}`)")


def _held(value: Node, file: SourceFile) -> list[Node]:
    """What a local name was given."""
    return assigned_values(file.text(value), value, file) if value.type == "identifier" else []


def _may_ask_by_imported(callee: str, positional: list[Node], keywords: dict[str, Node], file: SourceFile) -> bool:
    """Whether a call without a limit may be one on a session that another file holds, which `judge` knows: by what it
    is given."""
    if "timeout" in keywords or "**" in keywords or any(each.type == "list_splat" for each in positional):
        return False
    is_asked = not _OF_HTTP.isdisjoint(keywords)
    if not is_asked and not (positional and _ADDRESS.match(file.text(positional[0]))):
        return False
    return callee.partition(".")[0] not in sys.stdlib_module_names and is_imported(callee, file)


def _waits_for_ever(limit: str) -> bool:
    return limit == "None" or _NO_TOTAL.search(limit) is not None


def look_at_go_call(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    by_default = callee.startswith("net/http.DefaultClient.")
    text = function_text(call, file) if by_default else ""
    is_handed = _CONTEXT.search(text) is not None and _ENDLESS_CONTEXT.search(text) is None
    if (callee in _GO_CALLS or (by_default and not _DEADLINE.search(text))) and not is_own_name(call, file):
        data = {"started": "1"} if _is_in_goroutine(call, file) else {}
        yield file.mark(
            RULE.id,
            call,
            f"`{callee.rpartition('/')[2]}` uses the default client, which has no time limit",
            confidence="low" if is_handed else "",
            data=data | ({"handed": "1"} if is_handed else {}) or None,
            suggestion="Use an `http.Client` with `Timeout`, or a request with a deadline in its context.",
        )


def _is_in_goroutine(call: Node, file: SourceFile) -> bool:
    """Whether the function around the call is started on its own: no request waits for it."""
    function = file.enclosing_function(call)
    return function is not None and file.source[: function.start_byte].rstrip().endswith(b"go")


def look_at_go_literal(literal: Node, file: SourceFile) -> Iterator[Mark]:
    if "syscall/js" in file.bindings.values():
        return  # runs in a browser, which sends its requests
    name, body = literal.child_by_field_name("type"), literal.child_by_field_name("body")
    if name is None or body is None or file.resolve(file.text(name)) != "net/http.Client":
        return
    if is_of_a_socket(literal, file):
        return  # stays open on purpose
    limits = limits_of(literal, file)
    if "Timeout" not in file.text(body) and limits is not Limits.SET:
        yield file.mark(
            RULE.id,
            literal,
            "This `http.Client` has no `Timeout`",
            confidence="low" if limits is Limits.POSSIBLE else "medium",
            suggestion="Set `Timeout` on the client, or give every request a context with a deadline.",
        )


def look_at_script(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`fetch` and `axios` in server code; a browser has limits of its own."""
    callee = file.callee(call)
    if callee in _NODE_CALLS and is_imported(callee, file):
        yield from _node_call(call, callee, file)
        return
    is_endless = _sends(callee, file) and not _runs_in_browser(call, file) and not _is_limited(call, callee, file)
    if is_endless and not is_own_name(call, file):
        is_limited = callee in _ENDS_LATE
        how_long = "for minutes" if is_limited else "as long as the other side likes"
        yield file.mark(
            RULE.id,
            call,
            f"`{callee}` waits {how_long}: no `signal` or `timeout` is given",
            confidence="low" if _asks_itself(call, file) else "medium",
            data={"limited": "1"} if is_limited else None,
            suggestion="Pass `signal: AbortSignal.timeout(ms)` (axios: `timeout`).",
        )


def _sends(callee: str, file: SourceFile) -> bool:
    """Whether a call is one of `fetch` or of axios itself; an instance of axios is the project's own."""
    library, _, verb = callee.partition(".")
    if library != "axios":
        return callee in _FETCHES and not (callee == "fetch" and _is_own_fetch(file))
    return verb == "create" or (verb in ("", *_VERBS) and file.bindings.get("axios") == "axios")


def _is_own_fetch(file: SourceFile) -> bool:
    """Whether the file declares a function of this name, alone or inside of another one."""
    return any(each.name == "fetch" for each in file.functions) or _OWN_FETCH.search(file.source) is not None


def _runs_in_browser(call: Node, file: SourceFile) -> bool:
    if (file.language == "tsx" and not _ON_SERVER.search(file.source)) or _BROWSER.search(file.source):
        return True
    return _OWN_ORIGIN.match(file.source, call.start_byte) is not None  # only a browser knows where that is


def _is_limited(call: Node, callee: str, file: SourceFile) -> bool:
    """Whether a limit is given, may be among options that stand elsewhere, or is set for all requests."""
    if b"axios.defaults.timeout" in file.source:
        return True
    if _RACED.search(file.source, max(0, call.start_byte - 60), call.start_byte):
        return True
    library, _, verb = callee.partition(".")
    given = file.arguments(call)[0]
    position = {"": 0, "request": 0, "create": 0}.get(verb, 1 if verb in _NO_BODY else 2) if library == "axios" else 1
    options = given[position] if len(given) > position else None
    if any(each.type == "spread_element" for each in given) or (options is not None and options.type != "object"):
        return True
    text = file.text(options) if options is not None else ""
    return re.search(r"\b(signal|timeout|headersTimeout|bodyTimeout|dispatcher|agent)\b|\.\.\.", text) is not None


def _node_call(call: Node, callee: str, file: SourceFile) -> Iterator[Mark]:
    """`http.request(...)`: a time limit stands in its options, or is set on the request."""
    given = file.arguments(call)[0]
    names = [file.text(each) for each in given[:2] if each.type == "identifier"]
    if any(_OPTIONS.search(name) for name in names):
        return
    limited = re.search(r"\b(timeout|signal)\b", "".join(file.text(each) for each in given))
    if not limited and ".setTimeout(" not in function_text(call, file):
        yield file.mark(
            RULE.id,
            call,
            f"`{callee}` waits as long as the other side likes: no `timeout` is given",
            confidence="medium",
            suggestion="Pass `timeout` and destroy the request on `timeout`, or pass `signal`.",
        )


def look_at_java(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if callee.endswith(".newBuilder") and not _HTTP_CLIENT.search(callee):
        if callee == "java.net.http.HttpRequest.newBuilder" and is_unlimited_request(call, file):
            message = "This `HttpRequest` has no `timeout`: its answer is waited for as long as the other side likes"
            yield file.mark(RULE.id, call, message, suggestion="Set `timeout(Duration)` on the request.")
        return
    if callee.endswith(".openStream"):
        yield from _stream_of_java(call, callee, file)
        return
    if has_limit_near(call, file):
        return
    if callee.endswith(".openConnection") and file.mentions(b"java.net."):
        if file.statement_of(call).type == "return_statement" or _IN_THE_CLASS_PATH.search(function_text(call, file)):
            return  # who gets it sets its limits; nobody is asked for what stands in the class path
        message = "The connection of `openConnection` waits for ever: no connect or read time-out is set"
        yield file.mark(RULE.id, call, message, suggestion="Call `setConnectTimeout` and `setReadTimeout` on it.")
        return
    if _HTTP_CLIENT.search(callee) and callee.endswith(".newHttpClient") and file.mentions(b"java.net.http"):
        yield file.mark(RULE.id, call, "This `HttpClient` has no time limit, and no request of the file sets one")
    elif _HTTP_CLIENT.search(callee) and file.mentions(b"java.net.http"):
        message = "The `HttpClient` of this builder has no time limit, and no request of the file sets one"
        advice = "Set `connectTimeout`, and `timeout` on each request."
        yield file.mark(RULE.id, call, message, confidence="medium", suggestion=advice)
    elif callee.rpartition(".")[2] == "RestTemplate" and _is_of_spring(callee, file) and not file.arguments(call)[0]:
        message = "`new RestTemplate()` waits for ever: its factory has no time-outs"
        yield file.mark(RULE.id, call, message, suggestion="Build it with time-outs (`RestTemplateBuilder`).")


def _stream_of_java(call: Node, callee: str, file: SourceFile) -> Iterator[Mark]:
    """`openStream` of a URL: made on the spot, or declared so. What a URL that is given leads to, nobody can tell."""
    receiver = callee.removesuffix(".openStream")
    made = [file.text(each) for each in assigned_values(receiver, call, file)] if receiver.isidentifier() else []
    is_made = receiver.endswith(("URL()", ".toURL()")) or callee == "java.net.URL.openStream"
    if not is_made and not any(_URL_TYPE.search(before) for before in declarations(receiver.rpartition(".")[2], file)):
        return
    if "resource" in receiver.lower() or any(_NO_SERVER.search(text) for text in (file.text(call), *made)):
        return  # which comes with the program
    is_known = is_made or any("URL(" in text for text in made)
    if not is_known and file.mentions(b"().toURL()") and not file.mentions(b"new URL("):
        return  # all that the file makes are those of files
    yield file.mark(
        RULE.id,
        call,
        "`URL.openStream` has no time limit",
        confidence="" if is_known else "low",
        suggestion="Open the connection and set its connect and read time-outs.",
    )


def _is_of_spring(name: str, file: SourceFile) -> bool:
    """Whether the class was imported from Spring, alone or with all of its package."""
    return name.startswith("org.springframework.") or file.mentions(b"org.springframework.web.client.*")


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Somebody waits for an answer in a request handler: there it is an outage. Who runs a script sees it hang."""
    if place.facts.language in SCRIPT and "anywhere" not in mark.data and runs_in_browsers(place):
        return None
    if "imported" in mark.data:
        client = client_behind(mark.data["imported"], place.path, codebase)
        if client is None or client.library != "requests" or client.is_limited:
            return None
        asked = ".".join(mark.data["imported"].split(".")[-2:])
        message = f"`{asked}` goes through a session of `requests`, which has no time limit, and none is given here"
        mark = structs.replace(mark, message=message)
    if "handed" in mark.data and _may_have_a_deadline(place, codebase):
        return None
    is_run_by_hand = place.index == 0 and place.facts.is_entry and place.facts.language == "python"
    if place.kind is FileKind.SCRIPT or is_run_by_hand:
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    if place.in_request_path and mark.data.keys().isdisjoint({"started", "limited"}):
        return place.finding(mark, severity=Severity.CRITICAL)
    if place.facts.language == "go" and place.facts.package == "main":
        return place.finding(mark, confidence=Confidence.MEDIUM)  # a program that may do nothing else
    return place.finding(mark)


def _may_have_a_deadline(place: Place, codebase: Codebase) -> bool:
    """Whether somebody may set a deadline in the context that a function is handed: one of those who call it, or what
    stands before all handlers. A program that nobody asks hands it what its user waits for."""
    if not codebase.request_path:
        return True
    name = place.function.short_name
    return any(name in names or "" in names for names in codebase.summaries(_called_with_deadlines).values())


def _called_with_deadlines(facts: FileFacts) -> frozenset[str]:
    """What the functions of a Go file call that set deadlines, by the last names; with an empty one where a file sets
    one for all requests."""
    if facts.language != "go":
        return frozenset()
    limiting = [each for each in facts.functions if any(map(_SETS_DEADLINES.search, each.calls))]
    names = {call.rpartition(".")[2] for each in limiting for call in each.calls}
    is_for_all = not names.isdisjoint({"TimeoutHandler", "Timeout"})
    return frozenset(names | {""} if is_for_all else names)


WATCHES = (
    Watch(
        "call", look_at_python, PYTHON, names=_VERBS | {"urlopen", "stream", "Client", "AsyncClient", "ClientSession"}
    ),
    Watch("call", look_at_script, SCRIPT, names=_VERBS | {"fetch", "node-fetch", "axios", "create"}),
    Watch("call", look_at_java, JAVA, names=_JAVA_NAMES),
    Watch("call", look_at_go_call, GO, names=frozenset({"Get", "Post", "PostForm", "Head", "Do"})),
    Watch("literal", look_at_go_literal, GO, needs=(b"net/http",)),
)
