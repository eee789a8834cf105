"""A change from its merge base to its head (rules.md 8.6), read from git and judged by the policy of the base branch.

The server and `manage.py scan --base` both judge here, so that they say the same of the same commits. No Django.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import orjson

from analysis.engine.changes import ChangedFiles
from analysis.engine.codebase import MEASURED
from analysis.engine.evaluate import report_of
from analysis.engine.evaluator import Evaluator
from analysis.engine.facts import FileFacts
from analysis.engine.gates import Verdict, compare, judge
from analysis.engine.history import History
from analysis.engine.languages import FileKind, kind_of, language_of
from analysis.engine.metrics.churn import STALE_DAYS
from analysis.engine.policy import Exemption, Policy
from analysis.engine.policy_file import PolicyInvalid, load_policy, to_mapping
from analysis.engine.report import Report
from analysis.engine.version import engine_version
from analysis.git.blobs import BlobReader
from analysis.git.errors import UnknownRevision
from analysis.git.history import read_history
from analysis.git.limits import DEFAULT_LIMITS, GitLimits
from analysis.git.records import Change as FileChange
from analysis.git.tree import added_lines, changed_entries, files_at, list_tree, merge_base, tree_hash
from analysis.source_tree import POLICY_FILES, FactsKey, SourceTree, policy_blob_of, source_tree, tree_after

CLOCK_SLACK = timedelta(days=7)  # a commit may be dated after the day on which it is judged
BREAKS_POLICY = "This change leaves a policy file that cannot be used"


@dataclass(frozen=True, slots=True)
class Change:
    """Two commits and what lies between them. `base_sha` is where the base branch stands, whose policy decides."""

    folder: Path
    base_sha: str
    merge_base: str
    head_sha: str
    before: SourceTree
    after: SourceTree
    files: ChangedFiles
    file_changes: Sequence[FileChange]
    policy_blob: str | None
    tree_hashes: tuple[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """The verdict, the state after the change, and what was measured. `hash` names all that the verdict follows from
    but the day and the history, which move churn and let exceptions expire."""

    change: Change
    verdict: Verdict
    metrics: Mapping[str, float]
    before: Report
    after: Report
    hash: str


def read_change(folder: Path, *, base: str, head: str, limits: GitLimits = DEFAULT_LIMITS) -> Change:
    """The change between two commits, given by their hashes. UnknownRevision when they share no history."""
    start = merge_base(folder, base, head, limits=limits)
    if start is None:
        raise UnknownRevision("Base and head share no history; name a base that the change grew from.")
    listed = list_tree(folder, start, limits=limits)
    before = source_tree(listed.entries)
    changes = changed_entries(folder, start, head, limits=limits)
    after = tree_after(before, changes)
    lines = added_lines(folder, start, head, limits=limits).per_file
    return Change(
        folder=folder,
        base_sha=base,
        merge_base=start,
        head_sha=head,
        before=before,
        after=after,
        files=changed_files(changes, lines, exceptions_added(folder, before.policy_blob, after.policy_blob)),
        file_changes=changes,
        policy_blob=policy_blob_of(files_at(folder, base, POLICY_FILES, limits=limits)),
        tree_hashes=(tree_hash(folder, start, limits=limits), tree_hash(folder, head, limits=limits)),
        notes=(*policy_broken(folder, before.policy_blob, after.policy_blob), *listed.notes),
    )


def recent_past(folder: Path, head: str, today: date, *, limits: GitLimits = DEFAULT_LIMITS) -> History:
    """The commits that a verdict of today looks back to: those that churn counts, and those that keep a line from being
    old."""
    since = today - timedelta(days=STALE_DAYS) - CLOCK_SLACK
    return History.of(read_history(folder, head, since_day=since, limits=limits))


class ChangeJudge:
    """Judges changes of one repository, one after the other: each costs what differs from the one before.

    What it says of a change never depends on what it judged before. Facts of the same blob have to be the same object
    from call to call for anything to be saved.
    """

    def __init__(self) -> None:
        self._evaluator = Evaluator(Policy())
        self._base: tuple[tuple[object, ...], Report] | None = None

    def judge(
        self, change: Change, facts: Mapping[FactsKey, FileFacts], *, policy: Policy, history: History, today: date
    ) -> JudgedChange:
        """Judge both sides by one policy. `history` is the recent past of the merge base."""
        self._evaluator.policy = policy
        before = self._before(change, facts, history, today)
        files, past = change.files, history.changed(change.file_changes, today)
        self._evaluator.judge(change.after.with_facts(facts), past, today, aliases=files.renamed, added=files.added)
        after = report_of(self._evaluator)
        delta = compare(before, after, files)
        return JudgedChange(
            change=change,
            verdict=judge(delta, policy),
            metrics=delta.metrics,
            before=before,
            after=after,
            hash=verdict_hash(change.tree_hashes, policy),
        )

    def _before(self, change: Change, facts: Mapping[FactsKey, FileFacts], history: History, today: date) -> Report:
        """The state of the merge base; kept, because the next change often grew from the same one."""
        state = (change.merge_base, self._evaluator.policy, today)
        if self._base is None or self._base[0] != state:
            self._evaluator.judge(change.before.with_facts(facts), history, today)
            self._base = state, report_of(self._evaluator)
        return self._base[1]


def verdict_hash(trees: Sequence[str], policy: Policy) -> str:
    """SHA-256 over both trees, the engine with its rules, and the policy, as 64 hexadecimal digits."""
    parts = [*trees, engine_version(), orjson.dumps(to_mapping(policy), option=orjson.OPT_SORT_KEYS).decode()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def changed_files(changes: Sequence[FileChange], lines: Mapping[str, int], exceptions_added: int = 0) -> ChangedFiles:
    """The changes of analysed files in the engine's words; `lines` are the added plus deleted ones of each file."""
    added, modified, deleted = set(), set(), set()
    renamed = {}
    for change in changes:
        if not _is_analysed(change.path):
            continue
        if change.old_path and change.new_path and change.old_path != change.new_path:
            renamed[change.new_path] = change.old_path
        elif change.old_path and change.new_path:
            modified.add(change.new_path)
        elif change.new_path:
            added.add(change.new_path)
        elif change.old_path:
            deleted.add(change.old_path)
    changed_lines = sum(count for path, count in lines.items() if _is_analysed(path))
    return ChangedFiles(
        frozenset(added), frozenset(modified), frozenset(deleted), renamed, changed_lines, exceptions_added
    )


def exceptions_added(folder: Path, before: str | None, after: str | None) -> int:
    """How many exceptions the policy file has after the change that it had not before."""
    if after is None or before == after:
        return 0
    with BlobReader(folder) as blobs:
        added = Counter(_exemptions(blobs, after)) - Counter(_exemptions(blobs, before))
    return added.total()


def policy_broken(folder: Path, before: str | None, after: str | None) -> tuple[str, ...]:
    """A note where the change leaves a policy file that cannot be read: the base branch's judges it, and once it is
    merged there the defaults judge all others."""
    if after is None or before == after:
        return ()
    try:
        with BlobReader(folder) as blobs:
            load_policy(blobs.read(after) or b"")
    except PolicyInvalid as problem:
        return (f"{BREAKS_POLICY}; once it is merged, its gates hold no more: {problem}",)
    return ()


def _exemptions(blobs: BlobReader, blob: str | None) -> tuple[Exemption, ...]:
    try:
        return load_policy((blob and blobs.read(blob)) or b"").exemptions
    except PolicyInvalid:  # a policy that cannot be read excuses nothing
        return ()


def _is_analysed(path: str) -> bool:
    return kind_of(path) is not FileKind.VENDORED and language_of(path) in MEASURED
