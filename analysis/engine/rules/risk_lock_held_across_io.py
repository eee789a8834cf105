"""A lock of the process is held while something slow happens outside of it."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers import lock_sections
from analysis.engine.readers.held_calls import calls_of_others, first_of_the_lock
from analysis.engine.readers.lock_names import (
    KEEPS_FILES,
    is_general,
    is_lock_in_java,
    is_named_after,
    leaves_files_to_another,
    name_of,
    says_nothing,
)
from analysis.engine.readers.reading import (
    CALLS,
    declarations,
    followed,
    function_name,
    is_awaited,
    short,
    text_after,
    within,
)
from analysis.engine.readers.slow_calls import ASKS, DATA, FILES, SLEEPS, how_it_leaves, is_slow, what_it_reads
from analysis.engine.rules.base import GO, JAVA, PYTHON, Watch

RULE = Rule(
    id="risk-lock-held-across-io",
    type="lock_across_io",
    category=Category.RUNTIME_RISK,
    title="Lock held across I/O",
    severity=Severity.WARNING,
    points=2,
    suggestion="Copy what you need under the lock and do the slow part outside.",
    confidence=Confidence.MEDIUM,
    version=2,
)
GUIDE = Guide(
    why="While one thread waits for the network, all that need the lock wait for it as well.",
    flagged=(
        {
            "shop/rates.py": """
import requests


def refresh(lock, rates):
    with lock:
        rates.update(requests.get("https://rates.example", timeout=5).json())


def rate(lock, rates, region):
    with lock:
        return rates[region]
"""
        },
    ),
    fine=(
        {
            "shop/rates.py": """
import requests


def refresh(lock, rates):
    found = requests.get("https://rates.example", timeout=5).json()
    with lock:
        rates.update(found)
"""
        },
    ),
)

_LOCK = re.compile(rb"with\s+((?:self\.|cls\.)?\w+)\s*:")
_NAMED = re.compile(r"(?i)lock|mutex")
_MADE = re.compile(r"(?:\s*:[^=\n]+)?\s*=\s*(?:threading\.|multiprocessing\.)?R?Lock\(")
_MADE_BY = re.compile(r"\s*=(?!=)[^\n]{0,120}")
_OF_OTHERS = re.compile(
    r"\s*=\s*(?:\w+\.)*(?:\w*File\w*Lock|\w*[rR]edis\w*|InterProcessLock|advisory_lock|flock|cache\.lock)\b"
)
_OF_A_RESOURCE = re.compile(
    r"(?i)cmd|file|write|conn|socket|client|session|(?<!ata)(?<!dia)(?<!b)log|io_|rate(?!s)|throttle|send|request|spawn|launch|process|install|broadcast|publish|transport|channel|mail|sms|create|refresh|reload|migrat|nonce"
)
_NAMED_LOCK = re.compile(r"(?i)lock|mutex|semaphore|sem$")
_COLLECTION_TYPE = re.compile(rb"\b\w*(?:Map|List|Set|Queue|Deque|Collection)(?:<[^;=(){}]*>)?\s+\Z")
_RELEASES = re.compile(r"\(\)")
_LEAVES = re.compile(r"\s*(?:;|\n)\s*(?:return|throw|raise|continue|break)\b")
# What makes those who want the same wait for each other, on purpose.
_TAKES_TURNS = re.compile(
    r"(?i)rate|throttle|spawn|launch|process|install|migrat|create|refresh|reload|nonce|cmd|(?<!ata)(?<!dia)(?<!b)log"
)
_AWAITED = "is awaited"
_OWN_DATA = (FILES, DATA)  # what a lock over memory may have to keep in step with it
_GIVES_BACK = re.compile(
    rb"\breturn[ \t]+(?!(?:nil|None|null|false|true|False|True|[eE]rr\w*)\s*(?:;|$)"
    rb"|[^\n]*(?:errors\.New|Errorf)\()[^\n;]+",
    re.MULTILINE,
)
_LIMITS = re.compile(r"(?i)rate_?limit|throttl")
_WAITS = re.compile(r"\.(?:wait|Wait|await)$")


def look_at_with(block: Node, file: SourceFile) -> Iterator[Mark]:
    """`with lock:` around a request; `async with` waits without blocking."""
    found = _LOCK.match(file.source, block.start_byte)
    body = block.child_by_field_name("body")
    name = found[1].decode("utf-8", "replace") if found is not None else ""
    if name and body is not None and _is_lock(name, file):
        yield from _first(name, body, file, body.start_byte, body.end_byte)


def _is_lock(name: str, file: SourceFile) -> bool:
    """Whether it is called a lock, or this file makes it one. A lock of a file or a database is none of the process."""
    if any(_OF_OTHERS.match(made[0]) for made in followed(name, file.source.decode("utf-8", "replace"), _MADE_BY, "_")):
        return False
    if _NAMED.search(name):
        return True
    if not file.mentions(b"Lock("):
        return False
    source = file.source.decode("utf-8", "replace")
    return next(followed(name.rpartition(".")[2], source, _MADE, "_"), None) is not None


def look_at_synchronized(block: Node, file: SourceFile) -> Iterator[Mark]:
    body = block.child_by_field_name("body")
    if body is not None:
        head = file.source[block.start_byte : body.start_byte].decode("utf-8", "replace")
        yield from _first(head.partition("(")[2].rpartition(")")[0], body, file, body.start_byte, body.end_byte)


def look_at_method(method: Node, file: SourceFile) -> Iterator[Mark]:
    """A `synchronized` method holds the lock of its object all the time."""
    body, name = method.child_by_field_name("body"), method.child_by_field_name("name")
    if body is None or name is None or method.type != "method_declaration":
        return
    if re.search(rb"\bsynchronized\b", file.source[method.start_byte : name.start_byte]):
        owner = file.functions[file.function_of(method)].owner.rpartition(".")[2]
        yield from _first(
            "this" if not _OF_A_RESOURCE.search(owner) else owner, body, file, body.start_byte, body.end_byte
        )


def look_at_acquired(call: Node, file: SourceFile) -> Iterator[Mark]:
    """From `lock.acquire()` or `lock.lock()` to the release."""
    function = file.enclosing_function(call)
    text = file.text(call)
    is_bare = text.endswith(".lock()")  # also of `locks.writeLock()`
    receiver = text.removesuffix(".lock()") if is_bare else text.partition("(")[0].rpartition(".")[0]
    if function is None or not (_NAMED_LOCK.search(receiver) or _is_declared(receiver, file)):
        return
    if file.language == "python" and (is_awaited(call) or not _is_lock(receiver, file)):
        return
    after = text_after(call, file)
    name = f"{receiver}.{'release' if file.language == 'python' else 'unlock'}"
    released = _released(name, after)
    if released is not None:
        length = len(after[: released.start() - len(name)].encode())
        yield from _first(receiver, function, file, call.end_byte, call.end_byte + length)


def look_at_go(call: Node, file: SourceFile) -> Iterator[Mark]:
    """From `mu.Lock()` to the first `mu.Unlock()`, or to the end of the function when that is deferred."""
    function = file.enclosing_function(call)
    name = file.text(call).partition(".Lock(")[0]
    if function is None or file.arguments(call)[0] or _is_of_an_entry(name, call, file):
        return
    release = "RUnlock" if name.endswith(".RLock()") else "Unlock"
    name = name.removesuffix(".RLock()")
    after = text_after(call, file)
    name_of_unlock = f"{name}.{release}"
    unlock = _released(name_of_unlock, after)
    if unlock is not None:
        held = after[: unlock.start() - len(name_of_unlock)]
        length = len(after if held.rstrip().endswith("defer") else held)
        yield from _first(name, function, file, call.end_byte, call.end_byte + length)


def _released(name: str, after: str) -> re.Match[str] | None:
    """Where the lock is released for those that go on: a release in front of a way out is that of this way."""
    found = None
    for found in followed(name, after, _RELEASES, "_."):
        if _LEAVES.match(after, found.end()) is None:
            break
    return found


def _is_declared(receiver: str, file: SourceFile) -> bool:
    """Whether Java declares the name as a lock."""
    if file.language != "java" or not (file.mentions(b"Lock ") or file.mentions(b"Semaphore ")):
        return False
    return is_lock_in_java(receiver.rpartition(".")[2], file)


def _is_of_an_entry(lock: str, call: Node, file: SourceFile) -> bool:
    """Whether the lock belongs to something that a method works on, and not to the object of the method: who wants
    another one goes on."""
    head = file.functions[file.function_of(call)].node.child_by_field_name("receiver")
    root, dot, _ = lock.partition(".")
    return bool(dot) and head is not None and root not in file.text(head)


def _first(lock: str, body: Node, file: SourceFile, start: int, end: int) -> Iterator[Mark]:
    """The first call under the lock that leaves the process, by itself or by another function; under a lock that is
    named after what it protects the first that sleeps, of which that has nothing. For who starts or ends nobody waits.
    """
    function = function_name(body, file)
    owner = function.rpartition(".")[0]
    if lock_sections.starts_or_ends(function) or file.in_test(body):
        return
    is_of_a_resource = _OF_A_RESOURCE.search(name_of(lock)) is not None
    if is_of_a_resource and _TAKES_TURNS.search(name_of(lock)):
        return
    calls = [
        call
        for call in within(body)
        if call.type in CALLS and start <= call.start_byte < end and not _is_let_go(lock, start, call, file)
    ]
    for call in calls:
        words = _what_it_does(call, lock, owner, file)
        if words and not _WAITS.search(file.callee(call)) and not (is_of_a_resource and words != SLEEPS):
            yield _mark(call, words, lock, file, start)
            return
    if not is_of_a_resource:
        yield from _by_another(calls, lock, file, start)


def _by_another(calls: list[Node], lock: str, file: SourceFile, start: int) -> Iterator[Mark]:
    """Calls of functions that leave the process, where others take the lock for memory only: those of the file are
    seen here, `judge` knows the others."""
    met = [each for each in calls_of_others(calls, file) if not is_named_after(lock, each.node, file)]
    if not met or not lock_sections.is_taken_for_memory(lock, met[0].node, file, is_slow):
        return
    for each in met:
        if not _answers_from_memory(each.node, start, file):
            name, waits = short(file.callee(each.node).rpartition("/")[2]), _all_wait(lock)
            data = {"name": name, "called": each.called, "lock": str(start)} if each.called else None
            message = waits if each.called else f"`{name}` {each.words} {waits}"
            yield file.mark(RULE.id, each.node, message, confidence="low", data=data)


def _all_wait(lock: str) -> str:
    return f"while `{short(lock)}` is held: all others wait for it"


def _what_it_does(call: Node, lock: str, owner: str, file: SourceFile) -> str:
    """How a call under a lock leaves the process, in words. Who keeps files guards them while it writes, and who comes
    too often is made to wait."""
    name = file.callee(call)
    reads = what_it_reads(call, file)
    may_be_for_all = is_general(lock) or _is_of_memory(lock, file)
    is_left = reads == FILES and leaves_files_to_another(lock, file)
    is_of_files = reads == FILES and KEEPS_FILES.search(owner) is not None
    if reads and not is_left and (not may_be_for_all or is_of_files):
        reads = ""  # named after what it protects
    if reads and file.language == "go" and _guards_it_alone(lock, name, file):
        reads = ""
    words = _awaited(call, lock, file) or how_it_leaves(call, file) or reads
    return "" if words == SLEEPS and _LIMITS.search(owner) else words


def _mark(call: Node, words: str, lock: str, file: SourceFile, start: int) -> Mark:
    """Certain enough where another one takes the lock for memory only, and the answer is not what all wait for. A lock
    that is seen to guard nothing but slow work makes that work take turns."""
    message = f"`{short(file.callee(call).rpartition('/')[2])}` {words} {_all_wait(lock)}"
    is_guess = words != _AWAITED
    if words == SLEEPS or (words == FILES and leaves_files_to_another(lock, file)):
        return file.mark(RULE.id, call, message, confidence="low")
    data = {"reads": "files"} if words == FILES else {}
    is_of_memory = _is_of_memory(lock, file)
    if is_guess and lock_sections.is_taken_for_memory(lock, call, file, is_slow):
        is_guess = words in (*_OWN_DATA, ASKS)  # who tries again may have to keep the others out
        is_for_data = words == DATA and is_named_after(lock, call, file)
        if _answers_from_memory(call, start, file) or is_for_data or (words == FILES and not says_nothing(lock)):
            data["alone"] = "1"  # of files a name that says anything says enough
    elif (
        is_guess
        and not is_of_memory
        and (lock_sections.is_seen_whole(lock, file) or (words in _OWN_DATA and not says_nothing(lock)))
    ):
        data["alone"] = "1"
    return file.mark(RULE.id, call, message, confidence="low" if is_guess else "", data=data)


def _answers_from_memory(call: Node, start: int, file: SourceFile) -> bool:
    """Whether the function gives back what it finds under the lock before it asks: one asks, and the others wait for
    just that answer."""
    return _GIVES_BACK.search(file.source, start, call.start_byte) is not None


def _is_let_go(lock: str, start: int, call: Node, file: SourceFile) -> bool:
    """Whether the lock is released on the way to the call, before it is taken again."""
    before = file.source[start : call.start_byte].decode("utf-8", "replace")
    word = re.escape(lock.removesuffix(".RLock()"))
    free = re.search(
        rf"(?<!defer )(?<![\w.]){word}\.(?:R?Unlock|unlock|release)\(\)\s*(?:;|\n)(?!\s*(?:return|break)\b)", before
    )
    if re.search(
        rf"(?<!defer )(?<![\w.]){word}\.(?:R?Unlock|unlock|release)\(\)\s*(?:;|\n)\s*return\b[^}}]*\Z", before
    ):
        return True  # what this way out gives back is asked for after the release
    return free is not None and re.search(rf"(?<![\w.]){word}\.(?:R?Lock|lock|acquire)\(", before[free.end() :]) is None


def _guards_it_alone(lock: str, callee: str, file: SourceFile) -> bool:
    """Whether a Go struct holds nothing but the lock and what is called under it: one connection for all."""
    receiver, _, field = lock.rpartition(".")
    held = callee.removeprefix(f"{receiver}.").partition(".")[0]
    structs = re.findall(r"\btype\s+\w+\s+struct\s*\{([^{}]*)\}", file.source.decode("utf-8", "replace"))
    return any(
        {line.split()[0] for line in each.splitlines() if line.strip()} == {held, field} for each in structs if receiver
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A lock that is there for the slow work itself makes others wait on purpose; a module that keeps files guards just
    these by its lock."""
    if "alone" in mark.data:
        return None
    if "called" in mark.data:
        words = first_of_the_lock(mark, place, codebase)
        return place.finding(mark, message=f"`{mark.data['name']}` {words} {mark.message}") if words else None
    if "reads" in mark.data and KEEPS_FILES.search("/".join(PurePosixPath(place.path).parts[-2:])):
        return None
    return place.finding(mark)


def _is_of_memory(lock: str, file: SourceFile) -> bool:
    """Whether Java locks a collection that it declares: no file and no connection."""
    name = lock.removeprefix("this.")
    if file.language != "java" or not name.isidentifier():
        return False
    return any(map(_COLLECTION_TYPE.search, declarations(name, file)))


def _awaited(call: Node, lock: str, file: SourceFile) -> str:
    """A coroutine that waits while it holds a lock of threads blocks the loop for all that want it."""
    if not is_awaited(call) or not re.search(
        rf"\b{re.escape(lock.rpartition('.')[2])}\s*=\s*threading\.R?Lock\(", file.source.decode("utf-8", "replace")
    ):
        return ""
    return _AWAITED


WATCHES = (
    Watch("with", look_at_with, PYTHON, starts=_LOCK),
    Watch("synchronized_statement", look_at_synchronized, JAVA),
    Watch("function", look_at_method, JAVA, needs=(b"synchronized ",)),
    Watch("call", look_at_acquired, PYTHON, names=frozenset({"acquire"})),
    Watch("call", look_at_acquired, JAVA, names=frozenset({"lock"})),
    Watch("call", look_at_go, GO, names=frozenset({"Lock", "RLock"})),
)
