"""Store what a scan found, in one transaction: violations keep their ids while they are the same finding."""

import gzip
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeVar

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from analysis.engine import snapshots as engine
from analysis.engine.identity import Seen, renamed
from analysis.engine.metrics.hotspots import Hotspot
from analysis.engine.model import Finding
from analysis.engine.report import Report
from analysis.engine.rules import rule_by_id
from analysis.models import Repository, Run, ScanReport, Snapshot, Violation, ViolationSource, ViolationStatus
from analysis.services.inputs import Inputs, store_inputs
from analysis.services.runs import lock_my_run
from analysis.services.standings import store_standing
from analysis.shapes import coupling_shape, gravest_shape, hotspot_shape, risk_counts_shape

CATEGORY_FIELDS = ("architecture", "runtime_risk", "performance", "reliability", "maintainability")
BATCH = 1000
HOTSPOTS_KEPT, TOP_HOTSPOTS = 500, 10
TOP_VIOLATIONS = 10
NOTES_KEPT = 100
Value = TypeVar("Value")
SCANNED_FIELDS = (
    "status", "rule_id", "category", "type", "severity", "severity_rank", "confidence", "file", "line", "function",
    "module", "message", "suggestion", "debt_points", "gate_action", "table", "volume", "suppression_reason",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scanned:
    """A judged tree and what else a report row remembers of it. `inputs` is None when they are those of the report
    before."""

    commit_sha: str
    day: date
    engine_version: str
    judged_from: str
    report: Report
    graph: Mapping[str, Any]
    aliases: Mapping[str, str]
    notes: tuple[str, ...] = ()
    inputs: Inputs | None = None


@transaction.atomic
def store_results(run: Run, scanned: Scanned) -> ScanReport:
    """Replace the repository's results by these. LeaseLost, with nothing changed, when the run is no longer ours.

    A state that is judged anew, under another policy or on another day, is not scanned by that.
    """
    run = lock_my_run(run)
    repository = Repository.objects.select_for_update().get(pk=run.repository_id)
    now = timezone.now()
    _store_violations(repository, scanned.report, now)
    stored = _store_report(run, scanned)
    if scanned.inputs is not None:
        store_inputs(repository, scanned.inputs)
    snapshot = engine.snapshot_of(scanned.report)
    store_snapshot(repository, snapshot, scanned.commit_sha)
    store_standing(repository, snapshot.day, snapshot.standing)
    report = scanned.report
    Repository.objects.filter(pk=repository.pk).update(
        current_report=stored,
        # The first that succeeds is the baseline, whatever became of those before it.
        first_run_id=repository.first_run_id if repository.current_report_id else run.pk,
        health_score=report.health_score,
        total_violations=len(report.findings),
        production_risk=report.production_risk,
        last_scan_at=now if scanned.inputs else F("last_scan_at"),
        updated_at=now,
    )
    Run.objects.filter(pk=run.pk).update(
        notes=list(scanned.notes)[:NOTES_KEPT],
        commit_sha=scanned.commit_sha,
        lease_until=timezone.now() + settings.RUN_LEASE,  # heartbeats had to wait for the lock of this transaction
    )
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
    """Compares values before it makes rows: of thousands of findings few differ from the scan before."""
    earlier = Violation.objects.filter(repository=repository, source=ViolationSource.DETERMINISTIC)
    stored = {print_: (pk, values) for pk, print_, *values in earlier.values_list("pk", "fingerprint", *SCANNED_FIELDS)}
    found = dict(_found(report))
    taken_over = {print_: stored.pop(before) for print_, before in _renamed(report, found, stored).items()}
    stored.update(taken_over)
    Violation.objects.bulk_update(
        (Violation(pk=pk, fingerprint=print_) for print_, (pk, _) in taken_over.items()), ["fingerprint"], BATCH
    )
    changed = [print_ for print_, values in found.items() if print_ not in stored or stored[print_][1] != values]
    reopened = [print_ for print_ in changed if print_ in stored and stored[print_][1][0] == ViolationStatus.RESOLVED]
    gone = [
        pk for print_, (pk, values) in stored.items() if print_ not in found and values[0] != ViolationStatus.RESOLVED
    ]
    rows = (
        Violation(
            repository=repository,
            fingerprint=print_,
            first_seen_at=now,
            **dict(zip(SCANNED_FIELDS, found[print_], strict=True)),
        )
        for print_ in changed
    )
    # An upsert, which keeps ids: a bulk update of so many columns takes eighty times as long.
    Violation.objects.bulk_create(
        rows,
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["repository", "fingerprint"],
        update_fields=[*SCANNED_FIELDS, "resolved_at"],
    )
    for prints in _batched(reopened):
        Violation.objects.filter(repository=repository, fingerprint__in=prints).update(first_seen_at=now)
    for keys in _batched(gone):
        Violation.objects.filter(pk__in=keys).update(status=ViolationStatus.RESOLVED, resolved_at=now)


def _renamed(
    report: Report, found: Mapping[str, list[Any]], stored: Mapping[str, tuple[Any, list[Any]]]
) -> dict[str, str]:
    """Fingerprint now to the stored one, of violations whose function got another name."""
    gone = [
        _seen(print_, values)
        for print_, (_, values) in stored.items()
        if print_ not in found and values[0] != ViolationStatus.RESOLVED
    ]
    come = [_seen(print_, values) for print_, values in found.items() if print_ not in stored]
    return renamed(gone, come, report.functions_of)


def _seen(fingerprint: str, values: list[Any]) -> Seen:
    known = dict(zip(SCANNED_FIELDS, values, strict=True))
    return Seen(fingerprint, *(known[name] for name in ("rule_id", "file", "function", "line", "message")))


def _batched(values: Collection[Value]) -> Iterator[list[Value]]:
    """Parts that fit into one statement."""
    every = list(values)
    return (every[start : start + BATCH] for start in range(0, len(every), BATCH))


def _found(report: Report) -> Iterator[tuple[str, list[Any]]]:
    for finding in report.findings:
        yield finding.fingerprint, _values(report, finding, ViolationStatus.OPEN)
    for finding in report.suppressed:
        yield finding.fingerprint, _values(report, finding, ViolationStatus.SUPPRESSED)


def _values(report: Report, finding: Finding, status: ViolationStatus) -> list[Any]:
    """The columns of a violation that may change, in the order of SCANNED_FIELDS."""
    rule = rule_by_id(finding.rule_id)
    assert finding.severity is not None  # noqa: S101 - evaluate completes every finding
    module = report.graph.modules.get(finding.file) if report.graph else None
    return [
        status,
        rule.id,
        rule.category,
        rule.type,
        finding.severity,
        finding.severity.rank,
        finding.confidence or rule.confidence,
        finding.file[:1024],
        finding.line,
        finding.function[:300],
        module.name[:200] if module else "",
        finding.message[:1000],
        (finding.suggestion or rule.suggestion)[:500],
        finding.points,
        finding.gate_action,
        finding.table[:200],
        finding.volume or "",
        finding.suppressed_by[:500],
    ]


def _store_report(run: Run, scanned: Scanned) -> ScanReport:
    report = scanned.report
    hotspots = [_sized(hotspot, report) for hotspot in report.hotspots[:HOTSPOTS_KEPT]]
    stored, _ = ScanReport.objects.update_or_create(
        run=run,
        defaults={
            "repository_id": run.repository_id,
            "commit_sha": scanned.commit_sha,
            "engine_version": scanned.engine_version,
            "judged_from": scanned.judged_from,
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
            "top_hotspots": hotspots[:TOP_HOTSPOTS],
            "hotspots": hotspots,
            "risk_counts": risk_counts_shape(report.findings),
            "gravest": gravest_shape(report.findings),
            "top_violations": _top_violations(run, report),
            "coupling": coupling_shape(report.coupling),
            "aliases": dict(scanned.aliases),
            "graph": gzip.compress(orjson.dumps(scanned.graph), compresslevel=1, mtime=0),
        },
    )
    return stored


def _sized(hotspot: Hotspot, report: Report) -> dict[str, Any]:
    return {**hotspot_shape(hotspot, report.coupling), "linesOfCode": report.file_metrics[hotspot.file].code_lines}


def _top_violations(run: Run, report: Report) -> list[str]:
    """Ids of the gravest violations: what a first scan shows for ever, also after they are resolved."""
    prints = [finding.fingerprint for finding in report.findings[:TOP_VIOLATIONS]]
    ids = dict(
        Violation.objects.filter(repository_id=run.repository_id, fingerprint__in=prints).values_list(
            "fingerprint", "pk"
        )
    )
    return [str(ids[fingerprint]) for fingerprint in prints if fingerprint in ids]
