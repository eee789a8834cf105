"""A file is complex, changes often and collects findings: work there costs most."""

from collections.abc import Iterator

from analysis.engine.codebase import Codebase
from analysis.engine.facts import FileFacts
from analysis.engine.metrics.hotspots import Hotspot
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy

AFTER_HOTSPOTS = True
WARNING, CRITICAL = 75, 90  # risk scores
MOST = 10
FEWEST_COMMITS = 20  # in the window; less history says nothing
NAMED_FUNCTIONS = 2

RULE = Rule(
    id="maint-hotspot-file",
    type="hotspot_file",
    category=Category.MAINTAINABILITY,
    title="Complex file that changes often",
    severity=Severity.INFO,
    points=8,
    suggestion="Refactor its most complex functions and add tests around them before the next feature.",
)
GUIDE = Guide(
    why=(
        "Complex code that nobody touches costs nothing; simple code may change daily. Where both meet, most time is "
        "lost."
    ),
    grades=(
        "By the risk score of the file (complexity, commits of 90 days, findings): info from 60, warning from 75, "
        "critical from 90."
    ),
)


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    for hotspot in worst_hotspots(codebase)[:MOST]:
        facts = codebase.files[hotspot.file]
        names = " and ".join(f"`{name}`" for name in complex_functions(facts))
        yield Finding(
            rule_id=RULE.id,
            file=hotspot.file,
            line=1,
            message=(
                f"Risk {hotspot.risk_score}: complexity {hotspot.complexity}, {hotspot.churn_count} commits in 90 days"
                + (f"; most complex: {names}" if names else "")
            ),
            suggestion=f"Refactor {names} and add tests around it before the next feature." if names else "",
            severity=_severity(hotspot),
        )


def worst_hotspots(codebase: Codebase) -> list[Hotspot]:
    """The hotspots, the riskiest first; none when the history is too short to tell."""
    if codebase.history.commit_count < FEWEST_COMMITS:
        return []
    found = [hotspot for hotspot in codebase.hotspots.values() if hotspot.is_hotspot]
    return sorted(found, key=lambda hotspot: hotspot.order)


def complex_functions(facts: FileFacts) -> list[str]:
    """Names of the functions that contribute most to a file's complexity, the worst first."""
    functions = sorted(facts.functions[1:], key=lambda function: (-function.cyclomatic, function.line))
    return [function.name for function in functions[:NAMED_FUNCTIONS] if function.cyclomatic > 1]


def _severity(hotspot: Hotspot) -> Severity:
    if hotspot.risk_score >= CRITICAL:
        return Severity.CRITICAL
    return Severity.WARNING if hotspot.risk_score >= WARNING else Severity.INFO
