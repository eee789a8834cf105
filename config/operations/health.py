"""Probes: is the process alive, and can it do its work at this moment.

    GET /health/live    200 {"status": "alive"} as long as requests are answered at all: restart the process otherwise
    GET /health/ready   200 {"status": "ready", "down": []}, or 503 naming the parts that do not answer: send requests
                        elsewhere meanwhile, and do not restart anything

Nothing but the names of the parts is told; why a part is down stands in the log.
"""

import os
from collections.abc import Callable
from pathlib import Path
from shutil import disk_usage

import structlog
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.utils import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from redis import Redis
from redis.exceptions import RedisError

from config.models import new_id

PROBE_SECONDS = 1
LEAST_ROOM_BYTES = 1024 * 1024

log = structlog.get_logger("health")


def live(request: HttpRequest) -> HttpResponse:
    """Whether this process answers at all."""
    return JsonResponse({"status": "alive"})


def ready(request: HttpRequest) -> HttpResponse:
    """Whether everything that requests and background work need is there."""
    down = [part for part, check in CHECKS.items() if not _passes(part, check)]
    return JsonResponse({"status": "not ready" if down else "ready", "down": down}, status=503 if down else 200)


def _passes(part: str, check: Callable[[], None]) -> bool:
    try:
        check()
    except (DatabaseError, RedisError, OSError) as error:
        log.warning("a part is down", part=part, error=type(error).__name__)
        return False
    return True


def _check_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    if connection.vendor == "sqlite":
        _check_room(Path(connection.settings_dict["NAME"]).parent)


def _check_room(folder: Path) -> None:
    """SQLite still reads from a full disk."""
    if disk_usage(folder).free < LEAST_ROOM_BYTES:
        raise OSError("the disk of the database is full")


def _check_cache() -> None:
    stamp = str(new_id())
    cache.set(f"health-{stamp}", stamp, timeout=10)
    if cache.get(f"health-{stamp}") != stamp:
        raise OSError("the cache does not keep what it is given")


def _check_broker() -> None:
    if not settings.REDIS_URL:
        _check_folder(settings.BROKER_DIR / "queue")
        return
    limits = {"socket_connect_timeout": PROBE_SECONDS, "socket_timeout": PROBE_SECONDS}
    with Redis.from_url(settings.REDIS_URL, **limits) as server:
        server.ping()


def _check_folder(folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OSError("the folder of the queue cannot be written")


CHECKS: dict[str, Callable[[], None]] = {
    "database": _check_database,
    "cache": _check_cache,
    "broker": _check_broker,
}
