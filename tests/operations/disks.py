"""A small disk in memory that a test may fill to the last page."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PAGE = 4096


class Disk:
    """`fill` leaves so many bytes free."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._ballast = folder, folder / "ballast"

    @property
    def free(self) -> int:
        state = os.statvfs(self.folder)
        return state.f_bavail * state.f_frsize

    def fill(self, leave: int) -> None:
        with self._ballast.open("wb") as ballast:
            ballast.write(bytes(self.free - leave))
        assert leave - PAGE <= self.free <= leave

    def empty(self) -> None:
        self._ballast.unlink()


@contextmanager
def small_disk(folder: Path) -> Iterator[Disk]:
    """24 MB, mounted at `folder` until the end of the block; the test is skipped where that is not allowed."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("only root can mount a disk for this test")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
