"""Which parts of a text are fixed and which are put in at run time."""

import re
from collections import deque
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import CALLS, COMMENTS, assigned_values, within

_STRINGS = frozenset(
    {"string", "template_string", "string_literal", "interpreted_string_literal", "raw_string_literal"}
)
HOLES = frozenset({"interpolation", "template_substitution"})
_WRAPPERS = frozenset({"parenthesized_expression", "concatenated_string", "tuple", "as_expression"})
LISTS = frozenset({"array", "list", "tuple"})
SUMS = frozenset({"binary_operator", "binary_expression"})
_CHOICES = frozenset({"conditional_expression", "ternary_expression"})
_FORMATTERS = (".format", "fmt.Sprintf", ".formatted", ".concat")
_TRIMMED = re.compile(r"\.(strip|trim|trimIndent|dedent)$|(^|\.)dedent$")
_NUMBERS = frozenset(
    {"integer", "float", "number", "decimal_integer_literal", "int_literal", "true", "false", "none"}
    | {"null_literal", "null", "nil", "undefined"}
)
_INTEGERS = frozenset({"integer", "int_literal"})
_CONSTANT = re.compile(r"([\w.]+\.)?_?[A-Z][A-Z0-9_]*(\[\w+\])?$")
_NAME = re.compile(r"[A-Za-z_$][\w$]*$")
_PERCENT_PLACE = re.compile(r"%(?:\(\w+\))?[-+#0-9.]*[a-zA-Z]")
_BRACE_PLACE = re.compile(r"\{[^{}]*\}")
_COLUMN = re.compile(r"\.[A-Za-z_]")  # behind the alias of a table
_IN_A_WORD = re.compile(r"[\w/:-]\Z")  # before what is no alias: `/tmp/{}.tar`
_NUMBERED = re.compile(r"[di]$|:[\d,]*d\}$")
_BUILDER = re.compile(r"(\w+)\.toString\(\)")
_MADE = re.compile(r"new\s+String(?:Builder|Buffer)\(")
_MOST_PARTS = 60
_LONGEST_LEAD = 200  # characters


class BuiltText(NamedTuple):
    """`fixed` is what the source says literally, `parts` are the expressions put in at run time, and `leads` is the
    fixed text right before each of them."""

    fixed: str
    parts: tuple[Node, ...]
    leads: tuple[str, ...]


def built_text(expression: Node, file: SourceFile) -> BuiltText:
    """How a text comes about. An expression that is no text at all is one run-time part."""
    fixed: list[str] = []
    parts: list[Node] = []
    leads: list[str] = []
    pending: deque[Node | _Slot | bytes] = deque([expression])
    while pending and len(parts) < _MOST_PARTS:
        node = pending.popleft()
        slot = node if isinstance(node, _Slot) else None
        if isinstance(node, bytes):
            fixed.append(node.decode("utf-8", "replace"))
            continue
        node = node.value if isinstance(node, _Slot) else node
        if node.type in _STRINGS:
            pending.extendleft(reversed(_pieces(node, file)))
        elif node.type in _NUMBERS or node.type in COMMENTS:
            continue
        elif slot is None and (inner := _operands(node, file)) is not None:
            pending.extendleft(reversed(inner))
        elif slot is not None and node.type in _CHOICES | CALLS and _operands(node, file) is not None:
            chosen = _texts_of_slot(node, file)
            fixed.append(chosen.fixed)
            parts.extend(chosen.parts)
            leads.extend((slot.lead + lead)[-_LONGEST_LEAD:] for lead in chosen.leads)
        else:
            parts.append(node)
            leads.append(slot.lead if slot is not None else "".join(fixed)[-_LONGEST_LEAD:])
            fixed.append(" ? ")
    return BuiltText(" ".join(fixed), tuple(parts), tuple(leads))


def _texts_of_slot(node: Node, file: SourceFile) -> BuiltText:
    """What a formatter puts in where that is a text of literals or a choice of them, as in `"x" if a else "y"`; what
    is formatted further inside is one part."""
    fixed: list[str] = []
    parts: list[Node] = []
    leads: list[str] = []
    for each in _operands(node, file) or []:
        value = each.value if isinstance(each, _Slot) else each
        if (
            isinstance(value, Node)
            and value.type in _STRINGS
            and not any(hole.type in HOLES for hole in value.named_children)
        ):
            fixed.append(file.text(value))
        elif isinstance(value, Node) and value.type not in _NUMBERS | COMMENTS:
            parts.append(value)
            leads.append(each.lead if isinstance(each, _Slot) else "")
            fixed.append(" ? ")
    return BuiltText(" ".join(fixed), tuple(parts), tuple(leads))


def text_of_argument(argument: Node, file: SourceFile) -> BuiltText:
    """Like `built_text`; a local variable stands for what was assigned to it before, and a `StringBuilder` for what
    was appended."""
    builder = _BUILDER.fullmatch(file.text(argument)) if argument.type == "method_invocation" else None
    if builder is None and argument.type != "identifier":
        return built_text(argument, file)
    values = values_of(builder[1] if builder is not None else file.text(argument), argument, file)
    texts = [built_text(value, file) for value in values]
    if not texts:
        return BuiltText("", (argument,), ("",))
    leads: list[str] = []
    before = ""  # what was appended last, where the next piece goes on
    for text in texts:
        leads.extend(lead or before for lead in text.leads)
        before = text.fixed[-_LONGEST_LEAD:] if builder is not None else ""
    return BuiltText(
        " ".join(text.fixed for text in texts), tuple(part for text in texts for part in text.parts), tuple(leads)
    )


def values_of(name: str, place: Node, file: SourceFile) -> list[Node]:
    """What a local name was given before the place: by assignments, or a `StringBuilder` of Java piece by piece."""
    values = assigned_values(name, place, file)
    made = [value for value in values if value.type == "object_creation_expression" and _MADE.match(file.text(value))]
    function = file.enclosing_function(place) if made else None
    if function is None:
        return values
    calls = [
        each
        for each in within(function)
        if each.type == "method_invocation"
        and each.end_byte <= place.start_byte
        and file.source.startswith((name + ".append(").encode(), each.start_byte)
    ]
    calls.sort(key=lambda each: each.end_byte)
    return [given for each in (*made, *calls) for given in file.arguments(each)[0]]


def is_constant(part: Node, file: SourceFile) -> bool:
    """Whether a run-time part is a constant by its spelling, or a local name that only ever holds literals and
    constants."""
    text = file.text(part)
    if _CONSTANT.fullmatch(text):
        return True
    if not _NAME.match(text):
        return False
    values = assigned_values(text, part, file)
    held = (each for value in values for each in built_text(value, file).parts)
    return bool(values) and all(_CONSTANT.fullmatch(file.text(each)) for each in held)


class _Slot(NamedTuple):
    """What a formatter puts into a text, and the text before its place."""

    value: Node
    lead: str


def _operands(node: Node, file: SourceFile) -> list[Node | _Slot | bytes] | None:
    """The expressions that a node is put together from, None when it is not put together."""
    if node.type in _WRAPPERS:
        return list(node.named_children)
    if node.type in SUMS:
        return _summands(node, file)
    if node.type in _CHOICES:
        return list(node.named_children[-2:] if node.type == "ternary_expression" else node.named_children[::2])
    return _given(node, file) if node.type in CALLS else None


def _summands(operation: Node, file: SourceFile) -> list[Node | _Slot | bytes] | None:
    """The sides of a sum of texts, or of a form and what `%` puts into it; None for numbers."""
    operator = operation.child_by_field_name("operator")
    if operator is not None and operator.type == "*":  # a text said several times over: `", ?" * n`
        return [each for each in operation.named_children if each.type in _STRINGS] or None
    if operator is None or operator.type not in ("+", "%") or operation.named_child_count < 2:
        return None
    if file.language in ("python", "go") and any(each.type in _INTEGERS for each in operation.named_children):
        return None
    if operator.type == "+":
        return list(operation.named_children)
    left, right = operation.named_children[0], operation.named_children[-1]
    right = right.named_children[0] if right.type == "parenthesized_expression" else right
    return [left, *_slots(left, right.named_children if right.type == "tuple" else [right], file)]


def _given(call: Node, file: SourceFile) -> list[Node | _Slot | bytes] | None:
    """What a call puts together: a formatter, a list that is joined, a text that is trimmed."""
    callee = file.callee(call)
    positional, keywords = file.arguments(call)
    function = call.child_by_field_name("function") or call
    receiver = function.child_by_field_name("object") or call.child_by_field_name("object")
    if callee.endswith(_FORMATTERS):
        given = [*positional, *keywords.values()]
        if receiver is not None and receiver.type in _STRINGS | _WRAPPERS:
            return [receiver, *_slots(receiver, given, file)]
        return [*given[:1], *_slots(given[0], given[1:], file)] if given else []
    if (pieces := _joined_pieces(call, positional, receiver)) is not None:
        return pieces
    if _TRIMMED.search(callee):
        return [receiver] if receiver is not None and not positional else list(positional)
    return None


def _joined_pieces(call: Node, positional: list[Node], receiver: Node | None) -> list[Node | _Slot | bytes] | None:
    """The pieces of a list that is written out and joined on the spot: `[a, b].join(" AND ")`, `", ".join([a, b])`."""
    function = call.child_by_field_name("function")
    called = (function or call).child_by_field_name("property") or (function or call).child_by_field_name("attribute")
    if called is None or receiver is None or called.text != b"join":
        return None
    listed = receiver if receiver.type in LISTS else next((each for each in positional if each.type in LISTS), None)
    return list(listed.named_children) if listed is not None else None


def _slots(form: Node, values: list[Node], file: SourceFile) -> list[Node | _Slot | bytes]:
    """The values beside the text before their places; those that are written as numbers can hold no text."""
    text = file.text(form)
    found = (list(pattern.finditer(text)) for pattern in (_PERCENT_PLACE, _BRACE_PLACE))
    places = next((each for each in found if len(each) == len(values)), None)
    if places is None:
        return list(values)
    return [
        _Slot(value, text[: place.start()][-_LONGEST_LEAD:])
        for value, place in zip(values, places, strict=True)
        if not _NUMBERED.search(place[0]) and not _is_alias(text, place)
    ]


def _is_alias(text: str, place: re.Match[str]) -> bool:
    """Whether the alias of a table is put in: a whole word before the name of a column."""
    return _COLUMN.match(text, place.end()) is not None and _IN_A_WORD.search(text, 0, place.start()) is None


def _pieces(string: Node, file: SourceFile) -> list[Node | _Slot | bytes]:
    """A text literal as its fixed pieces and the expressions between them."""
    start, pieces = string.start_byte, list[Node | _Slot | bytes]()
    for hole in string.named_children:
        if hole.type in HOLES:
            pieces.append(file.source[start : hole.start_byte])
            pieces.extend(hole.named_children[:1])
            start = hole.end_byte
    pieces.append(file.source[start : string.end_byte])
    return pieces
