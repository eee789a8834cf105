"""Whether what grows in a loop stops growing at a size, as a beginning of a line that is cut off."""

import re

from tree_sitter import Node

from analysis.engine.extract.scopes import LoopDraft
from analysis.engine.extract.source import SourceFile

_SIZE = r"(?:len\(\s*NAME\s*\)|(?<![\w.$])NAME\.(?:length|size)\b(?:\(\))?)"
_UNDER = rf"{_SIZE}\s*<|>=?\s*{_SIZE}|-\s*{_SIZE}[^\n]*>=?\s*[01]\b"
_LARGE = re.compile(r"\d{6}|<<|\*")  # a million bytes are copied often enough


def is_capped(name: str, statement: Node, loop: LoopDraft, file: SourceFile) -> bool:
    """Whether the round only adds to what is still shorter than a bound: `if len(line) < most { line += part }`."""
    node, under = statement, re.compile(_UNDER.replace("NAME", re.escape(name)))
    while node.parent is not None and node.id != loop.node.id:
        branch = node.parent
        body = branch.child_by_field_name("consequence") if branch.type == "if_statement" else None
        if body is not None and body.id == node.id:
            head = file.source[branch.start_byte : body.start_byte].decode("utf-8", "replace")
            if under.search(head) is not None and not _LARGE.search(head.replace("_", "")):
                return True
        node = branch
    return False
