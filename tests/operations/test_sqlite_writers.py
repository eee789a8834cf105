"""Transactions on SQLite wait for the write lock with even chances, and give up in time."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection, connections, transaction

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL lets many write at once"),
]


@contextmanager
def another_writer(seconds: float) -> Iterator[None]:
    """Another connection holds the write lock for so long."""
    holds = threading.Event()

    def write() -> None:
        with transaction.atomic():
            holds.set()
            time.sleep(seconds)
        connections.close_all()

    writer = threading.Thread(target=write)
    writer.start()
    assert holds.wait(10)
    try:
        yield
    finally:
        writer.join()


def busy_timeout() -> int:
    with connection.cursor() as cursor:
        return cursor.execute("PRAGMA busy_timeout").fetchone()[0]


def test_a_transaction_begins_once_the_other_has_ended() -> None:
    began = time.monotonic()
    with another_writer(0.3), transaction.atomic():
        assert time.monotonic() - began >= 0.3


def test_a_transaction_that_waits_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.1)
    with another_writer(1.5):
        began = time.monotonic()
        with pytest.raises(OperationalError, match="database is locked"), transaction.atomic():
            pass
        assert 0.1 <= time.monotonic() - began < 1.5
        assert busy_timeout() == 100


def test_a_statement_outside_transactions_waits_as_before() -> None:
    with transaction.atomic():
        pass

    assert busy_timeout() == 20_000
