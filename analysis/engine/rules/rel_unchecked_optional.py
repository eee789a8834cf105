"""What a look-up gave is used as if it could not be empty."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.rules.base import JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.reading import function_text, short, text_before

RULE = Rule(
    id="rel-unchecked-optional",
    type="unchecked_optional",
    category=Category.RELIABILITY,
    title="Look-up used without a check",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Handle the missing case (`get_object_or_404`, `?.`, `orElseThrow(() -> new NotFound(id))`).",
    languages=(*PYTHON, *SCRIPT, *JAVA),
)
GUIDE = Guide(
    why=(
        "The look-up finds nothing on the day the input is another one, and the error names neither the input nor the "
        "look-up."
    ),
    flagged=(
        {
            "shop/work.py": """
import re


def number(text):
    return re.search(r"[0-9]+", text).group(0)
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
import re


def number(text):
    found = re.search(r"[0-9]+", text)
    return found.group(0) if found else ""
"""
        },
    ),
)

_MATCHERS = frozenset({"re.match", "re.search", "re.fullmatch"})
_QUERY = re.compile(
    r"(\.objects(\.\w+\(\))*|(^|[._])(qs|queryset)|\.(filter|exclude|order_by|select_related|all|query)\(\)(\.\w+\(\))*)\.(first|last)$"
)
_OPTIONAL = re.compile(
    r"(^|\.)(find\w*|get\w*Optional|findFirst\(\)|findAny\(\)|max\(\)|min\(\)|reduce\(\)|stream\(\)[\w().]*)\(\)\.get$"
)

_FUTURE = re.compile(r"\b(ExecutionException|\w*Future)\b|Async\(")  # `get()` waits there


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`re.match(p, s).group()` and `qs.first().x`."""
    callee = file.callee(call)
    is_match = callee in _MATCHERS
    if not is_match and not _QUERY.search(callee):
        return
    if not is_match and file.arguments(call)[0]:
        return
    parent = call.parent
    if parent is None or parent.type not in ("attribute", "subscript") or parent.start_byte != call.start_byte:
        return
    if is_match and _is_tested_before(call, file):
        return
    used = file.source[call.end_byte : parent.end_byte].decode("utf-8", "replace").strip()
    yield file.mark(RULE.id, call, f"`{short(callee)}` may give None, and `{short(used, 30)}` of None fails")


def look_at_find(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`array.find(...).x` in script."""
    given = file.arguments(call)[0]
    if len(given) != 1 or given[0].type not in ("arrow_function", "function_expression"):
        return
    if file.source[call.end_byte : call.end_byte + 1] != b".":
        return
    callee = file.callee(call)
    used = re.match(rb"\.[\w$]+", file.source[call.end_byte : call.end_byte + 60])
    member = used[0].decode() if used is not None else "."
    yield file.mark(
        RULE.id,
        call,
        f"`{short(callee)}` gives undefined when nothing matches, and `{member}` of it throws",
        suggestion=f"Handle the missing case (`?{member}`, or an error that names what was looked for).",
    )


def look_at_get(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`Optional.get()` right on a look-up in Java."""
    callee = file.callee(call)
    if file.arguments(call)[0] or not _OPTIONAL.search(callee):
        return
    if _FUTURE.search(function_text(call, file)):
        return
    start, _ = file.dialect.callee(call)
    looked_up = file.source[start : call.end_byte].decode("utf-8", "replace").rpartition(".")[0]
    before = text_before(call, file)
    if looked_up + ".isPresent()" in before or re.search(
        r"isPresent\(\)|isEmpty\(\)|size\(\)|hasNext\(\)", before[-400:]
    ):
        return
    yield file.mark(
        RULE.id,
        call,
        f"`{short(looked_up)}` may be empty, and `get()` then throws an error that names nothing",
        confidence="medium",
    )


def _is_tested_before(call: Node, file: SourceFile) -> bool:
    """Whether the same match stands in a test before."""
    return file.text(call) in text_before(call, file)


WATCHES = (
    Watch("call", look_at_python, PYTHON, names=frozenset({"match", "search", "fullmatch", "first", "last"})),
    Watch("call", look_at_find, SCRIPT, names=frozenset({"find"})),
    Watch("call", look_at_get, JAVA, names=frozenset({"get"})),
)
