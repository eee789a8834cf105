"""The App's protocol against a code host that others wrote: tokens, comments, check runs and the list of open requests.

It knows no commit statuses; those are spoken of in test_publishing.
"""

from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest
from django.utils import timezone

from analysis.models import Platform, Publication, PublicationKind, PublicationState, PullRequest, PullRequestPoll
from analysis.services import polling, publishing
from tests.analysis.publications.conftest import finding, judge, next_run, verdict, waiting_run
from tests.providers import npm, servers
from tests.providers.codehosts import APP_ID, INSTALLATION, PRIVATE_KEY

pytestmark = pytest.mark.django_db

SEED = {
    "tokens": {"dana-token": {"login": "dana", "scopes": ["repo"]}},
    "github": {
        "users": [{"login": "dana", "name": "Dana Doe", "email": "dana@example.org"}],
        "orgs": [{"login": "acme", "name": "Acme", "members": [{"login": "dana", "role": "admin"}]}],
        "repos": [{"owner": "acme", "name": "shop", "auto_init": True}],
        "apps": [
            {
                "app_id": int(APP_ID),
                "slug": "technical-debt",
                "name": "Technical Debt",
                "private_key": PRIVATE_KEY,
                "permissions": {
                    "contents": "read",
                    "checks": "write",
                    "issues": "write",
                    "pull_requests": "write",
                    "statuses": "write",
                },
                "installations": [{"installation_id": int(INSTALLATION), "account": "acme"}],
            }
        ],
    },
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("emulate")
    (folder / "seed.json").write_bytes(orjson.dumps(SEED))
    port, program = servers.free_port(), npm.installed("emulate") / "dist" / "index.js"
    command = [npm.NODE, program, "start", "--service", "github", "--port", str(port), "--seed", "seed.json"]
    with servers.running(command, port=port, cwd=folder):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def dana(address: str) -> Iterator[httpx.Client]:
    """Somebody who works there, with a token of her own."""
    headers = {"Authorization": "Bearer dana-token"}
    with httpx.Client(base_url=f"{address}/repos/acme/shop", headers=headers) as client:
        yield client


@pytest.fixture
def opened(address: str, dana: httpx.Client, settings: Any) -> dict[str, Any]:
    """A pull request as the host tells of it."""
    settings.CODEHOST1_URL = settings.CODEHOST1_API_URL = address
    settings.CODEHOST1_APP_ID, settings.CODEHOST1_PRIVATE_KEY = APP_ID, PRIVATE_KEY
    main = good(dana.get("/git/ref/heads/main"))["object"]["sha"]
    good(dana.post("/git/refs", json={"ref": "refs/heads/rates", "sha": main}))
    file = {"message": "Add rates", "content": "eD0xCg==", "branch": "rates"}
    good(dana.put("/contents/shop/rates.py", json=file))
    request = good(dana.post("/pulls", json={"title": "Add rates", "head": "rates", "base": "main"}))
    told: dict[str, Any] = request
    return told


def good(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


def test_a_pull_request_is_polled_judged_and_spoken_of(
    opened: dict[str, Any], dana: httpx.Client, organization: Any, django_capture_on_commit_callbacks: Any
) -> None:
    repository = waiting_run(organization, Platform.CODEHOST1).repository
    PullRequestPoll.objects.create(repository=repository, next_at=timezone.now())
    assert polling.poll(repository.pk, now=timezone.now()) == 1
    pull_request = PullRequest.objects.get(repository=repository, number=opened["number"])
    assert pull_request.head_sha == opened["head"]["sha"]
    run = next_run(pull_request, pull_request.head_sha)

    for said in (verdict(finding()), verdict(finding(line=9))):
        judge(run, said)
        with django_capture_on_commit_callbacks(execute=True):
            publishing.announce_verdict(run)

    (comment,) = good(dana.get(f"/issues/{opened['number']}/comments"))
    assert "shop/orders.py:9" in comment["body"]
    assert comment["user"]["type"] == "Bot"
    check_runs = good(dana.get(f"/commits/{pull_request.head_sha}/check-runs"))["check_runs"]
    assert {each["conclusion"] for each in check_runs} == {"failure"}
    assert all(each["output"]["annotations_count"] == 1 for each in check_runs)
    sent = Publication.objects.filter(state=PublicationState.SENT).values_list("kind", flat=True)
    assert set(sent) == {PublicationKind.COMMENT, PublicationKind.CHECK_RUN}
