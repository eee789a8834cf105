"""Work on loaded rows that the database could have done: filters, sums and orders over their own columns."""

import re
from collections.abc import Iterator

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Query
from analysis.engine.rules.reading import followed

LONGEST_WORK = 2_000  # characters behind a query in which its only use must lie

_SOURCE = "§"  # stands for the rows in the text that is read
_COMPREHENSION = re.compile(rf"\bfor\s+(\w+)\s+in\s+{_SOURCE}\s+if\s+([^\n\])}}]+)")
_SUM = re.compile(rf"\bsum\(\s*[\[(]?\s*(\w+)\.(\w+)\s+for\s+(\w+)\s+in\s+{_SOURCE}\s*[\])]")
_ORDER = re.compile(rf"\b(?:sorted|min|max)\(\s*{_SOURCE}\s*,\s*key\s*=\s*lambda\s+(\w+)\s*:\s*(\w+)\.(\w+)\s*[,)]")
_SCRIPT_FILTER = re.compile(
    rf"{_SOURCE}\)?\s*\.(filter|find|some|every)\(\s*\(?(\w+)\)?\s*=>\s*([^\n{{}}]+?)\)\s*[;,.)\]?]"
)
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
    return ""


def _marked(query: Query, lines: list[str], file: SourceFile) -> str:
    """The text around the query, or after it where a variable holds the rows, with the sign in place of the rows."""
    if not query.variable:
        text = "\n".join(lines[max(0, query.line - 3) : query.line + 6])
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
