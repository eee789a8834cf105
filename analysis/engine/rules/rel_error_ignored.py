"""An error result is dropped, overwritten or never read."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.go_failing import failing, of_this_file
from analysis.engine.readers.go_known_calls import ALONE, BESIDE, CLOSING, METHODS, RARELY_FAIL
from analysis.engine.readers.go_reasons import has_reason, lines_around
from analysis.engine.readers.go_results import (
    declared_to_fail,
    fails_unheard,
    function_names,
    functions_that_fail,
    is_in_failure,
    receiver_of,
)
from analysis.engine.readers.go_thrown_away import (
    answers_client,
    is_from_elsewhere,
    is_harmless,
    is_interrupt,
    is_plain,
    is_text_of_an_error,
    reads_what_callers_gave,
    written_answer,
)
from analysis.engine.readers.reading import followed, short, statements, text_after, text_before
from analysis.engine.rules.base import GO, Watch

RULE = Rule(
    id="rel-error-ignored",
    type="error_ignored",
    category=Category.RELIABILITY,
    title="Error ignored",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Check the error.",
    languages=GO,
    version=2,
)
GUIDE = Guide(
    why=(
        "Go has no exceptions: an error that is not looked at did not happen, and the program goes on with half a "
        "result."
    ),
    flagged=(
        {
            "shop/store.go": """
package shop

import "os"

func rotate() {
	os.Rename("log", "log.1")
}
"""
        },
    ),
    fine=(
        {
            "shop/store.go": """
package shop

import "os"

func rotate() error {
	return os.Rename("log", "log.1")
}
"""
        },
    ),
)

_CLEANS_UP = frozenset({"os.Remove", "os.RemoveAll"})
_TEMPORARY = re.compile(r"(?i)te?mp|scratch|\bcache|\bclean")
_CUSTOMARY = re.compile(r"(?:Close|Stop|Log|Print|Rollback|Unlock|Sync)")  # what nobody asks whether it worked
_FIELD_TYPE = re.compile(rb"[ \t]+\*?(?:\w+\.)?([A-Z]\w*)[ \t]*(?:`[^`\n]*`)?[ \t]*(?://[^\n]*)?(?:\n|\})")
NEAR = 300  # characters before a call
_OUTSIDE = ("os.", "io.", "ioutil.", "http.", "sql.", "exec.")  # where a shorthand leaves out what really happens
SHORTHAND = 2  # statements of a function that only leaves an error out
_WRITES = re.compile(r"\.(Commit|Encode|WriteFile|Copy|Write|WriteString|Sync|Rename|Close|Flush|Exec|ExecContext)$")
_MADE_NEXT = re.compile(
    r"\s*[^\n]*\b(?:Listen|Create|OpenFile|Mkdir\w*|Rename|Symlink|Link)\w*\("
)  # it may not be there
_CALL = re.compile(rb"(?:go\s+|defer\s+)?((?:[\w.]+\([^()\n]*\)\.|(?:\w+\.)*))(\w+)\(")
# Verbs of functions of the project that may fail; whether they do is looked up in the whole codebase.
_ACTS = re.compile(
    rb"(?:[sS]ave|[uU]pdate|[dD]elete|[cC]reate|[iI]nsert|[wW]rite|[sS]end|[pP]ublish|[sS]tore|[pP]ut|[rR]emove|[fF]lush"
    rb"|[lL]oad|[rR]un|[eE]xec|[iI]nit|[mM]igrate|[aA]pply|[sS]ync|[iI]ncrease|[dD]ecrease|[rR]efund|[cC]harge|[pP]ersist"
    rb"|[rR]efresh|[rR]ebuild|[sS]tart|[cC]ommit|[aA]dd|[rR]egister|[sS]chedule|[pP]rocess|[cC]leanup|[uU]pload"
    rb"|[nN]otify|[wW]arm|[pP]ay|[mM]ark|[cC]ancel|[rR]eserve|[tT]ransfer|[aA]rchive|[iI]mport|[eE]xport|[iI]ndex|[eE]nqueue"
    rb"|[sS]ubmit|[aA]pprove|[rR]eject|[sS]ettle|[sS]hip|[bB]ook|[aA]ssign|[rR]ecord|[pP]urge|[eE]xpire|[rR]elease|[vV]alidate)"
)
_STORES = re.compile(
    r"(?i)(?:save|store|insert|update|create|delete|write|publish|commit|persist|charge|refund|pay(?!load)|import|add|send|put"
    r"|enqueue|submit|transfer|apply|migrate|upload|archive|cancel|reserve|approve|book|settle|assign)"
)
_LAST_NAMES = frozenset(name.rpartition(".")[2].encode() for name in (*ALONE, *BESIDE, *METHODS, *CLOSING))
_BUILT_IN = frozenset({"delete", "append", "copy", "close", "panic", "print", "println", "clear"})
# What is said of a call that nobody takes has to speak of its error.
_SAID_OF_ERROR = re.compile(
    rb"(?i)nolint:\s*[\w,]*err[^\n]*//\s*\w|best[- ]effort|ignor|(?:error|failure)s? (?:is|are|does|do|can)"
)
_DROPS_OR_BINDS = re.compile(rb"(?:\w+,\s*)*_\s*:?=|(?:[\w.]+,\s*)*err\s*:?=")
_DROPPED = re.compile(rb"((?:\w+,\s*)*)_\s*:?=(?!=)")
_ERROR_BOUND = re.compile(rb"(?:[\w.]+,\s*)*err\s*(:?)=(?!=)\s*")
_NEXT = re.compile(rb"\s*(?:[\w.]+,\s*)*err\s*:?=(?!=)\s*([^\n]*)")
_OWN_ERROR = re.compile(r"\berr\s*:=|\bvar\s+err\b|\berr\s+error\b")
_LITERAL = re.compile(
    r"url\.Parse\((?:[\w.]*[A-Z][\w.]*\s*\+\s*)?\"[^\"%]*\"\)"
    r"|(?:time\.(?:Parse(?:Duration|InLocation)?|LoadLocation)|regexp\.Compile|uuid\.Parse|hex\.DecodeString|strconv\.\w+)"
    r"\((?:time\.[A-Z]\w*,\s*)?[\"`][^\"`\n]*[\"`](?:,\s*(?:[\"`][^\"`\n]*[\"`]|\d+|time\.UTC))*\)"
)
_FAILS_NEXT = re.compile(r"\s*(?:[\w.]*[lL]og\w*\.[^\n]*\n\s*)?return\b[^\n]*\b(?:Errorf|errors\.New|[eE]rr\w*)\b")
_REPEATED = re.compile(rb"\bwait\.(?:Until|UntilWithContext|Forever|JitterUntil)\(func\([^)]*\)\s*\{[^{}]*\Z")
# `conn.Flush()`, and right after: `if err := conn.LastError(); err != nil`.
_ASKED_LAST = re.compile(r"\s*(?:if\s+)?\w*[eE]rr\s*:?=\s*[\w.]+\.(?:LastError|Err|Error)\(\)")
_SAYS_USAGE = re.compile(r"(?:^|\.)(?:[uU]sage|[pP]rint(?=[A-Z]|$))\w*$")
# Whoever runs a command sees the file that it left, and runs it again.
_OF_COMMANDS = re.compile(r"(?:^|/)(?:cli|cmd|commands?)/")
_OF_TEST_TOOLS = re.compile(r"(?:^|/)(?:\w*test_?(?:utils?|helpers?|data)|mocks?|fakes?)/")
_PACKAGE = re.compile(r"/[^/.]+(?=\.\w+$)")  # the folder of an imported function
_CHECKED_ZERO = r"\b{name}\s*(?:!=\s*0\b|<=?\s*[01]\b|==\s*0\b|>\s*0\b|[!=]=\s*(?:nil\b|\"\"))|\blen\({name}\)"


def look_at_statement(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """A call whose results nobody takes, also one started by `go` or `defer`."""
    if file.mentions(b'"testing"') or not _may_fail(statement, file):
        return  # what helps tests fails with them
    call = statement.named_children[0]
    if call.type != "call_expression":
        return
    is_last = statement.type == "defer_statement"
    name = failing(call, file) or ("" if is_last else _of_an_interface(call, file))
    # Who starts something beside hears nothing of it, whatever its name.
    if not (name or _is_of_project(call, file, is_started=statement.type == "go_statement")):
        return
    if is_in_failure(statement, file) or _is_meant(statement, call, name, file):
        return
    if name:
        yield from _dropped(statement, call, name, file)
    else:
        yield _asked(call, file)


def _may_fail(statement: Node, file: SourceFile) -> bool:
    """A cheap question before the call is looked at: whether its name says that it acts, or is known to fail."""
    found = _CALL.match(file.source, statement.start_byte)
    if found is None:
        return False
    if not found[1] or statement.type == "go_statement" or (found[1].count(b".") > 1 and found[2][:1].isupper()):
        return True
    return bool(found[2] in _LAST_NAMES or _ACTS.match(found[2]) or found[2].decode() in function_names(file))


def _is_meant(statement: Node, call: Node, name: str, file: SourceFile) -> bool:
    """Whether a comment speaks of the error, the call is run again when it ends, or its error is asked for next."""
    if has_reason(statement, file) and _SAID_OF_ERROR.search(lines_around(statement, file)):
        return True
    if _REPEATED.search(file.source, max(0, statement.start_byte - NEAR), statement.start_byte):
        return True
    return name.endswith(".Flush") and _ASKED_LAST.match(text_after(call, file)) is not None


def _dropped(statement: Node, call: Node, name: str, file: SourceFile) -> Iterator[Mark]:
    is_last = statement.type == "defer_statement"
    cleans_up = name in _CLEANS_UP
    if cleans_up:
        line = file.source[statement.start_byte :].partition(b"\n")[0].decode("utf-8", "replace")
        if is_last or _is_deferred(call, file) or _TEMPORARY.search(line):
            return  # which does no harm, mostly
    is_guess = cleans_up or answers_client(call, name, file)
    confidence = "low" if is_guess else "medium" if is_last and name.endswith(".Close") else ""
    data = {"form": "removed"} if cleans_up and not _MADE_NEXT.match(text_after(call, file)) else {}
    data |= written_answer(statement, call, name, file)
    yield _mark(call, name, f"The error of `{name}` is dropped", file, confidence, data)


def _is_deferred(call: Node, file: SourceFile) -> bool:
    """Whether the call stands in a function that is deferred where it is written."""
    function = file.enclosing_function(call)
    start = function.start_byte if function is not None else 0
    return file.source[max(0, start - 10) : start].endswith(b"defer ")


def look_at_assignment(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """`_ = f()`, `n, _ := f()`, and an `err` that is overwritten or that nobody reads."""
    start = statement.start_byte
    dropped = _DROPPED.match(file.source, start)
    if dropped is not None:
        right = statement.child_by_field_name("right")
        call = right.named_children[0] if right is not None and right.named_child_count == 1 else None
        if call is None or call.type != "call_expression" or has_reason(statement, file):
            return
        kept = [each.decode().strip() for each in dropped[1].split(b",")][:-1]
        kept = [] if set(kept) == {"_"} else kept
        if kept or not is_in_failure(statement, file):
            yield from _thrown_away(call, kept, file)
    elif (bound := _ERROR_BOUND.match(file.source, start)) is not None:
        overwritten = _NEXT.match(file.source, statement.end_byte)
        if overwritten is not None and not re.search(rb"\berr\b", overwritten[1]):
            message = f"The `err` of `{short(file.text(statement))}` is overwritten before anybody reads it"
            yield file.mark(RULE.id, statement, message)
        elif not bound[1] and _is_never_read(statement, file):
            yield file.mark(RULE.id, statement, f"Nobody reads the `err` of `{short(file.text(statement))}`")


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Calls of functions of other files: dropped only when all that the name can mean return an error."""
    if _OF_TEST_TOOLS.search(place.path):
        return None
    if mark.confidence == "low" and "call" not in mark.data and mark.data.get("form") not in ("removed", "sent"):
        return None  # it fails rarely, or harms nobody when it does
    if place.kind is FileKind.SCRIPT:  # an example, a tool: nobody's data hang on it
        is_told = "call" not in mark.data and mark.data.get("form") != "answer"
        return place.finding(mark, severity=Severity.WARNING, confidence=Confidence.LOW) if is_told else None
    if "call" not in mark.data:
        if "last" in mark.data:  # nobody is left who could do anything about it
            return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
        if place.facts.package == "main" and mark.severity:  # a tool, whose user tries again
            return place.finding(mark, severity=Severity.WARNING) if mark.severity == "critical" else None
        is_small = mark.severity == "critical" and _OF_COMMANDS.search(place.path) is not None
        return place.finding(mark, severity=Severity.WARNING) if is_small else place.finding(mark)
    meant = place.meant_by(mark.data["call"])
    package = _PACKAGE.search(mark.data["call"])
    functions = [
        codebase.files[each.path].functions[each.position]
        for each in meant
        if package is None or f"/{each.path}".rpartition("/")[0].endswith(package[0])
    ]
    fails = [fails_unheard(each.flags) for each in functions if each.owner == mark.data["owner"]]
    if not fails or not all(fails):
        return None
    if "dropped" in mark.data:
        if not _STORES.match(mark.data["call"].rpartition(".")[2]):
            return None  # somebody chose to, and kept the reason
        if not place.in_request_path:
            return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
        return place.finding(mark, confidence=Confidence.MEDIUM)  # whoever asked for it is told that it worked
    return place.finding(mark, confidence=Confidence.HIGH if len(fails) == 1 else Confidence.MEDIUM)


def _thrown_away(call: Node, kept: list[str], file: SourceFile) -> Iterator[Mark]:
    name = failing(call, file, beside=bool(kept))
    if not name:
        if not kept and _is_of_project(call, file):
            yield _asked(call, file, dropped="1")
        return
    if _cannot_fail(call, name, file) or _is_known(call, name, kept, file):
        return
    message = f"The error of `{name}` is thrown away, and no comment says why"
    if is_harmless(call, name, file):
        data = {"form": "sent" if name in RARELY_FAIL and is_from_elsewhere(call, file) else "chosen"}
        yield file.mark(RULE.id, call, message, severity="info", confidence="low", data=data)
        return
    is_own = not kept and of_this_file(file.callee(call), call, file) in functions_that_fail(file)
    yield _mark(call, name, message, file, "low" if is_own or name in _CLEANS_UP else "medium")


def _cannot_fail(call: Node, name: str, file: SourceFile) -> bool:
    """Whether what is given was tried when it was written, is plain data, or is the text of another error."""
    if _LITERAL.fullmatch(file.text(call)):
        return True
    if name == "io.ReadAll" and is_text_of_an_error(call, file):
        return True
    return name.startswith("json.Marshal") and is_plain(call, file)


def _is_known(call: Node, name: str, kept: list[str], file: SourceFile) -> bool:
    """Whether the value tells of the failure, or something else does, or it is left on the way out."""
    if kept and _is_checked_by_value(call, kept[0], file):
        return True
    if kept and not name.startswith(_OUTSIDE) and _is_shorthand(call, file):
        return not reads_what_callers_gave(call, file)
    if name in _CLEANS_UP and (_TEMPORARY.search(file.text(call)) or _is_deferred(call, file)):
        return True
    if not kept and _FAILS_NEXT.match(text_after(call, file)):
        return True  # cleaning up on the way out with another error
    if name.endswith(".Shutdown") and (is_interrupt(call, file) or _is_deferred(call, file)):
        return True
    # It may be there, and who writes into it will tell.
    return name == "os.Mkdir" or _SAYS_USAGE.search(file.functions[file.function_of(call)].name) is not None


def _is_of_project(call: Node, file: SourceFile, *, is_started: bool = False) -> bool:
    """Whether the callee may be a function of another file of the project whose name says that it acts, or that is
    started beside: of the same package, of an imported one that is not Go's own, or another method of the receiver."""
    callee = file.callee(call)
    head, _, name = callee.rpartition(".")
    receiver = receiver_of(call, file)[0]
    is_of_a_field = bool(receiver) and head.startswith(f"{receiver}.")
    if is_of_a_field and _CUSTOMARY.match(name):
        return False
    if callee in _BUILT_IN or callee in functions_that_fail(file) or "(" in head:
        return False
    if not (is_of_a_field or is_started or _ACTS.match(name.encode())):
        return False
    return not head or "." in head.partition("/")[0] or head == receiver


def _is_checked_by_value(call: Node, name: str, file: SourceFile) -> bool:
    """Whether the value is compared with its zero right after, which stands for the failure there."""
    return bool(re.search(_CHECKED_ZERO.format(name=re.escape(name)), text_after(call, file)[:300]))


def _is_shorthand(call: Node, file: SourceFile) -> bool:
    """Whether the function is a shorthand for the call that leaves the error out by design."""
    function = file.enclosing_function(call)
    return function is not None and len(statements(function.child_by_field_name("body"))) <= SHORTHAND


def _is_never_read(statement: Node, file: SourceFile) -> bool:
    """Whether nothing after the statement reads the `err` that its own function has declared."""
    function = file.enclosing_function(statement)
    if function is None or function.type == "func_literal" or file.in_loop(statement):
        return False
    if re.search(rb"\.(?:Write|WriteString|Encode)\(", file.source[statement.start_byte : statement.end_byte]):
        return False  # mostly to a client that may be gone
    if re.search(r"\berr\b", text_after(statement, file)):
        return False
    result = function.child_by_field_name("result")
    if result is not None and re.search(r"\berr\b", file.text(result)):
        return False
    return bool(_OWN_ERROR.search(text_before(statement, file)))


def _mark(
    call: Node, name: str, message: str, file: SourceFile, confidence: str = "", data: dict[str, str] | None = None
) -> Mark:
    is_critical = bool(_WRITES.search(name))
    mild = "info" if confidence == "low" else ""  # what may be meant is worth knowing
    return file.mark(
        RULE.id,
        call,
        message,
        severity="critical" if is_critical and not mild else mild,
        confidence=confidence,
        suggestion=f"Check the error; a failed `{name}` looks like success here." if is_critical else "",
        data=data,
    )


def _asked(call: Node, file: SourceFile, **data: str) -> Mark:
    callee = file.callee(call)
    name = callee.rpartition("/")[2]
    how = "thrown away, and no comment says why" if data else "dropped"
    head, _, last = callee.rpartition(".")
    receiver, owner = receiver_of(call, file)
    meant = {"call": last, "owner": owner} if head and head == receiver else {"call": callee, "owner": ""}
    if receiver and re.fullmatch(rf"{receiver}(?:\.\w+)+", head):
        meant["owner"] = _type_of_field(head.rpartition(".")[2], file)
    return file.mark(RULE.id, call, f"The error of `{name}` is {how}", data={**meant, **data})


def _of_an_interface(call: Node, file: SourceFile) -> str:
    """The callee when it is a field of the receiver whose interface the file declares, with a method that may fail."""
    callee = file.callee(call)
    head, _, method = callee.rpartition(".")
    receiver, _, field = head.partition(".")
    if not field.isidentifier() or _CUSTOMARY.match(method) or receiver != receiver_of(call, file)[0]:
        return ""
    return callee if f"{_type_of_field(field, file)}.{method}" in declared_to_fail(file) else ""


def _type_of_field(name: str, file: SourceFile) -> str:
    """The type of a field as a struct of the file declares it, without its package; `?` when none does."""
    declared = followed(name.encode(), file.source, _FIELD_TYPE, b"_.")
    return next((each[1].decode() for each in declared), "?")


WATCHES = (
    Watch("expression_statement", look_at_statement, GO, starts=_CALL),
    Watch("go", look_at_statement, GO),
    Watch("defer", look_at_statement, GO),
    Watch("assignment_statement", look_at_assignment, GO, starts=_DROPS_OR_BINDS),
    Watch("short_var_declaration", look_at_assignment, GO, starts=_DROPS_OR_BINDS),
)
