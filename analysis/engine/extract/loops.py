"""What changes with every round of a loop, and how many rounds a list that is written out gives."""

import re

from analysis.engine.extract.scopes import LoopDraft

LONGEST_LOOP = 10_000  # bytes of a loop that are searched for assignments

LONGEST_WAY = 4_000  # bytes before a loop in which its list may be written out

WORD = re.compile(rb"[A-Za-z_$][\w$]*")
_ASSIGNED = re.compile(
    rb"(?:^|[{;])[ \t]*(?:(?:const|let|var|final) )?(?:[\w.<>\[\]]+ )?"  # Java's type
    rb"(\w+(?:, ?\w+)*|\{[^{}=]*\}|\[[^\[\]=]*\])(?:: ?[\w\[\], .|]{1,60}?)? ?:?= ?(?!=)(.*)$"
)
_FILLED = re.compile(rb"^[ \t]*(?!self\.|this\.)(\w+)\.\w+ = ?(?!=)(.*)$")  # an object that gets its values one by one
_SIGN = re.compile(rb""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[()\[\]{},]""")
_COMPUTED = (b"...", b" for ", b"*")
_CHANGES = (b".append(", b".extend(", b".insert(", b".push(", b".unshift(", b" += ", b" = ")
_DEFINES = (b"def ", b"function ", b"=> {")


def dependents(loop: LoopDraft, source: bytes) -> frozenset[bytes]:
    """Loop variables, those of the loops around it, and what the body assigns from them, read off line by line in
    order. An over-approximation across branches."""
    if loop.dependents is None:
        names = {variable.encode() for variable in loop.variables}
        if loop.parent is not None:
            names |= dependents(loop.parent, source)
        start = loop.node.start_byte
        lines = source[start : min(loop.node.end_byte, start + LONGEST_LOOP)].split(b"\n") if names else ()
        given, level = b"", 0  # what is assigned by the lines since then, and how many of its brackets are open
        for line in lines:
            if level > 0:
                level += _open_brackets(line)
                if not names.isdisjoint(WORD.findall(line)):
                    names.update(WORD.findall(given))
            for match in _ASSIGNED.finditer(line) if b"=" in line else ():
                if not names.isdisjoint(WORD.findall(match[2])):
                    names.update(WORD.findall(match[1]))
                elif level <= 0:
                    given, level = match[1], _open_brackets(match[2])
            filled = _FILLED.match(line) if b" =" in line else None
            if filled is not None and not names.isdisjoint(WORD.findall(filled[2])):
                names.add(filled[1])
        loop.dependents = frozenset(names)
    return loop.dependents


def _open_brackets(line: bytes) -> int:
    return sum(map(line.count, (b"(", b"[", b"{"))) - sum(map(line.count, (b")", b"]", b"}")))


def listed(name: str, start: int, source: bytes) -> int:
    """How many elements the list has that the code before this byte gives a name, when they are written out there and
    stay as they are; else 0."""
    word = name.encode()
    head = source[max(0, start - LONGEST_WAY) : start]
    given = max(head.rfind(word + b" = ["), head.rfind(word + b" = ("))
    if given < 0 or head[max(0, given - 1) : given].strip():
        return 0
    level, commas, last, end = 0, 0, b"", given
    for match in _SIGN.finditer(head, given + len(word) + 3):
        if match[0] in b"([{":
            level += 1
        elif match[0] in b")]}":
            level -= 1
        elif match[0] == b"," and level == 1:
            commas += 1
        if level == 0:
            end = match.end()
            break
        last = match[0]
    rest = head[end:]
    is_kept = not any(word + change in rest for change in _CHANGES) and not any(each in rest for each in _DEFINES)
    elements = head[given + len(word) + 4 : end - 1]
    if not elements.strip() or not is_kept or any(each in elements for each in _COMPUTED):
        return 0
    return commas if last == b"," else commas + 1
