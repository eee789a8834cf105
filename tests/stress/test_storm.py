"""Nothing is lost and nothing applied twice, whatever dies (A1). On SQLite without Redis when the suite runs there."""

import subprocess
import sys

import pytest
from django.db import connection

from tests.stress.servers import CHECKOUT, can_run_servers


@pytest.mark.timeout(600)
def test_the_database_equals_the_model_after_the_storm(figure, seed, request):
    embedded = connection.vendor == "sqlite"
    if not (embedded or can_run_servers()):
        pytest.skip("the programs of PostgreSQL and Redis are not on this machine")
    command = [sys.executable, "-m", "tests.stress.storm", "--seed", str(seed)]
    command += ["--deliveries", str(figure(c=400, s=100_000, of="deliveries"))]
    command += ["--down", "60" if request.config.option.scale == "S" else "4"]

    done = subprocess.run([*command, *["--embedded"] * embedded], cwd=CHECKOUT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr[-5_000:]
