"""GET /api/repos/:id/coupling, and what hotspots say of it."""

from datetime import timedelta

import pytest

from analysis.models import Repository
from tests.analysis.conftest import TODAY

pytestmark = pytest.mark.django_db

WORK = "def work(a):\n    if a:\n        return 1\n    return {n}\n"


@pytest.fixture
def scanned(connect, scan_here, shop):
    for number in range(4):
        changed = {"shop/orders.py": WORK.format(n=number), "billing/rates.py": WORK.format(n=-number)}
        shop.commit(changed, on=TODAY - timedelta(days=2), by="dana@example.org")
    repository = connect(shop)
    scan_here(repository)
    return Repository.objects.get(pk=repository.pk)


class TestCoupling:
    def test_names_files_that_change_together_across_modules(self, as_member, scanned):
        answer = as_member.get(f"/v1/api/repos/{scanned.pk}/coupling").json()
        assert answer["windowDays"] == 180
        assert answer["pairs"][0] == {
            "files": ["billing/rates.py", "shop/orders.py"],
            "modules": ["billing", "shop"],
            "acrossModules": True,
            "support": 4,
            "confidence": 1.0,
            "importsEachOther": False,
        }

    def test_names_the_main_author_without_an_address(self, as_member, scanned):
        response = as_member.get(f"/v1/api/repos/{scanned.pk}/coupling")
        owners = {each["module"]: each for each in response.json()["modules"]}
        assert owners["billing"]["mainAuthorShare"] == 1.0
        assert b"@" not in response.content

    def test_stands_in_the_hotspots_and_survives_a_changed_policy(self, as_owner, organization, scanned):
        type(organization).objects.filter(pk=organization.pk).update(plan="pro")
        before = as_owner.get(f"/v1/api/repos/{scanned.pk}/coupling").json()
        as_owner.put(f"/v1/api/repos/{scanned.pk}/policy", {"data_volumes": {"orders": "XL"}})

        assert as_owner.get(f"/v1/api/repos/{scanned.pk}/coupling").json() == before
        spots = {spot["file"]: spot for spot in as_owner.get(f"/v1/api/repos/{scanned.pk}/hotspots").json()}
        assert spots["shop/orders.py"]["coupledFiles"] == ["billing/rates.py"]
        assert 0 < spots["shop/orders.py"]["topAuthorShare"] <= 1

    def test_is_empty_before_the_first_scan(self, as_member, organization):
        repository = Repository.objects.create(organization=organization, full_name="a/b", platform="git")
        answer = as_member.get(f"/v1/api/repos/{repository.pk}/coupling").json()
        assert answer == {"windowDays": 180, "commits": 0, "pairs": [], "files": [], "modules": []}
