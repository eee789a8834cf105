"""What is told of a really scanned repository is what the OpenAPI document announces: each field, null and word."""

from typing import Any

import pytest

from analysis.models import Platform, Repository
from tests.api.described import differences

pytestmark = pytest.mark.django_db

READS = (
    "", "/overview", "/violations", "/trends", "/hotspots", "/hotspots?include=lines", "/prs", "/runtime-risks",
    "/first-scan", "/runs", "/policy", "/architecture-graph", "/score-history", "/coupling", "/ai",
)  # fmt: skip
# An import against the layers is new under these, and whoever adds a query per element is stopped.
STRICTER = {
    "layers": [{"name": "views", "path": "shop/views*"}, {"name": "services", "path": "shop/services*"}],
    "gates": {"block_merge": [{"metric": "new_violations", "operator": ">", "value": 0}]},
}


def test_the_reads_of_a_scanned_repository(as_owner: Any, judged_shop: Repository) -> None:
    assert not _differences_of_reads(as_owner, judged_shop)


def test_the_reads_of_one_that_is_not_scanned_yet(as_owner: Any, organization: Any) -> None:
    repository = Repository.objects.create(organization=organization, full_name="acme/new", platform=Platform.GIT)

    assert not _differences_of_reads(as_owner, repository)


def test_each_violation_and_run(as_owner: Any, judged_shop: Repository) -> None:
    violations = as_owner.get(f"/v1/api/repos/{judged_shop.pk}/violations").json()["data"]
    answers = [as_owner.get(f"/v1/api/repos/{judged_shop.pk}/violations/{each['id']}") for each in violations]
    answers.append(as_owner.get(f"/v1/api/runs/{judged_shop.first_run_id}"))

    assert violations
    assert not [differences(answer) for answer in answers if differences(answer)]


def test_a_preview_that_adds_violations(as_owner: Any, judged_shop: Repository) -> None:
    answer = as_owner.post(f"/v1/api/repos/{judged_shop.pk}/policy/preview", STRICTER)

    assert answer.json()["added"]
    assert not differences(answer)


def test_a_backtest_in_which_gates_fire(as_owner: Any, judged_shop: Repository) -> None:
    answer = as_owner.post(f"/v1/api/repos/{judged_shop.pk}/policy/backtest", {"policy": STRICTER})

    assert any(each["gates"] and each["violations"] for each in answer.json()["pullRequests"])
    assert not differences(answer)


def _differences_of_reads(client: Any, repository: Repository) -> dict[str, list[str]]:
    found = {read: differences(client.get(f"/v1/api/repos/{repository.pk}{read}")) for read in READS}
    return {read: wrong for read, wrong in found.items() if wrong}
