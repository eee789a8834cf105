"""Work on loaded rows that the database could have done: filters, sums and orders over their own columns."""

import re
from collections.abc import Iterator

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
_SUM = re.compile(rf"\bsum\(\s*[\[(]?\s*(\w+)\.(\w+)\s+for\s+(\w+)\s+in\s+{_SOURCE}\s*[\])]")
_ORDER = re.compile(rf"\b(?:sorted|min|max)\(\s*{_SOURCE}\s*,\s*key\s*=\s*lambda\s+(\w+)\s*:\s*(\w+)\.(\w+)\s*[,)]")
_SCRIPT_FILTER = re.compile(
    rf"{_SOURCE}\)?\s*\.(filter|find|some|every)\(\s*\(?(\w+)\)?\s*=>\s*([^\n{{}}]+?)\)\s*[;,.)\]?]"
)
_JAVA_FILTER = re.compile(rf"{_SOURCE}\s*\.stream\(\)\s*\.(?:filter|anyMatch|allMatch|noneMatch)\(")
_LAMBDA = re.compile(r"\s*\(?(\w+)\)?\s*->\s*([^\n{}]+)$|\s*\w+::(\w+)$")
_EQUALS = re.compile(r"\.equals\(([^()]*)\)")
_JAVA_SUM = re.compile(rf"{_SOURCE}\s*\.stream\(\)\s*\.mapTo\w+\(\s*\w+::(\w+)\s*\)\s*\.(?:sum|max|min|average)\(\)")
_JAVA_SORT = re.compile(rf"{_SOURCE}\s*\.stream\(\)\s*\.sorted\(\s*Comparator\.comparing\w*\(\s*\w+::(\w+)\s*\)")
_GETTER = re.compile(r"(?<![\w.])(\w+)\.(?:get|is)([A-Z])(\w*)\(\)")
_CHAIN_START = re.compile(r"[\w.$]+(?:\([^()]*\)\s*\.?[\w.$]*)*\Z")
_READ = re.compile(r"\b(?!\s*=[^=])")
_PLAIN = re.compile(r"[\w.\s=!<>&|'\"-]*|(?:\band\b|\bor\b|\bnot\b|\bis\b)")


def kept_by(query: Query, lines: list[str], file: SourceFile) -> str:
    """What the code does with all rows of a query, when that is all it does: `filter is_paid`. Empty when it does
    more, or calls functions on the way."""
    text = _marked(query, lines, file)
    if text.count(_SOURCE) != 1:
        return ""
    if (match := _COMPREHENSION.search(text)) is not None:
        return _condition(match[1], match[2])
    if (match := _SUM.search(text)) is not None and match[1] == match[3]:
        return f"sum {match[2]}"
    if (match := _ORDER.search(text)) is not None and match[1] == match[2]:
        return f"sort {match[3]}"
    if (match := _SCRIPT_FILTER.search(text)) is not None:
        return _condition(match[2], match[3])
    if file.language == "java":
        return _java_work(text)
    return ""


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
        text = file.source[loop.head_end or loop.node.start_byte : loop.node.end_byte].decode("utf-8", "replace")
        for match in re.finditer(rf"(?<![\w.]){re.escape(row)}\b(?:\s*\.\s*(\w+)(\()?)?", text) if row else ():
            if not match[1] or (match[2] and not match[1].startswith(("get", "is"))):
                if match.start() > 0 and not re.match(r"\s+(?:in|of)\b", text[match.end() :]):
                    return ""
                continue
            found[_attribute(match[1]) if match[2] else match[1]] = None
    return " ".join(found)


def _java_work(text: str) -> str:
    """Of streams, where getters stand for attributes."""
    if (called := _JAVA_FILTER.search(text)) is not None:
        match = _LAMBDA.match(text[called.end() : closing_bracket(text, called.end())].rstrip())
        if match is None or match[3]:
            return f"filter {_attribute(match[3])}" if match is not None else ""
        condition = _GETTER.sub(lambda getter: f"{getter[1]}.{getter[2].lower()}{getter[3]}", match[2])
        return _condition(match[1], _EQUALS.sub(r" == \1", condition))
    if (match := _JAVA_SUM.search(text)) is not None:
        return f"sum {_attribute(match[1])}"
    if (match := _JAVA_SORT.search(text)) is not None:
        return f"sort {_attribute(match[1])}"
    return ""


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
    if len(uses) != 1:
        return ""
    start, end = uses[0]
    return (after[:start] + _SOURCE + after[end:])[: after.find(query.variable) + LONGEST_WORK]


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


def _condition(row: str, text: str) -> str:
    """The attributes of a row that a condition compares, when it does nothing else."""
    attributes = re.findall(rf"(?<![\w.]){row}\.(\w+)(?!\w*[.(])", text)
    if not attributes or not _PLAIN.fullmatch(text) or re.search(rf"(?<![\w.]){row}(?!\.\w)", text):
        return ""
    others = re.sub(rf"(?<![\w.]){row}\.\w+", "", text)
    return "" if "(" in others else "filter " + " ".join(dict.fromkeys(attributes))
