"""How work is handed to the worker: a hint after the commit that may get lost without harm."""

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

log = structlog.get_logger("background")


def nudge(task: str, *ids: str) -> None:
    """Queue a task by name once the present transaction is committed.

    The row that the ids name is the truth and a sweeper finds it: a broker that is away costs time, never the request.
    """
    transaction.on_commit(lambda: _queue(task, ids))


def _queue(task: str, ids: tuple[str, ...]) -> None:
    try:
        current_app.tasks[task].apply_async(args=ids, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("the broker is away; the sweeper will find the work", task=task, error=type(error).__name__)
