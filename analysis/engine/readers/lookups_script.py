"""Look-ups of JavaScript and TypeScript that give undefined or null: elements, rows, matches, keys of a `Map`."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.handlers import is_caught
from analysis.engine.readers.lookups import (
    ALWAYS_A_ROW,
    ASKED,
    FAILS,
    NEAR,
    OWN_KEY,
    Missing,
    is_aggregate,
    is_asked_by_key,
    is_asked_for,
    is_tested_before,
    matches_most,
    text_before_in_outermost,
    used_unchecked,
)
from analysis.engine.readers.reading import first_argument, followed, short, text_before

FOUND_ONE = frozenset({"findOne", "findOneBy", "findFirst", "findUnique", "findById", "findByPk", "first"})
ROWS_OF_SCRIPT = frozenset({"query", "findMany", "findAll", "execute", "raw", "$queryRaw", "$queryRawUnsafe"})
STEPS_OF_DRIZZLE = frozenset({"from", "where", "limit", "orderBy", "innerJoin", "leftJoin"})
_FROM_STORE = re.compile(r"^(?!this\.\w+$)(?!.*[sS]ervice\.\w+$).+\.[\w$]+$")
_OF_DRIZZLE = re.compile(r"\.select\(\)\.from(?:$|\(\))")
_OWN_STORE = re.compile(r"^this\.\w*[rR]epo(?:sitory)?\w*\.findById$")  # no library's: it may throw for what is missing
_CONSTANT = re.compile(r"(^|[./])[A-Z][A-Z0-9_]+\.find$")
_OF_COMPONENT = re.compile(r"this\.(?:state|props)\.")  # which shows what it has, and is asked for one of them
_SIGNED_IN = re.compile(r"(?:\w+\.)*(?:ctx|context|req|request)\.(?:\w+\.)*(?:user|auth|session|account)\.\w*[iI]d")
_AGGREGATE = re.compile(r"\.(?:count|countDistinct|max|min|sum|avg)\(\)(?!.*\.groupBy\(\))")
_PROJECT_FINDER = re.compile(r"(?:[a-z_]\w*\.)+\w+$")  # no class, and no query that is built
_TESTED_TEXT = r"\b{subject}\.(?:startsWith|endsWith|includes|indexOf|test)\("
_OF_REQUEST = re.compile(r"\b(?:req|request|ctx|params|query|body|searchParams)\.\w")
_HANDLES = re.compile(r"(?:on|handle)[A-Z]")
_ENDS_STATEMENT = re.compile(rb"[ \t\r]*(?:;|(?://[^\n]*)?[ \t\r]*(?:\n(?!\s*[?.|&!])|\Z))")
_TAKEN_APART = re.compile(rb"\b(?:const|let|var)\s*\{([^{}=]*)\}\s*=\s*(?:await\s+)?\Z")
_REJECTS = re.compile(r"\brejectOnEmpty\b(?!\s*:\s*false)")
_TAKEN = re.compile(rb"\s*\)\s*((?:\.rows)?\[0\]\.[\w$]+|\.[\w$]+)")
_OF_ROWS = re.compile(rb"(?:\.rows)?\[0\]")
_GIVEN = re.compile(rb"(?:const|let|var)\s+(\w+|\{\s*rows\s*\}|\[\s*rows\s*(?:,\s*\w+\s*)?\])\s*=\s*(?:await\s+)?\Z")
_GIVEN_FIRST = re.compile(rb"(?:const|let|var)\s+\[\s*(\w+)\s*\]\s*=\s*await\s+\Z")
_ELEMENT = re.compile(rb"\[\d\]|\.groups\b|\.index\b|\.map\(")
_MAP_OF = re.compile(rb"(?:\??\s*:[^=;\n]*?|[^;\n]{0,60}?=\s*new\s+)Map<\s*([\w.]+)")
_MADE = re.compile(r"(?:\s*:\s*\w+)?\s*=(?!=)")
_BEGINS = re.compile(r"/\^?([\w: -]{4,})")
_OF_TYPE = re.compile(r"toString\s*\.\s*call\(")
_ALWAYS_MATCHES = re.compile(r"/\^?(?:\(?(?:\[[^\]]*\]|\\?.)\*\)?)+\$?/")


def look_at_find(call: Node, file: SourceFile) -> Iterator[Missing]:
    """`array.find(...).x` in script."""
    given = file.arguments(call)[0]
    if len(given) != 1 or given[0].type not in ("arrow_function", "function_expression"):
        return
    callee = file.callee(call)
    if is_tested_before(call, file) or is_caught(call, file, FAILS):
        return
    is_known = _CONSTANT.search(callee) or _OF_COMPONENT.match(callee)
    data = ASKED if not is_known and _is_asked(given[0], call, file) else None
    used = re.match(rb"\.[\w$]+", file.source[call.end_byte : call.end_byte + 60])
    if used is not None:
        member = used[0].decode()
        yield Missing(
            call,
            f"`{short(callee)}` gives undefined when nothing matches, and `{member}` of it throws",
            # Who looks into a list mostly knows what is in it; a request may ask for anything.
            confidence="medium" if _OF_REQUEST.search(file.text(given[0])) else "low",
            data=data,
            suggestion=f"Handle the missing case (`?{member}`, or an error that names what was looked for).",
        )
    elif not _CONSTANT.search(callee):
        yield from _used_by_variable(call, file, confidence="low", data=data)


def _is_asked(given: Node, call: Node, file: SourceFile) -> bool:
    """Whether callers say what is looked for; a page gives its own handlers what it shows."""
    name = file.functions[file.function_of(call)].short_name
    is_of_page = file.language == "tsx" and _HANDLES.match(name) is not None
    return not is_of_page and is_asked_for(file.text(given), call, file)


def look_at_found(call: Node, file: SourceFile) -> Iterator[Missing]:
    """`(await repository.findOne(...)).x`, and `rows[0]` of a query."""
    name = file.callee(call).rpartition(".")[2]
    if not _FROM_STORE.search(file.callee(call)):
        return
    # Who catches all answers that something has failed; who asks for what is not there made no mistake of the server.
    is_taken = is_caught(call, file, FAILS)
    if is_taken and not _OF_REQUEST.search(file.text(call)):
        return
    given = [file.text(each) for each in file.arguments(call)[0]]
    if any(map(_REJECTS.search, given)):
        return  # Sequelize throws for what is not there
    if len(given) == 1 and (OWN_KEY.fullmatch(given[0]) or (is_taken and _SIGNED_IN.fullmatch(given[0]))):
        return
    if name == "first" and _AGGREGATE.search(file.callee(call)):
        return  # a number is always given
    if name in ROWS_OF_SCRIPT and is_aggregate(_query_of(call, file)):
        return
    after = file.source[call.end_byte : call.end_byte + 60]
    before = _text_before(call, 20, file)
    data = _found_by(name, is_taken, file.callee(call))
    used = _TAKEN.match(after) if re.search(rb"\(\s*await\s+\Z", before) else None
    if used is not None and (name in FOUND_ONE) == (_OF_ROWS.match(used[1]) is None):
        message = f"`{short(file.callee(call))}` may find nothing, and `{used[1].decode()}` of it throws"
        yield Missing(call, message, confidence="low" if is_taken else "", data=data)
    elif name in ROWS_OF_SCRIPT and ALWAYS_A_ROW.search(file.text(call)):
        return
    elif name in FOUND_ONE and _is_taken_apart(call, file):
        message = f"`{short(file.callee(call))}` may find nothing, and taking that apart throws"
        yield Missing(call, message, confidence="low" if is_taken else "", data=data)
    elif used is None and re.search(rb"=\s*await\s+\Z", before):
        confidence = "low" if is_taken or _OWN_STORE.search(file.callee(call)) else "medium"
        yield from _used_by_variable(call, file, rows=name in ROWS_OF_SCRIPT, confidence=confidence, data=data)


def _query_of(call: Node, file: SourceFile) -> str:
    """The text of a query where it is given, or where the variable that is given got it."""
    given = first_argument(call, file)
    if not given.isidentifier():
        return given
    before = text_before(call, file)
    made = list(followed(given, before, _MADE, "_.$"))[-1:]
    return before[made[0].end() :] if made else ""


def _found_by(name: str, is_taken: bool, callee: str) -> dict[str, str] | None:
    """What `judge` has to know: that a request asks, and which method of the project may have looked it up."""
    finder = {"finder": name} if name in FOUND_ONE and _PROJECT_FINDER.match(callee) else {}
    return {**(ASKED if is_taken else {}), **finder} or None


def _is_taken_apart(call: Node, file: SourceFile) -> bool:
    """`const { name } = await repository.findOne(id)`."""
    apart = _TAKEN_APART.search(_text_before(call, NEAR, file))
    return apart is not None and apart[1].strip() not in (b"rows", b"data", b"error") and _ends(call, file)


def look_at_drizzle(call: Node, file: SourceFile) -> Iterator[Missing]:
    """`const [row] = await db.select().from(users).where(...)`, and `rows[0]` of it."""
    callee = file.callee(call)
    if not _OF_DRIZZLE.search(callee) or file.source[call.end_byte : call.end_byte + 1] == b".":
        return  # more steps follow
    if ALWAYS_A_ROW.search(file.text(call)) or is_caught(call, file, FAILS):
        return
    before = _text_before(call, 20, file)
    used = _TAKEN.match(file.source, call.end_byte) if re.search(rb"\(\s*await\s+\Z", before) else None
    if used is not None and _OF_ROWS.match(used[1]):
        yield Missing(call, f"`{short(callee)}` may find nothing, and `{used[1].decode()}` of it throws")
    elif re.search(rb"=\s*await\s+\Z", before):
        yield from _used_by_variable(call, file, rows=True)
        yield from _used_by_variable(call, file, given=_GIVEN_FIRST)


def look_at_match(call: Node, file: SourceFile) -> Iterator[Missing]:
    """`text.match(/(\\d+)/)[1]` in script: no match gives null."""
    given = file.arguments(call)[0]
    if len(given) != 1 or is_caught(call, file, FAILS):
        return
    if file.callee(call).endswith("exec"):
        function = call.child_by_field_name("function")
        written = function.child_by_field_name("object") if function is not None else None
    else:
        written = given[0]
    if written is None or written.type != "regex":
        return
    pattern = file.text(written)
    if _OF_TYPE.search(file.text(call)):
        return  # `[object Date]`
    before = text_before(call, file)
    if _ALWAYS_MATCHES.match(pattern) or pattern.rpartition("/")[0] in before:
        return  # somebody has asked with the same pattern
    begins = _BEGINS.match(pattern)
    if begins is not None and f'includes("{begins[1].strip()}")' in before[-NEAR:].replace("'", '"'):
        return  # or for the words that it begins with
    used = _ELEMENT.match(file.source, call.end_byte)
    if used is not None:
        message = f"`{_shown(call, file)}` gives null when nothing matches, and `{used[0].decode()}` of null throws"
        inner, _, flags = pattern.rpartition("/")
        is_guess = matches_most(inner[1:], re.IGNORECASE if "i" in flags else 0)
        yield Missing(call, message, confidence="low" if is_guess else "medium")
    else:
        subject = given[0] if written is not given[0] else call.child_by_field_name("function") or call
        tested = _TESTED_TEXT.format(subject=re.escape(file.text(subject).removesuffix(".match")))
        is_tested = re.search(tested, before[-NEAR:]) is not None
        is_asked = not is_tested and is_asked_for(file.text(subject), call, file)
        yield from _used_by_variable(call, file, confidence="low", data=ASKED if is_asked else None)


def look_at_map(call: Node, file: SourceFile) -> Iterator[Missing]:
    """`map.get(key).method()` of a `Map` in script."""
    callee = file.callee(call)
    head = callee.removesuffix(".get")
    if head in (callee, "this") or len(file.arguments(call)[0]) != 1 or not re.fullmatch(r"(this\.)?\w+", head):
        return
    is_taken = file.source[call.end_byte : call.end_byte + 1] == b"."
    if not (is_taken or _ENDS_STATEMENT.match(file.source, call.end_byte)) or is_caught(call, file, FAILS):
        return
    name = head.rpartition(".")[2]
    if not re.search(rf"\b{name}\b(?:[^;\n]{{0,60}}=\s*new Map\b|\??:\s*Map<)", file.source.decode("utf-8", "replace")):
        return
    if re.search(rf"\b{name}\.(has|set|keys|entries|forEach)\(|\.map\b", text_before(call, file)):
        return
    if re.search(rf"\b{name}\.set\(", text_before_in_outermost(call, file)[-NEAR:]):
        return  # in the function around
    if not is_taken:
        yield from _used_by_variable(call, file, confidence="low")
        return
    yield Missing(
        call,
        f"`{head}.get` gives undefined for a key that is not there, and its use throws",
        # Who asks a map mostly knows what is in it.
        confidence="medium" if _OF_REQUEST.search(file.text(call)) else "low",
        data=ASKED if is_asked_by_key(call, file) and not _keyed_by_kind(name, file) else None,
    )


def _keyed_by_kind(name: str, file: SourceFile) -> bool:
    """Whether the keys of a map are no texts and no numbers: of few kinds all are there."""
    kinds = (found[1] for found in followed(name.encode(), file.source, _MAP_OF, b"_$"))
    return any(kind not in (b"string", b"number") for kind in kinds)


def _ends(call: Node, file: SourceFile) -> bool:
    """Whether the statement ends with the call, so that nothing stands in for what is missing."""
    return _ENDS_STATEMENT.match(file.source, call.end_byte) is not None


def _used_by_variable(
    call: Node,
    file: SourceFile,
    *,
    rows: bool = False,
    given: re.Pattern[bytes] = _GIVEN,
    confidence: str = "medium",
    data: dict[str, str] | None = None,
) -> Iterator[Missing]:
    if not _ends(call, file):
        return
    declared = given.search(_text_before(call, 100, file))
    name = declared[1].decode().strip("{}[] ").partition(",")[0] if declared is not None else ""
    used = used_unchecked(name, call, file) if name else None
    if used is not None and used.text.startswith(("[0].", ".rows[0].")) is rows:
        message = f"`{name}` may be missing: `{_shown(call, file)}` gave it, and `{name}{short(used.text, 30)}` throws"
        yield Missing(used.node, message, confidence=confidence, data=data)


def _text_before(call: Node, length: int, file: SourceFile) -> bytes:
    """What stands before the name of a call: the `await` of one with types belongs to its node."""
    start = file.dialect.callee(call)[0]
    return file.source[max(0, start - length) : start]


def _shown(call: Node, file: SourceFile) -> str:
    """The callee for a message, of a pattern that is written out its method alone."""
    callee = file.callee(call)
    return short(callee if callee[:1].isidentifier() else callee.rpartition(".")[2])
