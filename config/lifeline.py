"""Processes that end with the one that started them, however that one ends (Linux)."""

import contextlib
import ctypes
import os
import signal

PR_SET_PDEATHSIG = 1  # prctl(2)


def die_with(parent: int, sent: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel send `sent` to this process when its parent ends. Call it in the child; the parent may already be
    gone."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, sent, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
