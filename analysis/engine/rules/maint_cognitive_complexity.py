"""A function is hard to follow: its cognitive complexity is above 15."""

from collections.abc import Iterator

from analysis.engine.facts import FileFacts
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.readers.thresholds import judged_functions
from analysis.engine.severity import WORSE_IN_HOTSPOT

LIMIT = 15
GRAVE = 40  # critical in a hotspot
POINTS_PER_EXCESS = 0.1

RULE = Rule(
    id="maint-cognitive-complexity",
    type="cognitive_complexity",
    category=Category.MAINTAINABILITY,
    title="Function is hard to follow",
    severity=Severity.WARNING,
    points=1,
    suggestion="Extract the most nested block into a function and replace nested ifs by guard clauses.",
)
GUIDE = Guide(
    why=(
        "Nesting and breaks in the flow are what readers keep in their heads. Functions above the limit are changed "
        "wrongly more often."
    ),
    grades=(
        "Warning above 15, critical above 40 in a hotspot. The method is that of Campbell, Cognitive Complexity (2018)."
    ),
)


def check_file(path: str, facts: FileFacts) -> Iterator[Finding]:
    for function in judged_functions(facts):
        if function.cognitive > LIMIT:
            yield Finding(
                rule_id=RULE.id,
                file=path,
                line=function.line,
                function=function.name,
                message=f"`{function.name}` has a cognitive complexity of {function.cognitive} (limit {LIMIT})",
                excess=POINTS_PER_EXCESS * (function.cognitive - LIMIT),
                tags=frozenset({WORSE_IN_HOTSPOT}) if function.cognitive > GRAVE else frozenset(),
            )
