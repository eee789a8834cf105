"""What may tell that a function takes webhooks: its route, its name, its class, or the path of its file."""

import re

from tree_sitter import Node

from analysis.engine.codebase import Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts
from analysis.engine.readers.reading import ancestor
from analysis.engine.readers.webhook_views import WORD_OF_HOOKS, is_prefixed

LONGEST_HEADER = 300  # bytes before a function, or from its start, in which its route and its name stand
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
# A method that takes posts, in a class whose route or name speaks of webhooks.
_POSTS = re.compile(rb"@Post(?:Mapping)?\b|@POST\b|\bdef post\(")
_CLASS_OF_HOOKS = re.compile(
    rb"(?i:@controller|requestmapping)\([^)\n]*?"
    + rb"(?i:"
    + WORD_OF_HOOKS
    + rb")|@Path\([^)\n]*?(?i:web_?hook|[/\"]hooks?\b|callback|\bipn\b)"
    rb"|\bclass \w*(?:[hH]ook|Callback|I[pP][nN])s?(?:API)?(?:View|Handler|Controller|Resource|Endpoint)?\b"
)
_POSTED = re.compile(rb"csrf_exempt|require_POST")
_POSTED_FROM_OUTSIDE = re.compile(rb"@(?:[\w.]+\.)?csrf_exempt\b")  # only what takes posts is asked for a token
POST = (b"POST(", b"POST =")
PAGE = (b"NextApiReq",)
_BY_PATH = {"POST": POST, "handler": PAGE, "default": PAGE}  # handlers of Next, and what their files hold
# A handler whose route may stand in another file, or say less than the name of its own.
_HANDLER = re.compile(
    rb"\bhttp\.ResponseWriter\b|\*gin\.Context\b|\becho\.Context\b|\*fiber\.Ctx\b"
    rb"|\(\s*_?req(?:uest)?\b[^)\n]*,\s*_?res(?:ponse)?\b"
)
_CLASSES = frozenset({"class_definition", "class_declaration"})
_ROUTES = (b"post", b".route", b"methods")
_NAMES = (b"hook", b"ipn", b"callback", b"notif")
# Where the path of the file is the route, or names what its handlers are for.
_ROUTED_BY_PATH = re.compile(
    r"(?i)(?:^|/)(?:(?:app|api|routes|pages)/(?:[^/]+/)*)[^/]*(?:web[_-]?hooks?|\bhooks?\b|callback|\bipn\b)[^/]*(?:/[^/]+)*\.[cm]?[jt]sx?$"
    r"|(?:^|/)[\w-]*(?:web_?hooks?|_ipn|\bipn|callbacks?)(?:/[^/]+|_?\w*)\.py$"
)
_ROUTE = re.compile(r"(?i)(?:POST )?(?=/)[^ ]*" + WORD_OF_HOOKS.decode())
_NAMELESS = frozenset({"default", "handler", "anonymous"})  # a route of this name means any of many
_FILE_OF_HOOKS = re.compile(
    r"(?i)(?:^|/)(?:web[_-]?)?hooks?[.\w-]*\.(?:[jt]s|go)$|(?:^|/)(?:web[_-]?hooks?|callbacks)/[\w.-]+\.(?:[jt]s|go)$"
)


def told_by(function: Node, before: bytes, head: bytes, file: SourceFile) -> tuple[str, bytes]:
    """What may tell that a function takes webhooks, and the text that does: its route or name, that of its class, the
    path of the file, or a route of another file. Nothing when it is none."""
    where = before + head
    may_be_routed = _speaks_of(where, _ROUTES)
    if may_be_routed and _ROUTED.search(where) is not None and (b".route(" not in where or b"POST" in where):
        return "route", where
    if file.language == "python" and _POSTED_TO.search(before) is not None and is_prefixed(before, file):
        return "route", where
    if _speaks_of(head, _NAMES) and (
        _NAMED.search(head) or (_is_posted_to(before) and _NAMED_AS_HOOK.search(head) is not None)
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


def _is_posted_to(before: bytes) -> bool:
    """Whether the decorators of a handler say that it takes posts, for Django also from where no page of it stands."""
    return _POSTED_TO.search(before) is not None or _POSTED_FROM_OUTSIDE.search(before) is not None


def is_routed_by_path(path: str) -> bool:
    """Whether the path of the file is the route of webhooks, or names what its handlers are for."""
    return _ROUTED_BY_PATH.search(path) is not None


def is_routed_as_hook(place: Place) -> bool:
    """Whether a route to the handler, in its own file or another, speaks of webhooks, or all of its file does."""
    name = place.function.short_name
    is_of_hooks = _FILE_OF_HOOKS.search(place.path) is not None
    if is_of_hooks and any(
        entry.detail.startswith("POST") and entry.function == place.function.name for entry in place.facts.entries
    ):
        return True
    if name in _NAMELESS:
        return False
    named = {place.function.owner.rpartition(".")[2]} if place.facts.language == "python" and name == "post" else {name}
    return any(not named.isdisjoint(handlers) for handlers in place.codebase.summaries(_routed_as_hooks).values())


def _routed_as_hooks(facts: FileFacts) -> frozenset[str]:
    """What the routes of a file that speak of webhooks call their handlers, or the views that take those."""
    routes = (each.data["views"].split() for each in facts.marks if each.data.get("form") == "routes")
    return frozenset(
        entry.function.rpartition(".")[2] for entry in facts.entries if _ROUTE.match(entry.detail) is not None
    ).union(*routes)


def _class_header(method: Node, file: SourceFile) -> bytes:
    """The decorators and the name of the class around a method."""
    above = ancestor(method, _CLASSES)
    if above is None:
        return b""
    before = file.source[max(0, above.start_byte - LONGEST_HEADER) : above.start_byte].rpartition(b"\n\n")[2]
    return (
        before
        + file.source[above.start_byte : above.start_byte + LONGEST_HEADER].partition(
            b":\n" if file.language == "python" else b"{"
        )[0]
    )


def _speaks_of(text: bytes, words: tuple[bytes, ...]) -> bool:
    """A cheap question before the patterns, which look everywhere for either case."""
    text = text.lower()
    return any(map(text.__contains__, words))
