"""docs/policy.md says what the code does."""

import re
from datetime import date
from pathlib import Path

from analysis.engine.gate_metrics import METRICS, OPERATORS
from analysis.engine.packs import all_packs
from analysis.engine.policy_file import FIELDS, load_policy
from analysis.engine.rules import all_rules
from analysis.services.rejudging import LINES_AT_ONCE

PAGE = (Path(__file__).parents[2] / "docs" / "policy.md").read_text()


def rows_of(heading: str) -> dict[str, str]:
    """First cell to the rest of each row of the table below a heading."""
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^\| `(\w[\w-]*)` \| (.*) \|$", section, re.MULTILINE))


def test_every_gate_metric_is_described_in_the_words_of_the_code() -> None:
    assert rows_of("Gates") == {metric.name: metric.meaning for metric in METRICS.values()}


def test_every_operator_is_named() -> None:
    assert ", ".join(f"`{operator}`" for operator in OPERATORS) in PAGE


def test_every_key_is_described() -> None:
    assert tuple(rows_of("A whole policy")) == FIELDS


def test_every_pack_is_listed() -> None:
    assert rows_of("Rule packs") == {pack.name: f"{pack.title} | {pack.framework}" for pack in all_packs().values()}


def test_the_example_is_a_policy() -> None:
    example = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert example

    policy = load_policy(example[1].encode(), known_rules=[module.RULE.id for module in all_rules()])

    assert [layer.name for layer in policy.layers] == ["views", "services", "data"]
    assert policy.exemptions[0].expires == date(2027, 3, 31)


def test_the_size_that_is_judged_at_once_is_the_one_of_the_code() -> None:
    assert f"Up to {LINES_AT_ONCE:,}\nlines of code" in PAGE
