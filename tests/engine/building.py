"""Small codebases, written as facts: what the tests of the judging half of the engine speak about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace

from analysis.engine.evaluate import evaluate
from analysis.engine.facts import Entry, FileFacts, Function, Import, Mark, Suppression
from analysis.engine.graph.model import ImportGraph
from analysis.engine.history import History
from analysis.engine.languages import language_of
from analysis.engine.model import Category, Confidence, Finding, Ladder, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.report import Report

TODAY = date(2026, 11, 20)


@dataclass(frozen=True)
class FakeChange:
    status: str
    old_path: str | None
    new_path: str | None
    old_blob: str | None = "a"
    new_blob: str | None = "b"


@dataclass(frozen=True)
class FakeCommit:
    """A commit `days_ago` days before TODAY."""

    changes: tuple[FakeChange, ...]
    days_ago: int = 1
    author_name: str = "Ada"
    parents: tuple[str, ...] = ("p",)

    @property
    def committed_at(self) -> datetime:
        return datetime(TODAY.year, TODAY.month, TODAY.day, 12, tzinfo=UTC) - timedelta(days=self.days_ago)


def touch(*paths: str, days_ago: int = 1, author: str = "Ada") -> FakeCommit:
    return FakeCommit(tuple(FakeChange("M", path, path) for path in paths), days_ago, author)


def touched(path: str, times: int) -> History:
    """A history in which one file changed this often, among enough other commits."""
    return History.of([touch(path, days_ago=1 + index % 80) for index in range(times)] + [touch("README.md")] * 20)


def module(lines: int = 100, complexity: int = 1) -> Function:
    return Function("module", 1, lines, lines, complexity, 0, 0, 0)


def function(name: str = "work", line: int = 10, **fields: object) -> Function:
    values: dict[str, object] = {
        "end_line": line + 9, "code_lines": 10, "cyclomatic": 1, "cognitive": 0, "nesting": 0, "nesting_line": 0,
        "parent": 0, **fields,
    }  # fmt: skip
    return Function(name=name, line=line, **values)  # type: ignore[arg-type]


def source(
    *functions: Function,
    path: str = "app/a.py",
    lines: int = 100,
    marks: Sequence[Mark] = (),
    imports: Sequence[Import] = (),
    entries: Sequence[Entry] = (),
    suppressions: Sequence[Suppression] = (),
    **fields: object,
) -> FileFacts:
    return FileFacts(
        language=language_of(path),
        lines=lines,
        code_lines=lines,
        functions=(module(lines), *functions),
        marks=tuple(marks),
        imports=tuple(imports),
        entries=tuple(entries),
        suppressions=tuple(suppressions),
        **fields,  # type: ignore[arg-type]
    )


def mark(rule: str = "risk-x", line: int = 10, function: int = 0, **fields: object) -> Mark:
    values: dict[str, object] = {"message": "is wrong", "anchor": f"statement {line}", **fields}
    return Mark(rule=rule, line=line, function=function, **values)  # type: ignore[arg-type]


def a_rule(
    rule_id: str = "risk-x",
    severity: Severity = Severity.WARNING,
    *,
    category: Category = Category.RUNTIME_RISK,
    points: float = 1,
    confidence: Confidence = Confidence.HIGH,
    ladder: Ladder = Ladder.NONE,
    **hooks: object,
) -> SimpleNamespace:
    """A rule module; `hooks` are its functions, and fields of its RULE under `rule_fields`."""
    extra = hooks.pop("rule_fields", {})
    rule = Rule(
        id=rule_id,
        type=rule_id,
        category=category,
        title="Something is wrong",
        severity=severity,
        points=points,
        suggestion="Repair it.",
        confidence=confidence,
        ladder=ladder,
        **extra,  # type: ignore[arg-type]
    )
    return SimpleNamespace(RULE=rule, **hooks)


def judged(
    files: Mapping[str, FileFacts],
    *rules: object,
    policy: Policy | None = None,
    history: History | None = None,
    today: date = TODAY,
    aliases: Mapping[str, str] | None = None,
    graph: ImportGraph | None = None,
) -> Report:
    return evaluate(
        files=files,
        history=history or History.empty(),
        policy=policy or Policy(),
        today=today,
        aliases=aliases or {},
        rules=rules,  # type: ignore[arg-type]
        graph=graph,
    )


def only(report: Report) -> Finding:
    """The single open finding of a report."""
    assert len(report.findings) == 1, report.findings
    return report.findings[0]
