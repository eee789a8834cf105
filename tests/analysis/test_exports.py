"""Violations as files for other tools: SARIF 2.1.0 for code hosts and editors, CSV for spreadsheets."""

import csv
import io
import json
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analysis.exports import sarif as sarif_module
from analysis.models import Repository
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import GitRepository

pytestmark = pytest.mark.django_db

CALL = "import requests\n\n\ndef price(url):\n    return requests.get(url)"
POLICY = f"""
exceptions:
  - rule: risk-http-no-timeout
    file: "legacy/**"
    expires: {TODAY.replace(year=TODAY.year + 1, day=1)}
    reason: Goes away with the old shop
"""


@pytest.fixture
def scanned(shop: GitRepository, connect: Any, scan_here: Any) -> Repository:
    """Two findings that somebody lives with, one each way, a name to be escaped, and what the shop itself has."""
    shop.commit(
        {
            ".techdebt.yml": POLICY,
            "legacy/price.py": f"{CALL}\n",
            "shop/price.py": f"{CALL}  # debt: ignore[risk-http-no-timeout] only used by hand\n",
            "shop/50% & söns/price.py": f"{CALL}\n",
        },
        on=TODAY,
    )
    repository = connect(shop)
    scan_here(repository)
    return repository


def read(client: Any, repository: Repository, ending: str, query: str = "") -> bytes:
    answer = client.get(f"/v1/api/repos/{repository.pk}/violations.{ending}{query}")
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)


def run_of(client: Any, repository: Repository) -> dict[str, Any]:
    return json.loads(read(client, repository, "sarif"))["runs"][0]


def calls(run: dict[str, Any]) -> dict[str, Any]:
    """The results about calls without a time limit, by path."""
    return {
        unquote(each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]): each
        for each in run["results"]
        if each["ruleId"] == "risk-http-no-timeout"
    }


class TestSarif:
    def test_each_violation_is_a_result_with_its_rule_and_place(self, as_member: Any, scanned: Repository) -> None:
        document = json.loads(read(as_member, scanned, "sarif"))
        run = document["runs"][0]

        assert (document["version"], len(document["runs"])) == ("2.1.0", 1)
        assert len(run["results"]) == scanned.violations.count()
        rules = run["tool"]["driver"]["rules"]
        assert all(rules[each["ruleIndex"]]["id"] == each["ruleId"] for each in run["results"])
        found = calls(run)["shop/client.py"]
        assert found["level"] == "warning"
        assert found["locations"][0]["physicalLocation"]["region"] == {"startLine": 8}
        assert found["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "rates", "kind": "function"}]

    def test_rules_bring_their_help_within_the_hosts_limits(self, as_member: Any, scanned: Repository) -> None:
        for rule in run_of(as_member, scanned)["tool"]["driver"]["rules"]:
            assert rule["help"]["text"] and rule["help"]["markdown"].startswith("## ")
            assert len(rule["fullDescription"]["text"]) <= 1024
            assert len(rule["properties"]["tags"]) <= 10

    def test_paths_are_relative_uris(self, as_member: Any, scanned: Repository) -> None:
        place = calls(run_of(as_member, scanned))["shop/50% & söns/price.py"]["locations"][0]["physicalLocation"]

        assert place["artifactLocation"] == {
            "uri": "shop/50%25%20%26%20s%C3%B6ns/price.py",
            "uriBaseId": "%SRCROOT%",
        }

    def test_what_somebody_lives_with_says_why_and_where(self, as_member: Any, scanned: Repository) -> None:
        found = calls(run_of(as_member, scanned))

        assert found["legacy/price.py"]["suppressions"] == [
            {"kind": "external", "status": "accepted", "justification": "Goes away with the old shop"}
        ]
        assert found["shop/price.py"]["suppressions"] == [
            {"kind": "inSource", "status": "accepted", "justification": "only used by hand"}
        ]
        assert "suppressions" not in found["shop/client.py"]

    def test_fingerprints_survive_moved_lines_and_renamed_files(
        self, as_member: Any, scanned: Repository, shop: GitRepository, scan_here: Any
    ) -> None:
        before = calls(run_of(as_member, scanned))["shop/client.py"]["partialFingerprints"]
        shop.git("mv", "shop/client.py", "shop/rates.py")
        shop.commit({"shop/rates.py": "# Rates\n\n" + (shop.folder / "shop/rates.py").read_text()}, on=TODAY)
        as_member.post(f"/v1/api/repos/{scanned.pk}/analyze")
        scan_here(scanned)

        assert calls(run_of(as_member, scanned))["shop/rates.py"]["partialFingerprints"] == before

    def test_more_than_the_host_takes_is_cut_and_says_so(
        self, as_member: Any, scanned: Repository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for module in ("analysis.exports.sarif", "analysis.selectors.exports"):
            monkeypatch.setattr(f"{module}.MOST_RESULTS", 2)
        assert sarif_module.MOST_RESULTS == 2
        run = run_of(as_member, scanned)

        assert [each["level"] for each in run["results"]] == ["warning", "warning"]
        notes = run["invocations"][0]["toolExecutionNotifications"]
        assert notes[0]["message"]["text"] == f"Only the gravest 2 of {scanned.violations.count()} findings are listed."


class TestCsv:
    def rows(self, client: Any, repository: Repository, query: str = "") -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(read(client, repository, "csv", query).decode(), newline="")))

    def test_it_lists_the_open_violations_as_the_api_does(self, as_member: Any, scanned: Repository) -> None:
        listed = as_member.get(f"/v1/api/repos/{scanned.pk}/violations?perPage=100").json()["data"]

        rows = self.rows(as_member, scanned)

        assert [row["id"] for row in rows] == [each["id"] for each in listed]
        assert rows[0]["message"] == listed[0]["message"]

    def test_the_filters_of_the_list_hold(self, as_member: Any, scanned: Repository) -> None:
        rows = self.rows(as_member, scanned, "?ruleId=risk-http-no-timeout&file=shop/client.py")

        assert [(row["ruleId"], row["file"], row["line"]) for row in rows] == [
            ("risk-http-no-timeout", "shop/client.py", "8")
        ]

    def test_no_cell_begins_a_formula(self, as_member: Any, scanned: Repository) -> None:
        for start in ("=", "+", "-", "@", "\t", "\r", " ="):
            scanned.violations.update(message=f'{start}HYPERLINK("https://evil.example","x")')

            assert {row["message"][:1] for row in self.rows(as_member, scanned)} == {"'"}, start

    def test_a_filter_that_makes_no_sense_is_400(self, as_member: Any, scanned: Repository) -> None:
        answer = as_member.get(f"/v1/api/repos/{scanned.pk}/violations.csv?severity=grave")

        assert (answer.status_code, answer["Content-Type"]) == (400, "application/json")


@pytest.mark.parametrize("ending", ["csv", "sarif"])
class TestBoth:
    def test_who_has_it_already_is_answered_304_until_something_changes(
        self, ending: str, as_member: Any, scanned: Repository
    ) -> None:
        url = f"/v1/api/repos/{scanned.pk}/violations.{ending}"
        held = {"If-None-Match": as_member.get(url)["ETag"]}
        again = as_member.get(url, headers=held)
        Repository.objects.filter(pk=scanned.pk).update(updated_at=scanned.updated_at + timedelta(seconds=1))
        after = as_member.get(url, headers=held)

        assert (again.status_code, again.content, again["ETag"]) == (304, b"", held["If-None-Match"])
        assert after.status_code == 200

    def test_it_is_a_file_with_the_name_of_the_repository(
        self, ending: str, as_member: Any, scanned: Repository
    ) -> None:
        answer = as_member.get(f"/v1/api/repos/{scanned.pk}/violations.{ending}")

        assert answer["Content-Disposition"] == f'attachment; filename="acme-shop.{ending}"'

    def test_more_violations_cost_no_more_queries(self, ending: str, as_member: Any, scanned: Repository) -> None:
        with CaptureQueriesContext(
            connection,
        ) as few:
            read(as_member, scanned, ending)
        template = scanned.violations.filter(status="open").first()
        for number in range(50):
            template.pk, template.fingerprint = None, f"{number:032x}"
            template._state.adding = True
            template.save()
        with CaptureQueriesContext(connection) as many:
            read(as_member, scanned, ending)

        assert len(many) == len(few) <= 9

    def test_before_the_first_scan_it_is_empty(
        self, ending: str, as_member: Any, shop: GitRepository, connect: Any
    ) -> None:
        content = read(as_member, connect(shop), ending)

        if ending == "sarif":
            assert json.loads(content)["runs"][0]["results"] == []
        else:
            assert content.count(b"\r\n") == 1

    def test_to_strangers_it_does_not_exist(self, ending: str, as_stranger: Any, scanned: Repository) -> None:
        assert as_stranger.get(f"/v1/api/repos/{scanned.pk}/violations.{ending}").status_code == 404
