"""Transactions that the database gave up for no fault of theirs are run again, at the edge of a service.

PostgreSQL ends one of two transactions that wait for each other; SQLite lets a writer wait for a time only, and serves
those who wait in no order. Both say so with an error after which nothing has happened.
"""

import functools
import random
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import structlog
from django.db import DatabaseError, IntegrityError, OperationalError, connection, transaction

P = ParamSpec("P")
R = TypeVar("R")

MOST_ATTEMPTS = 4
LONGEST_PAUSE_SECONDS = 0.2
# PostgreSQL: serialization failure, deadlock. SQLite has no codes here, only words.
TRANSIENT_STATES = {"40001", "40P01"}
TRANSIENT_WORDS = ("database is locked", "database table is locked")
FULL_STATE, FULL_WORDS = "53100", "database or disk is full"
FOREIGN_KEY_STATE = "23503"

log = structlog.get_logger("database")


def atomic_with_retries(service: Callable[P, R]) -> Callable[P, R]:
    """Run a service in a transaction, and again when the database gave it up, at most four times in all.

    Inside a transaction of the caller it only takes part in it: the caller's edge does the repeating.
    """
    return _repeated(service, is_transient)


def deletes_with_retries(service: Callable[P, R]) -> Callable[P, R]:
    """The same for a service that deletes a row with all below it: it is run again, too, when somebody has added a row
    below in the meantime, which nothing but the end of the transaction sees."""
    return _repeated(service, lambda error: is_transient(error) or _was_added_below(error))


def _repeated(service: Callable[P, R], may_succeed: Callable[[DatabaseError], bool]) -> Callable[P, R]:
    body = transaction.atomic(service)

    @functools.wraps(service)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        attempts = 1 if connection.in_atomic_block else MOST_ATTEMPTS
        for _ in range(attempts - 1):
            try:
                return body(*args, **kwargs)
            except (OperationalError, IntegrityError) as error:
                if not may_succeed(error):
                    raise
                log.info("transaction_repeated", service=service.__name__)
                time.sleep(random.uniform(0, LONGEST_PAUSE_SECONDS))  # noqa: S311 - a pause, no secret
        return body(*args, **kwargs)

    return run


def is_transient(error: DatabaseError) -> bool:
    """The database gave the transaction up, and running it again may well succeed."""
    return _state(error) in TRANSIENT_STATES or any(word in str(error) for word in TRANSIENT_WORDS)


def is_out_of_room(error: DatabaseError) -> bool:
    """The disk of the database is full."""
    return _state(error) == FULL_STATE or FULL_WORDS in str(error)


def _was_added_below(error: DatabaseError) -> bool:
    return _state(error) == FOREIGN_KEY_STATE


def _state(error: DatabaseError) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)
