"""A function is longer than anybody reads at once: more than 60 lines of code."""

from collections.abc import Iterator

from analysis.engine.facts import FileFacts, Function, FunctionFlag
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.readers.thresholds import graded, judged_functions

INFO, WARNING, CRITICAL = 60, 100, 300
LINES_PER_POINT = 100  # beyond WARNING
DATA_CALLS = 3  # a function without branches and with so few distinct calls is a table
_COMPONENT, _ANONYMOUS = int(FunctionFlag.COMPONENT), int(FunctionFlag.ANONYMOUS)

RULE = Rule(
    id="maint-long-function",
    type="long_function",
    category=Category.MAINTAINABILITY,
    title="Function is too long",
    severity=Severity.WARNING,
    points=1,
    suggestion="Extract cohesive steps into functions named after their purpose.",
)
GUIDE = Guide(
    why="A function that does not fit on a screen does several things, and its variables live too long.",
    grades="Info above 60 lines of code, warning above 100, critical above 300.",
)


def check_file(path: str, facts: FileFacts) -> Iterator[Finding]:
    for function in judged_functions(facts):
        if function.code_lines <= INFO or _is_data(function):
            continue
        lines = _own_lines(function, facts) if function.flags & _ANONYMOUS else function.code_lines
        scale = 2 if function.flags & _COMPONENT else 1
        severity = graded(lines, INFO * scale, WARNING * scale, CRITICAL * scale)
        if severity is not None:
            yield Finding(
                rule_id=RULE.id,
                file=path,
                line=function.line,
                function=function.name,
                message=f"`{function.name}` has {lines} lines of code (limit {INFO * scale})",
                severity=severity,
                excess=max(0, lines - WARNING * scale) / LINES_PER_POINT,
            )


def _is_data(function: Function) -> bool:
    return function.cyclomatic <= 1 and len(function.calls) <= DATA_CALLS


def _own_lines(function: Function, facts: FileFacts) -> int:
    """Lines of an anonymous wrapper without the functions inside: the module pattern is not one long function."""
    inside = (
        other.code_lines for other in facts.functions if other.parent >= 0 and facts.functions[other.parent] is function
    )
    return max(0, function.code_lines - sum(inside))
