"""GET /api/repos/:id/score-history: why health and debt score are other ones than before."""

from datetime import timedelta
from decimal import Decimal

import pytest
from rest_framework.test import APIClient

from analysis.models import Repository
from tests.analysis.conftest import TODAY

pytestmark = pytest.mark.django_db

FIXED = "import requests\n\n\ndef rates(region):\n    return requests.get(region, timeout=5).json()\n"


@pytest.fixture
def scanned(connect, scan_here, shop):
    repository = connect(shop)
    scan_here(repository)
    return Repository.objects.get(pk=repository.pk)


def address(repository, query=""):
    return f"/v1/api/repos/{repository.pk}/score-history{query}"


def day(days_ago):
    return (TODAY - timedelta(days=days_ago)).isoformat()


def assert_adds_up(answer):
    health = sum(Decimal(str(entry["health"])) for entry in answer["entries"])
    debt = sum(Decimal(str(entry["debtScore"])) for entry in answer["entries"])
    assert health == answer["healthChange"] == answer["to"]["healthScore"] - answer["from"]["healthScore"]
    assert debt == Decimal(str(answer["debtScoreChange"]))
    assert answer["debtScoreChange"] == pytest.approx(answer["to"]["debtScore"] - answer["from"]["debtScore"])


class TestScoreHistory:
    def test_tells_what_a_past_commit_brought_from_git_alone(self, as_member, scanned):
        answer = as_member.get(address(scanned, f"?from={day(11)}&to={day(10)}")).json()

        assert_adds_up(answer)
        assert answer["healthChange"] < 0
        added = [entry for entry in answer["entries"] if entry["cause"] == "finding_added"]
        timeout = next(entry for entry in added if entry["ruleId"] == "risk-http-no-timeout")
        assert (timeout["file"], timeout["line"]) == ("shop/client.py", 8)
        assert timeout["health"] < 0 < timeout["debtScore"]
        found = as_member.get(f"/v1/api/repos/{scanned.pk}/violations/{timeout['violationId']}").json()
        assert found["message"] == timeout["message"]

    def test_takes_the_last_two_snapshots_by_itself(self, as_member, scanned, shop, scan_here):
        shop.commit({"shop/client.py": FIXED}, on=TODAY)
        as_member.post(f"/v1/api/repos/{scanned.pk}/analyze")
        scan_here(scanned)

        answer = as_member.get(address(scanned)).json()

        assert answer["to"]["date"] == day(0)
        assert_adds_up(answer)
        assert answer["healthChange"] > 0
        fixed = {entry["ruleId"] for entry in answer["entries"] if entry["cause"] == "finding_fixed"}
        assert "risk-http-no-timeout" in fixed

    def test_tells_a_change_of_the_policy_from_a_change_of_the_code(self, as_owner, organization, scanned):
        type(organization).objects.filter(pk=organization.pk).update(plan="pro")
        exception = {"rule": "risk-http-no-timeout", "file": "shop/**", "expires": "2099-01-01", "reason": "A test"}
        as_owner.put(f"/v1/api/repos/{scanned.pk}/policy", {"exceptions": [exception]})

        answer = as_owner.get(address(scanned)).json()

        assert_adds_up(answer)
        causes = {entry["ruleId"]: entry["cause"] for entry in answer["entries"] if entry["ruleId"]}
        assert causes == {"risk-http-no-timeout": "policy_change"}

    def test_puts_what_is_beyond_the_limit_into_one_entry(self, as_member, scanned):
        answer = as_member.get(address(scanned, f"?from={day(11)}&to={day(10)}&limit=1")).json()
        assert_adds_up(answer)
        assert [entry["cause"] for entry in answer["entries"]][1] == "other"
        assert answer["entries"][1]["count"] > 1

    def test_is_empty_before_there_are_two_snapshots(self, as_member, organization):
        repository = Repository.objects.create(organization=organization, full_name="a/b", platform="git")
        nothing = {"from": None, "to": None, "healthChange": None, "debtScoreChange": None, "entries": []}
        assert as_member.get(address(repository)).json() == nothing

    def test_a_day_whose_findings_are_no_longer_kept_counts_as_none(self, as_member, scanned):
        kept = as_member.get(address(scanned, f"?to={day(10)}")).json()
        scanned.standings.filter(day__lt=TODAY - timedelta(days=10)).delete()

        answer = as_member.get(address(scanned, f"?from={day(11)}&to={day(10)}")).json()

        assert answer == {"from": None, "to": kept["to"], "healthChange": None, "debtScoreChange": None, "entries": []}

    @pytest.mark.parametrize("query", [f"?from={day(1)}&to={day(2)}", "?from=yesterday", "?limit=0"])
    def test_refuses_what_makes_no_sense(self, as_member, scanned, query):
        response = as_member.get(address(scanned, query))
        assert response.status_code == 400
        assert response.json()["message"].startswith(("from: ", "limit: "))

    def test_is_hidden_from_strangers(self, as_stranger, scanned):
        assert as_stranger.get(address(scanned)).status_code == 404

    def test_takes_a_constant_number_of_queries(self, as_member: APIClient, scanned, django_assert_max_num_queries):
        with django_assert_max_num_queries(9):
            as_member.get(address(scanned, f"?from={day(20)}"))
