"""What becomes of an event after it was stored: worked on once, tried again, given up, woken."""

from datetime import timedelta
from uuid import uuid4

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.webhooks import deliveries
from tests.webhooks.conftest import note, noted, stored
from webhooks import inbox, tasks
from webhooks.models import State, WebhookEvent

pytestmark = pytest.mark.django_db

CLAIM = 'UPDATE "webhooks_webhookevent"'
PAUSES = [5, 15, 45, 135, 405, 1215, 3645]


class Trouble(Exception):
    """What a failing handler raises in these tests."""


def fails(fact):
    note(fact)
    raise Trouble(f"no luck with\x00 {fact.event_id}\n")


class TestWorking:
    def test_a_handled_event_is_done_and_its_change_stays(self, handled_by):
        handled_by(note)
        stored("e-1")

        assert inbox.drain() == 1

        event = WebhookEvent.objects.get()
        assert (event.state, event.handled, event.attempts, event.lease) == (State.DONE, True, 1, None)
        assert event.finished_at is not None
        assert noted() == ["e-1"]

    def test_the_handler_sees_payload_and_time_of_the_event(self, handled_by):
        seen = []
        handled_by(seen.append)
        deliveries.codehost2(
            "Test Hook", {"object_attributes": {"updated_at": "2026-11-01T10:00:00Z"}, "a": 1}, uuid="e-1"
        ).send()

        inbox.drain()

        (fact,) = seen
        assert (fact.event_id, fact.type, fact.payload["a"]) == ("e-1", "Test Hook", 1)
        assert fact.occurred_at.isoformat() == "2026-11-01T10:00:00+00:00"

    def test_events_are_taken_in_the_order_in_which_they_became_due(self, handled_by):
        handled_by(note)
        now = timezone.now()
        for age in (1, 3, 2):
            stored(f"e-{age}", next_at=now - timedelta(seconds=age))

        taken = [inbox.claim_next().event_id for _ in range(3)]

        assert taken == ["e-3", "e-2", "e-1"]
        assert inbox.claim_next() is None

    def test_in_a_backlog_what_arrives_now_does_not_wait_for_all_that_came_before(self, handled_by):
        taken = []
        handled_by(lambda fact: taken.append(fact.event_id))
        now = timezone.now()
        for age in (64, 63, 62, 61):
            stored(f"old-{age}", next_at=now - timedelta(seconds=age))
        stored("new", next_at=now)

        inbox.drain()

        assert taken == ["old-64", "new", "old-63", "old-61", "old-62"]

    def test_a_second_event_of_a_subject_waits_for_the_first(self, handled_by):
        handled_by(note)
        for name in ("e-1", "e-2"):
            stored(name, subject="sub_1")
        stored("e-3", subject="sub_2")

        first, other = inbox.claim_next(), inbox.claim_next()

        assert (first.event_id, other.event_id) == ("e-1", "e-3")
        assert inbox.claim_next() is None
        inbox.process(first)
        assert inbox.claim_next().event_id == "e-2"

    def test_an_event_that_another_worker_claims_first_is_left_to_it(self, just_before):
        first, second = stored("e-1"), stored("e-2")

        def claim():
            taken = {"state": State.PROCESSING, "lease": uuid4(), "attempts": 1}
            WebhookEvent.objects.filter(pk=first.pk).update(next_at=timezone.now() + inbox.LEASE, **taken)

        with just_before(CLAIM, claim):
            assert inbox.claim_next() == second

    def test_workers_pass_over_what_another_one_is_about_to_claim(self):
        if not connection.features.has_select_for_update_skip_locked:
            pytest.skip("SQLite has no row locks: the condition of the claim decides")
        stored("e-1")

        with CaptureQueriesContext(connection) as queries:
            inbox.claim_next()

        assert any(query["sql"].endswith("FOR UPDATE SKIP LOCKED") for query in queries.captured_queries)

    def test_who_loses_the_race_for_a_subject_looks_again(self, just_before):
        first, second = (stored(name, subject="sub_1") for name in ("e-1", "e-2"))
        rival = WebhookEvent.objects.filter(pk=second.pk)

        with just_before(CLAIM, lambda: rival.update(state=State.PROCESSING)):
            # Here the rival's claim goes back together with ours, so that the event is free again.
            assert inbox.claim_next() == first

    def test_the_same_subject_of_another_source_does_not_wait(self):
        stored("e-1", subject="s")
        deliveries.cardpay("invoice.paid", thing={"subscription": "s"}).send()

        assert inbox.claim_next() is not None
        assert inbox.claim_next() is not None

    def test_what_read_returns_is_what_apply_gets(self, handled_by):
        seen = []
        handled_by(seen.append, read=lambda fact: f"facts of {fact.event_id}")
        stored("e-1")

        inbox.drain()

        assert seen == ["facts of e-1"]

    def test_read_runs_outside_the_transaction_and_apply_inside(self, handled_by):
        depth = []

        def look(fact):
            depth.append(len(connection.savepoint_ids))
            return fact

        handled_by(look, read=look)
        stored("e-1")

        inbox.drain()

        assert depth[1] == depth[0] + 1


class TestFailing:
    def test_a_failure_takes_its_changes_back_and_is_kept(self, handled_by):
        handled_by(fails)
        stored("e-1")

        inbox.drain()

        event = WebhookEvent.objects.get()
        assert (event.state, event.attempts, event.error) == (State.RECEIVED, 1, "Trouble: no luck with e-1")
        assert noted() == []

    def test_of_a_long_error_the_beginning_is_kept(self, handled_by):
        def fails_at_length(fact):
            raise Trouble("no luck " * 1000)

        handled_by(fails_at_length)
        stored("e-1")

        inbox.drain()

        error = WebhookEvent.objects.get().error
        assert (error[:16], len(error)) == ("Trouble: no luck", 1000)

    def test_the_pauses_grow_and_the_eighth_failure_is_the_last(self, handled_by):
        handled_by(fails)
        stored("e-1")
        pauses = []
        with time_machine.travel(timezone.now(), tick=False) as clock:
            for _ in range(8):
                assert inbox.drain() == 1
                event = WebhookEvent.objects.get()
                pauses.append((event.next_at - timezone.now()).total_seconds())
                clock.shift(event.next_at - timezone.now() - timedelta(milliseconds=1))
                assert inbox.drain() == 0
                clock.shift(timedelta(milliseconds=1))

        assert pauses[:7] == PAUSES
        assert (event.state, event.attempts, event.error) == (State.DEAD, 8, "Trouble: no luck with e-1")

    def test_an_event_that_succeeds_later_is_done_without_an_error(self, handled_by):
        stored("e-1")
        handled_by(fails)
        inbox.drain()
        handled_by(note)

        with time_machine.travel(timezone.now() + timedelta(seconds=6)):
            inbox.drain()

        event = WebhookEvent.objects.get()
        assert (event.state, event.attempts, event.error) == (State.DONE, 2, "")
        assert noted() == ["e-1"]

    def test_a_failing_subject_delays_only_itself(self, handled_by, figure):
        good = figure(c=200, s=1_000, of="good events")
        handled_by(lambda fact: fails(fact) if fact.event_id.startswith("poison") else note(fact))
        for number in range(good):
            stored(f"good-{number}")
            if number % (good // 5) == 0:
                stored(f"poison-{number}")

        with time_machine.travel(timezone.now(), tick=False) as clock:
            assert inbox.drain() == good + 5
            assert WebhookEvent.objects.filter(state=State.DONE).count() == good
            for pause in PAUSES:
                clock.shift(timedelta(seconds=pause))
                assert inbox.drain() == 5

        assert set(WebhookEvent.objects.filter(state=State.DEAD).values_list("event_id", flat=True)) == {
            f"poison-{number}" for number in range(0, good, good // 5)
        }
        assert len(noted()) == good

    def test_a_failure_while_reading_counts_like_any_other(self, handled_by):
        handled_by(note, read=fails)
        stored("e-1")

        inbox.drain()

        assert WebhookEvent.objects.get().attempts == 1


class TestLosingTheWorker:
    def test_a_claim_ends_after_a_minute_and_is_taken_over(self, handled_by):
        handled_by(note)
        stored("e-1")
        with time_machine.travel(timezone.now(), tick=False) as clock:
            inbox.claim_next()

            clock.shift(timedelta(seconds=59.999))
            assert inbox.drain() == 0
            clock.shift(timedelta(milliseconds=1))
            assert inbox.drain() == 1

        assert (WebhookEvent.objects.get().state, noted()) == (State.DONE, ["e-1"])

    def test_a_worker_that_comes_back_late_changes_nothing(self, handled_by):
        handled_by(note)
        stored("e-1")
        late = inbox.claim_next()
        with time_machine.travel(timezone.now() + timedelta(seconds=61)):
            inbox.drain()

            inbox.process(late)

        assert noted() == ["e-1"]

    def test_a_worker_that_fails_late_changes_nothing(self, handled_by):
        stored("e-1")
        late = inbox.claim_next()
        with time_machine.travel(timezone.now() + timedelta(seconds=61)):
            handled_by(note)
            inbox.drain()
            handled_by(fails)

            inbox.process(late)

        assert (WebhookEvent.objects.get().state, WebhookEvent.objects.get().error) == (State.DONE, "")

    def test_an_event_that_kills_its_worker_eight_times_is_given_up(self, handled_by):
        handled_by(note)
        stored("e-1", state=State.PROCESSING, attempts=8, lease=uuid4(), next_at=timezone.now() - timedelta(seconds=1))

        inbox.drain()

        event = WebhookEvent.objects.get()
        assert (event.state, event.error) == (State.DEAD, "RuntimeError: The worker was lost 8 times")
        assert noted() == []

    def test_a_claim_outlives_the_task_that_holds_it(self):
        assert timedelta(seconds=tasks.HARD_LIMIT_SECONDS) <= inbox.LEASE
        assert inbox.TURN_SECONDS < tasks.SOFT_LIMIT_SECONDS < tasks.HARD_LIMIT_SECONDS


class TestWaking:
    def test_a_delivery_of_a_dead_event_wakes_it(self, handled_by):
        handled_by(note)
        stored("e-1", state=State.DEAD, attempts=8, error="Trouble", finished_at=timezone.now())

        answer = deliveries.codehost2("Test Hook", {}, uuid="e-1").send().json()
        inbox.drain()

        assert answer == {"received": True, "duplicate": True}
        event = WebhookEvent.objects.get()
        assert (event.state, event.attempts, event.error, noted()) == (State.DONE, 1, "", ["e-1"])

    @pytest.mark.parametrize("state", [State.DONE, State.RECEIVED, State.PROCESSING])
    def test_a_delivery_of_any_other_event_changes_nothing(self, state):
        before = stored("e-1", state=state, attempts=3, next_at=timezone.now() + timedelta(hours=1))

        deliveries.codehost2("Test Hook", {}, uuid="e-1").send()

        after = WebhookEvent.objects.get()
        assert (after.state, after.attempts, after.next_at) == (state, 3, before.next_at)

    @pytest.mark.parametrize("state", [State.DONE, State.DEAD])
    def test_staff_may_run_an_ended_event_again(self, handled_by, state):
        handled_by(note)
        event = stored("e-1", state=state, attempts=8, finished_at=timezone.now())

        assert inbox.replay(ids=[event.pk]) == 1
        inbox.drain()

        assert (WebhookEvent.objects.get().state, WebhookEvent.objects.get().attempts) == (State.DONE, 1)
        assert noted() == ["e-1"]

    def test_an_event_being_worked_on_or_without_a_body_is_not_replayed(self):
        busy = stored("e-1", state=State.PROCESSING)
        forgotten = stored("e-2", state=State.DEAD)
        WebhookEvent.objects.filter(pk=forgotten.pk).update(body=b"")

        assert inbox.replay(ids=[busy.pk, forgotten.pk]) == 0


class TestOrder:
    @pytest.mark.parametrize(
        ("waited", "order"),
        [(2, ["e-0", "e-1", "e-2", "e-3"]), (2.01, ["e-0", "e-3", "e-1", "e-2"])],
        ids=["the oldest first", "after two seconds every other is the newest"],
    )
    def test_events_are_taken_in_turn(self, handled_by, waited, order):
        taken = []
        handled_by(lambda fact: taken.append(fact.event_id))
        with time_machine.travel(timezone.now(), tick=False):
            for number in range(4):
                stored(f"e-{number}", next_at=timezone.now() - timedelta(seconds=waited - number / 1000))

            inbox.drain()

        assert taken == order

    def test_the_flood_of_one_account_stands_behind_what_others_send(self, handled_by):
        taken = []
        handled_by(lambda fact: taken.append(fact.payload["project"]["path_with_namespace"]))
        flood, more = ["flood/shop"] * 3, ["Flood/other"] * 2
        for name in (*flood, "calm/shop", *more, "calm/docs", "third/app"):
            deliver(name)

        inbox.drain()

        assert taken == ["flood/shop", "calm/shop", "third/app", "flood/shop", "calm/docs", "flood/shop", *more]

    def test_who_comes_late_to_a_flood_has_a_turn_at_once(self, handled_by):
        for _ in range(9):
            deliver("flood/shop")
        taken = [inbox.claim_next() for _ in range(5)]
        deliver("calm/shop", uuid="calm")
        deliver("calm/shop", uuid="calm again")

        taken = [inbox.claim_next().event_id for _ in range(4)]

        assert (taken.index("calm"), taken.index("calm again")) == (1, 3)

    def test_a_flood_that_was_worked_off_is_forgotten(self, handled_by):
        handled_by(note)
        for _ in range(30):
            deliver("flood/shop")
        inbox.drain()

        deliver("flood/shop")

        assert WebhookEvent.objects.latest("created_at").turn == 0

    def test_a_failed_event_does_not_wait_for_all_that_came_later(self, handled_by):
        handled_by(fails)
        deliver("calm/shop", uuid="failed")
        inbox.drain()
        for _ in range(3):
            deliver("calm/shop")
        WebhookEvent.objects.filter(event_id="failed").update(next_at=timezone.now())

        assert "failed" in [inbox.claim_next().event_id for _ in range(2)]

    @given(senders=st.lists(st.sampled_from("abc"), max_size=25))
    @settings(deadline=None, max_examples=30)
    def test_whoever_sends_what_each_account_is_served_in_turn_and_in_its_own_order(self, senders):
        WebhookEvent.objects.all().delete()
        with time_machine.travel(timezone.now(), tick=False):
            for number, sender in enumerate(senders):
                deliver(f"{sender}/shop", uuid=f"{sender}{number:02}")
            taken = [event.event_id for event in iter(inbox.claim_next, None)]

        turns = {event_id: sum(other[0] == event_id[0] for other in taken[:at]) for at, event_id in enumerate(taken)}
        assert [turns[event_id] for event_id in taken] == sorted(turns.values())
        for sender in "abc":
            own = [event_id for event_id in taken if event_id.startswith(sender)]
            assert own == sorted(own)


def deliver(full_name: str, *, uuid: str | None = None) -> None:
    payload = {"project": {"path_with_namespace": full_name}}
    deliveries.codehost2("Test Hook", payload, uuid=uuid or f"u-{WebhookEvent.objects.count()}").send()


class TestSweeping:
    def test_the_sweeper_finds_what_no_hint_told_of(self, handled_by, django_capture_on_commit_callbacks):
        handled_by(note)
        stored("new")
        stored("failed", state=State.RECEIVED, attempts=2, next_at=timezone.now() - timedelta(seconds=1))
        stored("lost", state=State.PROCESSING, attempts=1, next_at=timezone.now() - timedelta(seconds=1))
        stored("pausing", next_at=timezone.now() + timedelta(seconds=9))

        with django_capture_on_commit_callbacks(execute=True):
            tasks.sweep_events.delay()

        assert noted() == ["failed", "lost", "new"]

    def test_every_timetable_entry_names_a_task(self, settings):
        from config.celery import app

        names = {entry["task"] for name, entry in settings.CELERY_BEAT_SCHEDULE.items() if name.startswith("webhooks")}

        assert names == {tasks.sweep_events.name, tasks.forget_events.name}
        assert names <= set(app.tasks)


class TestForgetting:
    @pytest.mark.parametrize(
        ("state", "days", "left"),
        [
            (State.DONE, 29, b"{}"),
            (State.DONE, 31, b""),
            (State.DEAD, 31, b""),
            (State.DONE, 91, None),
            (State.DEAD, 91, None),
        ],
    )
    def test_bodies_go_after_30_days_and_events_after_90(self, state, days, left):
        stored("e-1", state=state, finished_at=timezone.now() - timedelta(days=days))

        tasks.forget_events.delay()

        event = WebhookEvent.objects.first()
        assert (bytes(event.body) if event else None) == left

    def test_an_unfinished_event_is_never_forgotten(self):
        stored("e-1")
        with time_machine.travel(timezone.now() + timedelta(days=400)):
            tasks.forget_events.delay()

        assert bytes(WebhookEvent.objects.get().body) == b"{}"

    def test_a_known_event_stays_known_without_its_body(self):
        stored("e-1", state=State.DONE, finished_at=timezone.now() - timedelta(days=60))
        tasks.forget_events.delay()

        assert deliveries.codehost2("Test Hook", {}, uuid="e-1").send().json()["duplicate"] is True


class TestBacklog:
    def test_it_tells_what_waits_since_when_and_what_is_dead(self):
        oldest = stored("e-1", next_at=timezone.now() - timedelta(seconds=9))
        stored("e-2")
        stored("e-3", next_at=timezone.now() + timedelta(hours=1))
        stored("e-4", state=State.DEAD)
        stored("e-5", state=State.DONE)

        assert inbox.backlog() == inbox.Backlog(due=2, oldest_due_at=oldest.next_at, dead=1)

    def test_an_empty_inbox_has_none(self):
        assert inbox.backlog() == inbox.Backlog(due=0, oldest_due_at=None, dead=0)
        assert not Session.objects.exists()
