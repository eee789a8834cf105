"""Background work of organizations: farewells are said, lapsed invitations are marked."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from config.background import begun, nudge_once

PRUNE = "organizations.tasks.prune"


@shared_task(soft_time_limit=300, time_limit=330)
def settle_farewell(farewell_id: str) -> None:
    """Clean up one thing that a deleted organization left behind."""
    from organizations import farewells

    farewells.settle(UUID(farewell_id))


@shared_task(soft_time_limit=60, time_limit=90, expires=60)
def settle_due_farewells() -> None:
    """Every minute: queue what is due, after a failure, a lost message or a dead worker."""
    from organizations import farewells

    for farewell_id in farewells.due():
        settle_farewell.delay(str(farewell_id))


@shared_task(soft_time_limit=60, time_limit=90, expires=600)
def expire_invitations() -> None:
    """Every ten minutes: mark the invitations whose time ran out."""
    from organizations import services

    services.expire_lapsed()


@shared_task(soft_time_limit=240, time_limit=300, expires=3600)
def prune() -> None:
    """Every hour: let go of audit lines and ended invitations that have had their time, turn by turn."""
    from organizations import retention

    begun(PRUNE)
    if retention.prune(now=timezone.now()):
        nudge_once(PRUNE)
