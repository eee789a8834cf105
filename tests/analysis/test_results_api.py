"""The reads of a repository: who may, what they answer before a scan, to odd queries, and at what cost."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from redis.backoff import NoBackoff
from redis.retry import Retry

from accounts.models import User
from analysis.models import Platform, PullRequest, Repository, Run, ScanReport, Snapshot, Violation
from analysis.services.repositories import LOOKING_UP
from analysis.shapes import gravest_shape
from tests import factories

pytestmark = pytest.mark.django_db

READS = (
    "", "/overview", "/violations", "/trends", "/hotspots", "/prs", "/runtime-risks", "/first-scan", "/runs",
)  # fmt: skip
NOW = timezone.now()
TODAY = NOW.astimezone(UTC).date()


@pytest.fixture
def repository(organization: Any) -> Repository:
    return Repository.objects.create(
        organization=organization,
        full_name="Acme/Shop",
        platform=Platform.GIT,
        clone_url="https://example.org/shop.git",
    )


@pytest.fixture
def scanned(repository: Repository) -> Repository:
    """A repository with a finished scan, written down as a run would."""
    run = Run.objects.create(
        organization=repository.organization, repository=repository, kind="first_scan", status="succeeded",
        queued_at=NOW, started_at=NOW, finished_at=NOW + timedelta(seconds=2),
    )  # fmt: skip
    report = ScanReport.objects.create(
        run=run, repository=repository, commit_sha="c" * 40, engine_version="1", health_score=71, debt_score=12.34,
        debt_points=99, production_risk="MEDIUM", total_violations=3, files_analyzed=9, lines_of_code=800,
        languages={"Go": 800}, hotspots=[spot("a.go", 80), spot("b.go", 10)],
        top_hotspots=[spot("a.go", 80), spot("b.go", 10)], risk_counts=RISK_COUNTS,
        category_breakdown=dict.fromkeys(
            ("architecture", "runtime_risk", "performance", "reliability", "maintainability"), 1
        ),
        gravest=gravest_shape(()),
    )  # fmt: skip
    Repository.objects.filter(pk=repository.pk).update(
        current_report=report, first_run=run, health_score=71, total_violations=3, production_risk="MEDIUM"
    )
    add_violation(repository, "risk-defer-in-loop", "runtime_risk", "warning", line=5)
    add_violation(repository, "perf-n-plus-one-query", "performance", "critical", line=9, table="orders", volume="XL")
    add_violation(repository, "rel-error-ignored", "reliability", "info", line=1, module="store")
    add_violation(repository, "rel-error-ignored", "reliability", "critical", line=2, status="resolved")
    add_violation(repository, "rel-error-ignored", "reliability", "critical", line=3, status="suppressed")
    return Repository.objects.get(pk=repository.pk)


RISK_COUNTS = {"critical": 0, "warning": 1, "byType": {"t": 1}}


def spot(file: str, risk: int) -> dict[str, Any]:
    return {
        "file": file,
        "complexity": 9,
        "churnCount": 4,
        "violationCount": 1,
        "riskScore": risk,
        "linesOfCode": 120,
        "topAuthorShare": 1.0,
        "coupledFiles": [],
    }


def add_violation(repository: Repository, rule: str, category: str, severity: str, line: int, **more: Any) -> None:
    Violation.objects.create(
        repository=repository, fingerprint=uuid.uuid4().hex, rule_id=rule, category=category, type="t",
        severity=severity, severity_rank=("info", "warning", "critical").index(severity), confidence="high",
        file="a.go", line=line, function="f", message="m", suggestion="s", debt_points=1.5, first_seen_at=NOW,
        **{"status": "open", "module": "api", **more},
    )  # fmt: skip


def add_pull_request(repository: Repository, number: int) -> None:
    PullRequest.objects.create(
        repository=repository, number=number, title="t", author="a", head_sha="d" * 40, base_branch="main",
        judged_at=NOW, score=1.0, gate_result="pass",
    )  # fmt: skip


def add_snapshot(repository: Repository, days_ago: int, total: int, score: float) -> None:
    Snapshot.objects.create(
        repository=repository, day=TODAY - timedelta(days=days_ago), commit_sha="c" * 40, total=total, critical=1,
        warning=2, architecture=0, runtime_risk=1, performance=1, reliability=1, maintainability=0, debt_score=score,
        health_score=71, lines_of_code=800, production_risk="LOW",
    )  # fmt: skip


class TestAccess:
    @pytest.mark.parametrize("path", READS)
    def test_every_member_may_read(
        self, path: str, as_owner: Any, as_admin: Any, as_member: Any, repository: Any
    ) -> None:
        for client in (as_owner, as_admin, as_member):
            assert client.get(f"/v1/api/repos/{repository.pk}{path}").status_code == 200

    @pytest.mark.parametrize("path", READS)
    def test_to_strangers_it_does_not_exist(self, path: str, as_stranger: Any, repository: Any) -> None:
        foreign = as_stranger.get(f"/v1/api/repos/{repository.pk}{path}")
        unknown = as_stranger.get(f"/v1/api/repos/{uuid.uuid4()}{path}")
        malformed = as_stranger.get(f"/v1/api/repos/no-id{path}")

        assert foreign.status_code == unknown.status_code == malformed.status_code == 404
        assert foreign.json() == unknown.json() == malformed.json()

    @pytest.mark.parametrize("path", READS)
    def test_without_a_token_it_is_401(self, path: str, anonymous: Any, repository: Any) -> None:
        assert anonymous.get(f"/v1/api/repos/{repository.pk}{path}").status_code == 401

    def test_members_may_not_connect_or_disconnect(self, as_member: Any, organization: Any, repository: Any) -> None:
        body = {"orgId": str(organization.pk), "fullName": "acme/web", "platform": "git", "cloneUrl": "https://x.org/a"}

        assert as_member.post("/v1/api/repos", body).status_code == 403
        assert as_member.delete(f"/v1/api/repos/{repository.pk}").status_code == 403

    def test_every_member_may_start_an_analysis(self, as_member: Any, repository: Any) -> None:
        answer = as_member.post(f"/v1/api/repos/{repository.pk}/analyze")

        assert answer.status_code == 200
        assert answer.json()["status"] == "queued"
        again = as_member.post(f"/v1/api/repos/{repository.pk}/analyze")
        assert again.json()["runId"] == answer.json()["runId"]

    def test_a_run_of_strangers_does_not_exist(self, as_stranger: Any, as_member: Any, scanned: Any) -> None:
        url = f"/v1/api/runs/{scanned.first_run_id}"

        assert as_member.get(url).status_code == 200
        assert as_stranger.get(url).status_code == 404


class TestConnect:
    def body(self, organization: Any, **more: Any) -> dict[str, Any]:
        base = {"orgId": str(organization.pk), "fullName": "acme/web", "platform": "git"}
        return base | {"cloneUrl": "https://93.184.216.34/acme/web.git"} | more

    def test_a_second_connection_conflicts_in_any_case(self, as_admin: Any, organization: Any) -> None:
        assert as_admin.post("/v1/api/repos", self.body(organization)).status_code == 201

        assert as_admin.post("/v1/api/repos", self.body(organization, fullName="ACME/Web")).status_code == 409

    @pytest.mark.parametrize("name", ["../../acme/web", "acme/..", "./web", "acme/../../web", "acme/.../web", "web"])
    def test_a_name_that_leads_elsewhere_is_400(self, name: str, as_admin: Any, organization: Any) -> None:
        answer = as_admin.post("/v1/api/repos", self.body(organization, fullName=name))

        assert answer.status_code == 400
        assert answer.json()["message"] == "fullName: must have the form owner/name"

    @pytest.mark.parametrize("name", ["acme/.github", "a.b/..c", "_/-.git-"])
    def test_a_name_may_have_dots_in_any_place(self, name: str, as_admin: Any, organization: Any) -> None:
        assert as_admin.post("/v1/api/repos", self.body(organization, fullName=name)).status_code == 201

    @pytest.mark.parametrize(
        "address",
        [
            "file:///etc/passwd.git", "ssh://git@example.org/a.git", "ext::sh -c id", "-oProxyCommand=id",
            "http://93.184.216.34/a.git", "https://127.0.0.1/a.git", "https://user:secret@93.184.216.34/a.git",
            "https://[::1]/a.git", "https://nowhere.invalid/a.git", "https://169.254.169.254/latest",
        ],
    )  # fmt: skip
    def test_an_address_outside_the_allowed_ones_is_400(
        self, address: str, as_admin: Any, organization: Any, settings: Any
    ) -> None:
        settings.CLONE_ALLOWED_SCHEMES = ["https"]

        answer = as_admin.post("/v1/api/repos", self.body(organization, cloneUrl=address))

        assert answer.status_code == 400
        assert answer.json()["message"].startswith("cloneUrl: ")
        assert not Repository.objects.filter(full_name="acme/web").exists()

    def test_one_slow_look_up_of_a_name_does_not_hold_the_next(self, as_admin: Any, organization: Any) -> None:
        with LOOKING_UP:
            answer = as_admin.post("/v1/api/repos", self.body(organization))

        assert answer.status_code == 503
        assert as_admin.post("/v1/api/repos", self.body(organization)).status_code == 201

    def test_a_code_host_that_is_not_set_up_needs_an_address(self, as_admin: Any, organization: Any) -> None:
        answer = as_admin.post("/v1/api/repos", self.body(organization, platform="codehost1", cloneUrl=""))

        assert answer.status_code == 503

    def test_the_plan_limits_the_number_of_repositories(self, stranger: Any, as_stranger: Any) -> None:
        small = factories.organization(owner=stranger, plan="free")
        for number in range(2):
            assert as_stranger.post("/v1/api/repos", self.body(small, fullName=f"acme/{number}")).status_code == 201

        answer = as_stranger.post("/v1/api/repos", self.body(small))

        assert answer.status_code == 403
        assert "Solo" in answer.json()["message"]

    def test_disconnecting_deletes_everything(self, as_admin: Any, scanned: Any) -> None:
        assert as_admin.delete(f"/v1/api/repos/{scanned.pk}").status_code == 204

        assert not Repository.objects.exists()
        assert not Violation.objects.exists()
        assert as_admin.get("/v1/api/repos").json() == []


class TestBeforeTheFirstScan:
    def test_reads_answer_zeros_nulls_and_empty_lists(self, as_member: Any, repository: Any) -> None:
        url = f"/v1/api/repos/{repository.pk}"
        overview = as_member.get(f"{url}/overview").json()

        assert (overview["healthScore"], overview["totalViolations"], overview["debtScoreAvg"]) == (None, 0, None)
        assert overview["violationsTrend"] == overview["topHotspots"] == overview["recentPRs"] == []
        assert overview["categories"]["performance"] == {"count": 0, "critical": [], "warning": []}
        assert as_member.get(f"{url}/hotspots").json() == []
        assert as_member.get(f"{url}/trends").json()["violations"] == []
        assert as_member.get(f"{url}/first-scan").json()["status"] is None
        assert as_member.get(f"{url}/violations").json()["total"] == 0

    def test_the_first_scan_tells_that_it_is_queued(self, as_member: Any, as_admin: Any, organization: Any) -> None:
        body = TestConnect().body(organization)
        repository = as_admin.post("/v1/api/repos", body).json()

        baseline = as_member.get(f"/v1/api/repos/{repository['id']}/first-scan").json()

        assert baseline["status"] == "queued"
        assert baseline["healthScore"] is None


class TestViolations:
    def found(self, client: Any, repository: Any, query: str = "") -> list[int]:
        answer = client.get(f"/v1/api/repos/{repository.pk}/violations{query}")
        assert answer.status_code == 200, answer.json()
        return [each["line"] for each in answer.json()["data"]]

    def test_open_ones_come_the_gravest_first(self, as_member: Any, scanned: Any) -> None:
        assert self.found(as_member, scanned) == [9, 5, 1]

    def test_filters_narrow_them_down_together(self, as_member: Any, scanned: Any) -> None:
        assert self.found(as_member, scanned, "?category=reliability") == [1]
        assert self.found(as_member, scanned, "?severity=warning") == [5]
        assert self.found(as_member, scanned, "?module=store") == [1]
        assert self.found(as_member, scanned, "?module=store&severity=critical") == []

    def test_table_and_volume_stand_on_findings_about_a_table(self, as_member: Any, scanned: Any) -> None:
        first, second, _ = as_member.get(f"/v1/api/repos/{scanned.pk}/violations").json()["data"]

        assert (first["table"], first["volume"]) == ("orders", "XL")
        assert "table" not in second

    @pytest.mark.parametrize(
        ("path", "key", "number"),
        [
            ("violations", "data", 3),
            ("violations?ruleId=risk-defer-in-loop&file=a.go", "data", 1),
            ("runtime-risks", "risks", 1),
        ],
    )
    def test_lists_show_one_as_the_read_of_it_does(
        self, path: str, key: str, number: int, as_member: Any, scanned: Any
    ) -> None:
        listed = as_member.get(f"/v1/api/repos/{scanned.pk}/{path}").json()[key]

        assert len(listed) == number
        for each in listed:
            alone = as_member.get(f"/v1/api/repos/{scanned.pk}/violations/{each['id']}").json()
            assert alone == {**each, "status": "open", "suppressionReason": None}

    @pytest.mark.parametrize("query", ["?severity=grave", "?category=style", "?page=0", "?perPage=x", "?page=-1"])
    def test_a_query_that_makes_no_sense_is_400(self, query: str, as_member: Any, scanned: Any) -> None:
        answer = as_member.get(f"/v1/api/repos/{scanned.pk}/violations{query}")

        assert answer.status_code == 400
        assert answer.json()["message"].split(":")[0] in query

    def test_another_word_than_those_of_a_filter_is_told_which_there_are(self, as_member: Any, scanned: Any) -> None:
        answer = as_member.get(f"/v1/api/repos/{scanned.pk}/violations?severity=grave")

        assert answer.json()["message"] == "severity: must be one of info, warning, critical"

    def test_pages(self, as_member: Any, scanned: Any) -> None:
        url = f"/v1/api/repos/{scanned.pk}/violations"
        page = as_member.get(f"{url}?page=2&perPage=2").json()

        assert (page["total"], page["page"], page["perPage"], page["totalPages"]) == (3, 2, 2, 2)
        assert [each["line"] for each in page["data"]] == [1]
        assert as_member.get(f"{url}?page=99").json()["data"] == []
        assert as_member.get(f"{url}?perPage=1000").json()["perPage"] == 100


class TestTrends:
    def test_a_day_without_a_scan_repeats_the_one_before(self, as_member: Any, repository: Any) -> None:
        add_snapshot(repository, 5, total=10, score=4.0)
        add_snapshot(repository, 2, total=12, score=6.0)

        trends = as_member.get(f"/v1/api/repos/{repository.pk}/trends?period=7d").json()

        assert [each["total"] for each in trends["violations"]] == [10, 10, 10, 12, 12, 12]
        assert trends["violations"][-1]["date"] == TODAY.isoformat()
        assert [each["score"] for each in trends["debtScores"]] == [4, 4, 4, 6, 6, 6]
        assert trends["categoryTrends"]["performance"] == [1] * 6

    def test_the_state_before_the_period_begins_it(self, as_member: Any, repository: Any) -> None:
        add_snapshot(repository, 50, total=10, score=4.0)

        trends = as_member.get(f"/v1/api/repos/{repository.pk}/trends?period=14d").json()

        assert [each["total"] for each in trends["violations"]] == [10] * 14

    def test_the_default_period_is_thirty_days(self, as_member: Any, repository: Any) -> None:
        add_snapshot(repository, 80, total=10, score=4.0)

        assert len(as_member.get(f"/v1/api/repos/{repository.pk}/trends").json()["violations"]) == 30

    def test_another_period_is_400(self, as_member: Any, repository: Any) -> None:
        assert as_member.get(f"/v1/api/repos/{repository.pk}/trends?period=1y").status_code == 400

    def test_the_average_debt_score_is_that_of_the_days(self, as_member: Any, scanned: Any) -> None:
        add_snapshot(scanned, 1, total=10, score=4.0)
        add_snapshot(scanned, 0, total=12, score=7.0)

        assert as_member.get(f"/v1/api/repos/{scanned.pk}/overview").json()["debtScoreAvg"] == 5.5


@pytest.mark.parametrize(
    "path", ["/overview", "/hotspots", "/runtime-risks", "/first-scan", "/trends", "?include=trend"]
)
class TestAnswersThatAreKept:
    def address(self, path: str, repository: Repository) -> str:
        return f"/v1/api/repos{path}" if path.startswith("?") else f"/v1/api/repos/{repository.pk}{path}"

    def test_are_made_once_for_all_who_may_read_them(
        self, path: str, as_member: Any, as_admin: Any, scanned: Any, django_assert_max_num_queries: Any
    ) -> None:
        first = as_member.get(self.address(path, scanned))

        with django_assert_max_num_queries(3):
            second = as_admin.get(self.address(path, scanned))

        assert (second.status_code, second.content, second["ETag"]) == (200, first.content, first["ETag"])

    def test_are_made_anew_when_the_repository_has_changed(self, path: str, as_member: Any, scanned: Any) -> None:
        before = as_member.get(self.address(path, scanned))
        add_snapshot(scanned, 0, total=7, score=3.0)
        spots = [spot("c.go", 90)]
        ScanReport.objects.filter(pk=scanned.current_report_id).update(hotspots=spots, top_hotspots=spots)
        add_violation(scanned, "risk-unbounded-cache", "runtime_risk", "critical", line=7)
        Repository.objects.filter(pk=scanned.pk).update(updated_at=timezone.now())

        after = as_member.get(self.address(path, scanned))

        assert after.content != before.content

    def test_are_made_every_time_while_the_cache_is_away(
        self, path: str, as_member: Any, scanned: Any, settings: Any
    ) -> None:
        expected = as_member.get(self.address(path, scanned)).content
        settings.CACHES = {
            **settings.CACHES,
            "answers": {
                "BACKEND": "django.core.cache.backends.redis.RedisCache",
                "LOCATION": "redis://127.0.0.1:1",
                "OPTIONS": {"retry": Retry(NoBackoff(), 0)},
            },
        }

        assert as_member.get(self.address(path, scanned)).content == expected


class TestQueryCounts:
    @pytest.mark.parametrize("path", READS)
    def test_more_rows_cost_no_more_queries(
        self, path: str, as_member: Any, scanned: Any, django_assert_max_num_queries: Any
    ) -> None:
        add_pull_request(scanned, 1)
        few = self.count(as_member, scanned, path, django_assert_max_num_queries)
        for number in range(30):
            add_violation(scanned, "risk-defer-in-loop", "runtime_risk", "warning", line=100 + number)
            add_pull_request(scanned, number + 2)
        for _ in range(5):
            Run.objects.create(
                organization=scanned.organization, repository=scanned, kind="scan", status="succeeded", queued_at=NOW
            )

        assert self.count(as_member, scanned, path, django_assert_max_num_queries) <= few

    def count(self, client: Any, repository: Any, path: str, limit: Any) -> int:
        with limit(20) as captured:
            assert client.get(f"/v1/api/repos/{repository.pk}{path}").status_code == 200
        return len(captured)

    def test_the_list_of_repositories_costs_the_same_for_many(
        self, as_member: Any, organization: Any, repository: Any, django_assert_max_num_queries: Any
    ) -> None:
        for number in range(20):
            Repository.objects.create(
                organization=organization, full_name=f"acme/{number}", platform=Platform.GIT, clone_url="https://x.org"
            )
        with django_assert_max_num_queries(3):
            assert len(as_member.get("/v1/api/repos").json()) == 21
        with django_assert_max_num_queries(4):
            assert len(as_member.get("/v1/api/repos?include=trend").json()) == 21


class TestHotspots:
    def test_tell_their_lines_only_when_asked(self, as_member: Any, scanned: Any) -> None:
        url = f"/v1/api/repos/{scanned.pk}/hotspots"

        assert "linesOfCode" not in as_member.get(url).json()[0]
        assert as_member.get(f"{url}?include=lines").json()[0]["linesOfCode"] == 120
        assert as_member.get(f"{url}?include=authors").status_code == 400


class TestListWithTrend:
    def test_tells_the_health_of_the_last_thirty_days(self, as_member: Any, repository: Any) -> None:
        add_snapshot(repository, 31, total=5, score=1.0)
        add_snapshot(repository, 2, total=5, score=1.0)
        add_snapshot(repository, 0, total=4, score=1.0)

        (shown,) = as_member.get("/v1/api/repos?include=trend").json()

        days = [TODAY - timedelta(days=2), TODAY]
        assert shown["trend"] == [{"date": day.isoformat(), "healthScore": 71} for day in days]

    def test_is_only_there_when_asked_for(self, as_member: Any, repository: Any) -> None:
        assert "trend" not in as_member.get("/v1/api/repos").json()[0]
        assert as_member.get("/v1/api/repos?include=everything").status_code == 400


class TestReadsAreCheapTwice:
    def test_an_unchanged_answer_is_304(self, as_member: Any, scanned: Any) -> None:
        url = f"/v1/api/repos/{scanned.pk}/overview"
        first = as_member.get(url)

        again = as_member.get(url, headers={"If-None-Match": first["ETag"]})

        assert again.status_code == 304
        assert again.content == b""

    @pytest.mark.parametrize("query", ["", "?include=trend"])
    def test_a_list_of_repositories_is_sent_anew_after_each_change(
        self, query: str, as_member: Any, member: User, scanned: Any
    ) -> None:
        url = f"/v1/api/repos{query}"

        def is_sent_after(change: Callable[[], Any]) -> bool:
            held = {"If-None-Match": as_member.get(url)["ETag"]}
            assert as_member.get(url, headers=held).status_code == 304
            change()
            return bool(as_member.get(url, headers=held).status_code == 200)

        other = factories.organization(members=[member])
        fields = {"platform": "git", "clone_url": "https://example.org/a.git"}
        assert is_sent_after(lambda: Repository.objects.create(organization=other, full_name="other/one", **fields))
        assert is_sent_after(
            lambda: Repository.objects.filter(pk=scanned.pk).update(health_score=1, updated_at=timezone.now())
        )
        assert is_sent_after(lambda: other.memberships.filter(user=member).delete())
        assert is_sent_after(lambda: Repository.objects.get(pk=scanned.pk).delete())


class TestBadge:
    def test_it_shows_the_health_to_anybody(self, anonymous: Any, scanned: Any) -> None:
        answer = anonymous.get("/v1/badge/acme/shop")

        assert answer.status_code == 200
        assert answer["Content-Type"].startswith("image/svg+xml")
        assert "max-age" in answer["Cache-Control"]
        assert "71/100" in answer.content.decode()

    def test_below_solo_and_before_a_scan_it_is_grey(self, anonymous: Any, repository: Any, organization: Any) -> None:
        assert "not scanned yet" in anonymous.get("/v1/badge/acme/shop").content.decode()
        type(organization).objects.filter(pk=organization.pk).update(plan="free")

        answer = anonymous.get("/v1/badge/acme/shop")

        assert answer.status_code == 200
        assert "needs the solo plan" in answer.content.decode()

    def test_whoever_connects_the_name_later_does_not_speak_for_it(
        self, anonymous: Any, stranger: Any, scanned: Any
    ) -> None:
        rival, yesterday = factories.organization(owner=stranger, plan="solo"), timezone.now() - timedelta(days=1)
        Repository.objects.filter(pk=scanned.pk).update(last_scan_at=yesterday)
        Repository.objects.create(
            organization=rival,
            full_name=scanned.full_name,
            platform="git",
            clone_url="https://rival.example/worse.git",
            health_score=3,
            last_scan_at=timezone.now(),
        )

        assert "71/100" in anonymous.get("/v1/badge/acme/shop").content.decode()

    def test_a_name_that_no_database_keeps_is_unknown(self, anonymous: Any, scanned: Any) -> None:
        answer = anonymous.get("/v1/badge/acme%00/shop")

        assert answer.status_code == 404
        assert "unknown" in answer.content.decode()

    def test_a_repository_in_a_group_of_groups_has_one(self, anonymous: Any, scanned: Any) -> None:
        Repository.objects.filter(pk=scanned.pk).update(full_name="acme/web/shop")

        assert "71/100" in anonymous.get("/v1/badge/acme/web/shop").content.decode()

    def test_unknown_is_404_and_still_a_picture(self, anonymous: Any) -> None:
        answer = anonymous.get("/v1/badge/nobody/nothing")

        assert answer.status_code == 404
        assert answer["Content-Type"].startswith("image/svg+xml")

    def test_it_is_not_limited_per_client(self, anonymous: Any, rate_limits: Any) -> None:
        assert {anonymous.get("/v1/badge/a/b").status_code for _ in range(120)} == {404}


def test_timestamps_have_milliseconds_and_a_z(as_member: Any, scanned: Any) -> None:
    queued_at = as_member.get(f"/v1/api/runs/{scanned.first_run_id}").json()["queuedAt"]

    assert datetime.strptime(queued_at, "%Y-%m-%dT%H:%M:%S.%fZ")
    assert len(queued_at) == len("2026-11-20T18:33:00.123Z")


class TestPullRequest:
    def test_the_verdict_is_told_as_it_was_stored(self, as_member: Any, repository: Any) -> None:
        add_pull_request(repository, 7)
        verdict = {"hash": "aa", "gates": [], "introduced": [], "metrics": {"new_critical": 0}, "evaluated": True}
        repository.pull_requests.update(verdict=verdict)

        shown = as_member.get(f"/v1/api/repos/{repository.pk}/prs/7").json()

        assert shown["verdict"] == verdict
        assert (shown["prNumber"], shown["headSha"], shown["baseBranch"], shown["isOpen"]) == (
            7,
            "d" * 40,
            "main",
            True,
        )

    def test_before_the_first_verdict_there_is_none(self, as_member: Any, repository: Any) -> None:
        add_pull_request(repository, 7)
        repository.pull_requests.update(judged_at=None, gate_result="")

        shown = as_member.get(f"/v1/api/repos/{repository.pk}/prs/7").json()

        assert (shown["verdict"], shown["gateResult"], shown["date"]) == (None, None, None)

    @pytest.mark.parametrize("number", ["8", "x", "-1", "\u0667", "9" * 10, "9" * 30])
    def test_an_unknown_number_is_404(self, number: str, as_member: Any, repository: Any) -> None:
        add_pull_request(repository, 7)

        assert as_member.get(f"/v1/api/repos/{repository.pk}/prs/{number}").status_code == 404

    def test_to_strangers_it_does_not_exist(self, as_stranger: Any, repository: Any) -> None:
        add_pull_request(repository, 7)

        assert as_stranger.get(f"/v1/api/repos/{repository.pk}/prs/7").status_code == 404
