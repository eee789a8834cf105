"""A throw-away service for benchmarks in a folder and database of its own, and waiting for what it does."""

import atexit
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import django
from django.core.management import call_command


def start() -> None:
    """Set Django up on an empty SQLite file, or on the empty database that DATABASE_URL names, and migrate it."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    os.environ |= {"VAR_DIR": folder.name, "RATELIMIT_ENABLE": "false", "DJANGO_SETTINGS_MODULE": "config.settings"}
    Path(folder.name, "static").mkdir()
    django.setup()
    call_command("migrate", verbosity=0)


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """Ask every 20 milliseconds until the condition holds; false when the seconds are over."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if condition():
            return True
        time.sleep(0.02)
    return False
