"""Violations on their way into files of other formats, read row by row."""

from collections.abc import Iterator
from datetime import date

from django.db.models import QuerySet

from analysis.engine.suppression import Exemptions
from analysis.exports.sarif import MOST_RESULTS, Result, Run, Suppression, cut_note, sarif
from analysis.exports.table import violations_csv
from analysis.models import Repository, Violation, ViolationSource, ViolationStatus
from analysis.selectors.results import filtered_violations
from analysis.services.policies import present_policy

ROWS_AT_ONCE = 500


def csv_of(repository: Repository, **filters: str) -> Iterator[bytes]:
    """Open violations narrowed by the filters of the list. One query."""
    return violations_csv(filtered_violations(repository, **filters).iterator(ROWS_AT_ONCE))


def sarif_of(repository: Repository, *, today: date) -> Iterator[bytes]:
    """Open and suppressed violations of the last scan, the gravest first. Five queries."""
    rows = _exported(repository)
    report = repository.current_report
    run = Run(
        rule_ids=sorted(rows.order_by().values_list("rule_id", flat=True).distinct()),
        engine_version=report.engine_version if report else "",
        commit_sha=report.commit_sha if report else "",
        address=repository.clone_url,
        branch=repository.default_branch,
        notes=cut_note(rows.count()),
    )
    exemptions = Exemptions(present_policy(repository).exemptions, today)
    return sarif(run, _results(rows, exemptions))


def _exported(repository: Repository) -> QuerySet[Violation]:
    """The open ones first, so that a cut takes the suppressed and the least."""
    statuses = (ViolationStatus.OPEN, ViolationStatus.SUPPRESSED)
    rows = repository.violations.filter(status__in=statuses, source=ViolationSource.DETERMINISTIC)
    return rows.order_by("status", "-severity_rank", "-debt_points", "file", "line", "pk")


def _results(rows: QuerySet[Violation], exemptions: Exemptions) -> Iterator[Result]:
    for row in rows[:MOST_RESULTS].iterator(ROWS_AT_ONCE):
        suppression = None
        if row.status == ViolationStatus.SUPPRESSED:
            suppression = Suppression.found(exemptions, row.rule_id, row.file, row.suppression_reason)
        yield _result_of(row, suppression)


def _result_of(violation: Violation, suppression: Suppression | None) -> Result:
    return Result(
        rule_id=violation.rule_id,
        severity=violation.severity,
        file=violation.file,
        line=violation.line,
        function=violation.function,
        message=violation.message,
        suggestion=violation.suggestion,
        debt_points=violation.debt_points,
        gate_action=violation.gate_action,
        fingerprint=violation.fingerprint,
        suppression=suppression,
    )
