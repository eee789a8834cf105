"""An error result is dropped, overwritten or never read."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.rules.base import GO, Watch
from analysis.engine.rules.go_results import failing_functions
from analysis.engine.rules.reading import function_text, short

RULE = Rule(
    id="rel-error-ignored",
    type="error_ignored",
    category=Category.RELIABILITY,
    title="Error ignored",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Check the error.",
    languages=GO,
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

_OS = "Mkdir MkdirAll Rename WriteFile Chmod Chown Chdir Truncate Symlink Link".split()
_FAILING = frozenset(
    {f"os.{name}" for name in _OS}
    | {"encoding/json.Unmarshal", "encoding/xml.Unmarshal", "encoding/binary.Write", "encoding/binary.Read", "io.Copy"}
    | {"io.WriteString", "net/http.ListenAndServe", "net/http.ListenAndServeTLS", "gopkg.in/yaml.v3.Unmarshal"}
)
_METHODS = {".Commit": 0, ".Encode": 1, ".Decode": 1, ".Sync": 0}  # to the number of arguments
_RECEIVERS = re.compile(
    r"(^|\.)(tx|txn|transaction|f|file|\w*[eE]nc(oder)?|\w*[dD]ec(oder)?|New(En|De)coder\(\))\.\w+$"
)
_WRITES = re.compile(r"\.(Commit|Encode|WriteFile|Copy|Write|WriteString|Sync|Rename)$")
_TO_NOWHERE = re.compile(r"\b(io|ioutil)\.Discard\b|\bos\.Std(out|err)\b")
# A writer into memory never fails: `buf := new(bytes.Buffer)`, `var text strings.Builder`.
_IN_MEMORY = re.compile(r"(\w+)\s*(?::?=|\s)\s*(?:new\(|&)?(?:bytes\.(?:New)?Buffer|strings\.Builder)")
_CALL = re.compile(rb"(?:go\s+|defer\s+)?((?:[\w.]+\([^()\n]*\)\.|(?:\w+\.)*))(\w+)\(")
_LAST_NAMES = frozenset(name.rpartition(".")[2].encode() for name in (*_FAILING, *_METHODS))
_REASONED = re.compile(rb"[^\n]*(//|/\*)\s*\w")
_LINTED = re.compile(rb"[^\n]*//\s*nolint:[\w,]*\berrcheck\b")
_DROPS_OR_BINDS = re.compile(rb"_ =|(?:[\w.]+,\s*)*err\s*:?=")
_ERROR_BOUND = re.compile(rb"(?:[\w.]+,\s*)*err\s*:?=\s*")
_NEXT = re.compile(rb"\s*(?:[\w.]+,\s*)*err\s*=(?!=)\s*([^\n]*)")


def look_at_statement(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """A call whose results nobody takes, also one started by `go` or `defer`."""
    found = _CALL.match(file.source, statement.start_byte)
    if found is None or (found[1] and found[2] not in _LAST_NAMES):
        return
    call = statement.named_children[0]
    if _LINTED.match(file.source, statement.end_byte):
        return
    if call.type == "call_expression" and (name := _failing(call, file)):
        yield _mark(call, name, f"The error of `{name}` is dropped", file)


def look_at_assignment(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """`_ = f()`, and an `err` that the next statement overwrites."""
    start = statement.start_byte
    if file.source.startswith(b"_ =", start):
        right = statement.child_by_field_name("right")
        call = right.named_children[0] if right is not None and right.named_child_count == 1 else None
        if call is None or call.type != "call_expression" or _has_reason(statement, file):
            return
        name = _failing(call, file)
        if name:
            yield _mark(call, name, f"The error of `{name}` is thrown away, and no comment says why", file, "medium")
    elif _ERROR_BOUND.match(file.source, start):
        overwritten = _NEXT.match(file.source, statement.end_byte)
        if overwritten is not None and not re.search(rb"\berr\b", overwritten[1]):
            yield file.mark(
                RULE.id,
                statement,
                f"The `err` of `{short(file.text(statement))}` is overwritten before anybody reads it",
            )


def _failing(call: Node, file: SourceFile) -> str:
    """The callee when it is known to return an error; empty otherwise."""
    callee = file.callee(call)
    if "." not in callee:
        is_failing = callee in failing_functions(file)
    elif callee in _FAILING:
        is_failing = True
    else:
        arguments = _METHODS.get("." + callee.rpartition(".")[2])
        is_failing = (
            arguments is not None
            and _RECEIVERS.search(callee) is not None
            and len(file.arguments(call)[0]) == arguments
        )
    return callee.rpartition("/")[2] if is_failing and not _cannot_fail(call, file) else ""


def _cannot_fail(call: Node, file: SourceFile) -> bool:
    """Whether what is written goes into memory or nowhere."""
    if _TO_NOWHERE.search(file.text(call)):
        return True
    first = next((file.text(argument).lstrip("&") for argument in file.arguments(call)[0]), "")
    return any(found[1] == first for found in _IN_MEMORY.finditer(function_text(call, file)))


def _mark(call: Node, name: str, message: str, file: SourceFile, confidence: str = "") -> Mark:
    is_critical = bool(_WRITES.search(name))
    return file.mark(
        RULE.id,
        call,
        message,
        severity="critical" if is_critical else "",
        confidence=confidence,
        suggestion=f"Check the error; a failed `{name}` looks like success here." if is_critical else "",
    )


def _has_reason(statement: Node, file: SourceFile) -> bool:
    return _REASONED.match(file.source, statement.end_byte) is not None


WATCHES = (
    Watch("expression_statement", look_at_statement, GO, starts=_CALL),
    Watch("go", look_at_statement, GO),
    Watch("defer", look_at_statement, GO),
    Watch("assignment_statement", look_at_assignment, GO, starts=_DROPS_OR_BINDS),
    Watch("short_var_declaration", look_at_assignment, GO, starts=_DROPS_OR_BINDS),
)
