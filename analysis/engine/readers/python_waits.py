"""What Python waits for by `get()` and `result()`: queues, futures, and jobs that workers or threads do."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import assigned_values, followed

_BY_NAME = re.compile(r"(?i)(^|[._])\w*(queue|fut|future)\.(get|result)$")
_MADE = re.compile(rb"\s*(?::[^=\n]{1,60})?=\s*([\w.]+)\(")
_QUEUES = re.compile(r"^(?:queue|multiprocessing)\.\w*Queue$")
# What Celery, a pool of processes or threads, or an executor is given to do.
_STARTS = r"(?:delay|apply_async|map_async|starmap_async|send_task)"
_STARTED = re.compile(rf"(?:[\w.]+\.{_STARTS}|(?:\w+\.)*AsyncResult)\(")
_STARTED_AT_ONCE = re.compile(rf"(?:\.{_STARTS}|(?:^|\.)AsyncResult)\(\)\.get$")
_SUBMITTED = re.compile(r"[\w.]*(?:[eE]xecutor|[pP]ool|workers)\.submit\(")


def waits_for_another(callee: str, call: Node, file: SourceFile) -> bool:
    """Whether a call of `get` or `result` returns when somebody else is ready, by the name of what it is called on or
    by what that was made as."""
    if _BY_NAME.search(callee) or _STARTED_AT_ONCE.search(callee):
        return True
    receiver, _, method = callee.rpartition(".")
    started = _STARTED if method == "get" else _SUBMITTED
    if receiver.isidentifier():
        values = assigned_values(receiver, call, file)
        if values and all(started.match(file.text(each)) for each in values):
            return True
    return method == "get" and _is_queue(receiver, file)


def _is_queue(receiver: str, file: SourceFile) -> bool:
    """Whether the file makes a queue of threads or processes under this name."""
    if not (file.mentions(b"queue") or file.mentions(b"multiprocessing")):
        return False
    made = followed(receiver.encode(), file.source, _MADE, b"_.")
    return any(_QUEUES.match(file.resolve(each[1].decode())) for each in made)
