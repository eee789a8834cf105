"""Rows that have done their work leave the database."""

from django.conf import settings
from django.core.cache import caches
from django.core.management import call_command
from django.utils import timezone

from accounts.models import Letter, PasswordReset, Session
from config.pruning import older_than, prune, take_turns


def clear_ended() -> bool:
    """Remove sessions, links and letters a while after their end (RETENTION), rate counters once their minute is over.
    Whether more can go.

    A session is kept for a while so that staff see past sign-ins; its tokens have long expired by then.
    """
    now = timezone.now()
    sessions = Session.objects.filter(expires_at__lt=now - settings.RETENTION["sessions"])
    before = now - settings.RETENTION["letters"]
    return take_turns(
        sessions=lambda: prune(sessions, by="expires_at"),
        links=lambda: prune(older_than(PasswordReset, before).filter(expires_at__lt=before)),
        letters=lambda: prune(older_than(Letter, before).filter(due_at=None, updated_at__lt=before)),
        counters=lambda: caches["counters"].clear_expired(),  # type: ignore[attr-defined]  # a CounterCache
        staff_sessions=_clear_staff_sessions,
    )


def _clear_staff_sessions() -> None:
    call_command("clearsessions")
