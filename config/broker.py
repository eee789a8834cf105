"""Two brokers, and how they are reached: Redis, looked for again every few seconds, and the embedded one.

The embedded broker's messages and bindings are files in a folder, and each is whole before it has its name.
kombu's own transport opens a file under its final name and writes it afterwards; a worker that looks in between, as
several do that start together, takes an empty file, cannot read it, and ends.
"""

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import kombu
from celery.app.amqp import AMQP
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.transport.filesystem import exchange_queue_t as Binding
from kombu.utils.json import dumps

SCHEME = "files"
LONGEST_PAUSE_SECONDS = 4.0


class Connection(kombu.Connection):
    """Looks for a broker that is away every few seconds. kombu's own pauses grow to half a minute, which a service that
    lost its broker for long would stand still after it is back."""

    def ensure_connection(self, *args: Any, **kwargs: Any) -> Any:
        return super().ensure_connection(*args, **{"interval_max": LONGEST_PAUSE_SECONDS, **kwargs})


class Amqp(AMQP):
    Connection = Connection


class Channel(filesystem.Channel):
    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:  # type: ignore[override]  # its parents disagree on a name
        name = f"{round(time.monotonic() * 1000)}_{uuid4()}.{queue}.msg"
        _write_whole(Path(self.data_folder_out, name), dumps(message))

    def _queue_bind(
        self, exchange: str, routing_key: str | None = None, pattern: str | None = None, queue: str | None = None
    ) -> None:
        binding = Binding(routing_key or "", pattern or "", queue or "")
        self._rebind(exchange, lambda bindings: bindings if binding in bindings else [binding, *bindings])

    def _delete(self, queue: str, exchange: str, routing_key: str, pattern: str, *args: Any, **kwargs: Any) -> None:
        self._purge(queue)
        binding = Binding(routing_key or "", pattern or "", queue or "")
        self._rebind(exchange, lambda bindings: [other for other in bindings if other != binding])

    def _rebind(self, exchange: str, change: Callable[[list[Binding]], list[Binding]]) -> None:
        file = self._exchange_file(exchange)  # type: ignore[attr-defined]  # the stubs miss it
        with self._turn():
            before = self.get_table(exchange)
            after = change(before)
            if after != before:
                _write_whole(file, dumps(after))

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One process at a time reads the bindings and writes them back."""
        self.control_folder.mkdir(parents=True, exist_ok=True)
        with (self.control_folder / "turn").open("w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)  # until it is closed
            yield


class Transport(filesystem.Transport):
    Channel = Channel


def _write_whole(file: Path, text: str) -> None:
    """Write all of `text` or nothing, under a name that nobody looks for until then; OSError where the disk is full."""
    unfinished = file.with_name(f"{file.name}.{uuid4()}.part")
    try:
        unfinished.write_text(text)
        unfinished.rename(file)
    except OSError:  # the sweeper finds the work that a message told of
        unfinished.unlink(missing_ok=True)
        raise


def install() -> None:
    """Make `files://` a broker address that kombu knows."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
