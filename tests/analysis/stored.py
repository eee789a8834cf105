"""What a scan stored of a repository, as bytes that are the same wherever the same was found."""

from typing import Any

import orjson

from analysis.models import DayStanding, Repository, ScanReport, Snapshot, Violation

# Rows are numbered and dated when they are stored.
NOT_COMPARED = {"id", "created_at", "updated_at", "first_seen_at", "resolved_at", "repository_id", "run_id"}


def stored_results(repository: Repository) -> bytes:
    """Reports, violations, snapshots and standings as JSON."""
    fingerprints = {str(each.pk): each.fingerprint for each in Violation.objects.filter(repository=repository)}
    tables = {
        "reports": _rows(ScanReport.objects.filter(repository=repository).order_by("created_at")),
        "violations": _rows(Violation.objects.filter(repository=repository).order_by("fingerprint")),
        "snapshots": _rows(Snapshot.objects.filter(repository=repository).order_by("day")),
        "standings": _rows(DayStanding.objects.filter(repository=repository).order_by("day")),
    }
    for report in tables["reports"]:
        report["top_violations"] = [fingerprints[each] for each in report["top_violations"]]
    return orjson.dumps(tables, option=orjson.OPT_SORT_KEYS)


def _rows(rows: Any) -> list[dict[str, Any]]:
    return [{name: _plain(value) for name, value in row.items() if name not in NOT_COMPARED} for row in rows.values()]


def _plain(value: Any) -> Any:
    return bytes(value).hex() if isinstance(value, (bytes, memoryview)) else value
