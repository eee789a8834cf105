"""A verdict goes back to the code host: a status that always ends, one comment, a check run where it is allowed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from analysis.models import (
    Installation,
    Platform,
    Publication,
    PublicationKind,
    PublicationState,
    PullRequest,
    Repository,
    Run,
)
from analysis.services import publishing, sending
from analysis.services.pull_requests import request_judgement
from organizations.models import Organization
from tests import factories
from tests.analysis.publications.conftest import HEAD, Sent, finding, judge, next_run, verdict, waiting_run
from tests.providers.codehosts import INSTALLATION, CodeHost1, CodeHost2

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged(sent: Sent) -> Callable[[Run, dict[str, Any]], None]:
    def announce(run: Run, said: dict[str, Any]) -> None:
        judge(run, said)
        sent(publishing.announce_verdict, run)

    return announce


def row(kind: PublicationKind) -> Publication:
    return Publication.objects.get(kind=kind)


def later(seconds: float) -> Any:
    return time_machine.travel(timezone.now() + timedelta(seconds=seconds))


class TestVerdict:
    def test_a_queued_run_shows_as_pending_with_a_link(self, host1: CodeHost1, run: Run, sent: Sent) -> None:
        sent(publishing.announce_queued, run)

        assert host1.statuses[HEAD] == [
            {
                "context": "technical-debt",
                "state": "pending",
                "description": "Waiting for the analysis",
                "target_url": f"https://debt.example.org/repos/{run.repository_id}/prs/12",
            }
        ]
        assert not host1.comments

    def test_a_blocked_change_fails_says_why_and_marks_the_line(self, host1: CodeHost1, run: Run, judged: Any) -> None:
        judged(run, verdict(finding()))

        assert host1.shown_on(HEAD) == "failure"
        (comment,) = host1.comments.values()
        assert "Blocked: new critical findings 1 (&gt; 0)" in comment
        assert f"]({host1.url}/acme/shop/blob/{HEAD}/shop/orders.py#L7)" in comment
        assert "A query for each element of a list" in comment
        assert "New critical findings: 1 (the policy blocks at" in comment
        (check_run,) = host1.check_runs.values()
        assert check_run["conclusion"] == "failure"
        assert check_run["annotations"] == [
            {
                "path": "shop/orders.py",
                "start_line": 7,
                "end_line": 7,
                "annotation_level": "failure",
                "title": "perf-query-in-loop",
                "message": "A query for each element of a list Fetch them with one query",
            }
        ]

    def test_a_change_without_debt_passes_in_silence(self, host1: CodeHost1, run: Run, judged: Any) -> None:
        judged(run, verdict())

        assert host1.shown_on(HEAD) == "success"
        assert not host1.comments

    def test_the_one_comment_is_edited_and_shrinks_once_all_is_well(
        self, host1: CodeHost1, run: Run, judged: Any
    ) -> None:
        judged(run, verdict(finding()))
        (number,) = host1.comments
        judged(next_run(run.pull_request, "c" * 40), verdict(finding(), finding(line=9)))
        assert "shop/orders.py:9" in host1.comments[number]

        judged(next_run(run.pull_request, "d" * 40), verdict())

        assert list(host1.comments) == [number]
        assert host1.comments[number].startswith("✅ Nothing to do here any more")

    def test_code_host_2_gets_a_status_and_one_note(
        self, host2: CodeHost2, organization: Any, judged: Any, sent: Sent
    ) -> None:
        run = waiting_run(organization, Platform.CODEHOST2)
        sent(publishing.announce_queued, run)
        sent(publishing.announce_queued, run)  # the host calls saying it twice an error
        judged(run, verdict(finding()))
        judged(run, verdict(finding(line=8)))

        assert [each["state"] for each in host2.statuses[HEAD]] == ["pending", "failed"]
        (note,) = host2.comments.values()
        assert f"/acme/shop/-/blob/{HEAD}/shop/orders.py#L8" in note
        assert not Publication.objects.exclude(state=PublicationState.SENT).exists()

    def test_code_host_2_shows_the_status_on_the_branch_of_the_request(
        self, host2: CodeHost2, organization: Any, judged: Any
    ) -> None:
        host2.branches[HEAD] = ["another", "rates"]
        run = waiting_run(organization, Platform.CODEHOST2)
        PullRequest.objects.update(head_ref="rates", head_full_name="acme/shop")
        run.pull_request.refresh_from_db()

        judged(run, verdict())

        assert [(each["ref"], each["state"]) for each in host2.statuses[HEAD]] == [("rates", "success")]

    def test_code_host_2_shows_the_status_of_a_fork_on_the_requests_own_ref(
        self, host2: CodeHost2, organization: Any, judged: Any
    ) -> None:
        run = waiting_run(organization, Platform.CODEHOST2)
        PullRequest.objects.update(head_ref="rates", head_full_name="dana/shop")
        run.pull_request.refresh_from_db()

        judged(run, verdict())

        assert [each["ref"] for each in host2.statuses[HEAD]] == ["refs/merge-requests/12/head"]

    def test_the_reasons_of_exceptions_are_quoted(self, host1: CodeHost1, run: Run, judged: Any) -> None:
        exception = {
            "rule": "perf-query-in-loop",
            "file": "legacy/**",
            "reason": "Replaced in May",
            "expires": "2027-05-01",
            "expired": False,
            "covered": 2,
        }
        judged(run, verdict(exceptions=[exception]))

        (comment,) = host1.comments.values()
        assert "`perf-query-in-loop` in `legacy/**` covers 2 here until 2027-05-01: “Replaced in May”" in comment

    def test_two_hundred_annotations_go_in_batches(self, host1: CodeHost1, run: Run, judged: Any) -> None:
        judged(run, verdict(*(finding(line=number) for number in range(1, 131))))

        (check_run,) = host1.check_runs.values()
        assert sorted(each["start_line"] for each in check_run["annotations"]) == list(range(1, 131))
        (comment,) = host1.comments.values()
        assert "[120 more](" in comment


class TestWithoutVerdict:
    def test_a_run_that_failed_ends_the_status_with_the_reason(self, host1: CodeHost1, run: Run, sent: Sent) -> None:
        sent(publishing.announce_queued, run)
        sent(publishing.announce_unjudged, run, "The analysis did not finish in time.")

        assert host1.statuses[HEAD][-1]["state"] == "error"
        assert host1.statuses[HEAD][-1]["description"] == "Not evaluated: The analysis did not finish in time."
        (check_run,) = host1.check_runs.values()
        assert check_run["conclusion"] == "neutral"
        assert "to run it again" in check_run["output"]["summary"]
        assert not host1.comments

    def test_a_plan_without_the_gate_blocks_nobody(
        self, host1: CodeHost1, run: Run, sent: Sent, organization: Organization
    ) -> None:
        Organization.objects.filter(pk=organization.pk).update(plan="free")

        sent(request_judgement, PullRequest.objects.get(runs=run))

        reason = "The plan Free does not include prGate; the plan Solo has it."
        assert host1.statuses[HEAD][-1]["state"] == "success"
        assert host1.statuses[HEAD][-1]["description"] == f"Not evaluated: {reason}"
        assert host1.check_runs[1]["conclusion"] == "neutral"
        assert not host1.comments

    def test_a_plan_that_lost_the_gate_lifts_the_verdict_that_blocked(
        self, host1: CodeHost1, run: Run, judged: Any, sent: Sent, organization: Organization
    ) -> None:
        judged(run, verdict(finding()))
        Organization.objects.filter(pk=organization.pk).update(plan="free")

        sent(request_judgement, PullRequest.objects.get(runs=run))

        assert host1.shown_on(HEAD) == "success"
        (comment,) = host1.comments.values()
        assert comment.startswith("⚪ Not evaluated: The plan Free does not include")

    def test_a_commit_that_was_overtaken_waits_no_longer(self, host1: CodeHost1, run: Run, sent: Sent) -> None:
        sent(publishing.announce_queued, run)
        Run.objects.filter(pk=run.pk).update(commit_sha="c" * 40, status="queued")
        run.refresh_from_db()

        sent(publishing.announce_queued, run)

        assert host1.shown_on(HEAD) == "error"
        assert host1.shown_on("c" * 40) == "pending"

    def test_a_repository_that_no_installation_vouches_for_gets_nothing(
        self, host1: CodeHost1, run: Run, judged: Any
    ) -> None:
        run.repository.installation_id = ""

        judged(run, verdict(finding()))

        assert not Publication.objects.exists()


class TestWhoSpeaks:
    def test_of_two_organizations_the_first_one_speaks(self, host1: CodeHost1, run: Run, judged: Any) -> None:
        other = waiting_run(factories.organization(plan="team"), Platform.CODEHOST1)
        judged(other, verdict(finding()))
        assert not host1.statuses

        judged(run, verdict())

        assert host1.shown_on(HEAD) == "success"

    def test_one_whose_plan_has_no_gate_does_not_speak_for_one_whose_plan_has_it(
        self, host1: CodeHost1, organization: Organization, run: Run, judged: Any, sent: Sent
    ) -> None:
        other = waiting_run(factories.organization(plan="solo"), Platform.CODEHOST1)
        Organization.objects.filter(pk=organization.pk).update(plan="free")

        sent(publishing.announce_declined, run, "The plan has no gate.")
        judged(other, verdict(finding()))

        assert [each["state"] for each in host1.statuses[HEAD]] == ["failure"]

    def test_the_one_that_installed_the_app_comes_before_the_first(
        self, host1: CodeHost1, run: Run, judged: Any
    ) -> None:
        other = waiting_run(factories.organization(plan="team"), Platform.CODEHOST1)
        Installation.objects.create(
            platform=Platform.CODEHOST1,
            external_id=other.repository.installation_id,
            organization=other.repository.organization,
            fact_at=timezone.now(),
        )

        judged(run, verdict(finding()))
        judged(other, verdict())

        assert [each["state"] for each in host1.statuses[HEAD]] == ["success"]


class TestOddAnswers:
    def test_check_runs_that_are_not_allowed_harm_nothing(self, host1: CodeHost1, run: Run, judged: Any) -> None:
        host1.allows_checks = False

        judged(run, verdict(finding()))

        assert host1.shown_on(HEAD) == "failure"
        assert len(host1.comments) == 1
        assert row(PublicationKind.CHECK_RUN).state == PublicationState.REFUSED

    def test_a_comment_that_somebody_deleted_is_written_anew(self, host1: CodeHost1, run: Run, judged: Any) -> None:
        judged(run, verdict(finding()))
        host1.comments.clear()

        judged(next_run(run.pull_request, "c" * 40), verdict(finding()))
        assert len(host1.comments) == 1

        host1.comments.clear()
        judged(next_run(run.pull_request, "d" * 40), verdict())
        assert not host1.comments  # an all-clear is not worth a new one

    def test_our_comment_is_found_again_when_its_id_is_lost(self, host1: CodeHost1, run: Run, judged: Any) -> None:
        judged(run, verdict(finding()))
        (number,) = host1.comments
        for other in range(200, 330):
            host1.comments[other] = "What a change! <!-- technical-debt -->"
        Publication.objects.all().delete()

        judged(run, verdict(finding(line=9)))

        assert [key for key, body in host1.comments.items() if "orders.py:9" in body] == [number]

    @pytest.mark.parametrize("answer", [(502, b"<html>"), (500, {}), (200, b"no json"), (302, None)])
    def test_a_host_that_fails_is_asked_again(
        self, host1: CodeHost1, run: Run, sent: Sent, answer: Any, settings: Any
    ) -> None:
        host1.odd = [answer]
        sent(publishing.announce_queued, run)
        assert (HEAD in host1.statuses) is False
        assert row(PublicationKind.STATUS).state == PublicationState.WAITING

        with later(sending.FIRST_PAUSE.total_seconds() + 1):
            sent(lambda: sending.sweep(now=timezone.now()))

        assert host1.shown_on(HEAD) == "pending"
        assert row(PublicationKind.STATUS).attempts == 2

    def test_an_answer_without_sense_is_a_failure_that_staff_see(
        self, host1: CodeHost1, run: Run, judged: Any, sent: Sent
    ) -> None:
        host1.nonsense = {r"GET .*/comments": {"message": "Moved"}}
        judged(run, verdict(finding()))
        comment = row(PublicationKind.COMMENT)
        assert (comment.state, comment.lease) == (PublicationState.WAITING, None)
        assert comment.error == "The code host's answer made no sense (AttributeError)"

        with later(sending.GIVEN_UP_AFTER.total_seconds()):
            sent(lambda: sending.sweep(now=timezone.now()))
        assert row(PublicationKind.COMMENT).state == PublicationState.GIVEN_UP

    @pytest.mark.parametrize("attempts", [6, 28, 50])
    def test_a_host_that_is_down_for_hours_is_asked_every_half_hour(
        self, host1: CodeHost1, run: Run, sent: Sent, attempts: int
    ) -> None:
        host1.mood = "fails"
        sent(publishing.announce_queued, run)
        Publication.objects.update(attempts=attempts, next_at=timezone.now())

        sent(lambda: sending.sweep(now=timezone.now()))

        status = row(PublicationKind.STATUS)
        assert (status.attempts, status.lease, status.error) == (attempts + 1, None, "The code host answered 500")
        assert status.next_at is not None
        assert timedelta(minutes=29) < status.next_at - timezone.now() <= sending.LONGEST_PAUSE

    @pytest.mark.parametrize(
        "answer",
        [
            (429, {}, {"Retry-After": "120"}),
            (403, {}, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "RESET"}),
            (403, {"message": "You have exceeded a secondary rate limit"}, {"Retry-After": "120"}),
        ],
    )
    def test_a_host_that_wants_rest_is_left_alone_for_all_of_the_installation(
        self, host1: CodeHost1, run: Run, sent: Sent, judged: Any, answer: Any
    ) -> None:
        reset = str(int(timezone.now().timestamp()) + 120)
        host1.odd = [(*answer[:2], {name: value.replace("RESET", reset) for name, value in answer[2].items()})]
        sent(publishing.announce_queued, run)
        judged(next_run(run.pull_request, "c" * 40), verdict(finding()))
        assert len(host1.writes) == 1

        with later(60):
            sent(lambda: sending.sweep(now=timezone.now()))
        assert len(host1.writes) == 1
        with later(122):
            sent(lambda: sending.sweep(now=timezone.now()))

        assert host1.shown_on("c" * 40) == "failure"

    def test_what_never_arrives_is_given_up_in_sight_of_staff_and_can_be_sent_again(
        self, host1: CodeHost1, run: Run, sent: Sent
    ) -> None:
        host1.mood = "fails"
        sent(publishing.announce_queued, run)
        with later(sending.GIVEN_UP_AFTER.total_seconds()):
            sent(lambda: sending.sweep(now=timezone.now()))

        given_up = row(PublicationKind.STATUS)
        assert given_up.state == PublicationState.GIVEN_UP
        assert given_up.error == "The code host answered 500"

        host1.mood = "well"
        sent(sending.send_again, given_up.pk)
        assert host1.shown_on(HEAD) == "pending"

    def test_a_token_that_was_taken_back_is_replaced(self, host1: CodeHost1, run: Run, sent: Sent) -> None:
        sent(publishing.announce_queued, run)
        host1.tokens += 1  # the host takes another one only

        sent(publishing.announce_unjudged, run, "It failed.")
        with later(11):
            sent(lambda: sending.sweep(now=timezone.now()))

        assert host1.shown_on(HEAD) == "error"


class TestTurns:
    def test_the_flood_of_one_organization_delays_its_own_words_only(self, host1: CodeHost1, run: Run) -> None:
        publishing.announce_queued(run)
        flood = factories.organization(plan="team")
        repository = Repository.objects.create(
            organization=flood, full_name="flood/shop", platform=Platform.CODEHOST1, installation_id=INSTALLATION
        )
        for number in range(1, 6):
            pull_request = PullRequest.objects.create(repository=repository, number=number, head_sha=f"{number}" * 40)
            publishing.announce_queued(next_run(pull_request, pull_request.head_sha))
        second = PullRequest.objects.create(repository=run.repository, number=13, head_sha="c" * 40)
        publishing.announce_queued(next_run(second, second.head_sha))

        order = []
        while sending.send_next():
            order += [sha for sha in host1.statuses if sha not in order]

        assert order == [HEAD, "1" * 40, "2" * 40, "c" * 40, "3" * 40, "4" * 40, "5" * 40]

    def test_new_words_for_a_place_keep_its_turn(self, host1: CodeHost1, run: Run) -> None:
        host1.mood = "fails"
        publishing.announce_queued(run)
        next_ = PullRequest.objects.create(repository=run.repository, number=13, head_sha="c" * 40)
        publishing.announce_queued(next_run(next_, next_.head_sha))

        judge(run, verdict())
        publishing.announce_verdict(run)

        turns = Publication.objects.order_by("turn").values_list("kind", "sha", "turn")
        assert list(turns)[:2] == [("status", HEAD, 0), ("status", "c" * 40, 1)]


class TestNewWordsMeanwhile:
    def test_the_newest_words_win_over_those_being_sent(
        self, host1: CodeHost1, run: Run, sent: Sent, django_capture_on_commit_callbacks: Any
    ) -> None:
        """The verdict comes while the call that says `pending` is under way."""
        publishing.announce_queued(run)
        pending = row(PublicationKind.STATUS)
        claimed = sending._claim(pending.pk, timezone.now())
        assert claimed is not None
        judge(run, verdict())
        sent(publishing.announce_verdict, run)
        assert HEAD not in host1.statuses  # one sender at a time: nothing can arrive in the wrong order

        sent(lambda: sending._record(claimed, state=PublicationState.SENT, error=""))

        assert host1.shown_on(HEAD) == "success"
        assert row(PublicationKind.STATUS).state == PublicationState.SENT

    def test_a_claim_whose_worker_was_lost_is_taken_over(self, host1: CodeHost1, run: Run, sent: Sent) -> None:
        publishing.announce_queued(run)
        assert sending._claim(row(PublicationKind.STATUS).pk, timezone.now())

        sent(lambda: sending.sweep(now=timezone.now()))
        assert HEAD not in host1.statuses
        with later(sending.LEASE.total_seconds() + 1):
            sent(lambda: sending.sweep(now=timezone.now()))

        assert host1.shown_on(HEAD) == "pending"
