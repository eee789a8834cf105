"""A scan on this machine as SARIF."""

from collections.abc import Iterator

from analysis.engine.gates import Verdict
from analysis.engine.model import Finding
from analysis.engine.suppression import Exemptions
from analysis.engine.version import facts_version
from analysis.exports.sarif import MOST_RESULTS, Result, Run, Suppression, cut_note, result_of_finding, sarif
from analysis.local_scan import Scan


def sarif_of_scan(scan: Scan, change: Verdict | None = None) -> Iterator[bytes]:
    """All findings of a scan, suppressed ones too; with a verdict on a change only what the change adds."""
    findings = change.findings if change else (*scan.report.findings, *scan.report.suppressed)
    listed = findings[:MOST_RESULTS]
    run = Run(
        rule_ids=sorted({finding.rule_id for finding in listed}),
        engine_version=facts_version(),
        notes=[*scan.notes, *cut_note(len(findings))],
    )
    exemptions = Exemptions(scan.policy.exemptions, scan.report.day)
    return sarif(run, (_result(finding, exemptions) for finding in listed))


def _result(finding: Finding, exemptions: Exemptions) -> Result:
    reason = finding.suppressed_by
    suppression = Suppression.found(exemptions, finding.rule_id, finding.file, reason) if reason else None
    return result_of_finding(finding, suppression)
