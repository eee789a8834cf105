"""Which conditions say that an element equals another: one of the loop around, or one thing for all rounds."""

import re

from tree_sitter import Node

from analysis.engine.extract.loops import dependents
from analysis.engine.extract.scopes import LoopDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import round_of

_EQUALS = re.compile(r"^\s*\(?\s*([^=!<>&|]+?)\s*===?\s*([^=!<>&|?]+?)\s*\)?\s*$")
_JAVA_EQUALS = re.compile(
    r"^\s*\(?\s*(?:Objects\.equals\(\s*([^,&|!]+?),\s*([^&|!]+?)\)|([^&|!]+?)\.equals\(([^&|!]+)\))\s*\)?\s*$"
)


def compares(condition: str, variables: tuple[str, ...], outer: LoopDraft, file: SourceFile) -> bool:
    """Whether the condition is one equality between an element of the inner and one of the outer loop."""
    sides = _sides(condition, file)
    if not sides:
        return False
    around = {name.decode("utf-8", "replace") for name in dependents(outer, file.source)} - set(variables)
    return any(
        not one.isdisjoint(variables) and not other.isdisjoint(around) and other.isdisjoint(variables)
        for one, other in (sides, sides[::-1])
    )


def is_for_few(node: Node, file: SourceFile) -> bool:
    """Whether only elements that equal something which no round changes are searched for: `jar.equals(order.getJar())
    && !found.contains(order)`."""
    loop, both = round_of(node, file), node.parent
    while both is not None and both.type in ("unary_expression", "parenthesized_expression"):
        both = both.parent
    asked = both.child_by_field_name("left") if both is not None and both.type == "binary_expression" else None
    if loop is None or both is None or asked is None or b"&&" not in file.source[asked.end_byte : node.start_byte]:
        return False
    changing = {name.decode("utf-8", "replace") for name in dependents(loop, file.source)}
    return [side.isdisjoint(changing) for side in _sides(file.text(asked), file)] in ([True, False], [False, True])


def _sides(condition: str, file: SourceFile) -> list[set[str]]:
    """The names on both sides of a condition that is one equality."""
    match = (_JAVA_EQUALS.match(condition) if file.language == "java" else None) or _EQUALS.match(condition)
    sides = match.groups() if match is not None else ()
    return [set(re.findall(r"(?<![.\w$])[A-Za-z_$][\w$]*", each)) for each in sides if each]
