"""Turns at what takes a web process long: its threads are few, and whoever waits holds one of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from config.errors import Unavailable


@contextmanager
def turn(lock: Lock, *, busy: type[Unavailable], wait_seconds: float = 0) -> Iterator[None]:
    """Hold the lock; `busy` is raised when somebody else holds it for longer than that."""
    if not lock.acquire(timeout=wait_seconds):
        raise busy
    try:
        yield
    finally:
        lock.release()
