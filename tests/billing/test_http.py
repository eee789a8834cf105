"""One exchange with a provider is bounded in time and size, whatever the other side does."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from billing.providers import http
from config.errors import ProviderFailed


@contextmanager
def answering(act: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that does as it likes with its one connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                try:
                    act(connection)
                except OSError:
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        thread.join(5)


def drip(connection: socket.socket) -> None:
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nX-Long: " + b"a" * 1000:
        connection.sendall(bytes([byte]))
        time.sleep(0.05)


def test_a_byte_at_a_time_does_not_outlast_the_deadline(monkeypatch):
    monkeypatch.setattr(http, "TOTAL_SECONDS", 0.5)
    started = time.monotonic()

    with answering(drip) as url, pytest.raises(ProviderFailed):
        http.exchange("GET", url, headers={})

    assert time.monotonic() - started < 3


def test_an_answer_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(http, "LARGEST_ANSWER_BYTES", 1000)

    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100000)

    with answering(flood) as url, pytest.raises(ProviderFailed):
        http.exchange("GET", url, headers={})


def test_a_redirect_is_an_answer_like_any_other():
    def redirect(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")

    with answering(redirect) as url:
        assert http.exchange("POST", url, headers={}, content=b"x").status == 302


@pytest.mark.parametrize("words", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"])
def test_a_broken_answer_is_a_failure(words):
    with answering(lambda connection: connection.sendall(words)) as url, pytest.raises(ProviderFailed):
        http.exchange("GET", url, headers={})


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "ftp://127.0.0.1/", "nonsense"])
def test_an_address_that_does_not_answer_is_a_failure(url):
    with pytest.raises(ProviderFailed):
        http.exchange("GET", url, headers={})
