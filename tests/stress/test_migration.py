"""A migration of the next release runs on a full table while servers of the present code work on it."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.operations.services import wait_until
from tests.stress.servers import CHECKOUT, can_run_servers
from tests.stress.test_operation import Load, Service, deliver, service, status_of, stored

__all__ = ["service"]

pytestmark = [
    pytest.mark.stress,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not can_run_servers(), reason="the programs of PostgreSQL and Redis are not on this machine"),
]

PRESENT = CHECKOUT / "webhooks" / "migrations"
# Both kinds that the rules allow once there is a release: a column that may be empty, an index that locks nobody out.
MIGRATIONS = {
    "note": """
        from django.db import migrations, models

        class Migration(migrations.Migration):
            dependencies = [("webhooks", "{before}")]
            operations = [migrations.AddField("webhookevent", "note", models.TextField(null=True))]
    """,
    "by_type": """
        from django.contrib.postgres.operations import AddIndexConcurrently
        from django.db import migrations, models

        class Migration(migrations.Migration):
            atomic = False
            dependencies = [("webhooks", "{before}")]
            operations = [
                AddIndexConcurrently("webhookevent", models.Index(fields=["type", "occurred_at"], name="event_by_type"))
            ]
    """,
}
FILL = """
    insert into webhooks_webhookevent (id, created_at, updated_at, source, event_id, type, subject, occurred_at, body,
        state, handled, attempts, next_at, finished_at, error)
    select gen_random_uuid(), now(), now(), 'codehost2', 'old-' || number, 'Job Hook', 'job-' || number, now(), '{}',
        'done', false, 1, now(), now(), ''
    from generate_series(1, %s) as number
"""
LOOKED_AT_SECONDS = 0.05
# Who waits for a lock, for how long; the migration itself may, for those who were there before it.
WAITING = """
    select extract(epoch from clock_timestamp() - locks.waitstart)::float
    from pg_locks as locks join pg_stat_activity as sessions using (pid)
    where not locks.granted and sessions.application_name <> 'migration'
"""
MIGRATING = "select count(*) from pg_stat_activity where application_name = 'migration'"
IS_THERE = """
    select (select count(*) from information_schema.columns
            where table_name = 'webhooks_webhookevent' and column_name = 'note'),
        (select count(*) from pg_index where indexrelid = to_regclass('event_by_type') and indisvalid)
"""


@pytest.fixture
def next_release(tmp_path: Path) -> dict[str, str]:
    """The environment of a `manage.py` that knows the migrations of the next release besides the present ones."""
    package = tmp_path / "next_release"
    package.mkdir()
    settings = ["from config.settings import *", 'MIGRATION_MODULES = {"webhooks": "next_release"}', ""]
    (tmp_path / "next_settings.py").write_text("\n".join(settings))
    (package / "__init__.py").write_text(f"__path__.append({str(PRESENT)!r})\n")
    before = max(path.stem for path in PRESENT.glob("[0-9]*.py"))
    for number, (name, text) in enumerate(MIGRATIONS.items(), start=9001):
        lines = [line.removeprefix(" " * 8) for line in text.replace("{before}", before).splitlines()]
        before = f"{number}_{name}"
        (package / f"{before}.py").write_text("\n".join(lines))
    return {"DJANGO_SETTINGS_MODULE": "next_settings", "PYTHONPATH": str(tmp_path), "PGAPPNAME": "migration"}


class LockWatch:
    """Looks every 50 ms, until the end of the block, who waits for a lock: `longest` seconds.

    `saw_migration` says that a migration was there to be waited for.
    """

    def __init__(self, database: str) -> None:
        self.longest, self.saw_migration, self.looks = 0.0, False, 0
        self._database, self._over = database, threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> "LockWatch":
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        with psycopg.connect(self._database, autocommit=True) as connection:
            while not self._over.wait(LOOKED_AT_SECONDS):
                waits = [seconds or 0.0 for (seconds,) in connection.execute(WAITING)]
                self.longest = max([self.longest, *waits])
                self.saw_migration |= connection.execute(MIGRATING).fetchone() != (0,)
                self.looks += 1


def fill(database: str, events: int) -> None:
    """Events that were done long ago."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(FILL, [events])
        connection.execute("vacuum analyze webhooks_webhookevent")


def is_migrated(database: str) -> tuple[bool, bool]:
    """Whether the column is there, and the index, whole."""
    with psycopg.connect(database) as connection:
        column, index = connection.execute(IS_THERE).fetchone()
        return bool(column), bool(index)


def test_a_migration_of_a_full_table_holds_nobody_up(
    service: Service, next_release: dict[str, str], figure: Callable[..., int]
) -> None:
    database, events = service.postgres.url, figure(c=5_000, s=500_000, of="events in the table")
    _, address = service.start_web()
    service.start("events")
    fill(database, events)
    sent: list[str] = []

    def send() -> int:
        sent.append(str(uuid4()))
        return deliver(address, sent[-1])

    with (
        Load(send, callers=2) as deliveries,
        Load(lambda: status_of(f"{address}/v1/plans"), callers=2) as reads,
        LockWatch(database) as locks,
    ):
        deliveries.reaches(50)
        began = time.monotonic()
        service.manage("migrate", "--verbosity", "0", **next_release)
        seconds = time.monotonic() - began
        deliveries.reaches(len(deliveries.statuses) + 50)

    print(f"migrated in {seconds:.1f} s, waited for at most {locks.longest:.3f} s in {locks.looks} looks")
    assert is_migrated(database) == (True, True)
    assert set(deliveries.statuses) == set(reads.statuses) == {200}
    assert locks.saw_migration
    assert locks.longest < 1
    assert stored(database) == events + len(sent)
    wait_until(lambda: stored(database, "where state <> 'done'") == 0, seconds=120)


def test_a_migration_that_gets_no_lock_gives_up_and_may_be_run_again(
    service: Service, next_release: dict[str, str]
) -> None:
    """Callers queue up behind a migration that waits, so it may not wait for ever (`lock_timeout`)."""
    database = service.postgres.url
    env = {**os.environ, **service.env, **next_release}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]

    with psycopg.connect(database) as reader:
        reader.execute("select count(*) from webhooks_webhookevent")
        refused = subprocess.run(command, cwd=CHECKOUT, env=env, capture_output=True, text=True, timeout=60)

    assert refused.returncode != 0
    assert "canceling statement due to lock timeout" in refused.stderr
    assert is_migrated(database) == (False, False)
    service.manage("migrate", "--verbosity", "0", **next_release)
    assert is_migrated(database) == (True, True)
