"""The last scan in words, over the API."""

from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from analysis.models import Repository, Violation
from tests.analysis.ai.asking import address, credits_of, give, ledger_of, violation_of
from tests.providers.chat import Chat

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


class TestScanSummary:
    def test_it_sums_up_the_scan_for_five_credits(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        chat.says = "Repair shop/client.py first."

        response = as_member.post(address(repository, "scan-summary"))

        assert response.status_code == 200
        assert response.json() == {"summary": "Repair shop/client.py first.", "creditsUsed": 5}
        assert ledger_of(repository) == [("ai_scan_summary", -5)]
        assert credits_of(repository) == (95, 0)

    def test_the_prompt_holds_figures_and_findings_but_no_code(
        self, as_member: Any, repository: Repository, chat: Chat
    ) -> None:
        as_member.post(address(repository, "scan-summary"))

        asked = chat.asked[0]
        assert (asked.method, asked.path) == ("POST", "/v1/chat/completions")
        assert asked.headers["Authorization"] == "Bearer key-of-the-service"
        assert asked.body["model"] == "small-1"
        assert "risk-http-no-timeout at shop/client.py:8" in chat.prompts[0]
        assert "rates.example.org" not in chat.prompts[0]
        assert "key-of-the-service" not in chat.prompts[0]

    def test_before_the_first_scan_there_is_nothing_to_sum_up(
        self, as_member: Any, organization: Any, chat: Chat
    ) -> None:
        give(organization, 100)
        empty = Repository.objects.create(organization=organization, full_name="acme/new", platform="git")

        response = as_member.post(address(empty, "scan-summary"))

        assert response.status_code == 409
        assert response.json()["message"] == "There is no finished scan of this repository yet; analyze it first"
        assert chat.asked == []

    def test_the_number_of_queries_does_not_grow_with_the_findings(
        self, as_member: Any, repository: Repository, chat: Chat
    ) -> None:
        def queries() -> int:
            with CaptureQueriesContext(connections["default"]) as captured:
                assert as_member.post(address(repository, "scan-summary")).status_code == 200
            return len(captured)

        queries()
        before = queries()
        pattern = violation_of(repository)
        for number in range(30):
            pattern.pk, pattern.fingerprint = None, f"more-{number}"
            pattern.id = Violation._meta.pk.get_default()
            pattern.save(force_insert=True)

        assert queries() == before
