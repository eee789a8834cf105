"""A lock is taken, and there is a way out on which it is not released."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts, Mark
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.go_lock_paths import leaving
from analysis.engine.readers.lock_names import is_lock_in_java
from analysis.engine.readers.reading import followed, function_name, text_after, text_before
from analysis.engine.rules.base import ALL, GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="risk-lock-not-released",
    type="lock_not_released",
    category=Category.RUNTIME_RISK,
    title="Lock not released",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Release in `finally`/`defer mu.Unlock()` right after acquiring.",
    languages=ALL,
)
GUIDE = Guide(
    why="The way out that forgets the lock is the error, and after it everybody waits.",
    flagged=(
        {
            "shop/store.go": """
package shop

func (s *Store) take(key string) int {
	s.mu.Lock()
	if s.closed {
		return 0
	}
	s.mu.Unlock()
	return 1
}
"""
        },
    ),
    fine=(
        {
            "shop/store.go": """
package shop

func (s *Store) take(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key]
}
"""
        },
    ),
)

_BY_CONTRACT = re.compile(
    r"(^|[._])_*(r?lock|unlock|acquire|enter|begin|start|suspend|hold)\w*$|__a?enter__$", re.IGNORECASE
)
_LOCK = re.compile(r"lock|mutex|semaphore|^(\w+\.)*mu$", re.IGNORECASE)
_BOUND = re.compile(rb"\b(?:const|let|var)\s+(?:\[\s*\w+\s*,\s*)?(\w+)\s*\]?\s*=\s*(?:await\s+)?\Z")
_ONCE = re.compile(r"\.acquire\((?:blocking\s*=\s*)?False\)$")
_KEPT = re.compile(rb"\bthis\.#?\w+\s*=\s*(?:await\s+)?\Z")
_MADE = re.compile(r"(?:\s*:[^=\n]+)?\s*=\s*(?:\w+\.)*(?:R?Lock|(?:Bounded)?Semaphore|Condition)\(")
_MADE_BY_SCRIPT = re.compile(
    rb"\s*(?::[^=\n]+)?=\s*(?:withTimeout\(\s*)?new\s+(?:\w+\.)?(?:Mutex|Semaphore|\w*Lock)(?:<[^\n>]*>)?\("
    rb"|\s*:\s*(?:MutexInterface|SemaphoreInterface|Mutex|Semaphore)\b"
)
_THROWS = re.compile(
    r"\bthrow\b|\braise\b|(?<![\w.])(?!(?:if|while|for|switch|catch|synchronized|len|set|dict|list)\b)\w+\("
    r"|(?<!log)(?<!LOG)(?<!logger)(?<!LOGGER)\.(?!(?:add|put|get|remove|size|isEmpty|contains\w*|poll|peek|signal\w*|append|pop|discard|clear|set|incrementAndGet"
    r"|getAndIncrement|keys|values|items)\()\w+\("
)  # more than what collections and counters are asked
_HANDED_ON = re.compile(r"\b(?!\()")
_EXPIRES = re.compile(r"(?i)ttl|expir|lease|duration")
_CLOSURES = frozenset({"arrow_function", "function_expression"})
_OPPOSITE = {
    "Lock": "Unlock",
    "RLock": "RUnlock",
    "lock": "unlock",
    "lockInterruptibly": "unlock",
    "tryLock": "unlock",
    "acquire": "release",
}

_TAKES = {"Unlock": ("Lock", "TryLock"), "RUnlock": ("RLock", "TryRLock")}


def look_at_go(call: Node, file: SourceFile) -> Iterator[Mark]:
    receiver, release = _names(call, file)
    if not receiver or file.arguments(call)[0]:
        return
    parent = call.parent
    if parent is not None and parent.type == "defer_statement":
        if f"{receiver}.{release}()" in text_before(call, file):
            return  # taken again for the caller
        message = f"`defer {receiver}.{_last(call, file)}()` locks when the function ends; `{release}` was meant"
        yield file.mark(RULE.id, call, message, suggestion=f"Write `defer {receiver}.{release}()`.")
        return
    if parent is None or parent.type != "expression_statement":
        return  # its result is asked for: no mutex
    rest = text_after(call, file)
    if rest.lstrip().startswith(f"{receiver}.{release}()"):
        message = f"`{receiver}` is locked and released at once: nothing is protected"
        yield file.mark(RULE.id, call, message, confidence="medium")  # or it waits for its turn
        return
    if rest.lstrip().startswith(f"defer {receiver}.{_last(call, file)}()"):
        return  # told there
    function = file.enclosing_function(call)
    body = function.child_by_field_name("body") if function is not None else None
    if function is None or body is None or _is_released_around(receiver, release, function, file):
        return
    how = leaving(f"{receiver}.{_last(call, file)}()", f"{receiver}.{release}()", body, file)
    if call.start_byte not in how or _is_handed_over(receiver, release, call, file):
        return
    data = {"release": f"{receiver.rpartition('.')[2]}.{release}"}
    if f"{receiver}.{release}()" in rest:
        left = how[call.start_byte]
        message = f"`{receiver}` stays locked when the function leaves by `{left}`" if left else ""
        yield file.mark(RULE.id, call, message or f"`{receiver}` stays locked on one way to the end", data=data)
    else:
        message = f"`{receiver}` is locked and never released in this function"
        yield file.mark(RULE.id, call, message, confidence="medium", data=data)


def _is_released_around(receiver: str, release: str, function: Node, file: SourceFile) -> bool:
    """Whether the lock is taken in a closure, and the function around it releases it."""
    if function.type != "func_literal":
        return False
    around = file.functions[file.function_of(function.parent or function)].node
    outside = file.source[around.start_byte : function.start_byte] + file.source[function.end_byte : around.end_byte]
    return f"{receiver}.{release}(".encode() in outside


def _is_handed_over(receiver: str, release: str, call: Node, file: SourceFile) -> bool:
    """Whether somebody else releases the lock: the caller by the function's contract, a closure, another function that
    only releases it, or the deferred release of the value that is put in the place of this one."""
    before, rest = text_before(call, file), text_after(call, file)
    if _BY_CONTRACT.search(function_name(call, file)) and f"{receiver}.{release}(" not in rest:
        return True
    if "func(" in rest and f"{receiver}.{release}" in rest.partition("func(")[2]:
        return True
    return (
        _is_copied(receiver, release, rest, before)
        or next(followed(f"{receiver}.{release}", before + rest, _HANDED_ON, ""), None) is not None
        or _released_elsewhere(receiver, release, call, file)
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A lock of Go may be released by a function of another file of its package."""
    release = mark.data.get("release", "")
    if release and any(_only_releases(facts, release) for path, facts in codebase.sources if _beside(path, place.path)):
        return None
    return place.finding(mark)


def _beside(path: str, other: str) -> bool:
    return path != other and path.rpartition("/")[0] == other.rpartition("/")[0]


def _only_releases(facts: FileFacts, release: str) -> bool:
    """Whether a function of the file releases such a lock without having taken it."""
    owner, _, method = release.rpartition(".")
    taken = tuple(f"{owner}.{way}" for way in _TAKES[method])
    return any(
        any(_ends_with(call, release) for call in function.calls)
        and not any(_ends_with(call, each) for call in function.calls for each in taken)
        for function in facts.functions
    )


def _ends_with(call: str, name: str) -> bool:
    return call == name or call.endswith(f".{name}")


def _is_copied(receiver: str, release: str, rest: str, before: str) -> bool:
    """Whether the locked value is put where another one stood whose release is deferred."""
    owner, _, field = receiver.partition(".")
    taken = re.search(rf"([\w.]+)\s*=\s*\*?{re.escape(owner)}\s*$", rest, re.MULTILINE)
    return taken is not None and f"defer {taken[1]}.{field}.{release}()" in before


def _released_elsewhere(receiver: str, release: str, call: Node, file: SourceFile) -> bool:
    """Whether another function of the file releases a lock of that name without taking it: the other half of a pair."""
    field = receiver.rpartition(".")[2]
    own = file.function_of(call)
    given = re.compile(rf"(?<![\w.])(?:\w+\.)*{re.escape(field)}\.{release}\b")
    taken = re.compile(rf"(?<![\w.])(?:\w+\.)*{re.escape(field)}\.(?:Try)?{_last(call, file)}\(")
    nodes = [each.node for each in file.functions[1:] if each.index != own]
    named = f"{field}.{release}".encode()
    texts = [file.text(node) for node in nodes if file.source.find(named, node.start_byte, node.end_byte) >= 0]
    if file.language == "go" and f"{receiver}.{release}(" in text_after(call, file):
        # What only releases belongs to what only takes, and not to who does both.
        halves = [text for text in map(file.text, nodes) if taken.search(text)]
        if any(taken.search(half) and not given.search(half) for half in halves):
            return False
    return any(given.search(text) and not taken.search(text) for text in texts)


def _is_caught(rest: str, unlock: str) -> bool:
    """Whether the handler of the failure releases as well, or a callback does."""
    return re.search(rf"(?:\bcatch\b[^{{}}]*\{{|->)[^{{}};]*{unlock}", rest) is not None


def look_at_script(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`const release = await mutex.acquire()` of a lock library, released on the straight way only."""
    receiver, release = _names(call, file)
    named = _BOUND.search(file.source, max(0, call.start_byte - 120), call.start_byte)
    is_lock = _LOCK.search(receiver) is not None or _is_made_as_lock(receiver, file)
    if not receiver or not is_lock or _BY_CONTRACT.search(function_name(call, file)):
        return
    given = file.arguments(call)[0]
    if any(each.type in _CLOSURES or _EXPIRES.search(file.text(each)) for each in given):
        return  # the lock runs what it is given, or releases itself after a while
    before = file.source[max(0, call.start_byte - 120) : call.start_byte]
    if _KEPT.search(before) is not None:
        return  # another method releases it
    rest = text_after(call, file)
    freed = rf"{re.escape(receiver)}\.{release}\(" + (rf"|\b{named[1].decode()}\??\.?\(" if named is not None else "")
    if named is not None and re.search(rf"\breturn\b[^\n]*\b{named[1].decode()}\b(?!\()", rest):
        return
    if named is not None and re.match(rf"\)?;?\s*(?:{freed})", rest):
        return  # it only waits for its turn
    if re.match(r"\.then\(", rest) and ".finally(" in rest:
        return  # what it is handed is called at the end of the chain
    if re.search(rf"catch\b[^{{}}]*\{{[^{{}}]*(?:{freed})[^{{}}]*\bthrow\b", rest):
        return  # released on each way out
    if not re.search(freed, rest):
        if _released_elsewhere(receiver, release, call, file):
            return
        yield file.mark(RULE.id, call, f"`{receiver}` is acquired and never released in this function")
    elif not re.search(rf"finally\s*(?:\{{|\()[\s\S]*?(?:{freed})", rest):
        yield file.mark(
            RULE.id,
            call,
            f"`{receiver}` stays locked when something between here and its release throws",
            confidence="medium",
            suggestion="Release it in `finally`, or use `runExclusive`.",
        )


def _is_made_as_lock(receiver: str, file: SourceFile) -> bool:
    """Whether a script makes it as a lock of a library: `gate = new Mutex()`."""
    if not any(map(file.mentions, (b"Mutex(", b"Semaphore(", b"Lock(", b"withTimeout("))):
        return False
    name = receiver.rpartition(".")[2].encode()
    return next(followed(name, file.source, _MADE_BY_SCRIPT, b"_$"), None) is not None


def look_at_java(call: Node, file: SourceFile) -> Iterator[Mark]:
    receiver, release = _names(call, file)
    if not receiver or not _is_lock(receiver, file):
        return
    if release == "unlock" and _last(call, file) != "tryLock" and file.arguments(call)[0]:
        return  # it is told for what to lock, or runs what it is given: no `Lock` of Java
    if re.search(rf"\btry\s*\([^{{}}]*\b{re.escape(receiver)}\s*=", text_before(call, file)):
        return  # the end of the block closes it
    if _last(call, file) == "tryLock" and not _is_condition(call, receiver, file):
        return
    rest = text_after(call, file)
    unlock = rf"{re.escape(receiver)}\s*\.{release}\("
    is_released = re.search(unlock, rest) is not None
    if re.search(rf"\breturn\s+(?:new\s+\w+[^{{}};]*\{{|\(\)\s*->)[\s\S]*{unlock}", rest):
        return  # whoever is given the answer releases it by that
    if not is_released and release == "release" and not _LOCK.search(receiver):
        return  # a semaphore by which another thread says that it goes on
    if not is_released and (
        _BY_CONTRACT.search(function_name(call, file))
        or _is_handed_on(receiver, rest)
        or _released_elsewhere(receiver, release, call, file)
    ):
        return
    if not is_released:
        message = f"`{receiver}` is locked and never released in this method"
        yield file.mark(RULE.id, call, message, confidence="" if _is_declared(receiver, file) else "medium")
    elif not re.search(rf"finally\s*\{{[\s\S]*?{unlock}", rest) and not _is_caught(rest, unlock):
        message = f"`{receiver}` stays locked when something between here and `{release}` throws"
        confidence = _when_it_throws(rest, unlock)
        if confidence != "low" or not _is_released_by_each(rest, unlock):
            yield file.mark(RULE.id, call, message, confidence=confidence)


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    receiver, release = _names(call, file)
    if not file.function_of(call):
        return  # what a program takes at its top level ends with it
    parent = call.parent
    statement = parent.parent if parent is not None and parent.type == "await" else parent
    if not receiver or statement is None or not _is_lock(receiver, file):
        return
    if statement.type != "expression_statement" and not _is_condition(call, receiver, file):
        return
    rest = text_after(call, file)
    unlock = rf"{re.escape(receiver)}\.{release}\("
    if re.match(rf"\)?:\s*{unlock}", rest):
        return  # it only asks whether the lock is free
    if _released_elsewhere(receiver, release, call, file):
        return
    if not re.search(rf"{re.escape(receiver)}\.{release}\b", rest):
        if _ONCE.search(file.text(call)):
            return  # taken by the first one for good
        if _BY_CONTRACT.search(function_name(call, file)) or _is_handed_on(receiver, rest):
            return
        message = f"`{receiver}` is acquired and never released in this function"
        yield file.mark(RULE.id, call, message, confidence="" if _is_declared(receiver, file) else "medium")
    elif not re.search(rf"finally:[\s\S]*?{unlock}|\.{release}\b(?!\()", rest):
        confidence = _when_it_throws(rest, unlock)
        if confidence == "low" and _is_released_by_each(rest, unlock):
            return
        message = f"`{receiver}` stays locked when something between here and `{release}` raises"
        yield file.mark(RULE.id, call, message, confidence=confidence)


def _is_released_by_each(rest: str, unlock: str) -> bool:
    """Whether several ways lead out, and each releases right before it."""
    ways = len(re.findall(r"^\s*(?:return|raise|throw)\b", rest, re.MULTILINE))
    freed = len(re.findall(rf"{unlock}\)\s*[;\n]\s*(?:return|raise|throw)\b", rest))
    return len(re.findall(unlock, rest)) > 1 and ways == freed


def _when_it_throws(rest: str, unlock: str) -> str:
    """Medium where a call between taking and releasing may fail; what collections are asked seldom does."""
    return "medium" if _THROWS.search(re.split(unlock, rest, maxsplit=1)[0].removeprefix(")")) else "low"


def _is_condition(call: Node, receiver: str, file: SourceFile) -> bool:
    """Whether an `if` asks for nothing but whether the lock could be taken."""
    asked = file.statement_of(call)
    text = file.text(asked)[:200] if asked.type == "if_statement" else ""
    return (
        re.match(rf"if[\s(]+(?:not\s+|!)?(?:await\s+)?{re.escape(receiver)}\.(?:acquire|tryLock)\(", text) is not None
    )


def _is_lock(receiver: str, file: SourceFile) -> bool:
    """Whether it is called a lock, or this file declares it as one or as a semaphore."""
    return _LOCK.search(receiver) is not None or _is_declared(receiver, file)


def _is_declared(receiver: str, file: SourceFile) -> bool:
    name = receiver.rpartition(".")[2]
    if file.language == "java":
        return is_lock_in_java(name, file)
    if not (file.mentions(b"Lock(") or file.mentions(b"Semaphore(") or file.mentions(b"Condition(")):
        return False
    source = file.source.decode("utf-8", "replace")
    return next(followed(name, source, _MADE, "_"), None) is not None


def _is_handed_on(receiver: str, rest: str) -> bool:
    """Whether a function, or the caller, is given the lock, and may release it."""
    word = re.escape(receiver)
    return re.search(rf"[(,]\s*{word}\s*[,)]|\breturn\s+{word}\s*(?:;|\n|\Z)", rest) is not None


def _names(call: Node, file: SourceFile) -> tuple[str, str]:
    """What is locked, and the method that releases it."""
    start, end = file.dialect.callee(call)
    receiver, _, method = file.source[start:end].decode("utf-8", "replace").rpartition(".")
    is_plain = re.fullmatch(r"[\w.]+(\(\))?", receiver) is not None
    return (receiver if is_plain else ""), _OPPOSITE.get(method, "")


def _last(call: Node, file: SourceFile) -> str:
    return file.callee(call).rpartition(".")[2]


WATCHES = (
    Watch("call", look_at_go, GO, names=frozenset({"Lock", "RLock"})),
    Watch("call", look_at_java, JAVA, names=frozenset({"lock", "lockInterruptibly", "tryLock", "acquire"})),
    Watch("call", look_at_python, PYTHON, names=frozenset({"acquire"})),
    Watch("call", look_at_script, SCRIPT, names=frozenset({"acquire"})),
)
