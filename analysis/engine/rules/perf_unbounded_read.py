"""A request body, an upload or a remote answer is read whole, however large it is."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts, Mark
from analysis.engine.graph.manifest import manifest_of
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.readers.asked_answers import (
    LIMITED,
    PYTHON_CALLS,
    SCRIPT_CALLS,
    answers_of_python,
    answers_of_script,
    is_client_of_others,
)
from analysis.engine.readers.held_clients import by_client
from analysis.engine.readers.reading import assigned_values, followed, function_name, function_text, text_before
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch

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
_BODY = re.compile(r"(?:\b\w+|\.Request\(\))\.Body$")
_REQUESTS = frozenset({"r", "req", "request"})
_GO_REQUEST = re.compile(r"\s+\*http\.Request\b")
_SENDS = re.compile(r"(?i)(?:^|\.)(?:sign|roundtrip)")  # a function that handles a request of its own
_NOT_AS_HOPED = re.compile(r"\.StatusCode\s*(?:!=|>=?|/\s*100\s*!=)")
_FUNCTIONS = ("func_literal", "function_declaration", "method_declaration")
_GZIP = re.compile(r"\b(?:gzip|zlib|flate|bzip2|zstd)\.NewReader\(")
_UNPACKS = frozenset(
    "gzip.decompress zlib.decompress bz2.decompress lzma.decompress brotli.decompress zstandard.decompress".split()
)
_GIVEN = re.compile(r"(?:\s*,\s*\w+)?\s*:?=\s*")
_GIVEN_WITH_OTHERS = re.compile(r"(?:\s*,\s*\w+){2}\s*:?=\s*")
_FORM_FILE = re.compile(r"[\w.]+(?:\(\))?\.FormFile\(")
_OPENED = re.compile(r"(\w+)\.Open\(\)")
_UNPACKING = re.compile(r"\bnew\s+(?:GZIP|GzipCompressor|Inflater|Zip|BZip2Compressor|Zstd|Brotli)InputStream\(")
_UNZIPS = re.compile(r"(?:node:)?zlib(?:/promises)?\.(?:gunzip|unzip|inflate|inflateRaw|brotliDecompress)(?:Sync)?$")
_PROMISIFIED = re.compile(rb"\s*=\s*(?:\w+\.)?promisify\(\s*([\w.]+)\s*\)")
_SETS_LIMIT = re.compile(rb"(?:[\w.]+\[[\"'])?MAX_CONTENT_LENGTH\b")
_OF_FLASK = {"limit": "flask"}
_CLIENT = re.compile(r"(?:requests|httpx|aiohttp)\.")
_OF_REQUEST = re.compile(r"\s*:\s*(?:Next)?Request\b")
_FILES = re.compile(r"\brequest\.(?:FILES|files)\b")
_UPLOAD = re.compile(r"\s*:\s*(?:\w+\.)*UploadFile\b")
_REQUEST = re.compile(r"\s*:\s*(?:\w+\.)*Request\b")
_SENT = re.compile(r"\b(?:MultipartFile|HttpServletRequest|Part)\s+\w+")
_TAKES_FILES = re.compile(rb"\.(?:single|array|fields|any)\(")  # of multer
_INTERCEPTS = re.compile(r"(?:^|\.)(?:File|Files|AnyFiles|FileFields)Interceptor$")  # of Nest, by way of multer
_STREAM = re.compile(
    r"(?:^|\.)request\.(?:stream|body)\.read$"
    r"|request\.(?:FILES|files)(?:\[\]|\.get\(\)|\(\))*(?:\.(?:file|stream))?\.read$"
)
_WITHIN = re.compile(r"\.(?:file|stream)$")  # what an upload keeps its bytes in


def look_at_go(call: Node, file: SourceFile) -> Iterator[Mark]:
    positional = file.arguments(call)[0]
    if file.callee(call) not in ("io.ReadAll", "io/ioutil.ReadAll") or not positional:
        return
    if _SENDS.search(function_name(call, file)):
        return  # the body is its own
    name = file.text(positional[0])
    is_upload = _is_upload_of_go(name, call, file)
    is_open = is_upload or _BODY.search(name) or _is_unpacked(name, call, file)
    is_sent = is_upload or _is_sent(name, call, file)
    if is_open and (is_sent or not _says_what_failed(call, file)) and not LIMITED.search(function_text(call, file)):
        yield file.mark(
            RULE.id,
            call,
            f"`{name}` is read whole, however much the other side sends",
            confidence="" if is_sent else "low",
            suggestion="Read through `http.MaxBytesReader` or `io.LimitReader`.",
        )


def _is_upload_of_go(name: str, call: Node, file: SourceFile) -> bool:
    """Whether a name stands for a file of a form: `file, _, err := r.FormFile("x")`, or what its header opens."""
    if not name.isidentifier() or not file.mentions(b"FormFile("):
        return False
    before = text_before(call, file)
    if any(_FORM_FILE.match(before, each.end()) for each in followed(name, before, _GIVEN_WITH_OTHERS, "_.")):
        return True
    opened = (_OPENED.match(before, each.end()) for each in followed(name, before, _GIVEN, "_."))
    return any(
        _FORM_FILE.match(before, given.end()) is not None
        for header in opened
        if header is not None
        for given in followed(header[1], before, _GIVEN, "_.")
    )


def _is_sent(name: str, call: Node, file: SourceFile) -> bool:
    """Whether it is the body of a request. The answer of a service is as large as that service likes, and many are
    the project's own."""
    owner = name.removesuffix(".Body")
    if owner == name or owner.endswith((".Request", ".Request()")):
        return True
    text = function_text(call, file)
    return owner in _REQUESTS or next(followed(owner, text, _GO_REQUEST, "_."), None) is not None


def _says_what_failed(call: Node, file: SourceFile) -> bool:
    """Whether the answer of a service is read in the branch for other states than were hoped for: a line or two."""
    node = file.parent_of(call)
    while node is not None and node.type not in _FUNCTIONS:
        condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
        if condition is not None and _NOT_AS_HOPED.search(file.text(condition)):
            alternative = node.child_by_field_name("alternative")
            return alternative is None or call.end_byte < alternative.start_byte
        node = file.parent_of(node)
    return False


def _is_unpacked(name: str, call: Node, file: SourceFile) -> bool:
    """Whether a name stands for a stream that is unpacked: few bytes may become many."""
    if not name.isidentifier() or not file.mentions(b".NewReader("):
        return _GZIP.search(name) is not None
    before = text_before(call, file)
    return any(_GZIP.match(before, each.end()) is not None for each in followed(name, before, _GIVEN, "_."))


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if callee in _UNPACKS and not LIMITED.search(function_text(call, file)):
        yield file.mark(
            RULE.id,
            call,
            f"`{callee}` unpacks everything at once: few bytes may become many",
            suggestion="Unpack in pieces with a decompressor object and stop at a limit.",
        )
    if callee == "flask.request.get_data":
        if not LIMITED.search(function_text(call, file)):
            suggestion = "Set `MAX_CONTENT_LENGTH`, or read the stream in chunks."
            message = "`request.get_data()` brings the whole body into memory"
            yield file.mark(RULE.id, call, message, suggestion=suggestion, data=_OF_FLASK)
        return
    if file.arguments(call)[0] or not callee.endswith((".read", ".body")):
        return
    name = _WITHIN.sub("", callee.rpartition(".")[0])
    text = function_text(call, file)
    is_upload = name.isidentifier() and _is_upload(name, call, text, file)
    if (is_upload or _STREAM.search(callee)) and not LIMITED.search(text):
        yield file.mark(
            RULE.id,
            call,
            f"`{callee}()` brings the whole upload into memory",
            suggestion="Read it in chunks and stop at a limit.",
            data=_OF_FLASK if callee.startswith("flask.") else None,
        )


def look_at_limit(assignment: Node, file: SourceFile) -> Iterator[Mark]:
    """Flask: `app.config["MAX_CONTENT_LENGTH"] = 2 ** 20`, noted for `judge`."""
    yield file.mark(RULE.id, assignment, "", data={"sets": "flask"})


def _is_upload(name: str, call: Node, text: str, file: SourceFile) -> bool:
    """Whether a name stands for a file, or here for the request, that comes from outside."""
    if file.callee(call).endswith(".body"):
        return next(followed(name, text, _REQUEST, "_."), None) is not None
    if next(followed(name, text, _UPLOAD, "_."), None) is not None:
        return True
    return _FILES.search(text) is not None and any(
        _FILES.search(file.text(value)) is not None for value in assigned_values(name, call, file)
    )


def look_at_answer(call: Node, file: SourceFile) -> Iterator[Mark]:
    """What is read whole of an address that the request names."""
    answers = answers_of_python if file.language == "python" else answers_of_script
    data = {"client": file.callee(call)} if is_client_of_others(call, file) else None
    for place, message, suggestion in answers(call, file):
        yield file.mark(RULE.id, place, message, suggestion=suggestion, data=data)


def look_at_script(call: Node, file: SourceFile) -> Iterator[Mark]:
    text = file.text(call)
    if _INTERCEPTS.search(file.callee(call)):
        if "limits" not in text and (len(file.arguments(call)[0]) == 1 or "memoryStorage" in text):
            message = "Uploads of any size are kept in memory"
            suggestion = "Give it `limits: { fileSize }`."
            yield file.mark(RULE.id, call, message, confidence="low", suggestion=suggestion, data={"form": "setting"})
        return
    if file.mentions(b".none(") and _TAKES_FILES.search(file.source) is None:
        return  # fields only
    if file.callee(call) == "multer" and "limits" not in text and ("memoryStorage" in text or text.endswith("()")):
        message = "`multer` keeps uploads of any size in memory"
        yield file.mark(RULE.id, call, message, suggestion="Give it `limits: { fileSize }`.", data={"form": "setting"})


def look_at_unpacking(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Script: `await gunzip(packed)`, also under a name that `promisify` gives it, without `maxOutputLength`."""
    callee = file.callee(call)
    if not file.mentions(b"zlib") or b"maxOutputLength" in file.source[call.start_byte : call.end_byte]:
        return
    if callee.isidentifier():
        named = next(followed(callee.encode(), file.source, _PROMISIFIED, b"_.$"), None)
        callee = file.resolve(named[1].decode()) if named is not None else callee
    if _UNZIPS.match(callee) is not None and not LIMITED.search(function_text(call, file)):
        message = f"`{callee}` unpacks everything at once: few bytes may become many"
        yield file.mark(RULE.id, call, message, suggestion="Give it `maxOutputLength`, or unpack a stream.")


def look_at_body(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Script: `await request.arrayBuffer()` of a request that a server is given, which no parser has limited."""
    receiver, _, method = file.callee(call).rpartition(".")
    if not receiver.isidentifier() or file.arguments(call)[0]:
        return
    text = function_text(call, file)
    if next(followed(receiver, text, _OF_REQUEST, "_.$"), None) is not None and not LIMITED.search(text):
        message = f"`{receiver}.{method}()` brings the whole body into memory"
        yield file.mark(RULE.id, call, message, suggestion="Read `body` as a stream and stop at a limit.")


def look_at_java(call: Node, file: SourceFile) -> Iterator[Mark]:
    name = file.callee(call).rpartition(".")[0]
    text = function_text(call, file)
    if re.search(r"getSize\(|Limit", text):
        return
    written = file.text(call)
    is_stream = "getInputStream()" in written and _SENT.search(text) is not None
    if name.isidentifier() and _SENT.search(text) and re.search(rf"\b{name}\s*=\s*{_UNPACKING.pattern}", text):
        message = f"`{written.split(chr(10))[0]}` unpacks everything at once: few bytes may become many"
        yield file.mark(RULE.id, call, message, suggestion="Read it in pieces and stop at a limit.")
    elif is_stream or (name.isidentifier() and re.search(rf"\bMultipartFile\s+{name}\b", text)):
        message = f"`{written.split(chr(10))[0]}` brings the whole upload into memory"
        suggestion = "Stream it (`getInputStream`) and check its size first."
        yield file.mark(RULE.id, call, message, suggestion=suggestion, data={"limit": "spring"})


def _limits_all(facts: FileFacts) -> bool:
    """Whether a file of Go puts a limit on the bodies of whatever handler it is given."""
    return facts.language == "go" and any(
        not _LIMITING.isdisjoint(each.calls) and any(call.endswith(".ServeHTTP") for call in each.calls)
        for each in facts.functions
    )


def _limits_spring(codebase: Codebase) -> bool:
    """Whether the settings of Spring Boot say how large an upload may be."""
    manifests = (manifest_of(facts) for facts in codebase.files.values() if facts.language == "manifest")
    return any(each.get("limits_uploads") is True for each in manifests)


def _limits_flask(facts: FileFacts) -> bool:
    """Whether a file of Python sets how long the bodies of Flask may be."""
    return any(mark.rule == RULE.id and "sets" in mark.data for mark in facts.marks)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """What a request can send; a tool reads what its user gives it."""
    if place.kind is not FileKind.SOURCE or runs_by_hand(codebase, place.path) or _HELPERS.search(place.path):
        return None
    is_sent = mark.confidence != "low"  # and no answer of a service
    if is_sent and place.facts.language == "go" and any(codebase.summaries(_limits_all).values()):
        return None  # a handler around all others
    limited_by = mark.data.get("limit", "")
    if "sets" in mark.data or (limited_by == "flask" and any(codebase.summaries(_limits_flask).values())):
        return None
    if limited_by == "spring" and _limits_spring(codebase):
        return None
    if "client" in mark.data and not _CLIENT.match(by_client(mark.data["client"], place.path, codebase)):
        return None
    return place.finding(mark) if mark.data.get("form") or place.in_request_path else None


_LIMITING = frozenset({"net/http.MaxBytesReader", "net/http.MaxBytesHandler"})

_UNZIP_NAMES = frozenset({"gunzipSync", "unzipSync", "inflateSync", "inflateRawSync", "brotliDecompressSync"})
WATCHES = (
    Watch("call", look_at_go, GO, names=frozenset({"ReadAll"})),
    Watch("call", look_at_python, PYTHON, names=frozenset({"read", "body", "decompress", "get_data"})),
    Watch("assignment", look_at_limit, PYTHON, starts=_SETS_LIMIT),
    Watch("call", look_at_answer, PYTHON, names=PYTHON_CALLS),
    Watch("call", look_at_answer, SCRIPT, names=SCRIPT_CALLS),
    Watch("call", look_at_unpacking, SCRIPT, names=_UNZIP_NAMES, endings=("unzip", "nflate", "ecompress")),
    Watch("call", look_at_body, SCRIPT, names=frozenset({"arrayBuffer", "blob", "bytes"})),
    Watch("call", look_at_script, SCRIPT, names=frozenset({"multer"}), endings=("Interceptor",)),
    Watch("call", look_at_java, JAVA, names=frozenset({"getBytes", "readAllBytes", "toByteArray"})),
)
