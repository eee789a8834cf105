"""What a Go function does with a file or an answer besides closing it: who borrows it, and who else may close it."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import followed, text_before

# Go: who reads or writes and keeps nothing, and what is made around a file for this function alone.
_BORROWED = re.compile(
    r"\b(?:io|ioutil)\.(?:ReadAll|ReadFull|Copy\w*|WriteString)\([^()\n]*\)|\bfmt\.F\w+\([^()\n]*\)"
    r"|\b(?:json|xml|gob|yaml|csv|bufio|toml)\.New\w+\([^()\n]*\)\.\w+|\bcsv\.NewReader\([^()\n]*\)\.\w+"
)
_WRAPPED = re.compile(r"\b(\w+)\s*:?=\s*(?:bufio|csv|json|xml|gob|yaml)\.New\w+\([^()\n]*\)")

_IS_REQUEST = re.compile(r"(?:\s*,\s*\w+)?\s*:?=\s*http\.NewRequest(?:WithContext)?\(|\s+\*http\.Request\b")
_MADE_BY = re.compile(r"(?:\s*,\s*\w+)?\s*:?=\s*(?P<package>\w+)\.NewRequest\w*\(")
_IS_CLIENT = re.compile(rb"\s*(?:[ \t]\*?|:?=\s*&?|:\s*&?)http\.Client\b")


def sends_request(callee: str, call: Node, file: SourceFile) -> bool:
    """Whether a call of a method `Do` sends a request of `net/http`: by the type of the request, or of the client."""
    receiver, _, method = callee.rpartition(".")
    given = file.arguments(call)[0]
    if method != "Do" or not receiver or len(given) != 1:
        return False
    name = receiver.rpartition(".")[2].encode()
    if any(True for _ in followed(name, file.source, _IS_CLIENT, b"_.")):
        return True
    request = file.text(given[0])
    return request.isidentifier() and any(True for _ in followed(request, text_before(call, file), _IS_REQUEST, "_."))


def asks_by_another_protocol(call: Node, file: SourceFile) -> bool:
    """Whether the request that a call sends was made by a library whose path does not name HTTP, as one for ICAP: its
    answers need not have a body. Those of other clients of HTTP do, `retryablehttp.NewRequest`."""
    given = file.arguments(call)[0]
    request = file.text(given[0]) if given else ""
    made = [*followed(request, text_before(call, file), _MADE_BY, "_.")] if request.isidentifier() else []
    library = file.bindings.get(made[-1]["package"], "") if made else ""
    return bool(library) and "http" not in library.lower()


def without_borrowers(rest: str) -> str:
    """The text without calls that use a file and hand it back."""
    for made in _WRAPPED.finditer(rest):
        if not re.search(rf"\breturn\b[^\n]*\b{made[1]}\b(?!\.)|[(,:=]\s*&?{made[1]}\s*[,)}}\n]", rest[made.end() :]):
            rest = rest.replace(made[0], "")
    return _BORROWED.sub("", rest)


def belongs_to_outer(name: str, call: Node, file: SourceFile) -> bool:
    """Whether the function only assigns a variable that is declared around it, where it may be closed."""
    statement = call.parent.parent if call.parent is not None else None
    if statement is None or statement.type != "assignment_statement":
        return False
    declared = rf"\b{name}\b[^\n;={{]*:=|(?:\bvar\b|^|[(,])\s*{name}(?:,\s*\w+)*\s+\*?[\w.]+"
    return re.search(declared, text_before(call, file), re.MULTILINE) is None


def is_closed_by_next_round(name: str, call: Node, file: SourceFile) -> bool:
    """Whether the loop closes a file of the round before, and then opens the next one into the same name."""
    statement = call.parent.parent if call.parent is not None else None
    loop = file.loop_of(call)
    if loop is None or statement is None or statement.type != "assignment_statement":
        return False
    return f"{name}.Close()".encode() in file.source[loop.node.start_byte : call.start_byte]


def is_named_result(name: str, call: Node, file: SourceFile) -> bool:
    """Whether a bare `return` hands the name on: `func get() (resp *http.Response, err error)`."""
    function = file.enclosing_function(call)
    result = function.child_by_field_name("result") if function is not None else None
    return result is not None and re.match(rf"\((?:[^()]*[\s,])?{re.escape(name)}\s", file.text(result)) is not None
