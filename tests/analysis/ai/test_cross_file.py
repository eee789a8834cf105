"""Debt across files, over the API, and how the findings of a model live beside those of a scan."""

from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from analysis.models import Repository, ViolationSource, ViolationStatus
from analysis.services.runs import request_run
from tests.analysis.ai.asking import FIX, REMARK, address, credits_of, give, ledger_of
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import GitRepository
from tests.providers.chat import Chat

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


class TestCrossFile:
    def test_findings_are_violations_with_ids(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        chat.says = {"findings": [REMARK]}

        body = as_member.post(address(repository, "cross-file")).json()

        assert body["creditsUsed"] == 10
        (finding,) = body["findings"]
        assert finding["source"] == "ai"
        assert (finding["file"], finding["line"], finding["debtPoints"]) == ("shop/orders.py", 7, 0)
        assert (finding["message"], finding["gateAction"]) == (REMARK["message"], "none")
        assert repository.violations.get(pk=finding["id"]).source == ViolationSource.AI
        assert ledger_of(repository) == [("ai_cross_file", -10)]

    def test_an_empty_list_of_findings_is_an_answer(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        chat.says = {"findings": []}

        assert as_member.post(address(repository, "cross-file")).json() == {"findings": [], "creditsUsed": 10}

    def test_the_number_of_queries_does_not_grow_with_files_or_findings(
        self, as_member: Any, repository: Repository, chat: Chat
    ) -> None:
        def queries(files: list[str], remarks: list[dict[str, Any]]) -> int:
            chat.says = {"findings": remarks}
            with CaptureQueriesContext(connections["default"]) as captured:
                assert as_member.post(address(repository, "cross-file"), {"files": files}).status_code == 200
            return len(captured)

        few = queries(["shop/orders.py"], [REMARK])
        many = queries(
            ["shop/orders.py", "shop/client.py", "shop/models.py"],
            [REMARK, *({**REMARK, "line": line, "category": "performance"} for line in range(1, 8))],
        )

        assert many == few

    def test_only_the_named_files_are_sent(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        chat.says = {"findings": []}

        response = as_member.post(address(repository, "cross-file"), {"files": ["shop/orders.py", "shop/models.py"]})

        assert response.status_code == 200
        assert "File: shop/orders.py" in chat.prompts[0]
        assert "File: shop/models.py" in chat.prompts[0]
        assert "rates.example.org" not in chat.prompts[0]

    def test_more_files_cost_more(
        self, as_member: Any, organization: Any, connect: Any, shop: GitRepository, chat: Chat
    ) -> None:
        give(organization, 100)
        names = [f"shop/part{number}.py" for number in range(41)]
        shop.commit(dict.fromkeys(names, "VALUE = 1\n"), on=TODAY)
        repository = connect(shop)
        chat.says = {"findings": []}

        used = [
            as_member.post(address(repository, "cross-file"), {"files": names[:count]}).json()["creditsUsed"]
            for count in (20, 21, 24, 25, 41)
        ]

        assert used == [10, 11, 11, 12, 15]

    def test_other_files_are_refused_for_nothing(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        for files, complaint in (
            (["shop/none.py"], "files: shop/none.py is no source file of the last scan"),
            (["../../etc/passwd"], "files: ../../etc/passwd is no source file of the last scan"),
            (["shop/orders.py", "README.md"], "files: README.md is no source file of the last scan"),
            ([], "files: this list may not be empty"),
            ("shop/orders.py", 'files: expected a list of items but got type "str"'),
            (["x.py"] * 101, "files: ensure this field has no more than 100 elements"),
        ):
            response = as_member.post(address(repository, "cross-file"), {"files": files})

            assert (response.status_code, response.json()["message"]) == (400, complaint)
            assert (credits_of(repository), chat.asked) == ((100, 0), [])

    def test_findings_about_nothing_are_dropped(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        odd = [{"file": "shop/none.py"}, {"line": 700}, {"line": True}, {"category": "style"}, {"message": 7}]
        chat.says = {"findings": [REMARK, *(REMARK | change for change in odd)]}

        body = as_member.post(address(repository, "cross-file")).json()

        assert [finding["message"] for finding in body["findings"]] == [REMARK["message"]]

    def test_below_pro_it_names_the_plan_that_has_it(
        self, as_member: Any, organization: Any, repository: Repository, chat: Chat
    ) -> None:
        type(organization).objects.filter(pk=organization.pk).update(plan_id="solo")

        response = as_member.post(address(repository, "cross-file"))

        assert response.status_code == 403
        assert response.json()["message"] == "The plan Solo does not include aiCrossFile; the plan Pro has it"
        assert (credits_of(repository), chat.asked) == ((100, 0), [])


class TestFindingsOfTheModel:
    """How they live beside those of scans."""

    def ask(self, client: Any, repository: Repository, chat: Chat, *remarks: dict[str, Any]) -> list[dict[str, Any]]:
        chat.says = {"findings": list(remarks)}
        found: list[dict[str, Any]] = client.post(address(repository, "cross-file")).json()["findings"]
        return found

    def test_they_enter_no_list_and_no_score(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        base = f"/v1/api/repos/{repository.pk}"
        pages = ["overview", "violations", "runtime-risks", "trends", "first-scan", "hotspots"]
        before = [as_member.get(f"{base}/{page}").json() for page in pages]

        assert self.ask(as_member, repository, chat, REMARK, REMARK | {"line": 2, "category": "runtime_risk"})

        assert [as_member.get(f"{base}/{page}").json() for page in pages] == before

    def test_the_next_scan_leaves_them_alone(
        self, as_member: Any, repository: Repository, chat: Chat, shop: GitRepository
    ) -> None:
        (finding,) = self.ask(as_member, repository, chat, REMARK)
        shop.commit({"shop/new.py": "VALUE = 1\n"}, on=TODAY)

        request_run(repository=Repository.objects.get(pk=repository.pk))

        assert Repository.objects.get(pk=repository.pk).current_report_id != repository.current_report_id
        assert repository.violations.get(pk=finding["id"]).status == ViolationStatus.OPEN

    def test_the_same_finding_in_other_words_keeps_its_id(
        self, as_member: Any, repository: Repository, chat: Chat
    ) -> None:
        (first,) = self.ask(as_member, repository, chat, REMARK)
        (second,) = self.ask(as_member, repository, chat, REMARK | {"message": "None is added up"})

        assert second["id"] == first["id"]
        assert second["message"] == "None is added up"

    def test_one_that_is_no_longer_mentioned_is_resolved_and_may_come_back(
        self, as_member: Any, repository: Repository, chat: Chat
    ) -> None:
        (finding,) = self.ask(as_member, repository, chat, REMARK)
        row = repository.violations.filter(pk=finding["id"])

        assert self.ask(as_member, repository, chat) == []
        assert row.get().status == ViolationStatus.RESOLVED
        assert self.ask(as_member, repository, chat, REMARK)[0]["id"] == finding["id"]
        assert (row.get().status, row.get().resolved_at) == (ViolationStatus.OPEN, None)

    def test_a_fix_can_be_asked_for(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        (finding,) = self.ask(as_member, repository, chat, REMARK)
        chat.says = FIX

        response = as_member.post(f"/v1/api/repos/{repository.pk}/violations/{finding['id']}/ai-fix")

        assert response.status_code == 200
        assert response.json()["patch"] is None  # it is about another file
        assert "sum(client.rates(order.region)" in chat.prompts[-1]
