"""A webhook acts again when the provider delivers an event again."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark, Query
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.queries import ANNOTATION, INSERTS, WRITES
from analysis.engine.readers.outside_calls import what_it_does
from analysis.engine.readers.webhook_handlers import (
    LONGEST_HEADER,
    PAGE,
    POST,
    is_routed_as_hook,
    is_routed_by_path,
    told_by,
)
from analysis.engine.readers.webhook_views import is_for_users, routed_views
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="rel-webhook-not-idempotent",
    type="webhook_not_idempotent",
    category=Category.RELIABILITY,
    title="Webhook that is not idempotent",
    severity=Severity.WARNING,
    points=4,
    suggestion="Store the event id under a unique constraint and ignore repeats; providers deliver more than once.",
    confidence=Confidence.MEDIUM,
)
GUIDE = Guide(
    why="Providers deliver an event again when they are not sure that it arrived, and the customer pays twice.",
    grades="Critical when the handler moves money, credits or stock.",
    flagged=(
        {
            "shop/hooks.ts": """
const app = express();
app.post("/hooks/pay", async (req, res) => {
  await credits.add(req.body.org, 500);
  res.sendStatus(200);
});
"""
        },
    ),
    fine=(
        {
            "shop/hooks.ts": """
const app = express();
app.post("/hooks/pay", async (req, res) => {
  const fresh = await events.insertIfNew(verified(req).id);
  if (fresh) await credits.add(req.body.org, 500);
  res.sendStatus(200);
});
"""
        },
    ),
)

_SIGN_IN = re.compile(rb"(?i)oauth|log_?out|sign_?out|saml|sso\b|oidc|login|sign_?in|auth/|authoriz")
# Who comes back from signing in brings a code in the address; a page is shown to people.
_BRINGS_CODE = re.compile(
    rb"\bcode\b[^;\n]{0,80}(?:query|searchParams|GET)\b|(?:query|[qQ]uery\(|searchParams|GET|args)\b[^;\n]{0,40}\bcode\b|authorization_code"
    rb"|\.Get\(\"state\"\)|(?:query|searchParams|args|GET)\b[^;\n]{0,20}\bstate\b"
)
_COMMENT = re.compile(rb"(?m)^\s*(?://|#|\*|/\*)[^\n]*$")
_SHOWS_PAGE = re.compile(rb"\.ExecuteTemplate\(|\.HTML\(|\bres\.render\(|\brender(?:_template)?\(")
LONGEST = 20_000  # bytes of a handler that are read

# A provider signs its deliveries and signs nobody in.
_SIGNED_IN = re.compile(
    rb"\breq(?:uest)?\.user\b|ctx\.state\.auth\b|[cC]urrent_?[uU]ser|login_required|IsAuthenticated|@AuthenticationPrincipal"
    rb"|\bgetServerSession\b|\bwith(?:Session|Workspace|Auth|User|Permission)\w*\(|\bsession\.user\b"
    rb"|\bawait auth\(|\brequire(?:Auth|User)|AuthGuard\b|@PreAuthorize"
    rb"|\bAuth(?:enticated)?Request\b|\bpermissions\.\w|throwPermission|FromClaims\("
    rb"|@(?:Logined|Logged_?[iI]n|Current|Get|Auth\w*)?User\(\)|\b[aA]uthenticated\w*\(|\bAuditLogger\b|@audit_log\("
)
# Handlers that keep the list of webhooks, or send them, receive none.
_MANAGES = re.compile(
    rb"(?i)(?:def|function|func|\b(?:public|private|async))\s[^(\n]*?\b(?:(?:re)?create|repair|restore|(?:un)?install|sync|refresh|update|delete|remove|toggle|list|get|edit|add|register|test|rerun|send"
    rb"|resend|save|enable|disable|fire|trigger|subscribe|unsubscribe|deliver|retry|set|regenerate|generate|rotate|reset|replay|revoke|mark|read|dismiss|clear|count|archive)(?-i:(?=[_A-Z0-9]|\s*\())\w*\s*\("
    rb"|^def\s+\w*web_?hooks?_(?:create|update|put|post|patch|delete|list|get)\s*\("
    rb"|^func\s+\([^)\n]*\)\s*\w*web_?hooks?(?:create|update|delete|list|get)\s*\("
)
_GUARDED = re.compile(
    rb"(?i)idempot|debounce|event_?id|delivery_?id|already|duplicate|processed|\bseen\b|dedup|\bjob_?id\s*[:=]|\btask_id\s*=|insertIfNew|get_or_create|update_or_create"
    rb"|upsert|on[\s_]?conflict|insert\s(?:or\s)?ignore\b|ignore_conflicts|IntegrityError|P2002|orIgnore|updateOrCreate|findOrCreate|exists(?:By\w+)?\(|event\.id\b|message_?id"
    rb"|unique_?constraint|webhook_?events?\.(?:create|insert|save)|insertOnUpdate"
    rb"|insertOrUpdate|on duplicate|setnx|\bnx\s*[=:]\s*true|cache\.add\("
    # The state that comes in the event: the second time changes nothing.
    rb"|update_\w*status\(|set_?status\("
    # Whether the id is a new one is asked of what keeps it: `fresh, err := svc.RegisterEvent(ctx, ev.ID)`.
    rb"|\b\w*(?:fresh|is_?new|first|seen|known|inserted|claimed|stored|accepted|handled)\w*(?:\s*,\s*\w+)?\s*:?=[^;\n]*\([^;\n]*id\b"
    rb"|\bif\b(?!\s*\(?\w*err\b)[^\n]*\.\w*(?:register|record|remember|claim|mark|insert|track|accept|seen|known|first|fresh|handled|once)"
    rb"\w*\([^\n]*id\b"
    rb"|\bif\b[^\n]*\b(?:try_?)?(?:claim|register|record|remember)_?(?:event|deliver|notification|web_?hook)\w*\("
)
_WRITES = re.compile(
    rb"\.(?:save|create|insert|insert_one|insertOne|persist|add|increment|update|updateOne|updateMany|delete|execute|commit|Create|Save|Exec|ExecContext)\w*\("
)
_ONLY_QUEUED = re.compile(rb"(?i)\.(?:delay|apply_async|enqueue|add_task|publish|send_task)\(|queue\.add\(")
_MONEY = re.compile(rb"(?i)credit|balance|payment|charge|refund|stock|inventor|wallet|payout|invoice|subscription")
# What happens once more when the event comes once more; the rest is set to what it is already.
_ADDS = re.compile(
    rb"\+=|-=|\$inc\b|\b(\w+)\s*=\s*\1\s*[-+]|[iI]ncrement|[dD]ecrement|\.save\(\s*[^)\s]|\.persist\w*\(|\b[sS]end\w*\(|\bF\(|INSERT\b"
    rb"|\.(?:create(?!H|Caller|\w*Context)|insert|add|bulk|emit|publish|push|charge|grant|transfer|credit|debit|refund|Create|Insert|Add|Publish)\w*\("
)
_IS_ADDING = re.compile(
    r"(?i)(?:^|[._])(?:create(?!_?h)|insert|add|send|emit|publish|charge|grant|transfer|credit|debit|refund|incr)"
)
# Events that say what something is now, and those that say what has happened.
_HEADERS = re.compile(rb"(?i)\w*headers?(?:\(\))?\.\w+\(")  # of the answer
_STATES = re.compile(rb"[\"'][\w.]+[._](?:updated|deleted|cancell?ed)[\"']")
_HAPPENS = re.compile(
    rb"[\"'][\w.]+[._](?:created|completed|succeeded|paid|captured|failed|refunded|received|finished)[\"']"
)
# Whether the row that is there says that it was done; what the event says of itself does not.
_ASKS_STATE = re.compile(
    rb"\bif\b[^\n]*(?<!event\.)(?<!body\.)(?<!payload\.)(?<!data\.)\b(?:[sS]tatus|[sS]tate)\)?\s*(?:[!=]=|\bin\b|\.equals)"
    rb"|\bif\b[^\n]*\b(?:is_?paid|paid_?at|completed_?at|processed_?at)\b"
)
# What only a provider brings: a signature, the kind of an event, its own name.
_DELIVERED = re.compile(
    rb"(?i)signature|hmac|x-[\w-]*-(?:event|token|key)|constructEvent|construct_event|webhook_?secret|event[_.]?type|event\[[\"']type"
    rb"|\b(?:body|data|payload|event)\.(?:type|event|action)\b|stripe|paypal|paddle|lemon_?squeezy|razorpay|twilio|mailgun|sendgrid"
)
# The act itself: that a signature came is read before.
_VERIFIED = re.compile(
    rb"(?i)compare_?digest|timingSafeEqual|createHmac|\bhmac\.|ConstantTimeCompare|construct_?Event\w*\("
    rb"|\b\w*(?:verify|validate|check|valid|verified)\w*\("
)
_SIGNED = re.compile(rb"(?i)signature|hmac|construct_?Event|verify_?webhook")
_PARSED = re.compile(
    rb"json\.loads\(|request\.json\b|request\.get_json\(|JSON\.parse\(|json\.NewDecoder\(r\.Body\)"
    rb"|await req(?:uest)?\.json\(\)|\.(?:ShouldBind|Bind)JSON\(|objectMapper\.read\w+\("
)
_REFUSED = re.compile(rb"except\b[^\n:]*\b(?:IntegrityError|UniqueViolation(?:Error)?|DuplicateKeyError)\b")
_REFUSED_BY_CODE = re.compile(
    rb"P2002|23505|ER_DUP_ENTRY|UniqueConstraint|\b11000\b|DataIntegrityViolation|DuplicateKeyException"
)
_REFUSALS = (
    *(b"P2002", b"23505", b"ER_DUP_ENTRY", b"UniqueConstraint", b"11000"),
    *(b"DataIntegrityViolation", b"DuplicateKeyException"),
)
_IS_OF_HOOKS = re.compile(r"(?i)web_?hook|callback|ipn")
_MESSAGE = "`{}` acts on every delivery: no event id is stored or checked"


def look(function: Node, file: SourceFile) -> Iterator[Mark]:
    """A handler that is named or routed as a webhook and changes something."""
    start = function.start_byte
    before = file.source[max(0, start - LONGEST_HEADER) : start]
    before = before[max(before.rfind(b"\n\n"), before.rfind(b"}\n"), 0) :]
    text = file.source[start : min(function.end_byte, start + LONGEST)]
    head = text[:LONGEST_HEADER].partition(b"\n")[0]
    by, where = told_by(function, before, head, file)
    if not by or file.in_test(function):
        return
    if _SIGN_IN.search(_COMMENT.sub(b"", where)):
        return
    if _SIGNED_IN.search(before) or _SIGNED_IN.search(text) or _BRINGS_CODE.search(text):
        return
    if file.language == "python" and is_for_users(function, file):
        return
    is_page = _SHOWS_PAGE.search(text) is not None
    if is_page and (by == "other route" or (by == "name" and not _WRITES.search(text))):
        return
    if _MANAGES.search(text[:LONGEST_HEADER].partition(b"{" if file.language != "python" else b":")[0]):
        return
    name = file.functions[file.function_of(function)].name
    header = function.child_by_field_name("name") or function
    yield file.mark(RULE.id, header, _MESSAGE.format(name), data=_said_of(text, before) | {"told_by": by})
    parsed = _PARSED.search(text)
    if parsed is not None and _SIGNED.search(text) and _is_verified_late(text, parsed.start(), file):
        yield file.mark(
            RULE.id,
            header,
            f"`{name}` reads the body before it has verified the signature",
            suggestion="Verify the signature over the raw bytes first, then read the body.",
            data={"form": "order", "told_by": by},
        )


def _said_of(text: bytes, before: bytes) -> dict[str, str]:
    """What `judge` wants to know of the text of a handler and of what stands above it."""
    plain = _HEADERS.sub(b"", text)
    return {
        "guarded": "1" if _GUARDED.search(text) or _GUARDED.search(before) else "",
        "writes": "1" if _WRITES.search(plain) else "",
        "queued": "1" if _ONLY_QUEUED.search(text) else "",
        "money": "1" if _MONEY.search(text) else "",
        "adds": "1" if _ADDS.search(plain) else "",
        "state": "1" if _STATES.search(text) and not _HAPPENS.search(text) else "",
        "asks": "1" if _ASKS_STATE.search(text) else "",
        "delivered": "1" if _DELIVERED.search(text) else "",
    }


def _is_verified_late(text: bytes, parsed: int, file: SourceFile) -> bool:
    """Whether a handler verifies what was sent, and only behind the place where it has read it."""
    start = text.find(b":\n" if file.language == "python" else b"{")  # behind the header
    verified = _VERIFIED.search(text, max(0, start))
    return verified is not None and parsed < verified.start()


def look_at_routes(root: Node, file: SourceFile) -> Iterator[Mark]:
    """The views that routes which speak of webhooks lead to."""
    if views := routed_views(file.source):
        yield file.mark(RULE.id, root, "", data={"form": "routes", "views": " ".join(views)})


def look_at_duplicate(handler: Node, file: SourceFile) -> Iterator[Mark]:
    """Where a function expects that a row is there already: what a unique key refuses was done before."""
    if file.language == "python":
        is_refused = _REFUSED.match(file.source, handler.start_byte)
    else:
        is_refused = _REFUSED_BY_CODE.search(file.source, handler.start_byte, handler.end_byte)
    if is_refused:
        yield file.mark(RULE.id, handler, "", data={"form": "refused"})


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Only handlers of requests that write or send, and neither they nor what they call knows the event."""
    if mark.data.get("form") in ("routes", "refused"):
        return None
    if place.kind is not FileKind.SOURCE or not _is_entry(place):
        return None
    if _only_answers_get(place):
        return None  # whose route stands near one that takes webhooks
    is_of_path = is_routed_by_path(place.path) and _SIGN_IN.search(place.path.encode()) is None
    if mark.data["told_by"] == "path" and not (is_of_path or is_routed_as_hook(place)):
        return None
    if mark.data["told_by"] == "other route" and not is_routed_as_hook(place):
        return None
    if mark.data.get("form") == "order":
        return place.finding(mark)
    if mark.data["guarded"] or not _changes_something(mark, place) or any(map(_is_guarded, _callees(place))):
        return None
    if mark.data["queued"] and not mark.data["writes"]:
        return None
    if mark.data["told_by"] == "name" and _is_part_of_another(place):
        return None
    confidence = Confidence.MEDIUM if _is_sure(mark) else Confidence.LOW
    adds = mark.data["adds"] or any(map(_adds, _callees(place)))
    if mark.data["state"] or not adds or not (mark.data["delivered"] or mark.data["money"] or mark.data["writes"]):
        return place.finding(mark, confidence=confidence, severity=Severity.INFO)  # it is set to what it is already
    return place.finding(mark, confidence=confidence, severity=Severity.CRITICAL if mark.data["money"] else None)


def _is_sure(mark: Mark) -> bool:
    """Whether the route says that it takes webhooks, the body that a provider sends them, and it adds something without
    asking whether it was done."""
    is_told = mark.data["told_by"] not in ("name", "other route")
    is_delivery = mark.data["delivered"] or mark.data["money"]
    return bool(is_told and is_delivery and mark.data["writes"] and mark.data["adds"] and not mark.data["asks"])


def _is_part_of_another(place: Place) -> bool:
    """Whether another handler of webhooks in the file calls this one: what is wrong is told there."""
    name = place.function.short_name
    return any(
        each.name != place.function.name
        and _IS_OF_HOOKS.search(each.name)
        and any(call.rpartition(".")[2] == name for call in each.calls)
        and any(entry.kind == "request" and entry.function == each.name for entry in place.facts.entries)
        for each in place.facts.functions
    )


def _adds(callee: Place) -> bool:
    """Whether what a handler calls adds something, rather than set it to a value."""
    inserts = (each.operation in INSERTS for each in callee.facts.queries if each.function == callee.index)
    return any(inserts) or any(map(_IS_ADDING.search, (callee.function.name, *callee.function.calls)))


def _is_entry(place: Place) -> bool:
    name = place.function.name
    return any(
        entry.kind == "request" and entry.function in (name, name.rpartition(".")[2]) for entry in place.facts.entries
    )


def _only_answers_get(place: Place) -> bool:
    routes = [each.detail for each in place.facts.entries if each.function == place.function.name]
    return bool(routes) and all(each.startswith(("GET ", "HEAD ")) for each in routes)


def _callees(place: Place) -> Iterator[Place]:
    """What a handler calls and what that calls, a service between the handler and the rows, with the functions that
    stand in those: what runs in a transaction."""
    calls = place.codebase.calls
    direct = calls.callees(place.callee)
    for callee in dict.fromkeys((*direct, *(inner for each in direct for inner in calls.callees(each)))):
        yield from place.codebase.place(*callee).with_nested()


def _is_guarded(place: Place) -> bool:
    names = " ".join((place.function.name, *place.function.calls)).encode()
    columns = " ".join(each.column for query in _queries(place) for each in query.filters).encode()
    notes = (each for each in place.facts.marks if each.rule == ANNOTATION and each.function == place.index)
    if any("upsert" in each.data for each in notes) or any(
        each.function == place.index and each.data.get("form") == "refused" for each in place.facts.marks
    ):
        return True
    return _GUARDED.search(names) is not None or _GUARDED.search(columns) is not None


def _queries(place: Place) -> Iterator[Query]:
    """The queries of a function, those of repositories as these declare them."""
    for site in place.queries:
        yield site.query


def _writes(call: str) -> bool:
    return _WRITES.search(f"{call}(".encode()) is not None


def _changes_something(mark: Mark, place: Place) -> bool:
    if mark.data["writes"] or any(map(what_it_does, place.function.calls)):
        return True
    return any(
        any(query.operation in WRITES | INSERTS for query in _queries(each))
        or any(map(what_it_does, each.function.calls))
        or (_IS_OF_HOOKS.search(each.function.name) and any(map(_writes, each.function.calls)))
        for each in _callees(place)
    )


_NEEDS = (
    b"ebhook",
    b"ebHook",
    b"_hook",
    b"/hook",
    b"allback",
    b"ipn",
    b"otif",
    *POST,
    *PAGE,
    b"csrf_ex",
    b"require_P",
)

_HANDLERS = (b"http.ResponseWriter", b"gin.Context", b"echo.Context", b"fiber.Ctx", b"(req, res", b"(request, response")

WATCHES = (
    Watch("function", look, PYTHON, needs=(*_NEEDS, *_HANDLERS, b"def post(")),
    *(Watch("function", look, languages, needs=(*_NEEDS, *_HANDLERS)) for languages in (SCRIPT, JAVA, GO)),
    Watch("module", look_at_routes, PYTHON, needs=(b".as_view(", b"add_resource(", b"path(")),
    Watch("handler", look_at_duplicate, PYTHON, needs=(b"IntegrityError", b"UniqueViolation"), starts=_REFUSED),
    Watch("handler", look_at_duplicate, (*SCRIPT, *JAVA), needs=_REFUSALS),
)
