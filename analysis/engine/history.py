"""The repository's past as the engine sees it: who touched which file when, and nothing about its content."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from sys import intern
from types import MappingProxyType
from typing import Protocol

from analysis.engine.metrics.churn import WINDOW_DAYS, Churn, Step, churn_of, touched_by


class ChangeLike(Protocol):
    """One changed path of a commit. `status` is git's letter: A, M, D, T, R or C (a similarity may follow)."""

    @property
    def status(self) -> str: ...
    @property
    def old_path(self) -> str | None: ...
    @property
    def new_path(self) -> str | None: ...
    @property
    def old_blob(self) -> str | None: ...
    @property
    def new_blob(self) -> str | None: ...


class CommitLike(Protocol):
    """What the engine reads of a commit; `analysis.git.history.Commit` is one."""

    @property
    def parents(self) -> Sequence[str]: ...
    @property
    def author_name(self) -> str: ...
    @property
    def committed_at(self) -> datetime: ...
    @property
    def changes(self) -> Sequence[ChangeLike]: ...


@dataclass(frozen=True)
class History:
    """Commits up to and including `day`; all of them when `day` is None.

    Views of one history share its steps, so cutting one to a past day costs nothing until its churn is asked for, and
    that costs the commits of one window only.
    """

    steps: tuple[Step, ...] = ()  # oldest first, ordered by day
    day: date | None = None

    @classmethod
    def of(cls, commits: Iterable[CommitLike]) -> "History":
        """The history of `commits`, newest first as git prints them."""
        return cls().continued(commits)

    @classmethod
    def empty(cls) -> "History":
        return cls()

    def continued(self, newer: Iterable[CommitLike]) -> "History":
        """This history with commits that came after it, newest first. Clocks may be wrong: days decide the order."""
        added = [step_of(commit) for commit in newer]
        added.reverse()
        return History(tuple(sorted((*self.steps, *added), key=_day)))

    def changed(self, changes: Sequence[ChangeLike], day: date) -> "History":
        """This past as it is once a change is merged on `day`: files bear the names that it gives them, and what it
        writes to counts as touched. It adds to no file's churn, since it is judged by what was there before."""
        return self._with(_step(changes, day, author="", merge=True))

    def renamed(self, names: Mapping[str, str], day: date) -> "History":
        """The same past for files that bore other names: from each name to the one that this history ends with."""
        moves = tuple((known, name) for name, known in names.items() if name != known)
        return self._with(Step(day.toordinal(), author="", touched=(), moves=moves, merge=True)) if moves else self

    def _with(self, last: Step) -> "History":
        return History(tuple(sorted((*self.steps, last), key=_day)), self.day)

    def as_of(self, day: date) -> "History":
        """The history as it was at the end of `day`."""
        return self if self.day == day else History(self.steps, day)

    def churn(self, path: str) -> int:
        """Commits that touched `path` in the window, merges and mass commits left out, renames followed."""
        return self.window.per_file.get(path, 0)

    def authors(self, path: str) -> Mapping[str, int]:
        """How many of those commits each author made."""
        return MappingProxyType(self.window.authors.get(path, {}))

    @property
    def commit_count(self) -> int:
        """Commits in the window, merges left out."""
        return self.window.commits

    def steps_of(self, days: int) -> tuple[Step, ...]:
        """The commits of the last `days` days, oldest first."""
        if not self.steps:
            return ()
        last = self.day.toordinal() if self.day else self.steps[-1].day
        start = bisect_right(self.steps, last - days, key=_day)
        return self.steps[start : bisect_right(self.steps, last, key=_day)]

    def is_untouched(self, path: str, days: int) -> bool:
        """Whether no commit of the last `days` days touched `path`, so that each of its lines is older. False where
        there is no history."""
        return bool(self.steps) and path not in self._touched(days)

    def _touched(self, days: int) -> frozenset[str]:
        known: dict[int, frozenset[str]] = self.__dict__.setdefault("_touched_paths", {})
        if days not in known:
            known[days] = touched_by(self.steps_of(days))
        return known[days]

    @cached_property
    def window(self) -> Churn:
        """Churn of the 90 days that end with `day`, or with the last commit."""
        return churn_of(self.steps_of(WINDOW_DAYS))


def step_of(commit: CommitLike) -> Step:
    """What counts of a commit."""
    day = commit.committed_at.astimezone(UTC).date()
    return _step(commit.changes, day, author=commit.author_name, merge=len(commit.parents) > 1)


def _step(changes: Sequence[ChangeLike], day: date, *, author: str, merge: bool) -> Step:
    """Git may tell a move as a deletion and an addition of the same blob. A path of many commits is one object."""
    moves = {change.new_path: change.old_path for change in changes if change.status.startswith("R")}
    deleted = {change.old_blob: change.old_path for change in changes if change.status == "D"}
    unchanged = set()
    for change in changes:
        if change.status == "A" and change.new_blob in deleted:
            moves[change.new_path] = deleted.pop(change.new_blob)
            unchanged.add(change.new_path)
        elif change.status.startswith("R") and change.old_blob == change.new_blob:
            unchanged.add(change.new_path)
    return Step(
        day=day.toordinal(),
        author=author,
        touched=tuple(
            intern(change.new_path) for change in changes if change.new_path and change.new_path not in unchanged
        ),
        moves=tuple((old, new) for new, old in moves.items() if old and new),
        merge=merge,
        files=len(changes),
    )


def _day(step: Step) -> int:
    return step.day
