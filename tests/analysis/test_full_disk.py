"""A run on a disk that is full: it fails with a sentence, what was good stays, and the next one does all the work."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.backends.signals import connection_created

from analysis.git.errors import DiskFull
from analysis.models import Repository, Run, RunStatus
from analysis.services.runs import request_run
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import GitRepository
from tests.operations.disks import PAGE, Disk, small_disk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def workspace(disk: Disk, settings: Any) -> Path:
    settings.WORKSPACE_DIR = disk.folder / "workspace"
    settings.CLONE_ALLOWED_SCHEMES = ["file"]
    settings.RUN_SLOTS = 8
    settings.WORKSPACE_DIR.mkdir()
    return settings.WORKSPACE_DIR


def heavy(name: str) -> dict[str, str]:
    """A file that no compression makes smaller than 500 kB."""
    return {name: os.urandom(500_000).hex()}


def last_run(repository: Repository) -> Run:
    return repository.runs.latest("queued_at")


@pytest.mark.parametrize("room", [0, 2 * PAGE, 25 * PAGE], ids=["for nothing", "for a folder", "for half a clone"])
def test_a_first_scan_fails_with_a_sentence_and_succeeds_when_there_is_room(
    disk: Disk,
    workspace: Path,
    connect: Any,
    shop: GitRepository,
    as_member: Any,
    room: int,
) -> None:
    shop.commit(heavy("picture.txt"), on=TODAY)
    disk.fill(leave=room)

    repository = connect(shop)

    assert (last_run(repository).status, last_run(repository).error) == (RunStatus.FAILED, DiskFull.message)
    assert as_member.get(f"/v1/api/repos/{repository.pk}/first-scan").json()["status"] == "failed"
    assert not list(workspace.glob("clones/[!.]*"))

    disk.empty()
    request_run(repository=repository)
    assert last_run(repository).status == RunStatus.SUCCEEDED


@pytest.mark.parametrize("room", [0, 2 * PAGE, 25 * PAGE], ids=["for nothing", "for a file", "for half of it"])
def test_a_later_scan_fails_and_keeps_the_clone_and_the_last_results(
    disk: Disk,
    workspace: Path,
    connect: Any,
    shop: GitRepository,
    room: int,
) -> None:
    repository = connect(shop)
    assert last_run(repository).status == RunStatus.SUCCEEDED
    report, created = repository.current_report_id, repository.folder.stat().st_ino
    shop.commit(heavy("picture.txt"), on=TODAY)
    disk.fill(leave=room)

    request_run(repository=repository)

    repository.refresh_from_db()
    assert (last_run(repository).status, last_run(repository).error) == (RunStatus.FAILED, DiskFull.message)
    assert (repository.current_report_id, repository.folder.stat().st_ino) == (report, created)

    disk.empty()
    request_run(repository=repository)
    assert last_run(repository).status == RunStatus.SUCCEEDED


@pytest.fixture
def full_database() -> Iterator[None]:
    """SQLite's own limit stands for the disk: no new connection may let the file grow."""

    def allow_no_growth(connection: Any, **_: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA max_page_count = 1")  # it never goes below what is there

    connection_created.connect(allow_no_growth)
    yield
    connection_created.disconnect(allow_no_growth)
    connection.close()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL's disk is another one")
def test_a_scan_whose_results_find_no_room_in_the_database_fails_with_a_sentence(
    full_database: None, connect: Any, shop: GitRepository
) -> None:
    shop.commit({f"shop/part_{n}.py": heavy_code(n) for n in range(40)}, on=TODAY)

    repository = connect(shop)

    assert (last_run(repository).status, last_run(repository).error) == (RunStatus.FAILED, DiskFull.message)


def heavy_code(number: int) -> str:
    """A file with a hundred findings."""
    return "import requests\n\n\n" + "".join(
        f"def work_{number}_{n}(address, seen=[]):\n    return requests.get(address)\n\n\n" for n in range(100)
    )
