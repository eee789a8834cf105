"""Pools of threads in Java: those that grow for ever, and the threads that a pool asks for."""

import re
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import function_name

BOUNDED = "Use a pool of fixed size with a bounded queue."
_ENDLESS_QUEUE = re.compile(r"new\s+LinkedBlocking(?:Queue|Deque)(?:<[^>()]*>)?\(\s*\)")
# `Executors.newFixedThreadPool(4, r -> new Thread(r))`, also of a constructor
_IN_FACTORY = re.compile(
    rb"(?:\bExecutors?\.new\w+|ThreadPoolExecutor|ThreadFactory\s+\w+\s*=|\bsetThreadFactory)\s*\(?(?:[^;{}]*[,(])?\s*"
    rb"\(?\s*(?:Runnable\s+)?\w+\s*\)?\s*->\s*(?:\{[^{}]*)?\Z"
)
_NEAR = 300  # bytes before a thread in which its factory begins


class Pool(NamedTuple):
    """What is wrong with a pool, and what to do."""

    message: str
    suggestion: str


def grows_for_ever(call: Node, file: SourceFile) -> Pool | None:
    """The pool that a call makes, when it starts threads or keeps tasks without end."""
    callee = file.callee(call)
    if callee.endswith("Executors.newCachedThreadPool"):
        message = "`newCachedThreadPool` starts a thread for every task that finds none free"
        return Pool(message, BOUNDED)
    if callee.endswith("ThreadPoolExecutor") and _ENDLESS_QUEUE.search(file.text(call)):
        message = "The queue of this `ThreadPoolExecutor` has no limit: tasks wait in memory, however many there are"
        return Pool(message, "Give the queue a capacity and the executor a `RejectedExecutionHandler`.")
    return None


def is_of_a_pool(call: Node, file: SourceFile) -> bool:
    """Whether a `ThreadFactory` makes the thread."""
    if function_name(call, file).rpartition(".")[2] == "newThread":
        return True
    return _IN_FACTORY.search(file.source, max(0, call.start_byte - _NEAR), call.start_byte) is not None
