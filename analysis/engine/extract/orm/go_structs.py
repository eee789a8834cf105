"""Structs of Go as ORMs see them: which one a variable holds, and the fields that one declares."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile

LONGEST_BEFORE = 12_000  # bytes before a call in which its destination may be declared

_BUILT_IN = r"(?:u?int\d*|float\d+|complex\d+|string|bool|byte|rune|error|any|map|struct|func|interface|chan)"
_TYPE = r"(?:\[\]|\*|map\[\w+\])*(?:\w+\.)?([A-Z]\w*)"
_ANY_TYPE = rf"(?:\[\]|\*|map\[\w+\])*(?:\w+\.)?(?!{_BUILT_IN}\b)([A-Za-z_]\w*)"  # of the package itself as well
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WRITTEN = re.compile(
    rf"^&?((?:\[\])?){_ANY_TYPE}\{{|^\(?\*?new\(((?:\[\])?){_ANY_TYPE}\)|^\(\*((?:\[\])?){_ANY_TYPE}\)\(nil\)"
)


class Field(NamedTuple):
    """Fields that one line of a struct declares; an embedded struct has no names."""

    names: list[str]
    kind: str
    tags: str
    line: int


def type_of(expression: str, call: Node, file: SourceFile) -> tuple[str, bool]:
    """The struct of `&Order{}`, `new(Order)`, `[]Order{}` or of a variable that the function declares, and whether it
    is a list of them."""
    expression = expression.strip()
    written = _WRITTEN.match(expression)
    if written is not None:
        return written[2] or written[4] or written[6], bool(written[1] or written[3] or written[5])
    name = expression.lstrip("&*")
    element = re.fullmatch(r"(\w+)\[\w+\]", name)
    if element is not None:
        return type_of(element[1], call, file)[0], False
    if not re.fullmatch(r"\w+", name):
        return "", name.endswith(("s", "List"))
    before = text_above(call, file)
    word = re.escape(name)
    declared = re.findall(
        rf"\b{word}(?:\s*,\s*\w+)*\s+((?:\[\]|\*)*){_TYPE}\b|\b{word}\s*:?=\s*&?((?:\[\]|\*)*){_ANY_TYPE}\{{"
        rf"|\b{word}\s*:?=\s*(?:make|new)\(((?:\[\]|\*)*){_ANY_TYPE}|\bvar\s+{word}\s+((?:\[\]|\*)*){_ANY_TYPE}",
        before,
    )
    if not declared:
        ranged = re.findall(rf"\b{word}\s*:=\s*range\s+(\w+)\s*\{{", before)
        ranged = ranged or re.findall(rf"\b{word}\s*:=\s*&?(\w+)\[\w+\]", before)
        return (type_of(ranged[-1], call, file)[0], False) if ranged and ranged[-1] != name else ("", False)
    parts = declared[-1]
    return next(filter(None, parts[1::2])), any("[]" in each for each in parts[::2])


def text_above(call: Node, file: SourceFile) -> str:
    """The text of the function before a call."""
    function = file.scope_of(call).function.node
    start = max(function.start_byte if function.parent is not None else 0, call.start_byte - LONGEST_BEFORE)
    return file.source[start : call.start_byte].decode("utf-8", "replace")


def is_handed_on(base: str, call: Node, file: SourceFile) -> bool:
    """Whether functions of the project add to the chain: `for _, option := range options { db = option(db) }`."""
    if not base.isidentifier():
        return False
    return re.search(rf"\b{base}\s*:?=\s*[\w.]+\((?:[^()\n]*,\s*)?{base}\b", text_above(call, file)) is not None


def fields_of(struct: Node, file: SourceFile) -> Iterator[Field]:
    """The fields of a `struct_type`."""
    for each in struct.named_child(0).named_children if struct.named_child_count else ():
        if each.type == "field_declaration":
            names = [file.text(name) for name in each.children_by_field_name("name")]
            kind, tags = (_text_of(each.child_by_field_name(part), file) for part in ("type", "tag"))
            yield Field(names, kind, tags, file.line(each))


def _text_of(node: Node | None, file: SourceFile) -> str:
    return file.text(node) if node is not None else ""


def snake(name: str) -> str:
    """`OrderLine` as `order_line`, which is how ORMs name its table and columns."""
    return _WORD_START.sub("_", name).lower()
