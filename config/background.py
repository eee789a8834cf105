"""How work is handed to the worker: a hint after the commit that may get lost without harm."""

import time
from importlib import import_module

import structlog
from django.db import transaction
from kombu.exceptions import OperationalError

from config.celery import app

# After a hint that failed the broker is left alone for a while: one that hangs would slow down every request.
BROKER_REST_SECONDS = 5.0

log = structlog.get_logger("background")


class _Broker:
    rests_until = 0.0


def nudge(task: str, *ids: str) -> None:
    """Queue a task by name once the present transaction is committed.

    The row that the ids name is the truth and a sweeper finds it: a broker that is away costs time, never the request.
    """
    transaction.on_commit(lambda: _queue(task, ids))


def _queue(task: str, ids: tuple[str, ...]) -> None:
    if time.monotonic() < _Broker.rests_until:
        return
    # Only a worker imports all tasks at its start, and only the main thread has our application as its current one.
    import_module(task.rpartition(".")[0])
    try:
        app.tasks[task].apply_async(args=ids, retry=False)
    except (OperationalError, OSError) as error:
        _Broker.rests_until = time.monotonic() + BROKER_REST_SECONDS
        log.warning("the broker is away; the sweeper will find the work", task=task, error=type(error).__name__)
