"""What the scores of one state rest on: enough to compare any two states and to say which finding moved what."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple

from analysis.engine.facts import EXTRACTOR_VERSION
from analysis.engine.metrics.hotspots import Hotspot
from analysis.engine.model import Confidence, Finding, Severity
from analysis.engine.models import ModelIndex
from analysis.engine.policy import Policy
from analysis.engine.policy_file import to_mapping
from analysis.engine.rules import all_rules
from analysis.engine.scoring import (
    CONFIDENCE_TENTHS,
    CRITICAL_CAP,
    PRODUCTION_CAP,
    SEVERITY_TENTHS,
    WORST_FILES,
    ProductionRisk,
    health_before_caps,
)
from analysis.engine.severity import EXPIRED

OPEN, EXPIRED_AGAIN, SUPPRESSED = 0, 1, 2  # the second one is open because its exception of the policy has expired
MOST_HEALTH = 100


class Scored(NamedTuple):
    """One finding outside tests. `points` are tenths and `weight` hundredths, both 0 while it is suppressed."""

    rule: str
    severity: str
    file: str
    line: int
    message: str
    state: int
    points: int
    weight: int
    table: str
    volume: str


@dataclass(frozen=True)
class Standing:
    """`findings` by fingerprint; `worst` are the five riskiest files, the worst first; `cap` is the most that health
    may be. `policy` is the part of the policy that scores depend on, `rules` the version of each rule. What a state
    that it is compared with has alike may be left out of `findings`: `other_points` and `other_weight` are their sums.
    """

    findings: Mapping[str, Scored] = field(default_factory=dict)
    lines_of_code: int = 0
    worst: tuple[tuple[str, int], ...] = ()
    cap: int = MOST_HEALTH
    policy: Mapping[str, Any] = field(default_factory=dict)
    rules: Mapping[str, int] = field(default_factory=dict)
    extractor: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    other_points: int = 0
    other_weight: int = 0

    @cached_property
    def points_tenths(self) -> int:
        return self.other_points + sum(each.points for each in self.findings.values())

    @cached_property
    def weight_hundredths(self) -> int:
        return self.other_weight + sum(each.weight for each in self.findings.values())

    @property
    def raw_health(self) -> float:
        """Health before it is rounded and capped."""
        risks = [risk for _, risk in self.worst]
        return health_before_caps(self.points_tenths, self.weight_hundredths, self.lines_of_code, risks)

    @property
    def health(self) -> int:
        """Health as the report shows it."""
        return min(round(self.raw_health), self.cap)


def standing_of(
    opened: Iterable[Finding],
    suppressed: Iterable[Finding],
    hotspots: Iterable[Hotspot],
    *,
    lines_of_code: int,
    production_risk: ProductionRisk,
    policy: Policy,
    models: ModelIndex,
) -> Standing:
    """The standing of a judged state."""
    counted = [finding for finding in opened if not finding.in_test]
    findings = {finding.fingerprint: _scored(finding, is_open=True) for finding in counted}
    findings |= {finding.fingerprint: _scored(finding, is_open=False) for finding in suppressed if not finding.in_test}
    worst = sorted(hotspots, key=lambda spot: spot.order)[:WORST_FILES]
    return Standing(
        findings=findings,
        lines_of_code=lines_of_code,
        worst=tuple((spot.file, spot.risk_score) for spot in worst),
        cap=_cap(counted, production_risk),
        policy=_scoring_part(policy),
        rules=_rule_versions(),
        extractor=str(EXTRACTOR_VERSION),
        models=_names_of({scored.table for scored in findings.values()}, models),
    )


def _names_of(tables: Iterable[str], models: ModelIndex) -> dict[str, str]:
    named = {table: models.model_of(table) for table in sorted(tables)}
    return {table: name for table, name in named.items() if name}


def _scored(finding: Finding, *, is_open: bool) -> Scored:
    assert finding.severity is not None  # noqa: S101 - a judged finding has both
    assert finding.confidence is not None  # noqa: S101
    state = (EXPIRED_AGAIN if EXPIRED in finding.tags else OPEN) if is_open else SUPPRESSED
    return Scored(
        rule=finding.rule_id,
        severity=finding.severity.value,
        file=finding.file,
        line=finding.line,
        message=finding.message,
        state=state,
        points=round(finding.points * 10) if is_open else 0,
        weight=SEVERITY_TENTHS[finding.severity] * CONFIDENCE_TENTHS[finding.confidence] if is_open else 0,
        table=finding.table,
        volume=finding.volume.value if finding.volume else "",
    )


def _cap(counted: Iterable[Finding], risk: ProductionRisk) -> int:
    if risk is ProductionRisk.CRITICAL:
        return PRODUCTION_CAP
    sure = any(each.severity is Severity.CRITICAL and each.confidence is Confidence.HIGH for each in counted)
    return CRITICAL_CAP if sure else MOST_HEALTH


def _scoring_part(policy: Policy) -> dict[str, Any]:
    whole = to_mapping(policy)
    return {name: whole[name] for name in ("architecture", "layers", "exceptions", "data_volumes")}


@cache
def _rule_versions() -> dict[str, int]:
    return {module.RULE.id: module.RULE.version for module in all_rules()}
