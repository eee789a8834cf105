"""The verdict of the gates, with the reasons."""

from rich.console import Console
from rich.markup import escape

from analysis.engine.gates import Verdict
from analysis.terminal.findings import print_findings

COLOURS = {"block": "bold red", "warn": "yellow"}


def print_verdict(verdict: Verdict, console: Console, *, of_change: bool) -> None:
    """What a change adds and what the gates say of it, or what they say of a state as it is."""
    colour = "bold green" if verdict.result == "pass" else "bold red"
    added = f"{len(verdict.findings)} findings added, {len(verdict.resolved)} resolved, debt {verdict.score:+g} points"
    about = added if of_change else "the state as it is; --base BRANCH judges what a change adds"
    console.print(f"\nGate [{colour}]{verdict.result}[/{colour}]   {about}")
    for gate in verdict.fired:
        console.print(f"[{COLOURS[gate.action]}]{gate.action}[/] {escape(gate.sentence)}")
    for note in verdict.notes:
        console.print(f"[yellow]{escape(note)}[/yellow]")
    if verdict.findings:
        console.print()
        print_findings(verdict.findings, console)
