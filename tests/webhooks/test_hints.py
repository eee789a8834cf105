"""Hints about events: one waits in the queue at a time, whatever arrives meanwhile."""

from datetime import timedelta

import pytest
from django.utils import timezone

from config.background import begun, nudge_once
from config.celery import app
from tests.webhooks.conftest import stored
from webhooks import inbox
from webhooks.inbox import PROCESS_EVENTS
from webhooks.models import State

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def queued(monkeypatch):
    """The messages that reached the queue, which no worker takes."""
    messages = []
    app.loader.import_default_modules()
    monkeypatch.setattr(app.tasks[PROCESS_EVENTS], "apply_async", lambda **message: messages.append(message))
    begun(PROCESS_EVENTS)
    yield messages
    begun(PROCESS_EVENTS)


def test_while_a_hint_waits_in_the_queue_no_other_is_put_there(queued):
    for _ in range(3):
        nudge_once(PROCESS_EVENTS)

    assert len(queued) == 1


def test_what_is_committed_after_a_worker_began_to_look_gets_a_hint_of_its_own(queued):
    nudge_once(PROCESS_EVENTS)

    begun(PROCESS_EVENTS)
    nudge_once(PROCESS_EVENTS)

    assert len(queued) == 2


def test_a_hint_that_did_not_reach_the_queue_keeps_no_other_out(queued, monkeypatch):
    def refuse(**message):
        raise OSError

    with monkeypatch.context() as lost:
        lost.setattr(app.tasks[PROCESS_EVENTS], "apply_async", refuse)
        lost.setattr("config.background.BROKER_REST_SECONDS", 0.0)
        nudge_once(PROCESS_EVENTS)

    nudge_once(PROCESS_EVENTS)

    assert len(queued) == 1


def test_a_replay_tells_a_worker_when_it_woke_something(queued):
    done = stored("done", state=State.DONE, finished_at=timezone.now())
    busy = stored("busy", state=State.PROCESSING)

    inbox.replay(ids=[busy.pk])
    assert not queued

    inbox.replay(ids=[done.pk, busy.pk])
    assert len(queued) == 1


def test_the_sweeper_tells_a_worker_only_when_something_is_due(queued):
    stored("later", next_at=timezone.now() + timedelta(minutes=1))
    inbox.sweep()
    assert not queued

    stored("now")
    inbox.sweep()
    assert len(queued) == 1


@pytest.mark.parametrize(("events", "calls"), [(20, 0), (21, 1), (45, 1)])
def test_a_worker_that_has_taken_twenty_events_calls_another(queued, handled_by, events, calls):
    handled_by(lambda fact: None)
    for number in range(events):
        stored(f"e-{number}")

    inbox.drain()

    assert len(queued) == calls


def test_a_worker_whose_turn_is_over_leaves_the_rest_to_another(queued, handled_by):
    taken = []
    handled_by(taken.append)
    stored("e-1")

    inbox.drain(seconds=0)

    assert (taken, len(queued)) == ([], 1)
