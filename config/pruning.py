"""Rows that have had their time go in small batches: no long lock, no long transaction, and no harm in a second try."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import structlog
from billiard.exceptions import SoftTimeLimitExceeded
from django.db import connection, transaction
from django.db.models import Q, QuerySet

from config.models import first_id_at

BATCH = 500
# What is left after that has another turn, behind what waits by then: pruning never holds a worker for long.
TURN_SECONDS = 2.0
BREAK_SECONDS = 0.05

log = structlog.get_logger("pruning")


class Turn(NamedTuple):
    """How many rows one turn dealt with, and whether its time was over before all were met."""

    done: int = 0
    is_cut: bool = False


def take_turns(**kinds: Callable[[], Turn | None]) -> bool:
    """Give each kind of rows its turn, whatever becomes of the others. Whether another round would get further.

    A turn that was cut and dealt with nothing met only rows that have to stay: it would meet them again.
    """
    gets_further = False
    for kind, take in kinds.items():
        try:
            turn = take() or Turn()
        except SoftTimeLimitExceeded:
            raise
        except Exception:
            log.exception("pruning failed", kind=kind)
        else:
            gets_further |= turn.is_cut and turn.done > 0
    return gets_further


def older_than(model: Any, moment: datetime) -> QuerySet[Any]:
    """The rows of a table that were made before: one range of its primary key, since ids grow with time."""
    return model._base_manager.filter(pk__lt=first_id_at(moment))


def prune(rows: QuerySet[Any], *, by: str = "pk", seconds: float | None = None) -> Turn:
    """Delete these rows, the oldest first `by` an indexed column, until the turn is over."""

    def delete(keys: Sequence[Any]) -> int:
        return rows.model._base_manager.filter(pk__in=keys).delete()[1].get(rows.model._meta.label, 0)

    return in_batches(rows, delete, by=by, seconds=seconds)


def in_batches(
    rows: QuerySet[Any], work: Callable[[Sequence[Any]], int], *, by: str = "pk", seconds: float | None = None
) -> Turn:
    """Hand the keys of these rows to `work`, a few hundred locked ones at a time; it returns how many it dealt with.

    Rows that somebody else has locked are passed over. A row that `work` leaves as it was is not met twice.
    """
    ends, done, last = time.monotonic() + (TURN_SECONDS if seconds is None else seconds), 0, None
    while time.monotonic() < ends:
        with transaction.atomic():
            found = list(_locked(_after(rows, by, last)).values_list(by, "pk")[:BATCH])
            done += work([key for _, key in found]) if found else 0
        if len(found) < BATCH:
            return Turn(done)
        last = found[-1]
        time.sleep(BREAK_SECONDS)
    return Turn(done, is_cut=True)


def _after(rows: QuerySet[Any], by: str, last: tuple[Any, Any] | None) -> QuerySet[Any]:
    """In order, those behind the last one that was met."""
    ordered = rows.order_by(by, "pk")
    if last is None:
        return ordered
    return ordered.filter(
        Q(**{f"{by}__gt": last[0]}) | Q(**{by: last[0], "pk__gt": last[1]}), **{f"{by}__gte": last[0]}
    )


def _locked(rows: QuerySet[Any]) -> QuerySet[Any]:
    if connection.features.has_select_for_update_skip_locked:
        return rows.select_for_update(skip_locked=True, of=("self",))
    return rows  # SQLite has one writer at a time
