"""The inbox: events are stored before they are answered and worked on until they are done or dead.

The database is the queue; a Celery message is only a hint that there is work, so losing the broker costs seconds.

    received --claim--> processing --handled--> done
        ^                   |
        +-- failed, pause --+-- failed for the eighth time --> dead --redelivery or replay--> received

The work goes in rounds (`config.rounds`), and each account has one event in a round.
"""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import orjson
import structlog
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import CharField, Count, DateTimeField, Exists, Min, OuterRef, Q
from django.utils import timezone

from config.background import begun, nudge_once
from config.compiled import CompiledQuery, Key
from config.pruning import in_batches, prune, take_turns
from config.rounds import IN_TURN, NEWEST, Rounds, next_turn, rounds
from webhooks.models import FINISHED, UNFINISHED, SourceName, State, WebhookEvent
from webhooks.sources import SOURCES
from webhooks.sources.base import BadEnvelope, Delivery, Fact, Handler

MOST_ATTEMPTS = 8
FIRST_PAUSE = timedelta(seconds=5)
PAUSE_GROWTH = 3
# A task is killed after a minute (tasks.HARD_LIMIT_SECONDS), so whoever holds an older claim is gone.
LEASE = timedelta(seconds=60)
# A worker takes events for this long, then lets other work have its turn: the status of a pull request, for example.
TURN_SECONDS = 2.0
# After so many events in one turn another worker is called.
MANY = 20
# An event that had to wait for longer says that there is a backlog.
LATE = timedelta(seconds=2)
PROCESS_EVENTS = "webhooks.tasks.process_events"
SQLITE_BREAK_SECONDS = 0.02
LONGEST_ERROR = 1000

_ROUNDS: Rounds = CompiledQuery(
    lambda: rounds(
        due=WebhookEvent.objects.due(Key("now", DateTimeField())),
        waiting=WebhookEvent.objects.filter(
            source=Key("source", CharField()), account=Key("account", CharField()), state__in=UNFINISHED
        ),
    )
)

log = structlog.get_logger("webhooks")


class LeaseLost(Exception):
    """Another worker has taken the event over: nothing that this one did may stay."""


@dataclass(frozen=True)
class Backlog:
    """The state of the inbox at a glance."""

    due: int
    oldest_due_at: datetime | None
    dead: int


# Accepting


def accept(*, source: SourceName, headers: Mapping[str, str], body: bytes) -> bool:
    """Verify a delivery, store its event once, hint at the work after the commit. Returns whether it was known.

    A delivery of a dead event wakes it. Raises BadSignature, BadEnvelope, or Unavailable when the sender's own
    verification cannot be reached; nothing is stored then.
    """
    sender = SOURCES[source]
    delivery = Delivery(headers=headers, body=body)
    sender.verify(delivery)
    envelope = sender.describe(delivery, payload_of(body))
    now = timezone.now()
    event = WebhookEvent(
        source=source,
        event_id=envelope.event_id,
        type=envelope.type,
        subject=envelope.subject,
        account=envelope.account,
        occurred_at=envelope.occurred_at or now,
        next_at=now,
        turn=next_turn(_ROUNDS, now=now, source=source, account=envelope.account),
        body=body,
    )
    try:
        with transaction.atomic():
            event.save(force_insert=True)
            hint()
    except IntegrityError:  # a new row can break one constraint: an event is stored once
        with transaction.atomic():
            if _wake(event):
                hint()
        return True
    return False


def payload_of(body: bytes) -> Mapping[str, Any]:
    """The JSON object in a body; BadEnvelope for everything else."""
    try:
        payload = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadEnvelope("The body is not valid JSON") from error
    if not isinstance(payload, dict):
        raise BadEnvelope("The body must be a JSON object")
    return payload


def _wake(delivered: WebhookEvent) -> bool:
    dead = WebhookEvent.objects.filter(source=delivered.source, event_id=delivered.event_id, state=State.DEAD)
    return bool(dead.update(body=delivered.body, **_fresh()))


def _fresh() -> dict[str, Any]:
    return {"state": State.RECEIVED, "attempts": 0, "next_at": timezone.now(), "lease": None, "finished_at": None}


# Hints


def hint() -> None:
    """Tell a worker after the commit that there is work. It may be lost: the sweeper looks for work anyway."""
    nudge_once(PROCESS_EVENTS)


def sweep() -> None:
    """Hint at what is due: new events whose hint was lost, pauses and claims that ended."""
    if WebhookEvent.objects.due(timezone.now()).exists():
        hint()


# Working


def drain(*, seconds: float = math.inf) -> int:
    """Work on due events one after the other until none is left or the time is over. Returns how many it took.

    Whoever has taken many calls for help. In a backlog every other event is the newest, so that what arrives now need
    not wait for all that its own account sent before.
    """
    begun(PROCESS_EVENTS)
    turn_ends = time.monotonic() + seconds
    count, is_late = 0, False
    while time.monotonic() < turn_ends:
        newest = is_late and count % 2 == 1
        event = claim_next(newest=newest)
        if event is None:
            return count
        if not newest:
            is_late = timezone.now() - event.next_at > LATE
        if count == MANY:
            hint()
        process(event)
        count += 1
        _let_others_write()
    hint()
    return count


def _let_others_write() -> None:
    # SQLite has one write lock, and whoever waits for it sleeps between its tries: without a break they hardly get it.
    if connection.vendor == "sqlite":
        time.sleep(SQLITE_BREAK_SECONDS)


def claim_next(*, newest: bool = False) -> WebhookEvent | None:
    """Take the due event whose turn it is, or the newest, of those whose subject nobody is working on; None without
    one."""
    while True:
        try:
            with transaction.atomic():
                event = _candidates().order_by(*(NEWEST if newest else IN_TURN)).first()
                if event is None or _claim(event):
                    return event
        except IntegrityError:
            # Another worker took another event of this subject in the same instant; its claim is visible now.
            continue


def _candidates() -> Any:
    now = timezone.now()
    others = WebhookEvent.objects.filter(
        state=State.PROCESSING, source=OuterRef("source"), subject=OuterRef("subject")
    ).exclude(pk=OuterRef("pk"))
    candidates = WebhookEvent.objects.due(now).filter(~Exists(others))
    if connection.features.has_select_for_update_skip_locked:
        return candidates.select_for_update(skip_locked=True)
    return candidates


def _claim(event: WebhookEvent) -> bool:
    if connection.vendor == "postgresql":
        # A crash of the database may forget a claim: its holder can then not end the event, and another one takes it.
        # So the claim need not wait for the disk; the end of the event does.
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit TO OFF")
    # On SQLite there are no row locks: the condition decides who wins.
    unchanged = WebhookEvent.objects.filter(pk=event.pk, state=event.state, attempts=event.attempts, lease=event.lease)
    event.state, event.lease, event.attempts = State.PROCESSING, uuid4(), event.attempts + 1
    return bool(
        unchanged.update(state=event.state, lease=event.lease, attempts=event.attempts, next_at=timezone.now() + LEASE)
    )


def process(event: WebhookEvent) -> None:
    """Run the handler of a claimed event. Its changes and `done` are one transaction; a failure is another."""
    if event.attempts > MOST_ATTEMPTS:
        _record_failure(event, RuntimeError(f"The worker was lost {MOST_ATTEMPTS} times"))
        return
    handler = SOURCES[SourceName(event.source)].handlers.get(event.type)
    try:
        _run(event, handler)
    except LeaseLost:
        log.warning("another worker took the event over", event_key=str(event.pk))
    except Exception as error:
        # Whatever a handler raises is kept with the event and tried again: no event may be lost to a fault of ours.
        _record_failure(event, error)
        log.warning("event failed", event_key=str(event.pk), type=event.type, attempts=event.attempts, exc_info=True)


def _run(event: WebhookEvent, handler: Handler | None) -> None:
    arguments = handler.read(fact_of(event)) if handler else None
    with transaction.atomic():
        if handler:
            handler.apply(arguments)
        _end(event, state=State.DONE, handled=handler is not None, error="", finished_at=timezone.now())


def fact_of(event: WebhookEvent) -> Fact:
    """The event as its handler sees it."""
    return Fact(
        source=SourceName(event.source),
        event_id=event.event_id,
        type=event.type,
        occurred_at=event.occurred_at,
        payload=payload_of(bytes(event.body)),
    )


def _record_failure(event: WebhookEvent, error: Exception) -> None:
    sentence = "".join(c for c in f"{type(error).__name__}: {error}" if c.isprintable())[:LONGEST_ERROR]
    now = timezone.now()
    try:
        if event.attempts >= MOST_ATTEMPTS:
            _end(event, state=State.DEAD, error=sentence, finished_at=now)
        else:
            _end(event, state=State.RECEIVED, error=sentence, next_at=now + pause_after(event.attempts))
    except LeaseLost:
        log.warning("another worker took the failed event over", event_key=str(event.pk))


def pause_after(attempts: int) -> timedelta:
    """How long a failed event waits: 5 s, 15 s, 45 s and so on, an hour and a half in all before it is dead."""
    return FIRST_PAUSE * PAUSE_GROWTH ** (attempts - 1)


def _end(event: WebhookEvent, **changes: Any) -> None:
    mine = WebhookEvent.objects.filter(pk=event.pk, state=State.PROCESSING, lease=event.lease)
    if not mine.update(lease=None, **changes):
        raise LeaseLost


# Looking after


def replay(*, ids: Iterable[UUID]) -> int:
    """Run finished events again from the first attempt, on a member of staff's word. Returns how many were woken.

    Events whose body was forgotten, and those still being worked on, stay as they are.
    """
    with transaction.atomic():
        woken = WebhookEvent.objects.filter(pk__in=ids, state__in=FINISHED).exclude(body=b"").update(**_fresh())
        if woken:
            hint()
    return woken


def forget(*, now: datetime) -> bool:
    """Drop the bodies of events that ended a while ago, and events that ended longer ago (RETENTION). Whether more can
    go."""
    finished = WebhookEvent.objects.filter(state__in=FINISHED)
    old = finished.filter(finished_at__lt=now - settings.RETENTION["webhook_events"])
    with_body = finished.filter(~Q(body=b""), finished_at__lt=now - settings.RETENTION["webhook_bodies"])

    def empty(keys: Sequence[UUID]) -> int:
        return WebhookEvent.objects.filter(pk__in=keys).update(body=b"")

    return take_turns(
        events=lambda: prune(old, by="finished_at"), bodies=lambda: in_batches(with_body, empty, by="finished_at")
    )


def backlog() -> Backlog:
    """How much is waiting, since when, and how much has failed for good. Two queries on small indexes."""
    due = WebhookEvent.objects.due(timezone.now()).aggregate(count=Count("pk"), oldest=Min("next_at"))
    dead = WebhookEvent.objects.filter(state=State.DEAD).count()
    return Backlog(due=due["count"], oldest_due_at=due["oldest"], dead=dead)
