"""How often each file changed lately: commits that touch it in a window of days, renames followed (rules.md 8.4)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

WINDOW_DAYS = 90
STALE_DAYS = 180  # what nobody has touched for so long is forgotten
MASS_COMMIT_FILES = 100  # a commit that touches more is a move, an import or a formatting run


@dataclass(frozen=True, slots=True)
class Step:
    """What one commit did to paths. `moves` are (old path, new path); a file moved as it is was not touched.

    `day` is the proleptic ordinal of the commit's UTC date.
    """

    day: int
    author: str
    touched: tuple[str, ...]
    moves: tuple[tuple[str, str], ...] = ()
    merge: bool = False
    files: int = 0  # how many files the commit names, moved ones included

    @property
    def counts(self) -> bool:
        """Whether the commit is work on its files: no merge and no mass commit."""
        return not self.merge and self.files <= MASS_COMMIT_FILES


@dataclass(slots=True)
class Churn:
    """Commits per file of one window, by the names that the files bear at its end."""

    commits: int = 0
    per_file: dict[str, int] = field(default_factory=dict)
    authors: dict[str, Counter[str]] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        """Count one more commit; call it from the oldest to the newest."""
        known = [(new, old) for old, new in step.moves if old in self.per_file]
        moved = [(new, self.per_file.pop(old), self.authors.pop(old)) for new, old in known]
        for new, commits, authors in moved:  # all are away before one arrives: files may change places
            self.per_file[new], self.authors[new] = commits, authors
        if step.merge:
            return
        self.commits += 1
        if not step.counts:
            return
        for path in step.touched:
            self.per_file[path] = self.per_file.get(path, 0) + 1
            self.authors.setdefault(path, Counter())[step.author] += 1


def churn_of(steps: Iterable[Step]) -> Churn:
    """Churn over `steps`, which come oldest first and are all inside the window."""
    churn = Churn()
    for step in steps:
        churn.take(step)
    return churn


def touched_by(steps: Iterable[Step]) -> frozenset[str]:
    """The files that `steps`, oldest first, wrote to, by the names that they bear at the end. A file that was moved as
    it is was not written to."""
    touched: set[str] = set()
    for step in steps:
        moved = {new for old, new in step.moves if old in touched}
        touched.difference_update(old for old, _ in step.moves)
        touched.update(moved, step.touched)
    return frozenset(touched)


def main_author_share(authors: Mapping[str, int]) -> float:
    """Which part of a file's commits its most frequent author made, 0 for a file without commits."""
    total = sum(authors.values())
    return max(authors.values()) / total if total else 0.0
