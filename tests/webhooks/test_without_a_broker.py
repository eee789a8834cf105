"""Losing the broker costs time, never an event: the answer stays quick, and the sweeper finds what was stored."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.celery import app
from tests.webhooks import deliveries
from tests.webhooks.conftest import note, noted
from webhooks import inbox, tasks
from webhooks.models import State, WebhookEvent

EVENTS = 500
# Two seconds for the broker's time-out; the rest is slack for a busy machine.
LONGEST_HINT_SECONDS = 4
NUDGE = """
import django, time
django.setup()
from webhooks import inbox
for _ in range(20):
    started = time.monotonic()
    inbox.hint()
    print(time.monotonic() - started)
"""


@pytest.fixture(params=["refuses", "hangs"])
def lost_redis(request) -> Iterator[str]:
    """The address of a Redis that is not there, or that takes the connection and says nothing."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        if request.param == "hangs":
            listener.listen()
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


def test_a_hint_that_cannot_be_given_costs_a_moment_and_then_nothing(lost_redis, tmp_path):
    # A process of its own, since Celery reads its settings once.
    environment = {
        **os.environ,
        "REDIS_URL": lost_redis,
        "VAR_DIR": str(tmp_path),
        "DATABASE_URL": "sqlite://:memory:",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", NUDGE], env=environment, cwd=root, capture_output=True, text=True, timeout=60, check=True
    )

    first, *others = (float(line) for line in done.stdout.split())
    assert first < LONGEST_HINT_SECONDS
    assert max(others) < 0.1


@pytest.mark.django_db
def test_events_that_no_hint_told_of_are_all_done_by_the_sweeper(handled_by, django_capture_on_commit_callbacks):
    handled_by(note)
    for number in range(EVENTS):
        # Inside the test's transaction no hint leaves, as if the broker had lost every one of them.
        deliveries.codehost2("Test Hook", {}, uuid=f"e-{number:03}").send()
    assert inbox.backlog().due == EVENTS
    started = time.monotonic()

    with django_capture_on_commit_callbacks(execute=True):
        tasks.sweep_events.delay()

    assert not WebhookEvent.objects.exclude(state=State.DONE).exists()
    assert noted() == [f"e-{number:03}" for number in range(EVENTS)]
    assert time.monotonic() - started < 60


class PausedError(Exception):
    """Ends a search for the broker, which would go on for ever."""


def test_a_worker_looks_for_its_broker_every_few_seconds_for_as_long_as_it_is_away():
    def pause_once(error: Exception, seconds: float) -> None:
        raise PausedError(seconds)

    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        away = app.connection_for_read(f"redis://127.0.0.1:{nobody.getsockname()[1]}/0")
        with pytest.raises(PausedError, match="4"):
            away.ensure_connection(pause_once, app.conf.broker_connection_max_retries, interval_start=30)

    assert app.conf.broker_connection_max_retries is None
