"""Judge the last scanned state again by another policy: from stored facts, without the clone and without parsing.

A changed policy is carried out as a run that the web process claims for itself. Its lease keeps workers from scanning
the repository meanwhile, and when this process dies the lease ends and a worker scans again: nothing is left half done.
"""

import gc
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from functools import lru_cache
from threading import Lock
from uuid import UUID

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from analysis.engine.evaluate import report_of
from analysis.engine.evaluator import Evaluator
from analysis.engine.facts import FileFacts
from analysis.engine.graph import architecture_graph
from analysis.engine.policy import Policy
from analysis.engine.report import Report
from analysis.engine.version import facts_version
from analysis.models import Repository, Run, RunKind, RunStatus, ScanInputs, ScanReport
from analysis.services import runs
from analysis.services.inputs import Inputs, load_inputs, read_files, stored_version
from analysis.services.policies import in_force
from analysis.services.repeats import judged_from
from analysis.services.results import Scanned, store_results
from config.errors import Unavailable
from config.turns import turn

# The most lines of code that are judged while the caller waits; what is larger is left to a worker.
LINES_AT_ONCE = 500_000
WAIT_SECONDS = 1.0

log = structlog.get_logger("analysis")


class StateBusy(Unavailable):
    message = "Another policy is being tried on this repository; try again in a few seconds"


class LastState:
    """The state of the last scan, ready to be judged by any policy, by one caller at a time.

    What does not follow from the policy is found out once: findings of single files, calls, models, the request path.
    """

    def __init__(self, inputs: Inputs, files: Mapping[str, FileFacts], aliases: Mapping[str, str]) -> None:
        self.inputs = inputs
        self.files = files
        self.aliases = aliases
        self._evaluator = Evaluator(Policy())
        self._turn = Lock()

    def judge(self, policy: Policy, today: date) -> Report:
        """What a scan of this state would report today under `policy`."""
        with self.evaluator(policy, today) as evaluator:
            return report_of(evaluator)

    @contextmanager
    def evaluator(self, policy: Policy, today: date) -> Iterator[Evaluator]:
        """The judge of this state, who may go on to others that resemble it. StateBusy for a caller who would have to
        wait long for another one."""
        with turn(self._turn, busy=StateBusy, wait_seconds=WAIT_SECONDS), _without_collector():
            self._evaluator.policy = policy
            self._evaluator.judge(self.files, self.inputs.history, today, self.aliases, self.inputs.graph)
            yield self._evaluator


def last_state(repository: Repository) -> LastState | None:
    """The state of the last scan; None before the first one, and when its facts are those of an older engine."""
    version = stored_version(repository)
    if version is None:
        return None
    try:
        return _read_state(repository.pk, version)
    except (_FactsLost, ScanInputs.DoesNotExist):
        return None


class _FactsLost(Exception):
    """The store of facts does not hold what the tree names."""


@lru_cache(maxsize=1)  # who edits a policy asks again about the same state; 200,000 lines of code take about 70 MB
def _read_state(repository_id: UUID, version: datetime) -> LastState:
    reports = ScanReport.objects.filter(repository_id=repository_id).order_by("-created_at")
    aliases = reports.values_list("aliases", flat=True).first() or {}
    with _without_collector():
        inputs = load_inputs(repository_id)
        files = read_files(inputs)
        if files is None:
            raise _FactsLost
        return LastState(inputs, files, aliases)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Millions of objects are made here and hardly a circle; looking for them would take most of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def apply_policy(repository: Repository, *, requested_by: User | None = None) -> None:
    """Bring the results in line with the policy that was stored just now; call it after the commit.

    At once for up to LINES_AT_ONCE lines; else, and while another scan is at work, through a queued run.
    """
    run = _claim_at_once(repository, requested_by)
    if run is not None:
        _judge_and_end(run)
    elif repository.current_report_id or _is_being_scanned(repository):
        # The scan at work may have read the policy before it changed: another one follows it.
        runs.request_run(repository=repository, requested_by=requested_by)


def _claim_at_once(repository: Repository, requested_by: User | None) -> Run | None:
    report = repository.current_report
    if report is None or report.lines_of_code > LINES_AT_ONCE:
        return None
    now = timezone.now()
    try:
        with transaction.atomic():
            return Run.objects.create(
                organization_id=repository.organization_id,
                repository=repository,
                kind=RunKind.SCAN,
                status=RunStatus.RUNNING,
                requested_by=requested_by,
                queued_at=now,
                started_at=now,
                phase="evaluating",
                attempts=1,
                lease=uuid.uuid4(),
                lease_until=now + settings.RUN_LEASE,
            )
    except IntegrityError:  # a scan of this repository is at work
        return None


def _is_being_scanned(repository: Repository) -> bool:
    return repository.runs.filter(status=RunStatus.RUNNING, pull_request=None).exists()


def _judge_and_end(run: Run) -> None:
    try:
        if judge_stored_facts(run):
            runs.end_run(run, RunStatus.SUCCEEDED)
            return
    except runs.LeaseLost:
        log.info("policy run was taken over", run=str(run.pk))
        return
    except StateBusy:
        log.info("policy run is left to a worker", run=str(run.pk))
    except Exception:
        log.exception("policy run broke", run=str(run.pk))
    # A worker takes it over and scans: facts of an older engine, or a fault that the next attempt may not meet.
    runs.give_back(run)
    runs.nudge_workers(run.kind)


def judge_stored_facts(run: Run) -> bool:
    """Store the results of the last scanned state under the policy now in force; False when its facts are gone.

    LeaseLost when the run is no longer ours.
    """
    repository = Repository.objects.get(pk=run.repository_id)
    state = last_state(repository)
    if state is None:
        return False
    today = timezone.now().date()
    policy = in_force(repository, state.inputs.own)
    report = state.judge(policy.policy, today)
    runs.report_progress(
        run,
        phase="storing",
        progress=80,
        files_analyzed=report.files_analyzed,
        files_from_cache=report.files_analyzed,
    )
    store_results(
        run,
        Scanned(
            commit_sha=state.inputs.commit_sha,
            day=today,
            engine_version=facts_version(),
            judged_from=judged_from(commit_sha=state.inputs.commit_sha, policy=policy, day=today),
            report=report,
            graph=architecture_graph(report.graph, policy.policy, report.findings, state.files, report.hotspots),
            aliases=state.aliases,
            notes=(*state.inputs.notes, *policy.notes, *report.notes),
        ),
    )
    return True
