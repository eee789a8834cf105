"""GET /api/repos/:id/ai: what a front end may offer."""

from typing import Any

import pytest

from analysis.models import Repository
from credits import services
from credits.models import Operation

pytestmark = pytest.mark.django_db


def usable(client: Any, repository: Repository) -> list[str]:
    offer = client.get(f"/v1/api/repos/{repository.pk}/ai").json()
    return [each["operation"] for each in offer["operations"] if each["usable"]]


def test_with_credits_everything_in_the_plan_is_offered(as_member: Any, repository: Repository, chat: Any) -> None:
    assert usable(as_member, repository) == ["ai_scan_summary", "ai_fix_suggestion", "ai_cross_file"]

    repository.organization.plan_id = "solo"
    repository.organization.save()
    assert usable(as_member, repository) == ["ai_scan_summary", "ai_fix_suggestion"]


def test_without_a_model_nothing_is(as_member: Any, repository: Repository, settings: Any) -> None:
    settings.AI_BASE_URL = ""

    assert usable(as_member, repository) == []
    assert as_member.get(f"/v1/api/repos/{repository.pk}/ai").json()["setUp"] is False


def test_only_what_the_balance_covers_is(as_member: Any, repository: Repository, chat: Any) -> None:
    account = repository.organization.credit_account

    services.spend(
        organization=repository.organization,
        operation=Operation.AI_SCAN_SUMMARY,
        credits=account.balance - 4,
        key="spent",
        description="Spent",
    )

    assert usable(as_member, repository) == ["ai_fix_suggestion"]


def test_to_strangers_it_does_not_exist(as_stranger: Any, repository: Repository) -> None:
    assert as_stranger.get(f"/v1/api/repos/{repository.pk}/ai").status_code == 404
