"""A parameter's default is a list, dict or set, which all calls share."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.rules.base import PYTHON, Watch

RULE = Rule(
    id="risk-mutable-default-argument",
    type="mutable_default",
    category=Category.RUNTIME_RISK,
    title="Mutable default argument",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Default to `None` and create the list inside the function.",
    languages=PYTHON,
)
GUIDE = Guide(
    why="The default is made once: what one call puts into it is there in the next.",
    flagged=(
        {
            "shop/work.py": """
def total(order, seen=[]):
    seen.append(order)
    return len(seen)
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def total(order, seen=None):
    seen = [*(seen or ()), order]
    return len(seen)
"""
        },
    ),
)

_DISPLAYS = {
    "list": "list",
    "dictionary": "dict",
    "set": "set",
    "list_comprehension": "list",
    "dictionary_comprehension": "dict",
    "set_comprehension": "set",
}
_CONTAINERS = ("defaultdict", "deque", "OrderedDict", "Counter", "ChainMap", "UserDict", "UserList")
_MAKERS = frozenset({"list", "dict", "set", "bytearray", *(f"collections.{name}" for name in _CONTAINERS)})
_VALUES = f"value: [{' '.join(f'({each})' for each in (*_DISPLAYS, 'call'))}]"
_DEFAULTS = f"[(default_parameter {_VALUES}) (typed_default_parameter {_VALUES})] @n"
_READ_ONLY = re.compile(r"\b(Mapping|Sequence|Iterable|Collection|Container|AbstractSet|abc\.Set|frozenset|Final)\b")
# FastAPI makes a copy for each request: `Annotated[list[str], Query()]`.
_COPIED = re.compile(r"\bAnnotated\[.*\b(?:Query|Body|Header|Cookie|Form|File|Path|Depends|Security)\(", re.DOTALL)
_MUTATORS = (
    "append|extend|insert|add|update|setdefault|pop|popleft|popitem|remove|discard|clear|sort|reverse|appendleft"
)
_DOCUMENTED = re.compile(r"\A\s*r?\"\"\".*?\"\"\"", re.DOTALL)
# `for each in rows`, `len(rows)`, `if not rows`, `f(**rows)`; `rows.get(`, `rows[0]`.
_READ_BEFORE = (
    r"(?:\b(?:in|if|elif|while|not)\s+|\*"
    r"|\b(?:len|list|dict|set|tuple|sorted|any|all|sum|min|max|enumerate|bool|iter|zip)\()"
)
# What takes the elements over, or runs a statement with them.
_COPIED_INTO = (
    r"\.(?:update|extend|union|intersection|difference|join|isdisjoint|issubset|issuperset|execute\w*)\("
    r"(?:[^()\n]*,\s*)?"
)
_READ_AFTER = r"(?:\.(?:get|items|keys|values|copy|index|count)\(|\[)"


def look(parameter: Node, file: SourceFile) -> Iterator[Mark]:
    value, function = parameter.child_by_field_name("value"), file.enclosing_function(parameter)
    if value is None or function is None or (kind := _mutable_kind(value, file)) is None:
        return
    name_node, annotation = parameter.child_by_field_name("name"), parameter.child_by_field_name("type")
    name = file.text(name_node) if name_node is not None else "?"
    noted = file.text(annotation) if annotation is not None else ""
    if "cache" in name or name.startswith("_") or _READ_ONLY.search(noted) or _COPIED.search(noted):
        return
    body_node = function.child_by_field_name("body")
    body = _DOCUMENTED.sub("", file.text(body_node)) if body_node is not None else ""
    message = f"The default of `{name}` is one {kind} that all calls share"
    is_replaced = _is_replaced(name, body)
    if not is_replaced and _is_let_out(name, body):
        yield file.mark(RULE.id, parameter, message)
    else:
        severity = "info" if is_replaced or _is_only_read(name, body) else ""
        yield file.mark(RULE.id, parameter, message, confidence="medium", severity=severity)


def _mutable_kind(value: Node, file: SourceFile) -> str | None:
    if value.type == "call":
        callee = file.callee(value)
        return callee.rpartition(".")[2] if callee in _MAKERS else None
    return _DISPLAYS.get(value.type)


def _is_let_out(name: str, body: str) -> bool:
    """Whether the body changes, returns or stores the parameter."""
    word = re.escape(name)
    return bool(
        re.search(
            rf"\b{word}(\.({_MUTATORS})\(|\[[^\]\n]*\]\s*[-+|&]?=[^=]|\s*[-+|&]=)|\b(return|yield)\s+{word}\b(?!\.)"
            rf"|=\s*{word}\s*$|\bdel {word}\[",
            body,
            re.MULTILINE,
        )
    )


def _is_replaced(name: str, body: str) -> bool:
    """Whether the first thing that is done with the parameter is to put something new in its place, where it is empty
    or always: `if not rows: rows = []`, `rows = list(rows)`."""
    word = re.escape(name)
    used = re.search(rf"(?<![\w.]){word}\b", body)
    line = body[body.rfind("\n", 0, used.start()) + 1 :] if used is not None else ""
    return bool(
        re.match(
            rf"\s*(?:if not {word}:\s*{word} = |{word} = (?:{word} or |{word}\.copy\(\)|{{?\[?\*+{word}\b"
            rf"|(?:list|dict|set|copy|deepcopy|copy\.\w+)\({word}\)))",
            line,
        )
    )


def _is_only_read(name: str, body: str) -> bool:
    """Whether each use of the parameter looks into it or goes over it: then no call can leave anything behind."""
    word = rf"(?<![\w.]){re.escape(name)}\b"
    if re.search(rf"{word}[^\n]*(?:\.(?:{_MUTATORS})\(|\]\s*[-+|&]?=(?!=))", body):
        return False  # what is in it may be changed
    uses = re.findall(word, body)
    reads = re.findall(rf"(?:{_READ_BEFORE}|{_COPIED_INTO}){word}(?![.\[(\w])|{word}{_READ_AFTER}", body)
    return 0 < len(uses) == len(reads)


WATCHES = (Watch(_DEFAULTS, look, PYTHON),)
