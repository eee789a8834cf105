"""Clients that cost little: they share the cores with the server they measure."""

import socket
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from analysis.supervision import cpu_seconds

PIECE = 1 << 18


class Client:
    """One connection that stays open. Understands what our server sends: lengths and chunks."""

    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in headers.items())

    def get(self, path: str, **more: str) -> tuple[int, dict[str, str]]:
        """Status and headers of the answer, which is read to its end."""
        extra = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in more.items())
        self._socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{self._headers}{extra}\r\n".encode())
        head, _, rest = self._read_until(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        status = int(first.split(" ", 2)[1])
        if "chunked" in headers.get("transfer-encoding", ""):
            while not rest.endswith(b"0\r\n\r\n"):
                rest = rest[-8:] + self._more()
        elif status not in (204, 304):
            left = int(headers.get("content-length", 0)) - len(rest)
            while left > 0:
                left -= len(self._more())
        return status, headers

    def close(self) -> None:
        self._socket.close()

    def _read_until(self, mark: bytes) -> tuple[bytes, bytes, bytes]:
        data = b""
        while mark not in data:
            data += self._more()
        return data.partition(mark)

    def _more(self) -> bytes:
        data = self._socket.recv(PIECE)
        if not data:
            raise ConnectionError("the server closed the connection")
        return data


@dataclass(frozen=True)
class Measured:
    """Latencies in milliseconds, sorted, and CPU milliseconds per request: of the web server and of the database."""

    times: list[float]
    web_cpu: float
    database_cpu: float

    def share(self, part: float) -> float:
        return self.times[min(len(self.times) - 1, int(len(self.times) * part))]


def measure(
    make: Callable[[], Client], paths: Sequence[str], *, clients: int, requests: int, good: Sequence[int],
    web: int, database: int | None = None, **headers: str,
) -> Measured:  # fmt: skip
    """`requests` in all by so many clients at once, path after path. `web` is the web server's first process and
    `database` that of the database; their children count with them."""

    def ask(number: int) -> list[float]:
        times, client = [], make()
        for count in range(max(1, requests // clients)):
            path = paths[(number + count * clients) % len(paths)]
            started = time.perf_counter()
            status, _ = client.get(path, **headers)
            times.append((time.perf_counter() - started) * 1000)
            if status not in good:
                raise AssertionError(f"{path} answered {status}")
        client.close()
        return times

    before = cpu_seconds_of([web, *children_of(web)]), _database_seconds(database)
    with ThreadPoolExecutor(clients) as pool:
        times = sorted(each for part in pool.map(ask, range(clients)) for each in part)
    after = cpu_seconds_of([web, *children_of(web)]), _database_seconds(database)
    of_web, of_database = ((end - start) * 1000 / len(times) for start, end in zip(before, after, strict=True))
    return Measured(times, of_web, of_database)


def cpu_seconds_of(processes: Sequence[int]) -> float:
    """Processor time that these have used themselves, those that are gone left out."""
    return sum(cpu_seconds(process)[0] for process in processes)


def _database_seconds(process: int | None) -> float:
    """Processor time of all connections, those that have ended too: a server ends its connections now and then."""
    if process is None:
        return 0.0
    return cpu_seconds_of(children_of(process)) + cpu_seconds(process)[1]


def children_of(process: int) -> list[int]:
    """All processes below this one."""
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *children_of(int(child))]
    return found
