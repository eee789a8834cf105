"""A merge request of code host 2, from a repository that only a token opens."""

from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from analysis.models import Platform, PullRequest, Repository, Run, RunStatus
from analysis.services.judging import judge_pull_request
from analysis.services.repositories import connect_repository
from analysis.services.runs import claim_next_run
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import GitRepository
from tests.providers.git_http import GitHttpServer
from tests.webhooks import deliveries
from webhooks import inbox

PAYLOADS = Path(deliveries.__file__).parent / "payloads" / "codehost2"
TOKEN = "token-of-the-service"


@pytest.fixture
def project(shop: GitRepository, organization: Any, settings: Any) -> Any:
    """The shop behind HTTP with a token, connected, with a branch that adds a mutable default."""
    settings.CODEHOST2_WEBHOOK_TOKEN = deliveries.CODEHOST2_TOKEN
    settings.CODEHOST2_TOKEN = TOKEN
    settings.CLONE_ALLOWED_SCHEMES, settings.CLONE_ALLOW_PRIVATE_ADDRESSES = ["http"], True
    shop.git("checkout", "-q", "-b", "basket")
    shop.commit({"shop/basket.py": "def add(item, basket=[]):\n    basket.append(item)\n    return basket\n"}, on=TODAY)
    shop.git("update-ref", "refs/merge-requests/7/head", "basket")
    basic = b64encode(f"oauth2:{TOKEN}".encode()).decode()
    with GitHttpServer(shop.folder.parent, authorization=f"Basic {basic}") as server:
        settings.CODEHOST2_URL = settings.CODEHOST2_API_URL = server.url
        repository = connect_repository(
            organization=organization,
            full_name="acme/shop",
            platform=Platform.CODEHOST2,
            clone_url=f"{server.url}/shop/.git",
            default_branch="main",
        )
        repository.runs.all().delete()
        yield repository


def tell(name: str, event: str = "Merge Request Hook", **attributes: Any) -> None:
    payload = orjson.loads((PAYLOADS / f"{name}.json").read_bytes())
    payload.setdefault("object_attributes", {}).update(attributes)
    assert deliveries.codehost2(event, payload).send().status_code == 200
    inbox.drain()


def judge() -> Run:
    run = claim_next_run(now=datetime.now(UTC))
    assert run is not None
    judge_pull_request(run)
    run.refresh_from_db()
    return run


def test_it_is_fetched_with_the_token_and_judged(project: Repository, shop: GitRepository) -> None:
    tell("merge_request.open", last_commit={"id": shop.head})

    assert judge().status == RunStatus.SUCCEEDED
    row = PullRequest.objects.get()
    assert (row.number, row.title, row.author, row.judged_sha) == (7, "Add a basket", "dana", shop.head)
    assert [each["ruleId"] for each in row.verdict["introduced"]] == ["risk-mutable-default-argument"]
    project.refresh_from_db()
    assert project.external_id == "4"


def test_an_update_without_new_commits_judges_nothing_again(project: Repository, shop: GitRepository) -> None:
    tell("merge_request.open", last_commit={"id": shop.head})
    judge()

    tell("merge_request.open", last_commit={"id": shop.head}, action="update", updated_at="2026-11-20 11:00:00 UTC")
    assert not Run.objects.filter(status=RunStatus.QUEUED).exists()

    head = shop.commit({"shop/basket.py": "BASKETS = 3\n"}, on=TODAY)
    tell("merge_request.open", last_commit={"id": head}, action="update", updated_at="2026-11-20 12:00:00 UTC")
    assert [run.commit_sha for run in Run.objects.filter(status=RunStatus.QUEUED)] == [head]


def test_merging_scans_the_default_branch(project: Repository, shop: GitRepository) -> None:
    how = {"last_commit": {"id": shop.head}, "state": "merged", "updated_at": "2026-11-20 11:00:00 UTC"}
    tell("merge_request.open", action="merge", **how)

    assert [run.pull_request_id for run in Run.objects.filter(status=RunStatus.QUEUED)] == [None]


def test_a_push_to_the_default_branch_scans(project: Repository) -> None:
    tell("push", event="Push Hook")

    assert project.runs.filter(status=RunStatus.QUEUED).count() == 1
