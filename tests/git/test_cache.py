"""The clones of a machine stay within their room: those in use are kept, of the others the longest unused go."""

import fcntl
import os
import threading
import time
from pathlib import Path

import pytest

from analysis.git import cache

MEBIBYTE = 2**20


@pytest.fixture
def clones(tmp_path: Path) -> list[Path]:
    """Three clones of one mebibyte each, the first one used longest ago."""
    folders = [tmp_path / f"{name}.git" for name in ("old", "middle", "new")]
    for day, folder in enumerate(folders):
        with cache.in_use(folder):
            (folder / "objects/pack").mkdir(parents=True)
            (folder / "objects/pack/one.pack").write_bytes(bytes(MEBIBYTE))
        os.utime(tmp_path / f".{folder.name}.use", (day, day))
    return folders


def test_within_the_room_nothing_goes(tmp_path: Path, clones: list[Path]) -> None:
    assert cache.evict(tmp_path, most_bytes=3 * MEBIBYTE) == []


def test_the_longest_unused_goes_first(tmp_path: Path, clones: list[Path]) -> None:
    assert cache.evict(tmp_path, most_bytes=2 * MEBIBYTE) == clones[:1]
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        ".middle.git.use",
        ".new.git.use",
        "middle.git",
        "new.git",
    ]


def test_no_more_goes_than_the_room_asks_for(tmp_path: Path, clones: list[Path]) -> None:
    assert cache.evict(tmp_path, most_bytes=2 * MEBIBYTE + 1) == clones[:1]
    assert cache.evict(tmp_path, most_bytes=2 * MEBIBYTE - 1) == clones[1:2]


def test_using_a_clone_makes_it_the_newest(tmp_path: Path, clones: list[Path]) -> None:
    with cache.in_use(clones[0]):
        pass

    assert cache.evict(tmp_path, most_bytes=2 * MEBIBYTE) == clones[1:2]


def test_a_clone_in_use_stays(tmp_path: Path, clones: list[Path]) -> None:
    with cache.in_use(clones[0]), cache.in_use(clones[0]):
        assert cache.evict(tmp_path, most_bytes=0) == clones[1:]
        assert clones[0].is_dir()

    assert cache.evict(tmp_path, most_bytes=0) == clones[:1]


def test_nobody_else_may_hold_a_clone(tmp_path: Path, clones: list[Path]) -> None:
    assert {each.stat().st_mode & 0o777 for each in tmp_path.glob(".*.use")} == {0o600}


def test_a_clone_that_was_never_used_goes_before_all_others(tmp_path: Path, clones: list[Path]) -> None:
    (tmp_path / ".new.git.use").unlink()

    assert cache.evict(tmp_path, most_bytes=2 * MEBIBYTE) == clones[2:]


@pytest.mark.parametrize("made_anew", [False, True])
def test_who_waits_while_a_clone_is_removed_holds_what_others_see(
    tmp_path: Path, clones: list[Path], made_anew: bool
) -> None:
    marker, holds, enough = tmp_path / ".old.git.use", threading.Event(), threading.Event()

    def use() -> None:
        with cache.in_use(clones[0]):
            holds.set()
            enough.wait(30)

    with marker.open() as removing:
        fcntl.flock(removing, fcntl.LOCK_EX)
        user = threading.Thread(target=use)
        user.start()
        while not _is_waited_for(marker):
            time.sleep(0.01)
        marker.unlink()
        if made_anew:
            marker.touch()

    assert holds.wait(30)
    assert not cache.remove_unused(clones[0])
    enough.set()
    user.join()
    assert cache.remove_unused(clones[0])


def _is_waited_for(marker: Path) -> bool:
    locks = Path("/proc/locks").read_text().splitlines()
    return any("->" in line and f":{marker.stat().st_ino} " in line for line in locks)
