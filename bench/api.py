"""Every read endpoint on a large installation: queries, plans, latencies with ten clients, processor time.

    python -m bench.api [--scale 0.02] [--requests 300] [--only violations]

Asks the database that BENCH_DATABASE_URL names: filled by `bench.installation` before, or empty, then it is filled by
`--scale` first. Without one a SQLite file in a temporary folder does. The OpenAPI document says which endpoints there
are, so that none is left out. The real web server answers on two processes. `largest` is the repository with the most
violations, `others` are fifty more of the same organization in turn. Latencies are wall time at the client, beside
whatever else this machine does; CPU is that of the web server and of the database's connections, per request.

On PostgreSQL each captured query is explained: tables of more than 5,000 rows that are read from end to end, and rows
read in vain, are listed below the table. The exit status is the number of goals missed (--strict) or 0.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import _plans
from bench._load import Client, Measured, measure

PORT = int(os.environ.get("BENCH_PORT", "8791"))
CLIENTS = 10
P95_MS, P99_MS = 50, 100
GRAPH_MS, BADGE_MS, UNCHANGED_MS = 100, 5, 2
ALONE = 100  # requests of one client
# Answered as a file of unbounded size, or by a provider that is not set up here.
DOWNLOADS = (".csv", ".sarif")
ELSEWHERE = ("/auth/codehost1", "/auth/codehost1/callback", "/auth/idp2", "/auth/idp2/callback")
QUERIES = {
    "/api/repos": ("", "?include=trend"),
    "/api/repos/{repository_id}/hotspots": ("", "?include=lines"),
    "/api/repos/{repository_id}/prs": ("", "?perPage=100", "?page=5"),
    "/api/repos/{repository_id}/runs": ("", "?perPage=100", "?page=10"),
    "/api/repos/{repository_id}/trends": ("", "?period=90d"),
    "/api/repos/{repository_id}/violations": (
        "", "?perPage=100", "?page=100", "?category=performance&severity=warning&page=3&perPage=100",
        "?severity=critical", "?module=module_7", "?file=services/module_7/part_0/handlers_7.py",
        "?ruleId=perf-n-plus-one-query", "?module=module_7&severity=critical",
    ),
    "/credits/org/{organization_id}/transactions": ("", "?limit=100", "?offset=9000", "?month={month}"),
    "/credits/org/{organization_id}/usage-by-operation": ("", "?month={month}"),
    "/orgs/{organization_id}/audit-log": ("", "?perPage=100", "?page=50"),
    "/api/packs": ("", "?q=django"),
    "/billing/invoices/{organization_id}": ("", "?limit=100"),
}  # fmt: skip


@dataclass
class Read:
    """One endpoint with one query string. `paths` are asked in turn."""

    name: str
    paths: list[str]
    queries: int = 0
    database_ms: float = 0.0
    faults: list[str] = field(default_factory=list)

    @property
    def is_download(self) -> bool:
        return self.name.partition("?")[0].partition(" ")[0].endswith(DOWNLOADS)


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="bench-api-") as folder:
        folder = os.environ.get("VAR_DIR", folder)
        os.environ |= {
            "VAR_DIR": folder,
            "DATABASE_URL": os.environ.get("BENCH_DATABASE_URL", f"sqlite:///{folder}/bench.sqlite3"),
            "RATELIMIT_ENABLE": "false",
            "CLONE_ALLOWED_SCHEMES": "file",
            "PORT": str(PORT),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "LOG_LEVEL": "WARNING",
        }
        Path(folder, "static").mkdir(parents=True, exist_ok=True)
        import django

        django.setup()
        return _run(options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=0.02, help="of the installation that is made in an empty one")
    parser.add_argument("--requests", type=int, default=300, help="for each line; 0 looks at plans only")
    parser.add_argument("--only", default="", help="lines that contain this")
    parser.add_argument("--strict", action="store_true", help="count missed goals in the exit status")
    return parser.parse_args()


def _run(options: argparse.Namespace) -> int:
    from django.core.management import call_command
    from django.db import connection

    from accounts.models import SignInProvider, User
    from accounts.services.sessions import open_session
    from bench import installation

    call_command("migrate", verbosity=0)
    if not User.objects.exists():
        installation.fill(installation.Sizes().scaled(options.scale))
    places = installation.own_places()
    token = open_session(user=User.objects.get(email=places.email), provider=SignInProvider.EMAIL).access
    reads = [read for read in _reads(places) if options.only in read.name]
    for read in reads:
        _look_at_queries(read, token)
    missed: list[str] = []
    if options.requests:
        _print_heading()
        with _served() as server:
            database = _database_process() if connection.vendor == "postgresql" else None
            for read in reads:
                missed += _measured(read, token, server, database, options.requests)
            missed += _badge(places, server, database)
    print(
        "\nQueries that no index serves:" if connection.vendor == "postgresql" else "\n(plans are read on PostgreSQL)"
    )
    for read in reads:
        for fault in read.faults:
            print(f"  {read.name}: {fault}")
    print("\nGoals missed:" if missed else "\nNo goal missed.")
    print("".join(f"  {line}\n" for line in missed), end="")
    return len(missed) if options.strict else 0


# What to ask


def _reads(places: Any) -> Iterator[Read]:
    """Every GET of the OpenAPI document with the queries worth asking, on the largest repository and on others."""
    from drf_spectacular.generators import SchemaGenerator

    document = SchemaGenerator().get_schema(request=None, public=True)
    for path, methods in document["paths"].items():
        if "get" not in methods or path in ELSEWHERE:
            continue
        for query in QUERIES.get(path, ("",)):
            whole = f"{path}{query}"
            if "violation_id" in path and path.endswith("/source"):
                yield Read(f"{whole} scanned", [_filled(whole, places, places.scanned)])
            elif "repository_id" in path or "run_id" in path:
                yield Read(f"{whole} largest", [_filled(whole, places, places.largest)])
                if not query:
                    yield Read(f"{whole} others", [_filled(whole, places, each) for each in places.others])
            else:
                yield Read(whole, [_filled(whole, places, places.largest)])


def _filled(path: str, places: Any, repository: str) -> str:
    from django.utils import timezone

    from analysis.models import Repository, Violation

    row = Repository.objects.get(pk=repository)
    values = {
        "repository_id": repository,
        "organization_id": places.organization,
        "plan_id": "pro",
        "feature": "architectureGraph",
        "name": "django-drf",
        "month": f"{timezone.now():%Y-%m}",
        "owner": row.full_name.split("/")[0],
        "repo": row.name,
        "pull_request_number": "7",
    }
    if "{run_id}" in path:
        values["run_id"] = str(row.runs.values_list("pk", flat=True)[0])
    if "{violation_id}" in path:
        rows = Violation.objects.filter(repository=row, status="open").order_by("-severity_rank", "-debt_points")
        values["violation_id"] = str(rows.values_list("pk", flat=True)[0])
    return "/v1" + re.sub(r"\{(\w+)\}", lambda found: values[found[1]], path)


def _look_at_queries(read: Read, token: str) -> None:
    from django.db import connection
    from django.test import Client as DjangoClient
    from django.test.utils import CaptureQueriesContext

    client = DjangoClient(headers={"Authorization": f"Bearer {token}", "Host": "127.0.0.1"})
    with CaptureQueriesContext(connection) as captured:
        response = client.get(read.paths[0])
        if response.streaming:
            b"".join(response.streaming_content)
    assert response.status_code == 200, (read.name, response.content)
    read.queries = len(captured)
    if connection.vendor == "postgresql":
        for query in captured.captured_queries:
            milliseconds, faults = _plans.judge(query["sql"])
            read.database_ms += milliseconds
            read.faults += faults


# Asking


def _print_heading() -> None:
    from django.db import connection

    where = f"{connection.vendor}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before"
    print(f"\nMilliseconds with {CLIENTS} clients at once ({where}); CPU per request; `alone` is one client's median")
    print(
        f"{'':62} queries    p50    p95    p99  web CPU  db CPU  plan   alone  304 alone",
        flush=True,
    )


def _measured(read: Read, token: str, server: int, database: int | None, requests: int) -> list[str]:
    headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "gzip"}

    def make() -> Client:
        return Client(PORT, headers)

    few = max(CLIENTS, requests // 10)
    count = few if read.is_download else requests
    both = {"web": server, "database": database, "good": (200,)}
    measure(make, read.paths, clients=CLIENTS, requests=CLIENTS, **both)
    found = measure(make, read.paths, clients=CLIENTS, requests=count, **both)
    alone = measure(make, read.paths, clients=1, requests=min(count, ALONE), **both)
    unchanged = _unchanged(make, read, server, database)
    again = f"{unchanged.share(0.5):10.1f}" if unchanged else f"{'-':>10}"
    print(
        f"{read.name:62} {read.queries:7} {found.share(0.5):6.1f} {found.share(0.95):6.1f} {found.share(0.99):6.1f} "
        f"{found.web_cpu:8.1f} {found.database_cpu:7.1f} {read.database_ms:5.1f} {alone.share(0.5):7.1f} {again}",
        flush=True,
    )
    return _missed(read, found, unchanged)


def _unchanged(make: Any, read: Read, server: int, database: int | None) -> Measured | None:
    """Whoever has the answer already."""
    client = make()
    _, headers = client.get(read.paths[0])
    client.close()
    if "etag" not in headers:
        return None
    both = {"web": server, "database": database, "good": (304,)}
    return measure(make, read.paths[:1], clients=1, requests=ALONE, **both, If_None_Match=headers["etag"])


def _missed(read: Read, found: Measured, unchanged: Measured | None) -> list[str]:
    if read.is_download:
        return []
    missed = []
    if found.share(0.95) > P95_MS:
        missed.append(f"{read.name}: p95 {found.share(0.95):.0f} ms is over {P95_MS}")
    if found.share(0.99) > P99_MS:
        missed.append(f"{read.name}: p99 {found.share(0.99):.0f} ms is over {P99_MS}")
    if unchanged and unchanged.share(0.5) > UNCHANGED_MS:
        missed.append(f"{read.name}: a 304 takes {unchanged.share(0.5):.1f} ms, over {UNCHANGED_MS}")
    return missed


def _badge(places: Any, server: int, database: int | None) -> list[str]:
    """One reader at a time, as a README has."""
    path = _filled("/badge/{owner}/{repo}", places, places.largest)
    found = measure(
        lambda: Client(PORT, {}), [path], clients=1, requests=ALONE, web=server, database=database, good=(200,)
    )
    print(f"{'badge, one client':62} median {found.share(0.5):.1f} p95 {found.share(0.95):.1f}")
    return [f"badge: {found.share(0.5):.1f} ms is over {BADGE_MS}"] if found.share(0.5) > BADGE_MS else []


def _database_process() -> int:
    """The first process of the database server, which every connection is a child of."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        own = cursor.fetchone()[0]
    return int(Path(f"/proc/{own}/stat").read_text().rpartition(")")[2].split()[1])


@contextmanager
def _served() -> Iterator[int]:
    from config.processes import web_command

    server = subprocess.Popen(web_command(), cwd=Path(__file__).parent.parent, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                for _ in range(20):  # enough for each thread to have a connection of its own
                    client = Client(PORT, {})
                    client.get("/v1/plans")
                    client.close()
                break
            except OSError:
                time.sleep(0.1)
        yield server.pid
    finally:
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    sys.exit(main())
