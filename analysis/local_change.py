"""What a change adds and takes away, judged on this machine as the server judges a pull request."""

from datetime import date
from functools import partial
from pathlib import Path

from analysis.changes import ChangeJudge, JudgedChange, read_change, recent_past
from analysis.engine.changes import ChangedFiles
from analysis.engine.gates import Verdict, compare, judge
from analysis.engine.policy import Policy
from analysis.git.blobs import BlobReader
from analysis.git.tree import resolve
from analysis.local_scan import OnProgress, Scan, facts_of, given, policy_at


def judge_local_change(
    git_dir: Path,
    *,
    base: str,
    head: str,
    today: date,
    workers: int,
    on_progress: OnProgress,
    policy: Policy | None = None,
) -> tuple[Scan, JudgedChange]:
    """The state at `head`, and what it adds to its merge base with `base`, by `policy` or the base's own.
    UnknownRevision without common history."""
    on_progress("comparing", 0, 1)
    change = read_change(git_dir, base=resolve(git_dir, base), head=resolve(git_dir, head))
    facts = facts_of([change.before, change.after], partial(BlobReader, git_dir), workers, on_progress)
    in_force = given(policy) or policy_at(git_dir, change.policy_blob, change.before.with_facts(facts))
    on_progress("reading history", 0, 1)
    history = recent_past(git_dir, change.merge_base, today)
    on_progress("evaluating", 0, 1)
    judged = ChangeJudge().judge(change, facts, policy=in_force.policy, history=history, today=today)
    notes = (*change.notes, *in_force.notes, *judged.after.notes)
    return Scan(judged.after, in_force.policy, change.head_sha, notes), judged


def judge_state(scan: Scan) -> Verdict:
    """What the gates say of a state as it is: those about changes see none."""
    return judge(compare(scan.report, scan.report, ChangedFiles()), scan.policy)
