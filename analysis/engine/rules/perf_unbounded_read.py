"""A request body, an upload or a remote answer is read whole, however large it is."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.queries import runs_by_hand
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.reading import function_name, function_text

RULE = Rule(
    id="perf-unbounded-read",
    type="unbounded_read",
    category=Category.PERFORMANCE,
    title="Unbounded read",
    severity=Severity.WARNING,
    points=2,
    suggestion="Limit or stream the input.",
    confidence=Confidence.MEDIUM,
)
GUIDE = Guide(
    why="One request with a body of some gigabytes ends the process, and everybody else's requests with it.",
    flagged=(
        {
            "shop/take.go": """
package shop

import (
	"io"
	"net/http"
)

func take(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	store(data)
}
"""
        },
    ),
    fine=(
        {
            "shop/take.go": """
package shop

import (
	"io"
	"net/http"
)

func take(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	store(data)
}
"""
        },
    ),
)

_HELPERS = re.compile(r"(?i)(^|/)test(?:ing|[-_]?(?:helpers?|utils?|data|support))/")
_BODY = re.compile(r"\b\w+\.Body$")
_SENDS = re.compile(r"(?i)(?:^|\.)(?:sign|roundtrip)")  # a function that handles a request of its own
_LIMITED = re.compile(
    r"MaxBytesReader|LimitReader|LimitedReader|ContentLength|content_length|\.size\b|max_?size", re.IGNORECASE
)
_STREAM = re.compile(r"(?:^|\.)request\.(?:stream|body)\.read$|request\.FILES(?:\[\]|\.get\(\)|\(\))*\.read$")


def look_at_go(call: Node, file: SourceFile) -> Iterator[Mark]:
    positional = file.arguments(call)[0]
    if file.callee(call) not in ("io.ReadAll", "io/ioutil.ReadAll") or not positional:
        return
    if _SENDS.search(function_name(call, file)):
        return  # the body is its own
    if _BODY.search(file.text(positional[0])) and not _LIMITED.search(function_text(call, file)):
        message = f"`{file.text(positional[0])}` is read whole, however much the other side sends"
        yield file.mark(RULE.id, call, message, suggestion="Read through `http.MaxBytesReader` or `io.LimitReader`.")


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    if file.arguments(call)[0]:
        return
    callee = file.callee(call)
    name = callee.rpartition(".")[0]
    text = function_text(call, file)
    is_upload = name.isidentifier() and re.search(rf"\b{name}\s*:\s*(?:\w+\.)*UploadFile\b", text) is not None
    if (is_upload or _STREAM.search(callee)) and not _LIMITED.search(text):
        yield file.mark(
            RULE.id,
            call,
            f"`{callee}()` brings the whole upload into memory",
            suggestion="Read it in chunks and stop at a limit.",
        )


def look_at_script(call: Node, file: SourceFile) -> Iterator[Mark]:
    text = file.text(call)
    if file.callee(call) == "multer" and "limits" not in text and ("memoryStorage" in text or text.endswith("()")):
        message = "`multer` keeps uploads of any size in memory"
        yield file.mark(RULE.id, call, message, suggestion="Give it `limits: { fileSize }`.", data={"form": "setting"})


def look_at_java(call: Node, file: SourceFile) -> Iterator[Mark]:
    name = file.callee(call).rpartition(".")[0]
    text = function_text(call, file)
    if (
        name.isidentifier()
        and re.search(rf"\bMultipartFile\s+{name}\b", text)
        and not re.search(r"getSize\(|Limit", text)
    ):
        message = f"`{name}.getBytes()` brings the whole upload into memory"
        yield file.mark(RULE.id, call, message, suggestion="Stream it (`getInputStream`) and check its size first.")


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """What a request can send; a tool reads what its user gives it."""
    if place.kind is not FileKind.SOURCE or runs_by_hand(codebase, place.path) or _HELPERS.search(place.path):
        return None
    return place.finding(mark) if mark.data or place.in_request_path else None


WATCHES = (
    Watch("call", look_at_go, GO, names=frozenset({"ReadAll"})),
    Watch("call", look_at_python, PYTHON, names=frozenset({"read"})),
    Watch("call", look_at_script, SCRIPT, names=frozenset({"multer"})),
    Watch("call", look_at_java, JAVA, names=frozenset({"getBytes"})),
)
