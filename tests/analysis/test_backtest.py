"""POST /api/repos/:id/policy/backtest: what a policy would have said of the pull requests that were merged lately."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analysis.engine.policy import Policy
from analysis.models import BlobFacts, Repository, Run, StoredPolicy
from analysis.services.backtests import UNDER_WAY, backtest_policy
from analysis.services.inputs import load_inputs
from analysis.services.rejudging import last_state
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import SHOP, GitRepository, busy

pytestmark = pytest.mark.django_db

LOOP = "from shop.models import Order\n\n\ndef lookup(ids):\n    return [Order.objects.get(pk=each) for each in ids]\n"
STRICT = {"gates": {"block_merge": [{"metric": "new_violations", "operator": ">", "value": 0}], "warn": []}}
LENIENT = {"gates": {"block_merge": [], "warn": [{"metric": "new_violations", "operator": ">", "value": 0}]}}


@pytest.fixture
def merging(shop: GitRepository) -> GitRepository:
    """Three pull requests, of which the second brings a query for each element; one commit went to main directly."""
    pull(shop, 7, {"shop/names.py": "NAMES = ['a']\n"}, days_ago=6)
    pull(shop, 8, {"shop/lookup.py": LOOP}, days_ago=5)
    shop.commit({"shop/rates.py": SHOP["shop/client.py"]}, on=TODAY - timedelta(days=4), message="Straight to main")
    pull(shop, 9, {"shop/names.py": "NAMES = ['b']\n"}, days_ago=3)
    return shop


def pull(shop: GitRepository, number: int, files: dict[str, str | bytes | None], *, days_ago: int) -> None:
    shop.git("checkout", "-q", "-b", f"change-{number}")
    shop.commit(files, on=TODAY - timedelta(days=days_ago), message="Work")
    shop.git("checkout", "-q", "main")
    message = f"Merge pull request #{number} from acme/change-{number}"
    shop.git("merge", "-q", "--no-ff", "-m", message, f"change-{number}")


@pytest.fixture
def scanned(merging: GitRepository, connect: Any, scan_here: Any) -> Repository:
    repository: Repository = connect(merging)
    scan_here(repository)
    return repository


def ask(client: Any, repository: Repository, policy: Any, **more: Any) -> dict[str, Any]:
    answer = client.post(f"/v1/api/repos/{repository.pk}/policy/backtest", {"policy": policy, **more})
    assert answer.status_code == 200, answer.json()
    told: dict[str, Any] = answer.json()
    return told


class TestBacktest:
    def test_it_names_the_pull_requests_that_would_have_failed_and_why(
        self, as_member: Any, scanned: Repository
    ) -> None:
        told = ask(as_member, scanned, STRICT)

        assert [(each["prNumber"], each["result"]) for each in told["pullRequests"]] == [
            (9, "pass"), (8, "fail"), (7, "pass"),
        ]  # fmt: skip
        assert (told["evaluated"], told["failed"], told["notEvaluated"]) == (3, 1, 0)
        failed = told["pullRequests"][1]
        assert failed["gates"][0]["message"] == "New violations: 1 (the policy blocks at > 0)"
        assert [(each["file"], each["line"]) for each in failed["violations"]] == [("shop/lookup.py", 5)]

    def test_other_gates_give_other_verdicts_on_the_same_walk(self, as_member: Any, scanned: Repository) -> None:
        ask(as_member, scanned, STRICT)

        told = ask(as_member, scanned, LENIENT)

        assert (told["failed"], told["warned"]) == (0, 1)

    def test_an_exception_takes_the_finding_out(self, as_member: Any, scanned: Repository) -> None:
        exception = {"rule": "*", "file": "shop/lookup.py", "expires": "2099-01-01", "reason": "Small lists"}
        found = ask(as_member, scanned, STRICT)["pullRequests"][1]["violations"][0]
        exception["rule"] = found["ruleId"]

        assert ask(as_member, scanned, {**STRICT, "exceptions": [exception]})["failed"] == 0

    def test_changed_lines_are_counted_for_a_gate_that_asks(self, as_member: Any, scanned: Repository) -> None:
        gates = {"block_merge": [{"metric": "changed_lines", "operator": ">=", "value": 5}]}

        told = ask(as_member, scanned, {"gates": gates})

        assert [each["result"] for each in told["pullRequests"]] == ["pass", "fail", "pass"]
        assert told["pullRequests"][1]["gates"][0]["actual"] == 5

    def test_the_limit_counts_pull_requests(self, as_member: Any, scanned: Repository) -> None:
        assert [each["prNumber"] for each in ask(as_member, scanned, STRICT, limit=1)["pullRequests"]] == [9]
        assert len(ask(as_member, scanned, STRICT, limit=5000)["pullRequests"]) == 3

    def test_a_squashing_history_is_read_by_the_numbers_in_its_subjects(
        self, as_member: Any, shop: GitRepository, connect: Any, scan_here: Any
    ) -> None:
        shop.commit({"shop/lookup.py": LOOP}, on=TODAY, message="Look orders up (#31)")
        repository = connect(shop)
        scan_here(repository)

        told = ask(as_member, repository, STRICT)

        assert [(each["prNumber"], each["result"]) for each in told["pullRequests"]] == [(31, "fail")]

    def test_a_pull_request_is_not_blamed_for_what_went_to_the_branch_directly_before_and_after_it(
        self, as_member: Any, shop: GitRepository, connect: Any, scan_here: Any
    ) -> None:
        for number in range(6):
            pulls = {2: " (#31)", 4: " (#32)"}.get(number, "")
            text = f"NAMES = ['{number}']\n" if pulls else LOOP
            shop.commit({f"shop/part{number}.py": text}, on=TODAY, message=f"Part {number}{pulls}")
        repository = connect(shop)
        scan_here(repository)

        told = ask(as_member, repository, STRICT)

        assert [(each["prNumber"], each["result"], each["score"]) for each in told["pullRequests"]] == [
            (32, "pass", 0.0), (31, "pass", 0.0),
        ]  # fmt: skip

    def test_a_renamed_file_brings_nothing(
        self, as_member: Any, merging: GitRepository, connect: Any, scan_here: Any
    ) -> None:
        merging.git("checkout", "-q", "-b", "move")
        merging.move("shop/lookup.py", "shop/search.py")
        merging.commit({}, on=TODAY, message="Move")
        merging.git("checkout", "-q", "main")
        merging.git("merge", "-q", "--no-ff", "-m", "Merge pull request #10 from acme/move", "move")
        repository = connect(merging)
        scan_here(repository)

        told = ask(as_member, repository, STRICT)

        assert [(each["prNumber"], each["result"]) for each in told["pullRequests"]] == [
            (10, "pass"), (9, "pass"), (8, "fail"), (7, "pass"),
        ]  # fmt: skip

    def test_a_busy_file_that_gets_another_name_moves_no_score(
        self, as_member: Any, merging: GitRepository, connect: Any, scan_here: Any
    ) -> None:
        for days_ago in range(20, 8, -1):
            merging.commit({"shop/busy.py": busy(days_ago)}, on=TODAY - timedelta(days=days_ago))
        merging.git("checkout", "-q", "-b", "move")
        merging.move("shop/busy.py", "shop/calm.py")
        merging.commit({}, on=TODAY, message="Move")
        merging.git("checkout", "-q", "main")
        merging.git("merge", "-q", "--no-ff", "-m", "Merge pull request #10 from acme/move", "move")
        repository = connect(merging)
        scan_here(repository)

        gates = {"warn": [{"metric": "health_delta", "operator": "!=", "value": 0}]}
        told = ask(as_member, repository, {"gates": gates}, limit=1)

        assert [(each["prNumber"], each["gates"]) for each in told["pullRequests"]] == [(10, [])]

    def test_the_verdict_of_then_stands_beside_it(self, as_member: Any, scanned: Repository) -> None:
        scanned.pull_requests.create(
            number=8, title="Look up", head_sha="a" * 40, base_branch="main", gate_result="pass"
        )

        told = ask(as_member, scanned, STRICT)

        assert [each["currentResult"] for each in told["pullRequests"]] == [None, "pass", None]

    def test_when_the_time_is_over_it_says_what_is_left_and_the_next_call_goes_on(
        self, as_member: Any, scanned: Repository
    ) -> None:
        told = backtest_policy(repository=scanned, body=STRICT, limit=50, today=TODAY, seconds=0)
        assert (told["evaluated"], told["notEvaluated"]) == (0, 3)

        assert ask(as_member, scanned, STRICT)["notEvaluated"] == 0

    def test_it_takes_few_queries_however_many_there_are(
        self, as_member: Any, scanned: Repository, django_assert_max_num_queries: Any
    ) -> None:
        with django_assert_max_num_queries(20):
            ask(as_member, scanned, STRICT)
        with django_assert_max_num_queries(10):  # the walk is at hand
            ask(as_member, scanned, LENIENT)

    def test_facts_that_were_never_stored_are_parsed(self, as_member: Any, scanned: Repository) -> None:
        present = {blob for blob, _ in load_inputs(scanned.pk).tree.values()}
        assert BlobFacts.objects.exclude(blob__in=present).delete()[0]

        assert ask(as_member, scanned, STRICT)["evaluated"] == 3

        assert BlobFacts.objects.exclude(blob__in=present).count() == 1  # names.py as it was before
        assert not StoredPolicy.objects.exists()


class TestRefusals:
    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ({}, "policy: "),
            ({"policy": []}, "policy"),
            ({"policy": {"gates": {"warn": [{"metric": "x"}]}}}, "gates.warn[0]"),
            ({"policy": {}, "limit": 0}, "limit: "),
        ],
    )
    def test_what_is_no_policy_is_refused(self, as_member: Any, scanned: Repository, body: Any, message: str) -> None:
        answer = as_member.post(f"/v1/api/repos/{scanned.pk}/policy/backtest", body)

        assert answer.status_code == 400
        assert message in answer.json()["message"]

    def test_without_its_clone_the_history_is_unknown(self, as_member: Any, scanned: Repository) -> None:
        scanned.folder.rename(scanned.folder.with_suffix(".gone"))

        answer = as_member.post(f"/v1/api/repos/{scanned.pk}/policy/backtest", {"policy": {}})

        assert answer.status_code == 409
        assert "start an analysis" in answer.json()["message"]

    def test_before_the_first_scan_there_is_nothing(self, as_member: Any, shop: GitRepository, connect: Any) -> None:
        told = ask(as_member, connect(shop), STRICT)

        assert told == {
            "commitSha": None, "evaluated": 0, "failed": 0, "warned": 0, "notEvaluated": 0, "pullRequests": [],
        }  # fmt: skip


class TestTurns:
    """A web process has few threads: nobody may take them all."""

    def test_a_second_back_test_is_refused_at_once(self, as_member: Any, scanned: Repository) -> None:
        with UNDER_WAY:
            answer = as_member.post(f"/v1/api/repos/{scanned.pk}/policy/backtest", {"policy": STRICT})

        assert answer.status_code == 503
        assert answer.json()["message"] == "Another back-test is under way; try again in a few seconds"
        assert ask(as_member, scanned, STRICT)["evaluated"] == 3

    def test_a_preview_does_not_wait_for_the_end_of_a_back_test(self, as_member: Any, scanned: Repository) -> None:
        state = last_state(scanned)
        assert state is not None
        with state.evaluator(Policy(), TODAY):
            answer = as_member.post(f"/v1/api/repos/{scanned.pk}/policy/preview", STRICT)

        assert answer.status_code == 503
        assert as_member.post(f"/v1/api/repos/{scanned.pk}/policy/preview", STRICT).status_code == 200

    def test_a_changed_policy_is_stored_and_left_to_a_worker(self, as_admin: Any, scanned: Repository) -> None:
        state = last_state(scanned)
        assert state is not None
        with state.evaluator(Policy(), TODAY):
            answer = as_admin.put(f"/v1/api/repos/{scanned.pk}/policy", STRICT)

        assert answer.status_code == 200
        assert StoredPolicy.objects.filter(repository=scanned).exists()
        assert Run.objects.abandoned(timezone.now()).get().repository == scanned
