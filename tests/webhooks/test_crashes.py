"""A process that dies before or after any statement leaves nothing half done: the next one comes to the same end."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from tests.webhooks import deliveries
from tests.webhooks.conftest import note, noted, stored
from webhooks import inbox
from webhooks.models import State, WebhookEvent

pytestmark = pytest.mark.django_db(transaction=True)


class Killed(BaseException):
    """The end of the process: no handler of ordinary exceptions sees it."""


class Executioner:
    """Kills at the n-th statement, before or after the database has run it. Without an n it only counts."""

    def __init__(self, at: int | None = None, *, after: bool = False) -> None:
        self.at, self.after, self.count = at, after, 0

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.count += 1
        if self.count == self.at and not self.after:
            raise Killed
        result = execute(sql, params, many, context)
        if self.count == self.at:
            raise Killed
        return result


def dies(action: Any, executioner: Executioner) -> None:
    """Run until the executioner strikes; then the connection breaks, and with it the open transaction."""
    with pytest.raises(Killed), connection.execute_wrapper(executioner):
        action()
    connection.close()


def later(seconds: int = 61) -> Any:
    """After every claim of the dead process has ended; those of events end first."""
    return time_machine.travel(timezone.now() + timedelta(seconds=seconds))


def statements(action: Any) -> int:
    counter = Executioner()
    with connection.execute_wrapper(counter):
        action()
    return counter.count


@pytest.mark.parametrize("after", [False, True])
def test_a_worker_killed_at_any_statement_applies_the_event_once(handled_by, after):
    handled_by(note)
    stored("e-0")
    total = statements(inbox.drain)
    assert total >= 5

    for number in range(1, total + 1):
        name = f"e-{number}"
        stored(name)
        dies(inbox.drain, Executioner(number, after=after))
        with later():
            inbox.drain()

        event = WebhookEvent.objects.get(event_id=name)
        assert (event.state, noted().count(name)) == (State.DONE, 1), f"killed at statement {number}"


@pytest.mark.parametrize("after", [False, True])
def test_a_web_process_killed_at_any_statement_stores_the_event_or_never_answered(handled_by, settings, after):
    handled_by(note)
    settings.CELERY_TASK_ALWAYS_EAGER = False
    total = statements(lambda: accept("e-0"))
    assert total >= 1

    for number in range(1, total + 1):
        name = f"e-{number}"
        dies(lambda name=name: accept(name), Executioner(number, after=after))
        accept(name)
        inbox.drain()

        assert WebhookEvent.objects.get(event_id=name).state == State.DONE
        assert noted().count(name) == 1, f"killed at statement {number}"


def accept(name: str) -> None:
    signed = deliveries.codehost2("Test Hook", {}, uuid=name)
    inbox.accept(source="codehost2", headers=signed.headers, body=signed.body)
