"""Blobs read through one `git cat-file --batch` process."""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from analysis.git.command import GitProcess
from analysis.git.errors import DamagedRepository
from analysis.git.limits import DEFAULT_LIMITS, GitLimits
from analysis.git.naming import is_hash

# POSIX promises that a pipe takes 4096 bytes, so as many unanswered requests of a hash and a line end can be written
# without ever blocking, even while git itself waits for us to read.
REQUESTS_AHEAD = 4096 // 65
MOST_LOST = 50


class BlobReader:
    """Reads blobs by hash. A context manager; it belongs to the process that made it: forked children open their own.

    A blob that is missing, damaged, not a blob or larger than `limits.file_bytes` reads as None.
    `deadline` is a `time.monotonic()` instant; after it GitTimedOut is raised. Without one, `limits.read_seconds` from
    the opening on.
    """

    def __init__(self, folder: Path, *, limits: GitLimits = DEFAULT_LIMITS, deadline: float | None = None) -> None:
        self._folder = folder
        self._limits = limits
        self._owner = os.getpid()
        self._lost = 0
        self._buffer = bytearray()
        self._process = self._start(deadline)

    def __enter__(self) -> "BlobReader":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self, blob: str) -> bytes | None:
        """The content of one blob; None when it cannot be read."""
        return next(self.read_many((blob,)))[1]

    def read_many(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """The blobs in the order asked, requested ahead. Read it to its end before the next call."""
        if os.getpid() != self._owner:
            raise RuntimeError("A BlobReader cannot be used in a forked child; open one there")
        waiting: deque[str] = deque()
        asked_again = None
        source = iter(blobs)
        following = next(source, None)
        while waiting or following is not None:
            while following is not None and len(waiting) < REQUESTS_AHEAD:
                self._request(following)
                waiting.append(following)
                following = next(source, None)
            blob = waiting[0]
            try:
                content = self._answer(blob)
            except _Ended:
                if asked_again != blob:  # something else may have ended git: memory, an operator
                    asked_again = blob
                    self._restart(waiting)
                    continue
                content = None
                self._lose_one()
                self._restart(list(waiting)[1:])
            waiting.popleft()
            yield blob, content

    def close(self) -> None:
        """End git. Safe to call twice."""
        self._process.kill()

    def _start(self, deadline: float | None) -> GitProcess:
        return GitProcess(self._folder, ("cat-file", "--batch"), limits=self._limits, deadline=deadline)

    def _lose_one(self) -> None:
        """Give up the object that ended git twice: it costs one file, not the run."""
        self._lost += 1
        if self._lost > MOST_LOST:
            raise DamagedRepository(detail=self._process.words)

    def _restart(self, unanswered: Iterable[str]) -> None:
        """Start git again after it ended in the middle of its answers."""
        deadline = self._process.deadline
        self._process.kill()
        self._buffer.clear()
        self._process = self._start(deadline)
        for blob in unanswered:
            self._request(blob)

    def _request(self, blob: str) -> None:
        if not is_hash(blob):
            raise ValueError("A blob is asked for by its hash")
        self._process.write(blob.encode() + b"\n")

    def _answer(self, blob: str) -> bytes | None:
        """Read `hash type size`, the content and a line end; or `hash missing`."""
        header = self._line().split(b" ")
        if not header[0].startswith(blob.encode()):
            raise RuntimeError("The last read_many was not read to its end")
        if len(header) != 3:
            return None
        size = int(header[2])
        if size > self._limits.file_bytes:
            self._skip(size + 1)
            return None
        content = self._take(size + 1)[:size]
        return content if header[1] == b"blob" else None

    def _line(self) -> bytes:
        while b"\n" not in self._buffer:
            self._more()
        end = self._buffer.index(b"\n")
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._more()
        content = bytes(memoryview(self._buffer)[:size])
        del self._buffer[:size]
        return content

    def _skip(self, size: int) -> None:
        while size > len(self._buffer):
            size -= len(self._buffer)
            self._buffer.clear()
            self._more()
        del self._buffer[:size]

    def _more(self) -> None:
        chunk = self._process.read()
        if not chunk:
            raise _Ended
        self._buffer += chunk


class _Ended(Exception):
    """git ended in the middle of its answers."""
