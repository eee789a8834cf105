"""Judges a change: what it adds and takes away between two reports, and what the policy's gates say (rules.md 8.6)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from analysis.engine.changes import (
    ChangedFiles,
    complexity_delta,
    highest_changed_complexity,
    layer_edges,
    new_cycles,
    suppressions_of,
)
from analysis.engine.failures import EVERYWHERE, failure_notes
from analysis.engine.gate_metrics import METRICS, action_of, fires
from analysis.engine.metrics.hotspots import HOTSPOT_RISK
from analysis.engine.model import Category, Finding, GateAction, Severity
from analysis.engine.moves import without_moved
from analysis.engine.policy import Gate, Policy
from analysis.engine.report import Report
from analysis.engine.severity import round1

SEVERITY_QUARTERS = {Severity.CRITICAL: 8, Severity.WARNING: 4, Severity.INFO: 1}  # factors 2, 1 and 0.25 of 8.6


@dataclass(frozen=True, slots=True)
class Delta:
    """What a change does. `metrics` holds a value for every name of `gate_metrics.METRICS`; `notes` say which rules
    failed, so that nobody takes the rest for the whole."""

    introduced: tuple[Finding, ...]
    resolved: tuple[Finding, ...]
    metrics: Mapping[str, float]
    categories: Mapping[str, Category] = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def debt_delta_score(self) -> float:
        """Points by severity of introduced less resolved findings; negative when the change pays debt back."""
        return self.metrics["debt_delta_score"]


@dataclass(frozen=True, slots=True)
class FiredGate:
    """A gate whose condition holds, and the sentence that says so to people."""

    gate: Gate
    action: GateAction
    value: float
    sentence: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a change. `findings` are the introduced ones, each with what the gates do about it; `notes` say
    what is missing in it."""

    result: Literal["pass", "fail"]
    score: float
    blocking_count: int
    warning_count: int
    fired: tuple[FiredGate, ...]
    findings: tuple[Finding, ...]
    resolved: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


def compare(base: Report, head: Report, changed: ChangedFiles) -> Delta:
    """The difference between the merge base and the head of a change.

    Both reports have to be judged by the same policy, rules and day, with `aliases` that give a renamed file the same
    first path in both; findings are the same when their fingerprints are, or when they merely moved. Where a rule
    failed on one side, nobody knows what the change did: the other side's findings of that rule do not count there.
    """
    unknown_before, unknown_after = _unknown(base), _unknown(head)
    before = {finding.fingerprint for finding in (*base.findings, *base.suppressed)}
    after = {finding.fingerprint for finding in (*head.findings, *head.suppressed)}
    introduced, resolved = without_moved(
        [each for each in head.findings if each.fingerprint not in before and not unknown_before(each, head)],
        [each for each in base.findings if each.fingerprint not in after and not unknown_after(each, base)],
        before=base.origins,
        after=head.origins,
    )
    categories = {**base.rule_categories, **head.rule_categories}
    metrics = {
        **_debt(introduced, resolved),
        **_counts(introduced, categories),
        **_totals(base, head),
        **_structure(base, head),
        **_of_files(base, head, changed),
    }
    notes = (*failure_notes(head.failed), *failure_notes(base.failed, before=True))
    return Delta(introduced, resolved, metrics, categories, notes)


def judge(delta: Delta, policy: Policy) -> Verdict:
    """Apply the gates of `policy`, which is the base branch's."""
    blocks = [_fired(gate, GateAction.BLOCK, delta) for gate in policy.block_merge]
    warns = [_fired(gate, GateAction.WARN, delta) for gate in policy.warn]
    fired = [gate for gate in (*blocks, *warns) if gate is not None]
    blocking = frozenset(entry.gate.metric for entry in fired if entry.action is GateAction.BLOCK)
    warning = frozenset(entry.gate.metric for entry in fired if entry.action is GateAction.WARN)
    findings = tuple(
        finding.with_(
            gate_action=action_of(finding, delta.categories[finding.rule_id], blocking=blocking, warning=warning)
        )
        for finding in delta.introduced
    )
    blocking_count = _count(findings, fired, GateAction.BLOCK)
    return Verdict(
        result="fail" if blocking_count else "pass",
        score=delta.debt_delta_score,
        blocking_count=blocking_count,
        warning_count=_count(findings, fired, GateAction.WARN),
        fired=tuple(fired),
        findings=findings,
        resolved=delta.resolved,
        notes=delta.notes,
    )


def _unknown(report: Report) -> Callable[[Finding, Report], bool]:
    """Whether a finding of another report is one that this report cannot know of, because the rule failed there."""
    failed = {(rule_id, report.origins.get(path, path)) for rule_id, paths in report.failed.items() for path in paths}

    def unknown(finding: Finding, other: Report) -> bool:
        origin = other.origins.get(finding.file, finding.file)
        return not failed.isdisjoint({(finding.rule_id, EVERYWHERE), (finding.rule_id, origin)})

    return unknown


def _debt(introduced: Sequence[Finding], resolved: Sequence[Finding]) -> dict[str, float]:
    return {
        "debt_delta_score": round1((_weighted(introduced) - _weighted(resolved)) / 40),
        "debt_added": _points(introduced),
        "debt_removed": _points(resolved),
    }


def _weighted(findings: Iterable[Finding]) -> int:
    """Points by severity, in fortieths, so that sums are exact."""
    return sum(
        round(finding.points * 10) * SEVERITY_QUARTERS[finding.severity or Severity.INFO]
        for finding in findings
        if not finding.in_test
    )


def _points(findings: Iterable[Finding]) -> float:
    return sum(round(finding.points * 10) for finding in findings if not finding.in_test) / 10


def _counts(introduced: Sequence[Finding], categories: Mapping[str, Category]) -> dict[str, float]:
    """Every metric that counts introduced findings; those in tests do not count."""
    scoring = [(finding, categories[finding.rule_id]) for finding in introduced if not finding.in_test]
    return {
        metric.name: float(sum(1 for finding, category in scoring if metric.includes(finding, category)))
        for metric in METRICS.values()
        if metric.includes is not None
    }


def _totals(base: Report, head: Report) -> dict[str, float]:
    return {
        "total_critical": sum(1 for finding in head.findings if finding.severity is Severity.CRITICAL),
        "total_violations": len(head.findings),
        "health_score": head.health_score,
        "health_delta": head.health_score - base.health_score,
        "debt_score": head.debt_score,
        "debt_ratio": head.debt_ratio * 100,
        "production_risk": head.production_risk.rank,
        "duplicated_lines_delta": head.duplicated_lines - base.duplicated_lines,
        "expired_exceptions": sum(1 for entry in head.policy.exemptions if entry.expires < head.day),
    }


def _structure(base: Report, head: Report) -> dict[str, float]:
    before, after = layer_edges(base), layer_edges(head)
    return {
        "circular_dependencies": len(head.graph.cycles),
        "new_circular_dependencies": len(new_cycles(base, head)),
        "layer_violations": len(after),
        "new_layer_violations": len(after - before),
    }


def _of_files(base: Report, head: Report, changed: ChangedFiles) -> dict[str, float]:
    risks = [base.file_metrics[path].risk_score for path in changed.before if path in base.file_metrics]
    added = Counter(suppressions_of(head)) - Counter(suppressions_of(base))
    return {
        "complexity_delta": complexity_delta(base, head, changed),
        "max_function_complexity": highest_changed_complexity(base, head, changed),
        "hotspots_touched": sum(1 for risk in risks if risk >= HOTSPOT_RISK),
        "hotspot_risk_max": max(risks, default=0),
        "changed_lines": changed.changed_lines,
        "suppressions_added": added.total() + changed.exceptions_added,
    }


def _fired(gate: Gate, action: GateAction, delta: Delta) -> FiredGate | None:
    value = delta.metrics[gate.metric]
    if not fires(gate, value):
        return None
    verb = "blocks at" if action is GateAction.BLOCK else "warns at"
    sentence = (
        f"{METRICS[gate.metric].title}: {_number(value)} (the policy {verb} {gate.operator} {_number(gate.value)})"
    )
    return FiredGate(gate, action, value, sentence)


def _count(findings: Iterable[Finding], fired: Iterable[FiredGate], action: GateAction) -> int:
    flagged = sum(1 for finding in findings if finding.gate_action is action)
    return flagged + sum(1 for entry in fired if entry.action is action)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
