"""A handler throws a new exception and forgets the one that it caught."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts, Mark
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.go_results import is_in_failure
from analysis.engine.readers.handlers import guarded_text
from analysis.engine.readers.reading import DEFINITIONS, followed, function_text, text_before, within
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="rel-cause-lost",
    type="cause_lost",
    category=Category.RELIABILITY,
    title="Cause of an exception lost",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Chain it: `raise OrderError(...) from exc` / `new OrderException(msg, e)` / `%w`.",
    version=2,
)
GUIDE = Guide(
    why="The new exception says that something failed, the old one said what; without it nobody finds out.",
    flagged=(
        {
            "src/Store.java": """
class Store {
    void save(Order order) {
        try {
            write(order);
        } catch (java.io.IOException problem) {
            throw new IllegalStateException("cannot save");
        }
    }
}
"""
        },
    ),
    fine=(
        {
            "src/Store.java": """
class Store {
    void save(Order order) {
        try {
            write(order);
        } catch (java.io.IOException problem) {
            throw new IllegalStateException("cannot save", problem);
        }
    }
}
"""
        },
    ),
)

_STOP = DEFINITIONS | {"except_clause", "catch_clause"}  # a nested handler has a cause of its own
_BOUNDARY = re.compile(  # errors that are answers to a client
    r"(Http\w*|HTTP\w*|APIException|GraphQLError|ValidationError|PermissionDenied|NotFound|BadRequest\w*|Unauthorized\w*"
    r"|Forbidden\w*|Conflict\w*|UsageError|BadParameter|ArgumentTypeError|CommandError|ClickException|TRPCError"
    r"|ResponseStatusException|WebApplicationException|StatusException|StopIteration|SystemExit|AttributeError|KeyError)$"
)
_TELLS_ALL = re.compile(r"NumberFormatException|DateTimeParseException|NoSuchElementException")  # the type says it all
_CAUGHT_ONLY = r"except\s*\(?\s*(?:(?:[\w.]*\.)?(?:{0})[\s,]*)+\)?\s*(?:as\s+\w+\s*)?:"
_LOOKED_UP = re.compile(_CAUGHT_ONLY.format(r"KeyError|IndexError|LookupError|StopIteration|\w*DoesNotExist"))
_CONVERTED = re.compile(_CAUGHT_ONLY.format("ValueError|TypeError|InvalidOperation|ArithmeticError"))
_CONVERTS = re.compile(
    r"(?:[\w.]+\s*=\s*|return\s+)?(?:int|float|Decimal|UUID|uuid\.UUID|[\w.]*(?:strptime|fromisoformat))\("
)
_OF_ENUM = re.compile(r"[^;]*\.(?:valueOf|fromString)\([^;]*\);")
_VALIDATES = re.compile(
    r"(?:(?:const|let)\s+\w+\s*=\s*|return\s+)?(?:new (?:URL|RegExp|Date)|JSON\.parse)\([^;\n]*\);?"
)
_LOGGED = re.compile(r"\.exception\(|exc_info\s*=|print_exc|\.(error|warn|warning)\([^;\n]*,\s*\w+\s*\)")
_MESSAGE_ONLY = (
    r"\b{0}\s*[?!]?\.(getMessage|getLocalizedMessage|toString|message|name|getClass)\b|[+]\s*{0}\b|\$\{{{0}\}}"
    r"|\(\s*{0}\s+as\s+[\w.<>]+\s*\)\s*[?!]?\.(?:message|name|toString)\b|\b{0}\s+instanceof\s+\w+"
    r"|\b(?:\w*[mM]essage\w*|\w*[tT]oString|String|(?:JSON\.)?stringify|(?:util\.)?inspect)\(\s*{0}\s*[,)]"
)
_PYTHON_NAME = re.compile(rb"\bas\s+(\w+)\s*:")
_THROW = re.compile(rb"\bthrow\b")
_ERROR = re.compile(rb"\berr(?!or)\w*\b")
_READ = re.compile(rb"\berr\w*\s*:?=\s*[\w.]*(?:Parse\w*|Atoi|Decode\w*|Split\w*)\(([^\n]*?)\)[^\n]*(?:\n\s*|;)\Z")
_BOUND = re.compile(r"(?:,\s*[\w.]+)*\s*:?=(?!=)")
NEAR = 200  # bytes before a branch
MANY = 50  # errors of a project whose texts alone are kept
_MAKES_AN_ERROR = frozenset({"errors.New", "fmt.Errorf"})
_ASKS_WHICH = re.compile(rb"if\b[^{\n]*\b(?:errors\.(?:Is|As)|os\.Is\w+|[\w.]*Is\w*(?:Err|NotFound|Exist)\w*)\(")
_ASKS_WHETHER_IT_IS = re.compile(rb"(?<![!\w.])(?:errors\.(?:Is|As)|os\.Is\w+|[\w.]*Is\w*(?:Err|NotFound|Exist)\w*)\(")
_IS_THAT_ONE = re.compile(rb"if\s+errors\.(?:Is|As)\((?:[^{\n|&]|&\w|\{\})*\)\s*\{")
_KEPT = re.compile(r"if\s+(\w+(?:\.\w+)+)\s*!=\s*nil\s*\Z")
_TOLD = re.compile(rb"(?i:log\w*|slog)(?:\(\))?\.\w[^\n]*\berr\b[^\n]*\n")
_STATUS_FIRST = re.compile(r"\w+\(\s*(?:[45]\d\d|(?:\w+\.)*HTTP_[45]\d\d\w*)\s*,")
_WITH_STATUS = re.compile(
    r",\s*(?:\w+\s*=\s*)?(?:[45]\d\d|(?:\w+\.)*HTTP_[45]\d\d\w*)\s*,?\s*\)\Z"
)  # an answer of a server
_SAYS_WHAT_IS_RIGHT = re.compile(r"(?i)\b(?:must|should|has to|needs to|expected|allowed|only)\b")
_RAISE = re.compile(rb"\braise\s+\w")


class Lost(NamedTuple):
    """How little is lost with a cause: the error is an answer to a client, the cause was logged or asked before, or
    the new text says all of it."""

    is_answer: bool = False
    is_logged: bool = False
    says_all: bool = False


def look_at_except(handler: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: `raise X(...)` without `from`."""
    if _RAISE.search(file.source, handler.start_byte, handler.end_byte) is None:
        return
    body = handler.named_children[-1]
    named = _PYTHON_NAME.search(file.source, handler.start_byte, body.start_byte + 1)
    caught = named[1].decode("utf-8", "replace") if named is not None else ""
    for node in within(body, _STOP):
        if (
            node.type != "raise_statement"
            or not node.named_child_count
            or node.child_by_field_name("cause") is not None
        ):
            continue
        if _is_caught_again(node, body):
            continue
        raised = node.named_children[0]
        if raised.type == "call":
            passed = raised.child_by_field_name("arguments")
            if passed is not None and caught and _is_passed(caught, passed, file):
                continue
            name = file.callee(raised)
        else:
            name = _made_here(raised, caught, body, file) or file.text(raised)
        short_name = name.rpartition(".")[2]
        if short_name[:1].isupper():
            is_answer = bool(_BOUNDARY.search(short_name) or _has_status(file.text(raised)))
            is_logged = bool(_LOGGED.search(file.text(body)))
            lost = Lost(is_answer, is_logged, _says_all(raised, handler, file))
            yield from _marked(node, short_name, "from", lost, file)


def _says_all(raised: Node, handler: Node, file: SourceFile) -> bool:
    """Whether one statement was tried whose failing is all that there is to say, and a text of its own says it."""
    tried = handler.parent.child_by_field_name("body") if handler.parent is not None else None
    if tried is None or tried.named_child_count != 1 or not any(quote in file.text(raised) for quote in ('"', "'")):
        return False
    caught_as = file.source[handler.start_byte : handler.named_children[-1].start_byte].decode("utf-8", "replace")
    is_converted = _CONVERTED.match(caught_as) is not None and _CONVERTS.match(file.text(tried)) is not None
    return is_converted or _LOOKED_UP.match(caught_as) is not None


def _has_status(raised: str) -> bool:
    """Whether an error is made with a status of HTTP, first or last: `ApiError("no such type", 400)`."""
    return _WITH_STATUS.search(raised) is not None or _STATUS_FIRST.search(raised) is not None


def _is_caught_again(statement: Node, body: Node) -> bool:
    """Whether a `try` within the handler may take what is raised, and has the last word on its cause."""
    below, above = statement, statement.parent
    while above is not None and above.id != body.id:
        tried = above.child_by_field_name("body") if above.type == "try_statement" else None
        if tried is not None and tried.id == below.id:
            return any(each.type == "except_clause" for each in above.named_children)
        below, above = above, above.parent
    return False


def look_at_catch(handler: Node, file: SourceFile) -> Iterator[Mark]:
    """Script and Java: `throw new X(...)` without the caught object."""
    if _THROW.search(file.source, handler.start_byte, handler.end_byte) is None:
        return
    caught, body = _caught(handler, file), handler.child_by_field_name("body")
    if body is None:
        return
    text, caught_as = file.text(body), file.source[handler.start_byte : body.start_byte].decode("utf-8", "replace")
    if re.search(r"initCause|addSuppressed|\bcause\s*[:=,}]", text):
        return
    for node in within(body, _STOP):
        if node.type != "throw_statement" or not node.named_child_count:
            continue
        thrown = node.named_children[0]
        if thrown.type == "identifier" and (made := _made_here(thrown, caught, body, file)):
            yield from _marked(node, made, "cause", Lost(is_answer=bool(_BOUNDARY.search(made))), file)
        if thrown.type not in ("new_expression", "object_creation_expression"):
            continue
        arguments = thrown.child_by_field_name("arguments")
        if caught and arguments is not None and _is_whole(caught, file.text(arguments)):
            continue
        written = thrown.child_by_field_name("constructor")  # of script, where a default import stands for its file
        name = (file.text(written) if written is not None else file.callee(thrown)).rpartition(".")[2]
        if (
            arguments is not None
            and not arguments.named_child_count
            and re.search(rf"\b{re.escape(name)}\b", caught_as)
        ):
            continue  # the same again
        is_logged = bool(caught) and _is_answered(caught, node, body, file)
        says_all = _tells_all(caught_as, handler, file) or _only_validates(handler, file)
        yield from _marked(node, name, "cause", Lost(bool(_BOUNDARY.search(name)), is_logged, says_all), file)


def _is_text(name: str, file: SourceFile) -> bool:
    """Whether the file gives a text to a name that is like one of an error: `const baseErr = "not stored"`."""
    return re.search(rb"\b" + re.escape(name.encode()) + rb"(?:\s+string)?\s*:?=\s*[\"`]", file.source) is not None


def look_at_errorf(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Go: an error put into another one as text."""
    if file.callee(call) != "fmt.Errorf" or "recover()" in function_text(call, file):
        return
    given, _ = file.arguments(call)
    if len(given) < 2 or given[0].type not in ("interpreted_string_literal", "raw_string_literal"):
        return
    verbs = re.findall(r"%[-+# 0]*[\d.]*([a-zA-Z%])", file.text(given[0]))
    verbs = [verb for verb in verbs if verb != "%"]
    if "w" in verbs:
        return
    for verb, value in zip(verbs, given[1:], strict=False):
        text = file.text(value)
        if _is_told_and_meant(call, file):
            return
        if verb in "vsq" and re.fullmatch(r"(err|\w+Err)(\.Error\(\))?", text) and not _is_text(text, file):
            yield file.mark(
                RULE.id,
                call,
                f"`%{verb}` keeps only the text of `{text}`; `errors.Is` will not find it any more",
                confidence="low" if _is_known(call, file) else "",
                data={"form": "text"},
                suggestion=f"Wrap it with `%w`: `fmt.Errorf(..., {text.removesuffix('.Error()')})`.",
            )
            return


def _is_told_and_meant(call: Node, file: SourceFile) -> bool:
    """Whether the branch has asked which error it is and the log has it, or it is that one: it becomes another on
    purpose."""
    if not _is_known(call, file):
        return False
    scope = file.scope_of(call)
    before = file.source[scope.node.start_byte : call.start_byte]
    return _TOLD.search(before) is not None or _IS_THAT_ONE.match(before) is not None


def _is_known(call: Node, file: SourceFile) -> bool:
    """Whether the branch has asked which error it is: that it becomes another one may be meant."""
    scope = file.scope_of(call)
    return scope.kind == "if" and _ASKS_WHICH.match(file.source, scope.node.start_byte) is not None


def look_at_new(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Go: `if err != nil { return errors.New("...") }`, where nothing in the branch speaks of `err`, or its text alone
    is kept."""
    statement = file.statement_of(call)
    callee = file.callee(call)
    if callee not in _MAKES_AN_ERROR or statement.type != "return_statement" or not is_in_failure(statement, file):
        return
    block = statement.parent.parent if statement.parent is not None else None
    said = file.source[block.start_byte : block.end_byte] if block is not None else b""
    fix = "Wrap it with `%w`: `fmt.Errorf(..., err)`."
    if callee == "errors.New" and b"err.Error()" in said and len(_ERROR.findall(said)) == 1:
        message = "`errors.New` keeps only the text of `err`: `errors.Is` will not find it any more"
        yield file.mark(RULE.id, call, message, suggestion=fix)
        return
    if _ERROR.search(said) or b"//" in said or b"%w" in said:
        return
    message = f"`{callee}` drops the `err` of this branch: nobody will learn what really failed"
    start = block.parent.start_byte if block is not None and block.parent is not None else call.start_byte
    asked = file.source[start : call.start_byte].partition(b"{")[0]
    if _ASKS_WHETHER_IT_IS.search(asked):
        return  # which error it is stands there
    if b"||" in asked or _was_kept(asked.decode("utf-8", "replace"), call, file):
        return  # with another condition beside it there may be no error to wrap
    if not _SAYS_WHAT_IS_RIGHT.search(file.text(call)):
        # That a text cannot be read is all there is to say, mostly.
        read = _READ.search(file.source, max(0, start - NEAR), start)
        if read is not None and _names_what_was_read(call, read, file):
            return
        yield file.mark(RULE.id, call, message, suggestion=fix, confidence="medium" if read is None else "low")


def _was_kept(asked: str, call: Node, file: SourceFile) -> bool:
    """Whether the branch asks for an error that a field keeps from an earlier call, which has given it then."""
    kept = _KEPT.match(asked)
    return kept is not None and next(followed(kept[1], text_before(call, file), _BOUND, "_."), None) is None


def _names_what_was_read(call: Node, read: re.Match[bytes], file: SourceFile) -> bool:
    """Whether the new error says which text could not be read: no more is to be known of a number or a level."""
    shown = {file.text(each) for each in file.arguments(call)[0][1:]}
    return any(each.strip().decode("utf-8", "replace") in shown for each in read[1].split(b","))


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Where a project keeps the texts of so many errors it has chosen to, and one decision would change them all."""
    if mark.data.get("form") == "text" and sum(codebase.summaries(_texts_of_errors).values()) > MANY:
        return place.finding(mark, severity=Severity.INFO)
    return place.finding(mark)


def _texts_of_errors(facts: FileFacts) -> int:
    return sum(mark.rule == RULE.id and mark.data.get("form") == "text" for mark in facts.marks)


def _made_here(raised: Node, caught: str, body: Node, file: SourceFile) -> str:
    """The class of an exception that the handler makes without the caught one, and raises by its variable."""
    if raised.type != "identifier":
        return ""
    text, name = file.text(body), re.escape(file.text(raised))
    made = re.search(rf"\b{name}\s*=\s*(?:new\s+)?([\w.]*[A-Z]\w*)\(([^\n]*)\)", text)
    if made is None or re.search(rf"\b{name}\.(?:__cause__|cause)\s*=|\.with_traceback\(", text):
        return ""
    return "" if caught and _is_whole(caught, made[2]) else made[1].rpartition(".")[2]


def _is_passed(caught: str, arguments: Node, file: SourceFile) -> bool:
    """Whether the caught object is an argument itself, also inside a list or as a keyword."""
    plain = (each.child_by_field_name("value") or each for each in arguments.named_children)
    return any(re.fullmatch(rf"[\[(]?\s*\*?{caught}\s*,?[\])]?", file.text(each)) for each in plain)


def _caught(handler: Node, file: SourceFile) -> str:
    parameter = handler.child_by_field_name("parameter")
    if parameter is not None:
        return file.text(parameter) if parameter.type == "identifier" else ""
    formal = next((each for each in handler.named_children if each.type == "catch_formal_parameter"), None)
    name = formal.child_by_field_name("name") if formal is not None else None
    return file.text(name) if name is not None else ""


def _is_whole(caught: str, arguments: str) -> bool:
    """Whether the object itself is in there, not its message alone."""
    rest = re.sub(_MESSAGE_ONLY.format(re.escape(caught)), "", arguments)
    return bool(re.search(rf"(?<![\w.]){re.escape(caught)}\b", rest))


def _tells_all(caught_as: str, handler: Node, file: SourceFile) -> bool:
    """Whether the type says all that went wrong: a text that is no number, a name that is none of an enum."""
    if _TELLS_ALL.search(caught_as):
        return True
    return "IllegalArgumentException" in caught_as and _OF_ENUM.fullmatch(guarded_text(handler, file)) is not None


def _only_validates(handler: Node, file: SourceFile) -> bool:
    """Whether script tried one thing, to make a value of a text that may be no such thing: `new URL(text);`."""
    return _VALIDATES.fullmatch(guarded_text(handler, file)) is not None


def _is_answered(caught: str, thrown: Node, body: Node, file: SourceFile) -> bool:
    """Whether the handler logs the object before, or throws because of what it found out about it."""
    before = file.source[body.start_byte : thrown.start_byte].decode("utf-8", "replace")
    name = re.escape(caught)
    if re.search(rf"\b{name}\b[^;\n]*\.stack\b", before):
        return True
    return bool(
        re.search(
            rf"\w\((?:[^;]*[,({{])?\s*{name}\s*[,)}}]|\b{name}\s+instanceof|\b{name}\??\.(code|name|status)", before
        )
    )


def _marked(node: Node, name: str, link: str, lost: Lost, file: SourceFile) -> Iterator[Mark]:
    """An error whose text says all that there is to say loses hardly anything with its cause, and nothing when it is an
    answer to a client, who is shown that text alone."""
    if lost.is_answer and lost.says_all:
        return
    what = "without `from`" if link == "from" else "without the exception that was caught"
    severity = "info" if lost.is_answer or lost.is_logged or lost.says_all else ""
    confidence = "low" if lost.says_all else "medium" if lost.is_answer and lost.is_logged else ""
    yield file.mark(RULE.id, node, f"`{name}` is raised {what}", severity=severity, confidence=confidence)


WATCHES = (
    Watch("handler", look_at_except, PYTHON),
    Watch("handler", look_at_catch, (*SCRIPT, *JAVA)),
    Watch("call", look_at_errorf, GO, names=frozenset({"Errorf"})),
    Watch("call", look_at_new, GO, names=frozenset({"New", "Errorf"})),
)
