"""The table names every row, and only tests that are there."""

import re

import pytest

from tests.stress.table import CHECKOUT, Row, rows

NUMBERS = {"A": 7, "B": 6, "C": 14, "D": 7}


def test_every_row_of_the_specification_is_there_once():
    wanted = [f"{letter}{number}" for letter, last in NUMBERS.items() for number in range(1, last + 1)]

    assert sorted(row.name for row in rows() if not row.name.startswith("Op")) == sorted(wanted)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_the_tests_of_a_row_are_there(row: Row):
    for test in row.tests:
        path, *names = test.split("::")
        text = (CHECKOUT / path).read_text()
        for name in names:
            assert re.search(rf"^\s*(def|class) {name}\b", text, re.MULTILINE), test
