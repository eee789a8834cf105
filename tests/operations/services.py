"""Real processes of the service for tests: their environment, their descendants, and waiting for what they do."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import connection

CHECKOUT = Path(__file__).resolve().parent.parent.parent


def environment(folder: Path, **changes: str) -> dict[str, str]:
    """The environment of a process that works on the test's database and Redis, with its own data in `folder`."""
    name = connection.settings_dict["NAME"]
    is_file = connection.vendor == "sqlite"
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": f"sqlite:///{name}" if is_file else _server() + f"/{name}",
        "REDIS_URL": settings.REDIS_URL,
        "VAR_DIR": str(folder / "var"),
        "LOG_LEVEL": "WARNING",
        **changes,
    }


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    """Ask every 20 milliseconds; an AssertionError when the condition does not hold in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def processes_below(pid: int) -> list[int]:
    """The descendants of a process, the sessions of their own among them."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [each for child in map(int, children) for each in (child, *processes_below(child))]


def is_gone(pid: int) -> bool:
    """Whether a process has ended, reaped or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def _server() -> str:
    return os.environ["DATABASE_URL"].rpartition("/")[0]
