"""The lines around a violation, read from the bare clone at the commit of the last good scan."""

import re
import time
from dataclasses import dataclass

from analysis.engine.extract.text import normalise
from analysis.git.blobs import BlobReader
from analysis.git.errors import GitError
from analysis.models import Repository, Violation
from analysis.services.git_limits import git_limits
from analysis.services.inputs import scanned_blob
from config.errors import Conflict, NotFound

GIT_SECONDS = 5.0  # somebody waits for the answer
LONGEST_LINE = 500  # characters
# Control characters but the tab, and marks that turn the direction of text: code must not look other than it is.
_DECEIVING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class FileGone(NotFound):
    message = "The file of this violation is not in the commit of the last scan, or it is no text of at most 1 MiB"


class CloneGone(Conflict):
    message = "The code is not at hand on this server; the next scan fetches it again"


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Consecutive lines of a file, counted from 1, both ends included. `highlight` is the line of the violation."""

    file: str
    commit_sha: str
    start_line: int
    highlight: int
    lines: list[str]

    @property
    def end_line(self) -> int:
        return self.start_line + len(self.lines) - 1


def source_around(repository: Repository, violation: Violation, *, context: int) -> SourceLines:
    """The line of the violation with up to `context` lines on each side.

    FileGone when the last scan did not see the file, CloneGone when the clone cannot be read on this machine. A line
    that lies past the end of a file shows the end of it.
    """
    found = scanned_blob(repository, violation.file)
    if found is None:
        raise FileGone
    commit, blob = found
    lines = _lines_of(_read(repository, blob))
    highlight = max(1, min(violation.line, len(lines)))
    first = max(1, highlight - context)
    return SourceLines(violation.file, commit, first, highlight, lines[first - 1 : highlight + context])


def _read(repository: Repository, blob: str) -> bytes:
    if not repository.folder.is_dir():
        raise CloneGone
    deadline = time.monotonic() + GIT_SECONDS
    try:
        with BlobReader(repository.folder, limits=git_limits(), deadline=deadline) as blobs:
            content = blobs.read(blob)
    except GitError as error:
        raise CloneGone(f"The code cannot be read: {error.message}") from error
    if content is None:
        raise FileGone
    return content


def _lines_of(content: bytes) -> list[str]:
    """Lines as the engine counts them, without what would deceive the reader."""
    rows = normalise(content).decode("utf-8", "replace").removesuffix("\n").split("\n")
    return [_DECEIVING.sub("\ufffd", row.removesuffix("\r")[:LONGEST_LINE]) for row in rows]
