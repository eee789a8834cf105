"""Throw-away servers and our own processes, made to be killed and started again."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.providers.servers import free_port

CHECKOUT = Path(__file__).resolve().parents[2]
START_SECONDS = 60
STOP_SECONDS = 30


class Process:
    """A command in a session of its own, so that one signal ends it with everything it started."""

    def __init__(self, name: str, command: Sequence[str], *, log: Path, env: Mapping[str, str]) -> None:
        self.name, self.command, self.log, self.env = name, command, log, env
        self.kills = 0
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._running = subprocess.Popen(
                self.command, cwd=CHECKOUT, env=self.env, stdout=log, stderr=log, start_new_session=True
            )

    @property
    def has_ended(self) -> bool:
        return self._running.poll() is not None

    @property
    def pid(self) -> int:
        return self._running.pid

    def stop(self) -> None:
        """Ask it to stop, and wait until it has."""
        self._running.terminate()
        self._running.wait(STOP_SECONDS)

    def kill(self) -> None:
        """SIGKILL, children and all."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._running.pid, signal.SIGKILL)
        self._running.wait()
        self.kills += 1


class Postgres:
    """A cluster of its own in a temporary folder. PostgreSQL runs under no root, so root lends it another name."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self._user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        if self._user:
            entry = pwd.getpwnam("postgres")
            os.chown(folder, entry.pw_uid, entry.pw_gid)
        self._run("initdb", "-D", self._data, "-U", "storm", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-locale")
        self.start()
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "storm", "storm")

    @property
    def url(self) -> str:
        return f"postgres://storm@127.0.0.1:{self.port}/storm"

    @property
    def log(self) -> str:
        """What the server wrote: `deadlock detected`, for example."""
        return (self.folder / "log").read_text()

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=200"
        self._run("pg_ctl", "-D", self._data, "-l", str(self.folder / "log"), "-o", options, "-w", "-s", "start")

    def stop_at_once(self) -> None:
        """As if its processes were killed: no connection is ended, nothing is written out."""
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "-s", "stop")

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [_program(program), *arguments],
            cwd="/",
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            **self._user,
        )
        assert done.returncode == 0, f"{program}: {done.stderr or done.stdout}"


class Redis:
    """A server that keeps nothing: started again it is empty."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        options = ["--port", str(self.port), "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction"]
        self._process = Process(
            "redis", ["redis-server", *options, "--dir", str(folder)], log=folder / "redis.log", env=dict(os.environ)
        )
        wait_for_port(self.port)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def kill(self) -> None:
        self._process.kill()

    def start(self) -> None:
        self._process.start()
        wait_for_port(self.port)


def can_run_servers() -> bool:
    """Whether this machine has the programs of both servers."""
    programs = ("initdb", "pg_ctl", "createdb")
    return bool(shutil.which("redis-server")) and all(Path(_program(name)).is_file() for name in programs)


@contextlib.contextmanager
def own_servers() -> Iterator[tuple[Postgres, Redis]]:
    """PostgreSQL and Redis of their own, gone with everything they stored at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="own-postgres-") as data, tempfile.TemporaryDirectory() as other:
        postgres, redis = Postgres(Path(data)), Redis(Path(other))
        try:
            yield postgres, redis
        finally:
            redis.kill()
            with contextlib.suppress(AssertionError):  # it may be down already
                postgres.stop_at_once()


def part_of_service(name: str, *, folder: Path, env: Mapping[str, str]) -> Process:
    """One of the three processes of the service: web, events or runs."""
    command = [sys.executable, "manage.py", "serve", "--only", name]
    return Process(name, command, log=folder / f"{name}.log", env={**os.environ, **env})


def wait_for_port(port: int, seconds: float = START_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on port {port}")


def _program(name: str) -> str:
    """Debian keeps most of PostgreSQL's programs off the path."""
    installed: list[Any] = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return shutil.which(name) or str(installed[0] if installed else name)
