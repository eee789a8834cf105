"""Many web threads and workers at once, on whichever database the suite runs."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import chain
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from tests.webhooks import deliveries
from tests.webhooks.conftest import note, noted, stored
from webhooks import inbox
from webhooks.models import State, WebhookEvent

pytestmark = pytest.mark.django_db(transaction=True)

WORKERS = 6
DELIVERIES = 1_002


def together(call: Callable[[int], Any], threads: int = WORKERS) -> list[Any]:
    """Run the call in several threads that start at the same moment."""
    gate = threading.Barrier(threads)

    def run(number: int) -> Any:
        gate.wait()
        try:
            return call(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


def test_one_delivery_many_times_at_once_is_stored_once():
    signed = deliveries.codehost2("Push Hook", {"ref": "refs/heads/main"}, uuid="same")

    answers = together(lambda _: [signed.send().json()["duplicate"] for _ in range(DELIVERIES // WORKERS)])

    assert sorted(chain.from_iterable(answers)) == [False] + [True] * (DELIVERIES - 1)
    assert WebhookEvent.objects.count() == 1


def test_each_event_is_applied_once_by_many_workers(handled_by):
    handled_by(note)
    for number in range(120):
        stored(f"e-{number:03}", subject=f"subject {number % 7}")

    together(lambda _: inbox.drain())

    assert noted() == [f"e-{number:03}" for number in range(120)]


def test_no_two_workers_hold_one_subject(handled_by):
    held, most, lock = set(), [], threading.Lock()

    def apply(fact):
        with lock:
            assert "one" not in held, "two events of one subject at once"
            held.add("one")
        note(fact)
        with lock:
            held.remove("one")
            most.append(fact.event_id)

    handled_by(apply)
    for number in range(40):
        stored(f"e-{number:02}", subject="one")

    together(lambda _: inbox.drain())
    inbox.drain()

    assert len(most) == len(noted()) == 40
    assert not WebhookEvent.objects.exclude(state=State.DONE).exists()


def test_an_ended_claim_is_taken_over_by_one_worker_only(handled_by):
    handled_by(note)
    for number in range(20):
        stored(f"e-{number:02}", state=State.PROCESSING, attempts=1, next_at=timezone.now() - timedelta(seconds=1))

    together(lambda _: inbox.drain())

    assert noted() == [f"e-{number:02}" for number in range(20)]


def test_replays_and_deliveries_at_once_run_a_dead_event_once_for_each_that_woke_it(handled_by):
    handled_by(note)
    event = stored("e-1", state=State.DEAD, attempts=8, finished_at=timezone.now())

    woken = together(lambda number: inbox.replay(ids=[event.pk]) if number % 2 else wake())
    inbox.drain()

    # A replay that comes when the event is done again wakes it again; a delivery wakes it while it is dead, so once.
    assert sum(woken) <= len(noted()) <= sum(woken) + 1
    assert WebhookEvent.objects.get().state == State.DONE


def wake() -> int:
    deliveries.codehost2("Test Hook", {}, uuid="e-1").send()
    return 0
