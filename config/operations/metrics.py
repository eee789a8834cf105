"""GET /metrics for Prometheus: the state of the service from the database, and the requests of all web processes.

With METRICS_TOKEN set, a scrape sends it as `Authorization: Bearer <token>`. Without one the page is there only for a
service that is itself at home on the loopback, and only for callers there: behind a proxy everybody seems to be one.
"""

import hmac
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from config.api.rates import client_address
from config.operations import figures

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def scrape(request: HttpRequest) -> HttpResponse:
    """All metrics in Prometheus' text format."""
    if not _may_scrape(request):
        return HttpResponse("Unauthorized", status=401, headers={"WWW-Authenticate": "Bearer"})
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    registry.register(StateCollector())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _may_scrape(request: HttpRequest) -> bool:
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "")
        return hmac.compare_digest(given.encode(), f"Bearer {settings.METRICS_TOKEN}".encode())
    return urlsplit(settings.BASE_URL).hostname in LOOPBACK and client_address(request) in LOOPBACK


class StateCollector(Collector):
    """Figures of the whole service: every machine answers the same ones, so alert on their maximum, never their sum."""

    def collect(self) -> Iterator[Metric]:
        now = timezone.now()
        yield from _queues(now)
        yield _gauge("runs_unfinished", "Runs that are queued or running now", "status", figures.unfinished_runs())
        yield _gauge("runs_last_day", "Runs asked for in the last 24 hours", "status", figures.runs_by_status(now))
        yield GaugeMetricFamily(
            "techdebt_run_takeovers_last_day",
            "Runs of the last 24 hours taken over from a lost worker",
            value=figures.takeovers(now),
        )
        yield _events(now)


def _queues(now: datetime) -> Iterator[Metric]:
    due = GaugeMetricFamily("techdebt_queue_due", "Rows that are due now", labels=["queue"])
    behind = GaugeMetricFamily(
        "techdebt_queue_oldest_due_seconds", "For how long the oldest row has been due", labels=["queue"]
    )
    given_up = GaugeMetricFamily("techdebt_queue_given_up", "Rows given up until staff act", labels=["queue"])
    for queue in figures.queues(now):
        due.add_metric([queue.name], queue.due)
        behind.add_metric([queue.name], queue.seconds_behind(now))
        given_up.add_metric([queue.name], queue.given_up)
    yield from (due, behind, given_up)


def _events(now: datetime) -> Metric:
    gauge = GaugeMetricFamily(
        "techdebt_events_last_day", "Provider events of the last 24 hours", labels=["source", "state"]
    )
    for source, state, number in figures.events_by_source(now):
        gauge.add_metric([source, state], number)
    return gauge


def _gauge(name: str, about: str, label: str, values: dict[str, int]) -> Metric:
    gauge = GaugeMetricFamily(f"techdebt_{name}", about, labels=[label])
    for value, number in values.items():
        gauge.add_metric([value], number)
    return gauge
