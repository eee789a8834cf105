"""Judges facts: the same facts, history, policy and day always give the same report."""

from collections.abc import Mapping, Sequence
from datetime import date

from analysis.engine.codebase import Codebase
from analysis.engine.evaluator import NO_ALIASES, Evaluator, FileState
from analysis.engine.facts import FileFacts
from analysis.engine.failures import failure_notes, unparsed_notes
from analysis.engine.graph import ImportGraph
from analysis.engine.graph.breaks import layer_breaks
from analysis.engine.history import History
from analysis.engine.languages import DISPLAY_NAME
from analysis.engine.metrics.hotspots import Hotspot
from analysis.engine.model import Category
from analysis.engine.policy import Policy
from analysis.engine.policy_notes import unused_notes
from analysis.engine.report import Report, ordered
from analysis.engine.rulebook import RuleModule
from analysis.engine.scoring import debt_ratio
from analysis.engine.suppression import expiry_notes, unreasoned_notes


def evaluate(
    *,
    files: Mapping[str, FileFacts],
    history: History,
    policy: Policy,
    today: date,
    aliases: Mapping[str, str] = NO_ALIASES,
    rules: Sequence[RuleModule] | None = None,
    graph: ImportGraph | None = None,
) -> Report:
    """Judge the files of one state of a repository. No clock, no I/O.

    `aliases` give the path under which a renamed file was first known. `rules` default to the whole catalogue; `graph`
    spares building the import graph when it is known already.
    """
    evaluator = Evaluator(policy, rules)
    evaluator.judge(files, history, today, aliases, graph)
    return report_of(evaluator)


def report_of(evaluator: Evaluator) -> Report:
    """The report of the state that was judged last."""
    codebase, totals = evaluator.codebase, evaluator.totals
    churn = codebase.history.window.per_file
    states = {path: evaluator.states[path] for path in codebase.files}
    findings = [finding for state in states.values() for finding in state.verdict.findings]
    suppressed = [finding for state in states.values() for finding in state.verdict.suppressed]
    failed = evaluator.failed
    notes = (
        *failure_notes(failed),
        *unparsed_notes(codebase.files),
        *expiry_notes(evaluator.policy.exemptions, codebase.today),
        *unreasoned_notes(codebase.files),
        *unused_notes(evaluator.policy, codebase, evaluator.book.rules),
    )
    return Report(
        findings=ordered(findings),
        suppressed=ordered(suppressed),
        health_score=evaluator.health_score,
        debt_score=round(evaluator.debt_score, 2),
        debt_points=totals.points_tenths / 10,
        debt_ratio=debt_ratio(evaluator.debt_score),
        production_risk=evaluator.production_risk,
        lines_of_code=evaluator.lines_of_code,
        files_analyzed=evaluator.files_analyzed,
        languages=_languages(states),
        hotspots=tuple(sorted(codebase.hotspots.values(), key=_risk_order)),
        file_metrics={path: state.metrics(churn.get(path, 0)) for path, state in states.items()},
        categories={category.value: getattr(totals, category.value) for category in Category},
        graph=codebase.graph,
        notes=notes,
        failed=failed,
        files=codebase.files,
        origins=evaluator.origins,
        rule_categories={rule.id: rule.category for rule in evaluator.book.rules.values()},
        policy=evaluator.policy,
        models=codebase.models,
        layer_violations=_layer_violations(codebase, evaluator.policy),
        day=codebase.today,
        history=codebase.history,
    )


def _layer_violations(codebase: Codebase, policy: Policy) -> frozenset[tuple[str, str]]:
    if not policy.layers:
        return frozenset()
    breaks = layer_breaks(codebase.graph, codebase.files, policy)
    return frozenset((edge.source, edge.target) for found in breaks for edge in found.edges if edge.runtime)


def _languages(states: Mapping[str, FileState]) -> dict[str, int]:
    """Lines of code per language, the most used first."""
    lines: dict[str, int] = {}
    for state in states.values():
        if state.code_lines:
            name = DISPLAY_NAME[state.facts.language]
            lines[name] = lines.get(name, 0) + state.code_lines
    return dict(sorted(lines.items(), key=lambda item: (-item[1], item[0])))


def _risk_order(hotspot: Hotspot) -> tuple[int, int, str]:
    return hotspot.order
