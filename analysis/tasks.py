"""Background work of the analysis. Tasks carry ids only; what they do stands in the services."""

from celery import shared_task
from django.utils import timezone

from config.background import nudge


@shared_task
def execute_next_run() -> None:
    """Claim one run, if there is one for us, and carry it out."""
    from analysis.services.execution import execute_next

    execute_next(now=timezone.now())


@shared_task(expires=30)
def sweep_runs() -> None:
    """Every ten seconds: end runs that were lost too often and wake workers for what is waiting."""
    from analysis.services import runs

    now = timezone.now()
    runs.fail_exhausted_runs(now=now)
    if runs.is_work_waiting(now=now):
        nudge("analysis.tasks.execute_next_run")


@shared_task(expires=3600)
def remove_orphaned_clones() -> None:
    """Delete the clones on this machine that belong to no repository."""
    from analysis.services.clones import remove_orphans

    remove_orphans()
