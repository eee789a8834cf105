"""Run dangerous work in a child process that can be killed without harm.

The child leads a session of its own; at the deadline, or when its owner no longer holds the lease, the whole process
group gets SIGKILL. It also dies with its parent, so a killed worker leaves nothing behind. No Django in here.
"""

import contextlib
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import NoReturn

from config.lifeline import die_with

POLL_SECONDS = 0.02
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
INHERITED_HANDLERS = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGALRM,
    signal.SIGPROF,
)


class Outcome(StrEnum):
    FINISHED = "finished"
    FAILED = "failed"  # an exception left the work
    DIED = "died"  # killed by a signal that was not ours
    TIMED_OUT = "timed_out"
    LOST = "lost"  # the heartbeat said stop
    LEFT = "left"  # its owner has to stop, and somebody else may do it


def run_in_child(
    work: Callable[[], None],
    *,
    seconds: float,
    heartbeat: Callable[[], bool],
    heartbeat_seconds: float = 5.0,
    must_leave: Callable[[], bool] = lambda: False,
    memory_bytes: int | None = None,
) -> Outcome:
    """Fork, do `work` in the child and wait at most `seconds` for it.

    `heartbeat` is called in the parent now and then; when it answers False, or `must_leave` (asked all the time) True,
    the child is killed. Connections to a database must be closed before: parent and child would talk over the same
    socket.
    """
    child = fork_child(work, memory_bytes=memory_bytes)
    try:
        return _wait(child, time.monotonic() + seconds, heartbeat, heartbeat_seconds, must_leave)
    finally:
        kill_group(child)


def fork_child(work: Callable[[], None], *, memory_bytes: int | None = None) -> int:
    """Start `work` in a new session and return its process id. The child never returns from here."""
    parent = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _be_the_child(work, parent, memory_bytes)
    return child


def kill_group(leader: int) -> int:
    """Kill a session leader made by `fork_child` with everything it started, and reap it.

    Its exit status as `waitpid` gives it, that of its own end where it had ended before; 0 when it was reaped already.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(leader, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(leader, 0)[1]
    return 0


@contextlib.contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """What is done in here ends this whole process when it has used so much processor time, in C code too.

    The kernel counts it, so it does not matter how long the process has to wait for its turn. For a child made by
    `fork_child`; its parent asks `ran_out_of_cpu`.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def ran_out_of_cpu(status: int) -> bool:
    """Whether `cpu_limit` ended the child with this exit status."""
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF


def cpu_seconds(process: int) -> tuple[float, float]:
    """Processor time that a process has used itself, and that of its children that have ended; none of one that is
    gone."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0, 0.0
    own, system, of_children, their_system = (int(field) / TICKS_A_SECOND for field in fields[11:15])  # proc(5)
    return own + system, of_children + their_system


def _be_the_child(work: Callable[[], None], parent: int, memory_bytes: int | None) -> NoReturn:
    status = 1
    try:
        os.setsid()
        die_with(parent)
        for name in INHERITED_HANDLERS:
            signal.signal(name, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory_bytes:
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _wait(
    child: int,
    deadline: float,
    heartbeat: Callable[[], bool],
    heartbeat_seconds: float,
    must_leave: Callable[[], bool],
) -> Outcome:
    next_beat = time.monotonic() + heartbeat_seconds
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        now = time.monotonic()
        if ended:
            return outcome_of(status)
        if now >= deadline:
            return Outcome.TIMED_OUT
        if must_leave():
            return Outcome.LEFT
        if now >= next_beat:
            if not heartbeat():
                return Outcome.LOST
            next_beat = now + heartbeat_seconds
        time.sleep(POLL_SECONDS)


def outcome_of(status: int) -> Outcome:
    """What an exit status as `waitpid` gives it says of the work."""
    if os.WIFSIGNALED(status):
        return Outcome.DIED
    return Outcome.FINISHED if os.waitstatus_to_exitcode(status) == 0 else Outcome.FAILED
