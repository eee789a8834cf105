"""Store what a scan found, in one transaction: violations keep their ids while they are the same finding."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import orjson
from django.db import transaction
from django.utils import timezone

from analysis.engine import snapshots as engine
from analysis.engine.model import Finding
from analysis.engine.report import Report
from analysis.engine.rules import rule_by_id
from analysis.models import Repository, Run, ScanReport, Snapshot, Violation, ViolationSource, ViolationStatus
from analysis.services.inputs import Inputs, store_inputs
from analysis.services.runs import lock_my_run
from analysis.shapes import hotspot_shape

CATEGORY_FIELDS = ("architecture", "runtime_risk", "performance", "reliability", "maintainability")
BATCH = 1000
HOTSPOTS_KEPT = 500
TOP_VIOLATIONS = 10
NOTES_KEPT = 100
CHANGING_FIELDS = (
    "status", "category", "type", "severity", "severity_rank", "confidence", "file", "line", "function", "module",
    "message", "suggestion", "debt_points", "gate_action", "table", "volume", "suppression_reason",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scanned:
    """A judged tree and what else a report row remembers of it. `inputs` is None when they are those of the report
    before."""

    commit_sha: str
    day: date
    engine_version: str
    report: Report
    graph: Mapping[str, Any]
    aliases: Mapping[str, str]
    notes: tuple[str, ...] = ()
    inputs: Inputs | None = None


@transaction.atomic
def store_results(run: Run, scanned: Scanned) -> ScanReport:
    """Replace the repository's results by these. LeaseLost, with nothing changed, when the run is no longer ours."""
    run = lock_my_run(run)
    repository = Repository.objects.select_for_update().get(pk=run.repository_id)
    now = timezone.now()
    _store_violations(repository, scanned.report, now)
    stored = _store_report(run, scanned)
    if scanned.inputs is not None:
        store_inputs(repository, scanned.inputs)
    store_snapshot(repository, engine.snapshot_of(scanned.report), scanned.commit_sha)
    report = scanned.report
    Repository.objects.filter(pk=repository.pk).update(
        current_report=stored,
        health_score=report.health_score,
        total_violations=len(report.findings),
        production_risk=report.production_risk,
        last_scan_at=now,
    )
    Run.objects.filter(pk=run.pk).update(notes=list(scanned.notes)[:NOTES_KEPT], commit_sha=scanned.commit_sha)
    return stored


def store_snapshot(repository: Repository, snapshot: engine.Snapshot, commit_sha: str) -> None:
    """The totals of a day; a later scan of the same day replaces them."""
    Snapshot.objects.update_or_create(
        repository=repository, day=snapshot.day, defaults={"commit_sha": commit_sha, **snapshot_fields(snapshot)}
    )


def snapshot_fields(snapshot: engine.Snapshot) -> dict[str, Any]:
    """The columns of a snapshot row."""
    return {
        "total": snapshot.total,
        "critical": snapshot.critical,
        "warning": snapshot.warning,
        **{category: snapshot.by_category.get(category, 0) for category in CATEGORY_FIELDS},
        "debt_score": snapshot.debt_score,
        "health_score": snapshot.health_score,
        "lines_of_code": snapshot.lines_of_code,
        "production_risk": snapshot.production_risk,
    }


def _store_violations(repository: Repository, report: Report, now: datetime) -> None:
    earlier = Violation.objects.filter(repository=repository, source=ViolationSource.DETERMINISTIC)
    stored = {row.fingerprint: row for row in earlier}
    found = {row.fingerprint: row for row in _rows(repository, report, now)}
    created, changed = [], []
    for fingerprint, row in found.items():
        known = stored.get(fingerprint)
        if known is None:
            created.append(row)
        elif _take_over(known, row):
            changed.append(known)
    gone = [row.pk for print_, row in stored.items() if print_ not in found and row.status != ViolationStatus.RESOLVED]
    Violation.objects.bulk_create(created, batch_size=BATCH)
    # An upsert: a bulk update of so many columns takes eighty times as long.
    Violation.objects.bulk_create(
        changed,
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["repository", "fingerprint"],
        update_fields=[*CHANGING_FIELDS, "resolved_at", "first_seen_at"],
    )
    for start in range(0, len(gone), BATCH):
        Violation.objects.filter(pk__in=gone[start : start + BATCH]).update(
            status=ViolationStatus.RESOLVED, resolved_at=now
        )


def _take_over(known: Violation, row: Violation) -> bool:
    """Bring a stored violation up to date; False when nothing differs."""
    if known.status == ViolationStatus.RESOLVED:
        known.first_seen_at = row.first_seen_at
    changed = False
    for name in CHANGING_FIELDS:
        value = getattr(row, name)
        if getattr(known, name) != value:
            setattr(known, name, value)
            changed = True
    known.resolved_at = None
    return changed


def _rows(repository: Repository, report: Report, now: datetime) -> list[Violation]:
    opened = [_row(repository, report, finding, ViolationStatus.OPEN, now) for finding in report.findings]
    hushed = [_row(repository, report, finding, ViolationStatus.SUPPRESSED, now) for finding in report.suppressed]
    return opened + hushed


def _row(repository: Repository, report: Report, finding: Finding, status: ViolationStatus, now: datetime) -> Violation:
    rule = rule_by_id(finding.rule_id)
    assert finding.severity is not None  # noqa: S101 - evaluate completes every finding
    module = report.graph.modules.get(finding.file) if report.graph else None
    return Violation(
        repository=repository,
        fingerprint=finding.fingerprint,
        status=status,
        rule_id=rule.id,
        category=rule.category,
        type=rule.type,
        severity=finding.severity,
        severity_rank=finding.severity.rank,
        confidence=finding.confidence or rule.confidence,
        file=finding.file[:1024],
        line=finding.line,
        function=finding.function[:300],
        module=module.name[:200] if module else "",
        message=finding.message[:1000],
        suggestion=(finding.suggestion or rule.suggestion)[:500],
        debt_points=finding.points,
        gate_action=finding.gate_action,
        table=finding.table[:200],
        volume=finding.volume or "",
        suppression_reason=finding.suppressed_by[:500],
        first_seen_at=now,
    )


def _store_report(run: Run, scanned: Scanned) -> ScanReport:
    report = scanned.report
    stored, _ = ScanReport.objects.update_or_create(
        run=run,
        defaults={
            "repository_id": run.repository_id,
            "commit_sha": scanned.commit_sha,
            "engine_version": scanned.engine_version,
            "health_score": report.health_score,
            "debt_score": report.debt_score,
            "debt_points": report.debt_points,
            "production_risk": report.production_risk,
            "total_violations": len(report.findings),
            "suppressed": len(report.suppressed),
            "files_analyzed": report.files_analyzed,
            "lines_of_code": report.lines_of_code,
            "languages": dict(report.languages),
            "category_breakdown": {name: report.categories.get(name, 0) for name in CATEGORY_FIELDS},
            "hotspots": [hotspot_shape(hotspot) for hotspot in report.hotspots[:HOTSPOTS_KEPT]],
            "top_violations": _top_violations(run, report),
            "aliases": dict(scanned.aliases),
            "graph": gzip.compress(orjson.dumps(scanned.graph), compresslevel=1, mtime=0),
        },
    )
    return stored


def _top_violations(run: Run, report: Report) -> list[str]:
    """Ids of the gravest violations: what a first scan shows for ever, also after they are resolved."""
    prints = [finding.fingerprint for finding in report.findings[:TOP_VIOLATIONS]]
    ids = dict(
        Violation.objects.filter(repository_id=run.repository_id, fingerprint__in=prints).values_list(
            "fingerprint", "pk"
        )
    )
    return [str(ids[fingerprint]) for fingerprint in prints if fingerprint in ids]
