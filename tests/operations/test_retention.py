"""What is kept for how long: old rows go in batches, what is still shown or in use stays."""

import zlib
from datetime import date, datetime, timedelta
from typing import Any

import orjson
import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Letter, Session
from accounts.services.upkeep import clear_ended
from analysis.models import (
    BlobFacts,
    DayStanding,
    Publication,
    PullRequest,
    Repository,
    Run,
    ScanInputs,
    ScanReport,
    Snapshot,
    Violation,
)
from analysis.services.facts import stored_facts
from analysis.services.retention import prune_days, prune_results
from config import pruning
from config.models import first_id_at, new_id
from credits.models import CreditAccount, CreditEntry, Reservation
from credits.services import prune_reservations
from organizations import retention
from organizations.models import AuditEntry
from webhooks import inbox
from webhooks.models import WebhookEvent
from webhooks.tasks import forget_events

pytestmark = pytest.mark.django_db

NOW = timezone.now()
TODAY = NOW.date()


def days(number: float) -> timedelta:
    return timedelta(days=number)


@pytest.fixture
def repository(organization: Any) -> Repository:
    return Repository.objects.create(
        organization=organization, full_name="acme/shop", platform="git", clone_url="https://example.org/a.git"
    )


class TestRuns:
    def test_old_ones_go_but_the_first_and_the_one_whose_report_is_shown_stay(self, repository):
        first, middle, shown = (run(repository, days(age)) for age in (400, 399, 300))
        unfinished = run(repository, days(200), finished_at=None)
        recent = run(repository, days(10))
        show(repository, first_run=first, report=report(shown))

        prune_results(now=NOW)

        assert set(Run.objects.all()) == {first, shown, unfinished, recent}
        assert not Run.objects.filter(pk=middle.pk).exists()

    def test_a_time_longer_than_there_have_been_ids_keeps_all_of_them(self, repository, settings):
        settings.RETENTION = dict.fromkeys(settings.RETENTION, days(36_500))
        old = run(repository, days(4000))

        prune_results(now=NOW)

        assert set(Run.objects.all()) == {old}


class TestReports:
    def test_one_that_was_superseded_keeps_its_figures_and_loses_its_documents(self, repository):
        first, old, shown = (report(run(repository, days(age)), days(age)) for age in (3, 2, 1))
        show(repository, first_run=first.run, report=shown)

        prune_results(now=NOW)

        first, old, shown = (ScanReport.objects.get(pk=each.pk) for each in (first, old, shown))
        assert (bytes(old.graph), old.hotspots, old.aliases, old.health_score) == (b"", [], {}, 70)
        assert (bytes(first.graph), first.hotspots, first.top_hotspots) == (b"", [], ["a hotspot"])
        assert (bytes(shown.graph), shown.hotspots) == (b"graph", ["a hotspot"])

    def test_for_an_hour_it_keeps_them_for_who_is_reading(self, repository):
        old, shown = (report(run(repository, days(1)), age) for age in (timedelta(minutes=50), days(0)))
        show(repository, first_run=old.run, report=shown)

        prune_results(now=NOW)

        assert bytes(ScanReport.objects.get(pk=old.pk).graph) == b"graph"


class TestViolations:
    def test_go_a_year_after_they_were_resolved(self, repository):
        kept = [violation(repository, "a"), violation(repository, "b", resolved=days(364))]
        violation(repository, "c", resolved=days(366))

        prune_results(now=NOW)

        assert set(Violation.objects.all()) == set(kept)

    def test_those_that_the_first_scan_lists_stay(self, repository):
        listed = violation(repository, "a", resolved=days(800))
        first = report(run(repository, days(900)), top_violations=[str(listed.pk)])
        show(repository, first_run=first.run, report=first)

        prune_results(now=NOW)

        assert Violation.objects.get() == listed


class TestDays:
    def test_snapshots_go_after_two_years(self, repository):
        snapshot(repository, TODAY - days(731))
        snapshot(repository, TODAY - days(729))

        prune_days(today=TODAY)

        assert [each.day for each in Snapshot.objects.all()] == [TODAY - days(729)]

    @pytest.mark.parametrize("history_days", [0, 1000])
    def test_what_the_next_scan_would_fill_again_stays(self, repository, settings, history_days):
        settings.HISTORY_DAYS = history_days
        snapshot(repository, TODAY - days(900))

        prune_days(today=TODAY)

        assert Snapshot.objects.count() == 1

    def test_a_whole_standing_stays_while_a_difference_rests_on_it(self, repository):
        standing(repository, 300)
        standing(repository, 200)
        standing(repository, 150, base=200)
        standing(repository, 90, base=200)

        prune_days(today=TODAY)

        assert sorted((TODAY - each.day).days for each in DayStanding.objects.all()) == [90, 200]


class TestFacts:
    def test_go_when_no_scan_has_used_them_for_ninety_days(self, repository):
        facts("unused", used=days(91))
        facts("recent", used=days(89))

        prune_results(now=NOW)

        assert [row.blob for row in BlobFacts.objects.all()] == ["recent"]

    def test_those_of_the_last_scan_stay_however_long_ago_it_was(self, repository):
        facts("in the tree", used=days(400))
        facts("of another extractor", used=days(400), version="older")
        scan_inputs(repository, ["in the tree", "of another extractor"], age=days(400))

        prune_results(now=NOW)
        prune_results(now=NOW + days(200))

        assert [row.blob for row in BlobFacts.objects.all()] == ["in the tree"]

    def test_a_scan_that_reads_them_marks_them_as_used(self):
        facts("old", used=days(31))
        facts("fresh", used=days(29))

        list(stored_facts([("old", "python"), ("fresh", "python")]))

        assert dict(BlobFacts.objects.values_list("blob", "used_on")) == {"old": TODAY, "fresh": TODAY - days(29)}


def test_publications_on_closed_pull_requests_go_after_half_a_year(repository):
    closed, opened = pull_request(repository, 1, is_open=False), pull_request(repository, 2, is_open=True)
    publication(closed, days(200))
    kept = [
        publication(closed, days(100)),
        publication(opened, days(200)),
        publication(closed, days(200), state="waiting"),
    ]

    prune_results(now=NOW)

    assert set(Publication.objects.all()) == set(kept)


def test_audit_lines_go_after_two_years(organization):
    for age in (731, 729):
        AuditEntry.objects.create(id=id_of(days(age)), organization=organization, action="x")

    retention.prune(now=NOW)

    assert AuditEntry.objects.get().pk == id_of(days(729))


def test_reservations_go_when_they_are_over_and_entries_never_do(organization):
    account, _ = CreditAccount.objects.get_or_create(organization=organization)
    for key, state in (("a", "settled"), ("b", "held")):
        made = Reservation.objects.create(
            id=id_of(days(100), key), account=account, operation="ai_scan_summary", credits=5, held=0, key=key,
            state=state,
        )  # fmt: skip
        Reservation.objects.filter(pk=made.pk).update(updated_at=NOW - days(100))
    entries = CreditEntry.objects.count()

    prune_reservations(now=NOW)

    assert [each.state for each in Reservation.objects.all()] == ["held"]
    assert CreditEntry.objects.count() == entries


def test_sessions_and_letters_go_a_month_after_their_end(owner):
    session(owner, days(31))
    kept = session(owner, days(29))
    letter = Letter.objects.create(id=id_of(days(40)), kind="x", key="x", recipient="a@example.org", due_at=None)
    Letter.objects.filter(pk=letter.pk).update(updated_at=NOW - days(31))

    clear_ended()

    assert list(Session.objects.filter(user=owner)) == [kept]
    assert not Letter.objects.exists()


class TestBatches:
    def test_more_than_a_batch_goes_in_one_turn(self, monkeypatch):
        monkeypatch.setattr(pruning, "BATCH", 3)
        events(10)

        inbox.forget(now=NOW)

        assert not WebhookEvent.objects.exists()

    def test_a_turn_that_is_over_leaves_the_rest_to_the_next_one(self, monkeypatch):
        monkeypatch.setattr(pruning, "BATCH", 3)
        events(10)
        rows = WebhookEvent.objects.all()

        assert [pruning.prune(rows, seconds=0), pruning.prune(rows, seconds=60)] == [(0, True), (10, False)]

    @pytest.mark.django_db(transaction=True)
    def test_a_task_goes_on_turn_by_turn_until_nothing_is_left(self, monkeypatch):
        monkeypatch.setattr(pruning, "BATCH", 3)
        monkeypatch.setattr(pruning, "TURN_SECONDS", 0.01)
        monkeypatch.setattr(pruning, "BREAK_SECONDS", 0.02)
        events(10)

        forget_events.delay()

        assert not WebhookEvent.objects.exists()

    def test_rows_that_have_to_stay_are_no_reason_for_another_round(self):
        assert not pruning.take_turns(kept=lambda: pruning.Turn(0, is_cut=True), gone=lambda: pruning.Turn(9))
        assert pruning.take_turns(some=lambda: pruning.Turn(1, is_cut=True))

    def test_a_kind_that_fails_keeps_no_other_from_its_turn(self):
        events(3)

        def fail() -> pruning.Turn:
            raise ValueError("a row that nobody thought of")

        pruning.take_turns(odd=fail, events=lambda: pruning.prune(WebhookEvent.objects.all()))

        assert not WebhookEvent.objects.exists()

    def test_what_cannot_go_is_met_once(self, monkeypatch):
        monkeypatch.setattr(pruning, "BATCH", 3)
        events(10)
        met: list[Any] = []

        def keep_all(keys: Any) -> int:
            met.extend(keys)
            return 0

        pruning.in_batches(WebhookEvent.objects.all(), keep_all, by="finished_at")

        assert sorted(met) == sorted(WebhookEvent.objects.values_list("pk", flat=True))


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_rows_that_somebody_works_on_are_passed_over(run_beside):
    events(2)
    held = WebhookEvent.objects.order_by("pk").first()
    assert held is not None

    with transaction.atomic():
        WebhookEvent.objects.select_for_update().get(pk=held.pk)
        run_beside(lambda: inbox.forget(now=NOW))

    assert WebhookEvent.objects.get() == held


@pytest.fixture
def run_beside() -> Any:
    """Do something on another connection, and wait for it."""
    from threading import Thread

    def run(work: Any) -> None:
        def all_of_it() -> None:
            work()
            connection.close()

        thread = Thread(target=all_of_it)
        thread.start()
        thread.join(20)
        assert not thread.is_alive()

    return run


def id_of(age: timedelta, mark: str = "a") -> Any:
    """An id that was made so long ago."""
    first = first_id_at(NOW - age)
    return type(first)(int=first.int + ord(mark))


def run(repository: Repository, age: timedelta, **fields: Any) -> Run:
    at = NOW - age
    key = type(new_id())(int=first_id_at(at).int + Run.objects.count())
    times: dict[str, Any] = {"queued_at": at, "started_at": at, "finished_at": at, **fields}
    return Run.objects.create(
        id=key, organization=repository.organization, repository=repository, kind="scan", status="succeeded", **times
    )


def report(run: Run, age: timedelta = timedelta(), **fields: Any) -> ScanReport:
    made = ScanReport.objects.create(
        run=run, repository=run.repository, commit_sha="c" * 40, engine_version="1", health_score=70, debt_score=1,
        debt_points=1, production_risk="LOW", total_violations=1, files_analyzed=1, lines_of_code=1,
        top_hotspots=["a hotspot"], hotspots=["a hotspot"], aliases={"a": "b"}, graph=b"graph", **fields,
    )  # fmt: skip
    ScanReport.objects.filter(pk=made.pk).update(created_at=NOW - age)
    return made


def show(repository: Repository, *, first_run: Run, report: ScanReport) -> None:
    Repository.objects.filter(pk=repository.pk).update(first_run=first_run, current_report=report)


def violation(repository: Repository, print_: str, resolved: timedelta | None = None) -> Violation:
    return Violation.objects.create(
        repository=repository, fingerprint=print_, status="resolved" if resolved else "open",
        resolved_at=NOW - resolved if resolved else None, rule_id="rel-broad-except", category="reliability",
        severity="warning", severity_rank=1, confidence="high", file="a.py", line=1, debt_points=1, first_seen_at=NOW,
    )  # fmt: skip


def snapshot(repository: Repository, day: date) -> None:
    names = ("total", "critical", "warning", "architecture", "runtime_risk", "performance", "reliability")
    Snapshot.objects.create(
        repository=repository, day=day, commit_sha="c" * 40, maintainability=0, debt_score=1, health_score=70,
        lines_of_code=1, production_risk="LOW", **dict.fromkeys(names, 0),
    )  # fmt: skip


def standing(repository: Repository, age: int, base: int | None = None) -> None:
    base_day = TODAY - days(base) if base else None
    DayStanding.objects.create(repository=repository, day=TODAY - days(age), base_day=base_day, data=b"")


def facts(blob: str, *, used: timedelta, version: str = "") -> None:
    from analysis.engine import facts as codec
    from analysis.engine.facts import FileFacts
    from analysis.engine.version import facts_version

    data = zlib.compress(codec.encode(FileFacts("python")))
    BlobFacts.objects.create(
        blob=blob, reading="python", version=version or facts_version(), data=data, used_on=TODAY - used
    )


def scan_inputs(repository: Repository, blobs: list[str], age: timedelta) -> None:
    tree = zlib.compress(orjson.dumps([[f"{blob}.py", blob, "python"] for blob in blobs]))
    ScanInputs.objects.create(
        repository=repository, commit_sha="c" * 40, facts_version="1", policy_source="default", tree=tree, history=b""
    )
    ScanInputs.objects.update(updated_at=NOW - age)


def pull_request(repository: Repository, number: int, *, is_open: bool) -> PullRequest:
    return PullRequest.objects.create(
        repository=repository, number=number, head_sha="d" * 40, base_branch="main", is_open=is_open
    )


def publication(pull_request: PullRequest, age: timedelta, state: str = "sent") -> Publication:
    number = Publication.objects.count()
    key = type(new_id())(int=first_id_at(NOW - age).int + number)
    return Publication.objects.create(
        id=key, repository=pull_request.repository, pull_request=pull_request, kind="status", key=str(number), sha="",
        state=state,
    )  # fmt: skip


def session(owner: Any, age: timedelta) -> Session:
    return Session.objects.create(user=owner, provider="email", current_jti="x", rotated_at=NOW, expires_at=NOW - age)


def events(number: int) -> None:
    at: datetime = NOW - days(100)
    WebhookEvent.objects.bulk_create(
        WebhookEvent(
            source="cardpay", event_id=str(place), type="x", subject=str(place), occurred_at=at, body=b"{}",
            state="done", finished_at=at + timedelta(seconds=place // 4),
        )
        for place in range(number)
    )  # fmt: skip
