"""Whether a lock is held where something is changed, as far as the function around the place tells."""

import re

from analysis.engine.extract.scopes import Scope
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import followed, is_repository

# A word of its own, or in a longer name: `lock_row`, `findWithLock`; not `block` and not `clock`.
WORD = (
    r"(?:(?<![A-Za-z])(?:lock|mutex)|(?<![BCb])Lock|Mutex|(?<![A-Za-z])LOCK|(?i:synchronized|semaphore|runExclusive))"
)
_BLOCK = re.compile(rb"(?:async\s+)?with\s[^\n]*" + WORD.encode() + rb"|synchronized\b")
_HELD = re.compile(rb"(?:async\s+)?with\s+(?:self\.|cls\.)?(\w+)\s*:")
_MADE = re.compile(rb"\s*(?::[^=\n]+)?=\s*(?:\w+\.)?R?Lock\(")
_RUNS = re.compile(
    rb"(?:"
    + WORD.encode()
    + rb"\w*|\b\w*[oO]nce\w*\.Do)[\w.]*\((?:[^\n(){}]*,)?\s*(?:async\s*)?(?:func|\(\w*\)\s*->|)\s*\Z"
)
_SAID = re.compile(r"(?:Locked|[wW]ith_?[lL]ock|[uU]nder_?[lL]ock|_locked)$|^_?locked_")  # whoever calls holds it
_HEADER = re.compile(rb"\bsynchronized\b[^{]*\Z")
_TAKEN = re.compile(
    r"(?P<lock>[\w.]+(?:\(\))?)\.(?:Lock|lock|lockInterruptibly|acquire)\([^()\n]*\)"
    r"|\b_?(?:lock|try_?lock|acquire_?lock|get_?lock)(?:[A-Z_]\w*)?\(|\bpg_advisory"
)
_RELEASED = re.compile(
    r"(?<!defer )\b(?P<lock>[\w.]+(?:\(\))?)\.(?:Unlock|unlock|release)\(\)(?!\s*;?\s*(?:return|throw|raise)\b)"
)
_ASKED = re.compile(r"\b(\w+)\.\Z")
_CLOSURES = frozenset({"closure", "function"})
_BEFORE = 80  # bytes before a closure in which the call stands that runs it
_LONGEST = 60_000  # bytes of a function that are read


def held_at(start: int, file: SourceFile) -> bool:
    """Whether the change at this byte is made under a lock: in its block, in what the lock runs, or between taking and
    releasing it. Read locks are none."""
    scope: Scope | None = file.scope_at(start, start + 1)
    function = scope.function if scope is not None else file.functions[0]
    if _SAID.search(function.short_name) or any("synchronized" in each for each in function.decorators):
        return True
    while scope is not None and scope.parent is not None:
        if scope.kind == "with" and (_BLOCK.match(file.source, scope.start) or _is_made_as_lock(scope.start, file)):
            return True
        if scope.kind in _CLOSURES and _RUNS.search(file.source, max(0, scope.start - _BEFORE), scope.start):
            return True
        scope = scope.parent
    if not function.index:
        return False
    node = function.node
    body = node.child_by_field_name("body")
    if body is not None and _HEADER.search(file.source, node.start_byte, body.start_byte):
        return True
    return _is_taken(file.source[max(node.start_byte, start - _LONGEST) : start].decode("utf-8", "replace"), file)


def _is_made_as_lock(start: int, file: SourceFile) -> bool:
    """Whether a `with` statement of Python holds what this file makes as a lock: `guard = threading.Lock()`."""
    if file.language != "python" or not file.mentions(b"Lock("):
        return False
    held = _HELD.match(file.source, start)
    return held is not None and next(followed(held[1], file.source, _MADE, b"_"), None) is not None


def _is_taken(before: str, file: SourceFile) -> bool:
    """Whether one of the locks that the text takes is still held at its end. A release in front of a way out belongs
    to that way out."""
    if "ock" not in before and "acquire" not in before:
        return False
    released = [(found["lock"], found.start()) for found in _RELEASED.finditer(before)]
    return any(
        not any(lock == taken["lock"] and place > taken.start() for lock, place in released)
        for taken in _TAKEN.finditer(before)
        if not (taken["lock"] or "").endswith(("readLock()", "RLocker()")) and not _is_of_rows(taken, file)
    )


def _is_of_rows(taken: re.Match[str], file: SourceFile) -> bool:
    """Whether a repository of Java locks rows: other rows, and what is in memory, stay free."""
    asked = _ASKED.search(taken.string, 0, taken.start()) if file.language == "java" and not taken["lock"] else None
    return asked is not None and is_repository(asked[1], file)
