"""What a look-up gave is used as if it could not be empty."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.handlers import is_caught
from analysis.engine.rules.reading import (
    DEFINITIONS,
    LONGEST_TYPE,
    declarations,
    followed,
    function_text,
    is_imported,
    origin_of,
    short,
    text_after,
    text_before,
)

RULE = Rule(
    id="rel-unchecked-optional",
    type="unchecked_optional",
    category=Category.RELIABILITY,
    title="Look-up used without a check",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Handle the missing case (`get_object_or_404`, `?.`, `orElseThrow(() -> new NotFound(id))`).",
    languages=(*PYTHON, *SCRIPT, *JAVA, *GO),
    version=2,
)
GUIDE = Guide(
    why=(
        "The look-up finds nothing on the day the input is another one, and the error names neither the input nor the "
        "look-up."
    ),
    flagged=(
        {
            "shop/work.py": """
import re


def number(text):
    return re.search(r"[0-9]+", text).group(0)
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
import re


def number(text):
    found = re.search(r"[0-9]+", text)
    return found.group(0) if found else ""
"""
        },
    ),
)

_MATCHING = frozenset({"match", "search", "fullmatch"})
_MATCHERS = frozenset({"re.match", "re.search", "re.fullmatch"})
_MATCHERS_MADE = frozenset({"re.compile().match", "re.compile().search", "re.compile().fullmatch"})
_QUERY = re.compile(
    r"(\.objects(\.\w+\(\))*|(^|[._])(qs|queryset)"
    r"|\.(filter|filter_by|where|exclude|order_by|select_related|all|query|scalars|execute)\(\)"
    r"(\.\w+\(\))*|(^|\.)[A-Z]\w*\.query)\.(first|last|one_or_none|scalar_one_or_none)$"
)
_COMPILED = re.compile(rb"(?:\s*:[^=\n]+)?\s*=\s*re\.compile\(")
_DOCUMENT = re.compile(r"\w\.find_one(?:_and_\w+)?$")
_BY_KEY = re.compile(r"(?:^|\.)[A-Z]\w*\.query\.get$")
_LOADED = re.compile(r"(^|[._])(session|db|query\(\))\.get$")  # SQLAlchemy: by primary key
_ROWS = re.compile(r"\.fetchall$|\.objects(\.\w+\(\))*\.(filter|exclude)$")
_KEYED = re.compile(
    r"^os\.getenv$|(^|\.)(environ|(request|req)\.(GET|POST|args|form|headers|META|COOKIES|cookies|query_params)|json\(\)|loads\(\))\.get$"
)
_OTHER_GET = re.compile(
    r"(?i)(client|session|requests?|http\w*|api|repo\w*|service|manager|objects|crud|dao|redis|queue|q|query\w*|table|model\w*"
    r"|db|cache|s3|self|cls|super\(\)|config|settings|store|storage|registry|driver|app|router|ctx|context\w*)$"
)
_ALWAYS_A_ROW = re.compile(
    r"(?i)\b(?:count|max|min|sum|avg|exists|coalesce|nextval|version|now|last_insert_\w+)\(|returning|pragma|select\s+\d|@@"
)
_FOUND_ONE = frozenset({"findOne", "findOneBy", "findFirst", "findUnique", "findById", "findByPk"})
_ROWS_OF_SCRIPT = frozenset({"query", "findMany", "execute", "raw"})
_FROM_STORE = re.compile(r"^(?!this\.\w+$)(?!.*[sS]ervice\.\w+$).+\.\w+$")
_MAP = re.compile(rb"(?<![<\w])(?<!, )\w*Map<[^;=(]*>\s+$")
_ASKED_OR_PUT = re.compile(r"\.(?:containsKey|put\w*|compute\w*|keySet|entrySet|get)\(")
_OF_ROWS = re.compile(r"\s*:\s*\w+(?:\(\))?\)\s*\{")
_COLLECTED = re.compile(r"\s*=[^;]*\b(?:toMap|convertMap|uniqueIndex|groupingBy|partitioningBy)\(")
LONGEST_AROUND = 3_000  # bytes before a call in which its map is made
_OPTIONAL_TYPE = re.compile(r"\bOptional(?:<[^;=]*>)?\s+\Z")
_ASKED_OPTIONAL = re.compile(r"\s*\.\s*(?:isPresent|isEmpty|ifPresent|orElse\w*)\b")
_FILLED = re.compile(r"\s*=[^;]*\bof\(")
_ROWS_OF_JAVA = re.compile(
    r"\s*=\s*[\w.]*(?:[jJ]dbc\w*|[tT]emplate|[qQ]uery|[eE]m|[mM]anager)\b[^;]*\.(?:query|queryForList|getResultList)\([^;]*;"
)
_QUERIED_ROWS = re.compile(r"\.(?:query|queryForList|getResultList)\(\)$")
_SIZE = re.compile(r"[eE]mpty\(|size\(\)|hasNext\(\)")
_MANAGER = re.compile(r"(?i)(?:^|\.)(?:em|\w*entityManager)\.find$")
_FOUND_BY = re.compile(r"\s*=\s*[\w.]+\.find(?:ById|First|Any|One)\w*\([^;]*;")
_VAR = re.compile(r"\bvar\s+\Z")
_FAILS = re.compile(r"except\s*(:|.*\b(AttributeError|TypeError|IndexError|Exception|BaseException)\b)|catch")
_OPTIONAL = re.compile(
    r"(^|\.)(find\w*|get\w*Optional|findFirst\(\)|findAny\(\)|max\(\)|min\(\)|reduce\(\)|stream\(\)[\w().]*)\(\)\.get$"
)
_VALIDATED = re.compile(r"\.(?:validate\w*|is_valid)\(")
_FUTURE = re.compile(r"\b(ExecutionException|\w*Future)\b|Async\(")  # `get()` waits there
_CONSTANT = re.compile(r"(^|[./])[A-Z][A-Z0-9_]+\.find$")
_TWO_RESULTS = re.compile(rb"\w+\s*,\s*\w+\s*:?=\s*\Z")
_OUTSIDE = re.compile(
    r"(?i)\.(?:Value|MustGet|Locals)\([^()]*(?:\([^()]*\))?\)$|session\w*\.Get\([^()]*\)$|\[\"?[\w.]+\"?\]$"
)
_ENDS_STATEMENT = re.compile(rb"[ \t\r]*(?:;|(?://[^\n]*)?[ \t\r]*(?:\n(?!\s*[?.|&!])|\Z))")
_TAKEN_APART = re.compile(rb"\b(?:const|let|var)\s*\{([^{}=]*)\}\s*=\s*(?:await\s+)?\Z")
_ELEMENT = re.compile(rb"\[\d\]|\.groups\b|\.index\b|\.map\(")
_ALWAYS_MATCHES = re.compile(r"/\^?(?:\(?(?:\[[^\]]*\]|\\?.)\*\)?)+\$?/")
_LOOKED_UP = re.compile(rb"\.get\(")  # in what a look-up gave: dictionaries in dictionaries
_WORD_END = re.compile(r"\b")
_ASKED = re.compile(r"\b(?:if|and|or|not|assert|is)\s+\Z")
_NAMES_A_VALUE = re.compile(r"\s*:(?!:)|=(?!=)")
_COMMENT = re.compile(r"(?<![:'\"])//|(?:^|\s)#\s|^\s*\*\s", re.MULTILINE)
_IF = re.compile(r"\bif\s+\Z")
_CHOOSES = re.compile(r"(?!\.)[^\n:]*(?:\n\s*)?else\b")
_ASKS = re.compile(r"\s*(?:&&|\?|is\b|and\b)")
_TAKEN = re.compile(rb"\s*\)?\s*[.\[\\#]")  # a member or an element of it, maybe on the next line
_GIVEN = re.compile(rb"[=\\]\s*(?:await\s+)?\Z")
_SET_BEFORE = re.compile(r"\.MustGet\(|\.Context\(\)\.Value\(")
_TESTED = re.compile(r"\bre\.\w+\([^\n]*,\s*([^\n,]+?)\s*\)")
_HELD = re.compile(r"(\w+)\.(?:Value|Interface)\(\)")
LONGEST_GAP = 100  # bytes between a sign and what it is for
_NEAR = 400  # bytes before a look-up in which its check stands


class _Use(NamedTuple):
    """A member or an element that is taken of a variable: its text, and where."""

    text: str
    node: Node


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`re.match(p, s).group()`, `qs.first().x`, `os.environ.get("A").lower()`, also by way of a variable."""
    start = call.start_byte
    if not _TAKEN.match(file.source, call.end_byte) and not _GIVEN.search(file.source, start - LONGEST_GAP, start):
        return
    confidence = _python_look_up(call, file)
    if not confidence or _is_tested_before(call, file) or is_caught(call, file, _FAILS):
        return
    if file.is_in(call, "handler") and "MultipleObjectsReturned" in text_before(call, file):
        return
    if _is_matched_by_test(call, file) or (
        ".form." in file.callee(call) and _VALIDATED.search(text_before(call, file))
    ):
        return
    whole = _awaited(call)
    parent = whole.parent
    callee = file.callee(call)
    if parent is not None and parent.type in ("attribute", "subscript") and parent.start_byte == whole.start_byte:
        taken = file.source[whole.end_byte : parent.end_byte].decode("utf-8", "replace").strip()
        if _ROWS.search(callee):
            if taken == "[0]":
                message = f"`{short(callee)}` may give no row, and `[0]` of nothing fails"
                yield file.mark(RULE.id, call, message, confidence="medium")
            return
        message = f"`{short(callee)}` may give None, and `{short(taken, 30)}` of None fails"
        yield file.mark(RULE.id, call, message, confidence=confidence)
    elif (name := _assigned_to(whole, file)) and (used := _used_unchecked(name, call, file)):
        if _ROWS.search(callee) and not used.text.startswith("[0]"):
            return
        message = f"`{name}` may be None: `{short(callee)}` gave it, and `{name}{short(used.text, 30)}` of None fails"
        if _ROWS.search(callee):
            message = f"`{name}` may hold no row: `{short(callee)}` gave it, and `{name}[0]` of nothing fails"
        yield file.mark(RULE.id, used.node, message, confidence="medium")


def _awaited(call: Node) -> Node:
    """The call, with the `await` and the brackets around it."""
    above = call.parent
    if above is None or above.type != "await":
        return call
    outer = above.parent
    return outer if outer is not None and outer.type == "parenthesized_expression" else above


def look_at_find(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`array.find(...).x` in script."""
    given = file.arguments(call)[0]
    if len(given) != 1 or given[0].type not in ("arrow_function", "function_expression"):
        return
    callee = file.callee(call)
    if _is_tested_before(call, file) or is_caught(call, file, _FAILS):
        return
    used = re.match(rb"\.[\w$]+", file.source[call.end_byte : call.end_byte + 60])
    if used is not None:
        member = used[0].decode()
        yield file.mark(
            RULE.id,
            call,
            f"`{short(callee)}` gives undefined when nothing matches, and `{member}` of it throws",
            confidence="low" if _CONSTANT.search(callee) else "medium",
            suggestion=f"Handle the missing case (`?{member}`, or an error that names what was looked for).",
        )
    elif not _CONSTANT.search(callee):
        yield from _used_by_variable(call, file, confidence="low")


def look_at_found(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`(await repository.findOne(...)).x`, and `rows[0]` of a query."""
    name = file.callee(call).rpartition(".")[2]
    if not _FROM_STORE.search(file.callee(call)) or is_caught(call, file, _FAILS):
        return
    after = file.source[call.end_byte : call.end_byte + 60]
    before = file.source[max(0, call.start_byte - 20) : call.start_byte]
    used = re.match(rb"\s*\)\s*(\.[\w$]+|\[0\]\.[\w$]+)", after) if re.search(rb"\(\s*await\s+\Z", before) else None
    if used is not None and (name in _FOUND_ONE) == used[1].startswith(b"."):
        message = f"`{short(file.callee(call))}` may find nothing, and `{used[1].decode()}` of it throws"
        yield file.mark(RULE.id, call, message)
    elif name in _ROWS_OF_SCRIPT and _ALWAYS_A_ROW.search(file.text(call)):
        return
    elif name in _FOUND_ONE and _is_taken_apart(call, file):
        yield file.mark(RULE.id, call, f"`{short(file.callee(call))}` may find nothing, and taking that apart throws")
    elif used is None and re.search(rb"=\s*await\s+\Z", before):
        yield from _used_by_variable(call, file, rows=name in _ROWS_OF_SCRIPT)


def _is_taken_apart(call: Node, file: SourceFile) -> bool:
    """`const { name } = await repository.findOne(id)`."""
    start = call.start_byte
    apart = _TAKEN_APART.search(file.source, max(0, start - _NEAR), start)
    return apart is not None and apart[1].strip() not in (b"rows", b"data", b"error") and _ends(call, file)


def look_at_match(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`text.match(/(\\d+)/)[1]` in script: no match gives null."""
    given = file.arguments(call)[0]
    if len(given) != 1 or is_caught(call, file, _FAILS):
        return
    if file.callee(call).endswith("exec"):
        function = call.child_by_field_name("function")
        written = function.child_by_field_name("object") if function is not None else None
    else:
        written = given[0]
    if written is None or written.type != "regex":
        return
    pattern = file.text(written)
    if _ALWAYS_MATCHES.match(pattern) or pattern.rpartition("/")[0] in text_before(call, file):
        return  # somebody has asked with the same pattern
    used = _ELEMENT.match(file.source, call.end_byte)
    if used is not None:
        message = f"`{_shown(call, file)}` gives null when nothing matches, and `{used[0].decode()}` of null throws"
        yield file.mark(RULE.id, call, message, confidence="medium")
    else:
        yield from _used_by_variable(call, file, confidence="low")


def look_at_map(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`map.get(key).method()` of a `Map` in script."""
    callee = file.callee(call)
    head = callee.removesuffix(".get")
    if head == callee or len(file.arguments(call)[0]) != 1 or not re.fullmatch(r"(this\.)?\w+", head):
        return
    is_taken = file.source[call.end_byte : call.end_byte + 1] == b"."
    if not (is_taken or _ENDS_STATEMENT.match(file.source, call.end_byte)) or is_caught(call, file, _FAILS):
        return
    name = head.rpartition(".")[2]
    if not re.search(rf"\b{name}\b(?:[^;\n]{{0,60}}=\s*new Map\b|\??:\s*Map<)", file.source.decode("utf-8", "replace")):
        return
    around = file.source[max(0, call.start_byte - _NEAR) : call.start_byte].decode("utf-8", "replace")
    if re.search(rf"\b{name}\.(has|set|keys|entries|forEach)\(|\.map\b", text_before(call, file)):
        return
    if re.search(rf"\b{name}\.set\(", around):
        return  # in the function around
    if not is_taken:
        yield from _used_by_variable(call, file, confidence="low")
        return
    yield file.mark(
        RULE.id,
        call,
        f"`{head}.get` gives undefined for a key that is not there, and its use throws",
        confidence="medium",
    )


def look_at_java_map(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`map.get(key).method()` of a declared `Map` in Java, where nobody has put or asked for a key before."""
    head, _, _ = file.callee(call).rpartition(".")
    if len(file.arguments(call)[0]) != 1 or not re.fullmatch(r"(this\.)?\w+", head):
        return
    name = head.rpartition(".")[2]
    if file.source[call.end_byte : call.end_byte + 1] != b"." or not any(map(_MAP.search, declarations(name, file))):
        return
    before = text_before(call, file)
    if any(followed(name, before, _ASKED_OR_PUT, "_")) or is_caught(call, file, _FAILS):
        return
    around = file.source[max(0, call.start_byte - LONGEST_AROUND) : call.start_byte].decode("utf-8", "replace")
    if any(followed(name, around, _OF_ROWS, "_")) or any(followed(name, around, _COLLECTED, "_")):
        return  # a row has its columns, and a map that was made of a list has its elements
    message = f"`{head}.get` gives null for a key that is not there, and its use throws"
    yield file.mark(RULE.id, call, message, confidence="low")


def look_at_get(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`Optional.get()` in Java, right on a look-up or by way of a variable."""
    callee = file.callee(call)
    given = file.arguments(call)[0]
    if given:
        is_first = file.text(given[0]) == "0"
        yield from look_at_first_row(call, file) if is_first else look_at_java_map(call, file)
        return
    variable = re.fullmatch(r"(\w+)\.get", callee)
    is_optional = file.mentions(b"Optional") or file.mentions(b"var ")
    if not (is_optional if variable is not None else _OPTIONAL.search(callee)):
        return
    if is_caught(call, file, _FAILS):
        return
    before = text_before(call, file)
    if variable is not None:
        yield from _look_at_variable(variable[1], before, call, file)
        return
    if _FUTURE.search(function_text(call, file)):
        return
    start, _ = file.dialect.callee(call)
    looked_up = file.source[start : call.end_byte].decode("utf-8", "replace").rpartition(".")[0]
    if looked_up + ".isPresent()" in before or re.search(
        r"isPresent\(\)|isEmpty\(\)|size\(\)|hasNext\(\)", before[-_NEAR:]
    ):
        return
    yield file.mark(
        RULE.id,
        call,
        f"`{short(looked_up)}` may be empty, and `get()` then throws an error that names nothing",
        confidence="medium",
    )


def look_at_first_row(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`jdbc.query(sql, mapper).get(0)`, where nobody has asked how many rows there are."""
    head = file.callee(call).rpartition(".")[0]
    before = text_before(call, file)
    if is_caught(call, file, _FAILS):
        return
    if head.isidentifier():
        made = list(followed(head, before, _ROWS_OF_JAVA, "_."))[-1:]
        if not made or _SIZE.search(before, made[0].end()):
            return
    elif _QUERIED_ROWS.search(head) is None or _ALWAYS_A_ROW.search(file.text(call)):
        return
    message = f"`{short(head)}` may give no row, and `get(0)` of nothing throws"
    yield file.mark(RULE.id, call, message, confidence="medium")


def look_at_nothing(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`repository.findById(id).orElse(null).name()`, `entityManager.find(Order.class, id).total()` in Java."""
    callee = file.callee(call)
    given = [file.text(each) for each in file.arguments(call)[0]]
    is_null = callee.endswith(".orElse") and given == ["null"]
    if not is_null and not (_MANAGER.search(callee) and len(given) > 1 and given[0].endswith(".class")):
        return
    if file.source[call.end_byte : call.end_byte + 1] == b"." and not is_caught(call, file, _FAILS):
        yield file.mark(RULE.id, call, f"`{short(callee)}` may give null, and its use throws")


def look_at_assertion(assertion: Node, file: SourceFile) -> Iterator[Mark]:
    """`value.(*User)` in Go, where nobody asks whether it is one."""
    before = file.source[max(0, assertion.start_byte - 60) : assertion.start_byte]
    text = file.text(assertion)
    if ".(func(" in text:
        return  # a table of functions, which the program has made
    if _TWO_RESULTS.search(before.rpartition(b"\n")[2]) or not _comes_from_outside(text, assertion, file):
        return
    yield file.mark(
        RULE.id,
        assertion,
        f"`{short(text)}` panics when the value is of another type or missing",
        # What runs before a handler puts there what it takes, as far as anybody can see from here.
        confidence="low" if _SET_BEFORE.search(text) else "medium",
        suggestion="Take the second result (`value, ok := ...`) and answer with an error.",
        data={"form": "assertion"},
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A type assertion matters where it takes a request with it."""
    return place.finding(mark) if "form" not in mark.data or place.in_request_path else None


def _comes_from_outside(text: str, assertion: Node, file: SourceFile) -> bool:
    """Whether the value comes from a session, a request's context, a token or decoded text, and nobody has asked
    whether it is there."""
    operand = text.rpartition(".(")[0]
    before = text_before(assertion, file)
    if (kind := _HELD.fullmatch(operand)) and re.search(rf"\b{kind[1]}\.Type\(\)\s*[!=]=", before):
        return False
    if not re.fullmatch(r"\w+", operand):
        return _OUTSIDE.search(operand) is not None and not re.search(re.escape(operand) + r"\s*[!=]=\s*nil\b", before)
    given = list(re.finditer(rf"\b{operand}\s*:?=\s*([^\n]*)", before))[-1:]
    if not given or not _OUTSIDE.search(given[0][1].rstrip()):
        return False
    return not re.search(rf"\b{operand}\s*[!=]=\s*nil\b", before[given[0].end() :])


def _python_look_up(call: Node, file: SourceFile) -> str:
    """How sure it is that the call looks something up that may be missing; empty when it does not."""
    callee = file.callee(call)
    positional, keywords = file.arguments(call)
    if callee in _MATCHERS or callee in _MATCHERS_MADE:
        return "high"
    if callee.rpartition(".")[2] in _MATCHING:
        return "high" if _is_compiled(callee, file) else ""
    if callee == "next":
        return "medium" if len(positional) == 2 and file.text(positional[1]) == "None" else ""
    if _DOCUMENT.search(callee):
        return "medium"
    if callee == "os.getenv":
        return "high" if len(positional) == 1 and not keywords else ""
    if callee.endswith(".fetchone"):
        asked = text_before(call, file)[-_NEAR:] + file.text(call)
        return "" if positional or _ALWAYS_A_ROW.search(asked) else "low"
    if callee.endswith(".get"):
        return _dictionary_look_up(callee, call, file) if not keywords else ""
    if _ROWS.search(callee):
        return "" if _is_counted(callee, call, file) else "medium"
    if not _QUERY.search(callee) or positional:
        return ""
    receiver = file.source[call.start_byte : call.end_byte].decode("utf-8", "replace").rpartition(".")[0]
    checks = (f"len({receiver})", f"{receiver}.exists()", f"{receiver}.count()")
    return "" if any(map(text_before(call, file)[-_NEAR:].__contains__, checks)) else "high"


def _is_counted(callee: str, call: Node, file: SourceFile) -> bool:
    """Whether somebody has counted rows of the same table right before."""
    table = callee.partition(".objects")[0]
    before = text_before(call, file)[-_NEAR:]
    return f"{table}.objects" in before and re.search(r"\.(?:count|exists)\(\)", before) is not None


def _is_compiled(callee: str, file: SourceFile) -> bool:
    """Whether the receiver is a pattern that the file has compiled: `_PRICE = re.compile(...)`."""
    name = callee.split(".")[-2] if "." in callee else ""
    return name.isidentifier() and any(followed(name.encode(), file.source, _COMPILED, b"_."))


def _is_matched_by_test(call: Node, file: SourceFile) -> bool:
    """Whether the `if` around tests the same text with another pattern, or the text that it was cut from: who wrote
    both knows that the second fits."""
    given = file.arguments(call)[0]
    if file.callee(call) not in _MATCHERS or len(given) != 2:
        return False
    subject = file.text(given[1])
    above = call.parent
    while above is not None and above.type not in DEFINITIONS:
        condition = above.child_by_field_name("condition") if above.type == "if_statement" else None
        if condition is not None and condition.end_byte < call.start_byte:
            tested = [each[1] for each in _TESTED.finditer(file.text(condition))]
            return subject in tested or any(
                re.search(rf"\b{re.escape(subject)}\s*=\s*{re.escape(each)}\[", text_before(call, file))
                for each in tested
            )
        above = above.parent
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
    if is_imported(callee, file) or _OTHER_GET.search(head) or not re.fullmatch(r"\w+", head):
        return ""
    origin = origin_of(head, call, file)
    if _is_known_key(file.text(positional[0]), call, file):
        return ""
    if origin in ("dict", "dict()", "json.loads()") or origin.endswith(".json()"):
        return "medium"
    is_nested = not origin and positional[0].type == "string" and _LOOKED_UP.match(file.source, call.end_byte)
    return "low" if is_nested else ""


def _is_known_key(key: str, call: Node, file: SourceFile) -> bool:
    """Whether the key was tested, stored or taken from a loop before."""
    before, word = text_before(call, file), re.escape(key)
    known = rf"{word}\s+in\b|\[{word}\]\s*=|\bfor\b[^\n]*\b{word}\b"
    return key in before and re.search(known, before) is not None


def _assigned_to(call: Node, file: SourceFile) -> str:
    """The variable that the result goes into, when the call is all that stands on the right."""
    parent = call.parent
    if parent is None or parent.type != "assignment" or parent.end_byte != call.end_byte:
        return ""
    left = parent.child_by_field_name("left")
    return file.text(left) if left is not None and left.type == "identifier" else ""


def _ends(call: Node, file: SourceFile) -> bool:
    """Whether the statement ends with the call, so that nothing stands in for what is missing."""
    return _ENDS_STATEMENT.match(file.source, call.end_byte) is not None


def _used_by_variable(
    call: Node, file: SourceFile, *, rows: bool = False, confidence: str = "medium"
) -> Iterator[Mark]:
    if not _ends(call, file):
        return
    declared = re.search(
        rb"(?:const|let|var)\s+(\w+|\{\s*rows\s*\})\s*=\s*(?:await\s+)?\Z",
        file.source[max(0, call.start_byte - 100) : call.start_byte],
    )
    name = declared[1].decode().strip("{ }") if declared is not None else ""
    used = _used_unchecked(name, call, file) if name else None
    if used is not None and used.text.startswith(("[0].", ".rows[0].")) is rows:
        message = f"`{name}` may be missing: `{_shown(call, file)}` gave it, and `{name}{short(used.text, 30)}` throws"
        yield file.mark(RULE.id, used.node, message, confidence=confidence)


def _shown(call: Node, file: SourceFile) -> str:
    """The callee for a message, of a pattern that is written out its method alone."""
    callee = file.callee(call)
    return short(callee if callee[:1].isidentifier() else callee.rpartition(".")[2])


def _used_unchecked(name: str, call: Node, file: SourceFile) -> _Use | None:
    """How a variable is used next, when that is a member or an element of it and the statement asks nothing."""
    after = text_after(call, file)
    uses = (
        each
        for each in followed(name, after, _WORD_END, "_.$")
        if not _is_key(each, name, after) and not _is_said(each.start(), after)
    )
    found = next(uses, None)
    if found is None or found.start() - len(name) > _NEAR:
        return None
    used = re.match(r"(\.rows)?\[[^\]\n]{1,20}\](\.[\w$]+)?|\.[\w$]+", after[found.end() :])
    if _is_chosen_by(name, after[found.end() : found.end() + _NEAR]):
        return None
    line = after[after.rfind("\n", 0, found.start()) + 1 : after.find("\n", found.end()) % (len(after) + 1)]
    if used is None or _is_asked_for(name, line) or re.match(r"\.length\b", used[0]):
        return None
    start = call.end_byte + len(after[: found.start() - len(name)].encode())
    node = file.tree.root_node.descendant_for_byte_range(start, start + 1)
    return _Use(used[0], node or call)


def _is_key(found: re.Match[str], name: str, text: str) -> bool:
    """Whether the name is that of a key or of a keyword: `{ patient: patient.id }`, `Visit(patient=patient.id)`."""
    before = text[: found.end() - len(name)].rstrip()[-1:]
    return before in ("{", ",", "(") and _NAMES_A_VALUE.match(text, found.end()) is not None


def _is_said(position: int, text: str) -> bool:
    """Whether a comment begins before the place, on its line."""
    return _COMMENT.search(text, text.rfind("\n", 0, position) + 1, position) is not None


def _is_chosen_by(name: str, text: str) -> bool:
    """Whether a choice asks for the variable: Python's asks behind what it chooses."""
    return "else" in text and any(
        _CHOOSES.match(text, each.end()) and _IF.search(text, 0, each.end() - len(name))
        for each in followed(name, text, _WORD_END, "_")
    )


def _is_asked_for(name: str, line: str) -> bool:
    """Whether the line asks if the variable holds something."""
    return any(
        _ASKS.match(line, each.end())
        or (not line.startswith(".", each.end()) and _ASKED.search(line, 0, each.end() - len(name)))
        for each in followed(name, line, _WORD_END, "_")
    )


def _look_at_variable(name: str, before: str, call: Node, file: SourceFile) -> Iterator[Mark]:
    if "Optional" not in before and "var " not in before:
        return
    ends = [
        each.end()
        for each in followed(name, before, _WORD_END, "_")
        if _OPTIONAL_TYPE.search(before, max(0, each.start() - LONGEST_TYPE), each.start() - len(name))
        or (
            _VAR.search(before, max(0, each.start() - LONGEST_TYPE), each.start() - len(name))
            and _FOUND_BY.match(before, each.end())
        )
    ]
    if not ends:
        return
    since = before[ends[-1] :]
    if _FILLED.match(since) or any(followed(name, since, _ASKED_OPTIONAL, "_")):
        return
    message = f"`{name}` may be empty, and `get()` then throws an error that names nothing"
    yield file.mark(RULE.id, call, message, confidence="medium")


def _is_tested_before(call: Node, file: SourceFile) -> bool:
    """Whether the same look-up stands in a test before."""
    return file.text(call) in text_before(call, file)


_PYTHON = frozenset(
    """match search fullmatch first last fetchone get getenv next find_one one_or_none scalar_one_or_none fetchall
    filter exclude""".split()
)

WATCHES = (
    Watch("call", look_at_python, PYTHON, names=_PYTHON),
    Watch("call", look_at_find, SCRIPT, names=frozenset({"find"})),
    Watch("call", look_at_found, SCRIPT, names=_FOUND_ONE | _ROWS_OF_SCRIPT),
    Watch("call", look_at_match, SCRIPT, names=frozenset({"match", "exec"})),
    Watch("call", look_at_map, SCRIPT, names=frozenset({"get"})),
    Watch("call", look_at_get, JAVA, names=frozenset({"get"})),
    Watch("call", look_at_nothing, JAVA, names=frozenset({"orElse", "find"})),
    Watch("type_assertion_expression", look_at_assertion, GO, needs=(b".(",)),
)
