"""Rules explained: one in full, or all of them by title."""

import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analysis.engine.model import Category, Ladder, Rule, Sources
from analysis.engine.rulebook import Explanation
from analysis.engine.severity import LADDERS
from analysis.terminal.findings import COLOUR_OF, effort

SHOWN_EXAMPLES = 2


def print_rules(rules: Sequence[Rule], console: Console) -> None:
    """Every rule with its severity and title, by category."""
    for category in Category:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for rule in (rule for rule in rules if rule.category == category):
            table.add_row(Text(rule.id, style=COLOUR_OF[rule.severity]), rule.title)
        console.print(f"\n[bold]{category.replace('_', ' ').capitalize()}[/bold]")
        console.print(table)
    console.print("\n[dim]--explain RULE tells what a rule finds, why, and what to do about it[/dim]")


def print_rule(explained: Explanation, console: Console) -> None:
    """What a rule finds, why that matters, how grave it is, how to repair or accept it, with examples."""
    rule, guide = explained.rule, explained.guide
    console.print(f"\n[bold]{rule.title}[/bold]  [dim]{rule.id} · {rule.category.replace('_', ' ')}[/dim]\n")
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for heading, said in (
        ("finds", explained.what),
        ("why", guide.why),
        ("in", ", ".join(explained.languages)),
        ("severity", _severity(rule)),
        ("", guide.grades),
        ("costs", f"{rule.points:g} points or more, {effort(rule.points)} of repair"),
        ("repair", rule.suggestion),
        ("accept", f"a comment `debt: ignore[{rule.id}] reason` on the line, or an exception in the policy"),
    ):
        if said:
            facts.add_row(heading, Text(said) if isinstance(said, str) else said)
    console.print(facts)
    _print_examples("Flagged", guide.flagged, console, "red")
    _print_examples("Not flagged", guide.fine, console, "green")


def _severity(rule: Rule) -> str | Text:
    if rule.ladder is Ladder.NONE:
        return Text(rule.severity, style=COLOUR_OF[rule.severity]) + Text(f", confidence {rule.confidence}")
    steps = [f"{volume} {severity or 'silent'}" for volume, severity in LADDERS[rule.ladder].items()]
    return f"by the declared size of the table: {', '.join(steps)}; confidence {rule.confidence}"


def _print_examples(heading: str, examples: Sequence[Sources], console: Console, colour: str) -> None:
    if not examples:
        return
    console.print(f"\n[bold {colour}]{heading}[/]")
    for example in examples[:SHOWN_EXAMPLES]:
        for path, text in example.items():
            console.print(Text(f"  {path}", style="dim"))
            console.print(Padding(Text(textwrap.dedent(text).strip()), (0, 0, 0, 4)))
