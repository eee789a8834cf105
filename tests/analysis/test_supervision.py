"""Work in a child process ends in one of five ways, and leaves no process behind."""

import os
import signal
import subprocess
import time
from pathlib import Path

from analysis.supervision import Outcome, run_in_child


def always() -> bool:
    return True


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    return state != "Z"


def wait_until_dead(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_alive(pid)


def test_work_that_ends_is_finished(tmp_path: Path) -> None:
    outcome = run_in_child(lambda: (tmp_path / "done").touch(), seconds=10, heartbeat=always)

    assert outcome == Outcome.FINISHED
    assert (tmp_path / "done").exists()


def test_work_that_raises_has_failed(capfd) -> None:
    def work() -> None:
        raise ValueError("broken")

    assert run_in_child(work, seconds=10, heartbeat=always) == Outcome.FAILED
    assert "ValueError: broken" in capfd.readouterr().err


def test_work_that_is_killed_has_died() -> None:
    outcome = run_in_child(lambda: os.kill(os.getpid(), signal.SIGKILL), seconds=10, heartbeat=always)

    assert outcome == Outcome.DIED


def test_work_that_never_returns_is_killed_at_the_deadline_with_everything_it_started(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def work() -> None:
        grandchild = subprocess.Popen(["sleep", "600"])
        note.write_text(str(grandchild.pid))
        time.sleep(600)

    started = time.monotonic()
    outcome = run_in_child(work, seconds=0.5, heartbeat=always)

    assert outcome == Outcome.TIMED_OUT
    assert time.monotonic() - started < 2.5
    assert wait_until_dead(int(note.read_text()))


def test_work_whose_lease_is_lost_is_killed() -> None:
    outcome = run_in_child(lambda: time.sleep(600), seconds=60, heartbeat=lambda: False, heartbeat_seconds=0.05)

    assert outcome == Outcome.LOST


def test_work_that_takes_too_much_memory_fails(capfd) -> None:
    outcome = run_in_child(lambda: bytearray(2 * 1024**3) and None, seconds=10, heartbeat=always, memory_bytes=1024**3)

    assert outcome == Outcome.FAILED
    assert "MemoryError" in capfd.readouterr().err


def test_work_dies_with_the_process_that_supervises_it(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def work() -> None:
        note.write_text(str(os.getpid()))
        time.sleep(600)

    supervisor = os.fork()
    if supervisor == 0:
        run_in_child(work, seconds=60, heartbeat=always)
        os._exit(0)
    while not note.exists() or not note.read_text():
        time.sleep(0.01)
    os.kill(supervisor, signal.SIGKILL)
    os.waitpid(supervisor, 0)

    assert wait_until_dead(int(note.read_text()))
