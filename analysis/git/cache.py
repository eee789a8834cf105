"""The clones of one machine as a cache: those in use stay, the longest unused go when they take too much room.

Beside each clone lies a file `.<name>.use`: locked by everybody who reads the clone, its time is that of the last use.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from analysis.git.folder import objects_size, remove_clone


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Keep a clone, or one that is about to be made, from being evicted. Several may use it at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = _locked(folder, fcntl.LOCK_SH)
    assert lock is not None  # noqa: S101 - it was waited for
    try:
        os.utime(lock)
        yield
    finally:
        os.close(lock)


def evict(root: Path, *, most_bytes: int) -> list[Path]:
    """Remove clones below `root`, the longest unused first, until the rest takes at most `most_bytes`. What went."""
    sizes = {folder: objects_size(folder) for folder in root.glob("[!.]*") if folder.is_dir()}
    total = sum(sizes.values())
    gone: list[Path] = []
    for folder in sorted(sizes, key=_used_at):
        if total <= most_bytes:
            break
        if remove_unused(folder):
            total -= sizes[folder]
            gone.append(folder)
    return gone


def remove_unused(folder: Path) -> bool:
    """Remove a clone unless somebody uses it; whether it is gone."""
    lock = _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if lock is None:
        return False
    try:
        remove_clone(folder)
        _marker(folder).unlink()
    finally:
        os.close(lock)
    return True


def _locked(folder: Path, kind: int) -> int | None:
    """The marker, open and locked; None when it was not to be waited for."""
    while True:
        lock = os.open(_marker(folder), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, kind)
            if os.fstat(lock).st_ino == _marker(folder).stat().st_ino:
                return lock
        except BlockingIOError:
            os.close(lock)
            return None
        except FileNotFoundError:  # removed between the opening and the lock
            pass
        os.close(lock)


def _marker(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.use")


def _used_at(folder: Path) -> float:
    with suppress(OSError):
        return _marker(folder).stat().st_mtime
    return 0.0
