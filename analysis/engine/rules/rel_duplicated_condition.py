"""The same condition stands twice where one of the two was meant to be another."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.readers.reading import CALLS, short
from analysis.engine.rules.base import ALL, GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="rel-duplicated-condition",
    type="duplicated_condition",
    category=Category.RELIABILITY,
    title="Duplicated condition",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="One of the two was meant to be another condition; fix or remove it.",
)
GUIDE = Guide(
    why="It was copied and the second half never changed: the case that was meant is not tested.",
    flagged=(
        {
            "shop/work.py": """
def is_open(order):
    return order.paid and order.paid
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def is_open(order):
    return order.paid and not order.shipped
"""
        },
    ),
)

_OPERATORS = frozenset(
    [*"== != === !== < > <= >= in is && || and or & | ^ >> >>> - / // %".split(), "not in", "is not"]
)
# Calls that take from a stream, a clock or chance: `next()`, `readLine()`, `isRandom()` is none.
_EFFECTS = re.compile(
    rb"\b(?:await|yield)\b|\+\+|--|:=|<-|(?:\b|_)(?i:next|read|rand|time|now|pop|shift|poll|recv|receive|take|get_nowait|scan|eat|match|accept"
    rb"|consume|advance|skip|uuid|current)(?![a-z])\w*\(|\b(?:random|choice)\w*\(|\bnew\s"
    # Chance by its package or by how its methods are called: `rand.Intn()`, `rng.gauss()`, `r.Float64()`.
    rb"|(?:\b|_)(?i:rand(?:om)?|rng|prng|secrets|faker?|chance)\.\w+\(|\.(?:Int(?:n|31n?|63n?)|Perm|randint|randrange|getrandbits)\("
    rb"|\.find\(\)|\bhas_?(?:[nN]ext|[mM]ore)\w*\("  # readers go on when there is nothing here
)
# Calls that only look, as far as their names tell. What others do is not known: the second time may be another one.
_CALLED = re.compile(rb"([\w$]+)\s*\(")
_LOOKS = re.compile(
    rb"(?:is|has|get|equals|contains|includes|starts|ends|can|len|size|length|str|int|to|type|name|path|value|test|trim|strip|lower|upper"
    rb"|indexOf|callable|id|count|HasPrefix|HasSuffix|Contains|EqualFold|Is[A-Z]|Has[A-Z]|Get[A-Z]|As$)"
)
# What is no number is no NaN either, and was meant to be compared with another.
_NO_NUMBER = re.compile(
    rb"(?:\bid|_id|[a-z]I[dD]|\bID|[uU]uid|[nN]ame|[kK]ey|[tT]ype|[cC]ode|[sS]tatus|[sS]tate|[eE]mail|[sS]lug|[uU]rl|[pP]ath"
    rb"|[uU]ser|[oO]wner|[tT]oken|[hH]ash|[tT]itle|[lL]abel|[rR]ole)s?$"
)
_GOES_ON = re.compile(rb"\s*(?:!(?!=)|\?\.|\.\s*\w)")
_OR_ELSE = re.compile(rb"\s+or\b")
_NAME = re.compile(rb"[\w$]+")
_NUMBER = re.compile(rb"\d[\w.]*$")
# What is equal to itself unless it is NaN: `order.price == order.price`.
_NUMBER_NAME = re.compile(rb"(?i)(?:price|amount|rate|ratio|score|qty|average|avg|mean|nan)$")
# What they give is NaN where they were given no number.
_MAKES_NUMBERS = frozenset({"Number", "parseFloat", "parseInt", "Number.parseFloat", "Number.parseInt", "float"})
_SPACE = re.compile(rb"\s+")
_SPACE_AROUND = re.compile(rb"\s*([^\w\s])\s*")
_ELSE = re.compile(rb"else\s*$")
_SPEAKS_OF_NUMBERS = re.compile(rb"[nN]umber\]?[\"']\s*&&\s*\Z|(?i:isnan|is_nan)\b[^;]*\Z")
NEAR = 100  # bytes before an operation
LONGEST_OPERAND = 300  # bytes
LONGEST_CHAIN = 1000  # bytes


def look_at_operation(operation: Node, file: SourceFile) -> Iterator[Mark]:
    text = _said_twice(operation, file)
    left, right = operation.child(0), operation.child(2)
    if text is None or left is None or right is None:
        return
    operator = " ".join(file.source[left.end_byte : right.start_byte].decode("utf-8", "replace").split())
    if operator not in _OPERATORS or (b"(" in text and operator in ("-", "/", "%")):
        return
    if _is_conversion(text, operator, file):
        return
    if operator in ("!=", "!==", "==", "==="):
        is_test = _tests_for_a_number(text, operator, operation, file)
        message = f"`{short(file.text(operation))}` compares a value with itself"
        suggestion = "Use `Number.isNaN` or `math.isnan`." if is_test else ""
        yield file.mark(RULE.id, operation, message, severity="info" if is_test else "", suggestion=suggestion)
    else:
        message = f"Both sides of `{operator}` are `{short(text.decode('utf-8', 'replace'))}`"
        yield file.mark(RULE.id, operation, message, confidence=_confidence(text))


def _said_twice(operation: Node, file: SourceFile) -> bytes | None:
    """What stands on both sides of an operation, when that is the same and the operation is all there is."""
    left, right = operation.child(0), operation.child(2)
    if operation.child_count != 3 or left is None or right is None:
        return None
    text = file.source[left.start_byte : left.end_byte]
    if len(text) > LONGEST_OPERAND or text != file.source[right.start_byte : right.end_byte]:
        return None
    if _NUMBER.match(text) or _EFFECTS.search(text):
        return None
    if _GOES_ON.match(file.source, operation.end_byte):
        return None  # `a && a!.b`, of which the right side is more than what stands here
    if file.language == "python" and _OR_ELSE.match(file.source, operation.end_byte):
        return None  # `text and text or None`, which is how Python once chose
    return text


def _tests_for_a_number(text: bytes, operator: str, operation: Node, file: SourceFile) -> bool:
    """Whether the comparison asks if a value is no number: only that one differs from itself."""
    if _is_made_number(operation.child(0), file):
        return True
    if _NO_NUMBER.search(text) is not None:
        return False
    if operator.startswith("!") or (file.language != "go" and _NUMBER_NAME.search(text) is not None):
        return True
    start = operation.start_byte
    return _SPEAKS_OF_NUMBERS.search(file.source, max(0, start - NEAR), start) is not None


def _is_made_number(value: Node | None, file: SourceFile) -> bool:
    """Whether a value is made a number on the spot, of whatever it was: `+width`, `Number(row.id)`."""
    if value is None or file.language not in (*PYTHON, *SCRIPT):
        return False
    if value.type == "unary_expression":
        return file.source.startswith(b"+", value.start_byte)
    return value.type in CALLS and file.callee(value) in _MAKES_NUMBERS


def _confidence(text: bytes) -> str:
    """Medium where a call stands in it of which nobody can say here that it gives the same twice."""
    return "" if all(_LOOKS.match(each[1]) for each in _CALLED.finditer(text)) else "medium"


def look_at_chain(operation: Node, file: SourceFile) -> Iterator[Mark]:
    """`a or b or a`: the same operand twice in one chain, with others between."""
    operator, left = operation.child_by_field_name("operator"), operation.child_by_field_name("left")
    if operator is None or left is None or left.type != operation.type:
        return  # of two operands, which are told as the sides of one operation
    if operation.end_byte - operation.start_byte > LONGEST_CHAIN:
        return
    parent = operation.parent
    if parent is not None and parent.type == operation.type and _same_operator(parent, operator, file):
        return  # the chain is read from its top
    seen: set[bytes] = set()
    operands = _operands(operation, operator, file)
    if file.text(operator) == "&&" and file.language in SCRIPT and not _is_asked(operation):
        last, before = (file.text(each) for each in (operands[-1], operands[-2]))
        if last != before:
            operands.pop()  # what the chain gives when all hold
    for index, operand in enumerate(operands):
        text = file.source[operand.start_byte : operand.end_byte]
        if _GOES_ON.match(file.source, operand.end_byte):
            continue  # `row.list && row.list!.length`, which the grammar takes apart
        # The first two are the sides of one operation.
        if index > 1 and text in seen and not _EFFECTS.search(text) and not _NUMBER.match(text):
            shown = short(text.decode("utf-8", "replace"))
            message = f"`{shown}` stands twice in one `{file.text(operator)}` chain"
            yield file.mark(RULE.id, operand, message, confidence=_confidence(text))
        seen.add(text)


def _is_asked(operation: Node) -> bool:
    """Whether only the truth of an expression counts: it is a condition, or stands in one."""
    node, above = operation, operation.parent
    while above is not None and above.type in ("parenthesized_expression", "binary_expression", "unary_expression"):
        node, above = above, above.parent
    return above is not None and above.child_by_field_name("condition") == node


def _operands(operation: Node, operator: Node, file: SourceFile) -> list[Node]:
    """The operands of a chain of one operator, from left to right."""
    found: list[Node] = []
    node: Node | None = operation
    while node is not None and node.type == operation.type and _same_operator(node, operator, file):
        right = node.child_by_field_name("right")
        found.extend([right] if right is not None else [])
        node = node.child_by_field_name("left")
    return [*([node] if node is not None else []), *reversed(found)]


def _same_operator(node: Node, operator: Node, file: SourceFile) -> bool:
    other = node.child_by_field_name("operator")
    return other is not None and file.text(other) == file.text(operator)


def _is_conversion(text: bytes, operator: str, file: SourceFile) -> bool:
    """`hash & hash`, which makes 32 bits of a number in script, and `SECOND / SECOND` in a table of units."""
    if operator in ("&", "|") and file.language in ("javascript", "typescript", "tsx"):
        return _NAME.fullmatch(text) is not None
    return operator == "/" and text.isupper()


def look_at_python_if(statement: Node, file: SourceFile) -> Iterator[Mark]:
    clauses = statement.children_by_field_name("alternative")
    if not clauses:
        return
    conditions = [each.child_by_field_name("condition") for each in (statement, *clauses)]
    yield from _repeated([each for each in conditions if each is not None], file)


def look_at_if(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """The chain of one `if`, taken from its top."""
    alternative = statement.child_by_field_name("alternative")
    if alternative is None or _ELSE.search(file.source, max(0, statement.start_byte - 12), statement.start_byte):
        return
    chain, seen = [statement], 0
    while alternative is not None and seen < 200:
        seen += 1
        if alternative.type == "else_clause":
            alternative = alternative.named_children[0] if alternative.named_child_count else alternative
        if alternative.type != "if_statement":
            break
        chain.append(alternative)
        alternative = alternative.child_by_field_name("alternative")
    if len(chain) > 1:
        conditions = [each.child_by_field_name("condition") for each in chain]
        started = any(each.child_by_field_name("initializer") is not None for each in chain)
        yield from _repeated([each for each in conditions if each is not None], file, with_statement=started)


def look_at_switch(statement: Node, file: SourceFile) -> Iterator[Mark]:
    body = statement.child_by_field_name("body")
    values = [each.child_by_field_name("value") for each in body.named_children] if body is not None else []
    yield from _repeated([each for each in values if each is not None], file)


def look_at_cases(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """Go's `switch { case a: ... }` and Python's `match`, where no guard tells two patterns apart."""
    cases = []
    body = statement.child_by_field_name("body") if file.language == "python" else statement
    for clause in body.named_children if body is not None else ():
        if clause.type == "expression_case" and (value := clause.child_by_field_name("value")) is not None:
            cases.append(value)
        elif clause.type == "case_clause" and clause.child_by_field_name("guard") is None:
            cases.append(clause.named_children[0])
    yield from _repeated(cases, file)


def _repeated(conditions: list[Node], file: SourceFile, *, with_statement: bool = False) -> Iterator[Mark]:
    """Conditions equal to an earlier one. Go's `if x := f(); x` is told apart by its own statement."""
    seen: dict[bytes, int] = {}
    for condition in conditions:
        text = file.source[condition.start_byte : condition.end_byte]
        if with_statement:
            start = condition.parent.start_byte if condition.parent is not None else condition.start_byte
            text = file.source[start : condition.end_byte]
        key = _SPACE.sub(b" ", text)
        key = key if b'"' in key or b"'" in key else _SPACE_AROUND.sub(rb"\1", key)
        key = key[1:-1] if key.startswith(b"(") and key.find(b")") == len(key) - 1 else key
        if key in seen and not _EFFECTS.search(key):
            shown = short(text.decode("utf-8", "replace").strip("()"))
            message = f"`{shown}` was tested in line {seen[key]} already: this branch never runs"
            yield file.mark(RULE.id, condition, message, confidence=_confidence(key))
        seen.setdefault(key, file.line(condition))


WATCHES = (
    Watch("binary", look_at_operation, ALL),
    Watch("boolean_operator", look_at_chain, PYTHON),
    Watch('(binary_expression operator: ["||" "&&"]) @n', look_at_chain, (*SCRIPT, *JAVA, *GO)),
    Watch("if", look_at_python_if, PYTHON),
    Watch("if", look_at_if, (*SCRIPT, *JAVA, *GO)),
    Watch("switch", look_at_switch, SCRIPT),
    Watch("expression_switch_statement", look_at_cases, GO),
    Watch("match_statement", look_at_cases, PYTHON),
)
