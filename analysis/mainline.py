"""The pull requests that were merged into a branch, read from its history, and the trees around them. No Django.

A host that merges leaves a merge commit, one that squashes a commit that names the pull request; on both the change is
what the commit brought to the branch. A branch with neither counts each of its commits as one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from analysis.git.history import Commit
from analysis.git.records import Change
from analysis.parsing import BlobToParse
from analysis.source_tree import FactsKey, blob_of

TYPICAL_BLOB_BYTES = 4000  # the size of a blob that a diff names without its size

_SQUASHED = re.compile(r"\([#!](\d+)\)\s*\Z")
_MERGED = re.compile(r"\AMerge pull request #(\d+) |\AMerge branch .*See merge request \S*!(\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Merged:
    """One change of the branch. `number` is None where the history does not tell it; `is_pull_request` is false for
    commits that went to the branch directly."""

    sha: str
    parent: str
    number: int | None
    title: str
    merged_at: datetime
    changes: tuple[Change, ...]
    is_pull_request: bool


def merged_changes(commits: Iterable[Commit], most: int) -> list[Merged]:
    """The newest commits of a branch, down to the one with the `most`th pull request. `commits` come newest first."""
    read = [_merged(commit) for commit in commits if commit.parents]
    if not any(change.is_pull_request for change in read):
        read = [replace(change, is_pull_request=True) for change in read]
    places = [index for index, change in enumerate(read) if change.is_pull_request][:most]
    return read[: places[-1] + 1] if places else []


def keys_before(changes: Iterable[Merged]) -> set[FactsKey]:
    """The blobs that stood in the files before they were changed."""
    return {key for change in changes for _, key in _restored(change)}


def blobs_to_parse(keys: Iterable[FactsKey]) -> list[BlobToParse]:
    """What to parse for these, its size being unknown."""
    return [BlobToParse(blob=blob, reading=reading, size=TYPICAL_BLOB_BYTES) for blob, reading in keys]


def step_back(tree: Mapping[str, FactsKey], change: Merged) -> dict[str, FactsKey]:
    """The tree before a change, from the tree after it."""
    gone = {each.new_path for each in change.changes}
    before = {path: key for path, key in tree.items() if path not in gone}
    before.update(_restored(change))
    return before


def renamed_back(names: Mapping[str, str], change: Merged) -> dict[str, str]:
    """Path before a change to the path by which the newest tree knows the file, from the same after the change."""
    before = dict(names)
    for each in change.changes:
        if each.old_path and each.new_path and each.old_path != each.new_path:
            before.pop(each.new_path, None)
            before[each.old_path] = names.get(each.new_path, each.new_path)
    return before


def _restored(change: Merged) -> Iterator[tuple[str, FactsKey]]:
    for each in change.changes:
        if each.old_path and each.old_blob:
            item = blob_of(each.old_path, each.old_blob, TYPICAL_BLOB_BYTES)
            if item:
                yield each.old_path, (item.blob, item.reading)


def _merged(commit: Commit) -> Merged:
    number = _number(commit.subject)
    return Merged(
        sha=commit.sha,
        parent=commit.parents[0],
        number=number,
        title=commit.subject,
        merged_at=commit.committed_at,
        changes=commit.changes,
        is_pull_request=number is not None or len(commit.parents) > 1,
    )


def _number(subject: str) -> int | None:
    if found := _SQUASHED.search(subject):
        return int(found[1])
    if found := _MERGED.search(subject):
        return int(found[1] or found[2])
    return None
