"""Results of the engine in the shapes of the API."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from analysis.changes import JudgedChange
from analysis.engine.gates import FiredGate, Verdict
from analysis.engine.globs import glob
from analysis.engine.metrics.coupling import COUPLING_DAYS, Coupling, Ownership
from analysis.engine.metrics.hotspots import Hotspot
from analysis.engine.model import Category, Finding, GateAction, Severity
from analysis.engine.policy import Exemption
from analysis.engine.rules import rule_by_id
from analysis.engine.suppression import ExpiryNotice
from analysis.local_scan import Scan

LISTED = 200
LISTED_PER_SEVERITY = 50


def scan_shape(
    scanned: Scan, gate: dict[str, Any] | None = None, violations: Sequence[Finding] | None = None
) -> dict[str, Any]:
    """The scan in the shape of the API; ids are the findings' fingerprints. Violations are all of them, or those that
    are given."""
    report = scanned.report
    return {
        "commitSha": scanned.commit_sha or None,
        "healthScore": report.health_score,
        "productionRisk": report.production_risk,
        "totalViolations": len(report.findings),
        "debtScoreAvg": round(report.debt_score, 1),
        "filesAnalyzed": report.files_analyzed,
        "linesOfCode": report.lines_of_code,
        "languages": dict(report.languages),
        "violations": [finding_shape(each) for each in (report.findings if violations is None else violations)],
        "hotspots": [hotspot_shape(spot, report.coupling) for spot in report.hotspots],
        "gate": gate,
        "notes": list(scanned.notes),
    }


def gate_shape(verdict: Verdict) -> dict[str, Any]:
    """What the gates said: the result, its counts, and each gate that fired."""
    return {
        "result": verdict.result,
        "score": verdict.score,
        "blockingCount": verdict.blocking_count,
        "warningCount": verdict.warning_count,
        "gates": [_fired_shape(fired) for fired in verdict.fired],
    }


def verdict_shape(judged: JudgedChange, notes: Sequence[str] = ()) -> dict[str, Any]:
    """The verdict on a change as it is stored, and printed by the command: no clock and no database in it."""
    verdict = judged.verdict
    return {
        "evaluated": True,
        "hash": judged.hash,
        "mergeBase": judged.change.merge_base,
        "metrics": dict(judged.metrics),
        "gates": [_fired_shape(fired) for fired in verdict.fired],
        "introduced": [finding_shape(finding) for finding in _gravest(verdict.findings)[:LISTED]],
        "introducedTotal": len(verdict.findings),
        "resolved": [finding_shape(finding) for finding in verdict.resolved[:LISTED]],
        "resolvedTotal": len(verdict.resolved),
        "exceptions": [_exception_shape(judged, entry) for entry in judged.after.policy.exemptions[:LISTED]],
        "notes": [*dict.fromkeys((*verdict.notes, *notes))][:LISTED],
    }


def unjudged_shape(reason: str) -> dict[str, Any]:
    """In place of a verdict when nothing could be judged; a sentence says why."""
    empty: dict[str, Any] = {name: [] for name in ("gates", "introduced", "resolved", "exceptions")}
    totals = {"introducedTotal": 0, "resolvedTotal": 0}
    return {"evaluated": False, "hash": "", "mergeBase": "", "metrics": {}, **empty, **totals, "notes": [reason]}


def _gravest(findings: Sequence[Finding]) -> list[Finding]:
    """What blocks first, then what warns; the order of the report within."""
    order = [GateAction.BLOCK, GateAction.WARN, GateAction.NONE]
    return sorted(findings, key=lambda finding: order.index(finding.gate_action))


def _fired_shape(fired: FiredGate) -> dict[str, Any]:
    return {
        "metric": fired.gate.metric,
        "operator": fired.gate.operator,
        "value": fired.gate.value,
        "actual": fired.value,
        "action": fired.action,
        "message": fired.sentence,
    }


def _exception_shape(judged: JudgedChange, entry: Exemption) -> dict[str, Any]:
    """An exception of the policy and how many findings of the head it excuses, or would, had it not expired."""
    report = judged.after
    pattern = glob(entry.file)
    found = (*report.findings, *report.suppressed)
    return {
        "rule": entry.rule,
        "file": entry.file,
        "reason": entry.reason,
        "expires": entry.expires.isoformat(),
        "expired": entry.expires < report.day,
        "covered": sum(1 for each in found if each.rule_id == entry.rule and pattern.matches(each.file)),
    }


def finding_shape(finding: Finding) -> dict[str, Any]:
    """A finding that was never stored, as a Violation; its id is the fingerprint."""
    rule = rule_by_id(finding.rule_id)
    shown = {
        "id": finding.fingerprint,
        "category": rule.category,
        "type": rule.type,
        "ruleId": rule.id,
        "severity": finding.severity,
        "source": "deterministic",
        "confidence": finding.confidence or rule.confidence,
        "file": finding.file,
        "line": finding.line,
        "function": finding.function,
        "message": finding.message,
        "suggestion": finding.suggestion or rule.suggestion,
        "debtPoints": finding.points,
        "gateAction": finding.gate_action,
    }
    if finding.table:
        shown |= {"table": finding.table, "volume": finding.volume}
    return shown


def gravest_shape(findings: Iterable[Finding]) -> dict[str, dict[Severity | None, list[dict[str, Any]]]]:
    """Of each category the first 50 critical findings and the first 50 warnings, as an overview lists them.

    Maintainability has none: its hotspots are shown instead.
    """
    shown: dict[str, dict[Severity | None, list[dict[str, Any]]]] = {
        category: {Severity.CRITICAL: [], Severity.WARNING: []}
        for category in Category
        if category != Category.MAINTAINABILITY
    }
    for finding in findings:
        rows = shown.get(rule_by_id(finding.rule_id).category, {}).get(finding.severity)
        if rows is not None and len(rows) < LISTED_PER_SEVERITY:
            rows.append(_brief_shape(finding))
    return shown


def risk_counts_shape(findings: Iterable[Finding]) -> dict[str, Any]:
    """How many findings of the category runtime_risk there are: `critical`, `warning` and `byType`."""
    risks = [finding for finding in findings if rule_by_id(finding.rule_id).category == Category.RUNTIME_RISK]
    severities = Counter(finding.severity for finding in risks)
    return {
        "critical": severities[Severity.CRITICAL],
        "warning": severities[Severity.WARNING],
        "byType": dict(sorted(Counter(rule_by_id(finding.rule_id).type for finding in risks).items())),
    }


def _brief_shape(finding: Finding) -> dict[str, Any]:
    return {
        "file": finding.file,
        "line": finding.line,
        "rule": finding.rule_id,
        "message": finding.message,
        "table": finding.table,
        "volume": finding.volume,
    }


def hotspot_shape(spot: Hotspot, coupling: Coupling) -> dict[str, Any]:
    """One file's risk, whose it is and what changes with it."""
    owner = coupling.owners.get(spot.file)
    return {
        "file": spot.file,
        "complexity": spot.complexity,
        "churnCount": spot.churn_count,
        "violationCount": spot.violation_count,
        "riskScore": spot.risk_score,
        "topAuthorShare": round(owner.main_author_share, 2) if owner else None,
        "coupledFiles": list(coupling.partners.get(spot.file, ())),
    }


def coupling_shape(coupling: Coupling) -> dict[str, Any]:
    """Files that change together, and the main author of files and modules."""
    return {
        "windowDays": COUPLING_DAYS,
        "commits": coupling.commits,
        "pairs": [
            {
                "files": list(pair.files),
                "modules": list(pair.modules),
                "acrossModules": pair.across_modules,
                "support": pair.together,
                "confidence": round(pair.confidence, 2),
                "importsEachOther": pair.imports,
            }
            for pair in coupling.pairs
        ],
        "files": [{"file": each.name, **_owner_shape(each)} for each in coupling.files],
        "modules": [{"module": each.name, **_owner_shape(each)} for each in coupling.modules],
    }


def _owner_shape(owned: Ownership) -> dict[str, Any]:
    return {
        "commits": owned.commits,
        "authors": len(owned.authors),
        "mainAuthor": owned.main_author,
        "mainAuthorShare": round(owned.main_author_share, 2),
    }


def notice_shape(notice: ExpiryNotice) -> dict[str, Any]:
    """An exception of the policy that has expired or will within a week."""
    entry = notice.exemption
    return {
        "kind": "exception_expired" if notice.is_expired else "exception_expires",
        "rule": entry.rule,
        "file": entry.file,
        "expires": entry.expires.isoformat(),
        "daysLeft": max(0, notice.days_left),
        "message": notice.message,
    }
