"""Work on loaded rows that the database could have done: filters, sums and orders over their own columns."""

import re
from collections.abc import Iterator

from analysis.engine.extract.orm.gorm import snake
from analysis.engine.extract.orm.steps import closing_bracket
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Query
from analysis.engine.queries import LOADED_AT_ONCE
from analysis.engine.rules.reading import followed

LONGEST_CALL = 12  # lines of a call that runs a query, with what is done behind it
LONGEST_READ = 20_000  # characters of a function
LONGEST_WORK = 2_000  # characters behind a query in which its only use must lie

_SOURCE = "§"  # stands for the rows in the text that is read
_COMPREHENSION = re.compile(rf"\bfor\s+(\w+)\s+in\s+{_SOURCE}\s+if\s+([^\n\])}}]+)")
_TOTAL = re.compile(rf"\b(sum|min|max|any|all)\(\s*[\[(]?\s*([^\[\]()\n]+?)\s+for\s+(\w+)\s+in\s+{_SOURCE}\s*[\])]")
_ORDER = re.compile(
    rf"(?:\b(?:sorted|min|max)\(\s*{_SOURCE}\s*,|{_SOURCE}\.sort\()\s*key\s*=\s*"
    r"(?:lambda\s+(\w+)\s*:\s*\1\.(\w+)|(?:operator\.)?attrgetter\(\s*[\"'](\w+)[\"']\s*\))\s*[,)]"
)
_SCRIPT_FILTER = re.compile(
    rf"{_SOURCE}\)?\s*\.(filter|find|some|every)\(\s*\(?(\w+)\)?\s*=>\s*([^\n{{}}]+?),?\s*\)\s*[;,.)\]?]"
)
_SCRIPT_ORDER = re.compile(
    rf"{_SOURCE}\)?\s*\.(?:sort|toSorted)\(\s*\(\s*(\w+),\s*(\w+)\s*\)\s*=>\s*"
    r"(?:\1|\2)\.(\w+)(?:\.getTime\(\)|\.valueOf\(\))?(?:\s*-\s*|\.localeCompare\(\s*)(?:\1|\2)\.\3\b"
)
_SCRIPT_TOTAL = re.compile(
    rf"{_SOURCE}\)?\s*\.reduce\(\s*\(\s*(\w+),\s*(\w+)\s*\)\s*=>\s*\1\s*\+\s*([^\n{{}}]+?),\s*[\w.]+,?\s*\)"
)
_LOOP = re.compile(  # with nothing but a condition in it
    rf"\bfor\s*\(?\s*(?:_,\s*|(?:const|let|var|final)\s+|[A-Z][\w<>]*\s+)*(\w+)\s*(?::=\s*range|\bof\b|:)\s*{_SOURCE}"
    r"\s*\)?\s*\{\s*if\s*([^\n{}]+?)\s*\{[^{}]*\}\s*\}"
)
_PYTHON_LOOP = re.compile(
    rf"\bfor\s+(\w+)\s+in\s+{_SOURCE}:\n([ \t]+)if\s+([^\n]+):\n(?:\2[ \t][^\n]*(?:\n|\Z)|\n)++(?!\2\S)"
)
_STREAM = rf"{_SOURCE}\s*\.stream\(\)\s*\."
_JAVA_FILTER = re.compile(rf"{_STREAM}(?:filter|anyMatch|allMatch|noneMatch)\(")
_LAMBDA = re.compile(r"\s*\(?(\w+)\)?\s*->\s*([^\n{}]+)$|\s*\w+::(\w+)$")
_COMPARES = re.compile(r"\.(?:equals|equalsIgnoreCase|compareTo|isAfter|isBefore)\(([^()]*)(?:\(\))?\)")
_GETS = re.compile(r"\b(\w+)\s*->\s*\1\.(\w+)\(\)(?=\s*[,)])")  # what may be written `Order::getTotal`
_JAVA_WORK = (
    ("sum", re.compile(rf"{_STREAM}mapTo\w+\(\s*\w+::(\w+)\s*\)\s*\.(?:sum|max|min|average)\(\)")),
    ("sum", re.compile(rf"{_STREAM}map\(\s*\w+::(\w+)\s*\)\s*\.reduce\(")),
    (
        "sort",
        re.compile(
            rf"(?:{_STREAM}(?:sorted|max|min)|{_SOURCE}\.sort)\(\s*(?:Comparator\.)?comparing\w*\(\s*\w+::(\w+)"
        ),
    ),
    ("group", re.compile(rf"{_STREAM}collect\(\s*(?:Collectors\.)?(?:grouping|partitioning)By\(\s*\w+::(\w+)")),
)
_GETTER = re.compile(r"(?<![\w.])(\w+)\.(?:get|is)([A-Z])(\w*)\(\)")
_CHAIN_START = re.compile(r"[\w.$]+(?:\([^()]*\)\s*\.?[\w.$]*)*\Z")
_READ = re.compile(r"\b(?!\s*=[^=])")
_PLAIN = re.compile(r"[\w.\s=!<>&|'\"*/+-]*|(?:\band\b|\bor\b|\bnot\b|\bis\b)")


def kept_by(query: Query, lines: list[str], file: SourceFile) -> str:
    """What the code does with all rows of a query, when that is all it does: `filter is_paid`. Empty when it does
    more, or calls functions on the way."""
    text = _marked(query, lines, file)
    if text.count(_SOURCE) != 1:
        return ""
    if (match := _COMPREHENSION.search(text)) is not None:
        return _condition(match[1], match[2])
    if (ordered := _ordered(text)) or f"{_SOURCE}.sort(" in text or file.language == "java":
        return ordered or _java_work(text)
    if (match := _TOTAL.search(text)) is not None:
        return _condition(match[3], match[2], "filter" if match[1] in ("any", "all") else "sum")
    if (match := _SCRIPT_FILTER.search(text)) is not None:
        return _condition(match[2], match[3])
    if (match := _SCRIPT_TOTAL.search(text)) is not None:
        return _condition(match[2], match[3], "sum")
    if (match := _PYTHON_LOOP.search(text)) is not None:
        return _condition(match[1], match[3])
    if (match := _LOOP.search(text)) is not None:
        kept = _condition(match[1], _bare(match[2]))
        return " ".join(map(snake, kept.split())) if file.language == "go" else kept
    return ""


def _ordered(text: str) -> str:
    """The order that the program brings the rows into."""
    if (match := _ORDER.search(text)) is not None:
        return f"sort {match[2] or match[3]}"
    match = _SCRIPT_ORDER.search(text) or _JAVA_WORK[2][1].search(_GETS.sub(r"Row::\2", text))
    return f"sort {_attribute(match[match.re.groups])}" if match is not None else ""


def _bare(condition: str) -> str:
    return condition[1:-1] if condition[:1] == "(" and condition[-1:] == ")" else condition


def taken_by(query: Query, lines: list[str], file: SourceFile) -> str:
    """The attributes that loops over a query's rows read of them, when nothing else is done with the rows. Empty when
    a row goes anywhere as a whole."""
    if not query.variable or file.functions[query.function].index == 0:
        return ""
    node = file.functions[query.function].node
    last = file.lines.of(max(node.start_byte, node.end_byte - 1))
    after = "\n".join(lines[query.line : last])[:LONGEST_READ]
    loops = [
        loop
        for loop in file.loops
        if loop.function == query.function
        and loop.iterable == query.variable
        and file.lines.of(loop.node.start_byte) > query.line
    ]
    uses = sum(1 for _ in _uses(query.variable, after))
    if not loops or uses != len(loops):
        return ""
    found: dict[str, None] = {}
    for loop in loops:
        row = loop.variables[-1] if loop.variables else ""
        start = loop.node.start_byte if loop.kind == "comprehension" else loop.head_end or loop.node.start_byte
        text = file.source[start : loop.node.end_byte].decode("utf-8", "replace")
        for match in re.finditer(rf"(?<![\w.]){re.escape(row)}\b(?:\s*\.\s*(\w+)(\()?)?", text) if row else ():
            if not match[1] or (match[2] and not match[1].startswith(("get", "is"))):
                if match.start() > 0 and not re.match(r"\s+(?:in|of)\b", text[match.end() :]):
                    return ""
                continue
            found[_attribute(match[1]) if match[2] else match[1]] = None
    return " ".join(found)


def _java_work(text: str) -> str:
    """Of streams, where getters stand for attributes."""
    text = _GETS.sub(r"Row::\2", text)
    if (called := _JAVA_FILTER.search(text)) is not None:
        match = _LAMBDA.match(text[called.end() : closing_bracket(text, called.end())].rstrip())
        if match is None or match[3]:
            return f"filter {_attribute(match[3])}" if match is not None else ""
        return _java_condition(match[1], match[2])
    if (match := _LOOP.search(text)) is not None:
        return _java_condition(match[1], _bare(match[2]))
    found = ((work, pattern.search(text)) for work, pattern in _JAVA_WORK)
    return next((f"{work} {_attribute(match[1])}" for work, match in found if match is not None), "")


def _java_condition(row: str, text: str) -> str:
    condition = _GETTER.sub(lambda getter: f"{getter[1]}.{getter[2].lower()}{getter[3]}", text)
    return _condition(row, _COMPARES.sub(r" == \1", condition))


def _attribute(getter: str) -> str:
    name = re.sub(r"^(?:get|is)(?=[A-Z])", "", getter)
    return name[:1].lower() + name[1:]


def _marked(query: Query, lines: list[str], file: SourceFile) -> str:
    """The text around the query, or after it where a variable holds the rows, with the sign in place of the rows."""
    if not query.variable:
        text = "\n".join(lines[max(0, query.line - 3) : query.line + 6])
        if query.orm in LOADED_AT_ONCE or query.orm == "class":
            return _marked_call(query, "\n".join(lines[query.line - 1 : query.line + LONGEST_CALL]))
        return re.sub(
            r"(?<!\.)(?:\(?await\s+)?\b\w+\.(?:objects|query|\w+\.findMany)\b[^\n]*?\(\)(?:\.all\(\))?",
            _SOURCE,
            text,
            count=1,
        )
    node = file.functions[query.function].node
    last = file.lines.of(max(node.start_byte, node.end_byte - 1))
    after = "\n".join(lines[query.line : last])
    uses = list(_uses(query.variable, after))
    if not uses:
        return ""
    start, end = uses[0]
    text = (after[:start] + _SOURCE + after[end:])[: start + LONGEST_WORK]
    is_alone = len(uses) == 1 or f"{_SOURCE}.sort(" in text or f"{query.variable} = sorted({_SOURCE}" in text
    return text if is_alone else ""


def _marked_call(query: Query, text: str) -> str:
    """The text with the sign in place of the call that runs the query, and of the `(await …)` around it."""
    call = re.search(rf"\.\s*{re.escape(query.terminal)}\s*\(", text)
    if call is None:
        return ""
    end = closing_bracket(text, call.end()) + 1
    awaited = text.rfind("(await ", 0, call.start())
    if awaited >= 0 and text[end : end + 1] == ")":
        return text[:awaited] + _SOURCE + text[end + 1 :]
    start = _CHAIN_START.search(text[: call.start()])
    return text[: start.start() if start is not None else call.start()] + _SOURCE + text[end:]


def _uses(name: str, text: str) -> Iterator[tuple[int, int]]:
    """Where the variable is read, with a `list(` around it."""
    for match in followed(name, text, _READ, "_.$\"'"):
        start, end = match.start() - len(name), match.start()
        yield (start - len("list(") if text.endswith("list(", 0, start) else start), end


def _condition(row: str, text: str, work: str = "filter") -> str:
    """The attributes of a row that a condition compares or a sum adds, when it does nothing else."""
    attributes = re.findall(rf"(?<![\w.]){row}\.(\w+)(?!\w*[.(])", text)
    if not attributes or not _PLAIN.fullmatch(text) or re.search(rf"(?<![\w.]){row}(?!\.\w)", text):
        return ""
    others = re.sub(rf"(?<![\w.]){row}\.\w+", "", text)
    return "" if "(" in others else f"{work} " + " ".join(dict.fromkeys(attributes))
