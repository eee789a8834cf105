"""Rows that have done their work leave the database."""

from django.conf import settings
from django.core.cache import caches
from django.core.management import call_command
from django.utils import timezone

from accounts.models import Letter, PasswordReset, Session
from config.pruning import older_than, prune


def clear_ended() -> None:
    """Remove sessions, links and letters a while after their end (RETENTION), rate counters once their minute is over.

    A session is kept for a while so that staff see past sign-ins; its tokens have long expired by then.
    """
    now = timezone.now()
    prune(Session.objects.filter(expires_at__lt=now - settings.RETENTION["sessions"]), by="expires_at")
    before = now - settings.RETENTION["letters"]
    prune(older_than(PasswordReset, before).filter(expires_at__lt=before))
    prune(older_than(Letter, before).filter(due_at=None, updated_at__lt=before))
    caches["counters"].clear_expired()  # type: ignore[attr-defined]  # a CounterCache
    call_command("clearsessions")
