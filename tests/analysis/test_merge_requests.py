"""A merge request of code host 2, from a repository that only a token opens."""

from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from analysis.codehosts.codehost2 import _fact
from analysis.models import Platform, PullRequest, Repository, Run, RunStatus
from analysis.services.clones import credentials
from analysis.services.judging import judge_pull_request
from analysis.services.pull_requests import apply_pull_request
from analysis.services.repositories import connect_repository
from analysis.services.runs import claim_next_run
from tests import factories
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


def tell(name: str, event: str = "Merge Request Hook", visibility: int | None = None, **attributes: Any) -> None:
    payload = orjson.loads((PAYLOADS / f"{name}.json").read_bytes())
    payload["project"]["visibility_level"] = visibility
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


class TestLending:
    @pytest.fixture
    def rival(self, project: Repository, stranger: Any) -> Repository:
        """The same project, connected by somebody who only knows its name."""
        return connect_repository(
            organization=factories.organization(owner=stranger, plan="solo"),
            full_name=project.full_name,
            platform=Platform.CODEHOST2,
            clone_url=project.clone_url,
        )

    def test_the_token_reads_for_those_that_it_is_lent_to_only(
        self, project: Repository, rival: Repository, settings: Any
    ) -> None:
        settings.CODEHOST2_ORGANIZATIONS = [str(project.organization_id)]

        assert credentials(project) is not None
        assert credentials(rival) is None

    @pytest.mark.parametrize(("visibility", "heard"), [(0, 1), (10, 1), (None, 1), (20, 2)])
    def test_of_a_project_that_is_not_public_nobody_else_hears(
        self, project: Repository, rival: Repository, settings: Any, visibility: int | None, heard: int
    ) -> None:
        settings.CODEHOST2_ORGANIZATIONS = [str(project.organization_id)]

        tell("merge_request.open", visibility=visibility)

        assert PullRequest.objects.count() == heard

    def test_what_was_read_in_the_list_of_requests_is_told_to_nobody_else(
        self, project: Repository, rival: Repository, settings: Any
    ) -> None:
        settings.CODEHOST2_ORGANIZATIONS = [str(project.organization_id)]
        listed = {
            "iid": 7,
            "sha": "a" * 40,
            "source_branch": "basket",
            "target_branch": "main",
            "source_project_id": 4,
            "target_project_id": 4,
            "updated_at": "2026-11-20T18:33:00Z",
        }

        apply_pull_request(_fact(project, listed))

        assert PullRequest.objects.get().repository == project

    def test_where_nobody_is_named_it_is_lent_to_all(self, project: Repository, rival: Repository) -> None:
        assert credentials(rival) == credentials(project) is not None


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
