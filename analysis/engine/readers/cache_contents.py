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
# How many there are goes into an answer or a line of the log, where nobody asks whether it is too many.
_COUNTS = re.compile(rb"len\(|(?:\.size(?:\(\))?|\.length)\Z")
_TOLD = re.compile(
    rb"(?i)(?:\breturn\b|(?:json\w*|send\w*|render\w*|log\w*|print\w*|debug|info|warn\w*|write\w*)\s*\()[^\n;]*[(,{:=]\s*\Z"
)
_COMPARED = re.compile(rb"[^\n]*?(?:[<>]=?|===?|!=|%|\?)")
_EXPORTED = rb"\bexport\s+(?:const|let|var)\s+NAME\b|\bexport\s*(?:default\s+NAME\b|\{[^}]*\bNAME\b)|__all__[^\n]*NAME"
_CLASS_OF_CACHE = re.compile(r"Cache\w*$|Memo(?:izer)?$")
_TAKES_OUT = re.compile(r"^_*(?i:remove|delete|clear|evict|expire|prune|purge|drop|forget|invalidate)(?![a-z])")


def is_emptied(name: str, declared: Node, file: SourceFile) -> bool:
    """Whether the file takes something out again, or counts what is in it, or a function says that it does."""
    word = re.escape(name.encode())
    taken = re.finditer(_TAKEN.replace(b"NAME", word), file.source, re.MULTILINE)
    if any(
        not declared.start_byte <= match.end() <= declared.end_byte and not _is_only_told(match, file)
        for match in taken
    ):
        return True
    set_anew = re.compile(rb"\b" + word + rb"\[" + KEY + rb"\]\s*=(?!=)")
    return any(
        set_anew.search(file.source, each.node.start_byte, each.node.end_byte) is not None
        for each in file.functions[1:]
        if _TAKES_OUT.search(each.short_name)
    )


def is_exported(name: str, file: SourceFile) -> bool:
    """Whether other files may take something out."""
    return re.search(_EXPORTED.replace(b"NAME", re.escape(name.encode())), file.source) is not None


def is_of_a_cache(field: Node, file: SourceFile) -> bool:
    """Whether a static map of Java belongs to a class that is called a cache."""
    if file.language != "java":
        return False
    owner = file.scope_of(field)
    return owner.kind == "class" and _CLASS_OF_CACHE.search(owner.prefix.rstrip(".")) is not None


def _is_only_told(count: re.Match[bytes], file: SourceFile) -> bool:
    """Whether the size is asked for, and all that happens to it is that others are told: `jsonify(rows=len(seen))`."""
    if _COUNTS.search(count[0]) is None:
        return False
    line = file.source.rfind(b"\n", 0, count.start()) + 1
    before = file.source[line : count.start()]
    if b".size" in count[0] or b".length" in count[0]:
        before = before.removesuffix(b"this.")
    return _TOLD.search(before) is not None and _COMPARED.match(file.source, count.end()) is None
