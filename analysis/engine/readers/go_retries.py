"""What a loop of Go tries again and again."""

import re

_FAILED = re.compile(r"\bif\s+(?:[^{\n]*;\s*)?\w*[eE]rr\s*!=\s*nil\s*\{([^{}]*)\}")
_WHILE_IT_FAILS = re.compile(r"for\s+\w*[eE]rr\s*!=\s*nil\s*\{")
_INNER_LOOP = re.compile(r"\bfor\b[^\n]*\{")
_WORKED = re.compile(r"\bif\s+(?:[^{\n]*;\s*)?\w*[eE]rr\s*==\s*nil\s*\{[^{}]*\b(?:return|break)\b[^{}]*\}")
_LEAVES = re.compile(r"\b(return|break|panic|exit)\b")


def go_try(text: str) -> str | None:
    """What comes before an `if err != nil` of the loop that only goes on; all of a loop that asks so in its head. None
    where the loop tries nothing again."""
    if _WHILE_IT_FAILS.match(text):
        return text
    for found in _FAILED.finditer(text):
        if _is_in_inner_loop(text, found.start()):
            continue
        if not _LEAVES.search(found[1]) and ("continue" in found[1] or "Sleep" in found[1]):
            return text[: found.end()]
    worked = _WORKED.search(text)
    return text[: worked.end()] if worked is not None and not _LEAVES.search(text, worked.end()) else None


def _is_in_inner_loop(text: str, position: int) -> bool:
    """Whether a place in a loop stands in another loop of it, which goes on with its next row."""
    return any(
        text.count("{", inner.start(), position) > text.count("}", inner.start(), position)
        for inner in _INNER_LOOP.finditer(text, 1, position)
    )
