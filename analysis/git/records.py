"""Streams of git cut into records, and the raw records of changes that `log` and `diff-tree` share."""

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.git.command import GitProcess
from analysis.git.errors import DamagedRepository
from analysis.git.limits import GitLimits
from analysis.git.naming import decode_path, is_sane_path

# Longer records are cut to this: an endless subject or line costs no memory.
RECORD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Change:
    """One changed file. `status` is A, M, D, R or T; a path or blob that does not exist on its side is None.

    A change into or out of a link or submodule is the file's deletion or addition.
    """

    status: str
    old_path: str | None
    new_path: str | None
    old_blob: str | None
    new_blob: str | None

    @property
    def path(self) -> str:
        """The path after the change; before it for a deleted file."""
        return self.new_path or self.old_path or ""


class Records:
    """Iterates over the records of a running git: the bytes before each separator, cut to 64 KiB.

    What no separator ends is left out: git was ended in the middle of it, and its status tells why.
    """

    def __init__(self, process: GitProcess, separator: bytes = b"\0") -> None:
        self._records = _records(process, separator)

    def __iter__(self) -> Iterator[bytes]:
        return self._records

    def __next__(self) -> bytes:
        return next(self._records)


def _records(process: GitProcess, separator: bytes) -> Iterator[bytes]:
    rest = b""
    while chunk := process.read():
        first, found, others = chunk.partition(separator)
        # The start of an open record is kept only up to the cap, so that the sum of its pieces stays linear.
        rest = (rest + first)[:RECORD_BYTES] if len(rest) < RECORD_BYTES else rest
        if not found:
            continue
        yield rest
        *whole, rest = others.split(separator)
        for record in whole:
            yield record[:RECORD_BYTES]
        rest = rest[:RECORD_BYTES]


def change_of(record: bytes, records: Iterator[bytes], limits: GitLimits) -> Change | None:
    """Read `:mode mode hash hash status`, whose paths are the next one or two records.

    None for a change that concerns no file: links, submodules, paths beyond the limits.
    """
    try:
        old_mode, new_mode, old, new, status = record.lstrip(b"\n:").split(b" ")
        first = next(records)
        second = next(records) if status[:1] in b"RC" else first
    except (ValueError, StopIteration):
        raise DamagedRepository from None
    before = _side(old_mode, old, first, limits)
    after = _side(new_mode, new, second, limits)
    if before is None and after is None:
        return None
    letter = "A" if before is None else "D" if after is None else status[:1].decode()
    old_path, old_blob = before or (None, None)
    new_path, new_blob = after or (None, None)
    return Change(letter, old_path, new_path, old_blob, new_blob)


def _side(mode: bytes, blob: bytes, raw: bytes, limits: GitLimits) -> tuple[str, str] | None:
    """The path and blob of one side of a change; None when there is no analysable file."""
    absent = not mode.startswith(b"100")
    if absent or len(raw) > limits.path_bytes or raw.count(b"/") >= limits.tree_depth or not is_sane_path(raw):
        return None
    return decode_path(raw), blob.decode()
