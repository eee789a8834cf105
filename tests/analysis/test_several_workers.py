"""Workers without a common disk: each takes any run, they share a large scan, and the report is that of one alone."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from analysis.engine.version import facts_version
from analysis.models import BlobFacts, CloneCopy, Platform, Repository, Run, RunStatus, ScanShare, Workspace
from analysis.services import runs, sharing, workspaces
from analysis.services.helping import help_scans
from config.celery import app
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import GitRepository
from tests.analysis.stored import stored_results
from tests.analysis.workers import start_worker
from tests.operations.services import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def large(tmp_path: Path) -> GitRepository:
    """A repository that one worker needs a few seconds for."""
    body = "def work_{n}(items):\n    return [item + {n} for item in items if item]\n\n\n"
    files = {
        f"src/part_{n}.py": f"from src import part_{n // 2}\n\n\n" + "".join(body.format(n=k) for k in range(n % 60))
        for n in range(600)
    }
    repository = GitRepository.create(tmp_path / "large")
    repository.commit(files, on=TODAY - timedelta(days=3))
    repository.commit({"src/part_1.py": "import os\n"}, on=TODAY - timedelta(days=2))
    return repository


@pytest.fixture
def queue(organization: Any, large: GitRepository) -> Any:
    """Connect the repository under a name and queue its first scan."""

    def queued(name: str) -> Run:
        repository = Repository.objects.create(
            organization=organization, full_name=name, platform=Platform.GIT, clone_url=large.url
        )
        return Run.objects.create(
            organization=organization, repository=repository, kind="first_scan", queued_at=repository.created_at
        )

    return queued


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Any]:
    """Start a worker in a folder of its own; none outlives the test."""
    started = []

    def start(name: str) -> Any:
        started.append(
            start_worker(tmp_path / name, SHARED_SCAN_KB="100", WORKER_CONCURRENCY="1", RUN_LEASE_SECONDS="20")
        )
        return started[-1]

    yield start
    for worker in started:
        worker.kill()
        worker.wait()


def test_three_machines_of_which_one_dies_report_what_one_does(queue: Any, machine: Any, tmp_path: Path) -> None:
    alone = queue("acme/alone")
    one = machine("one")
    wait_until(lambda: Run.objects.get(pk=alone.pk).is_finished, seconds=120)

    machines = {"one": one, "two": machine("two"), "three": machine("three")}
    wait_until(lambda: Workspace.objects.count() == 3, seconds=60)
    BlobFacts.objects.all().delete()
    shared = queue("acme/shared")
    wait_until(lambda: ScanShare.objects.exclude(lease=None).exists(), seconds=60)  # another machine helps
    owner = str(CloneCopy.objects.get(repository=shared.repository_id).workspace_id)
    helpers = [name for name in machines if (tmp_path / name / "var/workspace/id").read_text() != owner]
    machines[helpers[0]].kill()
    wait_until(lambda: Run.objects.get(pk=shared.pk).is_finished, seconds=120)

    ended = Run.objects.get(pk=shared.pk)
    assert (ended.status, ended.attempts, ended.error) == (RunStatus.SUCCEEDED, 1, "")
    assert not ScanShare.objects.exists()
    assert stored_results(shared.repository) == stored_results(alone.repository)


class TestHeadStart:
    def test_who_has_the_clone_takes_the_run_first_and_others_when_it_does_not(self, queue: Any, settings: Any) -> None:
        run = queue("acme/shop")
        holder = Workspace.objects.create(pk=uuid4(), seen_at=run.queued_at)
        CloneCopy.objects.create(workspace=holder, repository=run.repository)
        assert workspaces.address_of(run, run.queued_at) == f"scans.{holder.pk}"

        assert runs.claim_next_run(now=run.queued_at) is None
        late = run.queued_at + workspaces.HEAD_START + timedelta(seconds=1)
        assert runs.claim_next_run(now=late) == run

    def test_a_machine_that_is_gone_has_none(self, queue: Any) -> None:
        run = queue("acme/shop")
        gone = Workspace.objects.create(pk=uuid4(), seen_at=timezone.now() - timedelta(minutes=10))
        CloneCopy.objects.create(workspace=gone, repository=run.repository)

        assert workspaces.address_of(run, timezone.now()) == "scans"
        assert runs.claim_next_run(now=run.queued_at) == run


def test_what_was_sent_to_a_machine_that_is_gone_is_forgotten_with_it() -> None:
    gone = Workspace.objects.create(pk=uuid4(), seen_at=timezone.now() - timedelta(hours=2))
    queues = [f"{kind}.{gone.pk}" for kind in ("scans", "pull_requests")]
    with app.connection_for_write() as connection:
        for queue in queues:
            connection.SimpleQueue(app.amqp.queues[queue]).put({"anything": True})
    assert [waiting(queue) for queue in queues] == [1, 1]

    workspaces.keep(now=timezone.now())

    assert [waiting(queue) for queue in queues] == [0, 0]
    assert not Workspace.objects.filter(pk=gone.pk).exists()


def waiting(queue: str) -> int:
    """How many messages lie in a queue of the broker."""
    with app.connection_for_read() as connection:
        return int(connection.default_channel._size(queue))


def test_a_machine_with_another_key_leaves_the_work_to_others_and_says_what_to_do(
    queue: Any, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.SECRET_KEY = "the key of another machine"
    share = ScanShare.objects.create(
        run=queue("acme/shared"), workspace=uuid4(), version=facts_version(), sealed=sharing._safe().encrypt(b"code")
    )
    settings.SECRET_KEY = "ours"
    Run.objects.all().update(status=RunStatus.RUNNING, lease_until=timezone.now() + timedelta(minutes=1))

    assert help_scans(now=timezone.now()) == 0

    share.refresh_from_db()
    assert share.lease is None
    assert "give all of them the same SECRET_KEY" in caplog.text
