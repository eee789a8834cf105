"""Scan a repository or a folder on this machine: the server's engine without server, account or database."""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

from analysis.engine.decoding import EncodedFacts
from analysis.engine.evaluate import evaluate
from analysis.engine.facts import FileFacts
from analysis.engine.history import History
from analysis.engine.metrics.churn import WINDOW_DAYS
from analysis.engine.policy import Policy
from analysis.engine.report import Report
from analysis.engine.stack import detect_stack
from analysis.git.blobs import BlobReader
from analysis.git.clone import mirror
from analysis.git.errors import NotARepository
from analysis.git.folder import is_shallow
from analysis.git.history import read_history
from analysis.git.limits import GitLimits
from analysis.git.local import open_local
from analysis.git.naming import decode_path
from analysis.git.temporary import temporary_folder
from analysis.git.tree import list_tree, resolve
from analysis.parsing import BlobToParse, OpenReader, parse_blobs
from analysis.source_tree import (
    POLICY_FILES,
    DetectStack,
    FactsKey,
    PolicyInForce,
    SourceTree,
    blob_of,
    policy_of_file,
    source_tree,
)

LARGEST_FILE_BYTES = 1024 * 1024
LEFT_OUT_FOLDERS = {".git", ".hg", ".svn"}
CLONE_SECONDS = 3600

OnProgress = Callable[[str, int, int], None]  # phase, done, total


@dataclass(frozen=True, slots=True)
class Scan:
    """A judged folder or commit. `commit_sha` is empty for a folder without git."""

    report: Report
    policy: Policy
    commit_sha: str
    notes: tuple[str, ...]


@contextmanager
def open_repository(address: str, limits: GitLimits) -> Iterator[Path | None]:
    """The git directory behind a path or a clone address, a temporary clone for the latter; None for a plain folder.

    GitError when an address cannot be cloned, NotARepository when nothing is there.
    """
    is_there = os.path.exists(address)  # noqa: PTH110 - pathlib's raises where a name is too long
    if not is_there and _is_remote(address):
        with temporary_folder("debt-scan-") as folder:
            clone = folder / "clone.git"
            mirror(address, clone, branch=None, limits=limits, deadline=time.monotonic() + CLONE_SECONDS)
            yield clone
        return
    if not is_there:  # a folder above it may be a repository, but not the one that was meant
        raise NotARepository
    try:
        opened = open_local(Path(address))
        with opened as git_dir:
            yield git_dir
    except NotARepository:
        if not Path(address).is_dir():
            raise
        yield None


def _is_remote(address: str) -> bool:
    """Whether this is meant as a clone address, `git@host:owner/name` too: cloning says which kinds are allowed."""
    return "://" in address or re.match(r"[^/]+@[^/]+:", address) is not None


def scan_commit(
    git_dir: Path, revision: str, *, today: date, workers: int, on_progress: OnProgress, policy: Policy | None = None
) -> Scan:
    """Judge one commit by `policy`, else by the one that stands in it. GitError with a sentence when it cannot be
    read."""
    sha = resolve(git_dir, revision)
    on_progress("listing files", 0, 1)
    listed = list_tree(git_dir, sha)
    tree = source_tree(listed.entries)
    files = tree.with_facts(facts_of([tree], partial(BlobReader, git_dir), workers, on_progress))
    on_progress("reading history", 0, 1)
    history = History.of(read_history(git_dir, sha))
    in_force = given(policy) or policy_at(git_dir, tree.policy_blob, files)
    notes = [*listed.notes, *in_force.notes]
    if is_shallow(git_dir):
        notes.append("The clone is shallow: churn and hotspots know only part of the history.")
    if quiet := _quiet_since(history, today):
        notes.append(quiet)
    on_progress("evaluating", 0, 1)
    report = evaluate(files=files, history=history, policy=in_force.policy, today=today)
    return Scan(report, in_force.policy, sha, (*notes, *report.notes))


def scan_folder(
    folder: Path, *, today: date, workers: int, on_progress: OnProgress, policy: Policy | None = None
) -> Scan:
    """Judge the files of a folder without git, by `policy` or its own: everything but churn and hotspots."""
    blobs = {decode_path(os.fsencode(item.blob)): item for item in _files_below(folder)}
    tree = SourceTree(blobs=blobs, policy_blob=next((name for name in POLICY_FILES if name in blobs), None))
    files = tree.with_facts(facts_of([tree], lambda: nullcontext(FolderReader(folder)), workers, on_progress))
    own = FolderReader(folder).read(tree.policy_blob) if tree.policy_blob else None
    in_force = given(policy) or policy_of_file(own, files)
    on_progress("evaluating", 0, 1)
    report = evaluate(files=files, history=History.empty(), policy=in_force.policy, today=today)
    return Scan(report, in_force.policy, "", (*in_force.notes, *report.notes))


def _quiet_since(history: History, today: date) -> str:
    """A sentence where no commit is recent, so that no file has churn."""
    if not history.steps or history.as_of(today).steps_of(WINDOW_DAYS):
        return ""
    last = date.fromordinal(history.steps[-1].day)
    return f"No commit in the {WINDOW_DAYS} days up to {today}: no hotspots. --date {last} judges as of the last one."


def given(policy: Policy | None) -> PolicyInForce | None:
    """A policy that somebody handed over in place of the repository's own."""
    return PolicyInForce(policy, "file") if policy else None


@dataclass(frozen=True, slots=True)
class FolderReader:
    """Reads files of a folder by their path below it; links are not followed out of it."""

    folder: Path

    def read(self, blob: str) -> bytes | None:
        """The bytes; None when the file is gone, unreadable or too large."""
        path = self.folder / blob
        try:
            return path.read_bytes() if path.stat().st_size <= LARGEST_FILE_BYTES else None
        except OSError:
            return None


def _files_below(folder: Path) -> Iterator[BlobToParse]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT_FOLDERS)
        for name in sorted(names):
            path = Path(parent) / name
            if path.is_symlink() or not path.is_file():
                continue
            relative = path.relative_to(folder).as_posix()
            if "\0" not in relative and (item := blob_of(relative, relative, path.stat().st_size)):
                yield item


def facts_of(
    trees: Sequence[SourceTree], open_reader: OpenReader, workers: int, on_progress: OnProgress
) -> dict[FactsKey, FileFacts]:
    """Facts of all blobs of these trees, each parsed once."""
    todo = list({(item.blob, item.reading): item for tree in trees for item in tree.to_parse}.values())
    found: EncodedFacts[FactsKey] = EncodedFacts()
    for item, data in parse_blobs(open_reader, todo, workers=workers):
        found.add((item.blob, item.reading), data)
        on_progress("parsing", len(found), len(todo))
    return found.decoded()


def policy_at(
    git_dir: Path, policy_blob: str | None, files: Mapping[str, FileFacts], detect: DetectStack = detect_stack
) -> PolicyInForce:
    """The policy in a blob, or the defaults of the files' stack."""
    content = None
    if policy_blob is not None:
        with BlobReader(git_dir) as blobs:
            content = blobs.read(policy_blob)
    return policy_of_file(content, files, detect)
