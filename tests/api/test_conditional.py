"""Reads that the caller has already, and conditions that do not hold, on both ways an ETag is made."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from analysis.models import Repository
from config.release import release
from organizations.audit import record

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rate_limits")]

OF_BYTES, OF_A_VERSION = "/v1/orgs", "/v1/api/repos"


@pytest.mark.parametrize("url", [OF_BYTES, OF_A_VERSION])
class TestConditions:
    def test_304_has_the_validator_and_the_state_of_the_limit(self, url: str, as_owner: Any, organization: Any) -> None:
        etag = as_owner.get(url)["ETag"]

        again = as_owner.get(url, headers={"If-None-Match": etag})

        assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
        assert (again["RateLimit-Limit"], again["RateLimit-Remaining"]) == ("100", "98")
        assert "RateLimit-Reset" in again

    def test_412_has_the_error_body(self, url: str, as_owner: Any, organization: Any) -> None:
        refused = as_owner.get(url, headers={"If-Match": '"another"'})

        assert refused.status_code == 412
        assert refused.json() == {
            "statusCode": 412,
            "message": "The answer is another version than the condition names; read it again",
            "error": "Precondition Failed",
        }


@pytest.mark.parametrize("name", ["views.py", "packs/flask.yml"])
def test_answers_belong_to_a_release_of_modules_and_rule_packs(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("config.release.ROOT", tmp_path)
    file = tmp_path / "analysis" / name
    file.parent.mkdir(parents=True)
    file.write_text("one")
    before = release.__wrapped__()

    file.write_text("another")

    assert release.__wrapped__() != before


class TestPagesOfLists:
    """Known by their rows, before these are shown."""

    @pytest.fixture
    def repository(self, organization: Any) -> Repository:
        return Repository.objects.create(organization=organization, full_name="acme/shop", platform="git")

    def test_runs_are_sent_anew_when_one_has_come_further(self, as_owner: Any, repository: Repository) -> None:
        now = timezone.now()
        run = repository.runs.create(organization=repository.organization, kind="scan", status="running", queued_at=now)
        url = f"/v1/api/repos/{repository.pk}/runs"
        etag = as_owner.get(url)["ETag"]
        assert as_owner.get(url, headers={"If-None-Match": etag}).status_code == 304

        repository.runs.filter(pk=run.pk).update(progress=60)

        again = as_owner.get(url, headers={"If-None-Match": etag})
        assert (again.status_code, again.json()["data"][0]["progress"]) == (200, 60)

    def test_pull_requests_are_sent_anew_when_one_is_called_otherwise(
        self, as_owner: Any, repository: Repository
    ) -> None:
        repository.pull_requests.create(
            number=1, title="A", head_sha="b" * 40, base_branch="main", judged_at=timezone.now(), gate_result="pass"
        )
        url = f"/v1/api/repos/{repository.pk}/prs"
        etag = as_owner.get(url)["ETag"]
        assert as_owner.get(url, headers={"If-None-Match": etag}).status_code == 304

        repository.pull_requests.update(title="B")

        again = as_owner.get(url, headers={"If-None-Match": etag})
        assert (again.status_code, again.json()["data"][0]["title"]) == (200, "B")

    def test_the_audit_trail_is_sent_anew_when_somebody_in_it_is_called_otherwise(
        self, as_owner: Any, owner: User, organization: Any
    ) -> None:
        record(organization=organization, actor=owner, action="test.line")
        url = f"/v1/orgs/{organization.pk}/audit-log"
        etag = as_owner.get(url)["ETag"]
        assert as_owner.get(url, headers={"If-None-Match": etag}).status_code == 304

        User.objects.filter(pk=owner.pk).update(name="Another")

        again = as_owner.get(url, headers={"If-None-Match": etag})
        assert (again.status_code, again.json()["data"][0]["actor"]["name"]) == (200, "Another")
