"""What moves the severity and the points of a finding (rules.md 1.2 to 1.4).

Severity follows the ladder of the table's volume, then the context, then the cap on findings of low confidence.
"""

from analysis.engine.model import Confidence, Finding, Ladder, Rule, Severity, Volume
from analysis.engine.volumes import FACTOR, UNDECLARED

# Tags that a rule puts on a finding when its severity depends on where the code runs.
WORSE_IN_REQUEST = "worse_in_request"  # one step up on the request path
WORSE_IN_HOTSPOT = "worse_in_hotspot"  # one step up in a hotspot
MILDER = "milder"  # one step down: streamed, filtered by a key, in a command
# Tags that `evaluate` adds.
REQUEST_PATH = "request_path"
EXPIRED = "exception_expired"

LEAST_POINTS = 0.5
MOST_POINTS = 60.0
_SHARED_POINTS = 0.5

_INFO, _WARNING, _CRITICAL = Severity.INFO, Severity.WARNING, Severity.CRITICAL
LADDERS: dict[Ladder, dict[Volume, Severity | None]] = {  # None: not reported
    Ladder.READ: {Volume.S: _INFO, Volume.M: _WARNING, Volume.XL: _CRITICAL, Volume.XXL: _CRITICAL},
    Ladder.SCAN: {Volume.S: None, Volume.M: _INFO, Volume.XL: _CRITICAL, Volume.XXL: _CRITICAL},
    Ladder.SOFT: {Volume.S: None, Volume.M: _INFO, Volume.XL: _WARNING, Volume.XXL: _CRITICAL},
    Ladder.LOCK: {Volume.S: None, Volume.M: _INFO, Volume.XL: _CRITICAL, Volume.XXL: _CRITICAL},
}


def confidence_of(finding: Finding, rule: Rule) -> Confidence:
    """The finding's own confidence or the rule's; a volume rule that does not know its table is at most medium."""
    confidence = finding.confidence or rule.confidence
    if rule.ladder is not Ladder.NONE and not finding.table and confidence is Confidence.HIGH:
        return Confidence.MEDIUM
    return confidence


def severity_of(
    finding: Finding, rule: Rule, volume: Volume | None, confidence: Confidence, *, in_request: bool, in_hotspot: bool
) -> Severity | None:
    """The final severity; None when the ladder says that a table of this size is not worth reporting."""
    severity = finding.severity
    if severity is None:
        severity = rule.severity if rule.ladder is Ladder.NONE else LADDERS[rule.ladder][volume or UNDECLARED]
        if severity is None:
            return None
    if MILDER in finding.tags:
        severity = severity.step_down()
    if in_request and WORSE_IN_REQUEST in finding.tags:
        severity = severity.step_up()
    if in_hotspot and WORSE_IN_HOTSPOT in finding.tags:
        severity = severity.step_up()
    if confidence is Confidence.LOW and severity is Severity.CRITICAL:
        return Severity.WARNING
    return severity


def points_of(finding: Finding, rule: Rule, volume: Volume | None, *, shares_function: bool) -> float:
    """Repair effort in units of ten minutes, one decimal (rules.md 8.1).

    `shares_function`: another finding about the same overgrown function carries the full points.
    """
    if shares_function:
        return _SHARED_POINTS
    factor = 1.0 if rule.ladder is Ladder.NONE else FACTOR[volume or UNDECLARED]
    return min(MOST_POINTS, max(LEAST_POINTS, round1((rule.points + finding.excess) * factor)))


def round1(value: float) -> float:
    """One decimal, halves away from zero, as people round."""
    tenths = int(abs(value) * 10 + 0.5 + 1e-9)
    return tenths / 10 if value >= 0 else -tenths / 10
