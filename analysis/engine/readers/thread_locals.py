"""What threads of a pool carry from one request to the next: a `ThreadLocal` of Java that is set and not removed."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile

_DECLARED = re.compile(
    rb"(?:(?:public|private|protected|final|static)\s+)*static\s[^;=\n]*\b\w*ThreadLocal<[^;=]*>\s+(?P<name>\w+)\s*="
    rb"\s*(?:new\s+\w*ThreadLocal\b|\w*ThreadLocal\.with\w+\()"
)
# What a thread keeps for its own use, which holds nothing of a request.
_TOOL = re.compile(
    rb"ThreadLocal<[^;=]*(?:Random|Format|Builder|Buffer|Digest|Cipher|Mapper|Matcher|Formatter|Kryo|byte\[\])\w*>"
)
_MADE_EMPTY = re.compile(rb"\.with\w+\(|\binitialValue\(")
# A tool that is filled, and may be emptied before it is used again.
_FILLED = rb"\.(?:append|insert|add|addAll|put|putAll|push|offer|write)\("
_EMPTIED = rb"\.(?:setLength|clear|reset|delete|deleteCharAt|remove|poll\w*|pop)\("
# In `finally`, or to what was there before: in a field, or in what a setter gives back to its caller.
_PUT_BACK = (
    rb"\bfinally\s*\{[^}]*\bNAME\.set\(",
    rb"\bNAME\.set\(\s*(?:this\.)?(?:parent|old\w*|prev\w*|before|saved\w*)\s*\)",
    rb"\b(\w+)\s*=\s*(?:NAME\.get|\w+)\(\)\s*;\s*NAME\.set\([^;]*;\s*return\s+\1\s*;",
)


def left_behind(field: Node, file: SourceFile) -> str:
    """The name of a static `ThreadLocal` that methods of the file set and none removes; empty for any other field, for
    one that is put back as it was, and for a tool of the thread itself."""
    found = _DECLARED.match(file.source, field.start_byte, field.end_byte)
    if found is None:
        return ""
    name = found["name"]
    if _MADE_EMPTY.search(file.source, found.start(), field.end_byte) and _grows(name, file.source):
        return name.decode()
    if _TOOL.search(found[0]):
        return ""
    if any(re.search(each.replace(b"NAME", name), file.source) for each in _PUT_BACK):
        return ""
    is_set = re.search(rb"\b" + name + rb"\.set\(\s*(?!null)", file.source)
    is_removed = re.search(rb"\b" + name + rb"(?:\.|::)(?:remove\b|set\(\s*null)", file.source)
    return name.decode() if is_set and not is_removed else ""


def _grows(name: bytes, source: bytes) -> bool:
    """Whether methods fill what each thread has, as a text or a list, and none empties it or lets go of it: the next
    request finds what the last one left there."""
    held = {match[1] for match in re.finditer(rb"\b(\w+)\s*=\s*" + name + rb"\.get\(\)\s*;", source)}
    names = b"|".join([name + rb"\.get\(\)", *sorted(held)])
    if re.search(rb"\b" + name + rb"(?:\.|::)(?:remove\b|set\()", source):
        return False
    return (
        re.search(rb"\b(?:" + names + rb")" + _FILLED, source) is not None
        and re.search(rb"\b(?:" + names + rb")" + _EMPTIED, source) is None
    )
