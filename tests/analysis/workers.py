"""Real worker processes on the test's database: no broker, each asks for work by itself."""

import subprocess
import sys
from pathlib import Path

from tests.operations.services import environment

LEASE_SECONDS = 2
WORK = """
import django
django.setup()
import time
from django.utils import timezone
from analysis.models import SCANS
from analysis.services import execution, runs, workspaces
from analysis.services.helping import help_scans
workspaces.keep(now=timezone.now())
while True:
    now = timezone.now()
    runs.fail_exhausted_runs(now=now)
    if execution.execute_next(now=now) is None and not help_scans(now=now):
        time.sleep(0.02)
"""


def start_worker(folder: Path, **changes: str) -> "subprocess.Popen[bytes]":
    """A worker with its data in `folder`, as on a machine of its own."""
    settings = {"REDIS_URL": "", "CLONE_ALLOWED_SCHEMES": "file", "RUN_LEASE_SECONDS": str(LEASE_SECONDS)}
    env = environment(folder, **{**settings, "RUN_SLOTS": "8", **changes})
    env.pop("WORKSPACE_DIR", None)
    return subprocess.Popen([sys.executable, "-c", WORK], env=env)
