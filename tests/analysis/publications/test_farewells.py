"""A repository goes away while commits of it wait for their verdict: their host is told that none will come."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection, connections
from django.utils import timezone

from analysis.models import Platform, Publication, PublicationKind, PublicationState, PullRequest, Repository, Run
from analysis.services import publishing, sending
from analysis.services.repositories import disconnect_repository
from organizations import farewells
from organizations.models import Farewell
from organizations.services import delete_organization
from tests.analysis.publications.conftest import HEAD, Sent, finding, judge, next_run, verdict, waiting_run
from tests.analysis.publications.test_killed_senders import send_and_be_killed
from tests.operations.services import wait_until
from tests.providers.codehosts import CodeHost1, CodeHost2, Host

ENDS = ["disconnected", "organization deleted"]


@pytest.fixture
def pending(host1: CodeHost1, run: Run, sent: Sent) -> CodeHost1:
    """Code host 1, where the head of pull request 12 waits."""
    sent(publishing.announce_queued, run)
    assert host1.shown_on(HEAD) == "pending"
    return host1


def go(run: Run, how: str = "disconnected") -> None:
    repository = run.repository
    if how == "disconnected":
        disconnect_repository(repository=repository)
    else:
        delete_organization(
            organization=repository.organization, actor=repository.organization.memberships.get(role="owner").user
        )
    assert not Repository.objects.filter(pk=repository.pk).exists()


@pytest.fixture
def sweep_later(sent: Sent) -> Callable[[float], None]:
    def sweep(seconds: float) -> None:
        with time_machine.travel(timezone.now() + timedelta(seconds=seconds)):
            sent(lambda: sending.sweep(now=timezone.now()))

    return sweep


@pytest.mark.django_db
class TestAFarewell:
    @pytest.mark.parametrize("how", ENDS)
    def test_lifts_what_waits_at_code_host_1(self, pending: CodeHost1, run: Run, sent: Sent, how: str) -> None:
        sent(go, run, how)

        assert pending.statuses[HEAD][1:] == [
            {
                "context": "technical-debt",
                "state": "success",
                "description": "Not evaluated: this repository is no longer analysed",
                "target_url": "https://debt.example.org",
            }
        ]
        assert not Publication.objects.exists()

    @pytest.mark.parametrize("how", ENDS)
    def test_lifts_what_waits_at_code_host_2_on_the_branch_of_the_request(
        self, host2: CodeHost2, organization: Any, sent: Sent, how: str
    ) -> None:
        host2.branches[HEAD] = ["another", "rates"]
        run = waiting_run(organization, Platform.CODEHOST2)
        PullRequest.objects.update(head_ref="rates", head_full_name="acme/shop")
        run.pull_request.refresh_from_db()
        sent(publishing.announce_queued, run)

        sent(go, run, how)

        assert [(each["ref"], each["state"]) for each in host2.statuses[HEAD]] == [
            ("rates", "pending"),
            ("rates", "success"),
        ]
        assert not Publication.objects.exists()

    def test_is_said_where_a_verdict_was_on_its_way(self, pending: CodeHost1, run: Run, sent: Sent) -> None:
        judge(run, verdict(finding()))
        publishing.announce_verdict(run)  # and the worker is not told

        sent(go, run)

        assert [each["state"] for each in pending.statuses[HEAD]] == ["pending", "success"]
        assert not Publication.objects.exists()

    def test_is_said_on_each_commit_that_waits(self, pending: CodeHost1, run: Run, sent: Sent) -> None:
        Run.objects.filter(pk=run.pk).update(status="running")
        sent(publishing.announce_queued, next_run(run.pull_request, "c" * 40))

        sent(go, run)

        assert (pending.shown_on(HEAD), pending.shown_on("c" * 40)) == ("success", "success")

    @pytest.mark.parametrize(("introduced", "state"), [([finding()], "failure"), ([], "success")])
    def test_is_not_said_over_a_verdict(
        self, host1: CodeHost1, run: Run, sent: Sent, introduced: Any, state: str
    ) -> None:
        judge(run, verdict(*introduced))
        sent(publishing.announce_verdict, run)

        sent(go, run)

        assert [each["state"] for each in host1.statuses[HEAD]] == [state]
        assert not Publication.objects.exists()

    def test_is_not_said_where_nothing_was_said_before(self, host1: CodeHost1, run: Run, sent: Sent) -> None:
        publishing.announce_queued(run)

        sent(go, run)

        assert not host1.asked
        assert not Publication.objects.exists()

    def test_is_said_after_a_status_that_is_being_sent(self, host1: CodeHost1, run: Run, sent: Sent) -> None:
        publishing.announce_queued(run)
        claimed = sending._claim(Publication.objects.get().pk, timezone.now())
        assert claimed is not None
        sent(go, run)
        assert not host1.asked  # one sender at a time: nothing can arrive in the wrong order

        sending._show(claimed)
        sent(lambda: sending._record(claimed, state=PublicationState.SENT, error=""))

        assert [each["state"] for each in host1.statuses[HEAD]] == ["pending", "success"]
        assert not Publication.objects.exists()

    def test_is_not_written_when_the_deletion_fails(
        self, pending: CodeHost1, run: Run, sent: Sent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(organization: Any) -> Any:
            raise InterruptedError

        monkeypatch.setitem(farewells.KINDS, "test.thing", farewells.Kind(note=fail, settle=print))
        with pytest.raises(InterruptedError):
            sent(go, run, "organization deleted")

        (row,) = Publication.objects.all()
        assert (row.state, row.payload["state"], row.repository) == (PublicationState.SENT, "pending", run.repository)
        assert pending.shown_on(HEAD) == "pending"


@pytest.mark.django_db
class TestAHostThatDoesNotHear:
    def test_is_asked_again(self, pending: CodeHost1, run: Run, sent: Sent, sweep_later: Any) -> None:
        pending.mood = "fails"
        sent(go, run)
        assert Publication.objects.get().error == "The code host answered 500"
        pending.mood = "well"

        sweep_later(8)
        assert pending.shown_on(HEAD) == "pending"
        sweep_later(11)

        assert pending.shown_on(HEAD) == "success"
        assert not Publication.objects.exists()

    def test_is_left_alone_after_a_day(self, pending: CodeHost1, run: Run, sent: Sent, sweep_later: Any) -> None:
        pending.mood = "fails"
        sent(go, run)

        sweep_later(sending.GIVEN_UP_AFTER.total_seconds())

        assert not Publication.objects.exists()

    def test_is_left_alone_when_it_has_refused_five_times(self, pending: CodeHost1, run: Run, sent: Sent) -> None:
        """As after the App was taken away."""
        pending.odd = [(403, {"message": "Resource not accessible by integration"})] * 9
        sent(go, run)
        for _ in range(sending.MOST_REFUSALS - 1):
            assert Publication.objects.exists()
            Publication.objects.update(next_at=timezone.now())
            sent(lambda: sending.sweep(now=timezone.now()))

        assert not Publication.objects.exists()
        assert pending.shown_on(HEAD) == "pending"


@pytest.mark.django_db
class TestARepositoryThatIsConnectedAgain:
    @pytest.mark.parametrize(("introduced", "state"), [([finding()], "failure"), ([], "success")])
    def test_keeps_its_new_verdict(
        self, pending: CodeHost1, run: Run, organization: Any, sent: Sent, sweep_later: Any, introduced: Any, state: str
    ) -> None:
        pending.mood = "fails"
        sent(go, run)
        pending.mood = "well"
        again = waiting_run(organization, Platform.CODEHOST1)
        judge(again, verdict(*introduced))
        sent(publishing.announce_verdict, again)

        sweep_later(11)

        assert pending.statuses[HEAD][-1]["description"] != "Not evaluated: this repository is no longer analysed"
        assert pending.shown_on(HEAD) == state
        assert set(Publication.objects.values_list("repository", flat=True)) == {again.repository_id}


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize("platform", [Platform.CODEHOST1, Platform.CODEHOST2])
def test_a_worker_that_is_killed_after_the_hosts_answer_leaves_it_to_the_next(
    platform: Platform, organization: Any, request: pytest.FixtureRequest
) -> None:
    host: Host = request.getfixturevalue("host1" if platform == Platform.CODEHOST1 else "host2")
    run = waiting_run(organization, platform)
    publishing.announce_queued(run)
    sending.send(Publication.objects.get(kind=PublicationKind.STATUS).pk)
    host.mood = "fails"
    go(run)
    (row,) = Publication.objects.all()
    host.mood = "well"

    send_and_be_killed(host, row)
    assert Publication.objects.exists()
    Publication.objects.update(next_at=timezone.now())
    sending.send(row.pk)

    assert {each["state"] for each in host.statuses[HEAD][1:]} == {"success"}
    assert not Publication.objects.exists()
    calls = len(host.asked)
    sending.send(row.pk)
    sending.sweep(now=timezone.now() + timedelta(days=1))
    assert len(host.asked) == calls
    assert not Farewell.objects.exists()


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.skipif("connections['default'].vendor != 'postgresql'", reason="on SQLite only one writes at a time")
def test_no_worker_begins_to_send_what_nobody_would_lift(host1: CodeHost1, run: Run, just_before: Any) -> None:
    host1.mood = "fails"
    publishing.announce_queued(run)
    host1.mood = "well"
    (row,) = Publication.objects.all()
    Publication.objects.update(is_begun=False, attempts=0, next_at=timezone.now())

    def send() -> None:
        sending.send(row.pk)
        connections.close_all()

    sender = threading.Thread(target=send)

    def begin_to_send() -> None:
        sender.start()
        wait_until(lambda: somebody_waits() or not sender.is_alive(), seconds=20)

    with just_before('DELETE FROM "analysis_publication"', begin_to_send):
        go(run)
    sender.join()

    assert not host1.statuses
    assert not Publication.objects.exists()


def somebody_waits() -> bool:
    """For the transaction that is open here."""
    mine = "transactionid = pg_current_xact_id()::xid"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND {mine})")
        return bool(cursor.fetchone()[0])
