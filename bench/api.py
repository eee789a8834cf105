"""Read endpoints on a large data set: queries per request, latencies and requests per second.

    python -m bench.api [--repositories 200] [--violations 2000] [--requests 300]

Makes its data in a database of its own (SQLite in a temporary folder, or the empty one that BENCH_DATABASE_URL names),
serves it with the real web server and asks with ten clients at once. Latencies are wall time at the client.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

PORT = 8791
CLIENTS = 10
SEED = 20
SNAPSHOT_DAYS = 90
RULES = (
    ("risk-http-no-timeout", "runtime_risk", "http_no_timeout"),
    ("perf-n-plus-one-query", "performance", "n_plus_one"),
    ("rel-swallowed-exception", "reliability", "swallowed_exception"),
    ("arch-circular-import", "architecture", "circular_import"),
    ("maint-cognitive-complexity", "maintainability", "cognitive_complexity"),
)
ENDPOINTS = (
    "api/repos",
    "api/repos/{id}",
    "api/repos/{id}/overview",
    "api/repos/{id}/violations",
    "api/repos/{id}/violations?category=performance&severity=warning&page=3&perPage=100",
    "api/repos/{id}/trends?period=90d",
    "api/repos/{id}/hotspots",
    "api/repos/{id}/prs",
    "api/repos/{id}/runtime-risks",
    "api/repos/{id}/first-scan",
    "api/repos/{id}/runs",
    "badge/acme/repository-0",
)


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="bench-api-") as folder:
        environment = {
            "VAR_DIR": folder,
            "DATABASE_URL": os.environ.get("BENCH_DATABASE_URL", f"sqlite:///{folder}/bench.sqlite3"),
            "RATELIMIT_ENABLE": "false",
            "PORT": str(PORT),
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        os.environ.update(environment)
        import django

        django.setup()
        token, repository = _fill(options.repositories, options.violations)
        queries = {endpoint: _queries(endpoint.format(id=repository), token) for endpoint in ENDPOINTS}
        with _served():
            for endpoint in ENDPOINTS:
                _measure(endpoint, endpoint.format(id=repository), token, queries[endpoint], options.requests)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repositories", type=int, default=200)
    parser.add_argument("--violations", type=int, default=2000, help="per repository")
    parser.add_argument("--requests", type=int, default=300, help="per endpoint")
    return parser.parse_args()


def _fill(repositories: int, violations: int) -> tuple[str, str]:
    from django.core.management import call_command

    from accounts.models import SignInProvider, User
    from accounts.services.sessions import open_session
    from analysis.models import Repository
    from organizations.services.organizations import create_organization

    call_command("migrate", verbosity=0)
    if User.objects.exists():
        raise SystemExit("BENCH_DATABASE_URL must name an empty database")
    user = User.objects.create_user("bench@example.org", "Bench-1234", name="Bench")
    organization = create_organization(owner=user, name="Acme", slug="acme")
    type(organization).objects.filter(pk=organization.pk).update(plan="pro")
    rows = [
        Repository(
            organization=organization,
            full_name=f"acme/repository-{number}",
            platform="git",
            clone_url="https://example.org/acme.git",
            health_score=70,
            total_violations=violations,
            production_risk="MEDIUM",
        )
        for number in range(repositories)
    ]
    Repository.objects.bulk_create(rows)
    started = time.monotonic()
    for repository in rows:
        _results(repository, violations)
    print(f"{repositories} repositories with {violations} violations each, made in {time.monotonic() - started:.0f} s")
    return open_session(user=user, provider=SignInProvider.EMAIL).access, str(rows[0].pk)


def _results(repository: Any, violations: int) -> None:
    from django.utils import timezone

    from analysis.models import PullRequest, Run, ScanReport, Snapshot, Violation

    chance = random.Random(SEED)
    now = timezone.now()
    run = Run.objects.create(
        organization_id=repository.organization_id,
        repository=repository,
        kind="first_scan",
        status="succeeded",
        queued_at=now,
        started_at=now,
        finished_at=now,
    )
    report = ScanReport.objects.create(
        run=run,
        repository=repository,
        commit_sha="a" * 40,
        engine_version="bench",
        health_score=70,
        debt_score=20.0,
        debt_points=900.0,
        production_risk="MEDIUM",
        total_violations=violations,
        files_analyzed=900,
        lines_of_code=90_000,
        languages={"Python": 90_000},
        category_breakdown={category: violations // 5 for _, category, _ in RULES},
        hotspots=[_hotspot(number) for number in range(500)],
    )
    type(repository).objects.filter(pk=repository.pk).update(current_report=report, first_run=run)
    Violation.objects.bulk_create(
        (_violation(repository, number, chance, now) for number in range(violations)), batch_size=2000
    )
    Snapshot.objects.bulk_create(
        Snapshot(
            repository=repository, day=now.date() - timedelta(days=day), commit_sha="a" * 40, total=violations,
            critical=9, warning=80, architecture=9, runtime_risk=9, performance=9, reliability=9, maintainability=9,
            debt_score=20.0, health_score=70, lines_of_code=90_000, production_risk="MEDIUM",
        )
        for day in range(SNAPSHOT_DAYS)
    )  # fmt: skip
    PullRequest.objects.bulk_create(
        PullRequest(
            repository=repository, number=number, title="Change", author="dana", head_sha="b" * 40, base_branch="main",
            judged_at=now, score=1.5, gate_result="pass",
        )
        for number in range(1, 61)
    )  # fmt: skip


def _hotspot(number: int) -> dict[str, Any]:
    return {
        "file": f"src/file_{number}.py",
        "complexity": 80,
        "churnCount": 12,
        "violationCount": 4,
        "riskScore": 90 - number // 6,
        "topAuthorShare": 0.5,
        "coupledFiles": [],
    }


def _violation(repository: Any, number: int, chance: random.Random, now: Any) -> Any:
    from analysis.models import Violation

    rule, category, type_ = chance.choice(RULES)
    rank = chance.choices((0, 1, 2), weights=(5, 4, 1))[0]
    return Violation(
        repository=repository, fingerprint=f"{number:032x}", status=chance.choice(("open", "open", "resolved")),
        rule_id=rule, category=category, type=type_, severity=("info", "warning", "critical")[rank], severity_rank=rank,
        confidence="high", file=f"src/module_{number % 40}/file_{number % 900}.py", line=number, function="work",
        module=f"module_{number % 40}", message="`requests.get` has no timeout; it blocks a worker while it lasts",
        suggestion="Pass an explicit timeout (connect and read) to this call.", debt_points=chance.choice((0.5, 1, 4)),
        first_seen_at=now,
    )  # fmt: skip


def _queries(path: str, token: str) -> int:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(headers={"Authorization": f"Bearer {token}", "Host": "127.0.0.1"})
    with CaptureQueriesContext(
        connection,
    ) as captured:
        response = client.get(f"/v1/{path}")
    assert response.status_code == 200, (path, response.content)
    return len(captured)


@contextmanager
def _served() -> Iterator[None]:
    import httpx

    from config.processes import web_command

    server = subprocess.Popen(web_command(), cwd=Path(__file__).parent.parent, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                httpx.get(f"http://127.0.0.1:{PORT}/v1/plans", timeout=2)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait(20)


def _measure(endpoint: str, path: str, token: str, queries: int, requests: int) -> None:
    import httpx

    url = f"http://127.0.0.1:{PORT}/v1/{path}"
    headers = {"Authorization": f"Bearer {token}"}

    def ask(client: httpx.Client) -> list[float]:
        times = []
        for _ in range(max(1, requests // CLIENTS)):
            started = time.perf_counter()
            client.get(url, headers=headers).raise_for_status()
            times.append((time.perf_counter() - started) * 1000)
        return times

    clients = [httpx.Client(timeout=30) for _ in range(CLIENTS)]
    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        times = sorted(each for part in pool.map(ask, clients) for each in part)
    seconds = time.perf_counter() - started
    p95, p99 = (times[min(len(times) - 1, int(len(times) * share))] for share in (0.95, 0.99))
    print(
        f"{endpoint:88} {queries:3} queries  median {statistics.median(times):6.1f} ms  p95 {p95:6.1f}  p99 {p99:6.1f}"
        f"  {len(times) / seconds:6.0f} /s"
    )


if __name__ == "__main__":
    sys.exit(main())
