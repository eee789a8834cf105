"""Background work of credits."""

from celery import shared_task
from django.utils import timezone

from config.background import begun, nudge_once

PRUNE = "credits.tasks.prune"


@shared_task(soft_time_limit=60, time_limit=90, expires=60)
def lapse_reservations() -> None:
    """Every minute: free what was reserved for work that never reported back."""
    from credits import services

    services.lapse_overdue_reservations(now=timezone.now())


@shared_task(soft_time_limit=240, time_limit=300, expires=3600)
def prune() -> None:
    """Every hour: let go of reservations that ended long ago, turn by turn. The ledger itself stays."""
    from credits import services

    begun(PRUNE)
    if services.prune_reservations(now=timezone.now()):
        nudge_once(PRUNE)
