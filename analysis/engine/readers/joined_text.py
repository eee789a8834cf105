"""Lists of text pieces that are joined into one: whether the source says all that is in them."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import CALLS, text_before, within

# The list in `strings.Join(where, " AND ")`, `" AND ".join(where)`, `where.join(" AND ")` and Java's `String.join`.
_JOINED = re.compile(
    r"strings\.Join\((?P<go>\w+),|[\"'`]\.join\((?P<python>\w+)\)$|^(?P<script>\w+)\.join\("
    r"|^String\.join\([^,]+,\s*(?P<java>\w+)\)$"
)
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`(?:(?!\$\{)[^`])*`')
# What may stand beside literals without putting anything foreign in: placeholders and their numbers.
_NUMBERED = re.compile(
    r"(?i)\w*placeholders?\w*(?=\()|\b(fmt\.Sprintf|strconv\.Itoa|len|str|String)(?=\()|(?<=\()\w*(args|params|values)\b"
)
_NAME = re.compile(r"[A-Za-z_]")
_NUMBERS_ONLY = re.compile(r"\$\$\{[^{}]*\}")  # `$${index + 1}`
_MAPPED = re.compile(r"\.map\([\s\S]*\)\s*\.join\([^()]*\)$")
_PLACEHOLDER = re.compile(rb"(?:\$|[\s(,=\"'][:@]|%\()\w*\Z")  # what stands before its number or name
# A text without holes for each element: `" OR ".join("(a = ? AND b = ?)" for _ in rows)`.
_WRITTEN_FOR_EACH = re.compile(r"\.join\(\s*[\[(]?\s*(?:\"[^\"%]*\"|'[^'%]*')\s+for\b")
_COMPREHENSIONS = frozenset({"generator_expression", "list_comprehension"})
_NEAR = 40  # bytes
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def is_fixed_list(part: Node, file: SourceFile) -> bool:
    """Whether a part joins a local list that literals and placeholders alone were put into."""
    text = file.text(part)
    if "$${" in text and _MAPPED.search(text):
        return "${" not in _NUMBERS_ONLY.sub("", text)
    if file.language == "python" and ".join(" in text and _joins_placeholders(part, file):
        return True
    name = joined_name(text)
    if not name:
        return False
    pieces = _put_into(name, _NUMBERS_ONLY.sub("", text_before(part, file)))
    return bool(pieces) and not any(_NAME.search(_NUMBERED.sub("", QUOTED.sub("", piece))) for piece in pieces)


def joined_name(text: str) -> str:
    """The name of the list that an expression joins; empty when it joins none."""
    joined = _JOINED.search(text)
    return next(filter(None, joined.groups()), "") if joined is not None else ""


def joined_piece(value: Node) -> Node | None:
    """Python: what `", ".join("'" + name + "'" for name in names)` writes for each of the names."""
    function = value.child_by_field_name("function") if value.type == "call" else None
    called = function.child_by_field_name("attribute") if function is not None else None
    if called is None or called.text != b"join":
        return None
    given = value.child_by_field_name("arguments")
    if given is not None and given.type == "argument_list":
        given = next((each for each in given.named_children if each.type in _COMPREHENSIONS), None)
    return given.child_by_field_name("body") if given is not None else None


def pushed_into(name: str, part: Node, file: SourceFile) -> list[Node]:
    """What the function around the part adds to a list before it, each time one expression."""
    function = file.enclosing_function(part)
    starts = tuple(f"{name}.{verb}(".encode() for verb in ("push", "append", "add"))
    calls = (
        each
        for each in (within(function) if function is not None else ())
        if each.type in CALLS and each.end_byte <= part.start_byte
    )
    found: list[Node] = []
    for call in calls:
        given = file.arguments(call)[0]
        if file.source.startswith(starts, call.start_byte):
            found.extend(given)
        elif file.source.startswith(f"append({name},".encode(), call.start_byte):
            found.extend(given[1:])
    return found


def _joins_placeholders(part: Node, file: SourceFile) -> bool:
    """Whether a comprehension that is joined writes nothing into its text but names of placeholders: `f":v_{n}"`."""
    holes = [each for each in within(part, stop=frozenset()) if each.type == "interpolation"]
    if _WRITTEN_FOR_EACH.search(file.text(part)):
        return True
    before = (file.source[max(0, hole.start_byte - _NEAR) : hole.start_byte] for hole in holes)
    return bool(holes) and all(_PLACEHOLDER.search(text) for text in before)


def _put_into(name: str, text: str) -> list[str]:
    """The texts of what is appended or assigned to a list."""
    word = re.escape(name)
    starts = re.compile(
        rf"append\({word},|(?<![\w.]){word}\.(?:append|push|add)\(|(?<![\w.]){word}(?:,\s*\w+)?\s*:?\+?=\s*(?:\[\]string)?[\[{{]"
    )
    return [_until_closed(text, found.end() - (found[0][-1] == ",")) for found in starts.finditer(text)]


def _until_closed(text: str, start: int) -> str:
    """The text up to the bracket that closes the one that is open at the start; quoted ones do not count."""
    open_brackets, position = 1, start
    while position < len(text) and open_brackets:
        quoted = QUOTED.match(text, position)
        if quoted:
            position = quoted.end()
            continue
        open_brackets += (text[position] in _BRACKETS) - (text[position] in _BRACKETS.values())
        position += 1
    return text[start : position - 1]
