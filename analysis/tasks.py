"""Background work of the analysis. Tasks carry ids only; what they do stands in the services."""

from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import worker_ready
from django.conf import settings
from django.utils import timezone

from config.background import begun, nudge_once

PRUNE = "analysis.tasks.prune"


@shared_task
def scan_next() -> None:
    """Claim one scan, if there is one for us, and carry it out."""
    from analysis.models import SCANS
    from analysis.services.execution import execute_next

    execute_next(now=timezone.now(), kinds=SCANS)


@shared_task
def judge_next() -> None:
    """Claim the run of one pull request, if there is one for us, and carry it out."""
    from analysis.models import PULL_REQUESTS
    from analysis.services.execution import execute_next

    execute_next(now=timezone.now(), kinds=PULL_REQUESTS)


@shared_task(expires=30)
def sweep_runs() -> None:
    """Every ten seconds: end runs that were lost too often and wake workers for what is waiting."""
    from analysis.services import runs

    now = timezone.now()
    runs.fail_exhausted_runs(now=now)
    runs.wake_workers(now=now)


@shared_task(expires=30)
def help_scans() -> None:
    """Parse files of another machine's scan, as long as there is nothing better to do."""
    from analysis.services.helping import help_scans

    help_scans(now=timezone.now())


@worker_ready.connect
def _say_that_it_is_here(sender: Any, **_: Any) -> None:
    """A machine that starts tells so through its own queue."""
    from analysis.services import workspaces

    if workspaces.own_queue(workspaces.PULL_REQUESTS, settings.WORKSPACE_ID) in sender.app.amqp.queues.consume_from:
        workspaces.ask_to_keep(settings.WORKSPACE_ID)


@shared_task(expires=60)
def sweep_workspaces() -> None:
    """Every minute: have each machine that analyses say that it is there, and tidy up."""
    from analysis.services import workspaces

    workspaces.ask_all_to_keep()


@shared_task(expires=60)
def keep_workspace() -> None:
    """On one machine: keep its clones within their room."""
    from analysis.services import workspaces

    workspaces.keep(now=timezone.now())


@shared_task(soft_time_limit=1200, time_limit=1260, expires=3600)
def prune() -> None:
    """Every hour: let go what has had its time, turn by turn."""
    from analysis.services import retention

    begun(PRUNE)
    if retention.prune_results(now=timezone.now()):
        nudge_once(PRUNE)


@shared_task(soft_time_limit=1200, time_limit=1260, expires=3600)
def prune_days() -> None:
    """Every day: let go the days that have had their time."""
    from analysis.services import retention

    retention.prune_days(today=timezone.now().date())


@shared_task(soft_time_limit=80, time_limit=90)
def send_publication() -> None:
    """Make a code host show the one thing whose turn it is."""
    from analysis.services import sending

    sending.send_next()


@shared_task(soft_time_limit=20, time_limit=30, expires=10)
def sweep_publications() -> None:
    """Every ten seconds: find what was not sent."""
    from analysis.services import sending

    sending.sweep(now=timezone.now())


@shared_task(soft_time_limit=80, time_limit=90, expires=600)
def enrich_comment(publication_id: str) -> None:
    """Let a model say in other words what a comment says."""
    from analysis.services import enriching

    enriching.enrich(UUID(publication_id))


@shared_task(soft_time_limit=20, time_limit=30, expires=60)
def sweep_polls() -> None:
    """Every minute: find the repositories whose code host is to be asked for open pull requests."""
    from analysis.services import polling

    polling.sweep(now=timezone.now())


@shared_task(soft_time_limit=80, time_limit=90, expires=300)
def poll_pull_requests(repository_id: str) -> None:
    """Ask a code host for the open pull requests of one repository."""
    from analysis.services import polling

    polling.poll(UUID(repository_id), now=timezone.now())


@shared_task(soft_time_limit=280, time_limit=300, expires=3600)
def review_exceptions() -> None:
    """Every hour: tell of exceptions that end, and judge again where some have ended."""
    from analysis.services import expiry

    expiry.review_exceptions(today=timezone.now().date())


@shared_task(soft_time_limit=280, time_limit=300, expires=3600)
def judge_again(repository_id: str) -> None:
    """Judge one repository's stored facts on another day."""
    from analysis.services import expiry

    expiry.judge_again(UUID(repository_id), today=timezone.now().date())
