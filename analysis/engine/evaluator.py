"""Judges one state of a repository after the other, doing again only what changed between them.

Each state takes two passes: first all findings that do not depend on hotspots, from which the risk of each file
follows; then the findings about hotspots, and those whose severity is higher in one. Findings of the second pass do
not raise the risk that caused them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from heapq import nlargest
from types import MappingProxyType

from analysis.engine.codebase import Codebase, can_be_hotspot, is_measured
from analysis.engine.facts import FileFacts
from analysis.engine.failures import Failed, joined
from analysis.engine.graph import ImportGraph
from analysis.engine.history import History
from analysis.engine.identity import origins
from analysis.engine.judging import NOTHING, FileContext, FileJudge, FileJudgement
from analysis.engine.languages import FileKind, kind_of
from analysis.engine.metrics.hotspots import Hotspot, risk_score, violation_density
from analysis.engine.model import Finding
from analysis.engine.policy import Policy
from analysis.engine.report import FileMetrics
from analysis.engine.rulebook import LocalFindings, RuleBook, RuleModule
from analysis.engine.scoring import WORST_FILES, ProductionRisk, Tally, debt_score, health_score, production_risk
from analysis.engine.suppression import Exemptions

NO_ALIASES: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True)
class FileState:
    """What is known of one file, kept from state to state while nothing that it rests on changes."""

    facts: FileFacts
    local: LocalFindings
    code_lines: int  # that count for the scores
    is_measured: bool
    is_candidate: bool  # may be a hotspot
    complexity: int
    verdict: FileJudgement = NOTHING
    hotspot: Hotspot | None = None
    _first: FileJudgement = NOTHING
    _first_key: tuple[object, ...] = ()
    _late: FileJudgement = NOTHING
    _late_key: tuple[object, ...] = ()
    _hotspot_key: tuple[int, int, int] = (-1, -1, -1)
    _metrics: FileMetrics | None = None

    def metrics(self, churn: int) -> FileMetrics:
        """The figures of the file, which `churn` commits touched."""
        known, hotspot, violations = self._metrics, self.hotspot, self.verdict.tally.total
        risk, is_hotspot = (hotspot.risk_score, hotspot.is_hotspot) if hotspot else (0, False)
        if known is None or (known.churn_count, known.violation_count, known.risk_score, known.is_hotspot) != (
            churn, violations, risk, is_hotspot,
        ):  # fmt: skip
            self._metrics = known = FileMetrics(
                code_lines=self.facts.code_lines,
                complexity=self.complexity,
                cognitive=self.facts.cognitive,
                churn_count=churn,
                violation_count=violations,
                risk_score=risk,
                is_hotspot=is_hotspot,
            )
        return known


class Evaluator:
    """The judge of one set of rules. What it says of a state under a policy never depends on what it judged before.

    `policy` may be replaced between two states; files keep what does not follow from it.
    """

    def __init__(self, policy: Policy, rules: Sequence[RuleModule] | None = None) -> None:
        self.policy = policy
        self.book = RuleBook(rules)
        self.codebase = Codebase({}, policy=policy, history=History.empty(), today=date.min)
        self.states: dict[str, FileState] = {}
        self.origins: dict[str, str] = {}
        self.totals = Tally()
        self.lines_of_code = 0
        self.files_analyzed = 0
        self._epoch: tuple[object, ...] = ()
        self._epochs = 0

    def judge(
        self,
        files: Mapping[str, FileFacts],
        history: History,
        today: date,
        aliases: Mapping[str, str] = NO_ALIASES,
        graph: ImportGraph | None = None,
        added: frozenset[str] = frozenset(),
    ) -> None:
        """Judge one state; afterwards every attribute speaks of it. `added` are the files that a change brings."""
        before = self.codebase
        self.codebase = Codebase(
            files, policy=self.policy, history=history, today=today, graph=graph, before=before, added=added
        )
        before.forget()
        self.origins = origins(self.codebase.files, aliases)
        for path in self.states.keys() - self.codebase.files.keys():
            self._count(self.states.pop(path), -1)
        judge = self._file_judge()
        states = {path: self._state(path, facts) for path, facts in self.codebase.files.items()}
        extras = self._extras(states)
        for path, state in states.items():
            self._judge_first(judge, path, state, extras.get(path, ()))
        hotspots = {path: state.hotspot for path, state in self._measured() if state.hotspot}
        self.codebase.hotspots = hotspots
        self._judge_late(judge)
        self._count_late(hotspots)

    @property
    def worst_risks(self) -> list[int]:
        """Risk scores of the five worst files, the worst first."""
        return nlargest(WORST_FILES, (hotspot.risk_score for hotspot in self.codebase.hotspots.values()))

    @property
    def health_score(self) -> int:
        return health_score(self.totals, self.lines_of_code, self.worst_risks)

    @property
    def debt_score(self) -> float:
        return debt_score(self.totals.points_tenths, self.lines_of_code)

    @property
    def failed(self) -> Failed:
        """The rules that raised, and where; what they would have found there is missing."""
        return joined([self.book.failures.failed, *(state.local.failed for state in self.states.values())])

    @property
    def production_risk(self) -> ProductionRisk:
        return production_risk(self.totals, self.lines_of_code)

    def _file_judge(self) -> FileJudge:
        exemptions = Exemptions(self.policy.exemptions, self.codebase.today)
        names: dict[str, str] = {}
        if self.policy.data_volumes:
            for entry in self.codebase.models.all:
                names.setdefault(entry.table.lower(), entry.model.name)
        epoch = (self.policy, exemptions.in_force, names)
        if epoch != self._epoch:
            self._epoch, self._epochs = epoch, self._epochs + 1
        return FileJudge(self.policy, self.book.rules, exemptions, self.codebase.volumes, names)

    def _extras(self, states: Mapping[str, FileState]) -> Mapping[str, Sequence[Finding]]:
        """Findings that rest on more than one file."""
        extras = self.book.raised(self.codebase, self.policy)
        for path, state in states.items():
            marks = state.local.open_marks
            if marks:
                extras.setdefault(path, []).extend(self.book.judged(marks, path, self.codebase, self.policy))
        return extras

    def _state(self, path: str, facts: FileFacts) -> FileState:
        state = self.states.get(path)
        if state is not None and state.facts is facts:
            return state
        if state is not None:
            self._count(state, -1)
        measured = is_measured(path, facts)
        state = FileState(
            facts=facts,
            local=self.book.local(path, facts, self.codebase, self.policy),
            code_lines=facts.code_lines if measured and kind_of(path) is not FileKind.TEST else 0,
            is_measured=measured,
            is_candidate=can_be_hotspot(path, facts),
            complexity=facts.complexity,
        )
        self.states[path] = state
        self._count(state, 1)
        return state

    def _count(self, state: FileState, times: int) -> None:
        self.lines_of_code += times * state.code_lines
        self.files_analyzed += times * state.is_measured
        self.totals.add(state.verdict.tally, times)

    def _judge_first(self, judge: FileJudge, path: str, state: FileState, extra: Sequence[Finding]) -> None:
        key = (extra, self.codebase.request_path.get(path), self.origins[path], self._epochs)
        if state._first_key != key:
            state._first = self._verdict(judge, path, state, [*state.local.findings, *extra])
            state._first_key = key

    def _measured(self) -> Iterator[tuple[str, FileState]]:
        """Every file that may be a hotspot, its risk brought up to date."""
        churn = self.codebase.history.window.per_file
        for path in self.codebase.files:
            state = self.states[path]
            if not state.is_candidate:
                continue
            sums = state._first.tally
            key = (churn.get(path, 0), sums.weight_hundredths, sums.total)
            if state._hotspot_key != key:
                state.hotspot, state._hotspot_key = _hotspot(path, state, *key), key
            yield path, state

    def _judge_late(self, judge: FileJudge) -> None:
        """Findings about hotspots, and findings that weigh more in one."""
        late = self.book.raised_late(self.codebase, self.policy)
        for path, state in self.states.items():
            verdict = state._first
            extra = late.get(path, ())
            if extra or (state.hotspot and state.hotspot.is_hotspot and verdict is not NOTHING):
                key = (state._first_key, extra, state.hotspot and state.hotspot.is_hotspot)
                if state._late_key != key:
                    raw = [*state.local.findings, *_extra_of(state), *extra]
                    state._late = self._verdict(judge, path, state, raw, in_hotspot=bool(key[2]))
                    state._late_key = key
                verdict = state._late
            if verdict is not state.verdict:
                self.totals.add(state.verdict.tally, -1)
                self.totals.add(verdict.tally)
                state.verdict = verdict

    def _count_late(self, hotspots: dict[str, Hotspot]) -> None:
        """The findings about a hotspot are among its violations, though they came after its risk."""
        for path, hotspot in hotspots.items():
            total = self.states[path].verdict.tally.total
            if hotspot.violation_count != total:
                hotspots[path] = replace(hotspot, violation_count=total)

    def _verdict(
        self, judge: FileJudge, path: str, state: FileState, raw: Iterable[Finding], *, in_hotspot: bool = False
    ) -> FileJudgement:
        reached = self.codebase.request_path.get(path, ())
        functions = state.facts.functions
        context = FileContext(
            path=path,
            facts=state.facts,
            origin=self.origins[path],
            in_request=frozenset(functions[index].name for index in reached),
            is_hotspot=in_hotspot,
        )
        return judge.judge(context, raw)


def _extra_of(state: FileState) -> Sequence[Finding]:
    extra: Sequence[Finding] = state._first_key[0]  # type: ignore[assignment]
    return extra


def _hotspot(path: str, state: FileState, churn: int, weight: int, violations: int) -> Hotspot | None:
    density = violation_density(weight, state.facts.lines)
    risk = risk_score(state.complexity, churn, density)
    return Hotspot(path, state.complexity, churn, violations, risk) if risk else None
