"""Every read of the OpenAPI document costs a fixed number of queries, however much there is to read."""

import gzip
import zlib
from datetime import timedelta
from typing import Any

from django.core.cache import caches
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from accounts.models import User
from analysis.engine.metrics.coupling import Coupling
from analysis.engine.model import Finding, Severity
from analysis.engine.standing import Scored, Standing
from analysis.models import DayStanding, PullRequest, Repository, Run, ScanInputs, ScanReport, Snapshot, Violation
from analysis.services.standings import rows_of_days
from analysis.shapes import coupling_shape, gravest_shape, risk_counts_shape
from billing.models import Payment, Subscription
from credits.services.allocations import grant
from organizations.audit import record
from organizations.models import Invitation, Membership
from tests import factories

# Path of each read, its queries, and those of a 304 to whoever has the answer. One of them is the caller's session,
# except where anybody may ask.
TABLE = """
/api/packs                                                    1  1
/api/packs/{name}                                             1  1
/api/repos                                                    3  2
/api/repos?include=trend                                      4  2
/api/repos/{repository_id}                                    2  2
/api/repos/{repository_id}/ai                                 3  3
/api/repos/{repository_id}/architecture-graph                 3  2
/api/repos/{repository_id}/coupling                           3  2
/api/repos/{repository_id}/first-scan                         5  3
/api/repos/{repository_id}/hotspots                           3  2
/api/repos/{repository_id}/overview                           9  3
/api/repos/{repository_id}/policy                             4  4
/api/repos/{repository_id}/prs                                4  4
/api/repos/{repository_id}/prs/{pull_request_number}          3  3
/api/repos/{repository_id}/runs                               4  4
/api/repos/{repository_id}/runtime-risks                      4  2
/api/repos/{repository_id}/score-history                      5  2
/api/repos/{repository_id}/trends                             4  2
/api/repos/{repository_id}/violations                         3  2
/api/repos/{repository_id}/violations?severity=critical       4  2
/api/repos/{repository_id}/violations.csv                     3  2
/api/repos/{repository_id}/violations.sarif                   8  2
/api/repos/{repository_id}/violations/{violation_id}          3  3
/api/repos/{repository_id}/violations/{violation_id}/source   4  4
/api/runs/{run_id}                                            2  2
/auth/me                                                      1  1
/auth/providers                                               0  0
/badge/{owner}/{repo}                                         1  1
/billing/invoices/{organization_id}                           3  3
/billing/providers                                            0  0
/billing/subscription/{organization_id}                       3  3
/credits/org/{organization_id}                                3  3
/credits/org/{organization_id}/transactions                   4  3
/credits/org/{organization_id}/transactions?month=2026-11     5  3
/credits/org/{organization_id}/usage-by-operation             4  3
/orgs                                                         2  2
/orgs/{organization_id}                                       3  3
/orgs/{organization_id}/audit-log                             4  4
/orgs/{organization_id}/invitations                           3  3
/orgs/{organization_id}/members                               3  3
/plans                                                        1  1
/plans/{plan_id}                                              1  1
/plans/org/{organization_id}/can-use/{feature}                2  2
/plans/org/{organization_id}/enforcement                      4  4
/plans/org/{organization_id}/usage                            4  4
"""
LINES = [line.split() for line in TABLE.strip().splitlines()]
QUERIES = {path: (int(first), int(again)) for path, first, again in LINES}
LEADING_ELSEWHERE = {"/auth/codehost1", "/auth/codehost1/callback", "/auth/idp2", "/auth/idp2/callback"}
CATEGORIES = ("architecture", "runtime_risk", "performance", "reliability", "maintainability")
NO_CLONE = "/api/repos/{repository_id}/violations/{violation_id}/source"  # 409: nothing was cloned here
NOW = timezone.now()
TREE = zlib.compress(b'[["a.py", "aaaa", "python"]]')
GRAPH = gzip.compress(b'{"nodes": []}')


def test_the_table_has_every_read():
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    reads = {path for path, methods in paths.items() if "get" in methods}

    assert reads - LEADING_ELSEWHERE == {path.partition("?")[0] for path in QUERIES}


def test_each_read_costs_what_the_table_says_for_few_rows_and_for_many(as_owner, owner, organization):
    world = World(organization)
    world.grow(2)
    few = {path: queries_of(as_owner, path, world) for path in QUERIES}

    world.grow(20)
    factories.organization(owner=factories.user()).memberships.create(user=owner, role="member")

    many = {path: queries_of(as_owner, path, world) for path in QUERIES}

    assert [f"{path} {number}" for path, number in few.items() if number != QUERIES[path]] == []
    assert many == few


def queries_of(client: Any, path: str, world: "World") -> tuple[int, int]:
    address = "/v1" + path.format(**world.places)
    caches["answers"].clear()  # what an answer costs that nobody has asked for lately
    with CaptureQueriesContext(connection) as first:
        response = client.get(address)
        assert response.status_code == (409 if path == NO_CLONE else 200), (path, response.content)
        if response.streaming:
            b"".join(response.streaming_content)
    with CaptureQueriesContext(connection) as again:
        unchanged = client.get(address, headers={"If-None-Match": response.get("ETag", "")})
        assert unchanged.status_code == (409 if path == NO_CLONE else 304), (path, unchanged.content)
    return len(first), len(again)


class World:
    """An organization with a scanned repository, in which everything that is listed can be made more."""

    def __init__(self, organization: Any) -> None:
        self.organization = organization
        self.repository = self.add_repository("acme/shop")
        self.run = self.add_run(status="succeeded", kind="first_scan")
        self.report = ScanReport.objects.create(
            run=self.run, repository=self.repository, commit_sha="c" * 40, engine_version="1", health_score=71,
            debt_score=12.3, debt_points=99, production_risk="MEDIUM", total_violations=3, files_analyzed=9,
            lines_of_code=800, languages={"Go": 800}, graph=GRAPH, coupling=coupling_shape(Coupling()),
            category_breakdown=dict.fromkeys(CATEGORIES, 1), gravest=gravest_shape(()),
            risk_counts=risk_counts_shape(()),
        )  # fmt: skip
        ScanInputs.objects.create(
            repository=self.repository, commit_sha="c" * 40, facts_version="1", policy={}, policy_source="default",
            tree=TREE, history=b"",
        )  # fmt: skip
        self.subscription = Subscription.objects.create(
            organization=organization, provider="cardpay", external_id="sub_1", plan_id="pro", cycle="monthly",
            status="active", started_at=NOW, fact_at=NOW,
        )  # fmt: skip
        self.serial = 0

    def grow(self, number: int) -> None:
        """So many more rows of each kind."""
        for _ in range(number):
            self.serial += 1
            self.add_one(self.serial)
        self.report.hotspots = self.report.top_hotspots = [hotspot(place) for place in range(self.serial)]
        self.report.gravest = gravest_shape(a_finding(place) for place in range(self.serial))
        self.report.top_violations = [str(pk) for pk in self.repository.violations.values_list("pk", flat=True)]
        self.report.save()
        Repository.objects.filter(pk=self.repository.pk).update(
            current_report=self.report,
            first_run=self.run,
            updated_at=timezone.now(),
            total_violations=self.repository.violations.filter(status="open").count(),
        )

    def add_one(self, serial: int) -> None:
        repository, organization = self.repository, self.organization
        person = User.objects.create(email=f"p{serial}@example.net", name="Person", password="!")
        Membership.objects.create(organization=organization, user=person, role="member")
        Invitation.objects.create(
            organization=organization, email=f"i{serial}@example.net", role="member", expires_at=NOW + timedelta(7)
        )
        record(organization=organization, actor=person, action="test.line")
        grant(organization=organization, credits=10, key=str(serial), reason="A test", by=person)
        Payment.objects.create(
            organization=organization, subscription=self.subscription, provider="cardpay", invoice_id=str(serial),
            amount=29, currency="usd", plan_name="Pro", paid_at=NOW,
        )  # fmt: skip
        self.add_snapshot(self.add_repository(f"acme/other-{serial}"), serial)
        self.add_snapshot(repository, serial)
        self.add_run(status="succeeded", kind="scan")
        self.add_violations(serial)
        PullRequest.objects.create(
            repository=repository, number=serial, title="A change", head_sha="b" * 40, base_branch="main",
            judged_at=NOW, score=1.0, gate_result="pass",
        )  # fmt: skip

    def add_repository(self, name: str) -> Repository:
        return Repository.objects.create(
            organization=self.organization, full_name=name, platform="git", clone_url="https://example.org/a.git"
        )

    def add_run(self, **fields: str) -> Run:
        return Run.objects.create(
            organization=self.organization, repository=self.repository, queued_at=NOW, started_at=NOW, finished_at=NOW,
            **fields,
        )  # fmt: skip

    def add_snapshot(self, repository: Repository, back: int) -> None:
        counts = dict.fromkeys(
            ("total", "critical", "warning", "architecture", "runtime_risk", "performance", "reliability",
             "maintainability"), back,
        )  # fmt: skip
        day = NOW.date() - timedelta(days=back)
        Snapshot.objects.create(
            repository=repository, day=day, commit_sha="c" * 40, debt_score=1.0, health_score=70, lines_of_code=800,
            production_risk="LOW", **counts,
        )  # fmt: skip
        found = Scored("rel-broad-except", "warning", "a.py", 1, "Broad", 0, 40, 400, "", "")
        standing = Standing({f"{back:032x}": found}, 800, (), 100, {}, {}, "1")
        DayStanding.objects.bulk_create(rows_of_days(repository.pk, [(day, standing)]))

    def add_violations(self, serial: int) -> None:
        Violation.objects.bulk_create(
            Violation(
                repository=self.repository, fingerprint=f"{category}{severity}{serial}"[-32:], status=status,
                rule_id="rel-broad-except", category=category, type="broad_except", severity=severity,
                severity_rank=rank, confidence="high", file="a.py", line=serial, debt_points=1, first_seen_at=NOW,
            )
            for category in CATEGORIES
            for rank, severity in enumerate(("info", "warning", "critical"))
            for status in ["suppressed" if severity == "info" else "open"]
        )  # fmt: skip

    @property
    def places(self) -> dict[str, str]:
        return {
            "organization_id": str(self.organization.pk),
            "repository_id": str(self.repository.pk),
            "run_id": str(self.run.pk),
            "violation_id": str(self.repository.violations.values_list("pk", flat=True)[0]),
            "pull_request_number": "1",
            "plan_id": "pro",
            "feature": "prGate",
            "name": "flask",
            "owner": "acme",
            "repo": "shop",
        }


def a_finding(place: int) -> Finding:
    return Finding("risk-http-no-timeout", f"{place}.py", 1, "Waits for ever", severity=Severity.CRITICAL)


def hotspot(place: int) -> dict[str, Any]:
    return {
        "file": f"{place}.py", "complexity": 1, "churnCount": 1, "violationCount": 1, "riskScore": 1,
        "topAuthorShare": 0.5, "coupledFiles": [], "linesOfCode": 10,
    }  # fmt: skip
