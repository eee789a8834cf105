"""Whether who calls a function has asked before for what the function looks up (`rel-unchecked-optional`)."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import followed

_BOUND = r"\b(\w+)\s*=\s*{looked_up}\s*\n"
_ASKS = r"\bif\b[^\n]*\b{name}\b"
_WORD_END = re.compile(rb"(?!\s*[=:]|\w)")


def is_asked_by_callers(call: Node, file: SourceFile) -> bool:
    """Whether each function of the file that names the one around a look-up has bound the same look-up and asked for
    it, `page = request.GET.get("page")` and `if not page`; false where nobody in the file calls it."""
    index = file.function_of(call)
    name = file.functions[index].name
    if not index or not name.isidentifier():
        return False
    looked_up = file.text(call)
    befores = list(_before_each_mention(name, index, file))
    return bool(befores) and all(_has_asked(looked_up, before) for before in befores)


def _before_each_mention(name: str, index: int, file: SourceFile) -> Iterator[str]:
    """The text of each other function up to where it names this one; nothing for a mention at the top level."""
    own = file.functions[index].node
    for mention in followed(name.encode(), file.source, _WORD_END, b"_."):
        start = mention.end() - len(name)
        if own.start_byte <= start < own.end_byte:
            continue
        node = file.tree.root_node.descendant_for_byte_range(start, start + 1)
        around = file.enclosing_function(node) if node is not None else None
        first = around.start_byte if around is not None else start
        yield file.source[first:start].decode("utf-8", "replace")


def _has_asked(looked_up: str, before: str) -> bool:
    bound = re.search(_BOUND.format(looked_up=re.escape(looked_up)), before)
    return bound is not None and re.search(_ASKS.format(name=bound[1]), before[bound.end() :]) is not None
