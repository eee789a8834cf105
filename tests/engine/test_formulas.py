"""The worked examples of docs/formulas.md are what the engine computes."""

import doctest
from pathlib import Path

FORMULAS = Path(__file__).resolve().parent.parent.parent / "docs" / "formulas.md"


def test_each_example_gives_the_number_that_stands_there() -> None:
    result = doctest.testfile(str(FORMULAS), module_relative=False)

    assert result.attempted >= 15
    assert result.failed == 0
