"""Limits are exact across web processes in the embedded default: no Redis, no PostgreSQL, the real web server."""

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from tests.providers import servers

CHECKOUT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def service(tmp_path):
    """Two web processes on an empty SQLite file."""
    port = servers.free_port()
    env = {"VAR_DIR": str(tmp_path), "PYTHONPATH": str(CHECKOUT), "TRUSTED_PROXY_COUNT": "1"}
    migrate = [sys.executable, CHECKOUT / "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, env={"PATH": "/usr/bin:/bin", **env}, check=True, timeout=100)
    options = ["--interface", "wsgi", "--port", str(port), "--workers", "2", "--blocking-threads", "4"]
    command = [sys.executable, "-m", "granian", *options, "config.wsgi:application"]
    with servers.running(command, port=port, cwd=tmp_path, env=env):
        yield f"http://127.0.0.1:{port}/v1"


def test_exactly_the_limit_passes_over_two_processes(service):
    def call(address):
        return requests.post(f"{service}/auth/login", json={}, headers={"X-Forwarded-For": address}, timeout=30)

    # Every address has windows of its own: one of them has just begun.
    addresses = (f"203.0.113.{number}" for number in range(256))
    client = next(address for address in addresses if int(call(address).headers["RateLimit-Reset"]) > 30)
    with ThreadPoolExecutor(32) as threads:
        answers = Counter(answer.status_code for answer in threads.map(call, [client] * 63))

    assert answers == {400: 4, 429: 59}
