"""A worker steps back: for another worker when it is told to stop, for the web server whenever both want the cores."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.models import Platform, Repository, Run, RunStatus
from config.celery import NICENESS
from config.processes import STOP_SECONDS
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import SHOP, GitRepository
from tests.operations.services import CHECKOUT, environment, is_gone, processes_below, wait_until
from tests.providers.git_http import GitHttpServer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def slow_host(tmp_path: Path) -> Iterator[GitHttpServer]:
    """A git server that needs hours for a clone, until `seconds_per_byte` is set to nothing."""
    GitRepository.create(tmp_path / "remote" / "shop").commit(SHOP, on=TODAY)
    with GitHttpServer(tmp_path / "remote", seconds_per_byte=10) as server:
        yield server


@pytest.fixture
def long_scan(organization: Any, slow_host: GitHttpServer) -> Run:
    repository = Repository.objects.create(
        organization=organization,
        full_name="acme/shop",
        platform=Platform.GIT,
        clone_url=f"{slow_host.url}/shop/.git",
    )
    return Run.objects.create(
        organization=organization, repository=repository, kind="first_scan", queued_at=repository.created_at
    )


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[Any]:
    """The worker for analyses, started as on a machine of its own, with one message in its queue."""
    started = []

    def start(**changes: str) -> "subprocess.Popen[bytes]":
        env = environment(tmp_path, CLONE_ALLOWED_SCHEMES="http", CLONE_ALLOW_PRIVATE_ADDRESSES="true", **changes)
        with (tmp_path / "log").open("ab") as log:
            worker = subprocess.Popen(
                [sys.executable, "manage.py", "serve", "--only", "runs"],
                cwd=CHECKOUT,
                env=env,
                stderr=log,
                start_new_session=True,
            )
        started.append(worker)
        nudge = "from config.celery import app; app.send_task('analysis.tasks.scan_next')"
        subprocess.run([sys.executable, "-c", nudge], cwd=CHECKOUT, env=env, check=True)
        return worker

    yield start
    for worker in started:
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()


def test_a_worker_told_to_stop_leaves_its_run_to_the_next_one(
    start_worker: Any, long_scan: Run, slow_host: GitHttpServer
) -> None:
    first = start_worker()
    wait_until(lambda: "POST" in " ".join(slow_host.requests), seconds=60)
    children = processes_below(first.pid)
    asked_at = time.monotonic()

    first.send_signal(signal.SIGTERM)
    first.wait(timeout=STOP_SECONDS)

    assert len(children) > 2
    assert time.monotonic() - asked_at < STOP_SECONDS
    wait_until(lambda: all(is_gone(pid) for pid in children), seconds=5)
    left = Run.objects.get(pk=long_scan.pk)
    assert (left.status, left.attempts) == (RunStatus.RUNNING, 0)

    slow_host.seconds_per_byte = 0
    start_worker()
    wait_until(lambda: Run.objects.get(pk=long_scan.pk).is_finished, seconds=60)
    ended = Run.objects.get(pk=long_scan.pk)
    assert (ended.status, ended.attempts, ended.error) == (RunStatus.SUCCEEDED, 1, "")


def test_a_worker_logs_what_became_of_its_run_from_the_level_that_is_set(
    start_worker: Any, long_scan: Run, tmp_path: Path
) -> None:
    Repository.objects.update(clone_url="http://127.0.0.1:1/nobody.git")

    start_worker(LOG_LEVEL="INFO")
    wait_until(lambda: Run.objects.get(pk=long_scan.pk).is_finished, seconds=60)

    wait_until(lambda: "run left its child" in (tmp_path / "log").read_text(), seconds=10)
    said = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines() if line.startswith("{")]
    failed = next(line for line in said if line["event"] == "run failed")
    assert (failed["run"], failed["level"]) == (str(long_scan.pk), "info")
    assert not any(line["event"].startswith("Task ") for line in said)


def test_a_worker_leaves_the_cores_to_the_web_server_when_both_want_them(start_worker: Any) -> None:
    worker = start_worker()
    expected = min(os.getpriority(os.PRIO_PROCESS, 0) + NICENESS, 19)

    def priorities() -> list[int]:
        return [os.getpriority(os.PRIO_PROCESS, pid) for pid in processes_below(worker.pid)]

    wait_until(lambda: len(priorities()) > 2 and set(priorities()) == {expected}, seconds=60)


def test_a_worker_takes_orders_from_root_without_a_warning(start_worker: Any, tmp_path: Path) -> None:
    worker = start_worker()

    wait_until(lambda: len(processes_below(worker.pid)) > 2, seconds=60)

    assert "privileges" not in (tmp_path / "log").read_text()
