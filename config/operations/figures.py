"""The figures by which the service is judged, counted in the database when somebody asks.

All of them stand on small partial indexes, or on the primary key: ids grow with time, so the rows of the last day are
one range of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Min, Q, QuerySet, Sum

from accounts.models import Letter
from analysis.models import Publication, Run, RunStatus
from billing.models import CancellationOrder
from config.models import first_id_at
from organizations.models import Farewell
from webhooks.models import UNFINISHED, State, WebhookEvent

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Queue:
    """Work that waits in one table: rows due now, since when the oldest is due, and rows given up until staff act."""

    name: str
    due: int
    oldest_due_at: datetime | None
    given_up: int

    def seconds_behind(self, now: datetime) -> float:
        """How long the oldest row has been due; 0 when nothing is."""
        return max(0.0, (now - self.oldest_due_at).total_seconds()) if self.oldest_due_at else 0.0


def queues(now: datetime) -> list[Queue]:
    """Every queue of the service. Two queries for each that can give up, else one."""
    events, publications, letters = WebhookEvent.objects, Publication.objects, Letter.objects
    return [
        _queue("events", events.filter(state__in=UNFINISHED), "next_at", now, events.filter(state=State.DEAD)),
        _queue("runs", Run.objects.filter(status=RunStatus.QUEUED), "queued_at", now),
        _queue("publications", publications.due(now), "next_at", now, publications.filter(state="given_up")),
        _queue("letters", letters.all(), "due_at", now, letters.filter(due_at=None, sent_at=None)),
        _queue("cancellations", CancellationOrder.objects.filter(done_at=None), "next_at", now),
        _queue("farewells", Farewell.objects.all(), "next_at", now),
    ]


def unfinished_runs() -> dict[str, int]:
    """How many runs are queued and running."""
    # One count each: both statuses have a small index of their own.
    return {status: Run.objects.filter(status=status).count() for status in ("queued", "running")}


def runs_by_status(now: datetime) -> dict[str, int]:
    """The runs asked for in the last day, by what became of them."""
    rows = rows_since(Run, now - DAY).order_by().values_list("status").annotate(number=Count("pk"))
    return {**dict.fromkeys(RunStatus.values, 0), **dict(rows)}


def takeovers(now: datetime) -> int:
    """How often a run of the last day had to be taken over from a worker that was lost."""
    again = rows_since(Run, now - DAY).filter(attempts__gt=1)
    return int(again.aggregate(times=Sum(F("attempts") - 1))["times"] or 0)


def events_by_source(now: datetime) -> Iterator[tuple[str, str, int]]:
    """Source, state and number of the events that came in during the last day."""
    rows = rows_since(WebhookEvent, now - DAY).order_by().values("source", "state").annotate(number=Count("pk"))
    return ((row["source"], row["state"], row["number"]) for row in rows)


def rows_since(model: Any, moment: datetime) -> QuerySet[Any]:
    """The rows of a table that were made since then: one range of its primary key."""
    return model.objects.filter(pk__gte=first_id_at(moment))


def _queue(name: str, rows: QuerySet[Any], due_at: str, now: datetime, given_up: QuerySet[Any] | None = None) -> Queue:
    waiting = rows.filter(Q(**{f"{due_at}__lte": now})).aggregate(count=Count("pk"), oldest=Min(due_at))
    lost = given_up.count() if given_up is not None else 0
    return Queue(name=name, due=waiting["count"], oldest_due_at=waiting["oldest"], given_up=lost)
