"""The charts of the admin's start page, as Chart.js (which the theme brings along) wants them."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count
from django.db.models.functions import TruncDay, TruncHour

from accounts.models import User
from analysis.models import Run, RunStatus
from config.operations.figures import rows_since
from webhooks.models import State, WebhookEvent

HOURS, RUN_DAYS, SIGN_UP_DAYS = 48, 14, 30
GREEN, BLUE, AMBER, RED, GREY = "#16a34a", "#2563eb", "#d97706", "#dc2626", "#94a3b8"
EVENT_COLOURS = {
    State.DONE.value: GREEN,
    State.PROCESSING.value: BLUE,
    State.RECEIVED.value: AMBER,
    State.DEAD.value: RED,
}
RUN_COLOURS = {
    RunStatus.SUCCEEDED.value: GREEN,
    RunStatus.RUNNING.value: BLUE,
    RunStatus.QUEUED.value: AMBER,
    RunStatus.CANCELLED.value: GREY,
    RunStatus.TIMED_OUT.value: "#f87171",
    RunStatus.FAILED.value: RED,
}


@dataclass(frozen=True)
class Chart:
    """A stacked bar chart: `data` and `options` are JSON, `summary` says in words what it shows."""

    title: str
    summary: str
    data: str
    options: str


def charts(now: datetime) -> list[Chart]:
    """All pictures, from three queries over ranges of primary keys."""
    return [events_per_hour(now), runs_per_day(now), sign_ups_per_day(now)]


def events_per_hour(now: datetime) -> Chart:
    """Provider events of the last two days by what became of them."""
    hours = _steps(now.replace(minute=0, second=0, microsecond=0), timedelta(hours=1), HOURS)
    rows = rows_since(WebhookEvent, hours[0]).annotate(moment=TruncHour("created_at"))
    counts = _by_state(rows, "state")
    return _chart("Provider events per hour", hours, "{:%a %H}:00", counts, EVENT_COLOURS)


def runs_per_day(now: datetime) -> Chart:
    """Analysis runs of the last two weeks by status."""
    days = _steps(_midnight(now), timedelta(days=1), RUN_DAYS)
    rows = rows_since(Run, days[0]).annotate(moment=TruncDay("created_at"))
    return _chart("Runs per day", days, "{:%d %b}", _by_state(rows, "status"), RUN_COLOURS)


def sign_ups_per_day(now: datetime) -> Chart:
    """New accounts of the last thirty days by how they signed up."""
    days = _steps(_midnight(now), timedelta(days=1), SIGN_UP_DAYS)
    rows = rows_since(User, days[0]).annotate(moment=TruncDay("created_at"))
    colours = {"email": BLUE, "codehost1": GREEN, "idp2": AMBER}
    return _chart("Sign-ups per day", days, "{:%d %b}", _by_state(rows, "provider"), colours)


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _steps(last: datetime, step: timedelta, number: int) -> list[datetime]:
    return [last - step * back for back in reversed(range(number))]


def _by_state(rows: Any, field: str) -> Mapping[str, Mapping[datetime, int]]:
    counts: dict[str, dict[datetime, int]] = defaultdict(dict)
    for moment, state, number in rows.order_by().values_list("moment", field).annotate(number=Count("pk")):
        counts[state][moment] = number
    return counts


def _chart(
    title: str,
    moments: Sequence[datetime],
    label: str,
    counts: Mapping[str, Mapping[datetime, int]],
    colours: Mapping[str, str],
) -> Chart:
    sums = {state: sum(of_state.values()) for state, of_state in counts.items()}
    datasets = [
        {
            "label": state.replace("_", " "),
            "data": [counts.get(state, {}).get(moment, 0) for moment in moments],
            "backgroundColor": colour,
        }
        for state, colour in colours.items()
    ]
    labels = [label.format(moment) for moment in moments]
    return Chart(title, _summary(sums, colours), json.dumps({"labels": labels, "datasets": datasets}), OPTIONS)


def _summary(sums: Mapping[str, int], states: Iterable[str]) -> str:
    parts = [f"{sums[state]} {state.replace('_', ' ')}" for state in states if sums.get(state)]
    return ", ".join(parts) or "nothing yet"


OPTIONS = json.dumps(
    {
        "animation": False,
        "responsive": True,
        "maintainAspectRatio": False,
        "interaction": {"mode": "index", "intersect": False},
        "datasets": {"bar": {"maxBarThickness": 18, "categoryPercentage": 0.9, "barPercentage": 0.9}},
        "plugins": {
            "legend": {"display": True, "position": "bottom", "labels": {"boxWidth": 10, "boxHeight": 10}},
        },
        "scales": {
            "x": {"stacked": True, "grid": {"display": False}, "ticks": {"maxTicksLimit": 8, "maxRotation": 0}},
            "y": {"stacked": True, "beginAtZero": True, "grid": {"tickLength": 0}, "ticks": {"precision": 0}},
        },
    }
)
