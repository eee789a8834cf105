"""The report: headline, categories, hotspots, the gravest findings and notes."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from analysis.engine.metrics.hotspots import Hotspot
from analysis.engine.model import Category, Severity
from analysis.engine.report import Report
from analysis.engine.rules import rule_by_id
from analysis.local_scan import Scan
from analysis.terminal.findings import COLOUR_OF, effort, print_findings

SHOWN_HOTSPOTS = 8
SHOWN_NOTES = 5
SHOWN_LANGUAGES = 4
HOTSPOT_PATH = 46
BAR = 20
RISK_COLOURS = {"LOW": "green", "MEDIUM": "yellow", "HIGH": "red", "CRITICAL": "bold red"}
GOOD_HEALTH, FAIR_HEALTH = 80, 60


def print_report(scan: Scan, console: Console, *, name: str, seconds: float) -> None:
    """Everything that a first look wants to know of a scan that took `seconds`."""
    report = scan.report
    _print_headline(scan, console, name, seconds)
    if not report.files_analyzed:
        console.print(
            "\nThere is no source code in a language that is analysed (Python, JavaScript, TypeScript, Java, Go)."
        )
        return
    _print_categories(report, console)
    if changed := [spot for spot in report.hotspots if spot.risk_score and spot.churn_count]:
        _print_hotspots(changed[:SHOWN_HOTSPOTS], console)
    _print_findings(report, console)
    _print_notes(scan, console)


def _print_headline(scan: Scan, console: Console, name: str, seconds: float) -> None:
    report = scan.report
    commit = f" at {scan.commit_sha[:10]}" if scan.commit_sha else ""
    console.print(f"\n[bold]{escape(name)}[/bold]{commit}")
    languages = ", ".join(f"{language} {lines:,}" for language, lines in _largest(report.languages))
    files = f"{report.files_analyzed:,} file{'s' if report.files_analyzed != 1 else ''}"
    console.print(f"[dim]{report.lines_of_code:,} lines of code in {files}, {seconds:.1f} s\n{languages}[/dim]\n")
    risk = report.production_risk
    console.print(Text("Health           ") + _bar(report.health_score))
    console.print(Text("Production risk  ") + Text(risk, style=RISK_COLOURS[risk]))
    console.print(
        f"Debt             {effort(report.debt_points)} of repair, {report.debt_score:.1f} points per 1,000 lines"
    )


def _bar(health: int) -> Text:
    colour = "green" if health >= GOOD_HEALTH else "yellow" if health >= FAIR_HEALTH else "red"
    filled = round(health * BAR / 100)
    return Text("█" * filled, style=colour) + Text("░" * (BAR - filled), style="dim") + Text(f"  {health}/100", colour)


def _largest(languages: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(languages.items(), key=lambda item: -item[1])[:SHOWN_LANGUAGES]


def _print_categories(report: Report, console: Console) -> None:
    table = _table("Findings")
    for heading in ("", "critical", "warning", "info", "repair"):
        table.add_column(heading, justify="left" if not heading else "right", header_style="dim")
    for category in Category:
        findings = [finding for finding in report.findings if rule_by_id(finding.rule_id).category == category]
        counts = Counter(finding.severity for finding in findings)
        cells = [
            Text(f"{counts[severity]:,}", style=COLOUR_OF[severity] if counts[severity] else "dim")
            for severity in reversed(Severity)
        ]
        table.add_row(category.replace("_", " "), *cells, effort(sum(finding.points for finding in findings)))
    console.print(table)


def _print_hotspots(hotspots: Sequence[Hotspot], console: Console) -> None:
    table = _table("Hotspots: complex files that change often")
    table.add_column("risk", justify="right", header_style="dim")
    table.add_column("file", header_style="dim", no_wrap=True)
    table.add_column("commits", justify="right", header_style="dim")
    table.add_column("complexity", justify="right", header_style="dim")
    for spot in hotspots:
        path = Text(_tail(spot.file, HOTSPOT_PATH))
        table.add_row(str(spot.risk_score), path, str(spot.churn_count), str(spot.complexity))
    console.print(table)
    console.print("[dim]risk from 0 to 100, commits of the last 90 days[/dim]")


def _table(title: str) -> Table:
    return Table(box=None, padding=(0, 2, 0, 0), title_justify="left", title=f"\n{title}", title_style="bold")


def _tail(path: str, width: int) -> str:
    """The end of a path, which tells more than its beginning."""
    return path if len(path) <= width else f"…{path[1 - width :]}"


def _print_findings(report: Report, console: Console) -> None:
    if not report.findings:
        console.print("\nNothing to complain about.")
        return
    console.print("\n[bold]Look at these first[/bold]")
    print_findings(report.findings, console)


def _print_notes(scan: Scan, console: Console) -> None:
    for note in scan.notes[:SHOWN_NOTES]:
        console.print(f"[dim]Note: {escape(note)}[/dim]")
    if len(scan.notes) > SHOWN_NOTES:
        console.print(f"[dim]... and {len(scan.notes) - SHOWN_NOTES:,} more notes in --json[/dim]")
