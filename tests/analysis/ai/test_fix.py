"""A fix for a violation, over the API."""

import subprocess
from typing import Any

import pytest

from analysis.models import Repository, ViolationStatus
from tests.analysis.ai.asking import FIX, address, credits_of, give, ledger_of, violation_of
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import GitRepository
from tests.providers.chat import Chat

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


class TestFix:
    def test_it_explains_and_patches_for_three_credits(
        self, as_member: Any, repository: Repository, chat: Chat, shop: GitRepository
    ) -> None:
        chat.says = FIX

        body = as_member.post(address(repository, "ai-fix")).json()

        assert (body["explanation"], body["creditsUsed"]) == ("The call can hang for ever.", 3)
        assert ledger_of(repository) == [("ai_fix_suggestion", -3)]
        subprocess.run(["git", "-C", shop.folder, "apply", "-"], input=body["patch"].encode(), check=True)
        assert "timeout=10" in (shop.folder / "shop/client.py").read_text()

    def test_the_prompt_holds_the_function_and_nothing_else_of_the_file(
        self, as_member: Any, connect: Any, shop: GitRepository, organization: Any, chat: Chat
    ) -> None:
        give(organization, 100)
        code = (shop.folder / "shop/client.py").read_text()
        padding = "\n" * 20
        shop.commit({"shop/client.py": f"OTHER = 1\n{padding}{code}{padding}LAST = 2\n"}, on=TODAY)
        chat.says = FIX

        as_member.post(address(connect(shop), "ai-fix"))

        prompt = chat.prompts[0]
        assert "   26 | def rates(region, seen=[]):" in prompt
        assert "rates.example.org" in prompt
        assert "OTHER" not in prompt
        assert "LAST" not in prompt
        assert "Order" not in prompt

    def test_a_patch_that_cannot_be_trusted_is_null(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        for patch in ("change line 8", FIX["patch"].replace("client", "orders"), FIX["patch"].replace("json", "xml")):
            chat.says = FIX | {"patch": patch}

            response = as_member.post(address(repository, "ai-fix"))

            assert response.status_code == 200
            assert response.json() == {"explanation": "The call can hang for ever.", "patch": None, "creditsUsed": 3}

    def test_the_number_of_queries_is_fixed(
        self, as_member: Any, repository: Repository, chat: Chat, django_assert_max_num_queries: Any
    ) -> None:
        chat.says = FIX
        path = address(repository, "ai-fix")

        with django_assert_max_num_queries(40):
            assert as_member.post(path).status_code == 200

    def test_a_resolved_violation_needs_no_fix(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        repository.violations.update(status=ViolationStatus.RESOLVED)

        response = as_member.post(address(repository, "ai-fix"))

        assert response.status_code == 409
        assert credits_of(repository) == (100, 0)

    def test_a_violation_of_another_repository_is_unknown(
        self, as_member: Any, repository: Repository, connect: Any, shop: GitRepository, chat: Chat
    ) -> None:
        other = connect(shop, "acme/other")

        response = as_member.post(f"/v1/api/repos/{other.pk}/violations/{violation_of(repository).pk}/ai-fix")

        assert response.status_code == 404
        assert chat.asked == []

    def test_without_the_clone_nothing_is_asked_or_paid(
        self, as_member: Any, repository: Repository, chat: Chat
    ) -> None:
        repository.folder.rename(repository.folder.with_name("moved.git"))

        response = as_member.post(address(repository, "ai-fix"))

        assert response.status_code == 503
        assert "analyze the repository again" in response.json()["message"]
        assert (credits_of(repository), chat.asked) == ((100, 0), [])
