"""Searches that a loop does not repeat for long: what they find ends it, or what it is for costs nobody."""

import re

from tree_sitter import Node

from analysis.engine.extract.scopes import LoopDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import followed, function_name, round_of, statements, text_after

_ENDS = re.compile(  # the branch behind the search leaves the loop
    r"^[^\n;{}]*(?:\)[ \t]*|\{\s*)(?:return|break|throw)\b|^[^\n\])}]*:\s*(?:return|break|raise)\b"
)
_LEFT = re.compile(r"[^\n]*\n\s*(?:return|break)\b")
_CALLED = re.compile(rb"\(")
# `name = f"{base}-{i}"` in a loop that counts on until nobody has the name
_FREE_NAME = re.compile(
    r"\Awhile\b[\s\S]*?(?:\$\{(\w+)\}|[{+]\s*(?:str\()?(\w+)\b)[\s\S]*?\b(?:\1|\2)(?:\+\+|\s*\+=\s*1\b)"
)
_THROWS = frozenset({"throw_statement", "raise_statement"})
_LEAVING = frozenset({"break_statement", "return_statement", "raise_statement", "throw_statement"})


def leaves_loop(call: Node, loop: LoopDraft, file: SourceFile) -> bool:
    """Whether the line behind a call leaves the loop that is around it."""
    found = _LEFT.match(text_after(call, file))
    return found is not None and call.end_byte + found.end() <= loop.node.end_byte


def ends_search(node: Node, file: SourceFile) -> bool:
    """Whether what was found ends the loop: by a branch right behind the search, or at the end of the block that it
    decides on."""
    if _ENDS.match(text_after(node, file)):
        return True
    statement = file.statement_of(node)
    block = statement.child_by_field_name("consequence") if statement.type == "if_statement" else None
    inside = statements(block)
    return bool(inside) and inside[-1].type in _LEAVING


def costs_nobody(node: Node, file: SourceFile) -> bool:
    """Whether the search runs on the way to an error, for the children of one node of a tree, which few have, or until
    a name is found that nobody has taken yet."""
    loop = round_of(node, file)
    if loop is not None and loop.node.id == node.id:
        loop = loop.parent
    if loop is None:
        return False
    name = function_name(node, file).rpartition(".")[2].encode()
    body = file.source[loop.node.start_byte : loop.node.end_byte]
    own = (b"", b"this.", b"self.") if name else ()
    if any(next(followed(each + name, body, _CALLED, b"_.$"), None) is not None for each in own):
        return True
    return _FREE_NAME.search(file.text(loop.node)) is not None or _ends_in_an_error(loop, file)


def _ends_in_an_error(loop: LoopDraft, file: SourceFile) -> bool:
    """Whether the branch that the loop stands in throws behind it."""
    statement = file.statement_of(loop.node)
    block = statement.parent
    is_branch = block is not None and block.parent is not None and block.parent.type == "if_statement"
    inside = statements(block) if is_branch else []
    return bool(inside) and inside[-1].type in _THROWS and inside[-1].start_byte >= statement.end_byte
