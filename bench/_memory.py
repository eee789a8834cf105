"""The anonymous memory of a process and all that it started, shared pages counted once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class Memory:
    """The highest sum of anonymous memory that a tree of processes has had, in megabytes, asked ten times a second."""

    def __init__(self, root: int) -> None:
        self._root = root
        self.peak = 0.0

    def now(self) -> float:
        return sum(map(_anonymous_kilobytes, _tree_of(self._root))) / 1024

    def watch(self, done: threading.Event) -> None:
        while not done.wait(0.1):
            self.peak = max(self.peak, self.now())


@contextmanager
def watching(memory: Memory) -> Iterator[None]:
    """Look for the peak as long as the block lasts."""
    done = threading.Event()
    watcher = threading.Thread(target=memory.watch, args=(done,), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _tree_of(root: int) -> list[int]:
    """The process and all that it started."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found = [root]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def _anonymous_kilobytes(process: int) -> float:
    """Pages that several share count in parts."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss_Anon:"):
                return float(line.split()[1])
    return 0.0
