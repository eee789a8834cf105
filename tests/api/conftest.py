import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from redis.backoff import NoBackoff
from redis.retry import Retry


@pytest.fixture
def frozen_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of django-ratelimit, so that a test does not straddle the end of a window."""
    now = time.time()
    monkeypatch.setattr("django_ratelimit.core.time.time", lambda: now)


@pytest.fixture
def redis_gone(settings: Any) -> Iterator[None]:
    """Limits look for their Redis at an address where nobody listens."""
    options = {"retry": Retry(NoBackoff(), 0), "socket_connect_timeout": 0.5}
    if "file" in settings.CACHES["counters"].get("OPTIONS", {}):
        options["file"] = settings.CACHES["counters"]["OPTIONS"]["file"]
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"redis://127.0.0.1:{nobody.getsockname()[1]}/0"
        counters = {**settings.CACHES["counters"], "LOCATION": address, "OPTIONS": options}
        settings.CACHES = {**settings.CACHES, "counters": counters}
        yield
