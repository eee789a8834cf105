"""An amount of money is kept as a binary fraction, which cannot hold most cents."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.models import IndexedModel
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.readers.money_names import (
    is_amount,
    is_asked_total,
    is_bill,
    is_fee,
    is_of_a_bill,
)
from analysis.engine.readers.money_tables import says_money, speaks_of_money
from analysis.engine.readers.reading import CALLS, ancestor, short
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="rel-float-money",
    type="float_money",
    category=Category.RELIABILITY,
    title="Money as a float",
    severity=Severity.WARNING,
    points=3,
    suggestion="Use `DecimalField`/`BigDecimal`/`NUMERIC` or integer minor units.",
    confidence=Confidence.MEDIUM,
    version=2,
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

_FLOATS = frozenset("""floatfield float real double double_precision float4 float8 float32 float64""".split())
# As a word: a field `total_cents` says nothing of others.
_IN_CENTS = re.compile(rb"(?i)(?<![a-z_.])cents?\b(?!\s*[:?=])")
# The lines around it speak of an amount of something else, or of the smallest unit.
_NO_MONEY_NEAR = re.compile(
    rb"(?i)credited units|\brain|precipitation|\bmm\b|meters?\b|\bfood\b"
    rb"|ingredient|quantit|nutri|\blit(?:er|re)s?\b|\bgrams?\b"
)
NEAR = 250  # bytes on either side
_BILLING = re.compile(r"(?i)billing|payment|invoice|checkout|wallet|ledger|payout|subscription")
_JAVA_FIELD = re.compile(
    rb"(?:@[\w.]+(?:\([^)\n]*\))?\s*)*(?:(?:private|protected|public|final|volatile)\s+)*"
    rb"(double|float|Double|Float)\s+(\w+)\s*[;=,)]"
)
_GO_FIELD = re.compile(rb"(\w+)\s+\*?(float64|float32)\b")
_PYTHON_FIELD = re.compile(
    rb"(\w+)\s*(?::\s*(?:Optional\[)?(float)\b|=\s*(?:(?:serializers|fields|forms|pw|peewee|mongoengine|ma)\.)?(FloatField|DoubleField|Float)\()"
)
_SCHEMAS = re.compile(rb"\b(?:serializers|fields|forms|peewee|mongoengine|marshmallow|odmantic)\b")
_TIMES = re.compile(
    r"([A-Za-z_][\w.\[\]\"']*)(?:\(\))?\s*[-+*/]\s*\d*\.\d+[fd]?$|^\d*\.\d+[fd]?\s*[-+*]\s*([A-Za-z_][\w.\[\]\"']*)(?:\(\))?$"
)
_CHANGED = re.compile(rb"([A-Za-z_][\w.]*)\s*[-+*/]=\s*\d*\.\d+[fd]?\b")
_ROUNDED = re.compile(rb"(?:\w*[rR]ound\w*|[mM]ath\.\w+|\bint|Decimal|toFixed|BigDecimal\.valueOf)\(\s*\Z")
_STATISTICS = re.compile(r"(?i)(?:stats?|statistics|histogram|datapoint)$|chart(?!er)")  # what is drawn is no account
_EMPTY_FIELD = re.compile(rb"===?\s*(?:\"\"|'')\s*\?\s*\w+\s*:\s*\Z")  # of a form, which sends what was typed
_ARGUMENT = re.compile(r"(?:^|[.\[(\"'_])([A-Za-z_]\w*)[\"'\])]*\s*$")
_GETTER = re.compile(r"get_?(?=[A-Z])")
_AS_FLOAT = re.compile(r"(?:^|[._])(?:__float__|(?:as|to)_float|(?:as|to)(?:Float|Double)|(?:double|float)Value)$")
_SHOWS = re.compile(r"(?:^|[._])(?:format|display|render|print)\w*$")
_IN_TEXT = re.compile(rb"\.format\(\s*\Z")
_INVENTED = re.compile(r"(?i)fixture|(?:^|[/_-])(?:seed|fake|mock|demo)")  # data of nobody
_GUESSES = re.compile(r"(?i)expected|project(?:ed|ion)|forecast|estimate|predict|burn_?rate|runway")
_CONVERSIONS = frozenset(
    """float parseFloat Number.parseFloat Double.parseDouble Double.valueOf Float.parseFloat Float.valueOf
    strconv.ParseFloat""".split()
)
_PER_UNIT = re.compile(rb"(?i)\bk?wh\b|\btariffs?\b")  # prices of energy, which are rates
_CURRENCY = re.compile(rb"(?i)currency")
_STORED = re.compile(rb"@Entity\b|@Table\b|@Document\b|\bgorm\.Model\b|`[^`\n]*\b(?:gorm|db|bson):\"")
_ADDS_UP = re.compile(r"[+-]=|\bsum\w*\(|\.reduce\(|[\w)]\s[+-]\s[\w(]")
_WITH_A_TIME = re.compile(  # of which it becomes one: what was paid for so many days
    r"(?i)[+-]\s*(?:\w+[._])*\w*(?:time|duration|seconds|minutes|hours|days|timestamp)\b"
    r"|\w*(?:time|duration|seconds|minutes|hours|days|timestamp)\s[+-]\s"
)
_OF_TOKENS = re.compile(r"(?i)\bformat_?(?:ether|units)\(|\bfrom_?wei\(")  # which no bank rounds
_ROUNDS = re.compile(r"(?i)cents|round|minor|decimal|quantize|money|format|tofixed")
_REDUCES = re.compile(rb"\.reduce\([^()]*\Z")
_OF_A_PICTURE = re.compile(rb"java\.awt|javafx\.|\bcanvas\b|\bpixels?\b|\bBufferedImage\b|\bshader", re.IGNORECASE)
_FIX = {
    "python": "Keep it as `Decimal` (`DecimalField`, `NUMERIC`) or as integer minor units.",
    "java": "Use `BigDecimal` with a scale, or integer minor units.",
    "go": "Use integer minor units, or a decimal type.",
}


def look_at_java(field: Node, file: SourceFile) -> Iterator[Mark]:
    """A field of a class, and a component of a record."""
    found = _JAVA_FIELD.match(file.source, field.start_byte)
    if found is not None and _is_amount_of(found[2].decode(), field, file):
        # Behind its annotations.
        yield _mark(field.child_by_field_name("type") or field, found[2].decode(), found[1].decode(), file)


def look_at_go(field: Node, file: SourceFile) -> Iterator[Mark]:
    found = _GO_FIELD.match(file.source, field.start_byte)
    if found is not None and _is_amount_of(found[1].decode(), field, file):
        yield _mark(field, found[1].decode(), found[2].decode(), file)


def look_at_conversion(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`float(order.price)`, `parseFloat(body.amount)`, `Double.parseDouble(order.getPrice())`."""
    positional = file.arguments(call)[0]
    if file.callee(call).removeprefix("java.lang.") not in _CONVERSIONS or len(positional) != _given(file):
        return
    name = file.functions[file.function_of(call)].name
    if _AS_FLOAT.search(name) or _SHOWS.search(name):
        return  # which asks for one, or shows it to people
    text = file.text(positional[0])
    found = _ARGUMENT.search(text)
    if file.source.startswith(b".toFixed(", call.end_byte) or _IN_TEXT.search(
        file.source, max(0, call.start_byte - NEAR), call.start_byte
    ):
        return  # for people to read
    if _EMPTY_FIELD.search(file.source, max(0, call.start_byte - NEAR), call.start_byte):
        return
    if call.parent is not None and call.parent.type in _COMPARED:
        return  # which of two is the lower
    if any(_ROUNDS.search(file.callee(each)) for each in _calls_around(call)):
        return  # it becomes cents again, or a text
    if _WITH_A_TIME.search(_around(call, file)) or _OF_TOKENS.search(text):
        return
    name = _GETTER.sub("", found[1]) if found is not None else ""
    is_money = is_amount(name) or is_asked_total(name, text)
    if name and len(text) < 80 and is_money and not _is_of_something_else(name, call, file):
        message = f"`{short(text)}` becomes a float here: sums of it are off by cents"
        fix = _FIX.get(file.language, "")
        confidence = "" if _is_summed(call, file) else "low"
        mild = "" if not confidence else "info"  # it depends on what becomes of it
        yield file.mark(
            RULE.id, call, message, severity=mild, confidence=confidence, suggestion=fix, data={"form": "conversion"}
        )


def _calls_around(call: Node) -> Iterator[Node]:
    """The calls that a call is an argument of, from the inside out, within its statement."""
    above = call.parent
    while above is not None and not above.type.endswith(("statement", "declaration", "definition", "declarator")):
        if above.type in CALLS:
            yield above
        above = above.parent


def _around(call: Node, file: SourceFile) -> str:
    """The statement of a conversion, without what that is given."""
    return file.text(file.statement_of(call)).replace(file.text(call), "amount")


def _is_summed(call: Node, file: SourceFile) -> bool:
    """Whether the float is added up: in its statement, or in the function that a `reduce` runs. What is added up before
    is no float yet."""
    if _ADDS_UP.search(_around(call, file)):
        return True
    function = file.enclosing_function(call)
    start = function.start_byte if function is not None else 0
    return _REDUCES.search(file.source, max(0, start - NEAR), start) is not None


def look_at_annotation(assignment: Node, file: SourceFile) -> Iterator[Mark]:
    """`price: float` and `price = FloatField()` in the body of a Python class: a DTO, a schema, a dataclass."""
    found = _PYTHON_FIELD.match(file.source, assignment.start_byte)
    if found is None or file.scope_of(assignment).kind != "class":
        return
    if found[3] is not None and not _SCHEMAS.search(file.source):
        return  # the columns of other libraries are in the index of models
    if not _is_amount_of(found[1].decode(), assignment, file):
        return
    yield _mark(assignment, found[1].decode(), (found[2] or found[3]).decode(), file)


def look_at_product(operation: Node, file: SourceFile) -> Iterator[Mark]:
    """`order.price * 1.19`: the product is a float, whatever the amount was."""
    if operation.end_byte - operation.start_byte > LONGEST_PRODUCT:
        return
    found = _TIMES.search(file.text(operation))
    given = (found[1] or found[2]) if found is not None else ""
    if (
        given
        and _is_amount_in(given)
        and not _is_no_money(given, operation, file)
        and not _GUESSES.search(file.functions[file.function_of(operation)].name)
        and not _ROUNDED.search(file.source, max(0, operation.start_byte - 40), operation.start_byte)
    ):
        message = f"`{short(file.text(operation))}` is a float: sums of it are off by cents"
        fix = _FIX.get(file.language, "")
        yield file.mark(RULE.id, operation, message, confidence="low", suggestion=fix, data={"form": "product"})


def look_at_change(assignment: Node, file: SourceFile) -> Iterator[Mark]:
    """`price *= 1.19`."""
    found = _CHANGED.match(file.source, assignment.start_byte)
    if found is not None and _is_amount_in(found[1].decode()):
        message = f"`{short(file.text(assignment))}` makes a float of it: sums of it are off by cents"
        fix = _FIX.get(file.language, "")
        yield file.mark(RULE.id, assignment, message, confidence="low", suggestion=fix, data={"form": "product"})


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """In code that bills people it is critical."""
    if place.kind is not FileKind.SOURCE or runs_by_hand(codebase, place.path) or _INVENTED.search(place.path):
        return None
    severity = None if mark.data else _severity(place.path)
    return place.finding(mark, severity=severity) if severity else place.finding(mark)


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """Columns of models and tables; the marks go through `judge`."""
    told = set()
    for place, mark in codebase.marks(RULE.id):
        finding = judge(mark, place, codebase, policy)
        if finding is not None:
            told.add((finding.file, finding.line))
            yield finding
    knows_money = any(speaks_of_money(entry.model) for entry in codebase.models.all)
    for entry in codebase.models.all:
        is_read = codebase.kind(entry.path) in (FileKind.SOURCE, FileKind.MIGRATION)
        if is_read and not runs_by_hand(codebase, entry.path):
            yield from (each for each in _columns_of(entry, knows_money) if (each.file, each.line) not in told)


def _columns_of(entry: IndexedModel, knows_money: bool) -> Iterator[Finding]:
    """The columns of a model that keep amounts of money in floats; where no table of the codebase speaks of money, a
    bare `amount` is one of something else."""
    path, model = entry.path, entry.model
    for column in model.columns:
        is_cost = column.name.lower() == "cost"  # of a row, and not of a step of an algorithm
        kind = column.type.partition("(")[0].strip().lower().replace(" ", "_")
        if kind in _FLOATS and (is_cost or is_amount(column.name, model.name)):
            is_sure = says_money(column.name, model)
            if not (is_sure or knows_money or is_fee(column.name)):
                continue
            yield Finding(
                rule_id=RULE.id,
                file=path,
                line=column.line or model.line,
                message=f"`{model.name}.{column.name}` is an amount of money in a `{column.type}`",
                anchor=f"{model.name}.{column.name}",
                severity=_severity(f"{path}/{model.name}") if is_sure else None,
                confidence=None if is_sure else Confidence.LOW,
            )


def _is_amount_in(path: str) -> bool:
    """Whether `order.unit_price` ends in an amount, or `invoice.total` in what is one on a bill."""
    *owners, name = re.findall(r"[A-Za-z_]\w*", path)
    return is_amount(_GETTER.sub("", name), owners[-1] if owners else "")


def _is_amount_of(name: str, field: Node, file: SourceFile) -> bool:
    """Whether a field is an amount of money by its own name, or by that of its class."""
    owner = _owner(field, file)
    if not (is_amount(name) or (is_of_a_bill(name) and is_amount(name, owner))) or _STATISTICS.search(owner):
        return False
    if name.lower().endswith(("price", "prices")) and _PER_UNIT.search(file.source):
        return False
    line = file.source[file.source.rfind(b"\n", 0, field.start_byte) + 1 :].partition(b"\n")[0]
    return _IN_CENTS.search(line) is None and not _is_no_money(name, field, file)


def _owner(field: Node, file: SourceFile) -> str:
    """The name of the class, record or struct around a field."""
    above = ancestor(field, _CLASSES)
    name = above.child_by_field_name("name") if above is not None else None
    return file.text(name) if name is not None else ""


def _given(file: SourceFile) -> int:
    """How many arguments a conversion has: Go's is told the width."""
    return 2 if file.language == "go" else 1


def _is_of_something_else(name: str, node: Node, file: SourceFile) -> bool:
    """Whether the lines around speak of cents, or of what an `amount` may be counted in besides money."""
    return _IN_CENTS.search(_near(node, file)) is not None or _is_no_money(name, node, file)


def _is_no_money(name: str, node: Node, file: SourceFile) -> bool:
    """Whether the lines around, or the libraries of the file, say that an `amount` is one of food or of a picture."""
    if "amount" not in name.lower():
        return False
    return _NO_MONEY_NEAR.search(_near(node, file)) is not None or _OF_A_PICTURE.search(file.source) is not None


def _near(node: Node, file: SourceFile) -> bytes:
    """The lines around; what stands in another function speaks of something else."""
    function = file.enclosing_function(node)
    start, end = (function.start_byte, function.end_byte) if function is not None else (0, len(file.source))
    return file.source[max(start, node.start_byte - NEAR) : min(end, node.end_byte + NEAR)]


def _severity(where: str) -> Severity | None:
    return Severity.CRITICAL if _BILLING.search(where) else None


def _mark(field: Node, name: str, kind: str, file: SourceFile) -> Mark:
    message = f"`{name}` is an amount of money in a `{kind}`"
    is_sure = _is_of_money(field, file)
    # What is only handed on may never be added up.
    severity, confidence = ("", "") if is_sure else ("info", "low")
    return file.mark(RULE.id, field, message, severity=severity, confidence=confidence, suggestion=_FIX[file.language])


def _is_of_money(field: Node, file: SourceFile) -> bool:
    """Whether the class of a field says that it holds money: it names the currency, is a bill, or a row of a table."""
    around = ancestor(field, _CLASSES)
    text = file.source[around.start_byte : around.end_byte] if around is not None else b""
    before = file.source[max(0, around.start_byte - NEAR) : around.start_byte] if around is not None else b""
    if _CURRENCY.search(text) is not None or _STORED.search(before[before.rfind(b"}") + 1 :] + text) is not None:
        return True
    return is_bill(_owner(field, file))


LONGEST_PRODUCT = 80  # characters that are read
_COMPARED = frozenset({"comparison_operator"})
_CLASSES = frozenset({"class_definition", "class_declaration", "record_declaration", "type_spec"})
_PRICES = (b"rice", b"mount", b"alance", b"alary", b"ee", b"otal", b"efund", b"ayout", b"ost", b"ax")
_JAVA_FLOATS = (b"double ", b"float ", b"Double ", b"Float ")

WATCHES = (
    Watch("assignment", look_at_annotation, PYTHON, needs=(b": float", b"Float"), starts=_PYTHON_FIELD),
    Watch("(binary_operator right: (float)) @n", look_at_product, PYTHON, needs=_PRICES),
    Watch("(binary_operator left: (float)) @n", look_at_product, PYTHON, needs=_PRICES),
    Watch("(binary_expression right: (number)) @n", look_at_product, SCRIPT, needs=_PRICES),
    Watch("(binary_expression left: (number)) @n", look_at_product, SCRIPT, needs=_PRICES),
    Watch(
        "(binary_expression right: (decimal_floating_point_literal)) @n",
        look_at_product,
        JAVA,
        needs=_PRICES,
    ),
    Watch(
        "(binary_expression left: (decimal_floating_point_literal)) @n",
        look_at_product,
        JAVA,
        needs=_PRICES,
    ),
    Watch("(binary_expression right: (float_literal)) @n", look_at_product, GO, needs=_PRICES),
    Watch("(binary_expression left: (float_literal)) @n", look_at_product, GO, needs=_PRICES),
    Watch("(augmented_assignment right: (float)) @n", look_at_change, PYTHON, needs=_PRICES, starts=_CHANGED),
    Watch(
        "(augmented_assignment_expression right: (number)) @n", look_at_change, SCRIPT, needs=_PRICES, starts=_CHANGED
    ),
    Watch("field", look_at_java, JAVA, needs=_JAVA_FLOATS, starts=_JAVA_FIELD),
    Watch(
        "(record_declaration parameters: (formal_parameters (formal_parameter) @n))",
        look_at_java,
        JAVA,
        needs=_JAVA_FLOATS,
        starts=_JAVA_FIELD,
    ),
    Watch("field", look_at_go, GO, needs=(b"float64", b"float32"), starts=_GO_FIELD),
    Watch("call", look_at_conversion, PYTHON, names=frozenset({"float"})),
    Watch("call", look_at_conversion, SCRIPT, names=frozenset({"parseFloat"})),
    Watch("call", look_at_conversion, JAVA, names=frozenset({"parseDouble", "valueOf", "parseFloat"})),
    Watch("call", look_at_conversion, GO, names=frozenset({"ParseFloat"})),
)
