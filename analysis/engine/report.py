"""What an analysis says about one state of a repository."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from analysis.engine.facts import FileFacts
from analysis.engine.failures import Failed
from analysis.engine.graph import ImportGraph
from analysis.engine.history import History
from analysis.engine.metrics.coupling import COUPLING_DAYS, Coupling, coupling_of
from analysis.engine.metrics.hotspots import Hotspot
from analysis.engine.model import Category, Finding
from analysis.engine.models import ModelIndex
from analysis.engine.policy import Policy
from analysis.engine.scoring import ProductionRisk


@dataclass(frozen=True, slots=True)
class FileMetrics:
    """Figures of one analysed file. Complexities are sums over its functions."""

    code_lines: int
    complexity: int
    cognitive: int
    churn_count: int
    violation_count: int
    risk_score: int
    is_hotspot: bool


@dataclass(frozen=True)
class Report:
    """The findings of one state, ordered by severity, points, path and line, and the scores that follow from them.

    `lines_of_code` and `languages` count analysed files that are no tests, without blanks and comments; the scores are
    based on them. `files_analyzed` counts tests too. `debt_ratio` is a fraction, `debt_score` points per thousand
    lines. `origins` are the first known paths of files, as fingerprints use them.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    health_score: int
    debt_score: float
    debt_points: float
    debt_ratio: float
    production_risk: ProductionRisk
    lines_of_code: int
    files_analyzed: int
    languages: Mapping[str, int]
    hotspots: tuple[Hotspot, ...]
    file_metrics: Mapping[str, FileMetrics]
    categories: Mapping[str, int]
    graph: ImportGraph
    notes: tuple[str, ...] = ()
    failed: Failed = field(default_factory=dict)  # rules that raised: what they would have found there is missing
    # What a comparison of two reports needs besides:
    files: Mapping[str, FileFacts] = field(default_factory=dict, repr=False)
    origins: Mapping[str, str] = field(default_factory=dict, repr=False)
    rule_categories: Mapping[str, Category] = field(default_factory=dict, repr=False)
    policy: Policy = field(default_factory=Policy)
    models: ModelIndex = field(default_factory=lambda: ModelIndex({}), repr=False)
    layer_violations: frozenset[tuple[str, str]] = frozenset()  # imports (source, target) that break the layers
    day: date = date.min
    history: History = field(default_factory=History, repr=False)

    def functions_of(self, path: str) -> frozenset[str]:
        """The names of the functions of a file; none of one that is not there."""
        facts = self.files.get(path)
        return frozenset(function.name for function in facts.functions) if facts else frozenset()

    @cached_property
    def coupling(self) -> Coupling:
        """Which files change together and whose they are; found out when it is asked for."""
        return coupling_of(self.history.steps_of(COUPLING_DAYS), self.graph)

    @property
    def duplicated_lines(self) -> int:
        """Lines in second and further copies, as the findings about duplicated blocks count them."""
        return sum(
            round(finding.excess / POINTS_PER_DUPLICATED_LINE)
            for finding in self.findings
            if finding.rule_id == "maint-duplicated-block"
        )


POINTS_PER_DUPLICATED_LINE = 0.1


def ordered(findings: list[Finding]) -> tuple[Finding, ...]:
    """The gravest first: severity, points, path, line."""
    return tuple(sorted(findings, key=_gravity))


def _gravity(finding: Finding) -> tuple[int, float, str, int, str, str]:
    rank = finding.severity.rank if finding.severity else 0
    return -rank, -finding.points, finding.file, finding.line, finding.rule_id, finding.fingerprint
