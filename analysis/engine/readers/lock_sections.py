"""What else a lock guards: the other functions of its file that take it."""

import re
from collections.abc import Callable

from tree_sitter import Node

from analysis.engine.extract.scopes import FunctionDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import CALLS, function_name, within

_SYNCHRONIZED = re.compile(rb"\bsynchronized\b")
_BLOCKS = frozenset({"synchronized_statement", "with_statement"})
_MADE = (
    rb"\bNAME\s*(?::[^=\n]+)?=\s*[^\n]*(?:Lock|Mutex|Semaphore|Condition|Monitor|Object)\w*\("
    rb"|\bNAME\s+(?:\*?sync\.(?:RW)?Mutex|=)"
)
_TAKEN = (
    rb"\bwith\s[^\n:]*\bNAME\b|\bsynchronized\s*\([^)\n]*\bNAME\b"
    rb"|\bNAME(?:\(\)|\.[rR](?:ead)?Lock\(\))?\.(?:R?Lock|lock|acquire)\("
)
_GO_CALLS = rb"(?P<later>\bdefer\s+)?(?:\w+\.)*\bNAME\.(?P<method>R?(?:Un)?[lL]ock)\("

_STARTS_OR_ENDS = re.compile(
    r"(?:^|[._])_*(?:start|init|initialize|initialise|setup|set_up|open|reconfigure|stop|close|shutdown|shut_down|shutDown"
    r"|destroy|dispose|terminate|Start|Init|Setup|Open|Reconfigure|Stop|Close|Shutdown|Terminate)(?![a-z])"
)

Leaves = Callable[[Node, SourceFile], bool]


def starts_or_ends(name: str) -> bool:
    """Whether a function begins or ends what it belongs to, by its name: nobody waits for it."""
    return _STARTS_OR_ENDS.search(name) is not None


def is_taken_for_memory(lock: str, node: Node, file: SourceFile, leaves: Leaves) -> bool:
    """Whether another function of the same class takes the lock of this node's function and does nothing slow: it waits
    for the slow one without need."""
    return any(
        not _is_slow(each, file, leaves, depth=1, held=_held_in(lock, each, file))
        for each in _others(lock, node, file)
        if not starts_or_ends(each.name)
    )


def is_seen_whole(lock: str, file: SourceFile) -> bool:
    """Whether the file makes the lock, so that all who take it stand here."""
    if lock.startswith("this") or file.language == "go":
        return True  # of Go the struct may stand in another file, and most methods do not
    return re.search(_MADE.replace(b"NAME", _word(lock)), file.source) is not None


def _others(lock: str, node: Node, file: SourceFile) -> list[FunctionDraft]:
    owner = function_name(node, file).rpartition(".")[0]
    taken = re.compile(_TAKEN.replace(b"NAME", _word(lock)))
    is_own = lock.startswith("this") or "." in lock
    return [
        each
        for each in file.functions[1:]
        if not each.node.start_byte <= node.start_byte < each.node.end_byte
        and (not is_own or each.name.rpartition(".")[0] == owner)
        and _takes(each.node, lock, taken, file)
    ]


def _takes(function: Node, lock: str, taken: re.Pattern[bytes], file: SourceFile) -> bool:
    body = function.child_by_field_name("body")
    if (
        lock.startswith("this")
        and body is not None
        and _SYNCHRONIZED.search(file.source, function.start_byte, body.start_byte)
    ):
        return True
    return taken.search(file.source, function.start_byte, function.end_byte) is not None


def _held_in(lock: str, function: FunctionDraft, file: SourceFile) -> tuple[int, int]:
    """The bytes between which a function holds the lock: its one block that takes it, or in Go up to the one release
    for the one time that it takes it; else the whole function."""
    start, end = function.node.start_byte, function.node.end_byte
    if file.language != "go":
        blocks = [each for each in within(function.node) if each.type in _BLOCKS and _names(lock, each, file)]
        return (blocks[0].start_byte, blocks[0].end_byte) if len(blocks) == 1 else (start, end)
    calls = list(re.compile(_GO_CALLS.replace(b"NAME", _word(lock))).finditer(file.source, start, end))
    is_pair = [each["method"] for each in calls] in ([b"Lock", b"Unlock"], [b"RLock", b"RUnlock"])
    return start, end if not is_pair or calls[1]["later"] else calls[1].start()


def _names(lock: str, block: Node, file: SourceFile) -> bool:
    """Whether the head of a block names the lock."""
    body = block.child_by_field_name("body")
    head_end = body.start_byte if body is not None else block.start_byte
    return re.search(rb"\b" + _word(lock) + rb"\b", file.source[block.start_byte : head_end]) is not None


def _is_slow(
    function: FunctionDraft, file: SourceFile, leaves: Leaves, depth: int, held: tuple[int, int] | None = None
) -> bool:
    """Whether a function calls something slow between two bytes, itself or by another function of the file."""
    start, end = held or (function.node.start_byte, function.node.end_byte)
    for call in within(function.node):
        if call.type in CALLS and start <= call.start_byte < end:
            if leaves(call, file):
                return True
            called = file.callee(call).rpartition(".")[2]
            inner = [each for each in file.functions[1:] if depth and each.short_name == called]
            if any(_is_slow(each, file, leaves, depth - 1) for each in inner):
                return True
    return False


def _word(lock: str) -> bytes:
    return re.escape(lock.removesuffix(".RLock()").rpartition(".")[2]).encode()
