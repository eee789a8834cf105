"""From the event of a code host to the judged pull request."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings as service

from analysis.models import Platform, PullRequest, PullRequestPoll, Repository, Run, RunKind, RunStatus
from analysis.services import judging, runs
from analysis.services.repositories import connect_repository
from analysis.services.runs import claim_next_run
from tests import factories
from tests.analysis import hosting
from tests.analysis.conftest import TODAY
from tests.analysis.hosting import NOON, deliver, hosted
from tests.analysis.repositories import GitRepository, busy
from tests.analysis.test_scan_command import scan
from tests.api.described import differences
from tests.webhooks import deliveries
from webhooks.models import State, WebhookEvent

PRICES = "import requests\n\n\ndef price(url):\n    return requests.get(url)\n"
GATES = "gates:\n  block_merge:\n    - {metric: new_runtime_risk, operator: '>', value: 0}\n"


@pytest.fixture(autouse=True)
def secrets(settings: Any) -> None:
    settings.CODEHOST1_WEBHOOK_SECRET = deliveries.CODEHOST1_SECRET
    settings.CODEHOST2_WEBHOOK_TOKEN = deliveries.CODEHOST2_TOKEN


@pytest.fixture
def repository(shop: GitRepository, organization: Any) -> Repository:
    """The shop, connected by its name at code host 1; its first scan is left out."""
    repository = connect_repository(
        organization=organization,
        full_name="acme/shop",
        platform=Platform.CODEHOST1,
        clone_url=shop.url,
        default_branch="main",
    )
    repository.runs.all().delete()
    return repository


@pytest.fixture
def pull_request(shop: GitRepository, repository: Repository) -> hosting.PullRequest:
    """A branch that adds a call without a time limit."""
    shop.commit({".techdebt.yml": GATES}, on=TODAY)
    shop.git("checkout", "-q", "-b", "feature")
    shop.commit({"shop/prices.py": PRICES}, on=TODAY)
    return hosting.PullRequest(shop)


def judge_next(memory: judging.Memory | None = None) -> Run:
    """Carry out the next run in this process and this transaction."""
    run = claim_next_run(now=datetime.now(UTC))
    assert run is not None
    assert run.kind == RunKind.PULL_REQUEST
    judging.judge_pull_request(run, memory)
    run.refresh_from_db()
    return run


def push(source: GitRepository, files: dict[str, str | bytes | None]) -> str:
    return source.commit(files, on=TODAY)


def queued() -> list[Run]:
    return list(Run.objects.filter(status=RunStatus.QUEUED, kind=RunKind.PULL_REQUEST))


def row() -> PullRequest:
    return PullRequest.objects.get()


class TestVerdict:
    def test_an_opened_pull_request_is_judged_and_stands_in_the_history(
        self, pull_request: hosting.PullRequest, repository: Repository, as_member: Any
    ) -> None:
        head = pull_request.tell("opened")

        run = judge_next()

        assert (run.status, run.commit_sha) == (RunStatus.SUCCEEDED, head)
        (item,) = as_member.get(f"/v1/api/repos/{repository.pk}/prs").json()["data"]
        assert item.pop("date")
        assert item == {
            "prNumber": 7,
            "title": "Add prices",
            "author": "dana",
            "score": row().score,
            "gateResult": "fail",
            "blockingCount": 1,
            "warningCount": 1,
        }
        verdict = row().verdict
        assert [(each["ruleId"], each["file"]) for each in verdict["introduced"]] == [
            ("risk-http-no-timeout", "shop/prices.py")
        ]
        assert verdict["gates"] == [
            {
                "metric": "new_runtime_risk",
                "operator": ">",
                "value": 0,
                "actual": 1.0,
                "action": "block",
                "message": "New runtime risk findings: 1 (the policy blocks at > 0)",
            }
        ]

    def test_it_is_told_as_it_is_described_before_it_and_after(
        self, pull_request: hosting.PullRequest, repository: Repository, as_member: Any
    ) -> None:
        """Each null, and each field of the gates and findings."""
        pull_request.tell("opened")
        before = as_member.get(f"/v1/api/repos/{repository.pk}/prs/7")
        judge_next()
        after = as_member.get(f"/v1/api/repos/{repository.pk}/prs/7")

        assert (before.json()["verdict"], before.json()["gateResult"], before.json()["date"]) == (None, None, None)
        assert after.json()["verdict"]["gates"]
        assert after.json()["verdict"]["introduced"]
        assert [differences(before), differences(after)] == [[], []]

    def test_the_command_gives_the_same_verdict_for_the_same_commits(
        self, pull_request: hosting.PullRequest, shop: GitRepository, tmp_path: Any
    ) -> None:
        shop.git("mv", "shop/client.py", "shop/rates.py")
        push(shop, {"shop/models.py": "from django.db import models\n"})
        head = pull_request.tell("opened")
        judge_next()

        done = scan(str(shop.folder), "--base", "main", "--revision", head, "--gate", "--json", tmp_path=tmp_path)

        printed, stored = json.loads(done.stdout)["gate"], row()
        assert {name: printed[name] for name in stored.verdict} == stored.verdict
        assert len(stored.verdict["hash"]) == 64
        counts = (stored.gate_result, stored.score, stored.blocking_count, stored.warning_count)
        assert counts == (printed["result"], printed["score"], printed["blockingCount"], printed["warningCount"])

    def test_a_busy_file_that_gets_another_name_moves_no_score(
        self, repository: Repository, shop: GitRepository
    ) -> None:
        for days_ago in range(20, 8, -1):
            shop.commit({"shop/busy.py": busy(days_ago)}, on=TODAY - timedelta(days=days_ago))
        shop.git("checkout", "-q", "-b", "feature")
        shop.move("shop/busy.py", "shop/calm.py")
        push(shop, {})
        hosting.PullRequest(shop).tell("opened")

        judge_next()

        metrics = row().verdict["metrics"]
        assert metrics["hotspot_risk_max"] >= 60
        assert (metrics["health_delta"], metrics["debt_removed"], row().score) == (0, 0, 0)

    def test_a_todo_of_today_is_not_one_that_nobody_has_done_for_long(
        self, pull_request: hosting.PullRequest, shop: GitRepository
    ) -> None:
        shop.git("checkout", "-q", "main")
        shop.commit({"shop/old.py": "RATE = 1\n"}, on=TODAY - timedelta(days=300))
        push(shop, {"shop/since.py": "RATE = 2\n"})
        shop.git("checkout", "-q", "-B", "feature", "main")
        todos = "# TODO(dana): read it from the settings\nRATE = 1\n\n# TODO think about taxes\nTAX = 0\n"
        push(shop, {"shop/new.py": todos, "shop/old.py": todos})
        pull_request.tell("opened")

        judge_next()

        found = [(each["file"], each["severity"], each["line"]) for each in row().verdict["introduced"]]
        assert sorted(found) == [("shop/new.py", "info", 4), ("shop/old.py", "info", 4)]

    def test_the_policy_of_the_base_branch_decides_as_it_stands_now(
        self, pull_request: hosting.PullRequest, shop: GitRepository
    ) -> None:
        push(shop, {".techdebt.yml": "{}\n"})  # the change would free itself
        shop.git("checkout", "-q", "main")
        push(shop, {".techdebt.yml": GATES.replace("block_merge", "warn")})
        pull_request.tell("opened")

        judge_next()

        assert (row().gate_result, row().warning_count) == ("pass", 2)

    def test_the_policy_of_the_api_goes_before_the_file(
        self, pull_request: hosting.PullRequest, repository: Repository, as_admin: Any
    ) -> None:
        as_admin.put(f"/v1/api/repos/{repository.pk}/policy", {"gates": {"block_merge": [], "warn": []}})
        pull_request.tell("opened")

        judge_next()

        assert (row().gate_result, row().blocking_count, row().verdict["gates"]) == ("pass", 0, [])

    def test_a_change_that_breaks_the_policy_file_is_told_so(
        self, pull_request: hosting.PullRequest, shop: GitRepository
    ) -> None:
        push(shop, {".techdebt.yml": "gates: [\n", "shop/prices.py": None})
        pull_request.tell("opened")

        judge_next()

        assert row().gate_result == "pass"
        (note,) = row().verdict["notes"]
        assert note.startswith("This change leaves a policy file that cannot be used; once it is merged,")

    def test_an_expired_exception_is_reported_and_excuses_nothing(
        self, pull_request: hosting.PullRequest, shop: GitRepository
    ) -> None:
        yesterday = (TODAY - timedelta(days=1)).isoformat()
        exception = f"{{rule: risk-http-no-timeout, file: 'shop/p*', expires: {yesterday}, reason: Moves to httpx}}"
        shop.git("checkout", "-q", "main")
        push(shop, {".techdebt.yml": f"{GATES}exceptions:\n  - {exception}\n"})
        pull_request.tell("opened")

        judge_next()

        assert row().gate_result == "fail"
        (excuse,) = row().verdict["exceptions"]
        assert excuse == {
            "rule": "risk-http-no-timeout",
            "file": "shop/p*",
            "reason": "Moves to httpx",
            "expires": yesterday,
            "expired": True,
            "covered": 1,
        }
        assert any("exception expired" in note for note in row().verdict["notes"])

    def test_an_exception_in_force_excuses(self, pull_request: hosting.PullRequest, shop: GitRepository) -> None:
        tomorrow = (TODAY + timedelta(days=1)).isoformat()
        exception = f"{{rule: risk-http-no-timeout, file: 'shop/p*', expires: {tomorrow}, reason: Moves to httpx}}"
        shop.git("checkout", "-q", "main")
        push(shop, {".techdebt.yml": f"{GATES}exceptions:\n  - {exception}\n"})
        pull_request.tell("opened")

        judge_next()

        assert (row().gate_result, row().verdict["introducedTotal"]) == ("pass", 0)
        assert [(each["expired"], each["covered"]) for each in row().verdict["exceptions"]] == [(False, 1)]

    def test_only_changed_blobs_are_parsed(
        self, pull_request: hosting.PullRequest, repository: Repository, scan_here: Any
    ) -> None:
        runs.request_run(repository=repository)
        scan_here(repository)
        pull_request.tell("opened")

        run = judge_next()

        assert run.files_analyzed - run.files_from_cache == 1

    def test_what_a_process_remembers_changes_no_verdict(
        self, pull_request: hosting.PullRequest, shop: GitRepository
    ) -> None:
        memory = judging.Memory()
        pull_request.tell("opened")
        judge_next(memory)
        shop.git("mv", "shop/prices.py", "shop/costs.py")
        push(shop, {"shop/costs.py": PRICES + PRICES.replace("price", "cost"), "shop/more.py": PRICES})
        pull_request.tell("synchronize")
        judge_next(memory)
        remembered = row().verdict

        pull_request.tell("closed")
        pull_request.tell("reopened")
        judge_next()

        assert remembered["introducedTotal"] > 1
        assert row().verdict == remembered


class TestWhatIsAnalysed:
    def test_the_same_fact_told_again_changes_nothing(self, pull_request: hosting.PullRequest) -> None:
        head = pull_request.publish()
        for number in range(20):
            payload = pull_request.payload("opened", NOON, head)
            deliver("pull_request", payload, delivery="d-1" if number % 2 else f"d-{number}")

        assert Run.objects.filter(kind=RunKind.PULL_REQUEST).count() == 1

    def test_many_pushes_lead_to_one_analysis_of_the_last_head(
        self, pull_request: hosting.PullRequest, shop: GitRepository, figure: Any
    ) -> None:
        pull_request.tell("opened")
        now = datetime.now(UTC)
        running = claim_next_run(now=now)
        for number in range(figure(c=100, s=500, of="pushes")):
            pull_request.tell("synchronize", head=f"{number:040x}")
        push(shop, {"shop/number.py": "NUMBER = 1\n"})
        last = pull_request.tell("synchronize")

        (waiting,) = queued()
        assert (waiting.commit_sha, running.status) == (last, RunStatus.RUNNING)
        assert claim_next_run(now=now) is None
        judging.judge_pull_request(running)
        assert judge_next().commit_sha == row().judged_sha == last

    def test_an_older_fact_never_overwrites_a_newer_one(
        self, pull_request: hosting.PullRequest, shop: GitRepository
    ) -> None:
        first = pull_request.publish()
        push(shop, {"shop/number.py": "NUMBER = 1\n"})
        last = pull_request.tell("synchronize", at=NOON + timedelta(minutes=2))

        pull_request.tell("opened", at=NOON, head=first)

        assert (row().head_sha, [run.commit_sha for run in queued()]) == (last, [last])

    def test_the_host_is_asked_soon_which_of_two_facts_of_one_second_is_the_later(
        self, pull_request: hosting.PullRequest, repository: Repository, shop: GitRepository
    ) -> None:
        soon = datetime.now(UTC) + timedelta(minutes=5)
        poll = PullRequestPoll.objects.create(repository=repository, next_at=soon, etag='"list"')
        first = pull_request.publish()
        push(shop, {"shop/number.py": "NUMBER = 1\n"})
        pull_request.tell("synchronize", at=NOON)
        pull_request.tell("synchronize", at=NOON)
        poll.refresh_from_db()
        assert poll.next_at == soon

        pull_request.tell("opened", at=NOON, head=first)

        poll.refresh_from_db()
        assert (poll.next_at < soon, poll.etag) == (True, "")

    def test_a_draft_waits_until_it_is_ready(self, pull_request: hosting.PullRequest) -> None:
        pull_request.is_draft = True
        pull_request.tell("opened")
        assert queued() == []

        pull_request.is_draft = False
        pull_request.tell("ready_for_review")
        assert len(queued()) == 1

        pull_request.is_draft = True
        pull_request.tell("converted_to_draft")
        assert queued() == []

    def test_another_title_is_taken_over_without_an_analysis(self, pull_request: hosting.PullRequest) -> None:
        pull_request.tell("opened")
        judge_next()

        pull_request.title = "Add prices and rates"
        pull_request.tell("edited")

        assert (row().title, queued()) == ("Add prices and rates", [])

    def test_another_base_is_judged_against_that(self, pull_request: hosting.PullRequest, shop: GitRepository) -> None:
        pull_request.tell("opened")
        judge_next()
        shop.git("branch", "release", "feature")

        pull_request.base = "release"
        pull_request.tell("edited")
        judge_next()

        assert (row().base_branch, row().verdict["introducedTotal"], row().gate_result) == ("release", 0, "pass")

    def test_the_verdict_on_another_base_does_not_stand_for_one_that_cannot_be_judged(
        self, pull_request: hosting.PullRequest
    ) -> None:
        pull_request.tell("opened")
        judge_next()
        payload = pull_request.payload("edited", NOON + timedelta(days=1), pull_request.publish())
        payload["pull_request"]["base"] = {"ref": "gone", "sha": "0" * 40}
        deliver("pull_request", payload)
        assert row().judged_sha == ""

        run = claim_next_run(now=datetime.now(UTC))
        runs.end_run(run, RunStatus.FAILED, error="There is no branch gone.")

        assert (row().judged_sha, row().gate_result, row().score) == (row().head_sha, "pass", None)
        assert row().verdict["notes"] == ["There is no branch gone."]

    def test_a_closed_one_is_not_analysed(self, pull_request: hosting.PullRequest) -> None:
        pull_request.tell("opened")

        pull_request.tell("closed")

        run = Run.objects.get()
        assert (run.status, run.error) == (
            RunStatus.CANCELLED,
            "The pull request was closed before it was analysed.",
        )

    def test_one_that_closes_while_its_run_starts_ends_cancelled(self, pull_request: hosting.PullRequest) -> None:
        pull_request.tell("opened")
        run = claim_next_run(now=datetime.now(UTC))
        pull_request.tell("closed")

        judging.judge_pull_request(run)

        assert Run.objects.get().status == RunStatus.CANCELLED

    def test_reopening_analyses_again(self, pull_request: hosting.PullRequest) -> None:
        pull_request.tell("opened")
        pull_request.tell("closed")

        pull_request.tell("reopened")

        assert len(queued()) == 1

    def test_merging_scans_the_default_branch_once(
        self, pull_request: hosting.PullRequest, repository: Repository
    ) -> None:
        pull_request.tell("opened")
        for _ in range(2):
            pull_request.tell("closed", merged=True)

        assert [run.kind for run in repository.runs.filter(status=RunStatus.QUEUED)] == [RunKind.FIRST_SCAN]

    def test_a_fork_is_fetched_through_the_hosts_own_ref(
        self, pull_request: hosting.PullRequest, shop: GitRepository
    ) -> None:
        pull_request.is_fork = True
        head = pull_request.publish()
        shop.git("checkout", "-q", "main")
        shop.git("branch", "-D", "feature")

        pull_request.tell("opened", head=head)

        assert judge_next().status == RunStatus.SUCCEEDED

    def test_without_a_ref_of_the_host_the_branch_will_do(
        self, pull_request: hosting.PullRequest, shop: GitRepository
    ) -> None:
        pull_request.tell("opened", head=shop.head, base={"ref": "main"})

        assert judge_next().status == RunStatus.SUCCEEDED

    def test_after_a_forced_push_the_new_head_is_analysed(
        self, pull_request: hosting.PullRequest, shop: GitRepository
    ) -> None:
        lost = pull_request.publish()
        shop.git("reset", "-q", "--hard", "main")
        head = push(shop, {"shop/number.py": "NUMBER = 1\n"})
        pull_request.publish()
        shop.git("reflog", "expire", "--expire=now", "--all")
        shop.git("gc", "-q", "--prune=now")

        pull_request.tell("opened", head=lost)
        superseded = judge_next()

        assert superseded.status == RunStatus.CANCELLED
        assert head[:12] in superseded.error
        assert judge_next().commit_sha == row().judged_sha == head

    def test_one_that_was_merged_before_its_turn_is_judged_from_where_it_began(
        self, pull_request: hosting.PullRequest, shop: GitRepository
    ) -> None:
        base = shop.git("rev-parse", "main").strip()
        head = pull_request.publish()
        shop.git("checkout", "-q", "main")
        shop.git("merge", "-q", "--no-ff", "-m", "Merge", "feature")

        pull_request.tell("opened", head=head, base={"sha": base, "ref": "main"})
        judge_next()

        assert row().verdict["introducedTotal"] == 1


class TestNoVerdict:
    def test_a_head_that_is_gone_ends_with_a_sentence_and_a_visible_pass(
        self, pull_request: hosting.PullRequest
    ) -> None:
        pull_request.tell("opened", head="a" * 40)
        run = claim_next_run(now=datetime.now(UTC))

        runs.end_run(run, RunStatus.FAILED, error="The commit is not at the code host; push the branch again.")

        verdict = row().verdict
        assert (row().gate_result, row().score, verdict["evaluated"]) == ("pass", None, False)
        assert verdict["notes"] == ["The commit is not at the code host; push the branch again."]

    def test_a_lost_run_says_so_too(self, pull_request: hosting.PullRequest) -> None:
        pull_request.tell("opened")
        later = datetime.now(UTC)
        for _ in range(runs.MOST_ATTEMPTS):
            claim_next_run(now=later)
            later += service.RUN_LEASE + timedelta(seconds=1)

        assert runs.fail_exhausted_runs(now=later) == 1
        assert row().verdict["evaluated"] is False
        assert "interrupted three times" in row().verdict["notes"][0]

    def test_a_lost_worker_costs_none_of_the_time_that_its_successor_has(
        self, pull_request: hosting.PullRequest
    ) -> None:
        pull_request.tell("opened")
        lost = claim_next_run(now=datetime.now(UTC))
        later = datetime.now(UTC) + service.RUN_LEASE + timedelta(seconds=1)

        taken = claim_next_run(now=later)

        assert taken == lost
        assert taken.started_at == later

    def test_a_failure_leaves_a_good_verdict_on_the_same_commit(self, pull_request: hosting.PullRequest) -> None:
        pull_request.tell("opened")
        judge_next()
        pull_request.tell("closed")
        pull_request.tell("reopened")

        runs.end_run(claim_next_run(now=datetime.now(UTC)), RunStatus.TIMED_OUT, error="It took too long.")

        assert row().verdict["evaluated"] is True

    def test_a_plan_without_the_gate_is_told_which_one_has_it(
        self, pull_request: hosting.PullRequest, organization: Any
    ) -> None:
        organization.plan_id = "free"
        organization.save()

        pull_request.tell("opened")

        run = Run.objects.get()
        assert run.status == RunStatus.CANCELLED
        assert run.error == "The plan Free does not include prGate; the plan Solo has it."
        assert row().verdict["evaluated"] is False


class TestWhoHears:
    def test_a_private_repository_is_not_told_to_whoever_knows_its_name(
        self, pull_request: hosting.PullRequest
    ) -> None:
        pull_request.is_private = True

        pull_request.tell("opened")

        assert not PullRequest.objects.exists()
        assert WebhookEvent.objects.get().state == State.DONE

    def test_a_renamed_repository_is_followed_by_its_id(
        self, pull_request: hosting.PullRequest, repository: Repository
    ) -> None:
        pull_request.tell("opened")
        Repository.objects.update(clone_url="https://codehost.example/acme/shop.git")

        deliver("repository", {"action": "renamed", "repository": hosted("acme/store")})
        deliver("pull_request", pull_request.payload("closed", NOON, "a" * 40))  # an older event with the older name

        repository.refresh_from_db()
        assert repository.full_name == "acme/store"
        assert repository.clone_url == "https://codehost.example/acme/store.git"

    @pytest.mark.parametrize(
        ("ref", "after", "scans"),
        [
            ("refs/heads/main", "c" * 40, 1),
            ("refs/heads/feature", "c" * 40, 0),
            ("refs/tags/v1", "c" * 40, 0),
        ],
    )
    def test_a_push_to_the_default_branch_scans(self, repository: Repository, ref: str, after: str, scans: int) -> None:
        for _ in range(3):
            deliver("push", {"ref": ref, "after": after, "deleted": False, "repository": hosted()})

        assert repository.runs.count() == scans

    def test_a_deleted_branch_scans_nothing(self, repository: Repository) -> None:
        deliver("push", {"ref": "refs/heads/main", "after": "0" * 40, "deleted": True, "repository": hosted()})

        assert repository.runs.count() == 0


class TestFlood:
    def test_one_organizations_flood_does_not_delay_another(
        self, pull_request: hosting.PullRequest, shop: GitRepository, stranger: Any, settings: Any
    ) -> None:
        settings.RUN_SLOTS = 4
        for number in range(1, 31):
            pull_request.number = number
            pull_request.tell("opened")
        quiet = connect_repository(
            organization=factories.organization(owner=stranger),
            full_name="quiet/one",
            platform=Platform.CODEHOST1,
            clone_url=shop.url,
        )
        quiet.runs.update(kind=RunKind.SCAN)
        payload = pull_request.payload("opened", NOON, pull_request.publish())
        deliver("pull_request", {**payload, "repository": hosted("quiet/one", id=4711)})

        claimed = [claim_next_run(now=datetime.now(UTC)) for _ in range(4)]

        assert [run.repository.full_name for run in claimed[:3] if run] == ["acme/shop", "quiet/one", "acme/shop"]
        assert claimed[3].repository == quiet  # its scan: the flood has its half of the slots
