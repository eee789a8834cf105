"""The lines that one commit adds to another."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from analysis.git.command import stream_git
from analysis.git.errors import DamagedRepository
from analysis.git.limits import DEFAULT_LIMITS, GitLimits
from analysis.git.naming import decode_path
from analysis.git.records import Records
from analysis.git.revisions import resolve

# So many paths fit into the arguments of one command.
ABSENT_FILES = 500


@dataclass(frozen=True)
class AddedLines:
    """The lines that head adds: by new path, ranges of (first line, count); and the totals over all files."""

    ranges: dict[str, list[tuple[int, int]]]
    added: int
    deleted: int
    left_out: tuple[str, ...] = ()
    """Changed files whose content is not in the clone."""
    per_file: Mapping[str, int] = field(default_factory=dict)
    """Added plus deleted lines by path: the new one, or the old one of a deleted file."""


def added_lines(
    folder: Path, base: str, head: str, *, limits: GitLimits = DEFAULT_LIMITS, deadline: float | None = None
) -> AddedLines:
    """The ranges of lines that are new in head, and the totals of added and deleted lines.

    Binary files count nothing, nor do files whose content is missing here; those are named in `left_out`.
    """
    first, second = resolve(folder, base, limits=limits), resolve(folder, head, limits=limits)
    try:
        return _patch(folder, first, second, [], limits, deadline)
    except DamagedRepository:
        # git gives up at the first missing blob, so the files that have one are asked for to be left out.
        absent = _absent(folder, first, second, limits, deadline)
        if len(absent) > ABSENT_FILES:
            raise
        return _patch(folder, first, second, absent, limits, deadline)


def _patch(
    folder: Path, base: str, head: str, absent: list[bytes], limits: GitLimits, deadline: float | None
) -> AddedLines:
    patch = _Patch()
    paths = [":(top)", *(f":(exclude,top,literal){os.fsdecode(path)}" for path in absent)] if absent else []
    with stream_git(
        folder, "diff-tree", "-r", "-p", "-U0", "-M50%", "--no-color", "--no-ext-diff", "--no-textconv",
        "--no-prefix", "--ignore-submodules=all", base, head, "--", *paths, limits=limits, deadline=deadline,
    ) as process:  # fmt: skip
        for line in Records(process, separator=b"\n"):
            patch.take(line)
    return AddedLines(patch.ranges, patch.added, patch.deleted, tuple(map(decode_path, absent)), patch.per_file)


def _absent(folder: Path, base: str, head: str, limits: GitLimits, deadline: float | None) -> list[bytes]:
    """The paths that differ between two commits and whose blob is missing on either side."""
    arguments = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", base, head)
    with stream_git(folder, *arguments, limits=limits, deadline=deadline) as process:
        changed = set(Records(process))
    absent: set[bytes] = set()
    for sha in (base, head):
        with stream_git(folder, "ls-tree", "-r", "-z", "-l", sha, limits=limits, deadline=deadline) as process:
            for record in Records(process):
                about, _, path = record.partition(b"\t")
                if about.endswith(b"BAD") and path in changed:
                    absent.add(path)
    return sorted(absent)


class _Patch:
    """Follows a patch without context. Lines of content are counted off, so they cannot pose as headers."""

    _HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")

    def __init__(self) -> None:
        self.ranges: dict[str, list[tuple[int, int]]] = {}
        self.per_file: dict[str, int] = {}
        self.added = self.deleted = 0
        self._old_path: str | None = None
        self._path: str | None = None
        self._content = 0

    def take(self, line: bytes) -> None:
        if self._content and line.startswith((b"+", b"-")):
            self._content -= 1
        elif hunk := self._HUNK.match(line):
            deleted, added = (int(count) if count else 1 for count in (hunk[1], hunk[3]))
            self._content = deleted + added
            self.added += added
            self.deleted += deleted
            path = self._path or self._old_path or ""
            self.per_file[path] = self.per_file.get(path, 0) + added + deleted
            if added and self._path is not None:
                self.ranges.setdefault(self._path, []).append((int(hunk[2]), added))
        elif line.startswith(b"--- "):
            self._old_path = _patch_path(line[4:])
        elif line.startswith(b"+++ "):
            self._path = _patch_path(line[4:])


_ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


def _patch_path(name: bytes) -> str | None:
    """The path in a `+++` line: quoted like a C string when it is odd, ended by a tab when it has a space."""
    if name.startswith(b'"'):
        raw = re.sub(rb"\\([0-7]{3}|.)", _unescaped, name[1 : name.rindex(b'"')], flags=re.DOTALL)
        return decode_path(raw)
    return None if name == b"/dev/null" else decode_path(name.removesuffix(b"\t"))


def _unescaped(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 8) & 255]) if len(code) == 3 else _ESCAPES.get(code, code)
