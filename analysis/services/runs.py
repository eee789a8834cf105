"""The life of a run: requested, claimed under a lease, kept alive, ended once.

The row is the queue. A worker claims by a conditional update whose row count tells who won, and every later write says
`WHERE lease = mine`, so an attempt that was given up can no longer change anything (docs/operations.md, "Runs").
"""

import uuid
from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from accounts.models import User
from analysis.models import PULL_REQUESTS, SCANS, PullRequest, Repository, Run, RunKind, RunStatus
from analysis.services import publishing, workspaces
from analysis.services.verdicts import store_unjudged
from config.background import nudge

MOST_ATTEMPTS = 3
CANDIDATES_AT_ONCE, WOKEN_AT_ONCE = 50, 10
TASKS = {workspaces.SCANS: "analysis.tasks.scan_next", workspaces.PULL_REQUESTS: "analysis.tasks.judge_next"}
INTERRUPTED = "The analysis was interrupted three times; start it again or report the repository to support."


class LeaseLost(Exception):
    """Somebody else has taken this run over; this attempt must stop without a trace."""


def request_run(*, repository: Repository, requested_by: User | None = None) -> Run:
    """Queue a scan of the default branch. While one is queued already, that one is returned."""
    kind = RunKind.SCAN if repository.current_report_id else RunKind.FIRST_SCAN
    try:
        with transaction.atomic():
            run = Run.objects.create(
                organization_id=repository.organization_id,
                repository=repository,
                kind=kind,
                requested_by=requested_by,
                queued_at=timezone.now(),
            )
            _show_as_first(run)
    except IntegrityError:
        queued = repository.runs.filter(status=RunStatus.QUEUED).exclude(kind=RunKind.PULL_REQUEST).first()
        return queued or request_run(repository=repository, requested_by=requested_by)
    nudge_worker_of(run)
    return run


def _show_as_first(run: Run) -> None:
    """While there is no baseline, the first scan is the one that is under way, else the one that ended last."""
    if run.kind == RunKind.FIRST_SCAN:
        under_way = Run.objects.unfinished().filter(pk=OuterRef("first_run"))
        Repository.objects.filter(~Exists(under_way), pk=run.repository_id, current_report=None).update(first_run=run)


def nudge_workers(kind: str) -> None:
    """Tell a worker, after the commit, that there may be something of this kind to claim. A lost nudge costs seconds:
    the sweeper looks too."""
    nudge(TASKS[workspaces.queue_of(kind)])


def nudge_worker_of(run: Run) -> None:
    """Tell one that has the clone already, if there is one, that this run is queued."""
    nudge(TASKS[workspaces.queue_of(run.kind)], queue=workspaces.address_of(run, timezone.now()))


def wake_workers(*, now: datetime) -> None:
    """Tell the workers that should take what is waiting, and of each kind one more."""
    for kinds in (SCANS, PULL_REQUESTS):
        waiting = _candidates(now, kinds)[:WOKEN_AT_ONCE]
        for address in {workspaces.address_of(run, now) for run in waiting} | {
            workspaces.queue_of(run.kind) for run in waiting
        }:
            nudge(TASKS[workspaces.queue_of(kinds[0])], queue=address)


def claim_next_run(*, now: datetime, kinds: Sequence[RunKind] = tuple(RunKind)) -> Run | None:
    """Take the next run of these kinds: pull requests first, then the organization with the fewest running, then the
    oldest. What another machine has the clone of is left to it for a moment.

    A pull request waits for the first scan of its repository: its own time is too short to clone and read everything.
    Runs whose lease has ended are taken over where they were left. None when nothing may be claimed.
    """
    for run in _candidates(now, kinds).exclude(workspaces.left_to_others(now))[:CANDIDATES_AT_ONCE]:
        if _claim(run, now):
            return Run.objects.select_related("repository", "pull_request").get(pk=run.pk)
    return None


def renew_lease(run: Run, *, now: datetime) -> bool:
    """Keep a claimed run; False when it is no longer ours."""
    return bool(_mine(run).update(lease_until=now + settings.RUN_LEASE))


def report_progress(run: Run, *, phase: str, progress: int, **counters: int) -> None:
    """Show how far the run is (0 to 100). LeaseLost when it is no longer ours."""
    if not _mine(run).update(phase=phase, progress=progress, **counters):
        raise LeaseLost


def lock_my_run(run: Run) -> Run:
    """The run's row, locked, inside the transaction that stores its results. LeaseLost when it is no longer ours."""
    locked = _mine(run).select_for_update().first()
    if locked is None:
        raise LeaseLost
    return locked


@transaction.atomic
def end_run(run: Run, status: RunStatus, *, error: str = "", now: datetime | None = None) -> bool:
    """Put the run into a final state, once; False when it is no longer ours.

    A pull request whose run ends without a verdict is told why: nothing waits for a result that never comes.
    """
    changes = {"progress": 100} if status == RunStatus.SUCCEEDED else {}
    ended = _mine(run).update(
        status=status,
        phase="finished" if status == RunStatus.SUCCEEDED else F("phase"),
        error=error[:500],
        finished_at=now or timezone.now(),
        lease=None,
        lease_until=None,
        **changes,
    )
    if ended:
        run.shares.all().delete()
        _tell_unjudged(run, status, error)
        nudge_workers(run.kind)
        if run.kind == RunKind.FIRST_SCAN:  # pull requests may have waited for it
            nudge_workers(RunKind.PULL_REQUEST)
    return bool(ended)


@transaction.atomic
def cancel_queued(pull_request: PullRequest, *, reason: str) -> None:
    """Take back the queued analysis of a pull request, if there is one. `reason` is a sentence for people."""
    run = pull_request.runs.filter(status=RunStatus.QUEUED).select_related("repository", "pull_request").first()
    if run is None:
        return
    taken_back = Run.objects.filter(pk=run.pk, status=RunStatus.QUEUED).update(
        status=RunStatus.CANCELLED, error=reason, finished_at=timezone.now()
    )
    if taken_back:
        publishing.announce_unjudged(run, reason)


def give_back(run: Run) -> None:
    """Let the lease end at once, so that the next worker takes the run over."""
    _mine(run).update(lease_until=timezone.now())


def leave(run: Run) -> None:
    """Give a run back whose worker was told to stop: no fault of the run, so it begins anew, with all its time."""
    _mine(run).update(lease_until=timezone.now(), attempts=F("attempts") - 1, started_at=None)
    nudge_workers(run.kind)


def fail_exhausted_runs(*, now: datetime) -> int:
    """End the runs that were lost for the last time."""
    lost = Run.objects.abandoned(now).filter(attempts__gte=MOST_ATTEMPTS).select_related("repository", "pull_request")
    return sum(end_run(run, RunStatus.FAILED, error=INTERRUPTED, now=now) for run in lost)


def is_work_waiting(*, now: datetime, kinds: Sequence[RunKind]) -> bool:
    """Whether a worker that asks now would be given a run of these kinds."""
    return _candidates(now, kinds).exists()


def _tell_unjudged(run: Run, status: RunStatus, reason: str) -> None:
    if run.pull_request_id is None or status == RunStatus.SUCCEEDED:
        return
    if status == RunStatus.CANCELLED:
        publishing.announce_unjudged(run, reason)
    else:
        store_unjudged(run, reason)


def _mine(run: Run) -> QuerySet[Run]:
    return Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING, lease=run.lease)


def _claim(run: Run, now: datetime) -> bool:
    try:
        with transaction.atomic():
            return bool(
                Run.objects.filter(pk=run.pk, status=run.status, lease=run.lease, lease_until=run.lease_until).update(
                    status=RunStatus.RUNNING,
                    lease=uuid.uuid4(),
                    lease_until=now + settings.RUN_LEASE,
                    attempts=F("attempts") + 1,
                    started_at=_start(run, now),
                )
            )
    except IntegrityError:  # another scan of the same repository has started in between
        return False


def _start(run: Run, now: datetime) -> Combinable:
    """A scan that is taken over goes on with its time; a pull request has less of it than it takes to notice that a
    worker was lost, and begins anew."""
    start = Greatest(Value(now), "queued_at")
    return start if run.kind == RunKind.PULL_REQUEST else Coalesce("started_at", start)


def _candidates(now: datetime, kinds: Sequence[RunKind]) -> QuerySet[Run]:
    running = Run.objects.filter(status=RunStatus.RUNNING, lease_until__gte=now, kind__in=kinds)
    of_organization = running.filter(organization=OuterRef("organization")).order_by().values("organization")
    same_pull_request = Run.objects.filter(status=RunStatus.RUNNING, pull_request=OuterRef("pull_request"))
    other_scan = Run.objects.filter(status=RunStatus.RUNNING, pull_request=None, repository=OuterRef("repository"))
    first_scan = Run.objects.unfinished().filter(kind=RunKind.FIRST_SCAN, repository=OuterRef("repository"))
    is_free_scan = Q(pull_request=None) & ~Exists(other_scan)
    is_free_pull_request = Q(pull_request__isnull=False) & ~Exists(same_pull_request) & ~Exists(first_scan)
    claimable = Q(status=RunStatus.QUEUED) & (is_free_scan | is_free_pull_request)
    abandoned = Q(status=RunStatus.RUNNING, lease_until__lt=now, attempts__lt=MOST_ATTEMPTS)
    return (
        Run.objects.filter(claimable | abandoned, kind__in=kinds)
        .annotate(
            busy=Coalesce(Subquery(of_organization.annotate(n=Count("pk")).values("n")), 0),
            is_scan=Case(When(pull_request=None, then=1), default=0),
        )
        .filter(busy__lt=max(1, settings.RUN_SLOTS // 2))
        .order_by("is_scan", "busy", "queued_at")
    )
