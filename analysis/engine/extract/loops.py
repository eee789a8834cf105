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
_WRITTEN = re.compile(  # what opens a list that is written out: `[`, `(`, `[]string{`, `List.of(`, `new String[] {`
    rb"\[\d*(?:\.\.\.)?\][\w.*]+\{|new \w+\[\]\s*\{|\[|\("
    rb"|(?:List|Set|Arrays|Stream|IntStream|ImmutableList|ImmutableSet)\.(?:of|asList)\("
)
_GIVEN = re.compile(rb" :?= ")
# A number of elements that is written out, by itself or as the most of what there is: `min(len(ids), 10)`.
_FIRST = rb"\s*(?:(\d{1,2})|(?:Math\.)?min\(\s*(?:(\d{1,2})\s*,[^;\n]*?|[^;\n]*?,\s*(\d{1,2})\s*)\))\s*"
# The first few of a list: `rows.slice(0, 5)`, `rows.subList(0, 5)`, `rows[:5]`.
_CUT = re.compile(rb"[^\n;]*?(?:\.(?:slice|subList)\(\s*0\s*,%s\)|\[0?:%s\])[ \t]*;?[ \t]*(?:\n|\Z)" % (_FIRST, _FIRST))
_GROUPED = re.compile(rb"\((\s*(?:\[|new ).*)\)", re.DOTALL)  # brackets around a list: `(["a", "b"] as const)`
_SIGN = re.compile(rb""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[()\[\]{},]""")
_COMPUTED = (b"...", b" for ", b"*")
_CHANGES = (b".append(", b".add(", b".extend(", b".insert(", b".push(", b".unshift(", b" += ", b" = ")
_DEFINES = (b"def ", b"function ", b"=> {")

# The head of a `while` that goes through a list by its index, `i < rows.size()`, or through what has a next element.
_BY_INDEX = re.compile(r"\(?\s*(\w+)\s*<\s*(?:len\([\w.]+\)|[\w.]+\.(?:size\(\)|length))\s*\)?")
_BY_NEXT = re.compile(r"\(?\s*(?:[\w.]+\.)?(\w+)\.(?:Next|next|hasNext)\(\)\s*\)?")
_STEPS = rb"\b%s\s*(?:\+\+|\+= ?1\b)|\+\+%s\b"
# What a cursor of Go puts the columns of a row into: `rows.Scan(&id, &name)`.
_SCANNED = re.compile(rb"\b(\w+)\.(?:Struct)?Scan\(([^()\n]*)\)")


def walked(loop: LoopDraft, source: bytes) -> tuple[str, ...]:
    """What a `while` loop changes in each round, when it goes through all elements of something: its index or its
    cursor. Empty for any other."""
    counted = _BY_INDEX.fullmatch(loop.iterable)
    if counted is not None:
        start = loop.node.start_byte
        body = source[start : min(loop.node.end_byte, start + LONGEST_LOOP)]
        name = re.escape(counted[1].encode())
        return (counted[1],) if re.search(_STEPS % (name, name), body) is not None else ()
    cursor = _BY_NEXT.fullmatch(loop.iterable)
    return (cursor[1],) if cursor is not None else ()


def dependents(loop: LoopDraft, source: bytes) -> frozenset[bytes]:
    """Loop variables, those of the loops around it, and what the body assigns from them, read off line by line in
    order. An over-approximation across branches."""
    if loop.dependents is None:
        names = {variable.encode() for variable in loop.variables}
        if loop.parent is not None:
            names |= dependents(loop.parent, source)
        if names:
            start = loop.node.start_byte
            _add_assigned(names, source[start : min(loop.node.end_byte, start + LONGEST_LOOP)])
        loop.dependents = frozenset(names)
    return loop.dependents


def _add_assigned(names: set[bytes], body: bytes) -> None:
    """Add what the lines of a body assign from the names, and from what they have assigned before."""
    given, level = b"", 0  # what is assigned by the lines since then, and how many of its brackets are open
    for line in body.split(b"\n"):
        if level > 0:
            level += _open_brackets(line)
            if not names.isdisjoint(WORD.findall(line)):
                names.update(WORD.findall(given))
        if b"Scan(&" in line:
            names.update(*(WORD.findall(each[2]) for each in _SCANNED.finditer(line) if each[1] in names))
        if b"=" not in line:
            continue
        for match in _ASSIGNED.finditer(line):
            if not names.isdisjoint(WORD.findall(match[2])):
                names.update(WORD.findall(match[1]))
            elif level <= 0:
                given, level = match[1], _open_brackets(match[2])
        filled = _FILLED.match(line) if b" =" in line else None
        if filled is not None and not names.isdisjoint(WORD.findall(filled[2])):
            names.add(filled[1])


def _open_brackets(line: bytes) -> int:
    return sum(map(line.count, (b"(", b"[", b"{"))) - sum(map(line.count, (b")", b"]", b"}")))


_WRITTEN_ENDS = (b"", b".stream()", b" as const")  # behind a list that is written out


def bound_of(iterable: str, start: int, source: bytes) -> int:
    """How many elements the iterable of a loop that begins at this byte has, when they are written out there or, for a
    name, before it; else 0."""
    return _listed(iterable, start, source) if iterable.isidentifier() else _written_out(iterable)


def _listed(name: str, start: int, source: bytes) -> int:
    """How many elements the list has that the code before this byte gives a name, when they are written out there and
    stay as they are; else 0."""
    word = name.encode()
    head = source[max(0, start - LONGEST_WAY) : start]
    found = head.rfind(word + b" ")
    while found >= 0:
        given = _GIVEN.match(head, found + len(word))
        cut = _CUT.match(head, given.end()) if given is not None else None
        if cut is not None:
            return int(cut[cut.lastindex or 0])
        opened = _WRITTEN.match(head, given.end()) if given is not None else None
        if opened is not None and not head[max(0, found - 1) : found].strip():
            count, end = _elements(head, opened)
            rest = head[end:]
            changes = (*(word + change for change in _CHANGES), *_DEFINES)
            return 0 if any(map(rest.__contains__, changes)) else count
        found = head.rfind(word + b" ", 0, found)
    return 0


def _written_out(iterable: str) -> int:
    """How many elements a list has that stands in the head of its loop: `[]string{"EUR", "USD"}`; 0 when it is none, or
    its text is cut off."""
    text = iterable.encode()
    while (grouped := _GROUPED.fullmatch(text)) is not None:
        text = grouped[1]
    cut = _CUT.match(text)
    if cut is not None:
        return int(cut[cut.lastindex or 0])
    opened = _WRITTEN.match(text)
    if opened is None:
        return 0
    count, end = _elements(text, opened)
    return count if text[end:] in _WRITTEN_ENDS else 0


def _elements(text: bytes, opened: re.Match[bytes]) -> tuple[int, int]:
    """How many elements stand in the bracket that the match opens, and where it closes. None are counted where some of
    them are computed; brackets around one thing only group it."""
    level, commas = 1, 0
    for match in _SIGN.finditer(text, opened.end()):
        if match[0] in b"([{":
            level += 1
        elif match[0] in b")]}":
            level -= 1
        elif match[0] == b"," and level == 1:
            commas += 1
        if level == 0:
            elements = text[opened.end() : match.start()]
            is_list = elements.strip() and not any(map(elements.__contains__, _COMPUTED))
            is_list = is_list and (commas > 0 or opened[0] != b"(")
            return (commas + (not elements.rstrip().endswith(b",")) if is_list else 0), match.end()
    return 0, len(text)
