"""Results of the engine in the shapes of the API."""

from typing import Any

from analysis.engine.metrics.hotspots import Hotspot
from analysis.engine.model import Finding
from analysis.engine.rules import rule_by_id
from analysis.local_scan import Scan


def scan_shape(scanned: Scan) -> dict[str, Any]:
    """The scan in the shape of the API; ids are the findings' fingerprints."""
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
        "violations": [finding_shape(finding) for finding in report.findings],
        "hotspots": [hotspot_shape(spot) for spot in report.hotspots],
        "gate": None,
        "notes": list(scanned.notes),
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
