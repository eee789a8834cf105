"""What organizations keep for how long, and how it is let go."""

from datetime import datetime

from django.conf import settings

from config import pruning
from organizations.models import AuditEntry, Invitation, InvitationStatus


def prune(*, now: datetime) -> bool:
    """Let go of audit lines, and of invitations that can no longer be accepted, after their time (RETENTION). Whether
    more can go."""
    lines = pruning.older_than(AuditEntry, now - settings.RETENTION["audit"])
    before = now - settings.RETENTION["invitations"]
    ended = pruning.older_than(Invitation, before).exclude(status=InvitationStatus.PENDING)
    return pruning.take_turns(
        audit=lambda: pruning.prune(lines), invitations=lambda: pruning.prune(ended.filter(updated_at__lt=before))
    )
