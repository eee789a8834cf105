"""How long requests take, counted by every web process into files that a scrape adds up (docs/operations.md)."""

import os

from django.conf import settings
from prometheus_client import Histogram

KNOWN_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# Of each process's file, which holds some 2,000 series: routes, methods and statuses make fewer.
RESERVED_BYTES = 4 * 1024 * 1024
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

_request_seconds = Histogram(
    "techdebt_request_seconds", "Requests by route and answer", ["method", "route", "status"], buckets=BUCKETS
)


def observe_request(*, method: str, route: str, status: int, seconds: float) -> None:
    """Count one answered request. `route` is the pattern that matched: a path would make a series of its own."""
    if not _has_room():
        return
    known = method if method in KNOWN_METHODS else "other"
    _request_seconds.labels(known, route, str(status)).observe(seconds)


class _Reserved:
    by_process = 0


def _has_room() -> bool:
    """Whether the file of this process has its room on the disk; it is asked for until there is.

    The file is mapped into memory: writing where a full disk has no room ends the process without a word.
    """
    if _Reserved.by_process == os.getpid():
        return True
    file = settings.METRICS_DIR / f"histogram_{os.getpid()}.db"
    try:
        with file.open("ab") as opened:
            os.posix_fallocate(opened.fileno(), 0, RESERVED_BYTES)
    except OSError:
        file.unlink(missing_ok=True)
        return False
    _Reserved.by_process = os.getpid()
    return True


def forget_measurements() -> None:
    """Remove the files of web processes that are gone; only while none of this machine runs."""
    for file in settings.METRICS_DIR.glob("*.db"):
        file.unlink(missing_ok=True)
