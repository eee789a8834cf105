"""The folder of a clone: its configuration, its lock, its size, and its removal."""

import fcntl
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from analysis.git.errors import DamagedRepository, GitTimedOut

LOCK_PAUSE_SECONDS = 0.05
REMOVAL_SECONDS = 3600

CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tlogallrefupdates = false\n"
CONFIG_SHA256 = CONFIG.replace("= 0", "= 1") + "[extensions]\n\tobjectFormat = sha256\n"


def remove_clone(folder: Path) -> None:
    """Remove a folder, however deep or odd its content is. A folder that is absent is fine."""
    if folder.is_symlink():
        raise DamagedRepository(f"The folder {folder.name} of the clone is a link; remove it.")
    if not folder.exists():
        return
    doomed = folder.with_name(f".{folder.name}.doomed-{os.getpid()}-{time.monotonic_ns()}")
    folder.rename(doomed)
    _remove_tree(doomed)


def remove_doomed(root: Path) -> None:
    """Remove what is left below `root` of removals that were killed; one that is at work is not that old."""
    for doomed in root.glob(".*.doomed-*"):
        with suppress(FileNotFoundError):
            if time.time() - doomed.lstat().st_ctime > REMOVAL_SECONDS:
                _remove_tree(doomed)


def is_shallow(folder: Path) -> bool:
    """Whether the history was cut off, which falsifies churn and history."""
    with suppress(OSError):
        return bool((folder / "shallow").stat().st_size)
    return False


def objects_size(folder: Path) -> int:
    """Bytes of all objects of a clone, while git may be writing there."""
    total = 0
    for parent, _, names in os.walk(folder / "objects"):
        for name in names:
            with suppress(OSError):
                total += (Path(parent) / name).lstat().st_size
    return total


def replace_file(path: Path, text: str) -> None:
    """Replace a file in one step: a kill leaves the old or the new content."""
    fresh = path.with_name(f"{path.name}.lock")
    fresh.write_text(text)
    fresh.replace(path)


@contextmanager
def locked(folder: Path, deadline: float) -> Iterator[int]:
    """Hold the lock of a clone. It is a file beside the folder, and git inherits it: it ends with the last git."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    path = folder.with_name(f".{folder.name}.lock")
    while (lock := _taken(path)) is None:
        if time.monotonic() >= deadline:
            raise GitTimedOut("Another run is fetching this repository and did not finish in time; try again later.")
        time.sleep(LOCK_PAUSE_SECONDS)
    try:
        yield lock
    finally:
        path.unlink(missing_ok=True)
        os.close(lock)


def _taken(path: Path) -> int | None:
    """The lock, open and taken; None when another holds it, or when its holder removed the file in between."""
    lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    is_ours = False
    try:
        with suppress(BlockingIOError, FileNotFoundError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.fstat(lock).st_ino == path.stat().st_ino
    finally:
        if not is_ours:
            os.close(lock)
    return lock if is_ours else None


def _remove_tree(folder: Path) -> None:
    """Remove a tree with a constant number of open folders: deep folders are first moved up to the top."""
    moved = 0
    pending = [folder]
    while pending:
        current = pending.pop()
        with suppress(OSError):
            current.chmod(stat.S_IRWXU)
        with os.scandir(current) as entries:
            children = list(entries)
        for child in children:
            if child.is_dir(follow_symlinks=False):
                moved += 1
                raised = folder / f".doomed-{moved}"
                Path(child.path).rename(raised)
                pending.append(raised)
            else:
                Path(child.path).unlink()
    shutil.rmtree(folder)
