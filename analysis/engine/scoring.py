"""Debt, health and production risk of a codebase (rules.md 8.1 to 8.5).

Sums are kept in whole numbers, points in tenths and weights in hundredths, so that they do not depend on the order in
which findings are added and can be taken apart again file by file.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from itertools import pairwise
from math import exp, sqrt

from analysis.engine.model import Category, Confidence, Finding, Severity, Volume
from analysis.engine.severity import REQUEST_PATH
from analysis.engine.volumes import is_large

MINUTES_PER_POINT = 10
MINUTES_PER_LINE = 30  # customary cost of writing one line, the base of the SQALE debt ratio
RATINGS = ((0.05, "A"), (0.10, "B"), (0.20, "C"), (0.50, "D"))
DEBT_KNOTS = ((0.0, 100.0), (0.01, 90.0), (0.05, 70.0), (0.10, 50.0), (0.20, 30.0), (0.50, 10.0), (1.0, 0.0))
DEBT_SHARE, SEVERITY_SHARE, HOTSPOT_SHARE = 0.40, 0.40, 0.20
WORST_FILES = 5
CRITICAL_CAP = 89
PRODUCTION_CAP = 49

SEVERITY_TENTHS = {Severity.CRITICAL: 50, Severity.WARNING: 10, Severity.INFO: 1}
CONFIDENCE_TENTHS = {Confidence.HIGH: 10, Confidence.MEDIUM: 7, Confidence.LOW: 3}
_HARM = {Severity.CRITICAL: 10, Severity.WARNING: 2, Severity.INFO: 0}
_SURENESS_TENTHS = {Confidence.HIGH: 10, Confidence.MEDIUM: 7, Confidence.LOW: 0}
_VOLUME_TENTHS = {None: 10, Volume.S: 5, Volume.M: 10, Volume.XL: 15, Volume.XXL: 20}
_RISKY = frozenset({Category.RUNTIME_RISK, Category.PERFORMANCE, Category.RELIABILITY})


class ProductionRisk(StrEnum):
    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"

    @property
    def rank(self) -> int:
        """0 for LOW to 3 for CRITICAL: the value of the gate metric `production_risk`."""
        return list(ProductionRisk).index(self)


@dataclass(slots=True)
class Tally:
    """What the open findings of some files add up to. Findings in tests are listed and counted, but score nothing."""

    total: int = 0
    critical: int = 0
    warning: int = 0
    architecture: int = 0
    runtime_risk: int = 0
    performance: int = 0
    reliability: int = 0
    maintainability: int = 0
    points_tenths: int = 0
    weight_hundredths: int = 0
    harm_thousandths: int = 0  # of 8.5, without KLOC
    sure_criticals: int = 0
    risky_sure_criticals: int = 0  # of the categories that count for production
    grave_criticals: int = 0  # of these, on XL and XXL tables or on the request path

    def add(self, other: "Tally", times: int = 1) -> None:
        """Add another tally, or with -1 take it away again."""
        if not other.total:
            return
        for name in _FIELDS:
            setattr(self, name, getattr(self, name) + times * getattr(other, name))


_FIELDS = tuple(entry.name for entry in fields(Tally))


def tally(findings: Iterable[tuple[Finding, Category]], *, is_script: bool = False, is_hotspot: bool = False) -> Tally:
    """Add up the open findings of one file."""
    sums = Tally()
    categories: dict[Category, int] = {}
    for finding, category in findings:
        severity, confidence = finding.severity, finding.confidence
        if severity is None or confidence is None:
            raise ValueError(f"{finding.rule_id} at {finding.file}:{finding.line} was not judged")
        categories[category] = categories.get(category, 0) + 1
        sums.critical += severity is Severity.CRITICAL
        sums.warning += severity is Severity.WARNING
        if finding.in_test:
            continue
        sums.points_tenths += round(finding.points * 10)
        sums.weight_hundredths += SEVERITY_TENTHS[severity] * CONFIDENCE_TENTHS[confidence]
        sure = severity is Severity.CRITICAL and confidence is Confidence.HIGH
        sums.sure_criticals += sure
        if category in _RISKY and not is_script:
            sums.harm_thousandths += _harm(finding, severity, confidence) * (15 if is_hotspot else 10)
            sums.risky_sure_criticals += sure
            sums.grave_criticals += sure and (is_large(finding.volume) or REQUEST_PATH in finding.tags)
    sums.total = sum(categories.values())
    for category, count in categories.items():
        setattr(sums, category.value, count)
    return sums


def kloc(lines_of_code: int) -> float:
    """Thousands of lines, at least one."""
    return max(1.0, lines_of_code / 1000)


def debt_score(points_tenths: int, lines_of_code: int) -> float:
    """Debt points per thousand lines."""
    return points_tenths / 10 / kloc(lines_of_code)


def debt_ratio(score: float) -> float:
    """Time to repair over time to write, by the SQALE method; 0.014 is 1.4 percent."""
    return score * MINUTES_PER_POINT / (1000 * MINUTES_PER_LINE)


def rating(ratio: float) -> str:
    """The SQALE letter of a debt ratio."""
    return next((letter for limit, letter in RATINGS if ratio <= limit), "E")


def debt_part(ratio: float) -> float:
    """D of 8.3: the debt ratio mapped between the knots."""
    for (left, high), (right, low) in pairwise(DEBT_KNOTS):
        if ratio <= right:
            return high + (low - high) * (ratio - left) / (right - left)
    return 0.0


def severity_part(weight_hundredths: int, lines_of_code: int) -> float:
    """S of 8.3: how much the findings press, by severity and confidence."""
    return 100 * exp(-(weight_hundredths / 100 / kloc(lines_of_code)) / 15)


def hotspot_part(worst_risks: Sequence[int]) -> float:
    """H of 8.3: 100 less the mean risk of the five worst files, absent ones counting as 0."""
    return 100 - sum(sorted(worst_risks, reverse=True)[:WORST_FILES]) / WORST_FILES


def production_risk(sums: Tally, lines_of_code: int) -> ProductionRisk:
    """How likely the code is to cause an incident (8.5)."""
    harm = sums.harm_thousandths / 1000 / sqrt(max(1.0, kloc(lines_of_code) / 10))
    if harm >= 180 or sums.grave_criticals >= 3:
        return ProductionRisk.CRITICAL
    if harm >= 60:
        return ProductionRisk.HIGH
    if harm >= 15 or sums.risky_sure_criticals:
        return ProductionRisk.MEDIUM
    return ProductionRisk.LOW


def health_score(sums: Tally, lines_of_code: int, worst_risks: Sequence[int]) -> int:
    """Health from 0 to 100, higher is better (8.3). An empty repository scores 100."""
    health = round(health_before_caps(sums.points_tenths, sums.weight_hundredths, lines_of_code, worst_risks))
    if sums.sure_criticals:
        health = min(health, CRITICAL_CAP)
    if production_risk(sums, lines_of_code) is ProductionRisk.CRITICAL:
        health = min(health, PRODUCTION_CAP)
    return health


def health_before_caps(
    points_tenths: int, weight_hundredths: int, lines_of_code: int, worst_risks: Sequence[int]
) -> float:
    """The weighted parts of health, neither rounded nor capped."""
    debt = debt_part(debt_ratio(debt_score(points_tenths, lines_of_code)))
    pressure = severity_part(weight_hundredths, lines_of_code)
    return DEBT_SHARE * debt + SEVERITY_SHARE * pressure + HOTSPOT_SHARE * hotspot_part(worst_risks)


def _harm(finding: Finding, severity: Severity, confidence: Confidence) -> int:
    return _HARM[severity] * _SURENESS_TENTHS[confidence] * _VOLUME_TENTHS[finding.volume]
