"""The table of docs/reliability-tests.md: which test proves which row of the specification."""

import re
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = CHECKOUT / "docs" / "reliability-tests.md"
ROW = re.compile(r"^\| (?P<row>[A-D]\d+|Op\d+) \| (?P<what>[^|]+) \| (?P<tests>[^|]+) \|")


@dataclass(frozen=True)
class Row:
    """`tests` are what pytest is given: files, or files and names."""

    name: str
    what: str
    tests: tuple[str, ...]


def rows() -> list[Row]:
    """In the order of the page, which is the order in which they matter."""
    found = [match for line in PAGE.read_text().splitlines() if (match := ROW.match(line))]
    return [Row(match["row"], match["what"], tuple(re.findall(r"`(tests/[^`]+)`", match["tests"]))) for match in found]
