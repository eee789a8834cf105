"""200 clients that send one byte a second take the service from nobody (C13)."""

import http.client
import socket
import subprocess
import sys
import threading
import time

import pytest

from tests.providers.servers import free_port
from tests.stress.servers import CHECKOUT, own_servers, part_of_service, wait_for_port

LONGEST_ANSWER_SECONDS = 1.0
HEAD = (
    b"POST /v1/auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"
)


@pytest.mark.stress
@pytest.mark.parametrize("slow", [HEAD * 3, HEAD + b" " * 500], ids=["in the headers", "in the body"])
def test_others_are_answered_at_once(slow, figure, tmp_path):
    clients, seconds = figure(c=20, s=200, of="slow clients"), figure(c=5, s=30, of="seconds")
    with own_servers() as (postgres, redis):
        env = {"VAR_DIR": str(tmp_path), "DATABASE_URL": postgres.url, "REDIS_URL": redis.url, "PORT": str(free_port())}
        env |= {"DJANGO_SETTINGS_MODULE": "config.settings", "RATELIMIT_ENABLE": "false"}
        service = part_of_service("web", folder=tmp_path, env=env)
        try:
            migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
            subprocess.run(migrate, cwd=CHECKOUT, env=service.env, check=True)
            wait_for_port(int(env["PORT"]))
            calm = _longest_answer(int(env["PORT"]), seconds)
            stop = threading.Event()
            crowd = threading.Thread(target=_dawdle, args=[int(env["PORT"]), clients, slow, stop])
            crowd.start()
            try:
                longest = _longest_answer(int(env["PORT"]), seconds)
            finally:
                stop.set()
                crowd.join()
        finally:
            service.kill()
    # On a machine that is busy with other things answers are slow without anybody's doing.
    assert longest < max(LONGEST_ANSWER_SECONDS, 2 * calm)


def _dawdle(port: int, clients: int, text: bytes, stop: threading.Event) -> None:
    """A byte a second on each of many connections; what the server closed is opened anew."""
    slow = [_open(port) for _ in range(clients)]
    sent = [0] * clients
    while not stop.wait(1):
        for number, connection in enumerate(slow):
            try:
                connection.send(text[sent[number] % len(text) :][:1])
                sent[number] += 1
            except OSError:
                connection.close()
                slow[number], sent[number] = _open(port), 0
    for connection in slow:
        connection.close()


def _open(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=5)
    connection.setblocking(False)
    return connection


def _longest_answer(port: int, seconds: float) -> float:
    ends, longest = time.monotonic() + seconds, 0.0
    while time.monotonic() < ends:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        started = time.monotonic()
        connection.request("GET", "/v1/plans")
        answer = connection.getresponse()
        answer.read()
        longest = max(longest, time.monotonic() - started)
        assert answer.status == 200
        connection.close()
        time.sleep(0.05)
    return longest
