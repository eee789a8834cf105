"""Which parts of a text are fixed and which are put in at run time."""

import re
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.rules.reading import COMMENTS, assigned_values

_STRINGS = frozenset(
    {"string", "template_string", "string_literal", "interpreted_string_literal", "raw_string_literal"}
)
_HOLES = frozenset({"interpolation", "template_substitution"})
_WRAPPERS = frozenset({"parenthesized_expression", "concatenated_string", "tuple", "as_expression"})
_SUMS = frozenset({"binary_operator", "binary_expression"})
_CALLS = frozenset({"call", "call_expression", "method_invocation"})
_CHOICES = frozenset({"conditional_expression", "ternary_expression"})
_FORMATTERS = (".format", "fmt.Sprintf", ".formatted", ".concat")
_TRIMMED = re.compile(r"\.(strip|trim|trimIndent|dedent)$|(^|\.)dedent$")
_NUMBERS = frozenset({"integer", "float", "number", "decimal_integer_literal", "int_literal", "true", "false", "none"})
_CONSTANT = re.compile(r"([\w.]+\.)?_?[A-Z][A-Z0-9_]*(\[\w+\])?$")
_NAME = re.compile(r"[A-Za-z_$][\w$]*$")
_MOST_PARTS = 60


class BuiltText(NamedTuple):
    """`fixed` is what the source says literally, `parts` are the expressions put in at run time."""

    fixed: str
    parts: tuple[Node, ...]


def built_text(expression: Node, file: SourceFile) -> BuiltText:
    """How a text comes about. An expression that is no text at all is one run-time part."""
    fixed: list[str] = []
    parts: list[Node] = []
    pending = [expression]
    while pending and len(parts) < _MOST_PARTS:
        node = pending.pop(0)
        if node.type in _STRINGS:
            holes = [each for each in node.named_children if each.type in _HOLES]
            fixed.append(_without(node, holes, file))
            pending[:0] = [hole.named_children[0] for hole in holes if hole.named_child_count]
        elif node.type in _NUMBERS or node.type in COMMENTS:
            continue
        elif (inner := _operands(node, file)) is not None:
            pending[:0] = inner
        else:
            parts.append(node)
    return BuiltText(" ".join(fixed), tuple(parts))


def text_of_argument(argument: Node, file: SourceFile) -> BuiltText:
    """Like `built_text`; a local variable stands for what was assigned to it before."""
    if argument.type != "identifier":
        return built_text(argument, file)
    texts = [built_text(value, file) for value in assigned_values(file.text(argument), argument, file)]
    if not texts:
        return BuiltText("", (argument,))
    return BuiltText(" ".join(text.fixed for text in texts), tuple(part for text in texts for part in text.parts))


def is_constant(part: Node, file: SourceFile) -> bool:
    """Whether a run-time part is a constant by its spelling, or a local name that only ever holds literals."""
    text = file.text(part)
    if _CONSTANT.fullmatch(text):
        return True
    if not _NAME.match(text):
        return False
    values = assigned_values(text, part, file)
    return bool(values) and not any(built_text(value, file).parts for value in values)


def _operands(node: Node, file: SourceFile) -> list[Node] | None:
    """The expressions that a node is put together from, None when it is not put together."""
    if node.type in _WRAPPERS:
        return node.named_children
    if node.type in _SUMS:
        operator = node.child_by_field_name("operator")
        return node.named_children if operator is not None and operator.type in ("+", "%") else None
    if node.type in _CHOICES:
        return node.named_children[-2:] if node.type == "ternary_expression" else node.named_children[::2]
    if node.type not in _CALLS:
        return None
    callee = file.callee(node)
    positional, keywords = file.arguments(node)
    function = node.child_by_field_name("function") or node
    receiver = function.child_by_field_name("object") or node.child_by_field_name("object")
    if callee.endswith(_FORMATTERS):
        is_text = receiver is not None and receiver.type in _STRINGS | _WRAPPERS
        return [*([receiver] if is_text and receiver is not None else []), *positional, *keywords.values()]
    if _TRIMMED.search(callee):
        return [receiver] if receiver is not None and not positional else positional
    return None


def _without(string: Node, holes: list[Node], file: SourceFile) -> str:
    start, pieces = string.start_byte, []
    for hole in holes:
        pieces.append(file.source[start : hole.start_byte])
        start = hole.end_byte
    pieces.append(file.source[start : string.end_byte])
    return b" ? ".join(pieces).decode("utf-8", "replace")
