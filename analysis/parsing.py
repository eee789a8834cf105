"""Parse many blobs in child processes that may crash, hang or be killed; a lost parser costs one file.

Each child is forked after the rules are loaded and the parsers of its first files made, opens a reader of its own
(`git cat-file`, or a folder), and hands facts back as length-prefixed bytes, never pickle. The kernel ends a child when
one file has taken `CPU_SECONDS_PER_FILE`, whatever else the machine does, and one that hangs is killed. The file in its
hands gets a second chance alone, since something else may have ended the child, and is recorded as unparsable when that
fails as well; the rest of the list goes to a new child. No Django in here.
"""

import contextlib
import gc
import os
import selectors
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from analysis.engine.extract import extract, prepare
from analysis.engine.facts import PARSER_FAILED, TOOK_TOO_LONG, FileFacts, encode
from analysis.engine.languages import language_read
from analysis.supervision import cpu_limit, cpu_seconds, fork_child, kill_group, ran_out_of_cpu

CPU_SECONDS_PER_FILE = 5.0
SILENT_SECONDS = 60.0  # without an answer and without computing anything
CHUNK_BYTES = 400_000
FILES_PER_CHILD = 5_000  # a parser does not grow with them; what a library should leak ends with it
CHILD_MEMORY_BYTES = 4 * 1024**3
NAMES = ("utf-8", "surrogateescape")  # a file of a plain folder is known by its name, whatever bytes it is made of
MISSING = "missing from the clone"
FRAME = struct.Struct(">I")


class Reader(Protocol):
    """Where blobs come from; None for one that is not there."""

    def read(self, blob: str) -> bytes | None: ...


OpenReader = Callable[[], AbstractContextManager[Reader]]


@dataclass(frozen=True, slots=True)
class BlobToParse:
    """`blob` is what the reader knows it by: a hash, or a path below a folder."""

    blob: str
    reading: str  # see `languages.reading_of`
    size: int


class SecondChance(list[BlobToParse]):
    """A chunk of one file that a parser was lost on."""


@dataclass(slots=True)
class Parser:
    """A child and the files that it still owes, in the order it works on them."""

    pid: int
    channel: socket.socket
    owed: deque[BlobToParse] = field(default_factory=deque)
    received: bytearray = field(default_factory=bytearray)
    files: int = 0
    silent_since: float = 0.0
    cpu_seconds: float = 0.0  # when its silence was last looked into
    is_second_chance: bool = False
    is_gone: bool = False


def parse_blobs(
    open_reader: OpenReader, todo: Iterable[BlobToParse], *, workers: int
) -> Iterator[tuple[BlobToParse, bytes]]:
    """Yield each blob with its encoded facts, as they come. A blob that cannot be parsed yields facts that say so.

    `todo` is read as the parsers need more.
    """
    chunks = Chunks(todo)
    with selectors.DefaultSelector() as selector:
        parsers: list[Parser] = []
        try:
            while len(parsers) < workers and chunks:
                parsers.append(_start(chunks.next(), open_reader, selector))
            while parsers:
                for key, _ in selector.select(timeout=0.2):
                    yield from _receive(key.data)
                for parser in list(parsers):
                    yield from _look_after(parser, parsers, chunks, open_reader, selector)
        finally:
            for parser in parsers:
                _stop(parser, selector)


class Chunks:
    """Lists of files for a parser: those that came back go first, then new ones, cut as they are wanted."""

    def __init__(self, todo: Iterable[BlobToParse]) -> None:
        self._new = _chunks(todo)
        self._first: deque[list[BlobToParse]] = deque()
        self._last: deque[list[BlobToParse]] = deque()

    def __bool__(self) -> bool:
        if not self._first and (chunk := next(self._new, None)):
            self._first.append(chunk)
        return bool(self._first or self._last)

    def next(self) -> list[BlobToParse]:
        return self._first.popleft() if self and self._first else self._last.popleft()

    def put_first(self, chunk: list[BlobToParse]) -> None:
        self._first.appendleft(chunk)

    def put_last(self, chunk: list[BlobToParse]) -> None:
        self._last.append(chunk)


def _chunks(todo: Iterable[BlobToParse]) -> Iterator[list[BlobToParse]]:
    chunk: list[BlobToParse] = []
    size = 0
    for item in todo:
        chunk.append(item)
        size += item.size
        if size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _look_after(
    parser: Parser,
    parsers: list[Parser],
    chunks: Chunks,
    open_reader: OpenReader,
    selector: selectors.BaseSelector,
) -> Iterator[tuple[BlobToParse, bytes]]:
    is_hung = _is_hung(parser)
    if parser.owed and not is_hung and not parser.is_gone:
        return
    if not parser.owed and not parser.is_gone and parser.files < FILES_PER_CHILD and chunks:
        _give(parser, chunks.next())
        return
    status = _stop(parser, selector)
    parsers.remove(parser)
    if parser.owed:
        lost = parser.owed.popleft()
        if parser.is_second_chance:
            took_too_long = is_hung or ran_out_of_cpu(status)
            yield lost, _unparsable(lost, TOOK_TOO_LONG if took_too_long else PARSER_FAILED)
        else:
            chunks.put_last(SecondChance([lost]))
        if parser.owed:
            chunks.put_first(list(parser.owed))
    if chunks:
        parsers.append(_start(chunks.next(), open_reader, selector))


def _is_hung(parser: Parser) -> bool:
    """Whether it has neither answered nor computed for a while. One that waits for its turn on a busy machine, or for
    us to read, has not hung."""
    if not parser.owed or parser.is_gone or time.monotonic() - parser.silent_since < SILENT_SECONDS:
        return False
    before, parser.cpu_seconds = parser.cpu_seconds, sum(cpu_seconds(parser.pid))
    parser.silent_since = time.monotonic()
    return parser.cpu_seconds == before and not _has_unread(parser.channel)


def _has_unread(channel: socket.socket) -> bool:
    try:
        channel.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    return True


def _unparsable(item: BlobToParse, reason: str) -> bytes:
    return encode(FileFacts(language=language_read(item.reading), skipped=reason))


def _start(chunk: list[BlobToParse], open_reader: OpenReader, selector: selectors.BaseSelector) -> Parser:
    for reading in {item.reading for item in chunk}:
        prepare(reading)  # before the fork, so that the children after this one have it too
    ours, theirs = socket.socketpair()

    def work() -> None:
        gc.disable()  # facts hold no circles, and a look for some would copy all that is shared with the parent
        ours.close()
        _parse_for(theirs, open_reader)

    pid = fork_child(work, memory_bytes=CHILD_MEMORY_BYTES)
    theirs.close()
    parser = Parser(pid=pid, channel=ours)
    selector.register(ours, selectors.EVENT_READ, parser)
    _give(parser, chunk)
    return parser


def _give(parser: Parser, chunk: list[BlobToParse]) -> None:
    parser.owed.extend(chunk)
    parser.is_second_chance = isinstance(chunk, SecondChance)
    parser.files += len(chunk)
    parser.silent_since = time.monotonic()
    order = b"\0".join(f"{item.reading} {item.blob}".encode(*NAMES) for item in chunk)
    with contextlib.suppress(OSError):  # a child that is gone is noticed when its channel reads empty
        parser.channel.sendall(FRAME.pack(len(order)) + order)


def _receive(parser: Parser) -> Iterator[tuple[BlobToParse, bytes]]:
    try:
        data = parser.channel.recv(1 << 20)
    except OSError:
        data = b""
    if not data:
        parser.is_gone = True
        return
    parser.received += data
    parser.silent_since = time.monotonic()
    position = 0
    while len(parser.received) - position >= FRAME.size:
        (length,) = FRAME.unpack_from(parser.received, position)
        end = position + FRAME.size + length
        if len(parser.received) < end:
            break
        yield parser.owed.popleft(), bytes(parser.received[position + FRAME.size : end])
        position = end
    del parser.received[:position]


def _stop(parser: Parser, selector: selectors.BaseSelector) -> int:
    """End it; its exit status."""
    # While it is open: younger children hold copies of the channel, and epoll would go on telling of its end under a
    # number that another channel has by then.
    selector.unregister(parser.channel)
    parser.channel.close()
    return kill_group(parser.pid)


def _parse_for(channel: socket.socket, open_reader: OpenReader) -> None:
    with channel, channel.makefile("rb") as orders, open_reader() as reader:
        while header := orders.read(FRAME.size):
            for line in orders.read(FRAME.unpack(header)[0]).split(b"\0"):
                reading, _, blob = line.decode(*NAMES).partition(" ")
                with cpu_limit(CPU_SECONDS_PER_FILE):
                    facts = _facts_of(reader, blob, reading)
                channel.sendall(FRAME.pack(len(facts)) + facts)


def _facts_of(reader: Reader, blob: str, reading: str) -> bytes:
    content = reader.read(blob)
    if content is None:
        return missing_facts(reading)
    return encode(extract(content, reading))


@lru_cache
def missing_facts(reading: str) -> bytes:
    """What is said of a blob that could not be read."""
    return encode(FileFacts(language=language_read(reading), skipped=MISSING))


def available_cores() -> int:
    """How many processes can work at once on this machine."""
    return len(os.sched_getaffinity(0))
