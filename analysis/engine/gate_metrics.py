"""The metrics that a gate may name, with their meaning (rules.md 8.7), and what a gate would do about one finding."""

import operator
from collections.abc import Callable
from dataclasses import dataclass

from analysis.engine.model import Category, Confidence, Finding, GateAction, Severity
from analysis.engine.policy import Gate, Policy
from analysis.engine.volumes import is_large

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
Includes = Callable[[Finding, Category], bool]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `includes` tells for a count of findings which ones it counts; `title` begins a sentence."""

    name: str
    title: str
    meaning: str
    includes: Includes | None = None


def _severe(finding: Finding, category: Category) -> bool:
    return finding.severity is not Severity.INFO


def _of_severity(severity: Severity) -> Includes:
    return lambda finding, category: finding.severity is severity


def _of_category(wanted: Category) -> Includes:
    return lambda finding, category: category is wanted and _severe(finding, category)


def _of_rule(rule_id: str) -> Includes:
    return lambda finding, category: finding.rule_id == rule_id


_ALL = (
    Metric("debt_delta_score", "Debt score of the change", "points of introduced less resolved findings, by severity"),
    Metric("debt_added", "Debt points added", "points of introduced findings"),
    Metric("debt_removed", "Debt points removed", "points of resolved findings"),
    Metric("new_violations", "New violations", "introduced findings of severity critical or warning", _severe),
    *(
        Metric(f"new_{level}", f"New {level} findings", f"introduced findings of severity {level}", _of_severity(level))
        for level in (Severity.CRITICAL, Severity.WARNING, Severity.INFO)
    ),
    *(
        Metric(
            f"new_{category}",
            f"New {category.replace('_', ' ')} findings",
            f"introduced findings of category {category}, critical or warning",
            _of_category(category),
        )
        for category in Category
    ),
    Metric(
        "new_xl_findings",
        "New findings on large tables",
        "introduced findings whose table is XL or XXL",
        lambda finding, category: is_large(finding.volume),
    ),
    Metric("total_critical", "Critical findings", "open critical findings after the change"),
    Metric("total_violations", "Violations", "open findings after the change"),
    Metric("health_score", "Health score", "health after the change, 0 to 100"),
    Metric("health_delta", "Change of health", "health after the change less health before it"),
    Metric("debt_score", "Debt score", "debt points per thousand lines after the change"),
    Metric("debt_ratio", "Debt ratio", "time to repair over time to write after the change, in percent"),
    Metric("complexity_delta", "Change of complexity", "change of summed cognitive complexity in changed files"),
    Metric(
        "max_function_complexity",
        "Highest complexity of a changed function",
        "highest cognitive complexity among added or changed functions",
    ),
    Metric("circular_dependencies", "Circular dependencies", "groups of files that import each other in a circle"),
    Metric(
        "new_circular_dependencies",
        "New circular dependencies",
        "such groups that were not there before, or grew",
        _of_rule("arch-circular-import"),
    ),
    Metric("layer_violations", "Layer violations", "imports that break the layers, after the change"),
    Metric(
        "new_layer_violations",
        "New layer violations",
        "imports that break the layers and were not there before",
        _of_rule("arch-layer-violation"),
    ),
    Metric("duplicated_lines_delta", "Change of duplicated lines", "duplicated lines after less before the change"),
    Metric("hotspots_touched", "Hotspots touched", "changed files whose risk score was 60 or more before the change"),
    Metric("hotspot_risk_max", "Highest risk of a changed file", "highest risk score among changed files, before"),
    Metric("production_risk", "Production risk", "0 LOW, 1 MEDIUM, 2 HIGH, 3 CRITICAL, after the change"),
    Metric("changed_lines", "Changed lines", "added plus deleted lines of analysed files"),
    Metric("suppressions_added", "Suppressions added", "new inline suppressions and new exceptions of the policy"),
    Metric("expired_exceptions", "Expired exceptions", "exceptions of the policy past their date"),
)
METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def fires(gate: Gate, value: float) -> bool:
    """Whether the gate's sentence is true of a measured value."""
    return OPERATORS[gate.operator](value, gate.value)


def action_of(finding: Finding, category: Category, *, blocking: frozenset[str], warning: frozenset[str]) -> GateAction:
    """What the fired gates, given by the names of their metrics, do about one finding (rules.md 8.6).

    Only a critical finding that the engine is sure enough of blocks; one that merely takes part in a blocked count
    warns.
    """
    if finding.in_test:
        return GateAction.NONE
    if _included(finding, category, blocking):
        sure = finding.confidence is not Confidence.LOW
        return GateAction.BLOCK if finding.severity is Severity.CRITICAL and sure else GateAction.WARN
    return GateAction.WARN if _included(finding, category, warning) else GateAction.NONE


class StandingActions:
    """What the gates of a policy would do if one finding of a kind were all that a change introduced."""

    def __init__(self, policy: Policy) -> None:
        self._blocking = frozenset(gate.metric for gate in policy.block_merge if _counts_one(gate))
        self._warning = frozenset(gate.metric for gate in policy.warn if _counts_one(gate))

    def of(self, finding: Finding, category: Category) -> GateAction:
        """The gate action that a scan shows for `finding`."""
        if not self._blocking and not self._warning:
            return GateAction.NONE
        return action_of(finding, category, blocking=self._blocking, warning=self._warning)


def _counts_one(gate: Gate) -> bool:
    return METRICS[gate.metric].includes is not None and fires(gate, 1) and not fires(gate, 0)


def _included(finding: Finding, category: Category, metrics: frozenset[str]) -> bool:
    for name in metrics:
        includes = METRICS[name].includes
        if includes is not None and includes(finding, category):
            return True
    return False
