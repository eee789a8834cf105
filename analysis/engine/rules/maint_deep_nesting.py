"""Control structures are nested more than four deep in one function."""

from collections.abc import Iterator

from analysis.engine.facts import FileFacts
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.readers.thresholds import judged_functions

LIMIT, CRITICAL = 4, 6
POINTS_PER_LEVEL = 0.5

RULE = Rule(
    id="maint-deep-nesting",
    type="deep_nesting",
    category=Category.MAINTAINABILITY,
    title="Control structures are nested too deep",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Invert the condition and return early, or extract the inner loop.",
)
GUIDE = Guide(
    why="To know when the innermost line runs one must hold every condition around it.",
    grades="Warning above 4 levels, critical above 6.",
    flagged=(
        {
            "shop/work.py": """
def work(orders):
    for order in orders:
        if order.paid:
            for line in order.lines:
                if line.open:
                    while line.left:
                        line.ship()
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def work(orders):
    for order in orders:
        if order.paid:
            ship(order)
"""
        },
    ),
)


def check_file(path: str, facts: FileFacts) -> Iterator[Finding]:
    for function in judged_functions(facts):
        if function.nesting > LIMIT:
            yield Finding(
                rule_id=RULE.id,
                file=path,
                line=function.nesting_line or function.line,
                function=function.name,
                message=f"`{function.name}` nests control structures {function.nesting} deep (limit {LIMIT})",
                severity=Severity.CRITICAL if function.nesting > CRITICAL else Severity.WARNING,
                excess=POINTS_PER_LEVEL * (function.nesting - LIMIT),
            )
