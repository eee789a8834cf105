"""The dashboard knows by name what the API may say."""

import re
from pathlib import Path

from analysis.engine.gate_metrics import METRICS, OPERATORS
from config.dashboard.modules import STATIC
from credits.models import Operation

DATA = STATIC / "dashboard" / "js" / "data"


def keys_of(name: str) -> set[str]:
    """Names at the beginning of an indented line: the keys of a module's tables."""
    return set(re.findall(r'^  "?([a-z_.0-9]+)"?: ', (DATA / name).read_text(), re.MULTILINE))


def test_every_metric_of_a_gate_can_be_chosen():
    assert keys_of("metrics.js") == set(METRICS)
    assert '[">", ">=", "<", "<=", "==", "!="]' in (DATA / "metrics.js").read_text()
    assert list(OPERATORS) == [">", ">=", "<", "<=", "==", "!="]


def test_every_operation_that_takes_credits_has_a_name():
    assert keys_of("operations.js") == {operation.value for operation in Operation}


def test_every_line_of_the_audit_trail_has_words():
    written = set()
    for app in ("organizations", "billing", "credits", "analysis"):
        for file in Path(app).rglob("*.py"):
            written |= set(re.findall(r'(?:action=|_record\([^"\n]*)"([a-z_]+\.[a-z_]+)"', file.read_text()))

    assert written <= keys_of("audit.js")
