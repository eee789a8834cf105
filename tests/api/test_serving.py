"""`manage.py serve` runs all its processes or none, and leaves none behind; its web server hangs up on nobody."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from config.processes import WEB_STOP_SECONDS
from tests.operations.services import CHECKOUT, is_gone, processes_below, wait_until
from tests.providers import servers

pytestmark = pytest.mark.skipif(bool(os.environ.get("DATABASE_URL")), reason="always served on the embedded default")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Any]:
    """The real service on an empty SQLite file: the process and its address."""
    port = servers.free_port()
    env = {**os.environ, "VAR_DIR": str(tmp_path), "PORT": str(port), "LOG_LEVEL": "ERROR"}
    env |= {"DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3", "REDIS_URL": ""}
    process = subprocess.Popen(
        [sys.executable, "manage.py", "serve"],
        cwd=CHECKOUT,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}/v1/plans"
    try:
        wait_until(lambda: answers(address), seconds=120)
        yield process, address
    finally:
        process.kill()
        process.wait()


def answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def session_leaders_of(process: "subprocess.Popen[bytes]") -> list[int]:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(child) for child in children]


REFUSED = {"POST /v1/orgs": 401, "POST /v1/nothing": 404, "POST /v1/plans": 405, "POST /v1/auth/login": 415}


def test_an_answer_before_the_body_has_come_leaves_the_connection_open(service: Any) -> None:
    _, address = service
    parts = urlsplit(address)
    for line, status in (REFUSED | {"GET /v1/plans": 200}).items():
        head = f"{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n"
        with socket.create_connection((parts.hostname, parts.port), timeout=10) as connection:
            connection.sendall(head.encode())
            time.sleep(0.3)
            connection.sendall(b"{}")
            assert answered(connection) == status

            connection.sendall(b"GET /v1/plans HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert answered(connection) == 200


def answered(connection: socket.socket) -> int:
    response = http.client.HTTPResponse(connection)
    response.begin()
    response.read()
    return response.status


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_stopping_it_stops_the_web_server_and_the_workers(service: Any, sent: signal.Signals) -> None:
    process, address = service
    wait_until(lambda: len(session_leaders_of(process)) == 4, seconds=20)  # the first one answers before the last is up
    children = session_leaders_of(process)

    process.send_signal(sent)

    wait_until(lambda: all(is_gone(child) for child in children), seconds=40)
    assert not answers(address)


def test_a_web_worker_that_hears_nothing_keeps_no_port_when_all_is_killed(service: Any) -> None:
    process, address = service
    wait_until(lambda: len(session_leaders_of(process)) == 4, seconds=20)
    web, *_ = session_leaders_of(process)
    for worker in processes_below(web):
        os.kill(worker, signal.SIGSTOP)

    process.kill()

    try:
        wait_until(lambda: is_gone(web), seconds=WEB_STOP_SECONDS + 10)
        assert not answers(address)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(web, signal.SIGKILL)


def test_when_one_of_them_dies_the_others_stop(service: Any) -> None:
    process, address = service
    web, *_ = session_leaders_of(process)

    os.killpg(web, signal.SIGKILL)

    process.wait(timeout=40)
    assert process.returncode != 0
    assert not answers(address)
