"""Type assertions of Go on values that come from outside."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.go_rows import FILLS, LONGEST_CALL
from analysis.engine.readers.lookups import ASKED, Missing
from analysis.engine.readers.reading import WORD_END, followed, short, text_before

_TWO_RESULTS = re.compile(rb"\w+\s*,\s*\w+\s*:?=\s*\Z")
_IS_OF_CONTEXT = re.compile(r"^(?:c|ctx|gc|ec)\.(?:Must)?Get\(")  # of gin, of echo
_FIRST = re.compile(rb"(\w+)\[0\]")
# A list that a store has given: `rows, err := s.parcels.Many(ctx, ids)`, `found := repo.ListBy(name)`.
_ASKED_OF_STORE = re.compile(
    r"\s*,\s*err\s*:?=\s*(?:\w+\.)*(?i:\w*(?:repo|store|dao|queries|db|storage)\w*|q)\.\w+\([^\n;]*\)"
    r"|\s*,\s*err\s*:?=\s*pgx\.CollectRows\([^\n;]*\)"
    r"|\s*,\s*err\s*:?=\s*(?:\w+\.)+(?:Many|All|List|Find|Search|Query|Select|Fetch|Load)\w*\(ctx\b[^\n;]*\)"
)
_GIVES = re.compile(rb"(?:\breturn|=)\s+&?\Z")
_GIVEN_ANEW = re.compile(r"\s*(?:=(?!=)|,\s*\w+\s*=(?!=))")
_OUTSIDE = re.compile(
    r"(?i)^(?:c|ctx|gc|ec)\.(?:Must)?Get\([^()]*\)$|\.(?:Value|Locals)\([^()]*(?:\([^()]*\))?\)$|session\w*\.Get\([^()]*\)$|\[\"?[\w.]+\"?\]$"
)
_SET_BEFORE = re.compile(r"\.Context\(\)\.Value\(")
_OF_MAP = re.compile(r"([\w.]+)\[")
_FROM_OUTSIDE = re.compile(
    r"(?i)claim|token|session|payload|body|json|params|query|form|header|response|result|msg|message|event|^[a-z]$"
)
_ASKED_KEY = re.compile(r"\.Value\(([^()]+)\)")
_PUT_KEY = re.compile(rb"\bWithValue\([^,\n]+,\s*([^,\n]+?)\s*,")
_ENTRY = re.compile(r"\[\"[\w.]+\"\]$")
_OF_VARIABLE = re.compile(r"(\w+)\.Value\(")
_CONTEXT = re.compile(r"\s*:?=\s*[\w.]+\.Context\(\)|\s+context\.Context\b")
_ABSENCE_DROPPED = re.compile(r"\s*,\s*_\s*:?=\s*([^\n]*)")
_PASSES = re.compile(rb"\breturn\s+(?:\w+\.)*(?:Context\(\)|ctx)\s*\n|\.ServeHTTP\(\w+,\s*\w+\)\s*\n\s*return\b")
_HELD = re.compile(r"(\w+)\.(?:Value|Interface)\(\)")


def look_at_assertion(assertion: Node, file: SourceFile) -> Iterator[Missing]:
    """`value.(*User)` in Go, where nobody asks whether it is one."""
    before = file.source[max(0, assertion.start_byte - 60) : assertion.start_byte]
    text = file.text(assertion)
    if ".(func(" in text or ".MustGet(" in text:
        return  # a table of functions, which the program has made; what it asks for as what must be there
    if _TWO_RESULTS.search(before.rpartition(b"\n")[2]) or not _comes_from_outside(text, assertion, file):
        return
    is_left_out = _is_left_out(text, file)
    if _is_put_by_file(text, file) and not is_left_out:
        return
    is_asked = is_left_out or _SET_BEFORE.search(text) or _IS_OF_CONTEXT.search(_given_by(text, assertion, file))
    yield Missing(
        assertion,
        f"`{short(text)}` panics when the value is of another type or missing",
        # What runs before a handler puts there what it takes, as far as anybody can see from here.
        confidence="low" if is_asked or _is_of_program(text, assertion, file) else "medium",
        suggestion="Take the second result (`value, ok := ...`) and answer with an error.",
        data={"form": "assertion"} | (ASKED if is_asked else {}),
    )


def look_at_first(element: Node, file: SourceFile) -> Iterator[Missing]:
    """`rows[0].Name` in Go, where a query has filled the list and nobody has asked how long it is."""
    found = _FIRST.match(file.source, element.start_byte, element.end_byte)
    name = found[1].decode() if found is not None else ""
    is_used = file.source.startswith(b".", element.end_byte)
    if not name or not (is_used or _GIVES.search(file.source, max(0, element.start_byte - 20), element.start_byte)):
        return
    before = text_before(element, file)
    filled = list(followed(f"&{name}", before, WORD_END, ""))[-1:]
    if not filled or not FILLS.search(before, max(0, filled[0].start() - LONGEST_CALL), filled[0].start()):
        filled = list(followed(name, before, _ASKED_OF_STORE, "_."))[-1:]
    if not filled:
        return
    since = before[filled[0].end() :]
    if f"len({name})" in since or any(followed(name, since, _GIVEN_ANEW, "_.")) or f"range {name}" in since:
        return
    if "RowsAffected" in since:
        return
    yield Missing(element, f"`{name}` may hold no row, and `{name}[0]` of nothing panics", confidence="medium")


def _is_put_by_file(text: str, file: SourceFile) -> bool:
    """Whether the file itself puts a value into a context by the key that is asked for."""
    asked = _ASKED_KEY.search(text)
    return asked is not None and any(found[1].decode() == asked[1] for found in _PUT_KEY.finditer(file.source))


def _is_left_out(text: str, file: SourceFile) -> bool:
    """Whether the file puts a value into a context by the key that is asked for, but lets requests pass without it:
    `if !known(r) { return r.Context() }` in front of that."""
    asked = _ASKED_KEY.search(text)
    puts = [each for each in _PUT_KEY.finditer(file.source) if asked is not None and each[1].decode() == asked[1]]
    return bool(puts) and all(
        _PASSES.search(file.source, file.scope_at(each.start(), each.end()).function.node.start_byte, each.start())
        for each in puts
    )


def _given_by(text: str, assertion: Node, file: SourceFile) -> str:
    """What is asserted; for a variable whose absence is thrown away, `v, _ := c.Get("user")`, what gave it."""
    operand = text.rpartition(".(")[0]
    if not operand.isidentifier():
        return text
    given = [each[1] for each in followed(operand, text_before(assertion, file), _ABSENCE_DROPPED, "_.")]
    return given[-1] if given else ""


def _is_of_program(text: str, assertion: Node, file: SourceFile) -> bool:
    """Whether the value was put there by the program itself, as far as names tell."""
    if _SET_BEFORE.search(text) or _IS_OF_CONTEXT.search(text) or _is_of_context(text, assertion, file):
        return True
    indexed = _OF_MAP.match(text)
    return (
        indexed is not None
        and _FROM_OUTSIDE.search(indexed[1]) is None
        and "Unmarshal(" not in text_before(assertion, file)
    )


def _is_of_context(text: str, assertion: Node, file: SourceFile) -> bool:
    """Whether the value is one of a context that the function has from its request: `ctx := r.Context()`."""
    taken = _OF_VARIABLE.match(text)
    return (
        taken is not None and next(followed(taken[1], text_before(assertion, file), _CONTEXT, "_."), None) is not None
    )


def _comes_from_outside(text: str, assertion: Node, file: SourceFile) -> bool:
    """Whether the value comes from a session, a request's context, a token or decoded text, and nobody has asked
    whether it is there."""
    operand = text.rpartition(".(")[0]
    before = text_before(assertion, file)
    if (kind := _HELD.fullmatch(operand)) and re.search(rf"\b{kind[1]}\.Type\(\)\s*[!=]=", before):
        return False
    if not re.fullmatch(r"\w+", operand):
        is_asked = re.search(re.escape(operand) + r"\s*[!=]=\s*nil\b", before) or _has_asked_for(operand, before)
        return _OUTSIDE.search(operand) is not None and not is_asked
    given = list(re.finditer(rf"\b{operand}\s*(?:,\s*_\s*)?:?=\s*([^\n]*)", before))[-1:]
    if not given or not _OUTSIDE.search(given[0][1].rstrip()):
        return False
    return not re.search(rf"\b{operand}\s*[!=]=\s*nil\b", before[given[0].end() :])


def _has_asked_for(operand: str, before: str) -> bool:
    """Whether the function has asked for the same entry with two results: `name, ok := claims["name"]`."""
    entry = _ENTRY.search(operand)
    return entry is not None and re.search(rf",\s*ok\s*:?=\s*[\w.]+{re.escape(entry[0])}", before) is not None
