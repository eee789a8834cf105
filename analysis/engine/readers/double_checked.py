"""Double-checked locking of Java: a static is asked for without the lock, and again under it."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile

LONGEST_CHECK = 120  # bytes before a block in which the first check stands
_CHECKED_TWICE = re.compile(rb"if\s*\(\s*(\w+)\s*==\s*null\s*\)\s*\{?\s*\Z")


def half_built(block: Node, file: SourceFile) -> str:
    """The static that a `synchronized` block makes and another thread may see half built, since it is not `volatile`;
    empty when there is none."""
    before = file.source[max(0, block.start_byte - LONGEST_CHECK) : block.start_byte]
    checked = _CHECKED_TWICE.search(before)
    if checked is None or _is_synchronized(block, file):
        return ""
    name = re.escape(checked[1])
    again = re.search(rb"if\s*\(\s*" + name + rb"\s*==\s*null", file.source[block.start_byte : block.end_byte])
    declared = re.search(rb"\bstatic\b[^\n;(=]*\b" + name + rb"\s*[;=]", file.source)
    is_half_built = again is not None and declared is not None and b"volatile" not in declared[0]
    return checked[1].decode() if is_half_built else ""


def _is_synchronized(node: Node, file: SourceFile) -> bool:
    """Whether the whole method holds the lock."""
    method = file.functions[file.function_of(node)].node
    body = method.child_by_field_name("body")
    end = body.start_byte if body is not None else method.start_byte
    return b"synchronized" in file.source[method.start_byte : end]
