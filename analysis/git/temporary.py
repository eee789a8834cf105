"""A folder that lives as long as a block, also in a process that is told to end."""

import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENDINGS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """An empty folder whose name begins with `prefix`; it goes with the block.

    A signal whose handler raises waits while the folder is made or removed: between making it and knowing of it, the
    exception would leave it behind.
    """
    allowed = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    try:
        with tempfile.TemporaryDirectory(prefix=prefix) as name:
            try:
                signal.pthread_sigmask(signal.SIG_SETMASK, allowed)
                yield Path(name)
            finally:
                signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, allowed)
