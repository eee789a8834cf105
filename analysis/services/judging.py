"""The analysis of a pull request: fetch its head and base, judge what lies between them, store the verdict.

Runs inside the child process of a claimed run, within PR_ANALYSIS_TIMEOUT. The child stays for the repository's next
pull request and remembers the state that it judged last.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analysis.changes import Change, ChangeJudge, JudgedChange, read_change, recent_past
from analysis.codehosts.base import head_ref
from analysis.engine.facts import FileFacts
from analysis.engine.stack import StackDetector
from analysis.git.clone import MirrorResult, mirror
from analysis.git.errors import UnknownRevision
from analysis.git.naming import is_branch_name
from analysis.git.tree import has_commit, merge_base
from analysis.local_scan import policy_at
from analysis.models import PullRequest, Run, RunStatus
from analysis.parsing import BlobToParse
from analysis.services import runs
from analysis.services.clones import clones_folder, credentials
from analysis.services.facts import collect_facts, count_known
from analysis.services.git_limits import git_limits
from analysis.services.policies import in_force
from analysis.services.pull_requests import CLOSED, DRAFTED, request_judgement
from analysis.services.verdicts import store_verdict
from analysis.services.workspaces import note_clone
from analysis.source_tree import FactsKey


@dataclass
class Memory:
    """What a process knows of one repository from pull requests that it judged; it saves time and decides nothing."""

    judge: ChangeJudge = field(default_factory=ChangeJudge)
    facts: dict[FactsKey, FileFacts] = field(default_factory=dict)
    stacks: StackDetector = field(default_factory=StackDetector)


def judge_pull_request(run: Run, memory: Memory | None = None) -> None:
    """Judge the run's commit and end the run. GitError with a sentence when its commits cannot be read.

    `memory` is of the run's repository.
    """
    pull_request = PullRequest.objects.select_related("repository").get(runs=run)
    if not pull_request.is_open or pull_request.is_draft:
        runs.end_run(run, RunStatus.CANCELLED, error=DRAFTED if pull_request.is_open else CLOSED)
        return
    fetched = _fetch(run, pull_request)
    head = _head(run, pull_request, fetched)
    if head != run.commit_sha:
        _follow(run, pull_request, head)
        return
    runs.report_progress(run, phase="comparing", progress=20)
    base = _base(pull_request, fetched, head)
    change = read_change(pull_request.repository.folder, base=base, head=head, limits=git_limits())
    _store(run, *_judge(run, pull_request, change, memory or Memory()))


def _fetch(run: Run, pull_request: PullRequest) -> MirrorResult:
    """Bring the base branch and the head into the clone."""
    runs.report_progress(run, phase="cloning", progress=1)
    clones_folder()
    repository = pull_request.repository
    seconds = settings.PR_ANALYSIS_TIMEOUT.total_seconds()
    fetched = mirror(
        repository.clone_url,
        repository.folder,
        branch=pull_request.base_branch,
        limits=git_limits(),
        auth_header=credentials(repository),
        deadline=time.monotonic() + seconds,
        extra_refs=_head_refs(pull_request),
    )
    note_clone(repository)
    return fetched


def _head_refs(pull_request: PullRequest) -> list[str]:
    """Where the head may be found: the host's own ref of the pull request, and the branch unless it is a fork's."""
    is_fork = pull_request.head_full_name.lower() not in ("", pull_request.repository.full_name.lower())
    branch = [] if is_fork or not is_branch_name(pull_request.head_ref) else [f"refs/heads/{pull_request.head_ref}"]
    return [head_ref(pull_request), *branch]


def _head(run: Run, pull_request: PullRequest, fetched: MirrorResult) -> str:
    """The run's commit, or the one that the host has in its place after a forced push. UnknownRevision without either.

    The host may be a moment behind its own events: a head that was judged before is no news. Where it does not say
    whose the branch is, one of that name here proves nothing.
    """
    if has_commit(pull_request.repository.folder, run.commit_sha):
        return run.commit_sha
    refs = _head_refs(pull_request) if pull_request.head_full_name else [head_ref(pull_request)]
    offered = (fetched.refs.get(ref) for ref in refs)
    news = next((sha for sha in offered if sha and sha != pull_request.judged_sha), None)
    if news is None:
        raise UnknownRevision(f"The commit {run.commit_sha[:12]} is not at the code host; push the branch again.")
    return news


def _follow(run: Run, pull_request: PullRequest, head: str) -> None:
    """Let the analysis of the commit that the host has follow this run."""
    with transaction.atomic():
        known = PullRequest.objects.select_for_update(of=("self",)).select_related("repository__organization__plan")
        pull_request = known.get(pk=pull_request.pk)
        reason = f"The branch was pushed with force and stands at {head[:12]} now; see the result there."
        if not runs.end_run(run, RunStatus.CANCELLED, error=reason):
            raise runs.LeaseLost
        if pull_request.head_sha == run.commit_sha:
            pull_request.head_sha = head
            pull_request.save(update_fields=["head_sha"])
            request_judgement(pull_request)


def _base(pull_request: PullRequest, fetched: MirrorResult, head: str) -> str:
    """Where the base branch stands; where the event said it stood when the head has been merged there since."""
    folder, limits = pull_request.repository.folder, git_limits()
    if fetched.head_sha is None:
        raise UnknownRevision(f"The base branch {pull_request.base_branch} has no commits; choose another base.")
    told = pull_request.base_sha
    is_merged = merge_base(folder, fetched.head_sha, head, limits=limits) == head
    return told if is_merged and told and has_commit(folder, told) else fetched.head_sha


def _judge(run: Run, pull_request: PullRequest, change: Change, memory: Memory) -> tuple[JudgedChange, tuple[str, ...]]:
    """The verdict, and the notes of everything on the way to it."""
    todo = {(item.blob, item.reading): item for tree in (change.before, change.after) for item in tree.to_parse}
    known = _remember_facts(memory, todo, change.folder)
    facts = memory.facts
    runs.report_progress(run, phase="evaluating", progress=50)
    today = timezone.now().date()
    own = policy_at(change.folder, change.policy_blob, change.before.with_facts(facts), memory.stacks.detect)
    policy = in_force(pull_request.repository, own)
    history = recent_past(change.folder, change.merge_base, today, limits=git_limits())
    judged = memory.judge.judge(change, facts, policy=policy.policy, history=history, today=today)
    runs.report_progress(
        run,
        phase="storing",
        progress=90,
        files_analyzed=judged.after.files_analyzed,
        files_from_cache=count_known(change.after, facts, known),
    )
    return judged, (*change.notes, *policy.notes, *judged.after.notes)


def _remember_facts(memory: Memory, todo: Mapping[FactsKey, BlobToParse], folder: Path) -> frozenset[FactsKey]:
    """Let the memory hold the facts of these blobs and no others; those that did not have to be parsed."""
    remembered = memory.facts.keys() & todo.keys()
    news = [item for key, item in todo.items() if key not in remembered]
    facts, stored = collect_facts(
        news, git_dir=folder, workers=settings.WORKER_CONCURRENCY, on_progress=lambda *_: None
    )
    memory.facts = {key: memory.facts[key] for key in remembered} | facts
    return stored | remembered


def _store(run: Run, judged: JudgedChange, notes: tuple[str, ...]) -> None:
    with transaction.atomic():
        PullRequest.objects.select_for_update(of=("self",)).get(runs=run)
        runs.lock_my_run(run)
        store_verdict(run, judged, notes)
        runs.end_run(run, RunStatus.SUCCEEDED)
