"""Background work of accounts: letters leave, and what has ended is cleared away."""

from uuid import UUID

from celery import shared_task

from config.background import begun, nudge_once

CLEAR = "accounts.tasks.clear_ended"


@shared_task(soft_time_limit=60, time_limit=90)
def send_letter(letter_id: str) -> None:
    """Send one letter."""
    from accounts import letters

    letters.send(UUID(letter_id))


@shared_task(soft_time_limit=60, time_limit=90, expires=30)
def send_due_letters() -> None:
    """Queue every letter that is due: after a lost message, a dead worker or a mail server that was away."""
    from accounts import letters

    for letter_id in letters.due():
        send_letter.delay(str(letter_id))


@shared_task(soft_time_limit=600, time_limit=660, expires=3600)
def clear_ended() -> None:
    """Remove sessions, reset links, letters and counters that nobody will ask for again, turn by turn."""
    from accounts.services import upkeep

    begun(CLEAR)
    if upkeep.clear_ended():
        nudge_once(CLEAR)
