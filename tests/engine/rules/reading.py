"""Small sources in, marks and findings out."""

from collections.abc import Mapping
from datetime import date

from analysis.engine.evaluate import evaluate
from analysis.engine.extract import extract
from analysis.engine.facts import Mark
from analysis.engine.history import History
from analysis.engine.languages import reading_of
from analysis.engine.model import Finding, Volume
from analysis.engine.policy import Policy


def marks_of(rule: str, source: str, language: str = "python") -> list[Mark]:
    """What the rule sees in one source."""
    return [mark for mark in extract(source.encode(), language).marks if mark.rule == rule]


def lines_of(rule: str, source: str, language: str = "python") -> list[int]:
    """The lines that the rule marks."""
    return [mark.line for mark in marks_of(rule, source, language)]


def findings_of(rule: str, files: dict[str, str], volumes: Mapping[str, str] | None = None) -> list[Finding]:
    """What the rule finds in a codebase, judged."""
    policy = Policy(data_volumes={name: Volume(size) for name, size in (volumes or {}).items()})
    facts = {path: extract(source.encode(), reading_of(path)) for path, source in files.items()}
    report = evaluate(files=facts, history=History.empty(), policy=policy, today=date(2026, 1, 1))
    return [finding for finding in report.findings if finding.rule_id == rule]
