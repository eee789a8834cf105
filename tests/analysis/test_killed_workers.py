"""In every phase of a scan a real worker is killed, or loses the database; the run is taken over and finished."""

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from analysis.models import Platform, Repository, Run, RunStatus
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import GitRepository
from tests.analysis.workers import start_worker

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    """Start worker processes on the test's database; none outlives the test."""
    started: list[subprocess.Popen[bytes]] = []

    def started_one(**changes: str) -> subprocess.Popen[bytes]:
        started.append(start_worker(tmp_path / "worker", **changes))
        return started[-1]

    yield started_one
    for worker in started:
        worker.kill()
        worker.wait()


@pytest.fixture
def queued(organization: Any, tmp_path: Path) -> Run:
    """A first scan of a repository that takes a second or two."""
    source = GitRepository.create(tmp_path / "large")
    body = (
        "def work_{n}(items, seen=[]):\n    for item in items:\n        if item:\n            seen.append(item)\n\n\n"
    )
    source.commit(
        {f"src/part_{n}.py": "".join(body.format(n=f"{n}_{k}") for k in range(40)) for n in range(400)}, on=TODAY
    )
    repository = Repository.objects.create(
        organization=organization, full_name="acme/large", platform=Platform.GIT, clone_url=source.url
    )
    return Run.objects.create(
        organization=organization, repository=repository, kind="first_scan", queued_at=repository.created_at
    )


def wait_for(run: Run, condition: Any, seconds: float = 60) -> Run:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        run = Run.objects.get(pk=run.pk)
        if condition(run):
            return run
        time.sleep(0.02)
    raise AssertionError(f"the run stayed {run.status} in phase {run.phase} at {run.progress} %")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """At tier S ten times in each phase; not one test with a loop, since each scan is of a repository never seen."""
    if "round_" in metafunc.fixturenames:
        metafunc.parametrize("round_", range(1 if metafunc.config.option.scale == "C" else 10))


@pytest.mark.parametrize("phase", ["cloning", "parsing", "evaluating", "storing"])
def test_a_scan_survives_the_death_of_its_worker(phase: str, round_: int, queued: Run, start: Any) -> None:
    first = start()
    wait_for(queued, lambda run: run.phase == phase or run.status == RunStatus.SUCCEEDED)
    first.send_signal(signal.SIGKILL)
    first.wait()

    start()
    run = wait_for(queued, lambda run: run.is_finished)

    assert run.status == RunStatus.SUCCEEDED
    assert run.attempts <= 2
    repository = Repository.objects.get(pk=run.repository_id)
    assert repository.current_report is not None
    assert repository.total_violations == repository.violations.filter(status="open").count() > 0
    assert repository.reports.count() == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no connections that end")
@pytest.mark.parametrize("phase", ["cloning", "parsing", "evaluating", "storing"])
def test_a_scan_survives_the_loss_of_its_connection_to_the_database(phase: str, queued: Run, start: Any) -> None:
    start(RUN_LEASE_SECONDS="600")  # until a heartbeat only the scan itself is connected
    wait_for(queued, lambda run: run.phase == phase)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        assert cursor.rowcount == 1

    run = wait_for(queued, lambda run: run.is_finished)

    assert (run.status, run.error) == (RunStatus.SUCCEEDED, "")
    assert run.attempts == 2
    assert Repository.objects.get(pk=run.repository_id).current_report is not None
