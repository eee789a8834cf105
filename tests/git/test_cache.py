"""The clones of a machine stay within their room: those in use are kept, of the others the longest unused go."""

import os
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


def test_using_a_clone_makes_it_the_newest(tmp_path: Path, clones: list[Path]) -> None:
    with cache.in_use(clones[0]):
        pass

    assert cache.evict(tmp_path, most_bytes=2 * MEBIBYTE) == clones[1:2]


def test_a_clone_in_use_stays(tmp_path: Path, clones: list[Path]) -> None:
    with cache.in_use(clones[0]), cache.in_use(clones[0]):
        assert cache.evict(tmp_path, most_bytes=0) == clones[1:]
        assert clones[0].is_dir()

    assert cache.evict(tmp_path, most_bytes=0) == clones[:1]


def test_a_clone_that_was_never_used_goes_before_all_others(tmp_path: Path, clones: list[Path]) -> None:
    (tmp_path / ".new.git.use").unlink()

    assert cache.evict(tmp_path, most_bytes=2 * MEBIBYTE) == clones[2:]
