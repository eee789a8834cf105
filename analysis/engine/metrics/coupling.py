"""Files that change together, and whose they are: what the history says and the code does not.

Two files are coupled when commits keep touching both. `together` counts these commits (the support); the confidence is
their share of the commits of the file that changed less often. Merges and commits over more than 30 files say nothing
about coupling. Ownership counts commits per author name, mass commits left out. Renames are followed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from analysis.engine.graph.model import ImportGraph
from analysis.engine.metrics.churn import Step, main_author_share

COUPLING_DAYS = 180
LARGEST_COMMIT_FILES = 30
LEAST_TOGETHER = 3
LEAST_CONFIDENCE = 0.4
MOST_PAIRS = 200
MOST_FILES = 200
NAMED_PARTNERS = 3

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class CoupledPair:
    """Two files, in the order of their paths, and the modules they belong to."""

    files: Pair
    modules: Pair
    together: int
    confidence: float
    imports: bool  # one of the two imports the other, which explains the coupling

    @property
    def across_modules(self) -> bool:
        return self.modules[0] != self.modules[1]


@dataclass(frozen=True, slots=True)
class Ownership:
    """Commits to a file or module by author name; no addresses."""

    name: str
    authors: Mapping[str, int]

    @property
    def commits(self) -> int:
        return sum(self.authors.values())

    @property
    def main_author(self) -> str:
        return min(self.authors, key=lambda author: (-self.authors[author], author))

    @property
    def main_author_share(self) -> float:
        return main_author_share(self.authors)


@dataclass(frozen=True)
class Coupling:
    """`pairs` across modules come first, the strongest first; `files` and `modules` by commits."""

    commits: int = 0
    pairs: tuple[CoupledPair, ...] = ()
    files: tuple[Ownership, ...] = ()
    modules: tuple[Ownership, ...] = ()
    owners: Mapping[str, Ownership] = field(default_factory=dict, repr=False)  # of every file by path
    partners: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)  # the strongest of every file


def coupling_of(steps: Sequence[Step], graph: ImportGraph) -> Coupling:
    """The coupling of the project's files, tests left out; `steps` are those of the window, oldest first."""
    named = list(_by_present_names(steps, graph))
    commits: Counter[str] = Counter()
    together: Counter[Pair] = Counter()
    of_file: dict[str, Counter[str]] = {}
    of_module: dict[str, Counter[str]] = {}
    for author, files, size in named:
        for path in files:
            of_file.setdefault(path, Counter())[author] += 1
        for module in {graph.modules[path].name for path in files}:
            of_module.setdefault(module, Counter())[author] += 1
        if size <= LARGEST_COMMIT_FILES:
            commits.update(files)
            together.update(combinations(files, 2))
    pairs = sorted(_pairs(together, commits, graph), key=_strength)
    owners = {path: Ownership(path, authors) for path, authors in of_file.items()}
    return Coupling(
        commits=len(named),
        pairs=tuple(pairs[:MOST_PAIRS]),
        files=_most_changed(owners.values()),
        modules=_most_changed(Ownership(name, authors) for name, authors in of_module.items()),
        owners=owners,
        partners=_partners(pairs),
    )


def _by_present_names(steps: Sequence[Step], graph: ImportGraph) -> Iterator[tuple[str, list[str], int]]:
    """Per commit its author, the project's files that it touched by the names they bear now, and how many it names."""
    present: dict[str, str] = {}
    for step in reversed(steps):
        if step.counts:
            names = {present.get(path, path) for path in step.touched}
            files = sorted(name for name in names if name in graph.modules and name not in graph.tests)
            if files:
                yield _without_address(step.author), files, step.files
        for old, new in step.moves:
            present[old] = present.get(new, new)


def _without_address(author: str) -> str:
    """Some people's git says an address where a name belongs; only the part before the @ is kept."""
    return author.partition("@")[0].strip() or "unknown"


def _pairs(together: Mapping[Pair, int], commits: Mapping[str, int], graph: ImportGraph) -> Iterator[CoupledPair]:
    for (first, second), times in together.items():
        if times < LEAST_TOGETHER:
            continue
        confidence = times / min(commits[first], commits[second])
        if confidence >= LEAST_CONFIDENCE:
            modules = (graph.modules[first].name, graph.modules[second].name)
            linked = any(edge.target == second for edge in graph.imports_of(first)) or any(
                edge.target == first for edge in graph.imports_of(second)
            )
            yield CoupledPair((first, second), modules, times, confidence, linked)


def _strength(pair: CoupledPair) -> tuple[bool, float, int, Pair]:
    return not pair.across_modules, -pair.together * pair.confidence, -pair.together, pair.files


def _partners(pairs: Iterable[CoupledPair]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for pair in pairs:
        first, second = pair.files
        found.setdefault(first, []).append(second)
        found.setdefault(second, []).append(first)
    return {path: tuple(others[:NAMED_PARTNERS]) for path, others in found.items()}


def _most_changed(owned: Iterable[Ownership]) -> tuple[Ownership, ...]:
    return tuple(sorted(owned, key=lambda each: (-each.commits, each.name))[:MOST_FILES])
