"""Rows that have done their work leave the database."""

from datetime import timedelta

from django.core.cache import caches
from django.core.management import call_command
from django.utils import timezone

from accounts.models import Letter, PasswordReset, Session

KEPT = timedelta(days=30)


def clear_ended() -> None:
    """Remove sessions, links and letters 30 days after their end, and rate counters once their minute is over.

    A session is kept for a while so that staff see past sign-ins; its tokens have long expired by then.
    """
    now = timezone.now()
    Session.objects.filter(expires_at__lt=now - KEPT).delete()
    PasswordReset.objects.filter(expires_at__lt=now - KEPT).delete()
    Letter.objects.filter(due_at=None, updated_at__lt=now - KEPT).delete()
    caches["counters"].clear_expired()  # type: ignore[attr-defined]  # a CounterCache
    call_command("clearsessions")
