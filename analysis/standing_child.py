"""A child process that stays for more work of its kind and so keeps what it learned; else as `run_in_child`.

It leaves by itself when nothing comes for a while or when it has grown too large, and its owner starts a new one. No
Django in here.
"""

import os
import time
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from analysis.supervision import Outcome, fork_child, kill_group, outcome_of

LOOK_SECONDS = 0.5  # how often the owner asks whether a silent child still lives
SLACK_SECONDS = 10.0  # the child stays a little longer than its owner counts on
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class StandingChild:
    """Does `work` on one order after the other in one child process, forked when the first order comes.

    Work that raises, dies or is killed takes its child with it. `idle_seconds` is how long it waits for more;
    `most_bytes` is the resident memory with which it takes no more. Connections to a database must be closed before an
    order, and by the work at its end.
    """

    def __init__(self, work: Callable[[Any], None], *, idle_seconds: float, most_bytes: int) -> None:
        self._work = work
        self._idle_seconds = idle_seconds
        self._most_bytes = most_bytes
        self._child = 0
        self._stays_until = 0.0
        self._pipe: Connection | None = None

    def run(
        self,
        order: object,
        *,
        seconds: float,
        heartbeat: Callable[[], bool],
        heartbeat_seconds: float = 5.0,
        must_leave: Callable[[], bool] = lambda: False,
    ) -> Outcome:
        """Hand the order over, pickled, and wait at most `seconds` for its end. See `run_in_child`."""
        deadline = time.monotonic() + seconds
        pipe = self._ready()
        pipe.send(order)
        outcome, stays = self._wait(pipe, deadline, heartbeat, heartbeat_seconds, must_leave)
        self._stays_until = time.monotonic() + self._idle_seconds
        if not stays:
            self.end()
        return outcome

    def end(self) -> None:
        """Kill the child, if there is one, with everything it started."""
        if self._pipe is not None:
            self._pipe.close()
            kill_group(self._child)
            self._pipe = None

    def _ready(self) -> Connection:
        """The pipe to a child that will read from it."""
        if self._pipe is not None and (time.monotonic() > self._stays_until or self._pipe.poll()):
            self.end()
        if self._pipe is None:
            self._pipe, theirs = Pipe()
            self._child = fork_child(lambda: self._serve(theirs))
            theirs.close()
        return self._pipe

    def _serve(self, pipe: Connection) -> None:
        while pipe.poll(self._idle_seconds + SLACK_SECONDS):
            self._work(pipe.recv())
            stays = _resident_bytes() <= self._most_bytes
            pipe.send(stays)
            if not stays:
                return

    def _wait(
        self,
        pipe: Connection,
        deadline: float,
        heartbeat: Callable[[], bool],
        heartbeat_seconds: float,
        must_leave: Callable[[], bool],
    ) -> tuple[Outcome, bool]:
        """How the work ended, and whether the child stays for more."""
        next_beat = time.monotonic() + heartbeat_seconds
        while True:
            now = time.monotonic()
            if now >= deadline:
                return Outcome.TIMED_OUT, False
            if must_leave():
                return Outcome.LEFT, False
            if now >= next_beat:
                if not heartbeat():
                    return Outcome.LOST, False
                next_beat = now + heartbeat_seconds
            try:
                if pipe.poll(min(LOOK_SECONDS, deadline - now, next_beat - now)):
                    return Outcome.FINISHED, pipe.recv()
            except (EOFError, ConnectionResetError):
                return outcome_of(os.waitpid(self._child, 0)[1]), False
            ended, status = os.waitpid(self._child, os.WNOHANG)
            if ended:
                return outcome_of(status), False


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES
