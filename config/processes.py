"""The processes of a running service and their supervision: all of them run, or none.

As a program it supervises the commands of its argument, a JSON array of arrays. What they all need is loaded once, and
each of them is a fork that has it already: they start sooner and share that memory.
"""

import contextlib
import json
import multiprocessing
import os
import runpy
import signal
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from multiprocessing.context import ForkProcess
from types import FrameType
from typing import NoReturn

from django.conf import settings
from setproctitle import setproctitle

from config.lifeline import die_with

# The last one keeps them all out of the garbage collection, which would write to the memory that is shared.
LOADED_ONCE = ("celery.bin.celery", "celery.apps.worker", "celery.concurrency.prefork", "granian.cli", "config.wsgi")
POLL_SECONDS = 0.2
STOP_SECONDS = 20
# A worker of the web server that hears nothing, as one that was told to stop while it was starting, is killed then.
WEB_STOP_SECONDS = 15


def web_command() -> list[str]:
    """The web server. Without Redis the rate limits live in one process, so there is one, with threads."""
    workers = settings.WEB_WORKERS if settings.REDIS_URL else 1
    return [
        *(sys.executable, "-m", "granian", "--interface", "wsgi"),
        *("--host", settings.WEB_HOST, "--port", str(settings.PORT), "--workers", str(workers)),
        *("--blocking-threads", "2" if settings.REDIS_URL else "8"),
        *("--respawn-failed-workers", "--workers-kill-timeout", str(WEB_STOP_SECONDS)),
        *("--no-access-log", "--log-level", "error", "config.wsgi:application"),
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
        *("-P", "prefork", "-c", concurrency, "--without-gossip", "--without-mingle", *flags),
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


def run_all(commands: Sequence[Sequence[str]]) -> int:
    """Start all commands, stop them all when one ends or a signal comes; the exit status of the one that ended."""
    for module in LOADED_ONCE:
        import_module(module)
    children = [_start(command) for command in commands]
    stopping: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.append(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    try:
        while not stopping and all(child.exitcode is None for child in children):
            time.sleep(POLL_SECONDS)
        ended = next((child.exitcode for child in children if child.exitcode is not None), 0)
        return 0 if stopping else ended or 1
    finally:
        _stop(children)


def _start(command: Sequence[str]) -> ForkProcess:
    child = multiprocessing.get_context("fork").Process(target=_run, args=(command, os.getpid()))
    child.start()
    return child


def _run(command: Sequence[str], parent: int) -> None:
    """Be `python -m module ...` from here on, as the leader of a group of its own, until told to stop or until the
    parent is gone, even by SIGKILL."""
    os.setsid()
    die_with(parent, signal.SIGTERM)
    _python, _m, module, *arguments = command
    setproctitle(" ".join(command))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _stop(children: Sequence[ForkProcess]) -> None:
    """Ask all of them to stop, wait, and end what is left with everything it started."""
    for child in children:
        child.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        child.join(max(0.1, deadline - time.monotonic()))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid or 0, signal.SIGKILL)
        child.join()


if __name__ == "__main__":
    sys.exit(run_all(json.loads(sys.argv[1])))
