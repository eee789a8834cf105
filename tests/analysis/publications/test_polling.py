"""Open pull requests are asked for, since a delivery that got lost is not always repeated."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analysis.models import Platform, Publication, PullRequest, PullRequestPoll, Run, RunKind
from analysis.services import polling
from tests.analysis.publications.conftest import HEAD, waiting_run
from tests.providers.codehosts import CodeHost1, CodeHost2

pytestmark = pytest.mark.django_db

NEW_HEAD = "e" * 40


def entry(number: int, sha: str, **changes: Any) -> dict[str, Any]:
    """A pull request in the list of code host 1."""
    repository = {"id": 5, "full_name": "acme/shop", "default_branch": "main"}
    return {
        "number": number,
        "title": "Add rates",
        "user": {"login": "dana"},
        "draft": False,
        "state": "open",
        "updated_at": timezone.now().isoformat(),
        "head": {"sha": sha, "ref": "rates", "repo": repository},
        "base": {"sha": "b" * 40, "ref": "main", "repo": repository},
        **changes,
    }


def poll_now(run: Run) -> int:
    PullRequestPoll.objects.get_or_create(repository=run.repository, defaults={"next_at": timezone.now()})
    PullRequestPoll.objects.update(next_at=timezone.now())
    return polling.poll(run.repository_id, now=timezone.now())


class TestPolling:
    def test_a_missed_head_is_found_and_judged(self, host1: CodeHost1, run: Run) -> None:
        host1.open = [entry(12, NEW_HEAD), entry(13, "d" * 40)]

        assert poll_now(run) == 2

        assert PullRequest.objects.get(number=12).head_sha == NEW_HEAD
        queued = Run.objects.filter(kind=RunKind.PULL_REQUEST, status="queued")
        assert {each.commit_sha for each in queued} == {NEW_HEAD, "d" * 40}
        assert Publication.objects.filter(sha=NEW_HEAD, payload__state="pending").exists()

    def test_what_is_known_changes_nothing(self, host1: CodeHost1, run: Run) -> None:
        host1.open = [entry(12, HEAD)]

        assert poll_now(run) == 0
        assert not Run.objects.filter(status="queued").exists()

    def test_a_list_that_is_the_same_is_not_sent_again(self, host1: CodeHost1, run: Run) -> None:
        host1.open = [entry(12, NEW_HEAD)]
        poll_now(run)
        asked = len(host1.asked)

        assert poll_now(run) == 0

        assert len(host1.asked) == asked + 1
        assert host1.asked[-1].headers["If-None-Match"]

    def test_long_lists_are_read_page_by_page(self, host1: CodeHost1, run: Run) -> None:
        host1.open = [entry(number, f"{number:040x}") for number in range(1, 131)]

        assert poll_now(run) == 130

    def test_merge_requests_of_code_host_2_too(self, host2: CodeHost2, organization: Any) -> None:
        run = waiting_run(organization, Platform.CODEHOST2)
        host2.open = [
            {
                "iid": 12, "title": "Add rates", "author": {"username": "dana"}, "draft": False, "sha": NEW_HEAD,
                "source_branch": "rates", "target_branch": "main", "source_project_id": 5, "target_project_id": 5,
                "updated_at": timezone.now().isoformat(),
            }
        ]  # fmt: skip
        run.repository.external_id = ""

        assert poll_now(run) == 1
        assert PullRequest.objects.get(number=12).head_sha == NEW_HEAD

    def test_an_author_that_no_event_named_is_learnt(self, host1: CodeHost1, run: Run) -> None:
        PullRequest.objects.update(author="")
        host1.open = [entry(12, HEAD)]

        assert poll_now(run) == 1
        assert poll_now(run) == 0

        assert PullRequest.objects.get().author == "dana"
        assert not Run.objects.filter(status="queued").exists()

    def test_each_repository_has_its_own_time(
        self, host1: CodeHost1, run: Run, settings: Any, django_capture_on_commit_callbacks: Any
    ) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            polling.sweep(now=timezone.now())
        row = PullRequestPoll.objects.get()
        assert row.next_at - timezone.now() <= settings.PULL_REQUEST_POLL_INTERVAL
        assert not host1.asked
        PullRequestPoll.objects.update(next_at=timezone.now())

        with django_capture_on_commit_callbacks(execute=True):
            polling.sweep(now=timezone.now())

        assert host1.asked[-1].path == "/repos/acme/shop/pulls"

    def test_a_host_that_fails_is_asked_less_often(self, host1: CodeHost1, run: Run, settings: Any) -> None:
        host1.odd = [(500, {}), (200, {"not": "a list"})]
        for failures in (1, 2):
            poll_now(run)
            row = PullRequestPoll.objects.get()
            assert row.failures == failures
            assert row.next_at - timezone.now() > settings.PULL_REQUEST_POLL_INTERVAL * 2**failures - timedelta(
                seconds=5
            )

        poll_now(run)
        assert PullRequestPoll.objects.get().failures == 0

    @pytest.mark.parametrize("said", [None, {"message": "Moved"}, "[]"])
    def test_a_list_that_is_none_counts_as_a_failure(self, host1: CodeHost1, run: Run, said: Any) -> None:
        host1.nonsense = {r"GET .*/pulls": said}

        assert poll_now(run) == 0

        poll = PullRequestPoll.objects.get()
        assert (poll.failures, poll.error) == (1, "The code host's list of pull requests makes no sense")

    def test_a_plan_without_the_gate_is_not_asked_for(self, host1: CodeHost1, run: Run, organization: Any) -> None:
        organization.plan_id = "free"
        organization.save()

        poll_now(run)

        assert not host1.asked
