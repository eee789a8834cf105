"""The files of a commit, what changed between two commits, and the names of commits."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from analysis.git.clone import BRANCHES
from analysis.git.command import run_git, stream_git
from analysis.git.errors import DamagedRepository, EmptyRepository, UnknownRevision
from analysis.git.limits import DEFAULT_LIMITS, GitLimits
from analysis.git.naming import decode_path, is_sane_path
from analysis.git.records import Change, Records, change_of

REVISION_CHARACTERS = 256
SIZE_UNKNOWN = -1

_LINK = b"120000"
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
# What a user may write: a branch, a tag, a hash, and steps back from it. No search (`:/x`), no reflog, no options.
_REVISION = re.compile(r"[^\x00-\x20\x7f:?*\[\\{}-][^\x00-\x20\x7f:?*\[\\{}]*\Z")


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

    entries: list[TreeEntry] = field(default_factory=list)
    links: int = 0
    submodules: int = 0
    bad_paths: int = 0
    """Names that leave the tree or stand twice; paths too long or too deep."""
    missing: int = 0
    """Entries whose blob is not here; they are listed with an unknown size."""
    cut: bool = False
    """Whether the tree has more entries than the cap."""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class AddedLines:
    """The lines that head adds: by new path, ranges of (first line, count); and the totals over all files."""

    ranges: dict[str, list[tuple[int, int]]]
    added: int
    deleted: int


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


def resolve(folder: Path, rev: str, *, limits: GitLimits = DEFAULT_LIMITS) -> str:
    """The commit that a branch, tag or hash names. Raises UnknownRevision, or EmptyRepository without commits."""
    if len(rev) > REVISION_CHARACTERS or not _REVISION.match(rev):
        raise UnknownRevision
    names = [rev] if _HASH.match(rev) else [f"{BRANCHES}{rev}", rev]
    for name in names:
        arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        sha = run_git(folder, *arguments, limits=limits, accept=(0, 1, 128)).decode().strip()
        if _HASH.match(sha):
            return sha
    if not run_git(folder, "for-each-ref", "--count=1", limits=limits):
        raise EmptyRepository
    raise UnknownRevision


def merge_base(folder: Path, a: str, b: str, *, limits: GitLimits = DEFAULT_LIMITS) -> str | None:
    """The best common ancestor of two commits; None when they share no history."""
    first, second = resolve(folder, a, limits=limits), resolve(folder, b, limits=limits)
    return run_git(folder, "merge-base", first, second, limits=limits, accept=(0, 1)).decode().strip() or None


def default_branch(folder: Path) -> str | None:
    """The branch that HEAD names; None when HEAD stands on a commit, or on a branch without commits."""
    name = run_git(folder, "symbolic-ref", "--quiet", "HEAD", accept=(0, 1)).decode("utf-8", "replace").strip()
    if not name or not run_git(folder, "for-each-ref", "--count=1", name):
        return None
    return name.removeprefix(BRANCHES).removeprefix("refs/heads/")


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


def added_lines(
    folder: Path, base: str, head: str, *, limits: GitLimits = DEFAULT_LIMITS, deadline: float | None = None
) -> AddedLines:
    """The ranges of lines that are new in head, and the totals of added and deleted lines. Binary files count nothing.

    Raises DamagedRepository when a blob that changed is missing.
    """
    first, second = resolve(folder, base, limits=limits), resolve(folder, head, limits=limits)
    patch = _Patch()
    with stream_git(
        folder, "diff-tree", "-r", "-p", "-U0", "-M50%", "--no-color", "--no-ext-diff", "--no-textconv",
        "--no-prefix", "--ignore-submodules=all", first, second, limits=limits, deadline=deadline,
    ) as process:  # fmt: skip
        for line in Records(process, separator=b"\n"):
            patch.take(line)
    return AddedLines(patch.ranges, patch.added, patch.deleted)


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
                f"{self._bad_paths} files were left out: their path is too long, too deep, unsafe or stands twice."
            )
        if self._missing:
            notes.append(
                f"{self._missing} files are not in the clone (larger than {self._limits.file_bytes} bytes, or lost)."
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


class _Patch:
    """Follows a patch without context. Lines of content are counted off, so they cannot pose as headers."""

    _HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")

    def __init__(self) -> None:
        self.ranges: dict[str, list[tuple[int, int]]] = {}
        self.added = self.deleted = 0
        self._path: str | None = None
        self._content = 0

    def take(self, line: bytes) -> None:
        if self._content and line[:1] in b"+-":
            self._content -= 1
        elif hunk := self._HUNK.match(line):
            deleted, added = (int(count) if count else 1 for count in (hunk[1], hunk[3]))
            self._content = deleted + added
            self.added += added
            self.deleted += deleted
            if added and self._path is not None:
                self.ranges.setdefault(self._path, []).append((int(hunk[2]), added))
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
