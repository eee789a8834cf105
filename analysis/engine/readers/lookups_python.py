"""Look-ups of Python whose result is used as if it could not be None: patterns, first rows, keys, the environment."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.asked_by_callers import is_asked_by_callers
from analysis.engine.readers.handlers import is_caught
from analysis.engine.readers.lookups import (
    ALWAYS_A_ROW,
    ASKED,
    FAILS,
    NEAR,
    OWN_KEY,
    Missing,
    Use,
    is_asked_by_key,
    is_tested_before,
    matches_empty,
    matches_most,
    used_unchecked,
)
from analysis.engine.readers.reading import (
    assigned_values,
    conditions_around,
    followed,
    is_imported,
    origin_of,
    short,
    text_before,
)

_MATCHING = frozenset({"match", "search", "fullmatch"})
_MATCHERS = frozenset({"re.match", "re.search", "re.fullmatch"})
_MATCHERS_MADE = frozenset({"re.compile().match", "re.compile().search", "re.compile().fullmatch"})
_QUERY = re.compile(
    r"(\.objects(\.\w+\(\))*|(^|[._])(qs|queryset)"
    r"|\.(filter|filter_by|where|exclude|order_by|select_related|all|query|scalars|execute)\(\)"
    r"(\.\w+\(\))*|(^|\.)[A-Z]\w*\.query)\.(first|last|one_or_none|scalar_one_or_none)$"
)
# A row that the program names itself, `filter(name=settings.ROBOT)`, was mostly put there when it was set up.
_NAMED_ROW = re.compile(
    r"\.objects(?:\.\w+\(\))*\.(?:filter|get)\(\s*(?:\w+\s*=\s*"
    r"(?:[\"'][^\"'\n]*[\"']|True|False|-?\d+|(?:\w+\.)*[A-Z][A-Z\d_]*)\s*,?\s*)+\)\s*\.first\("
)
_OF_RESULT = re.compile(r"\w+\.(?:(?:scalars|unique|mappings)\(\)\.)*(?:first|one_or_none|scalar_one_or_none)")
_WHERE = re.compile(r"(?i)\bwhere\b")
_COMPILED = re.compile(rb"(?:\s*:[^=\n]+)?\s*=\s*re\.compile\(")
_LITERAL = re.compile(rb"\s*[rb]{0,2}[\"']([^\"'\n]+)[\"']\s*\)")  # all that is given
_DOCUMENT = re.compile(r"\w\.find_one(?:_and_\w+)?$")
_BY_KEY = re.compile(r"(?:^|\.)[A-Z]\w*\.query\.get$")
_LOADED = re.compile(r"(^|[._])(session|db|query\(\))\.get$")  # SQLAlchemy: by primary key
_ROWS = re.compile(
    r"\.(?:fetchall|fetch_all|fetchmany)$|\.objects(\.\w+\(\))*\.(filter|exclude)$"
    r"|\.(?:query|scalars|execute)\(\)(?:\.\w+\(\))*\.all$|\.objects(?:\.\w+\(\))*\.(?:filter|exclude)\(\)(?:\.\w+\(\))*\.all$"
)
_ALL_OF_RESULT = re.compile(r"\w+\.(?:(?:scalars|unique|mappings)\(\)\.)*all")
# SQLAlchemy: the first column of the first row, which is the object when a class is asked for.
_SELECTS_OBJECT = re.compile(r"(?:[\w.]+\.)?select\(\s*(?:\w+\.)*[A-Z]\w*[a-z]\w*(?:\.\w+)?\s*\)")
_NAMED_QUERY = re.compile(r"[a-z_]\w*")
_KEYED = re.compile(
    r"^os\.getenv$|(^|\.)(environ|(request|req)\.(GET|POST|args|form|headers|META|COOKIES|cookies|query_params)|json\(\)|loads\(\))\.get$"
)
_OTHER_GET = re.compile(
    r"(?i)(client|session|requests?|http\w*|api|repo\w*|service|manager|objects|crud|dao|redis|queue|q|query\w*|table|model\w*"
    r"|db|cache|s3|self|cls|super\(\)|config|settings|store|storage|registry|driver|app|router|ctx|context\w*)$"
)
_KEPT_DICTIONARY = re.compile(
    rb"\s*:\s*(?:typing\.)?(?:dict|Dict|Mapping|MutableMapping)\b|(?:\s*:[^=\n]+)?\s*=\s*(?:\{\s*\}|dict\(\))"
)
_DICTIONARY = re.compile(r"(?:typing\.)?(?:dict|Dict|Mapping)\b")
_VALIDATED = re.compile(r"\.(?:validate\w*|is_valid)\(")
_LOOKED_UP = re.compile(rb"\.get\(")  # in what a look-up gave: dictionaries in dictionaries
_TAKEN = re.compile(rb"\s*\)?\s*[.\[\\#]")  # a member or an element of it, maybe on the next line
_GIVEN = re.compile(rb"[=\\]\s*(?:await\s+)?\Z")
_ASKS = re.compile(rb"\b(?:if|and|or|not|while|elif)\s+(?:not\s+)?\Z")
_IS_NONE = re.compile(rb"\s+is\b")
_TESTED = re.compile(r"\bre\.\w+\([^\n]*,\s*(?:string\s*=\s*)?([^\n,]+?)\s*\)")
ONE_QUERY = 120  # characters before `fetchall` in which its text stands
LONGEST_GAP = 100  # bytes between a sign and what it is for


def look_at_python(call: Node, file: SourceFile) -> Iterator[Missing]:
    """`re.match(p, s).group()`, `qs.first().x`, `os.environ.get("A").lower()`, also by way of a variable."""
    start = call.start_byte
    if not _TAKEN.match(file.source, call.end_byte) and not _GIVEN.search(file.source, start - LONGEST_GAP, start):
        return
    if any(OWN_KEY.fullmatch(file.text(each)) for each in file.arguments(call)[0]):
        return
    confidence = _python_look_up(call, file)
    if not confidence or _is_sure_to_find(call, file):
        return
    whole = _awaited(call)
    parent = whole.parent
    if parent is not None and parent.type in ("attribute", "subscript") and parent.start_byte == whole.start_byte:
        taken = file.source[whole.end_byte : parent.end_byte].decode("utf-8", "replace").strip()
        yield from _taken_at_once(call, taken, confidence, file)
    elif (name := _assigned_to(whole, file)) and (used := used_unchecked(name, call, file)):
        yield from _taken_by_name(call, name, used, confidence, file)


def _is_sure_to_find(call: Node, file: SourceFile) -> bool:
    """Whether something has asked before, catches the failure, or has found what is looked for."""
    if is_tested_before(call, file) or is_caught(call, file, FAILS) or is_asked_by_callers(call, file):
        return True
    if file.is_in(call, "handler") and "MultipleObjectsReturned" in text_before(call, file):
        return True
    if ".form." in file.callee(call) and _VALIDATED.search(text_before(call, file)):
        return True
    return _is_matched_by_test(call, file)


def _taken_at_once(call: Node, taken: str, confidence: str, file: SourceFile) -> Iterator[Missing]:
    """What stands right behind the call: `.group()`, `[0]`."""
    callee = _callee(call, file)
    if not _ROWS.search(callee):
        message = f"`{short(callee)}` may give None, and `{short(taken, 30)}` of None fails"
        yield Missing(call, message, confidence=confidence)
    elif taken == "[0]":
        message = f"`{short(callee)}` may give no row, and `[0]` of nothing fails"
        yield Missing(call, message, confidence="medium")


def _taken_by_name(call: Node, name: str, used: Use, confidence: str, file: SourceFile) -> Iterator[Missing]:
    callee = _callee(call, file)
    message = f"`{name}` may be None: `{short(callee)}` gave it, and `{name}{short(used.text, 30)}` of None fails"
    if _ROWS.search(callee):
        if not used.text.startswith("[0]"):
            return
        message = f"`{name}` may hold no row: `{short(callee)}` gave it, and `{name}[0]` of nothing fails"
    if _is_named_row(call, file):
        yield Missing(used.node, message, confidence="low", data=ASKED)
        return
    yield Missing(used.node, message, confidence="low" if confidence == "low" else "medium")


def _callee(call: Node, file: SourceFile) -> str:
    """The callee, also of a step on what was awaited: `db.scalars().first` for `(await db.scalars(wanted)).first()`."""
    callee = file.callee(call)
    if not callee.startswith("()."):
        return callee
    inner: Node | None = call
    while inner is not None and inner.type in ("call", "attribute"):
        inner = inner.child_by_field_name("function" if inner.type == "call" else "object")
    for kind in ("await", "call"):
        inner = next((each for each in inner.named_children if each.type == kind), None) if inner is not None else None
    return f"{file.callee(inner)}{callee}" if inner is not None else callee


def _awaited(call: Node) -> Node:
    """The call, with the `await` and the brackets around it."""
    above = call.parent
    if above is None or above.type != "await":
        return call
    outer = above.parent
    return outer if outer is not None and outer.type == "parenthesized_expression" else above


def _python_look_up(call: Node, file: SourceFile) -> str:
    """How sure it is that the call looks something up that may be missing; empty when it does not."""
    callee = _callee(call, file)
    positional, keywords = file.arguments(call)
    if callee in _MATCHERS or callee in _MATCHERS_MADE:
        return "high"
    if callee.rpartition(".")[2] in _MATCHING:
        return _of_compiled(callee, file)
    if callee == "next":
        return "medium" if len(positional) == 2 and file.text(positional[1]) == "None" else ""
    if callee == "os.getenv":
        is_alone = len(positional) == 1 and not keywords
        return "high" if is_alone and f"getenv({file.text(positional[0])}" not in text_before(call, file) else ""
    if callee.endswith(".get"):
        return _dictionary_look_up(callee, call, file) if not keywords else ""
    return _row_look_up(callee, positional, call, file)


def _row_look_up(callee: str, positional: list[Node], call: Node, file: SourceFile) -> str:
    """The same for a row or a document."""
    if _DOCUMENT.search(callee):
        return "medium"
    before = text_before(call, file)
    if callee.endswith(".fetchone"):
        if positional or _always_answers(call, file):
            return ""
        asked = (before[-NEAR:] + file.text(call)).rpartition("execute(")[2]  # before it, or right in front of it
        return "medium" if _WHERE.search(asked) else "low"
    if callee.endswith((".fetchrow", ".fetch_one")):
        is_row = _WHERE.search(file.text(call)) is not None and ALWAYS_A_ROW.search(file.text(call)) is None
        return "medium" if is_row else ""
    if callee.endswith(".scalar"):
        return "medium" if len(positional) == 1 and _selects_object(positional[0], call, file) else ""
    if _ALL_OF_RESULT.fullmatch(callee) and not _ROWS.search(callee):
        is_result = origin_of(callee.partition(".")[0], call, file).endswith(("execute()", "scalars()"))
        return "medium" if is_result and not _always_answers(call, file) else ""
    if _OF_RESULT.fullmatch(callee) and origin_of(callee.partition(".")[0], call, file).endswith(
        ("execute()", "scalars()")
    ):
        return "" if positional or _always_answers(call, file) else "medium"
    if _ROWS.search(callee):
        is_answered = ALWAYS_A_ROW.search(before[-ONE_QUERY:] + file.text(call)) is not None
        return "" if is_answered or _is_counted(callee, call, file) else "medium"
    if not _QUERY.search(callee) or positional:
        return ""
    if callee.endswith("execute().first") and _always_answers(call, file):
        return ""
    receiver = file.text(call).rpartition(".")[0]
    checks = (f"len({receiver})", f"{receiver}.exists()", f"{receiver}.count()")
    if any(map(before[-NEAR:].__contains__, checks)):
        return ""
    return "medium" if _is_named_row(call, file) else "high"


def _selects_object(wanted: Node, call: Node, file: SourceFile) -> bool:
    """Whether a statement of SQLAlchemy asks for rows under a condition, also by the name of a variable."""
    text = file.text(wanted)
    if _NAMED_QUERY.fullmatch(text):
        values = assigned_values(text, call, file)
        text = file.text(values[-1]) if values else ""
    text = "".join(text.split()) if text.startswith("(") else text
    return _SELECTS_OBJECT.match(text.lstrip("(")) is not None and ".where(" in text


def _is_named_row(call: Node, file: SourceFile) -> bool:
    """Whether one row is asked for that the program names itself; the newest of many is another matter."""
    return _NAMED_ROW.search(file.text(call)) is not None


def _always_answers(call: Node, file: SourceFile) -> bool:
    """Whether the query asks for what there always is: a count, a sum."""
    return ALWAYS_A_ROW.search(text_before(call, file)[-NEAR:] + file.text(call)) is not None


def _is_counted(callee: str, call: Node, file: SourceFile) -> bool:
    """Whether somebody has counted rows of the same table right before."""
    table = callee.partition(".objects")[0]
    before = text_before(call, file)[-NEAR:]
    return f"{table}.objects" in before and re.search(r"\.(?:count|exists)\(\)", before) is not None


def _of_compiled(callee: str, file: SourceFile) -> str:
    """How sure a pattern that the file has compiled may find nothing: `_PRICE = re.compile(...)`."""
    name = callee.split(".")[-2] if "." in callee else ""
    found = next(followed(name.encode(), file.source, _COMPILED, b"_."), None) if name.isidentifier() else None
    if found is None:
        return ""
    written = _LITERAL.match(file.source, found.end())
    pattern = written[1].decode("utf-8", "replace") if written is not None else ""
    if pattern and matches_empty(pattern):
        return ""
    if _is_asked_elsewhere(name, file):
        return "low"
    return "low" if pattern and matches_most(pattern) else "high"


def _is_asked_elsewhere(pattern: str, file: SourceFile) -> bool:
    """Whether the file asks somewhere if the pattern finds anything: here it may be known to."""
    line_of = (file.source[: each.start()].rpartition(b"\n")[2] for each in _matched_by(pattern, file))
    return any(_ASKS.search(line) for line in line_of) or any(
        _IS_NONE.match(file.source, each.end()) for each in _matched_by(pattern, file)
    )


def _matched_by(pattern: str, file: SourceFile) -> Iterator[re.Match[bytes]]:
    return re.finditer(rb"\b" + pattern.encode() + rb"\.(?:match|search|fullmatch)\([^\n]*?\)", file.source)


def _is_matched_by_test(call: Node, file: SourceFile) -> bool:
    """Whether the `if` around tests the same text with another pattern, or the text that it was cut from: who wrote
    both knows that the second fits."""
    positional, keywords = file.arguments(call)
    given = [*positional, *map(keywords.get, ("pattern", "string")[len(positional) :])]
    if file.callee(call) not in _MATCHERS or len(given) != 2 or given[1] is None:
        return False
    subject = file.text(given[1])
    for condition in conditions_around(call, file):
        if condition.end_byte < call.start_byte:
            tested = [each[1] for each in _TESTED.finditer(file.text(condition))]
            return subject in tested or any(
                re.search(rf"\b{re.escape(subject)}\s*=\s*{re.escape(each)}\[", text_before(call, file))
                for each in tested
            )
    return False


def _dictionary_look_up(callee: str, call: Node, file: SourceFile) -> str:
    positional = file.arguments(call)[0]
    head = callee.removesuffix(".get")
    if len(positional) == 2:
        is_model = (
            file.text(positional[0])[:1].isupper() and file.text(positional[0]) != file.text(positional[0]).upper()
        )
        return "high" if _LOADED.search(callee) and is_model else ""
    if len(positional) != 1:
        return ""
    if _KEYED.search(callee) or callee.endswith(".query().get") or _BY_KEY.search(callee):
        return "" if _is_known_key(file.text(positional[0]), call, file) else "high"
    if is_imported(callee, file):
        return ""
    key = file.text(positional[0])
    if _is_kept_dictionary(head, file):
        return "medium" if is_asked_by_key(call, file) and not _is_known_key(key, call, file) else ""
    if _OTHER_GET.search(head) or not re.fullmatch(r"\w+", head):
        return ""
    origin = "dict" if _is_given_dictionary(head, call, file) else origin_of(head, call, file)
    if _is_known_key(key, call, file):
        return ""
    if origin in ("dict", "dict()", "json.loads()") or origin.endswith(".json()"):
        return "medium"
    is_nested = not origin and positional[0].type == "string" and _LOOKED_UP.match(file.source, call.end_byte)
    return "low" if is_nested else ""


def _is_given_dictionary(head: str, call: Node, file: SourceFile) -> bool:
    """Whether the function is given a dictionary by this name, as its header says, and a key by its callers."""
    function = file.enclosing_function(call)
    if function is None or not is_asked_by_key(call, file):
        return False
    return any(
        each.name == head and _DICTIONARY.match(each.annotation) for each in file.dialect.parameters(function, file)
    )


def _is_kept_dictionary(head: str, file: SourceFile) -> bool:
    """Whether objects keep a dictionary by this name, as far as the file says: `self.rooms: dict[str, Room] = {}`."""
    name = head.removeprefix("self.")
    if name == head or not name.isidentifier():
        return False
    return next(followed(name.encode(), file.source, _KEPT_DICTIONARY, b"_"), None) is not None


def _is_known_key(key: str, call: Node, file: SourceFile) -> bool:
    """Whether the key was tested, stored or taken from a loop before."""
    before, word = text_before(call, file), re.escape(key)
    known = rf"{word}\s+in\b|\[{word}\]\s*=|\bfor\b[^\n]*\b{word}\b|\bif\b[^\n]*\.get\(\s*{word}"
    return key in before and re.search(known, before) is not None


def _assigned_to(call: Node, file: SourceFile) -> str:
    """The variable that the result goes into, when the call is all that stands on the right."""
    parent = call.parent
    if parent is None or parent.type != "assignment" or parent.end_byte != call.end_byte:
        return ""
    left = parent.child_by_field_name("left")
    return file.text(left) if left is not None and left.type == "identifier" else ""
