"""An outgoing call waits for ever, because its client has no time limit unless one is given."""

from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Finding, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.rules.base import GO, PYTHON, Watch

RULE = Rule(
    id="risk-http-no-timeout",
    type="http_no_timeout",
    category=Category.RUNTIME_RISK,
    title="HTTP call without a time limit",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Pass an explicit timeout (connect and read) to this call.",
    languages=(*PYTHON, *GO),
)

_VERBS = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "request"})
_UNLIMITED = frozenset({"requests." + verb for verb in _VERBS} | {"urllib.request.urlopen"})
_LIMITED = frozenset(
    {"httpx." + verb for verb in (*_VERBS, "stream", "Client", "AsyncClient")} | {"aiohttp.ClientSession"}
)
_TIMEOUT_POSITION = {"urllib.request.urlopen": 2}
_GO_CALLS = frozenset({"net/http." + verb for verb in ("Get", "Post", "PostForm", "Head")})


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if callee.startswith(("requests.Session().", "requests.session().")):
        callee = "requests." + callee.rpartition(".")[2]
    if callee not in _UNLIMITED and callee not in _LIMITED:
        return
    positional, keywords = file.arguments(call)
    if "**" in keywords or any(each.type == "list_splat" for each in positional):
        return
    timeout = keywords.get("timeout")
    if timeout is None:
        if callee in _LIMITED or len(positional) > _TIMEOUT_POSITION.get(callee, len(positional)):
            return
        yield file.mark(RULE.id, call, f"`{callee}` has no time limit of its own and none is given here")
    elif file.text(timeout) == "None":
        yield file.mark(RULE.id, call, f"`{callee}` is told to wait for ever (`timeout=None`)")


def look_at_go_call(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if callee in _GO_CALLS or callee.startswith("net/http.DefaultClient."):
        yield file.mark(
            RULE.id,
            call,
            f"`{callee.rpartition('/')[2]}` uses the default client, which has no time limit",
            suggestion="Use an `http.Client` with `Timeout`, or a request with a deadline in its context.",
        )


def look_at_go_literal(literal: Node, file: SourceFile) -> Iterator[Mark]:
    name, body = literal.child_by_field_name("type"), literal.child_by_field_name("body")
    if name is None or body is None or file.resolve(file.text(name)) != "net/http.Client":
        return
    if "Timeout" not in file.text(body):
        yield file.mark(
            RULE.id,
            literal,
            "This `http.Client` has no `Timeout`",
            confidence="medium",
            suggestion="Set `Timeout` on the client, or give every request a context with a deadline.",
        )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Somebody waits for an answer in a request handler: there it is an outage."""
    if place.in_request_path:
        return place.finding(mark, severity=Severity.CRITICAL)
    return place.finding(mark)


WATCHES = (
    Watch(
        "call", look_at_python, PYTHON, names=_VERBS | {"urlopen", "stream", "Client", "AsyncClient", "ClientSession"}
    ),
    Watch("call", look_at_go_call, GO, names=frozenset({"Get", "Post", "PostForm", "Head", "Do"})),
    Watch("literal", look_at_go_literal, GO),
)
