"""Async functions that wait for nothing: to await one takes as long as to call it."""

import re

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FunctionFlag

_WAITS = re.compile(rb"\bawait\b|\basync\s+(?:for|with)\b")
_HANDS_ON = re.compile(rb"\breturn\b[^;\n]*[(\w$]\(|\byield\b|\breturn\s+new\b")  # a promise of somebody else, maybe


def waits_for_nothing(callee: str, file: SourceFile) -> bool:
    """Whether a call means an async function of the file, `load` or `this.load`, that does all its work at once."""
    name = callee.removeprefix("this.").removeprefix("self.")
    if "." in name:
        return False
    meant = [each for each in file.functions if each.short_name == name]
    if len(meant) != 1 or not meant[0].flags & FunctionFlag.ASYNC:
        return False
    text = file.source[meant[0].node.start_byte : meant[0].node.end_byte]
    return _WAITS.search(text) is None and (file.language == "python" or _HANDS_ON.search(text) is None)
