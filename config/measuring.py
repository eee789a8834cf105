"""How long requests take, counted by every web process into files that a scrape adds up (docs/operations.md)."""

from django.conf import settings
from prometheus_client import Histogram

KNOWN_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

_request_seconds = Histogram(
    "techdebt_request_seconds", "Requests by route and answer", ["method", "route", "status"], buckets=BUCKETS
)


def observe_request(*, method: str, route: str, status: int, seconds: float) -> None:
    """Count one answered request. `route` is the pattern that matched: a path would make a series of its own."""
    known = method if method in KNOWN_METHODS else "other"
    _request_seconds.labels(known, route, str(status)).observe(seconds)


def forget_measurements() -> None:
    """Remove the files of web processes that are gone; only while none of this machine runs."""
    for file in settings.METRICS_DIR.glob("*.db"):
        file.unlink(missing_ok=True)
