"""What a change adds and takes away, judged on this machine: from the merge base with `base` to a head (rules.md 8.6).

The same comparison and the same policy rule as for pull requests: the base's policy judges both sides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

from analysis.engine.changes import ChangedFiles
from analysis.engine.codebase import MEASURED
from analysis.engine.evaluate import evaluate
from analysis.engine.gates import Delta, Verdict, compare, judge
from analysis.engine.history import History
from analysis.engine.languages import FileKind, kind_of, language_of
from analysis.git.blobs import BlobReader
from analysis.git.errors import UnknownRevision
from analysis.git.history import read_history
from analysis.git.records import Change
from analysis.git.tree import added_lines, changed_entries, list_tree, merge_base, resolve
from analysis.local_scan import OnProgress, Scan, facts_of, policy_at
from analysis.source_tree import source_tree


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """A head that was compared with its merge base."""

    head: Scan
    base_sha: str
    delta: Delta
    verdict: Verdict


def judge_change(
    git_dir: Path, *, base: str, head: str, today: date, workers: int, on_progress: OnProgress
) -> JudgedChange:
    """Judge what `head` adds to its merge base with `base`. UnknownRevision when they share no history."""
    head_sha = resolve(git_dir, head)
    base_sha = merge_base(git_dir, resolve(git_dir, base), head_sha)
    if base_sha is None:
        raise UnknownRevision(f"{base} and {head} share no history; name a base that the change grew from.")
    trees = {sha: source_tree(list_tree(git_dir, sha).entries) for sha in (base_sha, head_sha)}
    facts = facts_of(list(trees.values()), partial(BlobReader, git_dir), workers, on_progress)
    files = {sha: tree.with_facts(facts) for sha, tree in trees.items()}
    policy = policy_at(git_dir, trees[base_sha], files[base_sha])
    history = History.of(read_history(git_dir, base_sha))
    on_progress("evaluating", 0, 1)
    lines = added_lines(git_dir, base_sha, head_sha).per_file
    changed = changed_files(changed_entries(git_dir, base_sha, head_sha), lines)
    before = evaluate(files=files[base_sha], history=history, policy=policy.policy, today=today)
    after = evaluate(files=files[head_sha], history=history, policy=policy.policy, today=today, aliases=changed.renamed)
    delta = compare(before, after, changed)
    scan = Scan(after, policy.policy, head_sha, files[head_sha], history, (*policy.notes, *after.notes))
    return JudgedChange(scan, base_sha, delta, judge(delta, policy.policy))


def judge_state(scan: Scan) -> Verdict:
    """What the gates say of a state as it is: those about changes see none."""
    return judge(compare(scan.report, scan.report, ChangedFiles()), scan.policy)


def changed_files(changes: Sequence[Change], lines: Mapping[str, int]) -> ChangedFiles:
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
    return ChangedFiles(frozenset(added), frozenset(modified), frozenset(deleted), renamed, changed_lines)


def _is_analysed(path: str) -> bool:
    return kind_of(path) is not FileKind.VENDORED and language_of(path) in MEASURED
