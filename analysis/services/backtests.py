"""What a policy would have said of the pull requests that were merged lately. Nothing is stored but facts of blobs.

Each is judged as it was merged: the branch just before against the branch just after, by today's churn and day, so that
two policies differ in nothing but themselves. The walk goes back from the last scanned state, and an evaluator judges
again only what a change touched; what went to the branch directly is walked over unjudged. It ends when its time is
over; the answer says how many were left, and the next call goes on from there. Other gates on the same walk cost
nothing.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings

from analysis.changes import changed_files
from analysis.engine.evaluate import report_of
from analysis.engine.evaluator import Evaluator
from analysis.engine.facts import FileFacts
from analysis.engine.gates import Delta, Verdict, compare, judge
from analysis.engine.model import GateAction
from analysis.engine.policy import Policy
from analysis.engine.policy_file import to_mapping
from analysis.engine.report import Report
from analysis.git.errors import GitError
from analysis.git.history import mainline
from analysis.git.patch import added_lines
from analysis.mainline import Merged, blobs_to_parse, keys_before, merged_changes, renamed_back, step_back
from analysis.models import Repository
from analysis.services.facts import store_missing_facts, stored_facts
from analysis.services.git_limits import git_limits
from analysis.services.inputs import stored_version
from analysis.services.policies import present_policy
from analysis.services.policy_changes import policy_of_body, without_read_only
from analysis.services.previews import FactsTooOld, merged
from analysis.services.rejudging import LastState, last_state
from analysis.shapes import finding_shape
from analysis.source_tree import FactsKey
from config.errors import Conflict, Unavailable
from config.turns import turn

MOST_PULL_REQUESTS = 200
# Commits that went to the branch directly stand between the pull requests and have to be walked over.
MOST_COMMITS = 1000
COMMITS_AT_ONCE = 10
SECONDS = 10.0
FINDINGS_SHOWN = 10

# One at a time in a process: two of them would keep everybody else waiting.
UNDER_WAY = Lock()


class BacktestUnderWay(Unavailable):
    message = "Another back-test is under way; try again in a few seconds"


class CloneGone(Conflict):
    message = "The history of this repository is not on this machine; start an analysis and try again"


@dataclass(frozen=True, slots=True)
class _Moment:
    """The branch at one time. `names` are the paths by which the newest state knows renamed files; `report` is there
    where a pull request begins or ends."""

    tree: Mapping[str, FactsKey]
    files: Mapping[str, FileFacts]
    names: Mapping[str, str]
    report: Report | None


@dataclass
class _Walk:
    """A walk back over the changes of a branch: how far it has come, and what each pull request did."""

    folder: Path
    changes: Sequence[Merged]
    position: int = 0
    moment: _Moment | None = None
    deltas: list[tuple[Merged, Delta]] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return self.position == len(self.changes)

    @property
    def is_at_pull_request(self) -> bool:
        """Whether a pull request lies on either side of the state that comes next."""
        return any(change.is_pull_request for change in self.changes[self.position : self.position + 2])


def backtest_policy(
    *, repository: Repository, body: Any, limit: int, today: date, seconds: float = SECONDS
) -> dict[str, Any]:
    """The verdicts on the last `limit` merged pull requests under the present policy with `body` merged over it.

    InvalidInput for a body that is no part of a policy, FactsTooOld and CloneGone when there is nothing to judge,
    BacktestUnderWay and StateBusy while somebody else asks.
    """
    deadline = time.monotonic() + seconds
    policy = policy_of_body(merged(to_mapping(present_policy(repository)), without_read_only(body)))
    if repository.current_report_id is None:
        return _answer(None, [], 0)
    state, version = last_state(repository), stored_version(repository)
    if state is None or version is None:
        raise FactsTooOld
    with turn(UNDER_WAY, busy=BacktestUnderWay):
        walk = _walk(repository.pk, version, repository.folder, state.inputs.commit_sha, _without_gates(policy), today)
        _go_on(walk, state, policy, today, limit, deadline)
        found = walk.deltas[:limit]
        judged = [(change, judge(_measured(walk, change, delta, policy), policy)) for change, delta in found]
    wanted = min(limit, sum(change.is_pull_request for change in walk.changes))
    past = _past_results(repository, found)
    shapes = [_shape(change, verdict, past.get(change.number or 0)) for change, verdict in judged]
    return _answer(state.inputs.commit_sha, shapes, wanted - len(shapes))


def _answer(commit_sha: str | None, shapes: list[dict[str, Any]], left: int) -> dict[str, Any]:
    return {
        "commitSha": commit_sha,
        "evaluated": len(shapes),
        "failed": sum(shape["result"] == "fail" for shape in shapes),
        "warned": sum(shape["result"] == "pass" and shape["warningCount"] > 0 for shape in shapes),
        "notEvaluated": left,
        "pullRequests": shapes,
    }


def _without_gates(policy: Policy) -> bytes:
    """What decides about findings, as a key."""
    return orjson.dumps(to_mapping(replace(policy, block_merge=(), warn=())), option=orjson.OPT_SORT_KEYS)


@lru_cache(maxsize=1)  # who tries gates asks again about the same walk
def _walk(repository_id: UUID, version: datetime, folder: Path, head: str, policy: bytes, today: date) -> _Walk:
    try:
        commits = mainline(folder, head, most=MOST_COMMITS, limits=git_limits())
        return _Walk(folder, merged_changes(commits, MOST_PULL_REQUESTS))
    except GitError as error:
        raise CloneGone from error


def _go_on(walk: _Walk, state: LastState, policy: Policy, today: date, limit: int, deadline: float) -> None:
    """Walk until there are `limit` pull requests, or the time is over."""
    if walk.is_over or len(walk.deltas) >= limit:
        return
    with state.evaluator(policy, today) as evaluator:
        if walk.moment is None:
            walk.moment = _Moment(state.inputs.tree, state.files, state.aliases, report_of(evaluator))
        while not walk.is_over and len(walk.deltas) < limit and time.monotonic() < deadline:
            changes = walk.changes[walk.position : walk.position + COMMITS_AT_ONCE]
            facts = _facts_before(walk.folder, changes)
            for change in changes:
                if time.monotonic() >= deadline:
                    return
                _step(walk, evaluator, state, change, facts, today)


def _facts_before(folder: Path, changes: Iterable[Merged]) -> dict[FactsKey, FileFacts]:
    """Facts of the blobs that stood in the files before; those that are not stored yet are parsed."""
    keys = keys_before(changes)
    store_missing_facts(blobs_to_parse(keys), git_dir=folder, workers=settings.WORKER_CONCURRENCY)
    return dict(stored_facts(keys))


def _step(
    walk: _Walk,
    evaluator: Evaluator,
    state: LastState,
    change: Merged,
    facts: Mapping[FactsKey, FileFacts],
    today: date,
) -> None:
    """Go back over one change."""
    after = walk.moment
    assert after is not None  # noqa: S101 - the walk has begun
    tree = step_back(after.tree, change)
    files = {path: after.files[path] if after.tree.get(path) == key else facts[key] for path, key in tree.items()}
    names = renamed_back(after.names, change)
    report = None
    if walk.is_at_pull_request:  # what was committed directly is walked over, and judged by nobody
        evaluator.judge(files, state.inputs.history.renamed(names, today), today, aliases=names)
        report = report_of(evaluator)
    before = _Moment(tree, files, names, report)
    if change.is_pull_request:
        assert before.report and after.report  # noqa: S101 - both lie at a pull request
        touched = changed_files(change.changes, {})
        walk.deltas.append((change, compare(before.report, after.report, touched)))
    walk.moment, walk.position = before, walk.position + 1


def _measured(walk: _Walk, change: Merged, delta: Delta, policy: Policy) -> Delta:
    """Lines are counted only where a gate asks for them: that reads every changed blob."""
    if not any(gate.metric == "changed_lines" for gate in (*policy.block_merge, *policy.warn)):
        return delta
    lines = added_lines(walk.folder, change.parent, change.sha, limits=git_limits()).per_file
    counted = changed_files(change.changes, lines).changed_lines
    return replace(delta, metrics={**delta.metrics, "changed_lines": counted})


def _past_results(repository: Repository, deltas: Sequence[tuple[Merged, Delta]]) -> dict[int, str]:
    """What the gate said while these pull requests were open, where it was asked, by number. One query."""
    numbers = [change.number for change, _ in deltas if change.number is not None]
    known = repository.pull_requests.filter(number__in=numbers).exclude(gate_result="")
    return dict(known.values_list("number", "gate_result"))


def _shape(change: Merged, verdict: Verdict, current_result: str | None) -> dict[str, Any]:
    flagged = [finding for finding in verdict.findings if finding.gate_action is not GateAction.NONE]
    return {
        "prNumber": change.number,
        "title": change.title,
        "commitSha": change.sha,
        "mergedAt": change.merged_at,
        "result": verdict.result,
        "currentResult": current_result,
        "score": verdict.score,
        "blockingCount": verdict.blocking_count,
        "warningCount": verdict.warning_count,
        "gates": [
            {
                "metric": fired.gate.metric,
                "operator": fired.gate.operator,
                "value": fired.gate.value,
                "actual": fired.value,
                "action": fired.action,
                "message": fired.sentence,
            }
            for fired in verdict.fired
        ],
        "violations": [finding_shape(finding) for finding in flagged[:FINDINGS_SHOWN]],
    }
