"""What a plan allows."""

import pytest

from analysis.models import Repository
from billing.models import Plan
from organizations.entitlements import (
    Feature,
    FeatureNotInPlan,
    NoRoom,
    UnknownFeature,
    allows,
    require_feature,
    require_room_for_repository,
)
from tests import factories

EVERYWHERE = {"cliScan", "dashboard"}
FROM_SOLO = EVERYWHERE | {"badge", "prGate"}
FROM_PRO = FROM_SOLO | {"architectureGraph", "aiCrossFile", "policyEditor", "rulePacks"}


@pytest.mark.parametrize(
    ("plan", "features"),
    [("free", EVERYWHERE), ("solo", FROM_SOLO), ("pro", FROM_PRO), ("team", FROM_PRO), ("enterprise", FROM_PRO)],
)
def test_features_by_plan(db, plan, features):
    organization = factories.organization(plan=plan)

    assert {feature.value for feature in Feature if allows(organization, feature)} == features


def test_every_feature_is_a_column_of_the_plan():
    columns = {field.name for field in Plan._meta.fields if field.get_internal_type() == "BooleanField"}

    assert {feature.column for feature in Feature} == columns


@pytest.mark.parametrize("name", ["", "teleport", "pr_gate", "max_repos", "price_monthly"])
def test_an_unknown_feature_is_not_found(db, name):
    with pytest.raises(UnknownFeature):
        allows(factories.organization(), name)


class TestRequireFeature:
    def test_names_the_cheapest_plan_that_has_it(self, db):
        free, solo = factories.organization(plan="free"), factories.organization(plan="solo")

        with pytest.raises(FeatureNotInPlan, match="The plan Free does not include prGate; the plan Solo has it"):
            require_feature(free, "prGate")
        with pytest.raises(FeatureNotInPlan, match="The plan Solo does not include rulePacks; the plan Pro has it"):
            require_feature(solo, "rulePacks")

    def test_says_so_when_no_plan_has_it(self, db):
        Plan.objects.update(badge=False)

        with pytest.raises(FeatureNotInPlan, match=r"The plan Pro does not include badge$"):
            require_feature(factories.organization(plan="pro"), "badge")

    def test_is_silent_when_the_plan_has_it(self, db):
        require_feature(factories.organization(plan="pro"), "rulePacks")


class TestRoomForRepositories:
    def connect(self, organization, number):
        require_room_for_repository(organization)
        Repository.objects.create(
            organization=organization, full_name=f"acme/{number}", platform="git", clone_url=f"https://x/acme/{number}"
        )

    def test_the_free_plan_has_room_for_two(self, db):
        organization = factories.organization(plan="free")
        self.connect(organization, 1)
        self.connect(organization, 2)

        with pytest.raises(NoRoom, match="it allows 2 repositories; the plan Solo allows more"):
            require_room_for_repository(organization)

    def test_a_new_plan_counts_at_once(self, db):
        stale = factories.organization(plan="free")
        self.connect(stale, 1)
        self.connect(stale, 2)
        stale.__class__.objects.filter(pk=stale.pk).update(plan="pro")

        self.connect(stale, 3)

    def test_a_smaller_plan_takes_nothing_away_and_lets_nothing_in(self, db):
        organization = factories.organization(plan="pro")
        for number in range(3):
            self.connect(organization, number)
        organization.__class__.objects.filter(pk=organization.pk).update(plan="free")

        with pytest.raises(NoRoom):
            require_room_for_repository(organization)
        assert organization.repositories.count() == 3
