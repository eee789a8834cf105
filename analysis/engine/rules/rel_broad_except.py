"""A handler catches everything and tells nobody what it caught."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.answers import looks_for_a_part
from analysis.engine.readers.handlers import comment_above, explaining_words, guarded_text
from analysis.engine.readers.reading import DEFINITIONS, short, statements, text_after
from analysis.engine.rules.base import JAVA, PYTHON, Watch

RULE = Rule(
    id="rel-broad-except",
    type="broad_except",
    category=Category.RELIABILITY,
    title="Handler catches everything",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Catch the exceptions this code can handle (`requests.RequestException`, `ValueError`).",
    languages=(*PYTHON, *JAVA),
)
GUIDE = Guide(
    why=(
        "A handler for everything also takes the faults that nobody thought of, and what it does not tell cannot be "
        "found."
    ),
    flagged=(
        {
            "shop/work.py": """
def load(path):
    try:
        return read(path)
    except Exception:
        log.warning("not loaded")
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def load(path):
    try:
        return read(path)
    except Exception:
        log.exception("not loaded")
        raise
"""
        },
    ),
)

_PYTHON_BROAD = re.compile(rb"except\s*(:|\(?[^:\n]*\b(Base)?Exception\b)")
_JAVA_BROAD = re.compile(r"\b(Throwable|Error|NullPointerException|Exception)\b")
_CALLED = re.compile(r"(?:\b(\w+)\s*\.\s*)?\b(\w+)\s*\(")
_THROWS = re.compile(rb"throws\s+[\w.,\s]*\b(?:Exception|Throwable)\b[\w.,\s]*\{")
_PARAMETERS = re.compile(rb"(\w+)\s*\([^;{}()]*\)\s*\Z")
LONGEST_PARAMETERS = 500  # bytes
LONGEST_NAME = 100
_THROWS_EXCEPTION = frozenset({"call", "close", "proceed", "invoke", "invokeExact", "doExecute", "afterPropertiesSet"})
# Methods of libraries, by what is imported of them, that declare `throws Exception`.
_DECLARED_BY = {
    "org.apache.curator.": frozenset({"forPath"}),
    "org.apache.karaf.features.": frozenset(
        "listFeatures getFeature getFeatures installFeature installFeatures uninstallFeature uninstallFeatures".split()
    ),
    "org.eclipse.jetty.": frozenset({"start", "stop"}),
}
_LOG_THE_OBJECT = "Pass the exception to the log, so that a bug leaves its trace."
_TELLS = re.compile(
    r"\b(raise|throw)\b|\bthrow[A-Z]\w*\(|\.exception\(|exc_info|traceback|log_trace\b|log_exc|print_exc|capture_?[Ee]xception|sys\.exit|os\._exit|\.set_exception\(|\bhandleError\(|halt\("
    r"|\bmessages\.(error|warning)\("  # Django's, to the user
    r"|\bNOT_SERVING\b|\bUNHEALTHY\b|\bHealth\.down\("  # a check of health answers with it
)
_NOTHING = re.compile(r"(pass|\.\.\.|continue;?|return(\s+(None|null|False|false))?;?)$")
ENOUGH_WORDS = 4  # of a comment that says why everything is caught
_AWAITED = re.compile(r"await\s+(?:asyncio\.(?:shield|wait_for)\()?(\w+)[^\n]*")
_NAMED = re.compile(r"\bas\s+(\w+)\s*:?$")
_BOUNDARY = re.compile(
    r"(^|\.)(main|run|__del__|__exit__|__repr__|__str__|toString|dispatch|handle\w*|on_\w+|worker\w*|\w*_loop|loop|middleware|shutdown\w*|close"
    r"|consume\w*|process_(request|response|exception)|load_plugins?|finalize)$"
)
_CHECK = re.compile(r"(^|\.)(health\w*|ping)$")  # answers for whatever fails, but not when it is told to stop
_BARE = re.compile(rb"except\s*:")
_LOGS_MESSAGE = r"(?:(?i:log(?:ger)?)\.(?:error|warn)|\b\w*[lL]og)\([^;]*\b{0}\.getMessage\("
_LOGS = re.compile(r"\b(?i:log(?:ger|ging)?)\.(?:error|warn(?:ing)?|info|debug)\(")
_STORES_MESSAGE = r"(?:\.set\w*(?:Error|Message|Reason|Result|Status)\w*\(|\breturn\b)[^;]*\b{0}\.getMessage\("
_KEEPS_MESSAGE = "`catch ({0})` takes bugs with the failures, and keeps only the message"
_SAYS = re.compile(r"(?:^|\n)\s*(return|[\w.]+\s*=)\s*(True|False|true|false);?\s*\Z")
_ENTRY = re.compile(
    r"(^|\.)(task|shared_task|route|get|post|put|patch|delete|websocket|errorhandler|command|exception_handler"
    r"|\w*Mapping|ExceptionHandler|Scheduled|\w*Listener|GET|POST|PUT|DELETE)\b"
)


def look_at_except(handler: Node, file: SourceFile) -> Iterator[Mark]:
    if _PYTHON_BROAD.match(file.source, handler.start_byte) is None or _is_boundary(handler, file):
        return
    body = handler.named_children[-1]
    header = file.source[handler.start_byte : body.start_byte].decode("utf-8", "replace").partition("#")[0].strip()
    named = _NAMED.search(header.rstrip(": \n"))
    if _tells(named[1] if named is not None else "", body, file) or _is_reported_as_swallowed(body, file):
        return
    if _is_explained(handler, file) or _asks(handler, body, file) or _is_read_later(body, handler, file):
        return
    # What is lost there is a second failure; the first was told.
    confidence = "medium" if _is_told_around(handler, file) else ""
    told = "the log has no trace of it" if _LOGS.search(file.text(body)) else "tells nobody"
    message = f"`{short(header.rstrip(':'))}` takes every error, bugs included, and {told}"
    yield file.mark(RULE.id, handler, message, confidence=confidence)


def _is_told_around(handler: Node, file: SourceFile) -> bool:
    """Whether the handler stands in another one, which has logged before what it caught."""
    above = handler.parent
    while above is not None and above.type not in DEFINITIONS:
        if above.type == "except_clause":
            return (
                _LOGS.search(file.source[above.start_byte : handler.start_byte].decode("utf-8", "replace")) is not None
            )
        above = above.parent
    return False


def look_at_catch(handler: Node, file: SourceFile) -> Iterator[Mark]:
    formal = next((each for each in handler.named_children if each.type == "catch_formal_parameter"), None)
    broad = _JAVA_BROAD.search(file.text(formal)) if formal is not None else None
    body = handler.child_by_field_name("body")
    if formal is None or broad is None or body is None or _is_boundary(handler, file):
        return
    name_node = formal.child_by_field_name("name")
    caught = file.text(name_node) if name_node is not None else ""
    if _tells(caught, body, file) or _is_reported_as_swallowed(body, file) or _is_explained(handler, file):
        return
    guarded = guarded_text(handler, file)
    if broad[1] == "Exception" and _may_throw_any(guarded, file):
        return
    if looks_for_a_part(guarded) and not _LOGS.search(file.text(body)):
        return  # linking fails with errors, and there is another way
    yield _caught(handler, file.text(formal), broad[1], caught, file.text(body), file)


def _caught(handler: Node, header: str, kind: str, caught: str, body: str, file: SourceFile) -> Mark:
    """The mark of a handler by how much it tells: nothing, that something failed, or the message alone."""
    if kind == "NullPointerException":
        message = "`catch (NullPointerException)` stands in for a check: any bug below looks the same"
        return file.mark(RULE.id, handler, message, confidence="medium" if _names(caught, body) else "")
    is_plain = kind == "Exception"
    taken = "takes bugs with the failures" if is_plain else "takes even errors that nobody can handle"
    if is_plain and re.search(_LOGS_MESSAGE.format(re.escape(caught)), body):
        message = f"`catch ({short(header)})` {taken}, and the log has only its message"
        return file.mark(RULE.id, handler, message, severity="info", confidence="medium", suggestion=_LOG_THE_OBJECT)
    if is_plain and caught and re.search(_STORES_MESSAGE.format(re.escape(caught)), body):
        message = _KEEPS_MESSAGE.format(short(header))
        return file.mark(RULE.id, handler, message, severity="info", confidence="medium", suggestion=_LOG_THE_OBJECT)
    if _LOGS.search(body):
        message = f"`catch ({short(header)})` {taken}, and the log has no trace of it"
        return file.mark(RULE.id, handler, message, confidence="medium", suggestion=_LOG_THE_OBJECT)
    message = f"`catch ({short(header)})` {taken}, and tells nobody"
    return file.mark(RULE.id, handler, message, confidence="medium" if is_plain or _names(caught, body) else "")


def _names(caught: str, body: str) -> bool:
    return bool(caught) and re.search(rf"\b{re.escape(caught)}\b", body) is not None


def _is_read_later(body: Node, handler: Node, file: SourceFile) -> bool:
    """Whether a loop that waits for a future is left, whose result raises the error right behind it."""
    guarded = guarded_text(handler, file)
    awaited = _AWAITED.fullmatch(guarded)
    return (
        awaited is not None
        and file.text(body).strip() in ("break", "pass")
        and f"{awaited[1]}.result()" in text_after(handler, file)
    )


def _asks(handler: Node, body: Node, file: SourceFile) -> bool:
    """Whether the handler answers a question: the opposite of what the `try` says when nothing fails."""
    tried, failed = _SAYS.search(guarded_text(handler, file)), _SAYS.fullmatch(file.text(body))
    return tried is not None and failed is not None and tried[1] == failed[1] and tried[2] != failed[2]


def _may_throw_any(guarded: str, file: SourceFile) -> bool:
    """Whether a call in there declares `throws Exception`, so that nothing narrower can be caught: by this file, or as
    the interfaces of the language do."""
    called = {found[2] for found in _CALLED.finditer(guarded)}
    if called & _THROWS_EXCEPTION or any(called & methods for methods in _of_libraries(file)):
        return True
    return not called.isdisjoint(_throw_any(file))


def _of_libraries(file: SourceFile) -> Iterator[frozenset[str]]:
    """The methods that may throw anything of the libraries that the file imports."""
    for library, methods in _DECLARED_BY.items():
        if any(full.startswith(library) for full in file.bindings.values()):
            yield methods


def _throw_any(file: SourceFile) -> Iterator[str]:
    """The methods of this file that declare `throws Exception`."""
    for thrown in _THROWS.finditer(file.source):
        before = file.source[max(0, thrown.start() - LONGEST_PARAMETERS) : thrown.start()]
        method = _PARAMETERS.search(before, max(0, before.rfind(b"(") - LONGEST_NAME))
        if method is not None:
            yield method[1].decode()


def _tells(caught: str, body: Node, file: SourceFile) -> bool:
    """Whether the handler raises, logs the trace or passes on the object that it caught."""
    text = file.text(body)
    return bool(_TELLS.search(text) or (caught and re.search(rf"\b{re.escape(caught)}\b(?!\.getMessage)", text)))


def _is_reported_as_swallowed(body: Node, file: SourceFile) -> bool:
    """`rel-swallowed-exception` takes handlers that do nothing."""
    held = statements(body)
    return len(held) == 0 or (len(held) == 1 and bool(_NOTHING.fullmatch(file.text(held[0]))))


def _is_explained(handler: Node, file: SourceFile) -> bool:
    """Whether a comment in the handler or right above its `try` says why."""
    attempt = handler.parent
    above = comment_above(attempt, file) if attempt is not None else ""
    return max(explaining_words(file.text(handler)), explaining_words(above)) >= ENOUGH_WORDS


def _is_boundary(handler: Node, file: SourceFile) -> bool:
    """Whether the function is where errors must stop: a task, a handler, a worker's loop."""
    function = file.functions[file.function_of(handler)]
    if _BOUNDARY.search(function.name):
        return True
    if _CHECK.search(function.name) and _BARE.match(file.source, handler.start_byte) is None:
        return True
    return any(_ENTRY.search(decorator.partition("(")[0]) for decorator in function.decorators)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """What answers a request itself is where errors must stop, whatever its name."""
    return None if place.in_handler else place.finding(mark)


WATCHES = (Watch("handler", look_at_except, PYTHON), Watch("handler", look_at_catch, JAVA))
