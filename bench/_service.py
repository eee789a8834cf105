"""A throw-away service for benchmarks: its own folder and database, nothing left behind."""

import atexit
import os
import tempfile
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
