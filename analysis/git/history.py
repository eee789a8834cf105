"""The commits of a repository in one pass, with the files that each one changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from analysis.git.command import run_git, stream_git
from analysis.git.errors import DamagedRepository
from analysis.git.limits import DEFAULT_LIMITS, GitLimits
from analysis.git.naming import decode_text
from analysis.git.records import Change, Records, change_of
from analysis.git.tree import resolve

NAME_CHARACTERS = 200
EMAIL_CHARACTERS = 254

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_SECOND = 253_402_300_799  # the end of the year 9999, the last that datetime knows
_FIELDS = 7
_FORMAT = "%x00%H%x00%P%x00%an%x00%ae%x00%at%x00%ct%x00%s%x00"
_HASH_LENGTHS = (40, 64)


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit. Times are UTC; a date that cannot be read is the epoch. `changes` of a merge are empty."""

    sha: str
    parents: tuple[str, ...]
    author_name: str
    author_email: str
    authored_at: datetime
    committed_at: datetime
    subject: str
    changes: tuple[Change, ...]


def read_history(
    folder: Path,
    head: str,
    *,
    since_commit: str | None = None,
    since_day: date | None = None,
    limits: GitLimits = DEFAULT_LIMITS,
    deadline: float | None = None,
) -> Iterator[Commit]:
    """The commits that head reaches, newest first and children before parents; at most `limits.commits`.

    With `since_commit`, only those that it does not reach; with `since_day`, only down to the first ones committed
    before that day (UTC). Files that moved unchanged are renames; a merge keeps its
    place in the list and has no changes. Raises UnknownRevision when `head` or `since_commit` does not exist.
    """
    start = resolve(folder, head, limits=limits)
    known = [f"^{resolve(folder, since_commit, limits=limits)}"] if since_commit else []
    since = [f"--since={since_day.isoformat()}T00:00:00Z"] if since_day else []
    with stream_git(
        folder, "log", "--date-order", "--raw", "--no-abbrev", "-z", "-M100%", "--no-color", "--no-show-signature",
        "--no-notes", "--no-mailmap", f"--max-count={limits.commits}", f"--format={_FORMAT}", *since,
        start, *known, "--", limits=limits, deadline=deadline,
    ) as process:  # fmt: skip
        yield from _commits(Records(process), limits)


def mainline(
    folder: Path, head: str, *, most: int, limits: GitLimits = DEFAULT_LIMITS, deadline: float | None = None
) -> Iterator[Commit]:
    """The last commits that were put on this branch, newest first, each with what it changed there.

    Those are the first parents; the changes of a merge are what it brought. Files that moved and kept half of their
    content are renames, or where blobs are missing those that moved unchanged.
    """
    start = resolve(folder, head, limits=limits)
    try:
        yield from list(_mainline(folder, start, most, "-M50%", limits, deadline))
    except DamagedRepository:
        yield from _mainline(folder, start, most, "-M100%", limits, deadline)


def daily_commits(
    folder: Path,
    head: str,
    *,
    days: int | None,
    today: date,
    limits: GitLimits = DEFAULT_LIMITS,
    deadline: float | None = None,
) -> list[tuple[date, str]]:
    """The last first-parent commit of each UTC day (by commit date), oldest first.

    `days` counts back from `today`, which it includes; None takes the whole history. The last commit before the window
    comes first, with its own date, since it is the state that the window begins with. A commit never counts as later
    than its child or than `today`, whatever its clock said.
    """
    start = resolve(folder, head, limits=limits)
    found: dict[date, str] = {}
    oldest = today - timedelta(days=days - 1) if days is not None else None
    latest = today
    with stream_git(
        folder, "log", "--first-parent", "--format=%H %ct", f"--max-count={limits.commits}", start, "--",
        limits=limits, deadline=deadline,
    ) as process:  # fmt: skip
        for record in Records(process, separator=b"\n"):
            sha, _, seconds = record.partition(b" ")
            latest = min(latest, _instant(seconds).date())
            found.setdefault(latest, sha.decode())
            if oldest is not None and latest < oldest:
                break
    return sorted(found.items())


def _mainline(
    folder: Path, start: str, most: int, renames: str, limits: GitLimits, deadline: float | None
) -> Iterator[Commit]:
    with stream_git(
        folder, "log", "--first-parent", "--diff-merges=first-parent", "--raw", "--no-abbrev", "-z", renames,
        "--no-color", "--no-show-signature", "--no-notes", "--no-mailmap",
        f"--max-count={min(most, limits.commits)}", f"--format={_FORMAT}", start, "--",
        limits=limits, deadline=deadline,
    ) as process:  # fmt: skip
        yield from _commits(Records(process), limits)


def count_commits(folder: Path, head: str, *, limits: GitLimits = DEFAULT_LIMITS) -> int:
    """How many commits head reaches, counted up to one more than `limits.commits`: more means a cut history."""
    start = resolve(folder, head, limits=limits)
    return int(run_git(folder, "rev-list", "--count", f"--max-count={limits.commits + 1}", start, "--", limits=limits))


def _commits(records: Iterator[bytes], limits: GitLimits) -> Iterator[Commit]:
    """Between two commits stand only empty records, raw changes with their paths, and the hash of the next commit."""
    fields: list[bytes] = []
    changes: list[Change] = []
    for record in records:
        if len(record) in _HASH_LENGTHS and not record.startswith((b":", b"\n")):
            if fields:
                yield _commit(fields, changes)
            fields, changes = [record, *(next(records, b"") for _ in range(_FIELDS - 1))], []
        elif record.lstrip(b"\n").startswith(b":"):
            change = change_of(record, records, limits)
            if change and len(changes) < limits.tree_entries:
                changes.append(change)
    if fields:
        yield _commit(fields, changes)


def _commit(fields: list[bytes], changes: list[Change]) -> Commit:
    sha, parents, name, email, authored, committed, subject = fields
    return Commit(
        sha=sha.decode(),
        parents=tuple(parents.decode().split()),
        author_name=decode_text(name, NAME_CHARACTERS),
        author_email=decode_text(email, EMAIL_CHARACTERS),
        authored_at=_instant(authored),
        committed_at=_instant(committed),
        subject=decode_text(subject),
        changes=tuple(changes),
    )


def _instant(seconds: bytes) -> datetime:
    """The time of a commit, held between the epoch and the year 9999."""
    try:
        return _EPOCH + timedelta(seconds=min(max(int(seconds), 0), _LAST_SECOND))
    except ValueError:
        return _EPOCH
