"""The files of a commit, and what changed between two commits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.git.command import stream_git
from analysis.git.errors import DamagedRepository
from analysis.git.limits import DEFAULT_LIMITS, GitLimits
from analysis.git.naming import decode_path, is_sane_path
from analysis.git.patch import AddedLines, added_lines
from analysis.git.records import Change, Records, change_of
from analysis.git.revisions import default_branch, has_commit, merge_base, resolve, tree_hash

__all__ = [
    "AddedLines", "Change", "Tree", "TreeEntry",
    "added_lines", "changed_entries", "default_branch", "files_at", "has_commit", "list_tree", "merge_base", "resolve",
    "tree_hash",
]  # fmt: skip

SIZE_UNKNOWN = -1

_LINK = b"120000"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file of a tree. `size` is -1 when the blob is not here: larger than the clone's file limit, or lost."""

    path: str
    blob: str
    size: int
    mode: str


@dataclass(frozen=True)
class Tree:
    """The files of one commit in git's order, and how many entries were left out, by reason."""

    entries: list[TreeEntry]
    links: int
    submodules: int
    bad_paths: int
    """Names that leave the tree or stand twice; paths too long or too deep."""
    missing: int
    """Entries whose blob is not here; they are listed with an unknown size."""
    cut: bool
    """Whether the tree has more entries than the cap."""
    notes: list[str]


def list_tree(
    folder: Path, revision: str, *, limits: GitLimits = DEFAULT_LIMITS, deadline: float | None = None
) -> Tree:
    """List all files of a commit without links and submodules. Stops at the entry cap while streaming.

    Directories count against the same cap, so a tree of ever new empty directories ends too.
    """
    sha = resolve(folder, revision, limits=limits)
    listing = _Listing(limits)
    with stream_git(folder, "ls-tree", "-r", "-t", "-z", "-l", sha, limits=limits, deadline=deadline) as process:
        for record in Records(process):
            if not listing.take(record):
                break
    return listing.tree()


def changed_entries(
    folder: Path, base: str, head: str, *, limits: GitLimits = DEFAULT_LIMITS, deadline: float | None = None
) -> list[Change]:
    """The files that differ between two commits, with renames (half of the content alike).

    When a blob is missing, only renames without a change of content are recognised.
    """
    first, second = resolve(folder, base, limits=limits), resolve(folder, head, limits=limits)
    try:
        return _changes(folder, first, second, "-M50%", limits, deadline)
    except DamagedRepository:
        return _changes(folder, first, second, "-M100%", limits, deadline)


def files_at(
    folder: Path, revision: str, paths: Sequence[str], *, limits: GitLimits = DEFAULT_LIMITS
) -> dict[str, str]:
    """Which of a few files a commit has, path to blob. Links do not count."""
    sha = resolve(folder, revision, limits=limits)
    listing = _Listing(limits)
    with stream_git(folder, "ls-tree", "-z", "-l", sha, "--", *paths, limits=limits) as process:
        for record in Records(process):
            listing.take(record)
    return {entry.path: entry.blob for entry in listing.tree().entries}


class _Listing:
    """Collects the records of `ls-tree -r -t -z -l`."""

    def __init__(self, limits: GitLimits) -> None:
        self._limits = limits
        self._seen: set[str] = set()
        self._entries: list[TreeEntry] = []
        self._links = self._submodules = self._bad_paths = self._missing = self._records = 0
        self._cut = False

    def take(self, record: bytes) -> bool:
        """Add one record `mode type hash size<TAB>path`; false when the cap is reached."""
        about, _, raw = record.partition(b"\t")
        mode, kind, blob, size = about.split()
        self._records += 1
        # Directories are records of their own; twice the cap leaves room for one per file.
        if len(self._entries) >= self._limits.tree_entries or self._records > 2 * self._limits.tree_entries:
            self._cut = True
            return False
        if kind == b"commit":
            self._submodules += 1
        elif mode == _LINK:
            self._links += 1
        elif kind == b"blob":
            self._add(mode, blob, size, raw)
        return True

    def _add(self, mode: bytes, blob: bytes, size: bytes, raw: bytes) -> None:
        limits = self._limits
        path = decode_path(raw)
        if (
            len(raw) > limits.path_bytes
            or raw.count(b"/") >= limits.tree_depth
            or not is_sane_path(raw)
            or path in self._seen
        ):
            self._bad_paths += 1
            return
        self._seen.add(path)
        known = size.isdigit()
        self._missing += not known
        self._entries.append(TreeEntry(path, blob.decode(), int(size) if known else SIZE_UNKNOWN, mode.decode()))

    def tree(self) -> Tree:
        notes = []
        if self._cut:
            notes.append(f"The tree has more than {self._limits.tree_entries} entries; only the first were analyzed.")
        if self._bad_paths:
            notes.append(
                f"Files left out, whose path is too long, too deep, unsafe or stands twice: {self._bad_paths}."
            )
        if self._missing:
            notes.append(
                f"Files missing from the clone (lost, or larger than {self._limits.file_bytes} bytes): {self._missing}."
            )
        return Tree(self._entries, self._links, self._submodules, self._bad_paths, self._missing, self._cut, notes)


def _changes(
    folder: Path, base: str, head: str, renames: str, limits: GitLimits, deadline: float | None
) -> list[Change]:
    arguments = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", renames, base, head)
    with stream_git(folder, *arguments, limits=limits, deadline=deadline) as process:
        return list(_read_changes(Records(process), limits))


def _read_changes(records: Iterator[bytes], limits: GitLimits) -> Iterator[Change]:
    for record in records:
        change = change_of(record, records, limits)
        if change:
            yield change
