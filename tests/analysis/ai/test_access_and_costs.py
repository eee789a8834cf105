"""Of all AI operations: who may ask, that a bad answer is free, and that credits are never spent twice."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connections

from analysis.models import Repository
from credits import services as credits
from credits.models import CreditAccount, Reservation
from tests import factories
from tests.analysis.ai.asking import address, credits_of, give, ledger_of
from tests.analysis.repositories import GitRepository
from tests.conftest import client_of
from tests.providers.chat import Chat

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

BAD_MOODS = ["hangs", "drips", "fails", "refuses", "lies", "mumbles", "is silent", "floods", "redirects"]


OPERATIONS = ["scan-summary", "cross-file", "ai-fix"]


@pytest.mark.parametrize("operation", OPERATIONS)
class TestAccess:
    def test_without_an_endpoint_they_are_off_and_free(
        self, as_member: Any, repository: Repository, operation: str, settings: Any
    ) -> None:
        settings.AI_BASE_URL = ""

        response = as_member.post(address(repository, operation))

        assert response.status_code == 503
        assert response.json()["error"] == "Service Unavailable"
        assert credits_of(repository) == (100, 0)

    def test_strangers_learn_nothing(
        self, as_stranger: Any, anonymous: Any, repository: Repository, operation: str, chat: Chat
    ) -> None:
        assert as_stranger.post(address(repository, operation)).status_code == 404
        assert anonymous.post(address(repository, operation)).status_code == 401
        assert chat.asked == []

    def test_members_admins_and_owners_may_ask(
        self, as_member: Any, as_admin: Any, as_owner: Any, repository: Repository, operation: str, chat: Chat
    ) -> None:
        chat.says = {"summary": "Fair.", "explanation": "It hangs.", "findings": []}

        answers = [client.post(address(repository, operation)) for client in (as_member, as_admin, as_owner)]

        assert [answer.status_code for answer in answers] == [200, 200, 200]

    def test_an_unknown_repository_is_404(self, as_member: Any, repository: Repository, operation: str) -> None:
        path = address(repository, operation).replace(str(repository.pk), "01997f20-5b1e-7d42-8f13-0c4e2a9d6b55")

        assert as_member.post(path).status_code == 404

    def test_too_few_credits_are_403_and_name_what_is_missing(
        self, as_member: Any, organization: Any, repository: Repository, operation: str, chat: Chat
    ) -> None:
        credits.withdraw(organization=organization)
        price = {"scan-summary": 5, "cross-file": 10, "ai-fix": 3}[operation]

        response = as_member.post(address(repository, operation))

        assert response.status_code == 403
        assert response.json()["message"] == f"This needs {price} AI credits and 0 are left; the plan Team grants more"
        assert chat.asked == []

    def test_a_bad_answer_costs_nothing_and_says_502(
        self, as_member: Any, repository: Repository, operation: str, chat: Chat, settings: Any
    ) -> None:
        for mood in BAD_MOODS:
            chat.mood = mood
            settings.AI_TIMEOUT_SECONDS = 0.3 if mood in ("hangs", "drips") else 5

            response = as_member.post(address(repository, operation))

            assert response.status_code == 502, mood
            assert response.json()["message"].endswith("no credits were used, try again")
            assert credits_of(repository) == (100, 0)
            assert ledger_of(repository) == []

    def test_nonsense_costs_nothing_and_says_502(
        self, as_member: Any, repository: Repository, operation: str, chat: Chat
    ) -> None:
        for said in ("  ", "{}", '{"findings": 7}', "```json\n{\n```", "?!", '{"findings": [7]}', "[" * 5000):
            chat.says = said

            assert as_member.post(address(repository, operation)).status_code == 502, said
            assert credits_of(repository) == (100, 0)

    def test_nobody_listening_costs_nothing(
        self, as_member: Any, repository: Repository, operation: str, settings: Any
    ) -> None:
        settings.AI_BASE_URL = "http://127.0.0.1:1/v1"

        assert as_member.post(address(repository, operation)).status_code == 502
        assert credits_of(repository) == (100, 0)


class TestLedger:
    def test_while_the_model_thinks_the_credits_are_held_but_not_spent(
        self, member: Any, repository: Repository, chat: Chat
    ) -> None:
        chat.mood = "waits"
        call = _Call(member, address(repository, "scan-summary"))
        assert chat.in_call.wait(20)

        seen = credits_of(repository), ledger_of(repository)
        chat.go_on.set()

        assert call.status() == 200
        assert seen == ((100, 5), [])  # committed: this test reads on a connection of its own
        assert credits_of(repository) == (95, 0)

    def test_of_two_calls_for_the_last_credits_one_is_answered(
        self, member: Any, admin: Any, organization: Any, connect: Any, shop: GitRepository, chat: Chat
    ) -> None:
        give(organization, 8)
        repository = connect(shop)
        path = address(repository, "scan-summary")
        chat.mood = "waits"
        calls = [_Call(person, path) for person in (member, admin)]
        refused = next(call for call in _as_they_end(calls))
        chat.go_on.set()

        assert sorted(call.status() for call in calls) == [200, 403]
        assert refused.status() == 403
        assert credits_of(repository) == (3, 0)
        assert len(chat.asked) == 1

    def test_an_unlimited_account_counts_and_does_not_run_dry(
        self, as_member: Any, organization: Any, repository: Repository, chat: Chat
    ) -> None:
        CreditAccount.objects.filter(organization=organization).delete()
        give(organization, -1)

        assert as_member.post(address(repository, "scan-summary")).json()["creditsUsed"] == 5
        assert CreditAccount.objects.get(organization=organization).used == 5

    def test_a_call_beyond_the_number_at_once_is_free(
        self, as_admin: Any, member: Any, repository: Repository, chat: Chat, settings: Any
    ) -> None:
        settings.AI_CALLS_AT_ONCE = 1
        chat.mood = "waits"
        call = _Call(member, address(repository, "scan-summary"))
        assert chat.in_call.wait(20)

        response = as_admin.post(address(repository, "scan-summary"))
        chat.go_on.set()

        assert response.status_code == 503
        assert call.status() == 200
        assert ledger_of(repository) == [("ai_scan_summary", -5)]
        assert sorted(Reservation.objects.values_list("state", flat=True)) == ["released", "settled"]


class _Call(threading.Thread):
    """A POST on a thread with a connection of its own."""

    def __init__(self, user: Any, path: str) -> None:
        super().__init__()
        self.client, self.path, self.response = client_of(user), path, None
        self.start()

    def run(self) -> None:
        try:
            self.response: Any = self.client.post(self.path)
        finally:
            connections.close_all()

    def status(self) -> int:
        self.join(30)
        code: int = self.response.status_code
        return code


def _as_they_end(calls: list[_Call]) -> Iterator[_Call]:
    while True:
        for call in calls:
            call.join(0.01)
            if not call.is_alive():
                yield call


def test_the_limits_of_the_table_apply(as_member: Any, repository: Repository, chat: Chat, rate_limits: None) -> None:
    response = as_member.post(address(repository, "scan-summary"))

    assert response["RateLimit-Limit"] == "100"
    assert factories.client().post(address(repository, "scan-summary"))["RateLimit-Limit"] == "100"
