"""A scan from the clone to stored results, and then the past from git: one snapshot for each day.

Runs inside the child process of a claimed run. Every write names the run's lease; results are committed before the
past is filled, so they are served while the run goes on.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from analysis.engine.evaluate import evaluate
from analysis.engine.facts import FileFacts
from analysis.engine.graph import architecture_graph
from analysis.engine.history import History
from analysis.engine.metrics.churn import STALE_DAYS, WINDOW_DAYS
from analysis.engine.metrics.coupling import COUPLING_DAYS
from analysis.engine.version import facts_version
from analysis.git.clone import MirrorResult, mirror
from analysis.git.errors import EmptyRepository, GitError
from analysis.git.folder import is_shallow
from analysis.git.history import read_history
from analysis.git.tree import changed_entries, list_tree
from analysis.local_scan import policy_at
from analysis.models import Repository, Run, ScanReport
from analysis.services import runs
from analysis.services.clones import clones_folder, credentials
from analysis.services.facts import collect_facts, count_known
from analysis.services.git_limits import git_limits
from analysis.services.inputs import inputs_of
from analysis.services.past import days_to_fill, fill_past
from analysis.services.policies import in_force
from analysis.services.repeats import confirm, judged_from, standing_report
from analysis.services.results import Scanned, store_results
from analysis.services.workspaces import note_clone
from analysis.source_tree import PolicyInForce, SourceTree, source_tree

# Where each phase begins on the scale from 0 to 100; parsing and the past move inside their own stretch.
CLONING, LISTING, PARSING, EVALUATING, STORING, PAST, DONE = 1, 10, 12, 70, 80, 85, 100
CLOCK_SLACK = timedelta(days=7)  # clocks of committers differ; git's order is kept within this


@dataclass(frozen=True, slots=True)
class Checkout:
    """A commit as the engine reads it: where it lies, what it holds, and what judges it."""

    folder: Path
    sha: str
    tree: SourceTree
    files: Mapping[str, FileFacts]
    files_from_cache: int  # analysed files that did not have to be parsed
    notes: tuple[str, ...]


def scan(run: Run) -> None:
    """Scan the default branch, unless the last scan did and nothing has changed since. GitError with a sentence when
    the repository cannot be read."""
    repository = run.repository
    today = timezone.now().date()
    clone = _bring_up_to_date(run, repository)
    assert clone.head_sha is not None  # noqa: S101 - _bring_up_to_date refuses an empty repository
    standing = standing_report(repository, commit_sha=clone.head_sha, day=today)
    if standing and not days_to_fill(run, repository.folder, clone.head_sha, today):
        confirm(run, standing)
        return
    checkout = _read(run, repository.folder, clone.head_sha)
    history = read_past(checkout.folder, checkout.sha, today)
    runs.report_progress(run, phase="evaluating", progress=EVALUATING)
    own = policy_at(checkout.folder, checkout.tree.policy_blob, checkout.files)
    policy = in_force(repository, own)
    _judge_and_store(run, repository, checkout, history, own, policy, today)
    fill_past(
        run=run, folder=checkout.folder, head=checkout.sha, history=history, policy=policy.policy, today=today,
        on_progress=_stretch(run, "history", PAST, DONE),
    )  # fmt: skip


def _judge_and_store(
    run: Run,
    repository: Repository,
    checkout: Checkout,
    history: History,
    own: PolicyInForce,
    policy: PolicyInForce,
    today: date,
) -> ScanReport:
    aliases = _aliases(repository, checkout)
    report = evaluate(files=checkout.files, history=history, policy=policy.policy, today=today, aliases=aliases)
    graph = architecture_graph(report.graph, policy.policy, report.findings, checkout.files, report.hotspots)
    runs.report_progress(
        run,
        phase="storing",
        progress=STORING,
        files_analyzed=report.files_analyzed,
        files_from_cache=checkout.files_from_cache,
    )
    scanned = Scanned(
        commit_sha=checkout.sha,
        day=today,
        engine_version=facts_version(),
        judged_from=judged_from(commit_sha=checkout.sha, policy=policy, day=today),
        report=report,
        graph=graph,
        aliases=aliases,
        notes=(*checkout.notes, *policy.notes, *report.notes),
        inputs=inputs_of(
            commit_sha=checkout.sha,
            tree=checkout.tree,
            history=history,
            graph=report.graph,
            own=own,
            notes=checkout.notes,
            today=today,
        ),
    )
    return store_results(run, scanned)


def read_past(folder: Path, head: str, today: date) -> History:
    """The commits that churn, ages, coupling and daily snapshots need: the whole history when HISTORY_DAYS is 0."""
    commits = read_history(folder, head, limits=git_limits())
    if not settings.HISTORY_DAYS:
        return History.of(commits)
    needed = max(settings.HISTORY_DAYS + max(WINDOW_DAYS, STALE_DAYS), COUPLING_DAYS)
    oldest = today - timedelta(days=needed) - CLOCK_SLACK
    recent = []
    for commit in commits:
        if commit.committed_at.date() < oldest:
            break
        recent.append(commit)
    return History.of(recent)


def _bring_up_to_date(run: Run, repository: Repository) -> MirrorResult:
    runs.report_progress(run, phase="cloning", progress=CLONING)
    clones_folder()
    clone = mirror(
        repository.clone_url,
        repository.folder,
        branch=repository.default_branch if repository.is_branch_chosen else None,
        limits=git_limits(),
        auth_header=credentials(repository),
        deadline=time.monotonic() + settings.FIRST_SCAN_TIMEOUT.total_seconds(),
    )
    note_clone(repository)
    if clone.head_sha is None:
        raise EmptyRepository
    if clone.branch and clone.branch != repository.default_branch:
        Repository.objects.filter(pk=repository.pk).update(default_branch=clone.branch)
    return clone


def _read(run: Run, folder: Path, sha: str) -> Checkout:
    runs.report_progress(run, phase="listing files", progress=LISTING)
    listed = list_tree(folder, sha, limits=git_limits())
    tree = source_tree(listed.entries)
    facts, known = collect_facts(
        tree.to_parse, git_dir=folder, workers=settings.WORKER_CONCURRENCY,
        on_progress=_stretch(run, "parsing", PARSING, EVALUATING), scan=run,
    )  # fmt: skip
    runs.report_progress(run, phase="reading history", progress=EVALUATING)
    notes = list(listed.notes)
    if is_shallow(folder):
        notes.append("The clone is shallow: churn, hotspots and trends know only part of the history.")
    return Checkout(
        folder=folder,
        sha=sha,
        tree=tree,
        files=tree.with_facts(facts),
        files_from_cache=count_known(tree, facts, known),
        notes=tuple(notes),
    )


def _aliases(repository: Repository, checkout: Checkout) -> dict[str, str]:
    """Path to the path that a file was first known by, carried on from the last report through git's renames."""
    last = (
        ScanReport.objects.filter(repository=repository).order_by("-created_at").only("commit_sha", "aliases").first()
    )
    if last is None:
        return {}
    try:
        changes = changed_entries(checkout.folder, last.commit_sha, checkout.sha, limits=git_limits())
    except GitError:  # the last commit is gone after a forced push: files keep the names they have
        changes = []
    came_from = {change.new_path: change.old_path for change in changes if change.old_path and change.new_path}
    return carry_on(last.aliases, came_from, checkout.files)


def carry_on(aliases: Mapping[str, str], came_from: Mapping[str, str], paths: Iterable[str]) -> dict[str, str]:
    """Each path's first known name where it is another one: `came_from` says what each renamed path was called."""
    names = {}
    for path in paths:
        before = came_from.get(path, path)
        names[path] = aliases.get(before, before)
    return {path: name for path, name in names.items() if name != path}


def _stretch(run: Run, phase: str, start: int, end: int) -> Callable[[int, int], None]:
    """A progress callback that moves from `start` to `end` and writes at most once a second."""
    last = [0.0]

    def on_progress(done: int, total: int) -> None:
        now = time.monotonic()
        if now - last[0] >= 1 or done == total:
            last[0] = now
            runs.report_progress(run, phase=phase, progress=start + (end - start) * done // max(1, total))

    return on_progress
