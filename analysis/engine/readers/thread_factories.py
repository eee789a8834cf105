"""Threads of Java that a pool asks for, which says how many there are."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import function_name

# `Executors.newFixedThreadPool(4, r -> new Thread(r))`, also of a constructor
_IN_FACTORY = re.compile(
    rb"(?:\bExecutors?\.new\w+|ThreadPoolExecutor|ThreadFactory\s+\w+\s*=|\bsetThreadFactory)\s*\(?(?:[^;{}]*[,(])?\s*"
    rb"\(?\s*(?:Runnable\s+)?\w+\s*\)?\s*->\s*(?:\{[^{}]*)?\Z"
)
_NEAR = 300  # bytes before a thread in which its factory begins


def is_of_a_pool(call: Node, file: SourceFile) -> bool:
    """Whether a `ThreadFactory` makes the thread."""
    if function_name(call, file).rpartition(".")[2] == "newThread":
        return True
    return _IN_FACTORY.search(file.source, max(0, call.start_byte - _NEAR), call.start_byte) is not None
