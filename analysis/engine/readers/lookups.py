"""What a look-up gave that may be missing: whether somebody asked before it is used (`rel-unchecked-optional`)."""

import re
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import (
    LONGEST_TEXT,
    WORD_END,
    first_argument,
    followed,
    line_around,
    text_after,
    text_before,
)

ALWAYS_A_ROW = re.compile(
    r"(?i)\b(?:count|max|min|sum|avg|exists|coalesce|nextval|version|now|last_insert_\w+)\s*\(|returning|\bshow\s|to_regclass|pragma|information_schema|sqlite_master|select\s+\d|@@"
)
_ONE_ROW = re.compile(  # by what the outermost query gives
    r"(?is)(?:(?!\bselect\b).)*\bselect\s+(?:(?:coalesce|ifnull|cast)\s*\(\s*)*(?:count|max|min|sum|avg)\s*\("
)
_MORE_OR_NONE = re.compile(r"(?i)\b(?:group\s+by|having|over\s*\(|union|limit\s+0)")
FAILS = re.compile(r"except\s*(:|.*\b(AttributeError|TypeError|IndexError|Exception|BaseException)\b)|catch")
OWN_KEY = re.compile(r"(?:[\w{}\s:=]*[:=]\s*)?(?:this|self)\.(?:id|_id|pk|uuid)(?:\s*\})?")  # of what is there
_ASKED = re.compile(r"\b(?:(?:if|and|or|not|assert|is|typeof)\s+|(?:isinstance|issubclass|hasattr)\(\s*)\Z")
_NAMES_A_VALUE = re.compile(r"\s*:(?!:)|=(?!=)")
_COMMENT = re.compile(r"(?<![:'\"])//|(?:^|\s)#\s|^\s*\*\s", re.MULTILINE)
_PRIVATE = re.compile(rb"(?:@\w+(?:\([^)\n]*\))?\s*)*(?:static\s+|final\s+)*(?:private\b|#)")
_HEADS = re.compile(r"(?<![\w.$])[A-Za-z_$][\w$]*")
_IF = re.compile(r"\bif\s+(?:(?:isinstance|issubclass|hasattr)\(\s*)?\Z")
_CHOOSES = re.compile(r"(?!\.)[^\n:]*(?:\n\s*)?else\b")
_ASKS = re.compile(r"\s*(?:&&|\?|is\b|and\b)")
_TEXTS_OF_ANY_KIND = ("a", "0", "-", "_", ".", "(", "A b")
NEAR = 400  # bytes before a look-up in which its check stands
ASKED = {"asked": "1"}  # of what callers brought


class Missing(NamedTuple):
    """Where a value that may be missing is used, and what to say of it. Empty: as the rule has it."""

    node: Node
    message: str
    confidence: str = ""
    suggestion: str = ""
    data: dict[str, str] | None = None


class Use(NamedTuple):
    """A member or an element that is taken of a variable: its text, and where."""

    text: str
    node: Node


def matches_most(pattern: str, flags: int = 0) -> bool:
    """Whether a pattern finds something in texts of any kind, so that only an empty one may fail."""
    compiled = _compiled(pattern, flags)
    return compiled is not None and all(map(compiled.search, _TEXTS_OF_ANY_KIND))


def matches_empty(pattern: str, flags: int = 0) -> bool:
    """Whether a pattern finds something in an empty text too: it cannot fail."""
    compiled = _compiled(pattern, flags)
    return compiled is not None and compiled.search("") is not None


def _compiled(pattern: str, flags: int) -> re.Pattern[str] | None:
    """A pattern as far as it is one of Python."""
    try:
        return re.compile(pattern, flags)
    except (re.error, OverflowError):
        return None


def is_asked_by_key(call: Node, file: SourceFile) -> bool:
    """Whether a key is what callers gave, as they gave it, and no check of it stands before: `check_room(key)`."""
    key = first_argument(call, file)
    if not key.isidentifier() or not is_asked_for(key, call, file):
        return False
    return re.search(rf"(?:^|[;{{}}])\s*[\w.]+\({key}\)\s*;?\s*$", text_before(call, file), re.MULTILINE) is None


def is_asked_for(text: str, call: Node, file: SourceFile) -> bool:
    """Whether what is looked up comes from the callers of the function, whoever they are: a parameter of a function or
    method with a name, that is not private. What walks over a list, sorts it, or helps its own class, knows what is
    there."""
    function = file.functions[file.function_of(call)]
    name = function.short_name
    if (
        not name.isidentifier()
        or name.startswith(("_", "compare"))
        or _PRIVATE.match(file.source, function.node.start_byte)
    ):
        return False
    given = {each.name for each in file.dialect.parameters(function.node, file)} - {"self", "cls", "this"}
    return not given.isdisjoint(_HEADS.findall(text))


def text_before_in_outermost(call: Node, file: SourceFile) -> str:
    """Text of the outermost function around a call up to there: what a step of a chain knows stands in the steps
    before."""
    function = file.functions[file.function_of(call)]
    while function.parent > 0 or (function.parent == 0 and not function.short_name.isidentifier()):
        function = file.functions[function.parent]
    start = function.node.start_byte if function.index else 0
    return file.source[max(start, call.start_byte - LONGEST_TEXT) : call.start_byte].decode("utf-8", "replace")


def is_aggregate(query: str) -> bool:
    """Whether a query counts or sums all rows, however many there are: the answer is always one row."""
    return _ONE_ROW.match(query) is not None and _MORE_OR_NONE.search(query) is None


def is_tested_before(call: Node, file: SourceFile) -> bool:
    """Whether the same look-up stands in a test before."""
    return file.text(call) in text_before(call, file)


def used_unchecked(name: str, call: Node, file: SourceFile) -> Use | None:
    """How a variable is used next, when that is a member or an element of it and the statement asks nothing."""
    after = text_after(call, file)
    uses = (
        each
        for each in followed(name, after, WORD_END, "_.$")
        if not (_is_key(each, name, after) or _is_said(each.start(), after) or _is_quoted(each, name, after))
    )
    found = next(uses, None)
    if found is None or found.start() - len(name) > NEAR:
        return None
    used = re.match(r"(\.rows)?\[[^\]\n]{1,20}\](\.[\w$]+)?|\.[\w$]+", after[found.end() :])
    if _is_chosen_by(name, after[found.end() : found.end() + NEAR]):
        return None
    line = line_around(found)
    if used is None or _is_asked_for(name, line) or re.match(r"\.length\b", used[0]):
        return None
    start = call.end_byte + len(after[: found.start() - len(name)].encode())
    node = file.tree.root_node.descendant_for_byte_range(start, start + 1)
    return Use(used[0], node or call)


def _is_key(found: re.Match[str], name: str, text: str) -> bool:
    """Whether the name is that of a key or of a keyword: `{ patient: patient.id }`, `Visit(patient=patient.id)`."""
    before = text[: found.end() - len(name)].rstrip()[-1:]
    return before in ("{", ",", "(") and _NAMES_A_VALUE.match(text, found.end()) is not None


def _is_said(position: int, text: str) -> bool:
    """Whether a comment begins before the place, on its line."""
    return _COMMENT.search(text, text.rfind("\n", 0, position) + 1, position) is not None


def _is_quoted(found: re.Match[str], name: str, text: str) -> bool:
    """Whether a text begins with the name: `{ "order.id": id }`."""
    return text[found.start() - len(name) - 1 : found.start() - len(name)] in ('"', "'", "`")


def _is_chosen_by(name: str, text: str) -> bool:
    """Whether a choice asks for the variable: Python's asks behind what it chooses."""
    return "else" in text and any(
        _CHOOSES.match(text, each.end()) and _IF.search(text, 0, each.end() - len(name))
        for each in followed(name, text, WORD_END, "_")
    )


def _is_asked_for(name: str, line: str) -> bool:
    """Whether the line asks if the variable holds something."""
    return any(
        _ASKS.match(line, each.end())
        or (not line.startswith(".", each.end()) and _ASKED.search(line, 0, each.end() - len(name)))
        for each in followed(name, line, WORD_END, "_")
    )
