"""Whether this worker was told to stop: said in its main process, read in every process forked from it."""

import mmap
import os
import signal
from types import FrameType
from typing import Any

from celery.signals import worker_shutting_down

# By then a worker that was told to stop is gone, whatever its tasks do: sooner than `serve` would end it.
STOP_SECONDS = 15

_told = mmap.mmap(-1, 1)  # memory that forked processes share


def is_stopping() -> bool:
    """Whether what takes long has to be left to another worker now."""
    return _told[0] != 0


@worker_shutting_down.connect
def _stop(**_: Any) -> None:
    _told[0] = 1
    signal.signal(signal.SIGALRM, _end)
    signal.alarm(STOP_SECONDS)


def _end(number: int, frame: FrameType | None) -> None:
    """End this worker at once with the processes of its pool, which are of its group where it leads one."""
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)
