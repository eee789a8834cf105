"""A worker keeps its connection to PostgreSQL from task to task, and survives that the database ends it."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from tests.operations.services import CHECKOUT, environment, wait_until
from tests.webhooks.conftest import stored
from webhooks.models import State, WebhookEvent

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite is a file: there is nothing to keep"),
]

CLIENTS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a worker for provider events that has one process."""
    env = environment(tmp_path)
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "config", "worker", "-Q", "celery", "-c", "1"]
    process = subprocess.Popen(command, cwd=CHECKOUT, env=env)
    yield env
    process.terminate()
    process.wait(30)


def clients() -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(f"{CLIENTS} AND pid <> pg_backend_pid()")
        return {pid for (pid,) in cursor.fetchall()}


def work_on(event_id: str, env: dict[str, str]) -> None:
    event = stored(event_id)
    nudge = "from config.celery import app; app.send_task('webhooks.tasks.process_events')"
    subprocess.run([sys.executable, "-c", nudge], cwd=CHECKOUT, env=env, check=True)
    wait_until(lambda: WebhookEvent.objects.get(pk=event.pk).state == State.DONE, seconds=60)


def test_one_connection_serves_task_after_task_until_the_database_ends_it(worker: dict[str, str]) -> None:
    others = clients()
    work_on("e-1", worker)
    kept = clients() - others
    work_on("e-2", worker)

    assert len(kept) == 1
    assert clients() - others == kept

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", list(kept))
    work_on("e-3", worker)

    assert len(clients() - others - kept) == 1
