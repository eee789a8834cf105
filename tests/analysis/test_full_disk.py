"""A run on a disk that is full: it fails with a sentence, what was good stays, and the next one does all the work."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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
