"""Inline suppressions: `debt: ignore[rule-id] reason` and `debt: ignore-file[rule-id] reason` (rules.md 1.6)."""

import re

from analysis.engine.extract.text import Lines
from analysis.engine.facts import Suppression

FILE_WINDOW = 30  # lines in which `ignore-file` counts
LONGEST_REASON = 200  # characters

_SUPPRESSION = re.compile(rb"\bdebt:\s*ignore(-file)?\s*\[([\w\s,.-]+)\][ \t]*([^\r\n]*)")
_COMMENT_END = re.compile(r"\s*(\*/|-->|\*/\s*\})\s*$")
_COMMENT_START = re.compile(rb"(#|//|/\*|--|<!--|^\s*\*)")


def suppressions(
    source: bytes, lines: Lines, comments: list[tuple[int, int]] | None
) -> tuple[tuple[Suppression, ...], tuple[int, ...]]:
    """Suppressions with a reason, and the lines of those without one.

    `comments` are byte ranges of the comments, in order; None when the file was not parsed, where a comment sign
    before the words on the same line is enough.
    """
    if b"debt:" not in source:
        return (), ()
    found: list[Suppression] = []
    unreasoned: list[int] = []
    for match in _SUPPRESSION.finditer(source):
        if not _is_comment(source, match.start(), lines, comments):
            continue
        line = lines.of(match.start())
        reason = _COMMENT_END.sub("", match[3].decode("utf-8", "replace")).strip(" \t:-")
        rules = tuple(name for part in match[2].decode().split(",") if (name := part.strip()))
        if not reason:
            unreasoned.append(line)
        elif not match[1]:
            covered = line if lines.has_code[line - 1] else lines.next_code(line)
            found.append(Suppression(covered, rules, reason[:LONGEST_REASON]))
        elif line <= FILE_WINDOW:
            found.append(Suppression(0, rules, reason[:LONGEST_REASON]))
    return tuple(found), tuple(unreasoned)


def _is_comment(source: bytes, position: int, lines: Lines, comments: list[tuple[int, int]] | None) -> bool:
    if comments is not None:
        return any(start <= position < end for start, end in comments)
    return bool(_COMMENT_START.search(source[lines.starts[lines.of(position) - 1] : position]))
