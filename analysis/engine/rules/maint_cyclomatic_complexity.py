"""A function has many independent paths: its cyclomatic complexity is above 10."""

from collections.abc import Iterator

from analysis.engine.facts import FileFacts, FunctionFlag
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.readers.thresholds import graded, judged_functions

INFO, WARNING, CRITICAL = 10, 15, 50
POINTS_PER_EXCESS = 0.1
_FLAT_SWITCH = int(FunctionFlag.FLAT_SWITCH)

RULE = Rule(
    id="maint-cyclomatic-complexity",
    type="cyclomatic_complexity",
    category=Category.MAINTAINABILITY,
    title="Function has too many paths",
    severity=Severity.WARNING,
    points=1,
    suggestion="Split by responsibility or replace the branch list with a lookup table.",
)
GUIDE = Guide(
    why="Each independent path is a case to think of and to test.",
    grades=(
        "Info above 10, warning above 15, critical above 50 (McCabe 1976). Of several findings about one overgrown "
        "function only the first carries its points."
    ),
)


def check_file(path: str, facts: FileFacts) -> Iterator[Finding]:
    for function in judged_functions(facts):
        severity = graded(function.cyclomatic, INFO, WARNING, CRITICAL)
        if severity is None:
            continue
        if function.flags & _FLAT_SWITCH and severity is Severity.CRITICAL:
            severity = Severity.WARNING
        yield Finding(
            rule_id=RULE.id,
            file=path,
            line=function.line,
            function=function.name,
            message=f"`{function.name}` has a cyclomatic complexity of {function.cyclomatic} (limit {INFO})",
            severity=severity,
            excess=POINTS_PER_EXCESS * (function.cyclomatic - INFO),
        )
