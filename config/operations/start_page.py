"""The start page of the admin: is anything waiting, failing or growing, on one screen."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from analysis.models import Run, RunStatus
from config.operations import figures, pictures
from webhooks.models import State, WebhookEvent

LATEST = 6
WEEK = timedelta(days=7)
FAILED = [RunStatus.FAILED.value, RunStatus.TIMED_OUT.value]
LATE_SECONDS = 60


@dataclass(frozen=True)
class Tile:
    """One figure: what it is, its value, what it means, where to look, and whether somebody should."""

    title: str
    value: str
    about: str
    link: str
    is_alarming: bool = False


def fill(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Unfold's callback: the context of the index page with figures, charts and the latest failures."""
    now = timezone.now()
    queues = figures.queues(now)
    return context | {
        "title": "How the service is",
        "tiles": _tiles(queues, now),
        "charts": pictures.charts(now),
        "queues": [(queue, duration(queue.seconds_behind(now))) for queue in queues],
        "failed_runs": _failed_runs(now) if request.user.has_perm("analysis.view_run") else [],
        "dead_events": _dead_events() if request.user.has_perm("webhooks.view_webhookevent") else [],
    }


def duration(seconds: float) -> str:
    """A length of time in the two largest units that fit: `3 d 4 h`, `2 min 5 s`, `0 s`."""
    left, parts = round(seconds), []
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        if left >= size:
            parts.append(f"{left // size} {unit}")
            left %= size
    return " ".join(parts[:2]) or "0 s"


def _tiles(queues: list[figures.Queue], now: datetime) -> list[Tile]:
    events, runs = (next(queue for queue in queues if queue.name == name) for name in ("events", "runs"))
    unfinished, today = figures.unfinished_runs(), figures.runs_by_status(now)
    failed = sum(today[status] for status in FAILED)
    behind = events.seconds_behind(now)
    return [
        Tile(
            "Oldest due event",
            duration(behind) if events.due else "none",
            f"{events.due} due now",
            _list("webhooks_webhookevent", "state__exact=received"),
            behind > LATE_SECONDS,
        ),
        Tile(
            "Dead letters",
            str(events.given_up),
            "events that failed eight times",
            _list("webhooks_webhookevent", "state__exact=dead"),
            events.given_up > 0,
        ),
        Tile(
            "Runs at work",
            str(unfinished["running"]),
            f"{unfinished['queued']} queued, the oldest for {duration(runs.seconds_behind(now))}",
            _list("analysis_run", "status__exact=running"),
        ),
        Tile(
            "Failed runs today",
            str(failed),
            f"of {sum(today.values())} in 24 hours; {figures.takeovers(now)} take-overs",
            _list("analysis_run", "status__exact=failed"),
            failed > 0,
        ),
    ]


def _list(page: str, query: str) -> str:
    return f"{reverse(f'admin:{page}_changelist')}?{query}"


def _failed_runs(now: datetime) -> list[Run]:
    failed = figures.rows_since(Run, now - WEEK).filter(status__in=FAILED)
    return list(failed.select_related("repository", "organization").order_by("-id")[:LATEST])


def _dead_events() -> list[WebhookEvent]:
    return list(WebhookEvent.objects.filter(state=State.DEAD).defer("body").order_by("-created_at")[:LATEST])
