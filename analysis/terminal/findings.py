"""A list of findings, three lines each, with the path whole on its own line so that a terminal can open it."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from analysis.engine.model import Finding, Severity

SHOWN = 10
SHOWN_PER_RULE = 3
LONGEST_MESSAGE = 200
COLOUR_OF = {Severity.CRITICAL: "bold red", Severity.WARNING: "yellow", Severity.INFO: "dim"}
POINTS_AN_HOUR = 6


def print_findings(findings: Sequence[Finding], console: Console) -> None:
    """The first of them, at most three of one rule, and how many are left."""
    shown = list(_varied(findings))
    for finding in shown:
        _print(finding, console)
    if left := len(findings) - len(shown):
        console.print(f"[dim]... and {left:,} more; --json lists them all, --explain RULE tells of a rule[/]")


def effort(points: float) -> str:
    """Points of ten minutes each as minutes, hours or working days of eight hours."""
    hours = points / POINTS_AN_HOUR
    if hours < 1:
        return f"{points * 10:.0f} min"
    return f"{hours:.0f} h" if hours < 40 else f"{hours / 8:.0f} days"


def _print(finding: Finding, console: Console) -> None:
    severity = finding.severity or Severity.INFO
    colour = COLOUR_OF[severity]
    console.print(Text("● ", style=colour) + Text(f"{finding.file}:{finding.line}", style="bold"), soft_wrap=True)
    message = textwrap.shorten(finding.message, LONGEST_MESSAGE, placeholder=" …")
    for line in textwrap.wrap(message, console.width - 3, break_on_hyphens=False) or [message]:
        console.print(Text(f"  {line}"))
    about = Text(f"  {severity}", style=colour)
    console.print(about + Text(f" · {finding.rule_id} · {effort(finding.points)}", style="dim"))


def _varied(findings: Sequence[Finding]) -> Iterator[Finding]:
    """The gravest, so that one bad habit does not fill the screen."""
    per_rule: Counter[str] = Counter()
    for finding in findings:
        per_rule[finding.rule_id] += 1
        if per_rule[finding.rule_id] <= SHOWN_PER_RULE:
            yield finding
        if sum(min(count, SHOWN_PER_RULE) for count in per_rule.values()) == SHOWN:
            return
