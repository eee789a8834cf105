"""The processes of a running service and their supervision: all of them run, or none.

As a program it supervises the commands of its argument, a JSON array of arrays.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import NoReturn

from django.conf import settings

from config.lifeline import die_with

POLL_SECONDS = 0.2
STOP_SECONDS = 20


def web_command() -> list[str]:
    """The web server. Without Redis the rate limits live in one process, so there is one, with threads."""
    workers = settings.WEB_WORKERS if settings.REDIS_URL else 1
    return [
        *(sys.executable, "-m", "granian", "--interface", "wsgi"),
        *("--host", settings.WEB_HOST, "--port", str(settings.PORT), "--workers", str(workers)),
        *("--blocking-threads", "2" if settings.REDIS_URL else "8", "--respawn-failed-workers"),
        *("--no-access-log", "--log-level", "warning", "config.wsgi:application"),
    ]


def events_command() -> list[str]:
    """The worker for events, letters and the timetable. Two of them do no harm: whatever is due is claimed once."""
    return _worker("events", "celery", "-B")


def scans_command() -> list[str]:
    """A worker for scans, apart from the others: a long scan delays no event and no verdict."""
    return _worker("scans", _with_own("scans"))


def pulls_command() -> list[str]:
    """A worker for the verdicts on pull requests."""
    return _worker("pulls", _with_own("pull_requests"))


def _with_own(queue: str) -> str:
    """A queue of all machines and the one by which this machine alone is told (analysis.services.workspaces)."""
    return f"{queue},{queue}.{settings.WORKSPACE_ID}"


def _worker(name: str, queues: str, *flags: str) -> list[str]:
    concurrency = str(settings.WORKER_CONCURRENCY)
    return [
        *(sys.executable, "-m", "celery", "--quiet", "-A", "config", "worker", "-n", f"{name}@%h", "-Q", queues),
        *("-P", "prefork", "-c", concurrency, "--without-gossip", "--without-mingle", "-l", "warning", *flags),
    ]


COMMANDS = {"web": [web_command], "events": [events_command], "runs": [scans_command, pulls_command]}


def all_commands() -> list[list[str]]:
    """Those of the whole service on one machine."""
    return [command() for part in COMMANDS.values() for command in part]


def become(commands: Sequence[Sequence[str]]) -> NoReturn:
    """Turn this process into the only command, or into a small supervisor of several."""
    program = list(commands[0]) if len(commands) == 1 else [sys.executable, "-m", __name__, json.dumps(commands)]
    sys.stdout.flush()
    os.execv(program[0], program)  # noqa: S606 - fixed commands, without a shell


def run_all(commands: Sequence[Sequence[str]], *, when_started: Callable[[], None] | None = None) -> int:
    """Start all commands, stop them all when one ends or a signal comes; the exit status of the one that ended."""
    children = [_start(command) for command in commands]
    stopping: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.append(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    try:
        if when_started:
            when_started()
        while not stopping and all(child.poll() is None for child in children):
            time.sleep(POLL_SECONDS)
        ended = next((child.returncode for child in children if child.poll() is not None), 0)
        return 0 if stopping else ended or 1
    finally:
        _stop(children)


def _start(command: Sequence[str]) -> "subprocess.Popen[bytes]":
    """A process that leads a group of its own and is told to stop when this one is gone, even by SIGKILL."""
    this = os.getpid()
    return subprocess.Popen(command, start_new_session=True, preexec_fn=lambda: die_with(this, signal.SIGTERM))


def _stop(children: "Sequence[subprocess.Popen[bytes]]") -> None:
    """Ask all of them to stop, wait, and end what is left with everything it started."""
    for child in children:
        child.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(max(0.1, deadline - time.monotonic()))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


if __name__ == "__main__":
    sys.exit(run_all(json.loads(sys.argv[1])))
