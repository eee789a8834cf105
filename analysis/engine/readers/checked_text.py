"""Text that a function lets through only where a pattern takes the whole of it, without a sign that quotes or ends
anything."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import known_values, text_before

# Words, numbers and what joins them: `^[a-zA-Z0-9_-]+$`, `v\d+`.
_PLAIN_CLASS = r"\[(?!\^)(?:[\w./:@+=,-]|\\[wd./-])+\]"
_PLAIN = re.compile(rf"(?:(?:{_PLAIN_CLASS}|\\[wd]|\\[/.:-]|[/:-]|\w|\((?:\?:)?|[)|])(?:[+*?]|\{{[\d,]+\}})?)+")
_TESTED = re.compile(r"if\s*\(\s*!\s*(?P<pattern>/(?:[^/\\\n]|\\.)+/\w*|\w+)\.test\(\s*(?P<name>\w+)\s*\)\s*\)")
_MATCHED = re.compile(
    r"if\s+not\s+(?P<pattern>\w+)\.(?P<way>fullmatch|match)\(\s*(?:(?P<given>r?\"[^\"\n]+\"|r?'[^'\n]+')\s*,\s*)?"
    r"(?P<name>\w+)\s*\)\s*:"
)
_LEAVES = re.compile(r"\s*(?:\{\s*(?:[^\n{}]*\n\s*)?)?(?:return|throw|raise|continue)\b")
_WRITTEN = re.compile(r"^(?:re\.compile\(\s*)?r?(?P<quote>[\"'/])(?P<text>.+)(?P=quote)\w*\)?$")


def is_plain_word(name: str, node: Node, file: SourceFile) -> bool:
    """Whether the function has left before the node where the name holds anything but words: `if (!/^\\w+$/.test(name))
    return`."""
    before = text_before(node, file) if name.isidentifier() and _may_check(file) else ""
    return any(
        found["name"] == name
        and _LEAVES.match(before, found.end()) is not None
        and _takes_words_only(found, node, file)
        for check in (_TESTED, _MATCHED)
        for found in check.finditer(before)
    )


def _may_check(file: SourceFile) -> bool:
    return any(map(file.mentions, (b".test(", b"match(")))


def _takes_words_only(found: re.Match[str], node: Node, file: SourceFile) -> bool:
    groups = found.groupdict()
    is_whole = groups.get("way") == "fullmatch"
    text = groups.get("given") or groups["pattern"]
    if text.isidentifier():
        values = known_values(text, node, file)
        text = file.text(values[0]) if len(values) == 1 else ""
    written = _WRITTEN.match(text)
    if written is None:
        return False
    pattern = written["text"]
    is_anchored = pattern.startswith("^") and pattern.endswith("$")
    if not (is_whole or is_anchored) or "|" in re.sub(r"\([^()]*\)", "", pattern):
        return False
    return _PLAIN.fullmatch(pattern.removeprefix("^").removesuffix("$")) is not None
