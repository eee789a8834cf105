"""Work on loaded rows that the database could have done: filters, sums and orders over their own columns."""

import re
from collections.abc import Callable, Iterator

from analysis.engine.extract.orm.steps import closing_bracket, parts_of
from analysis.engine.facts import Query
from analysis.engine.readers.row_reads import attribute, condition
from analysis.engine.readers.row_text import SOURCE

LINES_BEFORE = 12  # of a query, in which a sum begins

_ROWS = rf"{SOURCE}\)?\s*\??"
_FILTERS = frozenset({"filter", "find", "findLast", "findIndex", "some", "every", "anyMatch", "allMatch", "noneMatch"})
_TESTS = frozenset({"any", "all"})
_STREAM = rf"{SOURCE}\s*\.stream\(\)"

# Python
_COMPREHENSION = re.compile(rf"\bfor\s+(\w+)\s+in\s+{SOURCE}\s+if\s+")
_TOTAL = re.compile(rf"\b(sum|min|max|any|all)\(\s*[\[(]?\s*([^\[\]\n]+?)\s+for\s+(\w+)\s+in\s+{SOURCE}\s*[\])]")
_SORTED = re.compile(rf"(?:\b(?:sorted|min|max)\(\s*{SOURCE}\s*,|{SOURCE}\.sort\()")
_KEY = re.compile(r"\bkey\s*=\s*(?:lambda\s+(\w+)\s*:\s*|(?:\w+\.)?(?:attrgetter|itemgetter)\(\s*[\"'](\w+)[\"'])")
_PICKED = re.compile(rf"\bfilter\(\s*lambda\s+(\w+)\s*:\s*([^\n]+?),\s*{SOURCE}\s*\)")
_GROUPED = re.compile(  # each row under what one of its columns holds
    rf"\bgroupby\(\s*{SOURCE}\s*,\s*(?:key\s*=\s*)?(?:lambda\s+(\w+)\s*:\s*\1\.|(?:\w+\.)?(?:attrgetter|itemgetter)\([\"'])(\w+)"
    rf"|\bCounter\(\s*(\w+)\.(\w+)\s+for\s+\3\s+in\s+{SOURCE}\s*\)"
)
_PUT_APART = re.compile(
    r"\s*\w+(?:\[(\w+)\.(\w+)\]|\.setdefault\((\w+)\.(\w+),\s*(?:\[\]|list\(\))\))\.append\((\w+)\)\s*\Z"
)
_PYTHON_LOOP = re.compile(rf"^([ \t]*)for\s+(\w+)\s+in\s+{SOURCE}:[ \t]*\n", re.MULTILINE)
_PYTHON_IF = re.compile(r"\s*if\s+([^\n]+):[ \t]*\n")
# Languages with braces
_ROUNDS = re.compile(r"\bfor\s*(?:await\s*)?\(|\.(?:map|flatMap|forEach|filter|find|some|every|reduce)\(")
_BODY = re.compile(r"\)\s*\{")
_CALLBACK = re.compile(rf"{_ROWS}\.(\w+)\(")
_ARROW = re.compile(r"\s*\(?\s*(?:(\w+)(?:\s*:[^=()]*)?|\{([\w\s,]+)\}[^=()]*)\)?\s*=>\s*")
_REDUCER = re.compile(r"\s*\(\s*(\w+)[^,()]*,\s*(\w+)[^()]*\)\s*(?::\s*\w+\s*)?=>\s*")
_COMPARER = re.compile(r"\s*\(\s*(\w+)[^,()]*,\s*(\w+)[^()]*\)\s*=>\s*")
_ONLY_RETURNED = re.compile(r"\s*\{\s*return\s+([^;{}]+);?\s*\}\s*\Z")
BRACE_LOOP = re.compile(
    r"\bfor\s*\(?\s*(?:_,\s*|(?:const|let|var|final)\s+|[A-Z][\w<>]*\s+)*(\w+)\s*(?::=\s*range|\bof\b|:)\s*"
    rf"{SOURCE}\s*\)?[ \t]*(\{{|(?=\w))"
)
_BRACE_IF = re.compile(r"\s*if\b\s*")
_SKIPS = re.compile(r"\{?\s*continue\s*;?\s*\}?")
_GO_ORDER = re.compile(
    rf"\bsort\.Slice(?:Stable)?\({SOURCE},\s*func\((\w+), \w+ int\) bool \{{\s*return\s+{SOURCE}\[\1\]\.(\w+)"
    rf"(?:\s*[<>]|\.(?:Before|After|Cmp|Compare|LessThan|GreaterThan)\()\s*{SOURCE}\[\w+\]\.\2\b"
)
_ADDED = re.compile(r"\s*(\w+)\s*(?:\+=\s*([^\n;]+)|=\s*\1\s*\+\s*([^\n;]+)|=\s*\1\.add\((.+)\));?\s*\Z")
# Numbers that a map keeps for each value of a column: `votes[row.Genre] += row.Votes`, `count[row.Genre]++`.
_COUNTED_APART = re.compile(r"\s*\w+\[((\w+)\.\w+)\]\s*(?:\+\+|\+=\s*(?:1|(\2\.\w+)));?\s*\Z")
_NUMBER = r"\b{}\b(?:\s*:\s*\w+)?(?:\s*:?=\s*(?:-?\d|BigDecimal\.ZERO|Decimal\()|\s+u?(?:int|float)\d*\b)"
# The same in a `Map` of a script: `counts.set(row.team, (counts.get(row.team) ?? 0) + 1)`, also by a name for the key.
_COUNTED_IN_MAP = re.compile(
    r"\s*(?:(?:const|let|var)\s+(\w+)(?:\s*:\s*\w+)?\s*=\s*([^\n;]+);?\s*)?(\w+)\.set\(\s*([^\n]+?)\s*,"
    r"\s*\(\s*\3\.get\(\s*\4\s*\)\s*(?:\?\?|\|\|)\s*0\s*\)\s*\+\s*(?:1|(\w+\.\w+))\s*\);?\s*\Z"
)
# And in one of Java: `counts.merge(row.getTeam(), 1, Integer::sum)`.
_MERGED = re.compile(
    r"\s*\w+\.merge\(\s*([^\n]+?)\s*,\s*(?:1L?|(\w+\.\w+\(\)))\s*,\s*(?:Integer|Long)::sum\s*\);?\s*\Z"
)
# The first few of all rows
_SLICE = re.compile(rf"{SOURCE}\)?\[:\s*\w+\s*\]")
_LIMITED = re.compile(rf"{_STREAM}\s*\.limit\(|{SOURCE}\s*\.subList\(\s*0\s*,")
_CUT_TO = re.compile(rf"\b\w+\s*=\s*{SOURCE}\[:")  # of Go: `rows = rows[:10]`
_SORT_STEP = re.compile(r"\s*\.(?:sort|toSorted)\(")
_FIRST_FEW = re.compile(r"\s*\.slice\(\s*0\s*,")
# Streams of Java
_LAMBDA = re.compile(r"\s*\(?(\w+)\)?\s*->\s*([^\n{}]+)$|\s*\w+::(\w+)$")
_GETS = re.compile(r"\b(\w+)\s*->\s*\1\.(\w+)\(\)(?=\s*[,)])")  # what may be written `Order::getTotal`
_JAVA_WORK = (
    ("sum", re.compile(rf"{_STREAM}\s*\.mapTo\w+\(\s*\w+::(\w+)\s*\)\s*\.(?:sum|max|min|average)\(\)")),
    ("sum", re.compile(rf"{_STREAM}\s*\.map\(\s*\w+::(\w+)\s*\)\s*\.reduce\(")),
    (
        "sort",
        re.compile(
            rf"(?:{_STREAM}\s*\.(?:sorted|max|min)|{SOURCE}\.sort)\(\s*(?:Comparator\.)?comparing\w*\(\s*\w+::(\w+)"
        ),
    ),
    ("group", re.compile(rf"{_STREAM}\s*\.collect\(\s*(?:Collectors\.)?(?:grouping|partitioning)By\(\s*\w+::(\w+)")),
)


def kept_by(text: str, query: Query, lines: list[str], language: str) -> str:
    """What the code does with all rows of a query, when that is all it does: `filter is_paid`. Empty when it does
    more, or calls functions on the way. `text` is that of the function, see `row_text`."""
    is_behind = bool(query.variable)  # the text, which else begins before the query
    if text.count(SOURCE) == 1 and not (is_behind and _is_in_rounds(text.find(SOURCE), text)):
        if query.terminal and (cut := _cut(text, language)):
            return cut
        before = "\n".join(lines[max(0, query.line - LINES_BEFORE) : query.line]) + text[: text.find(SOURCE)]
        return next(filter(None, _LOOKS.get(language, _of_script)(text, before)), "")
    ordered = next(filter(None, _orders(text, query.variable, language)), "")
    is_cut = ordered and language == "go" and _CUT_TO.search(text) is not None
    return f"slice{ordered.removeprefix('sort')}" if is_cut else ordered


def _is_in_rounds(place: int, text: str) -> bool:
    """Whether what stands here is done once for each row of something else: then it only looks rows up."""
    for head in _ROUNDS.finditer(text, 0, place):
        start, end = head.end(), closing_bracket(text, head.end())
        if head[0].startswith("for"):
            body = _BODY.match(text, end)
            start, end = (body.end(), closing_bracket(text, body.end())) if body is not None else (end, end)
        if start <= place < end:
            return True
    return False


def _cut(text: str, language: str) -> str:
    """`slice` where the program takes the first few of all rows, with the columns that it orders them by before."""
    if language == "python":
        return "slice" if _SLICE.search(text) is not None else ""
    if language == "java":
        return "slice" if _LIMITED.search(text) is not None else ""
    sliced = re.search(_ROWS, text) if language != "go" else None
    end = sliced.end() if sliced is not None else len(text)
    while (step := _SORT_STEP.match(text, end)) is not None:
        end = closing_bracket(text, step.end()) + 1
    if sliced is None or _FIRST_FEW.match(text, end) is None:
        return ""
    ordered = next(_orders(text, "", language), "").removeprefix("sort")
    return f"slice{ordered}" if bool(ordered) == (end > sliced.end()) else ""


def _of_python(text: str, before: str) -> Iterator[str]:
    if (match := _COMPREHENSION.search(text)) is not None:
        yield condition(match[1], text[match.end() : closing_bracket(text, match.end())], "filter", "python")
    yield from _orders(text, "", "python")
    if (match := _PICKED.search(text)) is not None:
        yield condition(match[1], match[2], "filter", "python")
    if (match := _GROUPED.search(text)) is not None:
        yield f"group {match[2] or match[4]}"
    if (match := _TOTAL.search(text)) is not None:
        yield condition(match[3], match[2], "filter" if match[1] in _TESTS else "sum", "python")
    if (loop := _PYTHON_LOOP.search(text)) is not None:
        body = indented(text[loop.end() :], len(loop[1]))
        tested = _PYTHON_IF.match(body)
        inner = indented(body[tested.end() :], blanks_before(body)) if tested is not None else ""
        if tested is not None and (not body[tested.end() + len(inner) :].strip() or inner.strip() == "continue"):
            yield condition(loop[2], tested[1], "filter", "python")
        if (apart := _PUT_APART.match(body)) is not None and {apart[1] or apart[3], apart[5]} == {loop[2]}:
            yield f"group {apart[2] or apart[4]}"
        yield _added(loop[2], body, before, "python")


def _of_script(text: str, before: str) -> Iterator[str]:
    called = _CALLBACK.search(text)
    if called is not None:
        given = text[called.end() : closing_bracket(text, called.end())]
        if called[1] in _FILTERS:
            yield _of_arrow(given)
        elif called[1] == "reduce":
            yield _of_reducer(given)
        elif called[1] == "forEach" and (arrow := _ARROW.match(given)) is not None and arrow[1]:
            yield from _of_body(arrow[1], given[arrow.end() :].strip().removeprefix("{").removesuffix("}"), before, "")
    yield from _orders(text, "", "")
    yield from _of_loop(text, before, "")


def _of_go(text: str, before: str) -> Iterator[str]:
    yield from _of_loop(text, before, "go")


def _of_java(text: str, before: str) -> Iterator[str]:
    """Of streams, where getters stand for attributes."""
    text = _GETS.sub(r"Row::\2", text)
    called = re.search(rf"{_STREAM}\s*\.(?:filter|anyMatch|allMatch|noneMatch)\(", text)
    if called is not None:
        match = _LAMBDA.match(text[called.end() : closing_bracket(text, called.end())].rstrip())
        if match is not None:
            yield f"filter {attribute(match[3])}" if match[3] else condition(match[1], match[2], "filter", "java")
        return
    yield from _of_loop(text, before, "java")
    for work, pattern in _JAVA_WORK:
        if (match := pattern.search(text)) is not None:
            yield f"{work} {attribute(match[1])}"


_LOOKS: dict[str, Callable[[str, str], Iterator[str]]] = {"python": _of_python, "go": _of_go, "java": _of_java}


def _of_arrow(given: str) -> str:
    """The condition of a callback, also of one that takes its row apart: `({ total }) => total > 5`."""
    arrow = _ARROW.match(given)
    if arrow is None:
        return ""
    body = _expression(given[arrow.end() :])
    if arrow[1]:
        return condition(arrow[1], body, "filter", "")
    names = [name.strip() for name in (arrow[2] or "").split(",")]
    return condition("row", re.sub(rf"(?<![\w.])({'|'.join(names)})\b", r"row.\1", body), "filter", "")


def _of_reducer(given: str) -> str:
    parts = parts_of(given)
    arrow = _REDUCER.match(parts[0]) if parts else None
    return condition(arrow[2], _expression(parts[0][arrow.end() :]), "sum", "") if arrow is not None else ""


def _expression(body: str) -> str:
    """What an arrow function gives back, when it does nothing else."""
    returned = _ONLY_RETURNED.match(body)
    return returned[1] if returned is not None else body


def _orders(text: str, variable: str, language: str) -> Iterator[str]:
    """The order that the program brings the rows into; they may be used further then."""
    if language == "go":
        yield from (f"sort {condition('r', f'r.{match[2]}', '', 'go').strip()}" for match in _GO_ORDER.finditer(text))
    elif language == "java":
        yield from (f"sort {attribute(match[1])}" for match in _JAVA_WORK[2][1].finditer(_GETS.sub(r"Row::\2", text)))
    elif language == "python":
        yield from _python_orders(text, variable)
    else:
        match = re.search(rf"{_ROWS}\.(?:sort|toSorted)\(", text)
        comparer = _COMPARER.match(text, match.end()) if match is not None else None
        if comparer is not None:
            body = _expression(text[comparer.end() : closing_bracket(text, comparer.end())])
            sides = [condition(row, body, "sort", "") for row in comparer.groups()]
            yield sides[0] if sides[0] == sides[1] else ""


def _python_orders(text: str, variable: str) -> Iterator[str]:
    """`sorted(rows, key=…)`, `rows.sort(key=…)`."""
    match = _SORTED.search(text)
    if match is None or (variable and f"{variable} = sorted({SOURCE}" not in text and ".sort(" not in match[0]):
        return
    key = _KEY.search(text, match.end(), closing_bracket(text, match.end()))
    if key is not None and key[2]:
        yield f"sort {key[2]}"
    elif key is not None:
        parts = parts_of(text[key.end() : closing_bracket(text, key.end())])
        yield condition(key[1], parts[0] if parts else "", "sort", "python")


def _of_loop(text: str, before: str, language: str) -> Iterator[str]:
    loop = BRACE_LOOP.search(text)
    if loop is not None:
        yield from _of_body(loop[1], body_of(loop, text), before, language)


def body_of(loop: re.Match[str], text: str) -> str:
    """What a loop does in each round: its block, or the statement behind its head."""
    return text[loop.end() : closing_bracket(text, loop.end()) if loop[2] else (text + "\n").find("\n", loop.end())]


def _of_body(row: str, body: str, before: str, language: str) -> Iterator[str]:
    """What the body of a loop does, when it only tests its row, leaves rows out, or adds up."""
    tested = _BRACE_IF.match(body)
    if tested is not None:
        is_bracketed = body[tested.end() : tested.end() + 1] == "(" and language != "go"
        end = closing_bracket(body, tested.end() + 1) if is_bracketed else body.find("{", tested.end())
        asked = body[tested.end() + is_bracketed : end]
        rest = body[end + is_bracketed :].lstrip()
        inner = closing_bracket(rest, 1) + 1 if rest.startswith("{") else 0
        skips = _SKIPS.match(rest)
        if skips is not None or (inner and not rest[inner:].strip()):
            yield condition(row, asked, "filter", language)
    elif (apart := _COUNTED_APART.match(body)) is not None and apart[2] == row:
        yield condition(row, f"{apart[1]} {apart[3] or ''}", "group", language)
    elif language == "java" and (merged := _MERGED.match(body)) is not None:
        yield condition(row, f"{merged[1]} {merged[2] or ''}", "group", language)
    elif not language and (counted := _COUNTED_IN_MAP.match(body)) is not None:
        key = counted[2] if counted[1] == counted[4] else counted[4]
        yield condition(row, f"{key} {counted[5] or ''}", "group", language)
    else:
        yield _added(row, body, before, language)


def _added(row: str, body: str, before: str, language: str) -> str:
    """The attributes that a loop adds up, when it does nothing else and begins with a number."""
    added = _ADDED.match(body)
    if added is None or re.search(_NUMBER.format(re.escape(added[1])), before) is None:
        return ""
    return condition(row, added[2] or added[3] or added[4], "sum", language)


def blanks_before(text: str) -> int:
    """How far in the first line of a text begins."""
    return len(text) - len(text.lstrip(" \t"))


def indented(text: str, indent: int) -> str:
    """The lines at the start of a text that stand deeper than this."""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.strip() and blanks_before(line) <= indent:
            break
        lines.append(line)
    return "".join(lines)
