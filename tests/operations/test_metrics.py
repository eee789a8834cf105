"""Prometheus is told what waits, what failed for good, and how long requests take; nobody else is."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from accounts.models import Letter
from analysis.models import Platform, Repository, Run, RunKind, RunStatus
from billing.models import CancellationOrder
from organizations.models import Farewell
from tests.webhooks.conftest import stored
from webhooks.models import State

pytestmark = pytest.mark.django_db


def scrape(client: Any, **headers: str) -> dict[tuple[str, str], float]:
    """Every sample as `(name, label values joined by a blank)` to its value."""
    response = client.get("/metrics", headers=headers)
    assert response.status_code == 200
    families = text_string_to_metric_families(response.content.decode())
    return {(one.name, " ".join(one.labels.values())): one.value for family in families for one in family.samples}


@pytest.fixture
def repository(organization: Any) -> Repository:
    return Repository.objects.create(
        organization=organization, full_name="acme/shop", platform=Platform.GIT, clone_url="https://example.org/s.git"
    )


def run_of(repository: Repository, status: str, **fields: Any) -> Run:
    return Run.objects.create(
        organization_id=repository.organization_id,
        repository=repository,
        kind=RunKind.SCAN,
        status=status,
        **{"queued_at": timezone.now(), **fields},
    )


class TestWhatIsTold:
    def test_an_empty_service_has_nothing_waiting(self, client: Any) -> None:
        found = scrape(client)

        for queue in ("events", "runs", "publications", "letters", "cancellations", "farewells"):
            assert found["techdebt_queue_due", queue] == found["techdebt_queue_oldest_due_seconds", queue] == 0
        assert found["techdebt_runs_unfinished", "queued"] == 0

    def test_events_that_wait_and_dead_letters(self, client: Any) -> None:
        stored("late", next_at=timezone.now() - timedelta(seconds=90))
        stored("later", next_at=timezone.now() + timedelta(hours=1))
        stored("dead", state=State.DEAD, finished_at=timezone.now())

        found = scrape(client)

        assert found["techdebt_queue_due", "events"] == 1
        assert 90 <= found["techdebt_queue_oldest_due_seconds", "events"] < 100
        assert found["techdebt_queue_given_up", "events"] == 1
        assert found["techdebt_events_last_day", "codehost2 dead"] == 1

    def test_letters_cancellations_and_farewells_that_wait(self, client: Any, organization: Any) -> None:
        a_minute_ago = timezone.now() - timedelta(minutes=1)
        Letter.objects.create(kind="k", key="1", recipient="a@example.org", due_at=a_minute_ago)
        Letter.objects.create(kind="k", key="2", recipient="a@example.org", due_at=None, attempts=8)
        CancellationOrder.objects.create(provider="cardpay", external_id="s", reason="superseded", next_at=a_minute_ago)
        Farewell.objects.create(kind="clones", organization_id=organization.pk, notes={}, next_at=a_minute_ago)

        found = scrape(client)

        for queue in ("letters", "cancellations", "farewells"):
            assert found["techdebt_queue_due", queue] == 1
            assert 60 <= found["techdebt_queue_oldest_due_seconds", queue] < 70
        assert found["techdebt_queue_given_up", "letters"] == 1

    def test_runs_by_status_and_how_often_they_were_taken_over(self, client: Any, repository: Repository) -> None:
        run_of(repository, RunStatus.QUEUED, queued_at=timezone.now() - timedelta(seconds=30))
        run_of(repository, RunStatus.RUNNING, attempts=3)
        run_of(repository, RunStatus.FAILED, attempts=1)

        found = scrape(client)

        assert found["techdebt_runs_unfinished", "queued"] == found["techdebt_runs_unfinished", "running"] == 1
        assert found["techdebt_runs_last_day", "failed"] == 1
        assert found["techdebt_run_takeovers_last_day", ""] == 2
        assert 30 <= found["techdebt_queue_oldest_due_seconds", "runs"] < 40

    def test_requests_are_counted_by_route_and_never_by_path(self, client: Any) -> None:
        series = "techdebt_request_seconds_count", "GET v1/plans/<str:plan_id> 404"
        before = scrape(client).get(series, 0)

        client.get("/v1/plans/very-secret")
        client.generic("BREW", "/v1/plans/very-secret")

        found = scrape(client)
        assert found[series] == before + 1
        assert not [labels for _, labels in found if "very-secret" in labels or "BREW" in labels]

    def test_a_scrape_costs_the_same_however_much_there_is(
        self, client: Any, repository: Repository, django_assert_num_queries: Any
    ) -> None:
        for number in range(5):
            stored(f"e-{number}")
            run_of(repository, RunStatus.SUCCEEDED)

        with django_assert_num_queries(14):
            scrape(client)


class TestWhoIsTold:
    def test_with_a_token_only_who_sends_it(self, client: Any, settings: Any) -> None:
        settings.METRICS_TOKEN, settings.BASE_URL = "for-prometheus", "https://debt.example.org/v1"

        assert scrape(client, Authorization="Bearer for-prometheus")
        for wrong in ({}, {"Authorization": "Bearer for-prometheu"}, {"Authorization": "Bearer \xfc"}):
            assert client.get("/metrics", headers=wrong).status_code == 401

    def test_without_one_a_service_on_a_public_address_tells_nobody(self, client: Any, settings: Any) -> None:
        settings.BASE_URL = "https://debt.example.org/v1"

        assert client.get("/metrics").status_code == 401

    def test_without_one_only_callers_on_the_loopback(self, client: Any) -> None:
        assert client.get("/metrics").status_code == 200
        assert client.get("/metrics", REMOTE_ADDR="192.0.2.7").status_code == 401
