"""The trees of past days, each made from the one before by what changed between them. No Django."""

from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path

from analysis.git.limits import GitLimits
from analysis.git.tree import changed_entries, list_tree
from analysis.parsing import BlobToParse
from analysis.source_tree import blobs_after, source_tree

Tree = dict[str, BlobToParse]


def daily_trees(folder: Path, days: Iterable[tuple[date, str]], limits: GitLimits) -> Iterator[tuple[date, Tree]]:
    """The tree of each day's commit, path to blob. GitError when a commit cannot be read."""
    tree: Tree = {}
    previous = ""
    for day, sha in days:
        tree = _next_tree(folder, tree, previous, sha, limits) if previous else _whole_tree(folder, sha, limits)
        previous = sha
        yield day, tree


def _whole_tree(folder: Path, sha: str, limits: GitLimits) -> Tree:
    return dict(source_tree(list_tree(folder, sha, limits=limits).entries).blobs)


def _next_tree(folder: Path, tree: Tree, base: str, head: str, limits: GitLimits) -> Tree:
    return blobs_after(tree, changed_entries(folder, base, head, limits=limits))
