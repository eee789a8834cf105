"""What makes a call that changes something at a provider the same call as another one."""

from django.utils import timezone

SAME_ACT_SECONDS = 60


def moment() -> int:
    """What calls that are repeated at once have in common. A provider answers a key that it has failed for with that
    failure for a day; a later try needs another one, and does no harm where a call only says how things shall be."""
    return int(timezone.now().timestamp()) // SAME_ACT_SECONDS
