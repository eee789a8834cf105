"""How work is handed to the worker: a hint after the commit that may get lost without harm."""

import contextlib
import time
from importlib import import_module
from typing import Any

import structlog
from django.core.cache import caches
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from config.celery import app

# After a hint that failed the broker is left alone for a while: one that hangs would slow down every request.
BROKER_REST_SECONDS = 5.0
# A message that is not taken within this time counts as lost.
LONGEST_WAIT_SECONDS = 10
CACHE_AWAY = (RedisError, OSError)

log = structlog.get_logger("background")


class _Broker:
    rests_until = 0.0


def nudge(task: str, *ids: str, queue: str | None = None) -> None:
    """Queue a task by name once the present transaction is committed, in its own queue or the one that is named.

    The row that the ids name is the truth and a sweeper finds it: a broker that is away costs time, never the request.
    """
    transaction.on_commit(lambda: _queue(task, ids, queue))


def nudge_once(task: str) -> None:
    """As `nudge`, for a task that takes whatever there is: while one waits in the queue, no other is put there.

    The task says `begun` before it looks for work, so what is committed after its look finds the way free.
    """
    transaction.on_commit(lambda: _queue_once(task))


def begun(task: str) -> None:
    """The task that `nudge_once` has queued waits no longer."""
    with contextlib.suppress(*CACHE_AWAY):  # the mark ends by itself
        caches["hints"].delete(task)


def drop_queue(name: str) -> None:
    """Remove a queue to which nobody listens any more, with all that lies in it."""
    with contextlib.suppress(OperationalError, OSError), app.connection_for_write() as connection:
        queue = app.amqp.queues[name].bind(connection.default_channel)
        queue.declare()  # a channel deletes the bindings that it knows of
        queue.delete()


def _queue_once(task: str) -> None:
    if time.monotonic() < _Broker.rests_until:
        return
    with contextlib.suppress(*CACHE_AWAY):
        if not caches["hints"].add(task, 1, timeout=LONGEST_WAIT_SECONDS):
            return
    if not _queue(task, (), None):
        begun(task)


def _queue(task: str, ids: tuple[str, ...], queue: str | None) -> bool:
    if time.monotonic() < _Broker.rests_until:
        return False
    # Only a worker imports all tasks at its start, and only the main thread has our application as its current one.
    import_module(task.rpartition(".")[0])
    try:
        options: dict[str, Any] = {"queue": queue} if queue else {}
        app.tasks[task].apply_async(args=ids, retry=False, **options)
    except (OperationalError, OSError) as error:
        _Broker.rests_until = time.monotonic() + BROKER_REST_SECONDS
        log.warning("the broker is away; the sweeper will find the work", task=task, error=type(error).__name__)
        return False
    return True
