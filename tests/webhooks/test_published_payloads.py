"""The example payloads that code host 1 publishes all pass through its receiver."""

import fcntl
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.conf import settings
from django.utils import timezone

from analysis.models import Installation, Platform, Repository, RunKind, RunStatus
from tests.providers.npm import NODE, NPM
from tests.webhooks import deliveries
from webhooks import inbox
from webhooks.models import SourceName, State, WebhookEvent
from webhooks.sources import codehost1
from webhooks.sources.base import Fact

pytestmark = pytest.mark.django_db

PACKAGE = "@octokit/webhooks-examples@7.6.1"


@pytest.fixture(scope="module")
def examples() -> list[dict]:
    """All events of the public host with their example payloads, from the npm package."""
    home = settings.BASE_DIR / "var" / "npm" / "webhooks-examples-7.6.1"
    home.parent.mkdir(parents=True, exist_ok=True)
    with (home.parent / "examples-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            install(home)
    listing = home / "node_modules" / "@octokit" / "webhooks-examples" / "api.github.com" / "index.json"
    return orjson.loads(listing.read_bytes())


def install(home: Path) -> None:
    draft = home.with_name(f"{home.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    command = [NODE, NPM, "install", "--prefix", draft, "--no-audit", "--no-fund", "--ignore-scripts", PACKAGE]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    draft.rename(home)


def test_every_published_payload_is_stored_and_done(examples):
    sent = 0
    for event in examples:
        for payload in event["examples"]:
            response = deliveries.codehost1(event["name"], payload).send()
            assert (response.status_code, response.json()["duplicate"]) == (200, False), event["name"]
            sent += 1
    while inbox.drain():
        pass

    assert sent > 200
    assert Counter(WebhookEvent.objects.values_list("state", flat=True)) == {State.DONE: sent}


def test_published_payloads_are_filed_under_what_they_are_about(examples):
    subjects = {}
    for name, first_words in (
        ("pull_request", "repository "),
        ("push", "repository "),
        ("installation", "installation "),
    ):
        payloads = next(event["examples"] for event in examples if event["name"] == name)
        for payload in payloads:
            deliveries.codehost1(name, payload).send()
        subjects[name] = set(WebhookEvent.objects.filter(type__startswith=name).values_list("subject", flat=True))
        assert all(subject.startswith(first_words) for subject in subjects[name])
    assert len(subjects["pull_request"]) < 29


class TestEffects:
    """The handled payloads, one after the other, in a repository that is connected."""

    @pytest.fixture
    def repository(self, organization) -> Repository:
        return Repository.objects.create(
            organization=organization,
            full_name="Codertocat/Hello-World",
            platform=Platform.CODEHOST1,
            clone_url="https://codehost.example/Codertocat/Hello-World.git",
        )

    def send(self, examples: list[dict], name: str, action: str | None = None) -> None:
        payloads = next(event["examples"] for event in examples if event["name"] == name)
        for payload in payloads:
            if payload.get("action") == action:
                deliveries.codehost1(name, payload).send()
        inbox.drain()

    def test_a_pull_request_goes_through_its_states(self, examples, repository):
        seen = []
        for action in ("opened", "converted_to_draft", "ready_for_review", "closed", "reopened"):
            self.send(examples, "pull_request", action)
            row = repository.pull_requests.get()
            seen.append((row.is_open, row.is_draft, row.runs.filter(status=RunStatus.QUEUED).count()))

        assert (row.number, row.title, row.author) == (2, "Update the README with new information.", "Codertocat")
        assert seen == [
            (True, False, 1),
            (True, True, 0),
            (True, False, 1),
            (False, False, 0),
            (False, False, 0),  # the reopened one is older than the closed one
        ]

    def test_pushes_scan_the_default_branch_once(self, examples, repository):
        self.send(examples, "push")

        assert [run.kind for run in repository.runs.all()] == [RunKind.FIRST_SCAN]
        repository.refresh_from_db()
        assert (repository.default_branch, repository.external_id) == ("master", "186853002")

    def test_a_repository_that_becomes_private_is_not_heard_of_any_more(self, examples, repository):
        self.send(examples, "repository", "privatized")
        self.send(examples, "installation", "created")
        self.send(examples, "installation_repositories", "added")

        repository.refresh_from_db()
        assert (repository.external_id, repository.installation_id) == ("", "")
        assert Installation.objects.filter(organization=None).exists()
        assert WebhookEvent.objects.filter(handled=True, state=State.DONE).count() == WebhookEvent.objects.count()


def facts_of(examples: list[dict], name: str, read: Callable[[Fact], Any]) -> list[Any]:
    payloads = next(event["examples"] for event in examples if event["name"] == name)
    return [read(Fact(SourceName.CODEHOST1, "d-1", name, timezone.now(), payload)) for payload in payloads]


class TestFacts:
    def test_every_pull_request_payload_becomes_a_fact(self, examples):
        facts = facts_of(examples, "pull_request", codehost1.pull_request_fact)

        assert len(facts) == 29
        assert all(len(fact.head_sha) == len(fact.base_sha) == 40 and fact.number and fact.title for fact in facts)
        assert all(fact.repository.full_name and fact.repository.default_branch for fact in facts)
        assert {fact.is_open for fact in facts} == {True, False}

    def test_every_push_payload_becomes_a_fact(self, examples):
        facts = facts_of(examples, "push", codehost1.push_fact)

        assert len(facts) == 7
        assert any(fact.is_to_default_branch for fact in facts)
        assert any(not fact.branch or not fact.head_sha for fact in facts)

    def test_every_installation_payload_becomes_a_fact(self, examples):
        facts = facts_of(examples, "installation", codehost1.installation_fact)
        facts += facts_of(examples, "installation_repositories", codehost1.installation_fact)

        assert len(facts) == 10
        assert all(fact.installation_id and fact.account for fact in facts)
        assert any(fact.added for fact in facts)
        assert any(fact.removed for fact in facts)
        assert all(not fact.added for fact in facts if fact.is_deleted)
