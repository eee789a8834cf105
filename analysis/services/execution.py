"""Carry out a claimed run: a child process does the work, this process watches the clock and the lease."""

import errno
import gc
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from uuid import UUID

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, connections
from django.utils import timezone

from analysis.engine.rules import all_rules
from analysis.git.cache import in_use
from analysis.git.errors import DiskFull, GitError
from analysis.models import Run, RunKind, RunStatus
from analysis.services import runs
from analysis.services.judging import Memory, judge_pull_request
from analysis.services.scanning import scan
from analysis.standing_child import StandingChild
from analysis.supervision import Outcome, run_in_child
from config.retries import is_out_of_room
from config.stopping import is_stopping

HEARTBEATS_PER_LEASE = 6
TIMED_OUT_SCAN = (
    "The analysis did not finish in time. The last good results stand; start it again or raise the time limit."
)
TIMED_OUT_PULL_REQUEST = "The analysis did not finish in time."

log = structlog.get_logger("analysis")


class AnalysisFailed(Exception):
    """The repository cannot be analysed as it is; the message says what to do about it."""


def execute_next(*, now: datetime, kinds: Sequence[RunKind] = tuple(RunKind)) -> Run | None:
    """Claim a run of these kinds and carry it out; None when there was nothing to claim, or this worker has to stop."""
    if is_stopping():
        return None
    run = runs.claim_next_run(now=now, kinds=kinds)
    if run is None:
        return None
    runs.nudge_workers(run.kind)
    execute_run(run)
    return run


def execute_run(run: Run) -> None:
    """Work on a claimed run until it has ended, or until it has been lost to another worker."""
    seconds = _seconds_left(run)
    if seconds <= 0:
        _time_out(run)
        return
    all_rules()  # loaded here once, not in every child
    connections.close_all()  # parent and child must not talk over one socket
    outcome = _worker_for(run)(
        seconds=seconds,
        heartbeat=partial(_is_still_ours, run),
        heartbeat_seconds=settings.RUN_LEASE.total_seconds() / HEARTBEATS_PER_LEASE,
        must_leave=is_stopping,
    )
    log.info("run left its child", run=str(run.pk), kind=run.kind, outcome=outcome, attempt=run.attempts)
    match outcome:
        case Outcome.TIMED_OUT:
            _time_out(run)
        case Outcome.FAILED:
            runs.end_run(
                run, RunStatus.FAILED, error=f"A fault of ours stopped the analysis; ask support about {run.pk}"
            )
        case Outcome.DIED:
            runs.give_back(run)
        case Outcome.LEFT:
            runs.leave(run)


class _Judges:
    """The child that judges pull requests, and its repository: another one gets a fresh process, so that nothing read
    in one can touch the verdict in another."""

    repository_id: UUID | None = None
    child: StandingChild | None = None


def _worker_for(run: Run) -> Callable[..., Outcome]:
    """`run_in_child` or its like with this run as its work."""
    if run.kind == RunKind.PULL_REQUEST:
        return partial(_judge_of(run.repository_id).run, run)
    return partial(run_in_child, partial(_work, run))


def _judge_of(repository_id: UUID) -> StandingChild:
    if _Judges.child is None or _Judges.repository_id != repository_id:
        if _Judges.child is not None:
            _Judges.child.end()
        _Judges.repository_id = repository_id
        _Judges.child = StandingChild(
            partial(_work, memory=Memory()),
            idle_seconds=settings.PR_MEMORY_IDLE.total_seconds(),
            most_bytes=settings.PR_MEMORY_BYTES,
        )
    return _Judges.child


def _work(run: Run, memory: Memory | None = None) -> None:
    # A scan makes millions of objects and hardly any circles; looking for them takes a third of its time.
    gc.disable()
    try:
        _analyse(run, memory)
    except (GitError, AnalysisFailed) as refusal:
        log.info("run failed", run=str(run.pk), reason=str(refusal))
        runs.end_run(run, RunStatus.FAILED, error=str(refusal))
    except runs.LeaseLost:
        log.info("run was taken over", run=str(run.pk))
    except (OperationalError, InterfaceError) as error:
        _give_back(run, error)
    except Exception:
        log.exception("run broke", run=str(run.pk))
        raise
    finally:
        connections.close_all()


def _analyse(run: Run, memory: Memory | None) -> None:
    try:
        with in_use(run.repository.folder):
            if run.kind == RunKind.PULL_REQUEST:
                judge_pull_request(run, memory)
                return
            scan(run)
            runs.end_run(run, RunStatus.SUCCEEDED)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull from error
        raise
    except OperationalError as error:
        if is_out_of_room(error):
            raise DiskFull from error
        raise


def _give_back(run: Run, error: Exception) -> None:
    """The database went away or gave up what was asked of it: no fault of the run, so the next worker begins it again.
    While it stays away the lease ends by itself."""
    log.warning("the database broke off a run", run=str(run.pk), error=type(error).__name__)
    connections.close_all()
    with suppress(OperationalError, InterfaceError):
        runs.give_back(run)


def _is_still_ours(run: Run) -> bool:
    """Renew the lease. That the database does not answer, or that the work itself holds the row for long, is no loss:
    what was lost is found at the next write."""
    try:
        return runs.renew_lease(run, now=timezone.now())
    except OperationalError as error:
        log.warning("the lease could not be renewed now", run=str(run.pk), error=type(error).__name__)
        connections.close_all()
        return True


def _seconds_left(run: Run) -> float:
    limit = settings.PR_ANALYSIS_TIMEOUT if run.kind == RunKind.PULL_REQUEST else settings.FIRST_SCAN_TIMEOUT
    started_at = run.started_at or timezone.now()
    return float((started_at + limit - timezone.now()).total_seconds())


def _time_out(run: Run) -> None:
    message = TIMED_OUT_PULL_REQUEST if run.kind == RunKind.PULL_REQUEST else TIMED_OUT_SCAN
    runs.end_run(run, RunStatus.TIMED_OUT, error=message)
