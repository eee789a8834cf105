"""Daily values for the trends: past states judged one after the other, at the cost of what changed between them."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from analysis.engine.evaluator import Evaluator
from analysis.engine.facts import FileFacts
from analysis.engine.history import History
from analysis.engine.languages import FileKind, kind_of
from analysis.engine.model import Category, Severity
from analysis.engine.policy import Policy
from analysis.engine.report import Report
from analysis.engine.rulebook import RuleModule
from analysis.engine.scoring import ProductionRisk
from analysis.engine.standing import Standing, standing_of

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The totals of one day. `total` and `by_category` count open findings, `debt_score` is points per 1000 lines."""

    day: date
    total: int
    critical: int
    warning: int
    by_category: Mapping[str, int]
    debt_score: float
    health_score: int
    lines_of_code: int
    production_risk: ProductionRisk
    standing: Standing


def snapshot_of(report: Report) -> Snapshot:
    """The totals of a report."""
    severities = [finding.severity for finding in report.findings]
    return Snapshot(
        day=report.day,
        total=len(report.findings),
        critical=severities.count(Severity.CRITICAL),
        warning=severities.count(Severity.WARNING),
        by_category=dict(report.categories),
        debt_score=report.debt_score,
        health_score=report.health_score,
        lines_of_code=report.lines_of_code,
        production_risk=report.production_risk,
        standing=standing_of(
            report.findings,
            report.suppressed,
            report.hotspots,
            lines_of_code=report.lines_of_code,
            production_risk=report.production_risk,
            policy=report.policy,
            models=report.models,
        ),
    )


def snapshots(
    days: Iterable[tuple[date, Mapping[str, Key]]],
    facts: Callable[[Key], FileFacts | None],
    history: History,
    policy: Policy,
    *,
    rules: Sequence[RuleModule] | None = None,
) -> Iterator[Snapshot]:
    """A snapshot for each day, equal to what `evaluate` says of that day's tree.

    `days` come oldest first, each with the keys of its blobs by path; `facts` is asked for blobs that are new since the
    day before and may answer None for one that is not analysed. `history` reaches to the last day or further.
    """
    evaluator = Evaluator(policy, rules)
    keys: dict[str, Key] = {}
    known: dict[str, FileFacts] = {}
    for day, tree in days:
        keys, known = _stepped(keys, known, tree, facts)
        evaluator.judge(known, history, day)
        yield _snapshot(evaluator, day)


def _stepped(
    keys: Mapping[str, Key],
    known: Mapping[str, FileFacts],
    tree: Mapping[str, Key],
    facts: Callable[[Key], FileFacts | None],
) -> tuple[dict[str, Key], dict[str, FileFacts]]:
    """The facts of the next tree, those of unchanged blobs taken over."""
    next_keys: dict[str, Key] = {}
    next_known: dict[str, FileFacts] = {}
    for path, key in tree.items():
        found = known.get(path) if keys.get(path) == key else None
        if found is None:
            if kind_of(path) is FileKind.VENDORED:
                continue
            found = facts(key)
            if found is None:
                continue
        next_keys[path] = key
        next_known[path] = found
    return next_keys, next_known


def _snapshot(evaluator: Evaluator, day: date) -> Snapshot:
    totals = evaluator.totals
    return Snapshot(
        day=day,
        total=totals.total,
        critical=totals.critical,
        warning=totals.warning,
        by_category={category.value: getattr(totals, category.value) for category in Category},
        debt_score=round(evaluator.debt_score, 2),
        health_score=evaluator.health_score,
        lines_of_code=evaluator.lines_of_code,
        production_risk=evaluator.production_risk,
        standing=standing_of(
            (finding for state in evaluator.states.values() for finding in state.verdict.findings),
            (finding for state in evaluator.states.values() for finding in state.verdict.suppressed),
            evaluator.codebase.hotspots.values(),
            lines_of_code=evaluator.lines_of_code,
            production_risk=evaluator.production_risk,
            policy=evaluator.policy,
            models=evaluator.codebase.models,
        ),
    )
