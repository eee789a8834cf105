"""The report of `manage.py scan` for a person at a terminal: fits 80 columns, the important things first."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from analysis.engine.gates import Verdict
from analysis.engine.model import Category, Finding, Severity
from analysis.engine.report import Report
from analysis.engine.rules import rule_by_id
from analysis.local_scan import Scan

WIDTH = 80
SHOWN_FINDINGS = 12
SHOWN_HOTSPOTS = 8
SHOWN_NOTES = 5
HOTSPOT_PATH = 40
LONGEST_MESSAGE = 300
COLOUR_OF = {Severity.CRITICAL: "bold red", Severity.WARNING: "yellow", Severity.INFO: "dim"}
RISK_COLOURS = {"LOW": "green", "MEDIUM": "yellow", "HIGH": "red", "CRITICAL": "bold red"}
GOOD_HEALTH, FAIR_HEALTH = 80, 60


def print_report(scan: Scan, console: Console, *, name: str, seconds: float) -> None:
    """Headline, categories, hotspots, the gravest findings and notes."""
    report = scan.report
    _headline(scan, console, name, seconds)
    if not report.files_analyzed:
        console.print(
            "\nThere is no source code in a language that is analysed (Python, JavaScript, TypeScript, Java, Go)."
        )
        return
    console.print(_categories(report))
    if report.hotspots and report.hotspots[0].risk_score:
        console.print(_hotspots(report))
    _findings(report, console)
    for note in scan.notes[:SHOWN_NOTES]:
        console.print(f"[dim]Note: {escape(note)}[/dim]")


def print_verdict(verdict: Verdict, console: Console) -> None:
    """What a change adds and what the gates say of it, with the reasons."""
    colour = "green" if verdict.result == "pass" else "bold red"
    console.print(
        f"\nGate [{colour}]{verdict.result}[/{colour}]   {len(verdict.findings)} findings added, "
        f"{len(verdict.resolved)} resolved, debt {verdict.score:+g} points"
    )
    for gate in verdict.fired:
        console.print(f"[{'bold red' if gate.action == 'block' else 'yellow'}]{gate.action}[/] {escape(gate.sentence)}")
    if verdict.findings:
        console.print(_listed(verdict.findings[:SHOWN_FINDINGS]))
    if len(verdict.findings) > SHOWN_FINDINGS:
        console.print(f"[dim]... and {len(verdict.findings) - SHOWN_FINDINGS:,} more; --json lists them all.[/dim]")


def _headline(scan: Scan, console: Console, name: str, seconds: float) -> None:
    report = scan.report
    health = report.health_score
    colour = "green" if health >= GOOD_HEALTH else "yellow" if health >= FAIR_HEALTH else "red"
    commit = f" at {scan.commit_sha[:10]}" if scan.commit_sha else ""
    console.print(f"\n[bold]{escape(name)}[/bold]{commit}")
    console.print(
        f"Health [{colour}]{health}/100[/{colour}]   "
        f"Production risk [{RISK_COLOURS[report.production_risk]}]{report.production_risk}"
        f"[/{RISK_COLOURS[report.production_risk]}]   "
        f"Debt {report.debt_score:.0f} points per 1000 lines"
    )
    languages = ", ".join(f"{language} {lines:,}" for language, lines in _largest(report.languages))
    console.print(
        f"[dim]{report.lines_of_code:,} lines of code in {report.files_analyzed:,} files ({languages}), "
        f"{seconds:.1f} s[/dim]"
    )


def _largest(languages: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(languages.items(), key=lambda item: -item[1])[:4]


def _categories(report: Report) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), title_justify="left", title="\nFindings", title_style="bold")
    for heading in ("", "critical", "warning", "info", "repair"):
        table.add_column(heading, justify="left" if not heading else "right", header_style="dim")
    for category in Category:
        findings = [finding for finding in report.findings if rule_by_id(finding.rule_id).category == category]
        counts = Counter(finding.severity for finding in findings)
        cells = [
            Text(str(counts[severity]), style=COLOUR_OF[severity] if counts[severity] else "dim")
            for severity in reversed(Severity)
        ]
        table.add_row(category.replace("_", " "), *cells, _effort(sum(finding.points for finding in findings)))
    return table


def _effort(points: float) -> str:
    """Points of ten minutes each as hours or working days."""
    hours = points / 6
    return f"{hours:.0f} h" if hours < 40 else f"{hours / 8:.0f} days"


def _hotspots(report: Report) -> Table:
    table = Table(
        box=None, padding=(0, 2, 0, 0), title_justify="left", title="\nHotspots", title_style="bold", width=WIDTH
    )
    table.add_column("risk", justify="right", header_style="dim")
    table.add_column("file", header_style="dim", no_wrap=True, ratio=1)
    table.add_column("commits in 90 days", justify="right", header_style="dim")
    table.add_column("complexity", justify="right", header_style="dim")
    for spot in report.hotspots[:SHOWN_HOTSPOTS]:
        if spot.risk_score:
            table.add_row(
                str(spot.risk_score), Text(_tail(spot.file, HOTSPOT_PATH)), str(spot.churn_count), str(spot.complexity)
            )
    return table


def _tail(path: str, width: int) -> str:
    """The end of a path, which tells more than its beginning."""
    return path if len(path) <= width else f"…{path[1 - width :]}"


def _findings(report: Report, console: Console) -> None:
    if not report.findings:
        console.print("\nNothing to complain about.")
        return
    console.print("\n[bold]Look at these first[/bold]")
    console.print(_listed(_varied(report.findings)))
    left = len(report.findings) - SHOWN_FINDINGS
    if left > 0:
        console.print(f"[dim]... and {left:,} more; --json lists them all.[/dim]")


def _listed(findings: Sequence[Finding]) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=8)
    grid.add_column(overflow="fold")
    for finding in findings:
        severity = finding.severity or Severity.INFO
        grid.add_row(Text(severity, style=COLOUR_OF[severity]), Text(f"{finding.file}:{finding.line}", style="bold"))
        grid.add_row("", Text(finding.message[:LONGEST_MESSAGE]) + Text(f" ({finding.rule_id})", style="dim"))
    return grid


def _varied(findings: tuple[Finding, ...]) -> list[Finding]:
    """The gravest findings, at most three of one rule, so that one bad habit does not fill the screen."""
    shown: list[Finding] = []
    per_rule: Counter[str] = Counter()
    for finding in findings:
        if per_rule[finding.rule_id] < 3:
            per_rule[finding.rule_id] += 1
            shown.append(finding)
        if len(shown) == SHOWN_FINDINGS:
            break
    return shown
