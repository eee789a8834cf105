"""What changes with every round of a loop."""

import re

from analysis.engine.extract.scopes import LoopDraft

LONGEST_LOOP = 10_000  # bytes of a loop that are searched for assignments

WORD = re.compile(rb"[A-Za-z_$][\w$]*")
_ASSIGNED = re.compile(
    rb"(?:^|[{;])[ \t]*(?:(?:const|let|var|final) )?(?:[\w.<>\[\]]+ )?"  # Java's type
    rb"(\w+(?:, ?\w+)*)(?:: ?[\w\[\], .|]{1,60}?)? ?:?= ?(?!=)(.*)$"
)


def dependents(loop: LoopDraft, source: bytes) -> frozenset[bytes]:
    """Loop variables, those of the loops around it, and what the body assigns from them, read off line by line in
    order. An over-approximation across branches."""
    if loop.dependents is None:
        names = {variable.encode() for variable in loop.variables}
        if loop.parent is not None:
            names |= dependents(loop.parent, source)
        start = loop.node.start_byte
        lines = source[start : min(loop.node.end_byte, start + LONGEST_LOOP)].split(b"\n") if names else ()
        for line in lines:
            for match in _ASSIGNED.finditer(line) if b"=" in line else ():
                if not names.isdisjoint(WORD.findall(match[2])):
                    names.update(WORD.findall(match[1]))
        loop.dependents = frozenset(names)
    return loop.dependents
