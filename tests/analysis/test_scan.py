"""A repository is connected over the API, scanned by a real run, and read back over the API."""

import zlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from analysis.engine.facts import FileFacts, encode
from analysis.engine.version import facts_version
from analysis.models import BlobFacts, Repository, RunStatus, ScanInputs, StoredPolicy, ViolationStatus
from analysis.parsing import MISSING
from analysis.services.repositories import disconnect_repository
from analysis.services.runs import request_run
from analysis.services.workspaces import keep
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import SHOP, GitRepository

pytestmark = pytest.mark.django_db(transaction=True)


def rules_of(repository: Repository, status: str = ViolationStatus.OPEN) -> set[str]:
    return set(repository.violations.filter(status=status).values_list("rule_id", flat=True))


def scan_again(repository: Repository) -> Repository:
    request_run(repository=repository)
    return Repository.objects.get(pk=repository.pk)


class TestFirstScan:
    def test_connecting_over_the_api_scans_and_serves_the_results(
        self, as_admin: Any, organization: Any, shop: GitRepository
    ) -> None:
        body = {"orgId": str(organization.pk), "fullName": "acme/shop", "platform": "git", "cloneUrl": shop.url}
        response = as_admin.post("/v1/api/repos", body)
        assert response.status_code == 201
        url = f"/v1/api/repos/{response.json()['id']}"

        overview = as_admin.get(f"{url}/overview").json()
        first_scan = as_admin.get(f"{url}/first-scan").json()

        assert overview["totalViolations"] > 0
        assert overview["categoryBreakdown"]["runtime_risk"] >= 1
        assert first_scan["status"] == "succeeded"
        assert first_scan["commitSha"] == shop.head
        assert first_scan["filesAnalyzed"] == 3
        assert first_scan["languages"]["Python"] > 10
        assert first_scan["totalViolations"] == overview["totalViolations"]

    def test_the_run_tells_what_it_did(self, as_member: Any, connect: Any, shop: GitRepository) -> None:
        repository = connect(shop)

        run = as_member.get(f"/v1/api/runs/{repository.first_run_id}").json()

        assert run["kind"] == "first_scan"
        assert (run["status"], run["phase"], run["progress"]) == ("succeeded", "finished", 100)
        assert run["commitSha"] == shop.head
        assert run["error"] is None
        assert run["durationMs"] > 0

    def test_the_planted_debt_is_found_where_it_lies(self, as_member: Any, connect: Any, shop: GitRepository) -> None:
        repository = connect(shop)

        found = as_member.get(f"/v1/api/repos/{repository.pk}/violations").json()["data"]

        places = {(each["ruleId"], each["file"], each["line"], each["function"]) for each in found}
        assert ("risk-http-no-timeout", "shop/client.py", 8, "rates") in places
        assert ("risk-mutable-default-argument", "shop/client.py", 5, "rates") in places
        assert ("rel-swallowed-exception", "shop/client.py", 9, "rates") in places

    def test_the_overview_lists_what_the_violations_say(
        self, as_member: Any, connect: Any, shop: GitRepository
    ) -> None:
        url = f"/v1/api/repos/{connect(shop).pk}"

        listed = as_member.get(f"{url}/overview").json()["categories"]["runtime_risk"]["warning"]

        query = {"category": "runtime_risk", "severity": "warning"}
        found = as_member.get(f"{url}/violations", query).json()["data"]
        assert found
        assert [(each["rule"], each["file"], each["line"], each["message"]) for each in listed] == [
            (each["ruleId"], each["file"], each["line"], each["message"]) for each in found
        ]

    def test_the_past_is_filled_from_git(self, as_member: Any, connect: Any, shop: GitRepository) -> None:
        repository = connect(shop)

        trends = as_member.get(f"/v1/api/repos/{repository.pk}/trends?period=60d").json()

        totals = {each["date"]: each["total"] for each in trends["violations"]}
        assert len(totals) == 41
        assert totals[(TODAY - timedelta(days=40)).isoformat()] == 0
        assert totals[(TODAY - timedelta(days=11)).isoformat()] == 0
        assert totals[(TODAY - timedelta(days=10)).isoformat()] > 0
        assert totals[TODAY.isoformat()] == repository.total_violations

    def test_hotspots_count_the_commits_of_the_last_ninety_days(
        self, as_member: Any, connect: Any, shop: GitRepository
    ) -> None:
        repository = connect(shop)

        churn = {
            each["file"]: each["churnCount"] for each in as_member.get(f"/v1/api/repos/{repository.pk}/hotspots").json()
        }

        assert churn["shop/orders.py"] == 2
        assert churn["shop/client.py"] == 1


class TestNextScan:
    def test_when_nothing_changed_the_report_stands_and_is_of_now(self, connect: Any, shop: GitRepository) -> None:
        before = connect(shop)

        after = scan_again(before)

        first, run = before.first_run, after.runs.latest("queued_at")
        assert (run.kind, run.status, run.commit_sha, run.notes) == ("scan", "succeeded", shop.head, first.notes)
        assert run.files_analyzed == run.files_from_cache == first.files_analyzed > 0
        assert after.current_report == before.current_report
        assert after.last_scan_at > before.last_scan_at

    def test_an_unchanged_commit_that_other_code_judged_is_judged_again_and_not_parsed(
        self, connect: Any, shop: GitRepository
    ) -> None:
        before = connect(shop)
        before.reports.update(judged_from="")

        after = scan_again(before)

        run = after.runs.latest("queued_at")
        assert after.current_report.run == run
        assert run.files_from_cache == run.files_analyzed > 0

    def test_what_the_clone_lacked_is_looked_for_again(self, connect: Any, shop: GitRepository) -> None:
        before = connect(shop)
        ScanInputs.objects.update(notes=[["Files missing from the clone: 1."], []])

        after = scan_again(before)

        assert after.current_report != before.current_report

    def test_files_too_large_to_be_cloned_make_no_scan_necessary(self, connect: Any, shop: GitRepository) -> None:
        shop.git("config", "uploadpack.allowFilter", "true")
        shop.commit({"data.json": "1," * 1024 * 1024}, on=TODAY)
        before = connect(shop)
        assert before.first_run.notes[0].startswith("Files missing from the clone")

        after = scan_again(before)

        assert after.current_report == before.current_report

    def test_a_blob_that_another_clone_lacked_is_read_where_it_is(self, connect: Any, shop: GitRepository) -> None:
        blob = shop.git("rev-parse", "HEAD:shop/client.py").strip()
        data = zlib.compress(encode(FileFacts("python", skipped=MISSING)))
        BlobFacts.objects.create(
            blob=blob, reading="python", version=facts_version(), data=data, used_on=TODAY, was_read=False
        )

        repository = connect(shop)

        assert repository.violations.filter(file="shop/client.py").exists()
        assert BlobFacts.objects.get(blob=blob).was_read

    def test_without_a_chosen_branch_scans_follow_the_remote(self, connect: Any, shop: GitRepository) -> None:
        repository = connect(shop)
        before = repository.default_branch
        shop.git("branch", "-m", "trunk")

        after = scan_again(repository)

        assert (before, after.default_branch) == ("main", "trunk")
        assert after.runs.latest("queued_at").status == RunStatus.SUCCEEDED

    def test_the_baseline_is_the_first_scan_that_succeeds(self, as_member: Any, connect: Any, tmp_path: Path) -> None:
        late = GitRepository.create(tmp_path / "late")
        repository = connect(late)
        url = f"/v1/api/repos/{repository.pk}/first-scan"
        before = as_member.get(url).json()
        late.commit(SHOP, on=TODAY)

        scan_again(repository)

        after = as_member.get(url).json()
        assert (before["status"], before["healthScore"]) == ("failed", None)
        assert (after["status"], after["commitSha"]) == ("succeeded", late.head)
        assert after["totalViolations"] > 0
        scan_again(repository)
        assert as_member.get(url).json()["runId"] == after["runId"]

    def test_what_its_attributes_call_vendored_is_neither_judged_nor_counted(
        self, connect: Any, shop: GitRepository
    ) -> None:
        repository = connect(shop)
        shop.commit({".gitattributes": "shop/client.py linguist-vendored\n"}, on=TODAY)

        after = scan_again(repository)

        run = after.runs.latest("queued_at")
        assert run.files_analyzed == run.files_from_cache == repository.first_run.files_analyzed - 1
        assert "risk-http-no-timeout" not in rules_of(after)

    def test_a_day_that_is_missing_is_filled_though_nothing_changed(self, connect: Any, shop: GitRepository) -> None:
        repository = connect(shop)
        days = set(repository.snapshots.values_list("day", flat=True))
        repository.snapshots.earliest("day").delete()

        scan_again(repository)

        assert set(repository.snapshots.values_list("day", flat=True)) == days

    def test_a_policy_that_changed_meanwhile_judges_the_unchanged_commit(
        self, connect: Any, shop: GitRepository
    ) -> None:
        before = connect(shop)
        StoredPolicy.objects.create(repository=before, body={"data_volumes": {"orders": "XL"}})

        after = scan_again(before)

        assert after.current_report != before.current_report

    def test_a_violation_keeps_its_id_when_its_lines_move(self, connect: Any, shop: GitRepository) -> None:
        repository = connect(shop)
        before = repository.violations.get(rule_id="risk-http-no-timeout")
        client = (shop.folder / "shop/client.py").read_text()
        shop.commit({"shop/client.py": "# Rates of the day\n\n" + client}, on=TODAY)

        after = scan_again(repository).violations.get(rule_id="risk-http-no-timeout")

        assert after.pk == before.pk
        assert after.line == before.line + 2

    def test_a_violation_keeps_its_id_when_its_file_is_renamed(self, connect: Any, shop: GitRepository) -> None:
        repository = connect(shop)
        before = repository.violations.get(rule_id="risk-http-no-timeout")
        shop.move("shop/client.py", "shop/rates/client.py")
        shop.commit({}, on=TODAY)

        after = scan_again(repository).violations.get(rule_id="risk-http-no-timeout")

        assert after.pk == before.pk
        assert after.file == "shop/rates/client.py"

    def test_a_repaired_violation_is_resolved(self, connect: Any, shop: GitRepository) -> None:
        repository = connect(shop)
        client = (shop.folder / "shop/client.py").read_text().replace('{region}")', '{region}", timeout=5)')
        shop.commit({"shop/client.py": client}, on=TODAY)

        repository = scan_again(repository)

        assert "risk-http-no-timeout" in rules_of(repository, ViolationStatus.RESOLVED)
        assert "risk-http-no-timeout" not in rules_of(repository)


class TestBadInput:
    """Each ends in a final state with a sentence that says what to do, and nothing is left behind."""

    def failed(self, repository: Repository) -> str:
        run = repository.runs.get()
        assert run.status == RunStatus.FAILED
        return run.error

    def test_an_empty_repository(self, connect: Any, tmp_path: Any) -> None:
        assert "no commits" in self.failed(connect(GitRepository.create(tmp_path / "empty")))

    def test_a_folder_that_is_no_repository(self, connect: Any, tmp_path: Any, workspace: Any) -> None:
        (tmp_path / "plain").mkdir()

        repository = connect(GitRepository(tmp_path / "plain"))

        assert "no git repository" in self.failed(repository)
        assert not repository.folder.exists()

    def test_of_one_that_could_not_be_cloned_nothing_stays(self, connect: Any, tmp_path: Any, workspace: Any) -> None:
        repository = connect(GitRepository(tmp_path / "nowhere"))
        before = [*(workspace / "clones").iterdir()]

        disconnect_repository(repository=repository)
        keep(now=timezone.now())

        assert before
        assert not [*(workspace / "clones").iterdir()]

    def test_a_branch_that_does_not_exist(self, organization: Any, connect: Any, shop: GitRepository) -> None:
        repository = connect(shop)
        Repository.objects.filter(pk=repository.pk).update(default_branch="nowhere", is_branch_chosen=True)

        scan_again(repository)

        run = repository.runs.latest("queued_at")
        assert run.status == RunStatus.FAILED
        assert "no branch nowhere" in run.error
        repository.refresh_from_db()
        assert repository.health_score is not None

    def test_odd_files_are_skipped_and_the_rest_is_scanned(self, connect: Any, shop: GitRepository) -> None:
        shop.commit(
            {
                "assets/logo.py": b"\x89PNG\x00\x01" * 50,
                "assets/latin.py": "naïve = 'é'\n".encode("latin-1"),
                "assets/wide.py": "value = 1\n".encode("utf-16"),
                "assets/min.js": "a=1;" * 5000,
                "assets/big.py": "x = 1\n" * 300_000,
                "assets/new\nline.py": "def broken(:\n    pass\n\n\ndef fine(a=[]):\n    return a\n",
            },
            on=TODAY,
        )
        (shop.folder / "link.py").symlink_to("/etc/passwd")
        shop.commit({}, on=TODAY)

        repository = connect(shop)

        assert repository.runs.get().status == RunStatus.SUCCEEDED
        files = set(repository.violations.values_list("file", flat=True))
        assert "shop/client.py" in files
        assert "link.py" not in files
