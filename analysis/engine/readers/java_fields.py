"""Fields of Java that all threads of a process share: static ones, and those of beans."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers import locks
from analysis.engine.readers.reading import followed
from analysis.engine.readers.single_objects import is_single_bean

_UNSAFE = re.compile(
    rb"(?:@\w+\s+)*(?:(?:public|private|protected|final|static)\s+)*static\s+(?:final\s+)?(?:java\.\w+\.)*"
    rb"(SimpleDateFormat|DateFormat|DecimalFormat|NumberFormat|Calendar|GregorianCalendar|Matcher|Connection"
    rb"|MessageDigest)"
    rb"\s+(\w+)"
)
_FIELD = re.compile(
    rb"(?:private|protected|public)\s+(?!static|final|volatile|transient)([\w<>\[\], .?]+?)\s+(\w+)\s*[;=]"
)
# A collection is shared however final the field is that holds it.
_COLLECTION = re.compile(
    rb"(?:(?:private|protected|public|static|final)\s+)+[\w.]*(?:Map|List|Set|Queue|Deque)<[^;=]*>\s+(\w+)\s*=\s*"
    rb"new\s+(?:java\.util\.)?(?:(?:Linked)?Hash(?:Map|Set)|Tree(?:Map|Set)|ArrayList|LinkedList|ArrayDeque)\b"
)
_COUNTER = re.compile(rb"(?:(?:private|protected|public)\s+)?static\s+(?:int|long|double|Integer|Long)\s+(\w+)\s*[;=]")
_SAFE_TYPES = re.compile(rb"Atomic|Concurrent|ThreadLocal|CopyOnWrite|BlockingQueue|Logger")
_FILLED = re.compile(rb"(?:Map|List|Set|Collection|Queue|Deque|Stack|Vector|BitSet)\b")
_CALLED_ON = re.compile(rb"\.\w+\(|\s*[,)]")


class UnsafeStatic(NamedTuple):
    """A static object of a class that is not safe for two threads at once."""

    name: str
    kind: str
    is_certain: bool  # it is used without a lock; whoever else uses it may hold one


def unsafe_static(field: Node, file: SourceFile) -> UnsafeStatic | None:
    """The static object that a field holds, unless each use of it is under a lock."""
    found = _UNSAFE.match(file.source, field.start_byte)
    if found is None or (found[1] == b"Matcher" and not file.mentions(b"java.util.regex")):
        return None  # no such class, or one of the project's own
    unlocked = list(_unlocked_uses(found[2], field, file))
    if unlocked and not any(unlocked):
        return None
    return UnsafeStatic(found[2].decode(), found[1].decode(), any(unlocked))


def is_unsafe_type(field: Node, file: SourceFile) -> bool:
    """Whether a field is static and of a class that is not safe for two threads."""
    return _UNSAFE.match(file.source, field.start_byte) is not None


def _unlocked_uses(name: bytes, field: Node, file: SourceFile) -> Iterator[bool]:
    """For each call on a static object whether it is made without a lock."""
    for match in followed(name, file.source, _CALLED_ON, b"_", field.end_byte):
        if file.scope_at(match.start(), match.end()).function.index:
            yield not locks.held_at(match.start(), file)


def shared_field(field: Node, file: SourceFile) -> str:
    """The name of a field that all threads share and that may change: of a bean, or a static one. Empty for others."""
    start, end = field.start_byte, field.end_byte
    if _SAFE_TYPES.search(file.source, start, end):
        return ""
    collection = _COLLECTION.match(file.source, start, end) or _COUNTER.match(file.source, start, end)
    if collection is not None and (b"static" in collection[0] or is_single_bean(file.scope_of(field), file)):
        return collection[1].decode()
    found = _FIELD.match(file.source, start)
    return found[2].decode() if found is not None and is_single_bean(file.scope_of(field), file) else ""


def changes_of_field(name: str, field: Node, file: SourceFile) -> Iterator[re.Match[bytes]]:
    """Where the text behind a field sets, counts or fills it."""
    is_collection = _FILLED.search(file.source, field.start_byte, field.end_byte) is not None
    filled = rb"|\.(?:add|put|remove|clear|merge)\(" if is_collection else rb""
    word = re.escape(name.encode())
    changed = re.compile(rb"(?<![\w.])(?:this\.)?" + word + rb"(?:\s*[-+]?=(?!=)|\+\+|--" + filled + rb")")
    return changed.finditer(file.source, field.end_byte)
