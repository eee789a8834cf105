"""From names of branches, tags and commits to hashes."""

import re
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

from analysis.git.clone import BRANCHES
from analysis.git.command import run_git
from analysis.git.errors import EmptyRepository, UnknownRevision
from analysis.git.limits import DEFAULT_LIMITS, GitLimits
from analysis.git.naming import is_hash

# What a user may write: a branch, a tag, a hash, and steps back from it. No search (`:/x`), no reflog, no options.
_REVISION = re.compile(r"[^\x00-\x20\x7f:?*\[\\{}-][^\x00-\x20\x7f:?*\[\\{}]{0,255}\Z")


def resolve(folder: Path, rev: str, *, limits: GitLimits = DEFAULT_LIMITS) -> str:
    """The commit that a branch, tag or hash names. Raises UnknownRevision, or EmptyRepository without commits."""
    if not _REVISION.match(rev):
        raise UnknownRevision
    if is_hash(rev):
        return _commit(folder, rev, limits)
    sha = _looked_up(folder, f"{BRANCHES}{rev}", limits) or _looked_up(folder, rev, limits)
    return sha or _refuse(folder, limits)


@lru_cache  # a commit never changes, and each step of an analysis asks for the same few
def _commit(folder: Path, sha: str, limits: GitLimits) -> str:
    return _looked_up(folder, sha, limits) or _refuse(folder, limits)


def _looked_up(folder: Path, name: str, limits: GitLimits) -> str:
    arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    sha = run_git(folder, *arguments, limits=limits, accept=(0, 1, 128)).decode().strip()
    return sha if is_hash(sha) else ""


def _refuse(folder: Path, limits: GitLimits) -> NoReturn:
    if not run_git(folder, "for-each-ref", "--count=1", limits=limits):
        raise EmptyRepository
    raise UnknownRevision


def merge_base(folder: Path, a: str, b: str, *, limits: GitLimits = DEFAULT_LIMITS) -> str | None:
    """The best common ancestor of two commits; None when they share no history."""
    first, second = resolve(folder, a, limits=limits), resolve(folder, b, limits=limits)
    return run_git(folder, "merge-base", first, second, limits=limits, accept=(0, 1)).decode().strip() or None


def has_commit(folder: Path, sha: str, *, limits: GitLimits = DEFAULT_LIMITS) -> bool:
    """Whether a commit, given by its hash, is in the clone, under whatever ref or none."""
    return is_hash(sha) and _looked_up(folder, sha, limits) == sha


def tree_hash(folder: Path, revision: str, *, limits: GitLimits = DEFAULT_LIMITS) -> str:
    """The hash of a commit's tree: the same for all commits with the same files."""
    sha = resolve(folder, revision, limits=limits)
    return run_git(folder, "rev-parse", "--verify", f"{sha}^{{tree}}", limits=limits).decode().strip()


def default_branch(folder: Path) -> str | None:
    """The branch that HEAD names; None when HEAD stands on a commit, or on a branch without commits."""
    name = run_git(folder, "symbolic-ref", "--quiet", "HEAD", accept=(0, 1)).decode("utf-8", "replace").strip()
    if not name or not run_git(folder, "for-each-ref", "--count=1", name):
        return None
    return name.removeprefix(BRANCHES).removeprefix("refs/heads/")
