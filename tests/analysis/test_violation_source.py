"""One violation and the code around it, read from a real clone."""

import shutil
from typing import Any

import pytest

from analysis.models import Repository, Violation
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import GitRepository

pytestmark = pytest.mark.django_db


@pytest.fixture
def scanned(shop: GitRepository, connect: Any, scan_here: Any) -> Repository:
    hostile = (
        b"import requests\r\n\n\ndef get(url):  # caf\xe9 \xe2\x80\xae \x1b[2J\n    return requests.get(url)"
        + b" " * 600
    )
    (shop.folder / "shop/hostile.py").write_bytes(hostile + b"\n")
    shop.commit({}, on=TODAY)
    repository = connect(shop)
    scan_here(repository)
    return repository


def violation_of(repository: Repository, file: str = "shop/client.py") -> Violation:
    return repository.violations.get(rule_id="risk-http-no-timeout", file=file)


def url_of(violation: Violation) -> str:
    return f"/v1/api/repos/{violation.repository_id}/violations/{violation.pk}"


def test_the_line_stands_among_its_neighbours(as_member: Any, scanned: Repository, shop: GitRepository) -> None:
    violation = violation_of(scanned)

    shown = as_member.get(f"{url_of(violation)}/source?context=2").json()

    assert (shown["file"], shown["commitSha"]) == ("shop/client.py", shop.head)
    assert (shown["startLine"], shown["highlight"], shown["endLine"]) == (6, 8, 10)
    assert shown["lines"] == (shop.folder / "shop/client.py").read_text().split("\n")[5:10]


def test_the_context_ends_with_the_file(as_member: Any, scanned: Repository) -> None:
    shown = as_member.get(f"{url_of(violation_of(scanned))}/source?context=1000").json()

    assert (shown["startLine"], shown["endLine"]) == (1, len(shown["lines"])) == (1, 10)


@pytest.mark.parametrize("context", ["-1", "x", "1.5"])
def test_a_context_that_makes_no_sense_is_400(context: str, as_member: Any, scanned: Repository) -> None:
    answer = as_member.get(f"{url_of(violation_of(scanned))}/source?context={context}")

    assert (answer.status_code, answer.json()["message"].split(":")[0]) == (400, "context")


def test_hostile_bytes_are_replaced_and_endless_lines_cut(as_member: Any, scanned: Repository) -> None:
    lines = as_member.get(f"{url_of(violation_of(scanned, 'shop/hostile.py'))}/source").json()["lines"]

    assert lines[0] == "import requests"
    assert lines[3] == "def get(url):  # caf\ufffd \ufffd \ufffd[2J"
    assert len(lines[4]) == 500


def test_a_clone_that_is_gone_is_409_with_a_way_out(as_member: Any, scanned: Repository) -> None:
    shutil.rmtree(scanned.folder)

    answer = as_member.get(f"{url_of(violation_of(scanned))}/source")

    assert answer.status_code == 409
    assert "the next scan fetches it again" in answer.json()["message"]


def test_a_resolved_violation_of_a_deleted_file_can_be_read_without_source(as_member: Any, scanned: Repository) -> None:
    violation = violation_of(scanned)
    Violation.objects.filter(pk=violation.pk).update(file="shop/deleted.py", status="resolved")

    assert as_member.get(url_of(violation)).json()["file"] == "shop/deleted.py"
    assert as_member.get(f"{url_of(violation)}/source").status_code == 404


def test_one_that_does_not_count_says_why(
    as_member: Any, scanned: Repository, shop: GitRepository, scan_here: Any
) -> None:
    def shown() -> tuple[str, str, str | None]:
        answer = as_member.get(url_of(violation)).json()
        return answer["id"], answer["status"], answer["suppressionReason"]

    violation = violation_of(scanned)
    client = shop.folder / "shop/client.py"
    assert shown() == (str(violation.pk), "open", None)

    code = client.read_text()
    shop.commit(
        {"shop/client.py": code.replace(".json()", ".json()  # debt: ignore[risk-http-no-timeout] by hand")}, on=TODAY
    )
    as_member.post(f"/v1/api/repos/{scanned.pk}/analyze")
    scan_here(scanned)
    assert shown() == (str(violation.pk), "suppressed", "by hand")

    shop.commit({"shop/client.py": None}, on=TODAY)
    as_member.post(f"/v1/api/repos/{scanned.pk}/analyze")
    scan_here(scanned)
    assert shown() == (str(violation.pk), "resolved", None)


def test_to_strangers_and_other_repositories_it_does_not_exist(
    as_stranger: Any, as_member: Any, scanned: Repository, organization: Any
) -> None:
    violation = violation_of(scanned)
    other = Repository.objects.create(
        organization=organization, full_name="acme/other", platform="git", clone_url="https://example.org/other.git"
    )

    for tail in ("", "/source"):
        assert as_stranger.get(url_of(violation) + tail).status_code == 404
        assert as_member.get(f"/v1/api/repos/{other.pk}/violations/{violation.pk}{tail}").status_code == 404
        assert as_member.get(f"/v1/api/repos/{scanned.pk}/violations/none{tail}").status_code == 404
