"""From a git tree to what the engine wants to know: the blobs to read, and the policy that stands in it. No Django."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from analysis.engine.facts import FileFacts
from analysis.engine.languages import ATTRIBUTES, FileKind, kind_of, reading_of
from analysis.engine.policy import Policy, Stack
from analysis.engine.policy_file import PolicyInvalid, default_policy, load_policy
from analysis.engine.stack import detect_stack
from analysis.git.tree import Change, TreeEntry
from analysis.parsing import BlobToParse

TYPICAL_BLOB_BYTES = 4000  # the size of a blob that a diff names without its size
POLICY_FILES = (".techdebt.yml", ".techdebt.yaml")
FactsKey = tuple[str, str]  # blob, reading
DetectStack = Callable[[Mapping[str, FileFacts]], Stack]


@dataclass(frozen=True, slots=True)
class SourceTree:
    """The files of one commit that count: path to blob, in path order. Vendored files are left out."""

    blobs: Mapping[str, BlobToParse]
    policy_blob: str | None
    policies: Mapping[str, str] = field(default_factory=dict)  # the policy file by each of its names

    @property
    def to_parse(self) -> list[BlobToParse]:
        """Each distinct blob once."""
        return list({(item.blob, item.reading): item for item in self.blobs.values()}.values())

    def with_facts(self, facts: Mapping[FactsKey, FileFacts]) -> dict[str, FileFacts]:
        """Path to facts, for `evaluate`."""
        return {path: facts[item.blob, item.reading] for path, item in self.blobs.items()}


def source_tree(entries: Iterable[TreeEntry]) -> SourceTree:
    """Sort out what to read from a listed tree."""
    blobs: dict[str, BlobToParse] = {}
    policies: dict[str, str] = {}
    for entry in entries:
        if entry.path in POLICY_FILES:
            policies[entry.path] = entry.blob
        if item := blob_of(entry.path, entry.blob, entry.size):
            blobs[entry.path] = item
    return SourceTree(blobs=blobs, policy_blob=policy_blob_of(policies), policies=policies)


def tree_after(tree: SourceTree, changes: Sequence[Change]) -> SourceTree:
    """What becomes of a tree by a change. What the change says of its own files in `.gitattributes` counts once it is
    merged: it must not hide them from its own verdict."""
    changes = [each for each in changes if not _is_attributes(each.path)]
    gone = {change.old_path for change in changes}
    policies = {path: blob for path, blob in tree.policies.items() if path not in gone}
    for change in changes:
        if change.new_path in POLICY_FILES and change.new_blob:
            policies[change.new_path] = change.new_blob
    return SourceTree(blobs=blobs_after(tree.blobs, changes), policy_blob=policy_blob_of(policies), policies=policies)


def _is_attributes(path: str) -> bool:
    return path.rpartition("/")[2] == ATTRIBUTES


def blobs_after(blobs: Mapping[str, BlobToParse], changes: Iterable[Change]) -> dict[str, BlobToParse]:
    """Path to blob after a change."""
    changes = list(changes)
    gone = {change.old_path for change in changes}
    after = {path: item for path, item in blobs.items() if path not in gone}
    for change in changes:
        if change.new_path and change.new_blob:
            item = blob_of(change.new_path, change.new_blob, TYPICAL_BLOB_BYTES)
            if item:
                after[change.new_path] = item
    return after


def policy_blob_of(files: Mapping[str, str]) -> str | None:
    """The blob of the policy among files at the root."""
    return next((files[name] for name in POLICY_FILES if name in files), None)


def blob_of(path: str, blob: str, size: int) -> BlobToParse | None:
    """What to parse for this path; None for a vendored file."""
    if kind_of(path) == FileKind.VENDORED:
        return None
    return BlobToParse(blob=blob, reading=reading_of(path), size=size)


@dataclass(frozen=True, slots=True)
class PolicyInForce:
    """A policy, where it comes from (default, repository, api), and what went wrong on the way."""

    policy: Policy
    source: str
    notes: tuple[str, ...] = ()


def policy_of_file(
    content: bytes | None, files: Mapping[str, FileFacts], detect: DetectStack = detect_stack
) -> PolicyInForce:
    """The policy in a repository's own file; without one, or with a broken one, the defaults of its stack."""
    notes = []
    if content is not None:
        try:
            return PolicyInForce(load_policy(content), "repository")
        except PolicyInvalid as problem:
            notes.append(f"The policy file was not used: {problem}")
    return PolicyInForce(default_policy(detect(files)), "default", tuple(notes))
