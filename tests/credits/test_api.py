"""GET /credits/org/:orgId, its transactions and its usage by operation."""

from datetime import UTC, datetime

import pytest
import time_machine

from credits import services
from credits.models import Operation
from tests.conftest import client_of
from tests.credits.conftest import month

pytestmark = pytest.mark.django_db


def use(organization, operation, credits, key):
    services.spend(organization=organization, operation=operation, credits=credits, key=key, description="Work")


@pytest.fixture
def used(credited):
    with time_machine.travel(datetime(2026, 10, 31, 23, 59, 59, tzinfo=UTC), tick=False):
        use(credited, Operation.AI_CROSS_FILE, 15, "october")
    with time_machine.travel(datetime(2026, 11, 1, tzinfo=UTC), tick=False):
        use(credited, Operation.AI_SCAN_SUMMARY, 5, "november-1")
        use(credited, Operation.AI_SCAN_SUMMARY, 5, "november-2")
        use(credited, Operation.AI_FIX_SUGGESTION, 3, "november-3")
    return credited


class TestBalance:
    def test_it_has_exactly_the_fields_of_the_specification(self, as_member, used):
        assert as_member.get(f"/v1/credits/org/{used.id}").json() == {
            "balance": 472,
            "monthlyAllocation": 500,
            "used": 28,
            "resetsAt": "2026-12-15T10:00:00.000Z",
        }

    def test_without_a_plan_it_is_zero(self, as_member, organization):
        assert as_member.get(f"/v1/credits/org/{organization.id}").json() == {
            "balance": 0,
            "monthlyAllocation": 0,
            "used": 0,
            "resetsAt": None,
        }

    @pytest.mark.parametrize("path", ["", "/transactions", "/usage-by-operation"])
    def test_a_stranger_finds_nothing(self, as_stranger, anonymous, credited, path):
        assert as_stranger.get(f"/v1/credits/org/{credited.id}{path}").status_code == 404
        assert anonymous.get(f"/v1/credits/org/{credited.id}{path}").status_code == 401


class TestTransactions:
    def test_the_newest_comes_first(self, as_member, used):
        answer = as_member.get(f"/v1/credits/org/{used.id}/transactions").json()

        assert [row["amount"] for row in answer["transactions"]] == [-3, -5, -5, -15, 500]
        assert [row["balance"] for row in answer["transactions"]] == [472, 475, 480, 485, 500]
        assert answer["total"] == 5

    def test_one_has_exactly_the_fields_of_the_specification(self, as_member, used):
        [row] = as_member.get(f"/v1/credits/org/{used.id}/transactions?limit=1").json()["transactions"]

        assert row == {
            "id": row["id"],
            "type": "consumption",
            "operation": "ai_fix_suggestion",
            "amount": -3,
            "balance": 472,
            "description": "Work",
            "createdAt": "2026-11-01T00:00:00.000Z",
        }

    def test_limit_and_offset_cut_a_slice(self, as_member, used):
        answer = as_member.get(f"/v1/credits/org/{used.id}/transactions?limit=2&offset=3").json()

        assert [row["amount"] for row in answer["transactions"]] == [-15, 500]
        assert answer["total"] == 5

    def test_a_month_is_a_calendar_month_in_utc(self, as_member, used):
        answer = as_member.get(f"/v1/credits/org/{used.id}/transactions?month=2026-10").json()

        assert ([row["amount"] for row in answer["transactions"]], answer["total"]) == ([-15], 1)

    @pytest.mark.parametrize(
        "query", ["limit=0", "limit=x", "offset=-1", "month=2026", "month=2026-13", "month=0000-01", "month="]
    )
    def test_bad_parameters_are_refused(self, as_member, credited, query):
        assert as_member.get(f"/v1/credits/org/{credited.id}/transactions?{query}").status_code == 400

    def test_unlimited_rows_show_the_use_and_minus_one(self, as_member, organization):
        services.allocate(organization=organization, allocation=month(-1))
        use(organization, Operation.AI_PR_COMMENT, 5, "comment")

        [newest, *_] = as_member.get(f"/v1/credits/org/{organization.id}/transactions").json()["transactions"]
        assert (newest["amount"], newest["balance"]) == (-5, -1)

    @pytest.mark.parametrize("query", ["", "?limit=2&offset=1", "?month=2026-11"])
    def test_who_has_them_is_told_so_until_the_next_entry(self, as_member, used, query):
        url = f"/v1/credits/org/{used.id}/transactions{query}"
        first = as_member.get(url)
        held = {"If-None-Match": first["ETag"]}

        assert as_member.get(url, headers=held).status_code == 304
        with time_machine.travel(datetime(2026, 11, 2, tzinfo=UTC), tick=False):
            use(used, Operation.AI_FIX_SUGGESTION, 3, "another")
        again = client_of(used.owner.user).get(url, headers=held)
        assert (again.status_code, again.json()["total"]) == (200, first.json()["total"] + 1)

    def test_the_number_of_queries_does_not_grow(self, as_member, used, django_assert_max_num_queries):
        with django_assert_max_num_queries(5):
            as_member.get(f"/v1/credits/org/{used.id}/transactions")


class TestUsageByOperation:
    def test_it_counts_the_ai_operations_of_the_month(self, as_member, used):
        answer = as_member.get(f"/v1/credits/org/{used.id}/usage-by-operation?month=2026-11").json()

        assert answer == {
            "operations": [
                {"operation": "ai_scan_summary", "creditsUsed": 10, "count": 2},
                {"operation": "ai_fix_suggestion", "creditsUsed": 3, "count": 1},
            ],
            "totalUsed": 13,
            "period": "2026-11",
        }

    def test_the_default_is_the_present_month(self, member, used):
        with time_machine.travel(datetime(2026, 10, 5, tzinfo=UTC), tick=False):
            answer = client_of(member).get(f"/v1/credits/org/{used.id}/usage-by-operation").json()

        assert (answer["period"], answer["totalUsed"]) == ("2026-10", 15)

    def test_a_month_without_work_is_empty(self, as_member, used):
        answer = as_member.get(f"/v1/credits/org/{used.id}/usage-by-operation?month=2020-01").json()

        assert answer == {"operations": [], "totalUsed": 0, "period": "2020-01"}
