"""A standing child does one order after the other, and is replaced when it is gone or may not stay."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.standing_child import StandingChild
from analysis.supervision import Outcome
from tests.analysis.test_supervision import always, is_alive

ROOM = 2**34


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def start(notes: Path) -> Iterator[Callable[..., Callable[..., Outcome]]]:
    """A child that notes its process id with each order, or does what the order says."""
    children = []

    def work(order: Any) -> None:
        with notes.open("a") as file:
            file.write(f"{os.getpid()}\n")
        match order:
            case "break":
                raise ValueError("broken")
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "hang":
                time.sleep(600)

    def started(idle_seconds: float = 60, most_bytes: int = ROOM) -> Callable[..., Outcome]:
        child = StandingChild(work, idle_seconds=idle_seconds, most_bytes=most_bytes)
        children.append(child)
        return lambda order, seconds=10, heartbeat=always: child.run(
            order, seconds=seconds, heartbeat=heartbeat, heartbeat_seconds=0.05
        )

    yield started
    for child in children:
        child.end()


def pids(notes: Path) -> list[int]:
    return [int(line) for line in notes.read_text().split()]


def test_one_child_does_all_orders(start: Any, notes: Path) -> None:
    run = start()

    assert [run("first"), run("second")] == [Outcome.FINISHED, Outcome.FINISHED]
    first, second = pids(notes)
    assert first == second
    assert is_alive(first)


@pytest.mark.parametrize(("order", "outcome"), [("break", Outcome.FAILED), ("die", Outcome.DIED)])
def test_a_child_that_is_gone_is_replaced(start: Any, notes: Path, order: str, outcome: Outcome) -> None:
    run = start()

    assert [run("first"), run(order), run("third")] == [Outcome.FINISHED, outcome, Outcome.FINISHED]
    first, broken, third = pids(notes)
    assert first == broken != third


def test_work_that_never_returns_is_killed_at_its_deadline(start: Any, notes: Path) -> None:
    outcome = start()("hang", seconds=0.3)

    assert outcome == Outcome.TIMED_OUT
    assert not is_alive(pids(notes)[0])


def test_work_whose_lease_is_lost_is_killed(start: Any, notes: Path) -> None:
    outcome = start()("hang", heartbeat=lambda: False)

    assert outcome == Outcome.LOST


def test_a_child_that_has_grown_too_large_does_not_stay(start: Any, notes: Path) -> None:
    run = start(most_bytes=0)

    assert [run("first"), run("second")] == [Outcome.FINISHED, Outcome.FINISHED]
    first, second = pids(notes)
    assert first != second
    assert not is_alive(first)


def test_a_child_that_waited_too_long_is_replaced(start: Any, notes: Path) -> None:
    run = start(idle_seconds=0)

    assert [run("first"), run("second")] == [Outcome.FINISHED, Outcome.FINISHED]
    first, second = pids(notes)
    assert first != second


def test_a_child_that_was_killed_between_two_orders_is_replaced(start: Any, notes: Path) -> None:
    run = start()
    run("first")
    os.kill(pids(notes)[0], signal.SIGKILL)
    os.waitid(os.P_PID, pids(notes)[0], os.WEXITED | os.WNOWAIT)  # it is gone, and its owner has not been told

    assert run("second") == Outcome.FINISHED
