"""Runs are claimed once, kept by a lease, taken over when it ends, and shared out fairly."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from analysis.models import Platform, PullRequest, Repository, Run, RunKind, RunStatus
from analysis.services import runs
from tests import factories

NOW = timezone.now()


def repository_of(organization: Any, name: str = "shop/web") -> Repository:
    return Repository.objects.create(
        organization=organization, full_name=name, platform=Platform.GIT, clone_url="https://example.org/shop/web.git"
    )


def queue_pull_request(repository: Repository, number: int = 7) -> Run:
    pull_request = PullRequest.objects.create(
        repository=repository, number=number, title="Add", head_sha="a" * 40, base_branch="main"
    )
    return Run.objects.create(
        organization=repository.organization,
        repository=repository,
        pull_request=pull_request,
        kind=RunKind.PULL_REQUEST,
        queued_at=NOW,
    )


def queue_scan(repository: Repository) -> Run:
    """Of a repository that was scanned before."""
    return Run.objects.create(
        organization=repository.organization, repository=repository, kind=RunKind.SCAN, queued_at=NOW
    )


@pytest.fixture
def repository(organization: Any) -> Repository:
    return repository_of(organization)


class TestRequestRun:
    def test_the_first_run_of_a_repository_is_its_first_scan(self, repository: Repository) -> None:
        assert runs.request_run(repository=repository).kind == RunKind.FIRST_SCAN

    def test_a_second_request_returns_the_queued_run(self, repository: Repository) -> None:
        first = runs.request_run(repository=repository)

        assert runs.request_run(repository=repository) == first
        assert repository.runs.count() == 1

    def test_a_request_while_one_is_running_queues_one_more(self, repository: Repository) -> None:
        runs.request_run(repository=repository)
        running = runs.claim_next_run(now=NOW)

        assert runs.request_run(repository=repository) != running


class TestClaim:
    def test_a_queued_run_is_claimed_once(self, repository: Repository) -> None:
        queued = runs.request_run(repository=repository)

        claimed = runs.claim_next_run(now=NOW)

        assert claimed == queued
        assert claimed.status == RunStatus.RUNNING
        assert claimed.attempts == 1
        assert runs.claim_next_run(now=NOW) is None

    def test_a_run_never_starts_before_it_was_queued(self, repository: Repository) -> None:
        queued = runs.request_run(repository=repository)

        claimed = runs.claim_next_run(now=queued.queued_at - timedelta(seconds=1))

        assert claimed is not None
        assert claimed.started_at == queued.queued_at

    def test_two_scans_of_one_repository_never_run_together(self, repository: Repository, settings: Any) -> None:
        settings.RUN_SLOTS = 8
        runs.request_run(repository=repository)
        runs.claim_next_run(now=NOW)
        runs.request_run(repository=repository)

        assert runs.claim_next_run(now=NOW) is None

    def test_a_pull_request_goes_before_an_older_scan(self, repository: Repository) -> None:
        queue_scan(repository)
        pull_request = queue_pull_request(repository)

        assert runs.claim_next_run(now=NOW) == pull_request

    def test_a_pull_request_does_not_wait_for_a_running_scan(self, repository: Repository, settings: Any) -> None:
        settings.RUN_SLOTS = 8
        queue_scan(repository)
        runs.claim_next_run(now=NOW)
        pull_request = queue_pull_request(repository)

        assert runs.claim_next_run(now=NOW) == pull_request

    def test_a_pull_request_waits_for_the_first_scan_of_its_repository(
        self, repository: Repository, settings: Any
    ) -> None:
        settings.RUN_SLOTS = 8
        pull_request = queue_pull_request(repository)
        first_scan = runs.request_run(repository=repository)
        elsewhere = queue_pull_request(repository_of(repository.organization, "shop/other"))

        assert runs.claim_next_run(now=NOW) == elsewhere
        scanning = runs.claim_next_run(now=NOW)
        assert scanning == first_scan
        assert runs.claim_next_run(now=NOW) is None

        runs.end_run(scanning, RunStatus.FAILED, error="Its address is not answered")

        assert runs.claim_next_run(now=NOW) == pull_request

    def test_an_organization_gets_at_most_half_of_the_slots(
        self, organization: Any, stranger: Any, settings: Any
    ) -> None:
        settings.RUN_SLOTS = 4
        for number in range(3):
            runs.request_run(repository=repository_of(organization, f"busy/{number}"))
        other = repository_of(factories.organization(owner=stranger), "quiet/one")

        assert {runs.claim_next_run(now=NOW).repository.full_name for _ in range(2)} == {"busy/0", "busy/1"}
        runs.request_run(repository=other)
        assert runs.claim_next_run(now=NOW).repository == other
        assert runs.claim_next_run(now=NOW) is None

    def test_the_organization_with_the_fewest_running_goes_first(
        self, organization: Any, stranger: Any, settings: Any
    ) -> None:
        settings.RUN_SLOTS = 8
        for number in range(3):
            runs.request_run(repository=repository_of(organization, f"busy/{number}"))
        runs.claim_next_run(now=NOW)
        other = repository_of(factories.organization(owner=stranger), "quiet/one")
        runs.request_run(repository=other)

        assert runs.claim_next_run(now=NOW).repository == other


class TestFairness:
    def test_500_scans_of_one_organization_keep_no_pull_request_of_others_waiting(
        self, organization: Any, settings: Any
    ) -> None:
        settings.RUN_SLOTS = 4
        flood = [repository_of(organization, f"busy/{number}") for number in range(500)]
        Run.objects.bulk_create(
            Run(organization=organization, repository=each, kind=RunKind.SCAN, queued_at=NOW - timedelta(hours=1))
            for each in flood
        )
        for _ in range(2):
            assert runs.claim_next_run(now=NOW).organization == organization
        waiting = {queue_pull_request(repository_of(factories.organization())) for _ in range(20)}

        for _ in range(20):  # two slots are left; each pull request that ends makes room for the next
            claimed = runs.claim_next_run(now=NOW)
            waiting.remove(claimed)
            assert runs.end_run(claimed, RunStatus.SUCCEEDED)

        assert not waiting
        assert runs.claim_next_run(now=NOW) is None  # the flood has its half


class TestLease:
    def test_a_claim_that_had_to_wait_leaves_a_run_that_was_renewed_meanwhile(self, repository: Repository) -> None:
        runs.request_run(repository=repository)
        run = runs.claim_next_run(now=NOW)
        later = NOW + settings.RUN_LEASE + timedelta(seconds=1)
        seen = Run.objects.abandoned(later).get()
        runs.renew_lease(run, now=later)

        assert not runs._claim(seen, later)

    def test_a_run_is_taken_over_when_its_lease_has_ended(self, repository: Repository) -> None:
        runs.request_run(repository=repository)
        lost = runs.claim_next_run(now=NOW)
        later = NOW + settings.RUN_LEASE + timedelta(seconds=1)

        taken = runs.claim_next_run(now=later)

        assert taken == lost
        assert taken.lease != lost.lease
        assert taken.attempts == 2

    def test_a_renewed_lease_is_not_taken_over(self, repository: Repository) -> None:
        runs.request_run(repository=repository)
        run = runs.claim_next_run(now=NOW)
        later = NOW + settings.RUN_LEASE - timedelta(seconds=1)

        assert runs.renew_lease(run, now=later)
        assert runs.claim_next_run(now=later + timedelta(seconds=5)) is None

    def test_the_attempt_that_was_given_up_can_change_nothing(self, repository: Repository) -> None:
        runs.request_run(repository=repository)
        dead = runs.claim_next_run(now=NOW)
        runs.claim_next_run(now=NOW + timedelta(minutes=5))

        assert not runs.renew_lease(dead, now=NOW)
        assert not runs.end_run(dead, RunStatus.SUCCEEDED)
        with pytest.raises(runs.LeaseLost):
            runs.report_progress(dead, phase="parsing", progress=50)
        with pytest.raises(runs.LeaseLost):
            runs.lock_my_run(dead)

    def test_the_third_loss_fails_the_run_with_a_sentence(self, repository: Repository) -> None:
        runs.request_run(repository=repository)
        for attempt in range(runs.MOST_ATTEMPTS):
            assert runs.claim_next_run(now=NOW + timedelta(minutes=attempt))
        after = NOW + timedelta(minutes=9)

        assert runs.claim_next_run(now=after) is None
        assert runs.fail_exhausted_runs(now=after) == 1
        run = repository.runs.get()
        assert run.status == RunStatus.FAILED
        assert "interrupted three times" in run.error

    def test_a_final_state_is_final(self, repository: Repository) -> None:
        runs.request_run(repository=repository)
        run = runs.claim_next_run(now=NOW)

        assert runs.end_run(run, RunStatus.TIMED_OUT, error="too long")
        assert not runs.end_run(run, RunStatus.SUCCEEDED)
        assert repository.runs.get().status == RunStatus.TIMED_OUT
