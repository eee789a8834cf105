"""A function is hard to follow: its cognitive complexity is above fifteen."""

from collections.abc import Iterator

from analysis.engine.codebase import Codebase
from analysis.engine.model import Category, Finding, Rule, Severity
from analysis.engine.policy import Policy

RULE = Rule(
    id="maint-cognitive-complexity",
    type="cognitive_complexity",
    category=Category.MAINTAINABILITY,
    title="High cognitive complexity",
    severity=Severity.WARNING,
    points=1,
    suggestion="Extract the most nested block and replace nested ifs with guard clauses.",
)

LIMIT = 15
SEVERE = 40
POINTS_PER_EXCESS = 0.1


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    for path, facts in codebase.sources():
        hotspot = codebase.hotspots.get(path)
        for function in facts.functions[1:]:
            if function.cognitive <= LIMIT:
                continue
            is_severe = function.cognitive > SEVERE and hotspot is not None and hotspot.is_hotspot
            yield Finding(
                rule_id=RULE.id,
                file=path,
                line=function.line,
                function=function.name,
                message=f"`{function.name}` has a cognitive complexity of {function.cognitive} (limit {LIMIT})",
                severity=Severity.CRITICAL if is_severe else None,
                excess=round((function.cognitive - LIMIT) * POINTS_PER_EXCESS, 1),
            )
