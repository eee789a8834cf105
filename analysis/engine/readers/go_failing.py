"""Which calls of Go are known to return an error that matters."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.go_known_calls import ALONE, BESIDE, CLOSING, DATABASE, METHODS, PAIRS, RECEIVERS, WRITERS
from analysis.engine.readers.go_results import fields_that_fail, function_names, functions_that_fail, receiver_of
from analysis.engine.readers.reading import followed, function_text, text_after, text_before

_OPENED = re.compile(r"(?:,\s*\w+)?\s*:?=\s*([\w.]+)\(([^\n]*)")
_FOR_WRITING = re.compile(r"O_WRONLY|O_RDWR|O_APPEND")
_TO_NOWHERE = re.compile(r"\b(io|ioutil)\.Discard\b|\bos\.Std(out|err)\b")
# A writer into memory or into a hash never fails: `buf := new(bytes.Buffer)`, `var text strings.Builder`.
IN_MEMORY = re.compile(
    r"(\w+)\s*(?::?=|\s)\s*(?:new\(|&)?(?:bytes\.(?:New)?Buffer|strings\.Builder|hash\.Hash"
    r"|(?:md5|sha1|sha256|sha512|sha3|blake2b|fnv|crc32|crc64|adler32|hmac|xxhash|maphash)\.New)"
)


def failing(call: Node, file: SourceFile, *, beside: bool = False) -> str:
    """The callee when it is known to return an error, `beside` other results; empty otherwise."""
    callee = file.callee(call)
    if callee in (BESIDE if beside else ALONE):
        is_failing = True
    elif beside:
        known = functions_that_fail(file).get(of_this_file(callee, call, file), False)
        is_failing = known or _is_known_pair(callee) or _is_field_that_fails(callee, call, file)
    else:
        is_failing = (
            functions_that_fail(file).get(of_this_file(callee, call, file), False)
            or _is_known_method(callee, call, file)
            or _closes_what_was_written(callee, call, file)
            or _is_field_that_fails(callee, call, file)
        )
    return "" if not is_failing or _cannot_fail(call, file) else callee.rpartition("/")[2]


def of_this_file(callee: str, call: Node, file: SourceFile) -> str:
    """The function of this file that a callee means: `save`, or `Store.save` for `s.save` in a method of Store."""
    head, _, name = callee.rpartition(".")
    if not head:
        return callee
    if name not in function_names(file):
        return ""
    receiver, owner = receiver_of(call, file)
    return f"{owner}.{name}" if head == receiver else ""


def _is_field_that_fails(callee: str, call: Node, file: SourceFile) -> bool:
    """`p.run(job)` in a method of a struct of this file, whose field `run` holds a function that may fail."""
    head, _, name = callee.rpartition(".")
    return bool(head) and name in fields_that_fail(file) and head == receiver_of(call, file)[0]


def _is_known_pair(callee: str) -> bool:
    """`rows, _ := db.Query(...)`, `response, _ := client.Do(request)`."""
    head, _, name = callee.rpartition(".")
    receiver = PAIRS.get(name)
    return receiver is not None and receiver.fullmatch(head.rpartition(".")[2]) is not None


def _is_known_method(callee: str, call: Node, file: SourceFile) -> bool:
    head, _, name = callee.rpartition(".")
    arguments = METHODS.get(name)
    if not head or arguments is None:
        return False
    last = head.rpartition(".")[2]
    receiver = RECEIVERS.get(name, DATABASE)
    return receiver.fullmatch(last) is not None and arguments in (-1, len(file.arguments(call)[0]))


def _closes_what_was_written(callee: str, call: Node, file: SourceFile) -> bool:
    """`f.Close()`, `out.Write(b)` where the variable came from `os.Create` and its like, and no other call of it is
    checked."""
    head, _, name = callee.rpartition(".")
    if name not in CLOSING or not re.fullmatch(r"\w+", head):
        return False
    before = text_before(call, file)
    opened = list(followed(head, before, _OPENED, "_"))[-1:]
    return bool(opened) and _is_written(opened[0], head, name, before, call, file)


def _is_written(opened: re.Match[str], head: str, name: str, before: str, call: Node, file: SourceFile) -> bool:
    """Whether a variable that was opened there gets something to write that matters."""
    if _TO_NOWHERE.search(opened[2]):
        return False
    maker = file.resolve(opened[1])
    is_writer = maker in WRITERS or (maker == "os.OpenFile" and _FOR_WRITING.search(opened[2]) is not None)
    if not is_writer or (maker.startswith("bufio.") and name != "Flush"):
        return False
    function = function_text(call, file)
    target = opened[2].split(")")[0].strip("& ")
    if any(found[1] == target for found in IN_MEMORY.finditer(function)):
        return False
    is_checked = re.search(rf"(?:=|return)\s*{head}\.(?:Close|Sync)\(", function) is not None
    if name.startswith("Write"):  # a file forgets what it could not take, others tell of it when they are closed
        return maker.startswith("os.") or not is_checked
    if is_checked:
        return False
    used = (before[opened.end() :] + text_after(call, file)).replace(f"{head}.Close", "")
    return re.search(rf"[(,&]\s*{head}\s*[,)]|\b{head}\.(?:Write|Create|Read|Sync)", used) is not None


def _cannot_fail(call: Node, file: SourceFile) -> bool:
    """Whether what is written goes into memory or nowhere."""
    if _TO_NOWHERE.search(file.text(call)):
        return True
    first = next((file.text(argument).lstrip("&") for argument in file.arguments(call)[0]), "")
    return any(found[1] == first for found in IN_MEMORY.finditer(function_text(call, file)))
