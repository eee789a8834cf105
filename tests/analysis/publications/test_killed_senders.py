"""A worker is killed between the host's answer and its record: what it did is found again, not done twice."""

import os
import signal

import pytest
from django.db import connections
from django.utils import timezone

from analysis.models import Publication, PublicationKind, PublicationState, Run
from analysis.services import publishing, sending
from tests.analysis.publications.conftest import HEAD, finding, judge, verdict
from tests.providers.codehosts import CodeHost1, Host

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


@pytest.fixture
def waiting(host1: CodeHost1, run: Run) -> CodeHost1:
    """A verdict with 60 findings was announced, and nothing of it has arrived."""
    host1.mood = "fails"
    judge(run, verdict(*(finding(line=line) for line in range(1, 61))))
    publishing.announce_verdict(run)
    host1.mood = "well"
    return host1


def send_and_be_killed(host: Host, row: Publication) -> None:
    """In a process of its own, which dies when the host has done what the first call that changes something asked."""
    Publication.objects.filter(pk=row.pk).update(next_at=timezone.now())
    connections.close_all()
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(ready, 1)
        sending.send(row.pk)
        os._exit(0)
    host.kills_after_write = child
    os.write(go, b"!")
    _, status = os.waitpid(child, 0)
    os.close(ready)
    os.close(go)
    assert os.WTERMSIG(status) == signal.SIGKILL


@pytest.mark.parametrize("kind", PublicationKind.values)
def test_nothing_is_said_twice(waiting: CodeHost1, kind: str) -> None:
    row = Publication.objects.get(kind=kind)
    for _ in range(2):
        send_and_be_killed(waiting, row)
        row.refresh_from_db()
        assert row.state == PublicationState.WAITING

    Publication.objects.filter(pk=row.pk).update(next_at=timezone.now())
    sending.send(row.pk)

    row.refresh_from_db()
    assert row.state == PublicationState.SENT
    if kind == PublicationKind.STATUS:
        assert {each["state"] for each in waiting.statuses[HEAD]} == {"failure"}
    elif kind == PublicationKind.COMMENT:
        assert len(waiting.comments) == 1
    else:
        (check_run,) = waiting.check_runs.values()
        assert sorted(each["start_line"] for each in check_run["annotations"]) == list(range(1, 61))
