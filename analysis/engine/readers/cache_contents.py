"""Whether what a cache holds is ever taken out again, as `risk-unbounded-cache` sees it."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import KEY

# All that makes a collection smaller or asks how large it is.
_TAKEN = (
    rb"\bNAME\.(?:pop\w*|clear|delete|move_to_end|size|remove\w*|poll|evict|invalidate\w*|Delete|Clear"
    rb"|keySet|entrySet|shift|splice|length|discard"
    rb"|values\(\)\.(?:remove\w*|retainAll|clear)"
    rb"|computeIfPresent|retainAll|LoadAndDelete)\b"
    rb"|\bdel (?:\w+\.)?NAME\b|\bdelete [\w.]*\bNAME\b|\bdelete\((?:\w+\.)*NAME\b"
    rb"|len\((?:\w+\.)*NAME\)|Object\.keys\((?:this\.)?NAME\)|\bclear\((?:\w+\.)*NAME\)"
    rb"|^[ \t]+(?:global\b[^\n]*\bNAME\b|(?:\w+\.)?NAME\s*=[^=])"
)
_TAKES_OUT = re.compile(r"^_*(?i:remove|delete|clear|evict|expire|prune|purge|drop|forget|invalidate)(?![a-z])")


def is_emptied(name: str, declared: Node, file: SourceFile) -> bool:
    """Whether the file takes something out again, or counts what is in it, or a function says that it does."""
    word = re.escape(name.encode())
    taken = re.finditer(_TAKEN.replace(b"NAME", word), file.source, re.MULTILINE)
    if any(not declared.start_byte <= match.end() <= declared.end_byte for match in taken):
        return True
    set_anew = re.compile(rb"\b" + word + rb"\[" + KEY + rb"\]\s*=(?!=)")
    return any(
        set_anew.search(file.source, each.node.start_byte, each.node.end_byte) is not None
        for each in file.functions[1:]
        if _TAKES_OUT.search(each.name.rpartition(".")[2])
    )
