"""Violations as comma-separated values (RFC 4180), for spreadsheets."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from analysis.exports.pieces import gathered
from analysis.models import Violation
from config.api.fields import timestamp

COLUMNS = (
    "id", "ruleId", "category", "severity", "confidence", "file", "line", "function", "message", "suggestion",
    "debtPoints", "gateAction", "module", "firstSeenAt",
)  # fmt: skip
# A cell that begins like a formula is one to a spreadsheet, also when it comes from somebody else's repository.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def violations_csv(violations: Iterable[Violation]) -> Iterator[bytes]:
    """A line of headings and one line a violation, UTF-8."""
    return gathered(_line(cells) for cells in _rows(violations))


def _rows(violations: Iterable[Violation]) -> Iterator[Iterable[Any]]:
    yield COLUMNS
    for row in violations:
        yield (
            row.pk, row.rule_id, row.category, row.severity, row.confidence, _text(row.file), row.line,
            _text(row.function), _text(row.message), _text(row.suggestion), row.debt_points, row.gate_action,
            _text(row.module), timestamp(row.first_seen_at),
        )  # fmt: skip


def _text(value: str) -> str:
    """Text that no spreadsheet takes for a formula: an apostrophe goes before what would begin one."""
    return f"'{value}" if value.lstrip(" ").startswith(FORMULA_STARTS) else value


def _line(cells: Iterable[Any]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue().encode()
