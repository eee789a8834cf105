"""Descriptors and pooled connections of Node, which its functions take and give back by name."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import followed, is_imported

# What works on a descriptor and leaves it open.
_WORKS_ON = re.compile(
    r"\b(?:read|write|readv|writev|fstat|fsync|fdatasync|ftruncate|futimes|fchmod|fchown)(?:Sync)?\(\s*(\w+)\b"
)
_FUNCTIONS = frozenset({"arrow_function", "function_expression"})
_POOL_MADE = re.compile(rb"\s*(?::[^=\n]{1,60})?=\s*(?:await\s+)?(?:new\s+)?([\w.]+)\(")
_POOLS = re.compile(r"^(?:pg\.Pool|@neondatabase/serverless\.Pool|(?:mysql2?(?:/promise)?|mariadb)\.createPool)$")
_POOL_NAME = re.compile(r"(?:^|[./])\w*[pP]ool$")
_RELEASED = re.compile(r"\??\.release\(")
_TAKES = frozenset({"connect", "getConnection"})


def takes_from_pool(callee: str, file: SourceFile) -> bool:
    """Whether a call takes a connection of a pool that has to be released: by the name of the pool or what made it."""
    receiver, _, method = callee.rpartition(".")
    if method not in _TAKES or not receiver:
        return False
    if _POOL_NAME.search(receiver):
        return True
    made = followed(receiver.encode(), file.source, _POOL_MADE, b"_.$")
    return any(_POOLS.match(file.resolve(each[1].decode())) for each in made)


def is_given_back(callee: str, name: str, rest: str, file: SourceFile) -> bool:
    """Whether what `connect` of an imported object gave is released later: a pool then, which another file made."""
    if callee.rpartition(".")[2] not in _TAKES or not is_imported(callee, file):
        return False
    return next(followed(name, rest, _RELEASED, "_.$"), None) is not None


def without_work_on(name: str, text: str) -> str:
    """The text without the calls that only work on a descriptor of this name, whatever else they are given."""
    kept, position = "", 0
    for found in _WORKS_ON.finditer(text):
        if found[1] == name and found.start() >= position:
            kept += text[position : found.start(1)]
            position = found.end(1)
    return kept + text[position:]


def descriptors_of(call: Node, file: SourceFile) -> Iterator[tuple[str, str]]:
    """The name under which `fs.open(path, flags, (err, fd) => ...)` gives its descriptor, and what is done with it."""
    last = next(reversed(file.arguments(call)[0]), None)
    listed = last.child_by_field_name("parameters") if last is not None and last.type in _FUNCTIONS else None
    body = last.child_by_field_name("body") if last is not None else None
    names = re.findall(r"[\w$]+", file.text(listed)) if listed is not None else []
    if body is not None and len(names) == 2:
        yield names[1], file.text(body)
