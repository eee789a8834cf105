"""What Java waits for by `get()`, `join()`, `await()` and `take()`: futures, latches and blocking queues."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import declarations, function_text
from analysis.engine.readers.transactions import typed

_WAITS = re.compile(r"(^|\.)(\w*[fF]uture|\w*[lL]atch)(\(\))?\.(get|join|await)$")
# Of an executor, of `HttpClient`, of `CompletableFuture`.
_GIVES_FUTURE = re.compile(r"\.(?:submit|sendAsync|supplyAsync|runAsync)\(\)(?:\.\w+\(\))*$")
_SENDS = re.compile(r"kafka(?:Template|Producer)\.")
_WAITED_FOR = re.compile(rb"\b(?:Future|CompletableFuture|CountDownLatch|CyclicBarrier)(?:<[^;(){}\n]*>)?\s+\Z")
_BLOCKING_QUEUE = re.compile(rb"\b\w*Blocking(?:Queue|Deque)(?:<[^;(){}\n]*>)?\s+\Z")
# What comes after the futures are complete, or runs on a thread of its own, with the bracket of what it runs.
_WHEN_DONE = re.compile(
    rb"\bwhenAll(?:Complete|Succeed)\b|\b(?:whenComplete|then(?:Run|Apply|Accept|Compose)|handle)(?:Async)?\(\s*\Z"
    rb"|\badd(?:Listener|Callback)\(\s*\Z|\b(?:supplyAsync|runAsync)\(\s*\Z"
)
_IS_COMPLETE = re.compile(r"\.isDone\(\)|CompletableFuture\.allOf")
LONGEST_CHAIN = 500  # bytes before a function that is given to others


def waits_for_ever(call: Node, file: SourceFile) -> bool:
    """Whether a call without arguments returns only when somebody else is ready, by the name or the declaration of what
    it is called on."""
    callee = file.callee(call)
    receiver, _, method = callee.rpartition(".")
    if file.arguments(call)[0] or "Timeout()" in callee:
        return False
    if not (_WAITS.search(callee) or _is_declared_to_wait(receiver, method, file) or _is_sent(receiver, file)):
        return False
    if _IS_COMPLETE.search(function_text(call, file)) or _runs_when_done(call, file):
        return False
    # What such a reference holds is there at once.
    held = rb"\bAtomicReference<[^;\n]*\b" + re.escape(callee.split(".")[-2].encode()) + rb"\b"
    return re.search(held, file.source) is None


def _is_sent(receiver: str, file: SourceFile) -> bool:
    """Whether what a call gives is a future for certain: of an executor, of a client, of what Kafka is sent."""
    if _GIVES_FUTURE.search(receiver) is not None:
        return True
    return receiver.endswith(".send()") and _SENDS.match(typed(receiver.removesuffix("()"), file)) is not None


def _is_declared_to_wait(receiver: str, method: str, file: SourceFile) -> bool:
    """Whether Java declares the name as something that lets its caller wait: a future, a latch, a blocking queue."""
    name = receiver.removeprefix("this.")
    kind = _BLOCKING_QUEUE if method == "take" else _WAITED_FOR
    return name.isidentifier() and any(kind.search(before) for before in declarations(name, file))


def _runs_when_done(call: Node, file: SourceFile) -> bool:
    """Whether the call stands in what runs when futures are complete: `whenAllComplete(a, b).call(() -> ...)`."""
    node = call
    while node.parent is not None and node.type != "method_declaration":
        if node.type == "lambda_expression":
            start = max(0, node.start_byte - LONGEST_CHAIN)
            before = file.source[start : node.start_byte].rpartition(b";")[2]
            if _WHEN_DONE.search(before) is not None:
                return True
        node = node.parent
    return False
