"""A webhook acts again when the provider delivers an event again."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.calls import Callee
from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts, Mark, Query
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.queries import ANNOTATION, WRITES
from analysis.engine.readers.outside_calls import what_it_does
from analysis.engine.readers.webhook_views import WORD_OF_HOOKS, is_for_users, routed_classes
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

_NAMED = re.compile(
    rb"(?i)(?:def|func|function)\s+(?:\([^)\n]*\)\s*)?\w*(?:web_?hook|_ipn|ipn_|payment_?callback|payment_?notif)\w*|\b(?:handle|receive|process)\w*[wW]eb[hH]ook\w*\s*\("
)
_ROUTED = re.compile(
    rb"(?i)(?:\.post(?:<[^()\n]{1,80}>)?\(|@post(?:mapping)?\(|\.route\(|requestmapping\(|\.handlefunc\()\s*(?:(?:value|path)\s*=\s*)?\{?[\"'`]"
    rb"(?:POST )?[^\"'`\n{}<]*" + WORD_OF_HOOKS + rb"[^\"'`\n{}<]*[\"'`]"
)
# What a route takes posts for says as much by its name: `@router.post("/fees")` above `def fee_callback`.
_POSTED_TO = re.compile(rb"(?i)@[\w.]*\.post\(|@PostMapping\(|@post\(|methods\s*=\s*[\[(][^\])\n]*POST")
_NAMED_AS_HOOK = re.compile(
    rb"(?:def|\w)\s+\w*?(?:[wW]eb_?[hH]ook|(?:\b|_)[hH]ook|[cC]allback|(?:\b|_)ipn|[nN]otification)s?\w*\s*\("
)
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
# A method that takes posts, in a class whose route or name speaks of webhooks.
_POSTS = re.compile(rb"@Post(?:Mapping)?\b|@POST\b|\bdef post\(")
_CLASS_OF_HOOKS = re.compile(
    rb"(?i:@controller|requestmapping)\([^)\n]*?"
    + rb"(?i:"
    + WORD_OF_HOOKS
    + rb")|@Path\([^)\n]*?(?i:web_?hook|[/\"]hooks?\b|callback|\bipn\b)"
    rb"|\bclass \w*(?:[hH]ook|Callback|I[pP][nN])s?(?:API)?(?:View|Handler|Controller|Resource|Endpoint)?\b"
)
# Where the path of the file is the route, or names what its handlers are for.
_ROUTED_BY_PATH = re.compile(
    r"(?i)(?:^|/)(?:(?:app|api|routes|pages)/(?:[^/]+/)*)[^/]*(?:web[_-]?hooks?|\bhooks?\b|callback|\bipn\b)[^/]*(?:/[^/]+)*\.[cm]?[jt]sx?$"
    r"|(?:^|/)[\w-]*(?:web_?hooks?|_ipn|\bipn|callbacks?)(?:/[^/]+|_?\w*)\.py$"
)
_REFUSED = re.compile(rb"except\b[^\n:]*\b(?:IntegrityError|UniqueViolation(?:Error)?|DuplicateKeyError)\b")
_POSTED = re.compile(rb"csrf_exempt|require_POST")
_POST, _PAGE = (b"POST(", b"POST ="), (b"NextApiReq",)
_BY_PATH = {"POST": _POST, "handler": _PAGE, "default": _PAGE}  # handlers of Next, and what their files hold
# A handler whose route may stand in another file, or say less than the name of its own.
_HANDLER = re.compile(
    rb"\bhttp\.ResponseWriter\b|\*gin\.Context\b|\becho\.Context\b|\*fiber\.Ctx\b"
    rb"|\(\s*_?req(?:uest)?\b[^)\n]*,\s*_?res(?:ponse)?\b"
)
_ROUTE = re.compile(r"(?i)(?:POST )?(?=/)[^ ]*" + WORD_OF_HOOKS.decode())
_IS_OF_HOOKS = re.compile(r"(?i)web_?hook|callback|ipn")
_NAMELESS = frozenset({"default", "handler", "anonymous"})  # a route of this name means any of many
_FILE_OF_HOOKS = re.compile(r"(?i)(?:^|/)(?:web_?)?hooks?[.\w-]*\.(?:[jt]s|go)$")
_MESSAGE = "`{}` acts on every delivery: no event id is stored or checked"
_CLASSES = frozenset({"class_definition", "class_declaration"})
_ROUTES, _NAMES = (b"post", b".route", b"methods"), (b"hook", b"ipn", b"callback", b"notif")
_HEADER = 300  # bytes before a function in which its route stands


def look(function: Node, file: SourceFile) -> Iterator[Mark]:
    """A handler that is named or routed as a webhook and changes something."""
    start = function.start_byte
    before = file.source[max(0, start - _HEADER) : start]
    before = before[max(before.rfind(b"\n\n"), before.rfind(b"}\n"), 0) :]
    text = file.source[start : min(function.end_byte, start + LONGEST)]
    head = text[:_HEADER].partition(b"\n")[0]
    told_by, where = _told(function, before, head, file)
    if not told_by or file.in_test(function):
        return
    if _SIGN_IN.search(_COMMENT.sub(b"", where)):
        return
    if _SIGNED_IN.search(before) or _SIGNED_IN.search(text) or _BRINGS_CODE.search(text):
        return
    if file.language == "python" and is_for_users(function, file):
        return
    is_page = _SHOWS_PAGE.search(text) is not None
    if is_page and (told_by == "other route" or (told_by == "name" and not _WRITES.search(text))):
        return
    if _MANAGES.search(text[:_HEADER].partition(b"{" if file.language != "python" else b":")[0]):
        return
    name = file.functions[file.function_of(function)].name
    data = {
        "guarded": "1" if _GUARDED.search(text) or _GUARDED.search(before) else "",
        "writes": "1" if _WRITES.search(_HEADERS.sub(b"", text)) else "",
        "queued": "1" if _ONLY_QUEUED.search(text) else "",
        "money": "1" if _MONEY.search(text) else "",
        "adds": "1" if _ADDS.search(_HEADERS.sub(b"", text)) else "",
        "state": "1" if _STATES.search(text) and not _HAPPENS.search(text) else "",
        "asks": "1" if _ASKS_STATE.search(text) else "",
        "delivered": "1" if _DELIVERED.search(text) else "",
        "told_by": told_by,
    }
    header = function.child_by_field_name("name") or function
    yield file.mark(RULE.id, header, _MESSAGE.format(name), data=data)
    parsed = _PARSED.search(text)
    if parsed is not None and _SIGNED.search(text) and _is_verified_late(text, parsed.start(), file):
        yield file.mark(
            RULE.id,
            header,
            f"`{name}` reads the body before it has verified the signature",
            suggestion="Verify the signature over the raw bytes first, then read the body.",
            data={"form": "order", "told_by": told_by},
        )


def _is_verified_late(text: bytes, parsed: int, file: SourceFile) -> bool:
    """Whether a handler verifies what was sent, and only behind the place where it has read it."""
    start = text.find(b":\n" if file.language == "python" else b"{")  # behind the header
    verified = _VERIFIED.search(text, max(0, start))
    return verified is not None and parsed < verified.start()


def _told(function: Node, before: bytes, head: bytes, file: SourceFile) -> tuple[str, bytes]:
    """What may tell that a function takes webhooks, and the text that does: its route or name, that of its class, the
    path of the file, or a route of another file. Nothing when it is none."""
    where = before + head
    may_be_routed = _speaks_of(where, _ROUTES)
    if may_be_routed and _ROUTED.search(where) is not None and (b".route(" not in where or b"POST" in where):
        return "route", where
    if _speaks_of(head, _NAMES) and (
        _NAMED.search(head) or (_POSTED_TO.search(before) is not None and _NAMED_AS_HOOK.search(head) is not None)
    ):
        return "name", where
    around = _class_header(function, file) if may_be_routed and _POSTS.search(where) else b""
    if _CLASS_OF_HOOKS.search(around) is not None:
        return "class", around
    speaks = _BY_PATH.get(file.functions[file.function_of(function)].name, ())
    if any(each in file.source for each in speaks) or (
        file.language == "python" and _POSTED.search(before) is not None
    ):
        return "path", where
    is_view = file.language == "python" and _POSTS.search(head) is not None
    return "other route" if is_view or _HANDLER.search(head) is not None else "", where


def _class_header(method: Node, file: SourceFile) -> bytes:
    """The decorators and the name of the class around a method."""
    above = method.parent
    while above is not None and above.type not in _CLASSES:
        above = above.parent
    if above is None:
        return b""
    before = file.source[max(0, above.start_byte - _HEADER) : above.start_byte].rpartition(b"\n\n")[2]
    return (
        before
        + file.source[above.start_byte : above.start_byte + _HEADER].partition(
            b":\n" if file.language == "python" else b"{"
        )[0]
    )


def look_at_routes(root: Node, file: SourceFile) -> Iterator[Mark]:
    """The classes that routes which speak of webhooks lead to."""
    if classes := routed_classes(file.source):
        yield file.mark(RULE.id, root, "", data={"form": "routes", "classes": " ".join(classes)})


def look_at_duplicate(handler: Node, file: SourceFile) -> Iterator[Mark]:
    """Where a function expects that a row is there already: what a unique key refuses was done before."""
    if _REFUSED.match(file.source, handler.start_byte):
        yield file.mark(RULE.id, handler, "", data={"form": "refused"})


def _speaks_of(text: bytes, words: tuple[bytes, ...]) -> bool:
    """A cheap question before the patterns, which look everywhere for either case."""
    text = text.lower()
    return any(map(text.__contains__, words))


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Only handlers of requests that write or send, and neither they nor what they call knows the event."""
    if mark.data.get("form") in ("routes", "refused"):
        return None
    if place.kind is not FileKind.SOURCE or not _is_entry(place):
        return None
    if mark.data["told_by"] == "path" and not _is_routed_by_path(place.path):
        return None
    if mark.data["told_by"] == "other route" and not _is_routed_as_hook(place):
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


def _is_routed_by_path(path: str) -> bool:
    return _ROUTED_BY_PATH.search(path) is not None and _SIGN_IN.search(path.encode()) is None


def _is_part_of_another(place: Place) -> bool:
    """Whether another handler of webhooks in the file calls this one: what is wrong is told there."""
    name = place.function.name.rpartition(".")[2]
    return any(
        each.name != place.function.name
        and _IS_OF_HOOKS.search(each.name)
        and any(call.rpartition(".")[2] == name for call in each.calls)
        and any(entry.kind == "request" and entry.function == each.name for entry in place.facts.entries)
        for each in place.facts.functions
    )


def _adds(callee: Place) -> bool:
    """Whether what a handler calls adds something, rather than set it to a value."""
    return any(query.function == callee.index and query.operation == "insert" for query in callee.facts.queries) or any(
        map(_IS_ADDING.search, (callee.function.name, *callee.function.calls))
    )


def _is_entry(place: Place) -> bool:
    name = place.function.name
    return any(
        entry.kind == "request" and entry.function in (name, name.rpartition(".")[2]) for entry in place.facts.entries
    )


def _is_routed_as_hook(place: Place) -> bool:
    """Whether a route to the handler, in its own file or another, speaks of webhooks."""
    name = place.function.name.rpartition(".")[2]
    if name in _NAMELESS:
        return False
    if _FILE_OF_HOOKS.search(place.path) and any(
        entry.detail.startswith("POST") and entry.function == place.function.name for entry in place.facts.entries
    ):
        return True
    named = {place.function.owner.rpartition(".")[2]} if place.facts.language == "python" and name == "post" else {name}
    return any(not named.isdisjoint(handlers) for handlers in place.codebase.summaries(_routed_as_hooks).values())


def _routed_as_hooks(facts: FileFacts) -> frozenset[str]:
    """What the routes of a file that speak of webhooks call their handlers, or the classes of those."""
    routes = (each.data["classes"].split() for each in facts.marks if each.data.get("form") == "routes")
    return frozenset(
        entry.function.rpartition(".")[2] for entry in facts.entries if _ROUTE.match(entry.detail) is not None
    ).union(*routes)


def _callees(place: Place) -> Iterator[Place]:
    """What a handler calls and what that calls: a service between the handler and the rows."""
    calls = place.codebase.calls
    direct = calls.callees(Callee(place.path, place.index))
    for callee in dict.fromkeys((*direct, *(inner for each in direct for inner in calls.callees(each)))):
        yield place.codebase.place(callee.path, callee.position)


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
    for site in place.codebase.queries.by_function.get((place.path, place.index), ()):
        yield site.query


def _writes(call: str) -> bool:
    return _WRITES.search(f"{call}(".encode()) is not None


def _changes_something(mark: Mark, place: Place) -> bool:
    if mark.data["writes"] or any(map(what_it_does, place.function.calls)):
        return True
    return any(
        any(query.operation in WRITES for query in _queries(each))
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
    *_POST,
    *_PAGE,
    b"csrf_ex",
    b"require_P",
)

_HANDLERS = (b"http.ResponseWriter", b"gin.Context", b"echo.Context", b"fiber.Ctx", b"(req, res", b"(request, response")

WATCHES = (
    Watch("function", look, PYTHON, needs=(*_NEEDS, *_HANDLERS, b"def post(")),
    *(Watch("function", look, languages, needs=(*_NEEDS, *_HANDLERS)) for languages in (SCRIPT, JAVA, GO)),
    Watch("module", look_at_routes, PYTHON, needs=(b".as_view(", b"add_resource(")),
    Watch("handler", look_at_duplicate, PYTHON, needs=(b"IntegrityError", b"UniqueViolation"), starts=_REFUSED),
)
