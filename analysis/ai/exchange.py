"""One HTTP POST under one deadline: no redirects, no proxy of the environment, a capped answer.

A time-out per read would let a server that sends a byte now and then hold us for hours; here every read, every write
and the handshake share what is left of the whole time.
"""

import ssl
import time
from collections.abc import Iterable, Mapping
from typing import Any

import httpcore

CONNECT_SECONDS = 5.0
LARGEST_ANSWER_BYTES = 1024 * 1024
# What can go wrong between two computers. Anything else is a fault of ours and is not hidden.
FAILURES = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
    OSError,
)


class AnswerTooLarge(httpcore.ProtocolError):
    """More than LARGEST_ANSWER_BYTES came."""


def post(url: str, *, headers: Mapping[str, str], content: bytes, seconds: float) -> tuple[int, bytes]:
    """Status and body of the answer to a POST. One of FAILURES when it did not come whole within `seconds`."""
    clock = _Clock(seconds)
    with (
        httpcore.ConnectionPool(network_backend=clock, max_connections=1) as pool,
        pool.stream("POST", url, headers=list(headers.items()), content=content) as response,
    ):
        body = bytearray()
        for chunk in response.iter_stream():
            body += chunk
            if len(body) > LARGEST_ANSWER_BYTES:
                raise AnswerTooLarge
        return response.status, bytes(body)


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
