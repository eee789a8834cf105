"""Nothing is lost and nothing applied twice, whatever dies (A1). On SQLite without Redis when the suite runs there."""

import subprocess
import sys

import pytest
from django.db import connection

from tests.stress.servers import CHECKOUT, can_run_servers


@pytest.fixture
def storm(seed):
    """Let it rage; it must end with a database that equals the model."""
    embedded = connection.vendor == "sqlite"
    if not (embedded or can_run_servers()):
        pytest.skip("the programs of PostgreSQL and Redis are not on this machine")

    def rage(**options: int) -> None:
        command = [sys.executable, "-m", "tests.stress.storm", "--seed", str(seed), *["--embedded"] * embedded]
        command += [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr[-5_000:]

    return rage


@pytest.mark.stress
@pytest.mark.timeout(600)
def test_the_database_equals_the_model_after_the_storm(storm, figure):
    storm(
        deliveries=figure(c=300, s=100_000, of="deliveries"),
        down=figure(c=4, s=60, of="seconds without the providers"),
    )


@pytest.mark.stress
@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="the embedded broker is a folder, which does not go away")
def test_a_broker_that_is_away_costs_time_only(storm, figure):
    storm(deliveries=720, gated=15, no_broker=figure(c=10, s=600, of="seconds without Redis"))
