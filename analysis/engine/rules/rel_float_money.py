"""An amount of money is kept as a binary fraction, which cannot hold most cents."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.queries import runs_by_hand
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.reading import short

RULE = Rule(
    id="rel-float-money",
    type="float_money",
    category=Category.RELIABILITY,
    title="Money as a float",
    severity=Severity.WARNING,
    points=3,
    suggestion="Use `DecimalField`/`BigDecimal`/`NUMERIC` or integer minor units.",
    confidence=Confidence.MEDIUM,
)
GUIDE = Guide(
    why="Binary fractions cannot hold most cents: 0.1 + 0.2 is not 0.3, and totals stop adding up.",
    grades="Critical in code that bills people, by its path or model.",
    flagged=(
        {
            "shop/models.py": """
from django.db import models


class Order(models.Model):
    price = models.FloatField()
"""
        },
    ),
    fine=(
        {
            "shop/models.py": """
from django.db import models


class Order(models.Model):
    price = models.DecimalField(max_digits=12, decimal_places=2)
"""
        },
    ),
)

_FLOATS = frozenset(
    {"floatfield", "float", "real", "double", "double precision", "double_precision", "float4", "float8"}
)
_AMOUNT = re.compile(
    r"(?:^|_|(?<=[a-z])(?=[A-Z]))(?:price|amount|balance|salary|fee|subtotal|grand_?total|total_?(?:price|amount|cost|paid|due)"
    r"|refund|payout|invoice_?total|tax_?amount|unit_?cost|credit_?amount)s?$",
    re.IGNORECASE,
)
_NO_AMOUNT = re.compile(
    r"(?i)rate|ratio|percent|pct|factor|weight|cents?$|minor|sats$|wei$|mean|avg|average|std|variance|score|change"
    r"|volatility|index|probab|energy|fuel|water|light|sound|target"
)
_BILLING = re.compile(r"(?i)billing|payment|invoice|checkout|wallet|ledger|payout|subscription")
_JAVA_FIELD = re.compile(
    rb"(?:@[\w.]+(?:\([^)\n]*\))?\s*)*(?:(?:private|protected|public|final)\s+)+(double|float|Double|Float)\s+(\w+)\s*[;=]"
)
_GO_FIELD = re.compile(rb"(\w+)\s+\*?(float64|float32)\b")
_ARGUMENT = re.compile(r"(?:^|[.\[\"'_])([A-Za-z_]\w*)[\"'\]]*\s*$")
_FIX = {
    "python": "Keep it as `Decimal` (`DecimalField`, `NUMERIC`) or as integer minor units.",
    "java": "Use `BigDecimal` with a scale, or integer minor units.",
    "go": "Use integer minor units, or a decimal type.",
}


def look_at_java(field: Node, file: SourceFile) -> Iterator[Mark]:
    found = _JAVA_FIELD.match(file.source, field.start_byte)
    if found is not None and is_amount(found[2].decode()):
        yield _mark(field, found[2].decode(), found[1].decode(), file)


def look_at_go(field: Node, file: SourceFile) -> Iterator[Mark]:
    found = _GO_FIELD.match(file.source, field.start_byte)
    if found is not None and is_amount(found[1].decode()):
        yield _mark(field, found[1].decode(), found[2].decode(), file)


def look_at_conversion(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`float(order.price)`, `parseFloat(body.amount)`."""
    positional = file.arguments(call)[0]
    if file.callee(call) not in ("float", "parseFloat", "Number.parseFloat") or len(positional) != 1:
        return
    text = file.text(positional[0])
    found = _ARGUMENT.search(text)
    if found is not None and len(text) < 80 and is_amount(found[1]):
        message = f"`{short(text)}` becomes a float here: sums of it are off by cents"
        yield file.mark(RULE.id, call, message, suggestion=_FIX.get(file.language, ""), data={"form": "conversion"})


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """In code that bills people it is critical."""
    if place.kind is not FileKind.SOURCE or runs_by_hand(codebase, place.path):
        return None
    return place.finding(mark, severity=None if mark.data else _severity(place.path))


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Columns of models and tables; the marks go through `judge`."""
    for place, mark in codebase.marks(RULE.id):
        finding = judge(mark, place, codebase, policy)
        if finding is not None:
            yield finding
    for entry in codebase.models.all:
        path = entry.path
        if codebase.kind(path) not in (FileKind.SOURCE, FileKind.MIGRATION) or runs_by_hand(codebase, path):
            continue
        for column in entry.model.columns:
            if is_amount(column.name) and column.type.partition("(")[0].strip().lower() in _FLOATS:
                yield Finding(
                    rule_id=RULE.id,
                    file=path,
                    line=column.line or entry.model.line,
                    message=f"`{entry.model.name}.{column.name}` is an amount of money in a `{column.type}`",
                    anchor=f"{entry.model.name}.{column.name}",
                    severity=_severity(f"{path}/{entry.model.name}"),
                )


def is_amount(name: str) -> bool:
    """Whether a name means an amount of money, and no rate, count of minor units or measure."""
    return _AMOUNT.search(name) is not None and _NO_AMOUNT.search(name) is None


def _severity(where: str) -> Severity | None:
    return Severity.CRITICAL if _BILLING.search(where) else None


def _mark(field: Node, name: str, kind: str, file: SourceFile) -> Mark:
    message = f"`{name}` is an amount of money in a `{kind}`"
    return file.mark(RULE.id, field, message, suggestion=_FIX[file.language])


WATCHES = (
    Watch("field", look_at_java, JAVA, needs=(b"double ", b"float ", b"Double ", b"Float "), starts=_JAVA_FIELD),
    Watch("field", look_at_go, GO, needs=(b"float64", b"float32"), starts=_GO_FIELD),
    Watch("call", look_at_conversion, PYTHON, names=frozenset({"float"})),
    Watch("call", look_at_conversion, SCRIPT, names=frozenset({"parseFloat"})),
)
