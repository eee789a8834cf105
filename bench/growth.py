"""What each table grows by, and what many repositories need on disk: `python -m bench.growth [--repositories 100000]`.

Reads the size of a row, its share of the indexes included, from the installation in the database that DATABASE_URL
names (`bench.installation`, PostgreSQL). How many rows a repository adds a day are the rates below; for how long they
stay says RETENTION.
"""

import argparse
import os
import sys
from dataclasses import dataclass

# A busy repository: pushes to the default branch, verdicts on one pull request that is opened each day.
SCANS, VERDICTS, PULL_REQUESTS = 4, 3, 1
MEMBERS_OF_A_TEAM, REPOSITORIES_OF_A_TEAM = 10, 10
FOR_GOOD = None


@dataclass(frozen=True)
class Kind:
    """Rows of one kind. `a_day` and `from_the_start` are for one repository; `kept` names its entry in RETENTION."""

    table: str
    a_day: float
    kept: str | None
    from_the_start: float = 0


KINDS = (
    Kind("analysis_run", SCANS + VERDICTS, "runs"),
    Kind("analysis_violation", 5, "resolved_violations", from_the_start=1500),
    Kind("analysis_snapshot", 1, "snapshots", from_the_start=90),
    Kind("analysis_daystanding", 1, "standings", from_the_start=90),
    Kind("analysis_pullrequest", PULL_REQUESTS, FOR_GOOD),
    Kind("analysis_publication", 2 * VERDICTS, "publications"),
    Kind("analysis_blobfacts", 15, "facts", from_the_start=1000),
    Kind("analysis_scaninputs", 0, FOR_GOOD, from_the_start=1),
    Kind("webhooks_webhookevent", 12, "webhook_events"),
    Kind("credits_creditentry", 1, FOR_GOOD),
    Kind("organizations_auditentry", 0.1, "audit"),
    Kind("accounts_session", 2 * MEMBERS_OF_A_TEAM / REPOSITORIES_OF_A_TEAM, "sessions"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=int, default=100_000)
    repositories = parser.parse_args().repositories
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.conf import settings

    print(f"{'table':28}{'bytes/row':>10}{'rows/day':>10}{'kB/day':>9}{'kept':>10}{'MB each':>10}{'GB in all':>11}")
    total_a_day = total = 0.0
    for kind in KINDS:
        size = _bytes_of_a_row(kind.table)
        days = settings.RETENTION[kind.kept].days if kind.kept else 365
        rows = kind.from_the_start + kind.a_day * days
        each, a_day = rows * size, kind.a_day * size
        total += each
        total_a_day += a_day
        stay = f"{days} days" if kind.kept else "for good"
        _print(kind.table, f"{size:,.0f}", f"{kind.a_day:g}", a_day, stay, each, repositories)
    whole, figures = _bytes_of_reports()
    emptied = SCANS * settings.RETENTION["runs"].days * figures
    total += whole + emptied
    total_a_day += SCANS * figures
    _print("analysis_scanreport, present", f"{whole:,.0f}", "-", 0, "1 row", whole, repositories)
    _print(
        "analysis_scanreport, earlier", f"{figures:,.0f}", f"{SCANS}", SCANS * figures, "as runs", emptied, repositories
    )
    _print("all of it after a year", "", "", total_a_day, "", total, repositories)


def _print(name: str, size: str, rows: str, a_day: float, stay: str, each: float, repositories: int) -> None:
    in_all = each * repositories / 1e9
    print(f"{name:28}{size:>10}{rows:>10}{a_day / 1e3:9.1f}{stay:>10}{each / 1e6:10.2f}{in_all:11.1f}")


def _bytes_of_a_row(table: str) -> float:
    return _one(f"SELECT pg_total_relation_size('{table}')::float / greatest(1, (SELECT count(*) FROM {table}))")


def _bytes_of_reports() -> tuple[float, float]:
    """Of a report with its documents, and of one that has lost them."""
    names = ("graph", "hotspots", "gravest", "coupling", "aliases")
    documents = " + ".join(f"pg_column_size({name})" for name in names)
    whole = _one(f"SELECT avg({documents}) FROM analysis_scanreport WHERE graph <> ''")
    figures = _one("SELECT avg(pg_column_size(r.*)) FROM analysis_scanreport r WHERE graph = ''")
    return whole + figures, figures


def _one(sql: str) -> float:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(sql)
        return float(cursor.fetchone()[0] or 0)


if __name__ == "__main__":
    sys.exit(main())
