"""Pages about rules in Markdown, made from what stands in the rules' modules."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from analysis.engine.languages import DISPLAY_NAME, language_of
from analysis.engine.model import Category, Ladder, Rule, Sources, Volume
from analysis.engine.rulebook import Explanation, explain
from analysis.engine.rules import all_rules
from analysis.engine.severity import LADDERS
from analysis.engine.volumes import FACTOR

INDEX = "index.md"
_NOTE = "<!-- Made by `python manage.py rule_docs` from the rules' modules. -->"
_FENCES = {"tsx": "tsx", "prisma": "prisma"}
_TITLES = {category: category.value.replace("_", " ").capitalize() for category in Category}


def rule_pages() -> dict[str, str]:
    """File name to text: one page for each rule and the index of all."""
    explained = [explain(module.RULE.id) for module in all_rules()]
    return {INDEX: _index(explained)} | {f"{each.rule.id}.md": _page(each) for each in explained}


def _index(explained: Iterable[Explanation]) -> str:
    by_category: dict[Category, list[Explanation]] = {category: [] for category in Category}
    for each in explained:
        by_category[each.rule.category].append(each)
    parts = [_NOTE, "", "# Rules", "", f"{sum(map(len, by_category.values()))} rules in five categories.", ""]
    for category, rules in by_category.items():
        parts += [f"## {_TITLES[category]}", "", "| rule | finds | severity | points |", "|---|---|---|---|"]
        parts += [
            f"| [{each.rule.id}]({each.rule.id}.md) | {_cell(each.what)} | {_short_severity(each.rule)} "
            f"| {each.rule.points:g} |"
            for each in rules
        ]
        parts.append("")
    return "\n".join(parts)


def _page(each: Explanation) -> str:
    rule, guide = each.rule, each.guide
    parts = [
        _NOTE,
        "",
        f"# {rule.title}",
        "",
        f"`{rule.id}` · {_TITLES[rule.category]} · {', '.join(each.languages)}",
        "",
        each.what,
        "",
        "## Why",
        "",
        guide.why,
        "",
        "## Severity and points",
        "",
        *_severity(rule, guide.grades),
        "",
        *_examples("Flagged", guide.flagged),
        *_examples("Fine", guide.fine),
        *_background(guide.given, guide.policy),
        "## Fix",
        "",
        rule.suggestion,
        "",
        "## Living with it",
        "",
        f"`debt: ignore[{rule.id}] reason` in a comment on the line or alone on the line above, or an exception of the "
        "[policy](../policy.md) with a date.",
        "",
    ]
    return "\n".join(parts)


def _severity(rule: Rule, grades: str) -> list[str]:
    parts = [f"Points: {rule.points:g} (one point is about ten minutes). Confidence: {rule.confidence}."]
    if not rule.guesses:
        parts.append("What it would tell with confidence low it leaves out: most of it was wrong where it was read.")
    if rule.ladder is Ladder.NONE:
        parts.insert(0, f"Severity: {rule.severity}.")
    if grades:
        parts.append(grades)
    lines = [" ".join(parts)]
    if rule.ladder is not Ladder.NONE:
        lines += ["", "By the size of the table, which the policy declares (M where it does not):", "", *_ladder(rule)]
    return lines


def _ladder(rule: Rule) -> list[str]:
    steps = LADDERS[rule.ladder]
    severities = " | ".join(str(steps[volume] or "not reported") for volume in Volume)
    points = " | ".join(f"{rule.points * FACTOR[volume]:g}" if steps[volume] else "" for volume in Volume)
    return [
        f"| | {' | '.join(volume.value for volume in Volume)} |",
        f"|---{'|---' * len(Volume)}|",
        f"| severity | {severities} |",
        f"| points | {points} |",
    ]


def _short_severity(rule: Rule) -> str:
    if rule.ladder is Ladder.NONE:
        return rule.severity.value
    found = dict.fromkeys(step.value for step in LADDERS[rule.ladder].values() if step)
    return " to ".join((next(iter(found)), list(found)[-1]))


def _examples(title: str, examples: Iterable[Sources]) -> list[str]:
    parts: list[str] = []
    for sources in examples:
        parts += [*([] if parts else [f"## {title}", ""]), *_code(sources)]
    return parts


def _background(given: Mapping[str, str], policy: str) -> list[str]:
    parts: list[str] = []
    if given:
        parts += ["<details><summary>With these models</summary>", "", *_code(given), "</details>", ""]
    if policy:
        parts += ["Under this policy:", "", "```yaml", policy.strip("\n"), "```", ""]
    return parts


def _code(sources: Sources) -> list[str]:
    parts = []
    for path, text in sources.items():
        language = language_of(path)
        fence = _FENCES.get(language, DISPLAY_NAME[language].lower())
        parts += [f"`{PurePosixPath(path)}`", "", f"```{fence}", text.strip("\n"), "```", ""]
    return parts


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
