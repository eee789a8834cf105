"""What the callers of a function give it, where all of them stand in the same file."""

import re

from tree_sitter import Node

from analysis.engine.extract.scopes import FunctionDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.built_text import HOLES, LISTS
from analysis.engine.rules.base import JAVA, PYTHON, SCRIPT

_PRIVATE = re.compile(rb"\bprivate\b|#\w+\s*\(")
_LITERALS = frozenset({"string", "string_literal", "number", "integer", "decimal_integer_literal"})
_NAMES = frozenset({"identifier"})
_CONSTANT = re.compile(r"(?:\w+\.)*_?[A-Z][A-Z0-9_]+")
_EXPORTS = rb"\bexport\s*(?:default\s+NAME\b|\{[^}]*\bNAME\b)|\bexports\b[^\n]*\bNAME\b"
_LEVELS = 3  # of callers that hand on what they were given
_FEW = 20  # elements of a list


def gets_only_literals(name: str, node: Node, file: SourceFile) -> bool:
    """Whether the function around the node is only ever given texts and numbers under this name: `check("redis")`."""
    given = handed_by_callers(name, node, file)
    return bool(given) and all(_is_literal(each, file) for each in given)


def gets_only_written_lists(name: str, node: Node, file: SourceFile, levels: int = _LEVELS) -> bool:
    """Whether the function around the node is only ever given lists that the source writes out."""
    given = handed_by_callers(name, node, file) if levels else []
    return bool(given) and all(
        (each.type in LISTS and each.named_child_count <= _FEW)
        or _CONSTANT.fullmatch(file.text(each)) is not None
        or (each.type in _NAMES and gets_only_written_lists(file.text(each), each, file, levels - 1))
        for each in given
    )


def handed_by_callers(name: str, node: Node, file: SourceFile) -> list[Node]:
    """What each call gives to a parameter of the function around the node; nothing where it is no parameter, where
    another file may call the function, or where a call leaves it out."""
    index = file.function_of(node)
    function = file.functions[index]
    if not index or not name.isidentifier() or not _is_own(function, file):
        return []
    listed = [each.name for each in file.dialect.parameters(function.node, file)]
    if name not in listed:
        return []
    position = listed.index(name) - (listed[0] in ("self", "cls"))
    called = function.short_name
    given: list[Node] = []
    for call in file.calls:
        if file.callee(call).rpartition(".")[2] == called:
            positional, keywords = file.arguments(call)
            if name not in keywords and position >= len(positional):
                return []
            given.append(keywords[name] if name in keywords else positional[position])
    return given


def _is_own(function: FunctionDraft, file: SourceFile) -> bool:
    """Whether no other file calls the function, as far as its header says."""
    name, node = function.short_name, function.node
    if file.language in PYTHON:
        return name.startswith("_")
    body = node.child_by_field_name("body")
    head = file.source[node.start_byte : body.start_byte if body is not None else node.end_byte]
    if file.language in JAVA or node.type == "method_definition":
        return _PRIVATE.search(head) is not None
    if file.language not in SCRIPT or (node.parent is not None and node.parent.type == "export_statement"):
        return False
    exported = _EXPORTS.replace(b"NAME", re.escape(name.encode()))
    return name.isidentifier() and re.search(exported, file.source) is None


def _is_literal(given: Node, file: SourceFile) -> bool:
    is_text = given.type in _LITERALS and not any(each.type in HOLES for each in given.named_children)
    return is_text or _CONSTANT.fullmatch(file.text(given)) is not None
