"""What a changed policy would detect, told without keeping anything."""

from typing import Any

import pytest
from django.utils import timezone

from analysis.models import Repository, Run, StoredPolicy
from organizations.models import AuditEntry
from tests.analysis.repositories import GitRepository
from tests.analysis.test_policy import EXEMPTION, LAYERS, url_of

pytestmark = pytest.mark.django_db

ORDINARY = {"totalViolations", "critical", "warning", "healthScore"}


def preview(client: Any, repository: Repository, body: Any) -> dict[str, Any]:
    answer = client.post(url_of(repository, "policy/preview"), body)
    assert answer.status_code == 200, answer.content
    return answer.json()


def totals(client: Any, repository: Repository) -> dict[str, Any]:
    found = client.get(url_of(repository, "violations?perPage=100")).json()["data"]
    severities = [each["severity"] for each in found]
    return {
        "totalViolations": len(found),
        "critical": severities.count("critical"),
        "warning": severities.count("warning"),
        "healthScore": client.get(url_of(repository, "overview")).json()["healthScore"],
    }


class TestPreview:
    def test_nothing_changes_under_the_present_policy(self, as_member: Any, judged_shop: Repository) -> None:
        shown = preview(as_member, judged_shop, {})

        assert shown["current"] == shown["preview"] == totals(as_member, judged_shop)
        assert (shown["added"], shown["removed"], shown["recentPRs"]) == ([], [], [])

    @pytest.mark.parametrize(
        "body",
        [
            {"data_volumes": {"shop_order": "XXL"}},
            {"data_volumes": {"Order": "S"}},
            {"exceptions": [EXEMPTION]},
            {"layers": LAYERS},
            {"layers": LAYERS, "exceptions": [EXEMPTION], "data_volumes": {"shop_order": "XL"}, "gates": {}},
        ],
        ids=["larger", "smaller", "exception", "layers", "all"],
    )
    def test_it_tells_what_putting_it_then_does(self, as_admin: Any, judged_shop: Repository, body: Any) -> None:
        open_before = set(judged_shop.violations.filter(status="open").values_list("fingerprint", flat=True))
        shown = preview(as_admin, judged_shop, body)
        assert shown["current"] == totals(as_admin, judged_shop)
        assert shown["preview"] != shown["current"]

        as_admin.put(url_of(judged_shop), body)

        assert shown["preview"] == totals(as_admin, judged_shop)
        opened = set(judged_shop.violations.filter(status="open").values_list("fingerprint", flat=True))
        assert {each["id"] for each in shown["added"]} == opened - open_before
        ids = dict(judged_shop.violations.values_list("fingerprint", "pk"))
        assert {each["id"] for each in shown["removed"]} == {str(ids[print_]) for print_ in open_before - opened}

    def test_a_known_violation_that_would_come_back_keeps_its_id(self, as_admin: Any, judged_shop: Repository) -> None:
        known = judged_shop.violations.get(rule_id="risk-http-no-timeout")
        as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION]})

        added = preview(as_admin, judged_shop, {"exceptions": []})["added"]

        assert [each["id"] for each in added] == [str(known.pk)]
        assert added[0]["ruleId"] == "risk-http-no-timeout"

    def test_a_part_is_laid_over_the_present_policy(self, as_admin: Any, judged_shop: Repository) -> None:
        as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION]})

        shown = preview(as_admin, judged_shop, {"layers": LAYERS})

        assert {each["ruleId"] for each in shown["added"]} == {"arch-layer-violation"}
        assert shown["removed"] == []

    def test_nothing_is_kept(self, as_admin: Any, judged_shop: Repository) -> None:
        before = list(judged_shop.violations.order_by("pk").values())

        preview(as_admin, judged_shop, {"layers": LAYERS, "exceptions": [EXEMPTION]})

        assert list(judged_shop.violations.order_by("pk").values()) == before
        assert not StoredPolicy.objects.exists()
        assert not AuditEntry.objects.filter(action__startswith="policy").exists()
        assert Run.objects.count() == 1

    def test_recent_pull_requests_are_judged_by_the_new_gates(self, as_member: Any, judged_shop: Repository) -> None:
        for number, points in ((1, 12.0), (2, 70.0)):
            judged_shop.pull_requests.create(
                number=number, title="Change", author="ada", head_sha="a" * 40, base_branch="main",
                judged_at=timezone.now(), gate_result="pass" if number == 1 else "fail",
                verdict={"metrics": {"debt_delta_score": points, "new_critical": 0}},
            )  # fmt: skip
        gates = {"block_merge": [{"metric": "debt_delta_score", "operator": "<", "value": 20}]}

        shown = preview(as_member, judged_shop, {"gates": gates})

        results = {each["prNumber"]: (each["currentResult"], each["previewResult"]) for each in shown["recentPRs"]}
        assert results == {1: ("pass", "fail"), 2: ("fail", "pass")}

    def test_it_takes_few_queries(
        self, as_member: Any, judged_shop: Repository, django_assert_max_num_queries: Any
    ) -> None:
        url = url_of(judged_shop, "policy/preview")
        with django_assert_max_num_queries(14):
            as_member.post(url, {"layers": LAYERS})
        with django_assert_max_num_queries(9):  # the state is at hand
            as_member.post(url, {"layers": LAYERS})

    def test_it_works_on_any_plan(self, as_member: Any, organization: Any, judged_shop: Repository) -> None:
        organization.plan_id = "free"
        organization.save()

        assert set(preview(as_member, judged_shop, {})["preview"]) == ORDINARY

    def test_before_the_first_scan_there_is_nothing(self, as_member: Any, shop: GitRepository, connect: Any) -> None:
        shown = preview(as_member, connect(shop), {"layers": LAYERS})

        nothing = {"totalViolations": 0, "critical": 0, "warning": 0, "healthScore": None}
        assert shown == {"current": nothing, "preview": nothing, "added": [], "removed": [], "recentPRs": []}

    def test_facts_of_an_older_engine_cannot_be_judged(self, as_member: Any, judged_shop: Repository) -> None:
        judged_shop.scan_inputs.facts_version = "0.old"
        judged_shop.scan_inputs.save()

        answer = as_member.post(url_of(judged_shop, "policy/preview"), {})

        assert answer.status_code == 409
        assert "start an analysis" in answer.json()["message"]
