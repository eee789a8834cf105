"""GET /plans, GET /plans/:planId and what an organization's plan allows."""

import pytest

from credits.models import CreditAccount

pytestmark = pytest.mark.django_db

SEED = {
    "free": (0, 0, 2, 1, 0, 1),
    "solo": (12, 120, 10, 1, 50, 1),
    "pro": (29, 290, -1, -1, 500, 3),
    "team": (99, 990, -1, -1, 2000, 10),
    "enterprise": (399, 3990, -1, -1, -1, -1),
}


class TestPlans:
    def test_the_list_is_the_table_of_the_contract(self, anonymous):
        plans = anonymous.get("/v1/plans").json()

        limits = ("maxRepos", "maxMembers", "aiCreditsPerMonth", "maxOrgs")
        shown = {
            plan["id"]: (plan["priceMonthly"], plan["priceAnnual"], *(plan["limits"][name] for name in limits))
            for plan in plans
        }
        assert shown == SEED

    def test_one_plan_has_exactly_the_fields_of_the_specification(self, anonymous):
        plan = anonymous.get("/v1/plans/free").json()

        assert plan == {
            "id": "free",
            "name": "Free",
            "description": plan["description"],
            "priceMonthly": 0,
            "priceAnnual": 0,
            "priceMonthlyIfAnnual": 0,
            "limits": {"maxRepos": 2, "maxMembers": 1, "aiCreditsPerMonth": 0, "maxOrgs": 1},
            "features": {
                "cliScan": True,
                "prGate": False,
                "dashboard": True,
                "architectureGraph": False,
                "aiCrossFile": False,
            },
        }

    def test_the_monthly_share_of_the_annual_price_is_rounded_to_cents(self, anonymous):
        assert anonymous.get("/v1/plans/pro").json()["priceMonthlyIfAnnual"] == 24.17

    @pytest.mark.parametrize("name", ["gold", "FREE", "%00", "x" * 200])
    def test_an_unknown_plan_is_not_found(self, anonymous, name):
        assert anonymous.get(f"/v1/plans/{name}").status_code == 404

    def test_the_list_takes_one_query(self, anonymous, django_assert_num_queries):
        with django_assert_num_queries(1):
            anonymous.get("/v1/plans")


class TestCanUse:
    @pytest.mark.parametrize(
        ("plan", "feature", "allowed"),
        [
            ("free", "cliScan", True),
            ("free", "prGate", False),
            ("free", "badge", False),
            ("solo", "badge", True),
            ("solo", "prGate", True),
            ("solo", "policyEditor", False),
            ("pro", "architectureGraph", True),
            ("pro", "policyEditor", True),
            ("pro", "rulePacks", True),
        ],
    )
    def test_the_plan_decides(self, as_member, organization, plan, feature, allowed):
        organization.plan_id = plan
        organization.save()

        answer = as_member.get(f"/v1/plans/org/{organization.id}/can-use/{feature}")

        assert answer.json() == {"allowed": allowed, "currentPlan": plan}

    def test_an_unknown_feature_is_not_found(self, as_member, organization):
        assert as_member.get(f"/v1/plans/org/{organization.id}/can-use/teleport").status_code == 404

    def test_a_stranger_finds_nothing(self, as_stranger, organization):
        assert as_stranger.get(f"/v1/plans/org/{organization.id}/can-use/badge").status_code == 404


class TestUsage:
    def test_what_is_used_stands_beside_what_is_allowed(self, as_member, organization):
        usage = as_member.get(f"/v1/plans/org/{organization.id}/usage").json()

        assert usage["planId"] == "free"
        assert usage["repos"] == {"used": 0, "limit": 2}
        assert usage["members"] == {"used": 3, "limit": 1}
        assert usage["credits"] == {"used": 0, "limit": 0}

    def test_enforcement_names_the_limits_that_are_exceeded(self, as_member, organization):
        summary = as_member.get(f"/v1/plans/org/{organization.id}/enforcement").json()

        assert summary["planId"] == "free"
        assert summary["features"]["cliScan"] is True
        assert summary["features"]["policyEditor"] is False
        assert summary["limits"]["maxMembers"] == 1
        assert summary["usage"] == {"repos": 0, "members": 3, "credits": 0}
        assert summary["exceeded"] == ["maxMembers"]

    def test_nobody_exceeds_what_is_unlimited(self, as_member, organization):
        organization.plan_id = "enterprise"
        organization.save()
        CreditAccount.objects.create(organization=organization, used=9000, unlimited=True)

        assert as_member.get(f"/v1/plans/org/{organization.id}/enforcement").json()["exceeded"] == []

    @pytest.mark.parametrize("path", ["usage", "enforcement"])
    def test_a_stranger_finds_nothing(self, as_stranger, organization, path):
        assert as_stranger.get(f"/v1/plans/org/{organization.id}/{path}").status_code == 404
