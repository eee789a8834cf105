"""Both code hosts on the loopback, and a pull request there with a run that waits."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from analysis.models import Platform, PullRequest, Repository, Run, RunKind
from tests.providers.codehosts import APP_ID, INSTALLATION, PRIVATE_KEY, TOKEN_OF_HOST2, CodeHost1, CodeHost2
from tests.providers.loopback import serving

HEAD = "a" * 40
Sent = Callable[..., None]


@pytest.fixture
def host1(settings: Any) -> Iterator[CodeHost1]:
    with serving(CodeHost1) as server:
        settings.CODEHOST1_URL = settings.CODEHOST1_API_URL = server.url
        settings.CODEHOST1_APP_ID, settings.CODEHOST1_PRIVATE_KEY = APP_ID, PRIVATE_KEY
        settings.APP_URL = "https://debt.example.org"
        yield server


@pytest.fixture
def host2(settings: Any) -> Iterator[CodeHost2]:
    with serving(CodeHost2) as server:
        settings.CODEHOST2_URL, settings.CODEHOST2_API_URL = server.url, f"{server.url}/api/v4"
        settings.CODEHOST2_TOKEN = TOKEN_OF_HOST2
        yield server


@pytest.fixture
def sent(django_capture_on_commit_callbacks: Any) -> Sent:
    """Call something as a transaction of its own; what it announced is sent at its end."""

    def commit(service: Callable[..., None], *arguments: Any) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            service(*arguments)

    return commit


@pytest.fixture
def run(organization: Any) -> Run:
    """Of pull request 12 at code host 1."""
    return waiting_run(organization, Platform.CODEHOST1)


def waiting_run(organization: Any, platform: Platform) -> Run:
    repository = Repository.objects.create(
        organization=organization,
        full_name="acme/shop",
        platform=platform,
        clone_url="https://code.example.org/acme/shop.git",
        installation_id=INSTALLATION if platform == Platform.CODEHOST1 else "",
    )
    pull_request = PullRequest.objects.create(
        repository=repository, number=12, title="Add rates", author="dana", head_sha=HEAD, base_branch="main"
    )
    return next_run(pull_request, HEAD)


def next_run(pull_request: PullRequest, sha: str) -> Run:
    repository = pull_request.repository
    return Run.objects.create(
        organization_id=repository.organization_id,
        repository=repository,
        pull_request=pull_request,
        kind=RunKind.PULL_REQUEST,
        status="succeeded",
        commit_sha=sha,
        queued_at=datetime.now(UTC),
    )


def finding(**changes: Any) -> dict[str, Any]:
    """One that blocks."""
    return {
        "ruleId": "perf-query-in-loop",
        "category": "performance",
        "severity": "critical",
        "confidence": "high",
        "file": "shop/orders.py",
        "line": 7,
        "function": "total",
        "message": "A query for each element of a list",
        "suggestion": "Fetch them with one query",
        "debtPoints": 6.0,
        "gateAction": "block",
        **changes,
    }


GATE = {"metric": "new_critical", "operator": ">", "value": 0, "actual": 1, "action": "block"}


def verdict(*introduced: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "hash": "0f" * 32,
        "mergeBase": "b" * 40,
        "metrics": {},
        "gates": [GATE] if introduced else [],
        "introduced": list(introduced),
        "introducedTotal": len(introduced),
        "resolved": [],
        "resolvedTotal": 0,
        "exceptions": [],
        "notes": [],
        "evaluated": True,
        **changes,
    }


def judge(run: Run, said: dict[str, Any]) -> None:
    """Store a verdict as the run would."""
    blocking = len(said["introduced"]) + len(said["gates"])
    assert run.pull_request is not None
    PullRequest.objects.filter(pk=run.pull_request_id).update(
        judged_sha=run.commit_sha,
        score=12.0 if blocking else 0.0,
        gate_result="fail" if blocking else "pass",
        blocking_count=blocking,
        verdict=said,
    )
