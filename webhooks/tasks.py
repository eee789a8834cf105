"""Background work on provider events. No task carries an event: the database knows what is due."""

from celery import shared_task
from django.utils import timezone

from config.background import begun, nudge_once

# Longer than a turn of the inbox and the time-outs of the provider calls that its last event may make.
SOFT_LIMIT_SECONDS = 50
HARD_LIMIT_SECONDS = 60
FORGET = "webhooks.tasks.forget_events"


@shared_task(soft_time_limit=SOFT_LIMIT_SECONDS, time_limit=HARD_LIMIT_SECONDS, expires=60)
def process_events() -> None:
    """Work on whatever is due, for one turn."""
    from webhooks import inbox

    inbox.drain(seconds=inbox.TURN_SECONDS)


@shared_task(soft_time_limit=20, time_limit=30, expires=10)
def sweep_events() -> None:
    """Every ten seconds: find the work whose hint was lost."""
    from webhooks import inbox

    inbox.sweep()


@shared_task(soft_time_limit=300, time_limit=360, expires=3600)
def forget_events() -> None:
    """Every hour: drop what is old enough, turn by turn."""
    from webhooks import inbox

    begun(FORGET)
    if inbox.forget(now=timezone.now()):
        nudge_once(FORGET)
