"""The security page claims nothing that is not there."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
ROWS = re.findall(
    r"^\| (\d+\.\d+\.\d+) \| .+? \| (.+?) \| (.+) \|$", (CHECKOUT / "docs/security.md").read_text(), re.MULTILINE
)
STATES = {"met", "n/a", "deviation", "operator", "not met"}
LEVELS_1_AND_2 = 253


def test_every_requirement_of_both_levels_has_one_row() -> None:
    assert len(ROWS) == len({number for number, _, _ in ROWS}) == LEVELS_1_AND_2
    assert {state for _, state, _ in ROWS} == STATES


def test_every_test_that_it_names_exists() -> None:
    named = {name for _, _, reason in ROWS for name in re.findall(r"`(tests/[^`]+)`", reason)}

    for name in named:
        file, _, test = name.partition("::")
        assert (CHECKOUT / file).is_file(), name
        assert not test or f"def {test}(" in (CHECKOUT / file).read_text(), name


def test_the_summary_counts_its_rows() -> None:
    page = (CHECKOUT / "docs/security.md").read_text()

    for state, words in {
        "met": "met,",
        "n/a": "not applicable",
        "deviation": "deviations",
        "not met": "not met.",
    }.items():
        assert f"{[row[1] for row in ROWS].count(state)} {words}" in page
