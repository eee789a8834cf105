"""A list is searched from its start in every round of a loop."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Guide, Rule, Severity
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.reading import followed, function_text, is_short_list, text_after, text_before
from analysis.engine.rules.sizes import Size, size_of

RULE = Rule(
    id="perf-quadratic-lookup",
    type="quadratic_lookup",
    category=Category.PERFORMANCE,
    title="Search of a list in a loop",
    severity=Severity.WARNING,
    points=1,
    suggestion="Build a set or map before the loop.",
    confidence=Confidence.MEDIUM,
)
GUIDE = Guide(
    why="A list is searched from its start each time; a set answers at once.",
    flagged=(
        {
            "shop/work.py": """
def fresh(rows):
    known = []
    for row in rows:
        if row.key in known:
            continue
        known.append(row.key)
    return known
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def fresh(rows):
    known = set()
    for row in rows:
        if row.key in known:
            continue
        known.add(row.key)
    return known
"""
        },
    ),
)

# What makes a name one of a list: the text behind it, in Java the text around it.
_PYTHON_LIST = re.compile(r"\s*(:\s*(list|List)\b[^=\n]*)?=\s*(\[|list\(|sorted\()|\s*:\s*(list|List)\[")
_SCRIPT_ARRAY = re.compile(
    r"\s*(:\s*[\w<>\[\]]+\[\]|:\s*Array<)"
    r"|\s*=\s*(\[|await Promise\.all|Array\.from|Object\.(keys|values)|[\w.]+\.(map|filter)\()"
)
_JAVA_LIST = r"\b(Array|Linked)?List<[^=;()]*>\s+{0}\b"
_GROWS = re.compile(r"\.(append|push|add|extend|insert)\(")
_BEGINS = re.compile(r"(\s*:[^=\n]+)?\s*:?=(?!=)")
_SHRINKS = re.compile(r"\.(remove|pop|shift|splice|clear|insert|unshift)\b")
_ENDS = re.compile(r"^[^\n]*\n?\s*(?:\{?\s*)?(return|break|throw|raise)\b")
_METHODS = frozenset({"includes", "indexOf", "contains"})


def look_at_membership(operation: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: `x in some_list`."""
    if not file.in_loop(operation) or operation.child_count != 3:
        return
    right = operation.child(2)
    if right is None or right.type != "identifier" or b" in " not in file.source[operation.start_byte : right.end_byte]:
        return
    yield from _searched(operation, file.text(right), _PYTHON_LIST, file)


def look_at_script(call: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _by_method(call, _SCRIPT_ARRAY, file)


def look_at_java(call: Node, file: SourceFile) -> Iterator[Mark]:
    yield from _by_method(call, _JAVA_LIST, file)


def look_at_go(call: Node, file: SourceFile) -> Iterator[Mark]:
    given = file.arguments(call)[0]
    if file.callee(call) != "slices.Contains" or not given or not file.in_loop(call):
        return
    name = file.text(given[0])
    if re.fullmatch(r"\w+", name) and _is_outside(name, call, file):
        yield from _marks(call, name, file)


def _by_method(call: Node, list_pattern: re.Pattern[str] | str, file: SourceFile) -> Iterator[Mark]:
    receiver, _, method = file.callee(call).rpartition(".")
    if method in _METHODS and re.fullmatch(r"[\w$]+", receiver) and file.in_loop(call):
        yield from _searched(call, receiver, list_pattern, file)


def _searched(node: Node, name: str, list_pattern: re.Pattern[str] | str, file: SourceFile) -> Iterator[Mark]:
    """A mark when the name is known to be a list from outside the loop that the loop does not change."""
    if not _is_list(name, list_pattern, function_text(node, file)):
        return
    if is_short_list(name, node, file, most=10) and not _grows(name, node, file):
        return
    if _is_outside(name, node, file) and not _ENDS.match(text_after(node, file)):
        yield from _marks(node, name, file)


def _is_list(name: str, list_pattern: re.Pattern[str] | str, text: str) -> bool:
    if isinstance(list_pattern, str):
        return re.search(list_pattern.format(re.escape(name)), text) is not None
    return next(followed(name, text, list_pattern, "_"), None) is not None


def _grows(name: str, node: Node, file: SourceFile) -> bool:
    """Whether the list is filled in the function: a short literal is only its beginning then."""
    return next(followed(name, function_text(node, file), _GROWS, "_"), None) is not None


def _is_outside(name: str, node: Node, file: SourceFile) -> bool:
    """Whether the list lives longer than a round and nothing is taken out of it in between."""
    index = file.loop_of(node)
    if index is None:
        return False
    loop = file.loops[index]
    if name in loop.variables or 0 < loop.bound <= 10:
        return False
    body = file.source[loop.node.start_byte : loop.node.end_byte].decode("utf-8", "replace")
    if next(followed(name, body, _BEGINS, "_."), None) or next(followed(name, body, _SHRINKS, "_"), None):
        return False
    return loop.parent is None or name not in loop.parent.variables or name in text_before(node, file)


def _marks(node: Node, name: str, file: SourceFile) -> Iterator[Mark]:
    """None when the list or the loop has few elements by its name; a guess unless both may have many."""
    loop = file.loops[file.loop_of(node) or 0]
    through, searched = size_of(loop.iterable, loop.node, file), size_of(name, node, file)
    if Size.FEW in (through, searched) or loop.kind == "while":
        return
    is_large = through is Size.MANY and (searched is Size.MANY or _grows(name, node, file))
    yield file.mark(
        RULE.id,
        node,
        f"`{name}` is searched from its start in every round of the loop",
        confidence="" if is_large else "low",
        suggestion=f"Build a set or map of `{name}` before the loop.",
    )


WATCHES = (
    Watch('(comparison_operator operators: ["in" "not in"]) @n', look_at_membership, PYTHON),
    Watch("call", look_at_script, SCRIPT, names=frozenset({"includes", "indexOf"})),
    Watch("call", look_at_java, JAVA, names=frozenset({"contains", "indexOf"})),
    Watch("call", look_at_go, GO, names=frozenset({"Contains"})),
)
