"""What a deleted organization leaves outside the database, and who cleans it up.

Rows in the database go with the organization, by their foreign keys. For the rest - a subscription at a provider,
clones on disk - an app above this one registers a kind of farewell in its AppConfig.ready:

    farewells.register("billing.subscription", note=subscriptions_to_cancel, settle=cancel_at_provider)

- `note(organization)` runs in the transaction that deletes the organization, before any row goes. It returns a list of
  JSON objects, one for each thing to clean up, with all that `settle` will need: the rows will be gone by then. It
  makes no call to anybody outside.
- `settle(notes)` gets one of these objects in the worker, outside a transaction. Returning means done. Raising means
  not done: it is called again after a pause, for as long as it takes. So it must be safe to call twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db.models import F
from django.utils import timezone

from config.background import nudge
from organizations.models import Farewell, Organization

LEASE = timedelta(minutes=10)  # longer than the task may take
FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(hours=6)
MOST_AT_ONCE = 500

Notes = dict[str, Any]
log = structlog.get_logger("farewells")


@dataclass(frozen=True)
class Kind:
    """The two halves of a farewell."""

    note: Callable[[Organization], list[Notes]]
    settle: Callable[[Notes], None]


KINDS: dict[str, Kind] = {}


def register(kind: str, *, note: Callable[[Organization], list[Notes]], settle: Callable[[Notes], None]) -> None:
    """Make a kind of farewell known; the name stays in the rows, so it must not change between releases."""
    KINDS[kind] = Kind(note=note, settle=settle)


def write_down(organization: Organization) -> None:
    """Store what must be cleaned up and have it done after the commit. For the deleting transaction only."""
    rows = [
        Farewell(kind=name, organization_id=organization.pk, notes=notes)
        for name, kind in KINDS.items()
        for notes in kind.note(organization)
    ]
    for row in Farewell.objects.bulk_create(rows):
        nudge("organizations.tasks.settle_farewell", str(row.pk))


def settle(farewell_id: UUID) -> None:
    """Do the work of one row and remove it; on an error keep it for later. Does nothing to a row that is not due."""
    farewell = _claim(farewell_id)
    if farewell is None:
        return
    try:
        KINDS[farewell.kind].settle(farewell.notes)
    except Exception as error:
        log.warning("a farewell failed and will be tried again", kind=farewell.kind, exc_info=True)
        _postpone(farewell, error)
    else:
        Farewell.objects.filter(pk=farewell.pk).delete()


def due() -> list[UUID]:
    """Ids of the rows whose next attempt may start, oldest first."""
    rows = Farewell.objects.filter(next_at__lte=timezone.now()).order_by("next_at")
    return list(rows.values_list("pk", flat=True)[:MOST_AT_ONCE])


def _claim(farewell_id: UUID) -> Farewell | None:
    now = timezone.now()
    claimed = Farewell.objects.filter(pk=farewell_id, next_at__lte=now).update(
        next_at=now + LEASE, attempts=F("attempts") + 1, updated_at=now
    )
    return Farewell.objects.filter(pk=farewell_id).first() if claimed else None


def _postpone(farewell: Farewell, error: Exception) -> None:
    now = timezone.now()
    doublings = min(farewell.attempts - 1, 20)
    Farewell.objects.filter(pk=farewell.pk).update(
        next_at=now + min(FIRST_PAUSE * 2**doublings, LONGEST_PAUSE),
        last_error=f"{type(error).__name__}: {error}"[:300],
        updated_at=now,
    )
