"""A handler catches an exception and does nothing about it."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.rules.answers import (
    asks,
    asks_storage,
    is_answer,
    is_failure,
    is_there,
    only_asks_storage,
    only_parses,
    only_tells,
    only_waits,
    reads_one_way,
    reflects,
    says_unreadable,
)
from analysis.engine.rules.base import JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.handlers import (
    comment_above,
    explaining_words,
    guarded_text,
    is_explained,
    said_of_function,
    says_it_may_fail,
)
from analysis.engine.rules.promises import keeps_its_error
from analysis.engine.rules.reading import function_name, statements, text_after

RULE = Rule(
    id="rel-swallowed-exception",
    type="swallowed_exception",
    category=Category.RELIABILITY,
    title="Swallowed exception",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Handle, log with context, or let it propagate.",
    languages=(*PYTHON, *SCRIPT, *JAVA),
    tests_too=True,
    version=2,
)
GUIDE = Guide(
    why="The failure happened and left no trace; what comes after it works on nothing.",
    flagged=(
        {
            "shop/work.py": """
def store(order):
    try:
        order.save()
    except ValueError:
        pass
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
import logging


def store(order):
    try:
        order.save()
    except ValueError:
        logging.exception("order was not stored")
"""
        },
    ),
)

# One kind of error that answers no: the function says so, or counts the others.
_CHECKS_TEXT = re.compile(r"[^\n]*\bJSON\.parse\([\s\S]*\breturn true;?\s*\Z")
_SAYS_YES = re.compile(r"(?:.*\n)?\s*(?:return\s+[Tt]rue;?|\w+\s*\+=\s*1;?|\w+\+\+;?)\s*", re.DOTALL)
_CHECKS = re.compile(r"(?:await\s+)?[\w.]*?(?:assert|validate|check|ensure)[A-Z_]\w*\([^\n]*\);?")
_OPTIONAL_IMPORT = re.compile(
    r"\b(require|import|import_module|forName)\s*\(|\A(?:(?:from\s[^\n]+\s)?import\s[^\n]+\s*)+\Z"
)
_UNTIL = re.compile(r"while\b[^\n]*(?:deadline|monotonic\(|\btime\(\)|currentTimeMillis\(|Date\.now\()")
_SLEEPS = re.compile(r"\b(sleep|delay|backoff|setTimeout)\s*\(")
_PREDICATE = re.compile(
    r"(?:[a-z](?:Has|Is|Can)(?=[A-Z]))|(?:^|[._])(?:is|has|can|does|are|needs|allows?|matches|exists?|supports|valid\w*|try|should|maybe|safe(?:ly)?|check|test(?=\w*(?:[Cc]onnect|[Aa]uth|[Cc]redential)))(?:_|[A-Z]|$)|\.(?:some|every|filter)\(\)$"
    r"|(?:IfPossible|Or(?:Null|None|Undefined|Default|Empty)|_or_(?:none|null|default|empty)|_if_possible)$"
    r"|(?:[Hh]ealthy|[Aa]live|[Rr]eady|[Rr]eachable|[Aa]vailable|[Ee]xists?)$"
)
_BROAD = re.compile(r"\b(Exception|BaseException|Throwable|RuntimeException)\b")
_EMPTY_RETURN = re.compile(r"return(\s+(None|null|undefined|false|False))?;?\s*")
_NOTHING = re.compile(r"(pass|\.\.\.|continue;?|;)\s*")
_NO = re.compile(rb"\s*return\s+(?:False|None|false|null)\b")
_SAFE = re.compile(r"(?:^|\.)(?:safe|maybe)(?:ly)?(?=_|[A-Z])")
_GIVES = re.compile(r"\breturn\s+\S")
# JavaScript cannot catch one kind of error only: a text that is no such thing answers with nothing.
_READING = re.compile(r"(?:^|[._])(?:parse|decode|verify)(?:_|[A-Z]|$)")
_WRITES = re.compile(
    r"(?<!hash\.)(?<!hmac\.)(?<!\)\.)(?:(?<=\.)delete\s*\(|\b(save|create|insert|update|commit|execute|charge|capture|refund|pay\w*|ack\w*)\s*\()"
)
_SENDS = re.compile(r"\.(?:post|put|patch|send|publish|enqueue|delay|apply_async|produce)\w*\(|\bsend_\w+\(")
# Clean-up, and what is a nicety: times and rights of a file.
_CLOSES = re.compile(
    r"^(?:await\s+)?[\w.?!\[\]]*\.?(close|cancel|release|unlock|shutdown|disconnect|unlink|rm|rmdir|rmtree|cleanup|terminate|kill|destroy|abort"
    r"|dispose|utime|chmod|copystat)\w*\(.*\)[;\s]*$"
)
_REST_OF_LINE = re.compile(r"#[^\n]*")
_ONLY_RAISES = re.compile(r"(?:raise|throw)\s+\w+;?")
_IF_THERE = re.compile(r"if\s*\([^(){}]*\)\s*\{\s*([^{}]*?)\s*\}?\s*\Z")
_PROBES = re.compile(r"[\w.$]+;?")  # reading a member is all that is tried: may it be read?
# What is said of a function says what it gives when it fails.
_DOCUMENTED = re.compile(
    r"(?is)(?=.*\b(?:null|none|undefined|false|nothing)\b)(?=.*(?:\binvalid|\bfail|\berror|\bcannot\b|can't|\bthrow|corrupt|malformed"
    r"|unreadable|unsupported|not (?:a )?(?:valid|support)))"
)
_GIVEN_IF = re.compile(r"(?:if\b[^\n]*\n\s*)?(\w+)\s*=(?!=)[^;\n]*;?(?:\s*\})?")
_GIVEN_BACK = re.compile(r"return\s+(\w+)\s*;?")
NEAR = 100  # characters before and behind a `try`
_GIVES_NOTHING = re.compile(r"\b(?:null|undefined)\b")
_ASSERTS = re.compile(r"\b(?:expect|assert)\w*\(|\bassert\b")
LATER = 400  # bytes behind a call, in which a test asks
_LETS_GO = re.compile(
    r"(?:await\s+)?(?:[\w.?!$()]+\.)?(?:unbind|off|unsubscribe|removeEventListener|removeListener|removeAllListeners)\([^\n]*\);?|//[^\n]*"
)
_CLEANS_UP = re.compile(
    r"\.\$?(?:close|end|quit|stop|kill|unlink|rm|rmdir|destroy|abort|disconnect|shutdown|terminate|cancel|dispose|cleanup)"
    r"\(\)\.catch$"
)
_BOUND = re.compile(rb"\b(?:const|let|var)\s+(\w+)\s*=\s*(?:await\s+)?\Z")
_EMPTY_FUNCTION = re.compile(
    r"(async\s+)?(\(\s*\w*\s*\)|\w+)\s*=>\s*(\{\s*(?:return(?:\s+(?:null|undefined))?;?)?\s*\}|null|undefined|void 0)"
    r"|function\s*\w*\(\s*\w*\s*\)\s*\{\s*\}|(_\.|\$\.)?noop"
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_FAILS_OTHERWISE = re.compile(
    r"(?:^|[\s.])fail\([^\n]*\);?\s*\Z"
    r"|\bthrow new \w+\([^\n]*\b(?:[sS]hould|[eE]xpected|[nN]ever|[mM]ust)\b[^\n]*\);\s*\Z"
)
_NULLABLE = re.compile(rb"@Nullable\b|@CheckForNull\b|->\s*(?:Optional\[|[^:]*\|\s*None\b)|\bOptional<")
_WAITS_FOR = re.compile(r"\bawait\b")  # something outside, which may fail for many reasons
_COMPOUND = frozenset({"if_statement", "for_statement", "while_statement", "with_statement", "try_statement"})
_EXPECTS = re.compile(rb"\bexpect\w*\(|\bassert\w*\b")
_FLAG_SET_BEFORE = re.compile(r"(\w+)\s*=\s*(?:false|False)\s*;?\s*(?:try\b\s*[:{]?\s*)?\Z")


def look_at_handler(handler: Node, file: SourceFile) -> Iterator[Mark]:
    body = handler.child_by_field_name("body") or handler.named_child(handler.named_child_count - 1)
    if body is None or "block" not in body.type:
        return
    caught = _REST_OF_LINE.sub("", file.source[handler.start_byte : body.start_byte].decode("utf-8", "replace"))
    held = [each for each in body.named_children if "comment" not in each.type]
    does_nothing = all(_NOTHING.fullmatch(file.text(each)) for each in held)
    is_broad = bool(_BROAD.search(caught)) or not re.search(r"\w", caught.removeprefix("except").removeprefix("catch"))
    is_broad = is_broad or file.language in SCRIPT
    gives_up = is_broad and len(held) == 1 and bool(_EMPTY_RETURN.fullmatch(file.text(held[0])))
    if not (does_nothing or gives_up) or is_answer(caught) or is_explained(handler, caught, file):
        return
    guarded = guarded_text(handler, file)
    if not is_broad and is_there(caught, guarded):
        return
    if _FAILS_OTHERWISE.search(guarded):
        return  # a test that expects it
    if (
        _CLOSES.match(_IF_THERE.sub(r"\1", guarded))
        or (guarded and all(map(_lets_go, guarded.split("\n"))))
        or (not is_broad and says_unreadable(caught, guarded))
    ):
        return
    if _ONLY_RAISES.fullmatch(guarded):
        return  # to fill in its traceback
    if only_tells(guarded) or (does_nothing and only_waits(guarded)) or (gives_up and reflects(guarded)):
        return
    if does_nothing and reads_one_way(guarded) and file.in_loop(handler):
        return
    if not is_broad and (_has_default(guarded, handler, file) or file.is_in(handler, "finally")):
        return
    if file.language in SCRIPT and only_asks_storage(guarded):
        return
    if not is_broad and _SAYS_YES.fullmatch(guarded) and not _WRITES.search(guarded):
        return
    if gives_up and _CHECKS.fullmatch(guarded):
        return
    if (
        only_parses(guarded, function_name(handler, file))
        or _says_that_it_failed(guarded, handler, file)
        or _is_one_of_several_tries(handler, file)
    ):
        return
    if (
        gives_up
        and file.language in SCRIPT
        and (_CHECKS_TEXT.match(guarded) or _is_answer_behind(guarded, held, handler, file))
    ):
        return
    if file.language in SCRIPT and _PROBES.fullmatch(_COMMENT.sub("", guarded).strip()):
        return
    if gives_up and not _WRITES.search(guarded) and _DOCUMENTED.match(said_of_function(handler, file)):
        return
    if does_nothing and _has_another_way(guarded, handler, file) and (not is_broad or _gives_default(handler, file)):
        return
    name = function_name(handler, file)
    if does_nothing and _SAFE.search(name) and _GIVES.search(guarded):
        return  # what it gives then is nothing
    if _OPTIONAL_IMPORT.search(guarded) or (_PREDICATE.search(name) and (gives_up or _says_no_after(handler, file))):
        return
    if gives_up and file.language in SCRIPT and _READING.search(name):
        return
    yield file.mark(
        RULE.id,
        handler,
        f"`{_title(caught)}` " + ("does nothing about the error" if does_nothing else "turns every error into nothing"),
        severity="critical" if _WRITES.search(guarded) else "",
        confidence=_confidence(caught, guarded, handler, file, is_broad=is_broad, does_nothing=does_nothing),
        data=_asserted(_ASSERTS.search(text_after(handler, file)[:NEAR]) is not None),
    )


def _confidence(
    caught: str, guarded: str, handler: Node, file: SourceFile, *, is_broad: bool, does_nothing: bool
) -> str:
    """What names its kind of error may mean it as an answer, and script cannot name one."""
    if not is_broad:
        return "medium" if is_failure(caught) or _WRITES.search(guarded) else "low"
    if file.language in SCRIPT:
        is_sure = does_nothing and not _is_one_step(handler) and not _has_another_way(guarded, handler, file)
        is_sure = is_sure and not asks_storage(guarded) and bool(_WAITS_FOR.search(guarded) or _WRITES.search(guarded))
        return "medium" if is_sure else "low"
    if not does_nothing and (asks(guarded) or _may_be_empty(handler, file)):
        return "low"
    if does_nothing and _is_tried_next(guarded, handler):
        return "low"
    if not _is_one_step(handler) or _WRITES.search(guarded):
        return ""
    # What is tried in one step is mostly tried because it may fail; but whoever sends something wants it to arrive.
    return "medium" if _SENDS.search(guarded) else "low"


def _lets_go(line: str) -> bool:
    """Whether a line takes a listener away, or closes something."""
    return _LETS_GO.fullmatch(line.strip()) is not None or _CLOSES.match(line.strip()) is not None


def _is_one_step(handler: Node) -> bool:
    """Whether one plain statement is all that is tried."""
    attempt = handler.parent
    held = statements(attempt.child_by_field_name("body")) if attempt is not None else []
    return len(held) == 1 and held[0].type not in _COMPOUND


def _is_tried_next(guarded: str, handler: Node) -> bool:
    """Whether the function gives back what it tries for, and the next statement tries again in another way."""
    attempt = handler.parent
    behind = attempt.next_named_sibling if attempt is not None else None
    return _GIVES.search(guarded) is not None and behind is not None and behind.type == "try_statement"


def _may_be_empty(handler: Node, file: SourceFile) -> bool:
    """Whether the header of the function says that it may give nothing: `@Nullable`, `-> str | None`."""
    function = file.enclosing_function(handler)
    body = function.child_by_field_name("body") if function is not None else None
    if function is None or body is None:
        return False
    return _NULLABLE.search(file.source, function.start_byte, body.start_byte) is not None


def look_at_suppress(call: Node, file: SourceFile) -> Iterator[Mark]:
    if file.callee(call) == "contextlib.suppress" and any(
        file.text(each) in ("Exception", "BaseException") for each in file.arguments(call)[0]
    ):
        yield file.mark(RULE.id, call, "`contextlib.suppress(Exception)` hides every error of its block")


def look_at_catch(call: Node, file: SourceFile) -> Iterator[Mark]:
    handlers = file.arguments(call)[0]
    if file.callee(call).endswith(".json().catch"):
        return  # a response without a readable body
    if _CLEANS_UP.search(file.callee(call)):
        return
    if keeps_its_error(call, file):
        return
    said = comment_above(file.statement_of(call), file)
    if explaining_words(said) > 1 and (says_it_may_fail(said)):
        return
    if only_tells(file.text(call).rpartition(".catch")[0] + ";"):
        return
    if len(handlers) == 1 and _is_empty(handlers[0], file) and not _is_asked_after(call, file):
        behind = _EXPECTS.search(file.source, call.end_byte, call.end_byte + LATER)
        data = _asserted(behind is not None or _ASSERTS.search(text_after(call, file)) is not None)
        # What it gives in place of the value may be an answer.
        is_followed = ".then(" in file.callee(call) or _WRITES.search(file.text(call)) is not None
        is_guess = _GIVES_NOTHING.search(file.text(handlers[0])) is not None or not is_followed
        confidence = "low" if is_guess else "medium"
        message = "`.catch` with an empty function hides a rejected promise"
        yield file.mark(RULE.id, call, message, confidence=confidence, data=data)


def _asserted(is_asserted: bool) -> dict[str, str]:
    return {"asserted": "1"} if is_asserted else {}


def _is_empty(handler: Node, file: SourceFile) -> bool:
    """Whether a function does nothing and says no more about it than one word."""
    text = file.text(handler)
    if explaining_words(text) > 1:
        return False
    return _EMPTY_FUNCTION.fullmatch(_COMMENT.sub("", text)) is not None


def _is_asked_after(call: Node, file: SourceFile) -> bool:
    """Whether what stands in for the value is asked for right away: `const info = await stat(p).catch(() => null)`."""
    bound = _BOUND.search(file.source, max(0, call.start_byte - 80), call.start_byte)
    if bound is None:
        return False
    name = re.escape(bound[1])
    after = file.source[call.end_byte : call.end_byte + 300]
    return (
        re.search(rb"\bif\s*\(\s*!?\s*" + name + rb"\b|\b" + name + rb"\s*(?:\?|===?|!==?|&&|\|\|)", after) is not None
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """In tests it is worth knowing, no more."""
    if place.kind is FileKind.TEST:
        if "asserted" in mark.data:
            return None  # what was rejected is not what the test asks for
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    return place.finding(mark)


def _says_no_after(handler: Node, file: SourceFile) -> bool:
    """Whether the function answers no right behind the `try`."""
    attempt = handler.parent
    return attempt is not None and _NO.match(file.source, attempt.end_byte) is not None


def _is_answer_behind(guarded: str, held: list[Node], handler: Node, file: SourceFile) -> bool:
    """Whether a text that cannot be read is answered as one that holds nothing: the same stands behind the `try`."""
    attempt = handler.parent
    answer = file.text(held[0]).rstrip(";") if held else ""
    behind = file.source[attempt.end_byte : attempt.end_byte + 80].decode("utf-8", "replace") if attempt else ""
    return "JSON.parse(" in guarded and behind.lstrip("} \n\t").startswith(answer)


def _has_another_way(guarded: str, handler: Node, file: SourceFile) -> bool:
    """Whether the function gives back what it tries for, and goes on with another way to it when that fails."""
    attempt = handler.parent
    if attempt is None or _GIVES.search(guarded) is None or _NO.match(file.source, attempt.end_byte):
        return False
    return bool(text_after(attempt, file).strip("} \n"))


def _has_default(guarded: str, handler: Node, file: SourceFile) -> bool:
    """Whether all that is tried is to give a variable its value, which has another one from the line before."""
    attempt, given = handler.parent, _GIVEN_IF.fullmatch(guarded)
    if attempt is None or given is None:
        return False
    before = file.source[max(0, attempt.start_byte - NEAR) : attempt.start_byte].decode("utf-8", "replace")
    return re.search(rf"\b{given[1]}\s*(?::[^=\n]+)?=(?!=)[^\n]*\n\s*\Z", before) is not None


def _gives_default(handler: Node, file: SourceFile) -> bool:
    """Whether all that comes after is to give back a parameter: the value that the caller wants then."""
    attempt, function = handler.parent, file.enclosing_function(handler)
    given = _GIVEN_BACK.fullmatch(text_after(attempt, file).strip("} \n")) if attempt is not None else None
    if given is None or function is None:
        return False
    return given[1] in {each.name for each in file.dialect.parameters(function, file)}


def _says_that_it_failed(guarded: str, handler: Node, file: SourceFile) -> bool:
    """Whether all that is tried is to set a flag that says no until then."""
    attempt = handler.parent
    before = file.source[max(0, attempt.start_byte - 80) : attempt.start_byte] if attempt is not None else b""
    flag = _FLAG_SET_BEFORE.search(before.decode("utf-8", "replace"))
    return flag is not None and re.fullmatch(rf"{flag[1]}\s*=[^\n]*", guarded) is not None


def _is_one_of_several_tries(handler: Node, file: SourceFile) -> bool:
    """Whether it stands in a loop that waits and tries again."""
    index = file.loop_of(handler)
    loop = file.text(file.loops[index].node) if index is not None else ""
    return _SLEEPS.search(loop) is not None or _UNTIL.match(loop) is not None


def _title(caught: str) -> str:
    return " ".join(caught.split()).rstrip(":{ ")


WATCHES = (
    Watch("handler", look_at_handler, (*PYTHON, *SCRIPT, *JAVA)),
    Watch("call", look_at_suppress, PYTHON, names=frozenset({"suppress"})),
    Watch("call", look_at_catch, SCRIPT, names=frozenset({"catch"})),
)
