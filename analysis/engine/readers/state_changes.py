"""How functions change what all requests share, once the first request has come."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from tree_sitter import Node

from analysis.engine.extract.scopes import FunctionDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers import locks
from analysis.engine.readers.go_handlers import answers_requests
from analysis.engine.readers.java_beans import listens_at_once
from analysis.engine.readers.kept_values import is_filled_once
from analysis.engine.readers.reading import KEY, has_own

MOST_CHANGES = 20  # places of one name that are looked at

# How a function changes state: it sets a value that it was given, maybe before the first request, or some other one, or
# it changes what is kept there.
GIVEN, PREPARED, SET, KEPT = "given", "prepared", "set", "kept"
# What changes a collection of Python, behind its name.
CHANGES_COLLECTION = (
    rb"(?:\.(?:append|extend|insert|add|update|remove|pop|clear|setdefault|discard)\(|\[" + KEY + rb"\]\s*[-+]?=(?!=))"
)
_IS_SET = re.compile(rb"^[^\[\].]*(?<![-+])=\Z|^\s*(?<![-+])=\Z|^this\.\w+\s*=\Z")  # and neither counted nor filled
_WORD = re.compile(rb"[A-Za-z_]\w*")
_TEXTS = re.compile(rb"\"[^\"\n]*\"|'[^'\n]*'")
_LONGEST_VALUE = 200  # bytes
_LONGEST_WAY = 4_000  # bytes before a change in which its value is made
# A local variable and what it is made of.
_MADE = re.compile(
    rb"^[ \t]*(?:(?:const|let|var|final)\s+)?(?:[\w<>\[\], .?]{1,60}\s)?(\w+)(?:,[ ]*\w+){0,3}"
    rb"(?:\s*:[^=\n]{1,60})?[ ]*:?=(?!=)([^\n]*)",
    re.MULTILINE,
)
_COUNTS = re.compile(rb"[-+]=\Z")  # reads what is there and writes another value
_TAKES_OUT = re.compile(rb"\.(?:remove|pop|clear|discard|delete)\(\Z|^delete\(")
_OF_A_USER = re.compile(r"(?i)user|session|request|account|customer|tenant|cart|order")
_CONSTRUCTORS = frozenset({"__init__", "constructor"})
_STARTUP = re.compile(
    r"^_*(?:(?i:set_?up|init|initiali[sz]e|start_?up|configure|afterPropertiesSet)(?![a-z])|on[A-Z_])"
)
_PREPARES = re.compile(
    r"^_*(?i:set|load|refresh|reload|register)(?![a-z])"  # before requests come, or for each of them
)


@dataclass(frozen=True, slots=True)
class StateChanges:
    """The functions that change a name without holding a lock, by their index, each with how it does so."""

    kinds: dict[int, str]
    served: frozenset[int]  # functions in which what answers a request changes it
    takes_out: bool  # whether something is also taken out
    counting: frozenset[int]  # functions that read what is there and write another value
    is_guarded: bool  # elsewhere it is changed under a lock, which whoever calls these may hold too


def changes_of(name: str, declared: Node, changes: Iterator[re.Match[bytes]], file: SourceFile) -> StateChanges | None:
    """What the places that change a name do to what others see; None where none does without a lock."""
    found = list(_while_serving(declared, changes, file))
    is_guarded = [locks.held_at(match.start(), file) for match, _ in found]
    bare = [each for each, is_held in zip(found, is_guarded, strict=True) if not is_held]
    kinds: dict[int, str] = {}
    for match, function in bare:
        if _is_shared(name, match, function, file):
            kind = _kind_in(match, function, declared, file)
            kinds[function.index] = GIVEN if GIVEN in (kind, kinds.get(function.index)) else kind
    if not kinds:
        return None
    return StateChanges(
        kinds=kinds,
        served=frozenset(
            function.index
            for match, function in bare
            if answers_requests(match.start(), file) or listens_at_once(function.node, file)
        ),
        takes_out=any(_TAKES_OUT.search(match[0]) for match, _ in bare),
        counting=frozenset(function.index for match, function in bare if _COUNTS.search(match[0])),
        is_guarded=any(is_guarded),
    )


def is_of_user(text: str) -> bool:
    """Whether what has this name or type belongs to one user or tenant."""
    return _OF_A_USER.search(text) is not None


def _while_serving(
    declared: Node, changes: Iterator[re.Match[bytes]], file: SourceFile
) -> Iterator[tuple[re.Match[bytes], FunctionDraft]]:
    """The changes in functions that may run after the first request has come."""
    own = file.scope_of(declared)
    for match in islice(changes, MOST_CHANGES + 1):
        if match.start() >= own.end:
            return
        function = file.scope_at(match.start(), match.end()).function
        last = function.short_name
        is_late = _STARTUP.search(last) is None or listens_at_once(function.node, file)
        if function.index and last not in _CONSTRUCTORS and is_late:
            yield match, function


def _is_shared(name: str, change: re.Match[bytes], function: FunctionDraft, file: SourceFile) -> bool:
    """Whether a change puts something where others see it: not into a variable of the function, and not what was looked
    at before. What only takes out does not share anything."""
    text = file.source[function.node.start_byte : function.node.end_byte]
    if file.language == "java" and not change[0].startswith(b"this.") and _is_local(name, text):
        return False
    if has_own(name, text) or is_filled_once(name, text) or _TAKES_OUT.search(change[0]):
        return False
    if re.search(rb"=\s*this\." + re.escape(name.encode()) + rb"\s*;?\s*$", text, re.MULTILINE):
        return False  # looked at before it is set
    return file.language != "python" or _is_global(name, text) or not _is_assigned(name, text)


def _kind_in(change: re.Match[bytes], function: FunctionDraft, declared: Node, file: SourceFile) -> str:
    """What is put there; in a function that prepares it counts only when it is of a user."""
    kind = kind_of(change, function.node, file)
    if _PREPARES.search(function.short_name) is None:
        return kind
    return PREPARED if kind == GIVEN and is_of_user(file.text(declared)) else SET


def kind_of(change: re.Match[bytes], function: Node, file: SourceFile) -> str:
    """How a function changes the name."""
    if _IS_SET.search(change[0]) is None:
        return KEPT
    value = file.source[change.end() : change.end() + _LONGEST_VALUE].partition(b"\n")[0].partition(b";")[0]
    body = function.child_by_field_name("body")
    head = file.source[function.start_byte : body.start_byte if body is not None else function.start_byte]
    given = set(_WORD.findall(_TEXTS.sub(b"", head.partition(b"(")[2]))) - {b"self", b"this"}
    start = body.start_byte if body is not None else function.start_byte
    for made in _MADE.finditer(file.source, max(start, change.start() - _LONGEST_WAY), change.start()):
        if not given.isdisjoint(_WORD.findall(_TEXTS.sub(b"", made[2]))):
            given.add(made[1])
    return GIVEN if not given.isdisjoint(_WORD.findall(_TEXTS.sub(b"", value))) else SET


def _is_local(name: str, text: bytes) -> bool:
    """Whether a method of Java declares a variable or a parameter of this name."""
    return (
        re.search(rb"(?:(?!\breturn\b|\belse\b)\b\w+|[>\]])\s+" + re.escape(name.encode()) + rb"\s*[=;,):]", text)
        is not None
    )


def _is_global(name: str, text: bytes) -> bool:
    return re.search(rb"\bglobal\b[^\n]*\b" + re.escape(name.encode()) + rb"\b", text) is not None


def _is_assigned(name: str, text: bytes) -> bool:
    """Whether a Python function assigns the name: without `global` it is its own from then on."""
    return re.search(rb"^[ \t]+" + re.escape(name.encode()) + rb"\s*[-+]?=(?!=)", text, re.MULTILINE) is not None
