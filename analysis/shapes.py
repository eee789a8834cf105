"""Results of the engine in the shapes of the API."""

from typing import Any

from analysis.engine.gates import Verdict
from analysis.engine.metrics.hotspots import Hotspot
from analysis.engine.model import Finding
from analysis.engine.rules import rule_by_id
from analysis.local_scan import Scan


def scan_shape(scanned: Scan, verdict: Verdict | None = None, *, change_only: bool = False) -> dict[str, Any]:
    """The scan in the shape of the API; ids are the findings' fingerprints. With `change_only` the violations are those
    that the change adds."""
    report = scanned.report
    findings = verdict.findings if verdict and change_only else report.findings
    return {
        "commitSha": scanned.commit_sha or None,
        "healthScore": report.health_score,
        "productionRisk": report.production_risk,
        "totalViolations": len(report.findings),
        "debtScoreAvg": round(report.debt_score, 1),
        "filesAnalyzed": report.files_analyzed,
        "linesOfCode": report.lines_of_code,
        "languages": dict(report.languages),
        "violations": [finding_shape(finding) for finding in findings],
        "hotspots": [hotspot_shape(spot) for spot in report.hotspots],
        "gate": verdict_shape(verdict) if verdict else None,
        "notes": list(scanned.notes),
    }


def verdict_shape(verdict: Verdict) -> dict[str, Any]:
    """What the gates said, with a sentence for each that fired."""
    return {
        "result": verdict.result,
        "score": verdict.score,
        "blockingCount": verdict.blocking_count,
        "warningCount": verdict.warning_count,
        "introduced": len(verdict.findings),
        "resolved": len(verdict.resolved),
        "fired": [
            {"action": gate.action, "metric": gate.gate.metric, "message": gate.sentence} for gate in verdict.fired
        ],
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


def hotspot_shape(spot: Hotspot) -> dict[str, Any]:
    """One file's risk."""
    return {
        "file": spot.file,
        "complexity": spot.complexity,
        "churnCount": spot.churn_count,
        "violationCount": spot.violation_count,
        "riskScore": spot.risk_score,
    }
