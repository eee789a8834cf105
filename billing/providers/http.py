"""One HTTP exchange with a payment provider: at most 10 seconds in all, no redirects, a capped answer.

The clock runs over the whole exchange. A time-out per read would let a server that sends a byte a second hold us for
hours.
"""

import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import httpcore
import structlog

from config.errors import ProviderFailed

TOTAL_SECONDS = 10.0
CONNECT_SECONDS = 5.0
LARGEST_ANSWER_BYTES = 4 * 1024 * 1024

log = structlog.get_logger("billing")


@dataclass(frozen=True)
class Answer:
    """What came back, whatever its status. Header names are lower-case."""

    status: int
    headers: dict[str, str]
    body: bytes


def exchange(method: str, url: str, *, headers: Mapping[str, str], content: bytes = b"") -> Answer:
    """Send one request and read the whole answer. ProviderFailed when that does not work out; bodies stay out of it."""
    deadline = time.monotonic() + TOTAL_SECONDS
    sent = content if content or method != "GET" else None
    try:
        with (
            httpcore.ConnectionPool(network_backend=_Backend(deadline), max_connections=1) as pool,
            pool.stream(method, url, headers=list(headers.items()), content=sent) as response,
        ):
            body = _read(response.iter_stream())
            named = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            return Answer(response.status, named, body)
    except (
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.TimeoutException,
        httpcore.UnsupportedProtocol,
        OSError,
    ) as error:
        log.warning("provider_unreachable", method=method, error=type(error).__name__)
        raise ProviderFailed from error


def _read(chunks: Iterable[bytes]) -> bytes:
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > LARGEST_ANSWER_BYTES:
            raise ProviderFailed("The payment provider's answer is too large; nothing was changed")
    return bytes(body)


class _Stream(httpcore.NetworkStream):
    """A connection whose reads and writes share one deadline."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: float) -> None:
        self.inner, self.deadline = inner, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.inner.read(max_bytes, _left(self.deadline, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.inner.write(buffer, _left(self.deadline, httpcore.WriteTimeout))

    def close(self) -> None:
        self.inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _left(self.deadline, httpcore.ConnectTimeout)
        return _Stream(self.inner.start_tls(ssl_context, server_hostname, left), self.deadline)

    def get_extra_info(self, info: str) -> Any:
        return self.inner.get_extra_info(info)


class _Backend(httpcore.SyncBackend):
    """Opens connections that keep to the deadline."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        left = min(CONNECT_SECONDS, _left(self.deadline, httpcore.ConnectTimeout))
        inner = super().connect_tcp(host, port, left, local_address, socket_options)
        return _Stream(inner, self.deadline)


def _left(deadline: float, late: type[httpcore.TimeoutException]) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise late
    return left
