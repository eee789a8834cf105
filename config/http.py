"""One HTTP exchange with another company's service: one deadline, no redirects, no proxy, a capped answer.

A time-out per read would let a server that sends a byte now and then hold us for hours; here every read, every write
and the handshake share what is left of the whole time.
"""

import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpcore

CONNECT_SECONDS = 5.0
# What can go wrong between two computers. Anything else is a fault of ours and is not hidden.
FAILURES = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
    OSError,
)


class AnswerTooLarge(httpcore.ProtocolError):
    """More came than was allowed."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whatever its status. Header names are lower-case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


def exchange(
    method: str, url: str, *, headers: Mapping[str, str], content: bytes = b"", seconds: float, largest_bytes: int
) -> Answer:
    """Send one request and read the whole answer. One of FAILURES when it did not come whole within `seconds`."""
    clock = _Clock(seconds)
    sent = content if content or method != "GET" else None
    with (
        httpcore.ConnectionPool(network_backend=clock, max_connections=1) as pool,
        pool.stream(method, url, headers=list(headers.items()), content=sent) as response,
    ):
        body = _read(response.iter_stream(), largest_bytes)
        named = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        return Answer(response.status, named, body)


def _read(chunks: Iterable[bytes], largest_bytes: int) -> bytes:
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > largest_bytes:
            raise AnswerTooLarge
    return bytes(body)


class _Clock(httpcore.SyncBackend):
    """Opens connections that all end at the same moment."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self, late: type[httpcore.TimeoutException]) -> float:
        """Seconds until the end; `late` is raised when it has come."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise late
        return seconds

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        limit = min(CONNECT_SECONDS, self.left(httpcore.ConnectTimeout))
        return _Timed(super().connect_tcp(host, port, limit, local_address, socket_options), self)


class _Timed(httpcore.NetworkStream):
    """A connection that asks the clock before each step; the pool's own time-outs are not needed."""

    def __init__(self, stream: httpcore.NetworkStream, clock: _Clock) -> None:
        self._stream, self._clock = stream, clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._clock.left(httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._clock.left(httpcore.WriteTimeout))

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        limit = self._clock.left(httpcore.ConnectTimeout)
        return _Timed(self._stream.start_tls(ssl_context, server_hostname, limit), self._clock)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def close(self) -> None:
        self._stream.close()
