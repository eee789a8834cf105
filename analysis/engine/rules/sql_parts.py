"""Parts of a SQL text that can put nothing foreign into it: constants, numbers, placeholders, checked names."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.rules.built_text import built_text, is_constant, values_of
from analysis.engine.rules.joined_text import is_fixed_list
from analysis.engine.rules.reading import assigned_values, text_before

_SAFE = re.compile(
    r"quote_?(name|ident|identifier|literal)|escape\w*\(|strconv\.\w+\(|^\((?:int|long)\)|\bIdentifier\(|QuoteIdentifier"
    r"|\bliteral_?(?:string|value)\(|sanitize|placeholder|qmarks|\w*[bB]indings?$"
    r"|[\"'`](\?|%s),? ?[\"'`]\s*[.*)]|\.join\([^)]*[\"'](\?|%s)|^len\(|^int\(|^str\(int\(|\bintval\b"
    r"|\.length$|^\w*(?:[iI]ndex|[iI]dx|[cC]ounter)(?:\+\+)?$|\.(?:toISOString|isoformat|getTime)\(\)$|Prisma\.(sql|join|raw)|\.Format\(time\.\w+\)$",
    re.IGNORECASE,
)
_CALLS = frozenset({"call", "call_expression", "method_invocation"})
_LITERALS = frozenset(
    {"string", "string_literal", "interpreted_string_literal", "number", "integer", "decimal_integer_literal"}
)
_OWN_CALL = re.compile(r"(?:this\.|self\.|cls\.)?\w+\(")
_OWN_METHOD = re.compile(r"(?:this\.)?(\w+)\(")
_JAVA_NUMBERS = frozenset(
    "byte short int long float double boolean Byte Short Integer Long Float Double Boolean BigInteger".split()
)
# `Long id`, `List<Integer> ids` in Java, `id int64`, `ids []int` in Go: what such a name holds can be no SQL.
_NUMBER_TYPED = {
    "java": re.compile(
        r"\b(?:byte|short|int|long|float|double|boolean|Byte|Short|Integer|Long|Float|Double|Boolean|BigInteger"
        r"|\w*<(?:Short|Integer|Long|BigInteger)>)(?:\[\]|\.\.\.)?\s+\Z"
    ),
    "go": re.compile(r"\s+(?:,\s*\w+\s+)*(?:\[\])?(?:u?int(?:8|16|32|64)?|float(?:32|64)|bool)\b"),
}
_JOINED = re.compile(r"[\w.]*\bjoin\(\s*(?:\"[^\"]*\"\s*,\s*)?(\w+)")


def is_safe(part: Node, context: str, file: SourceFile) -> bool:
    """Constants, numbers, generated placeholders, quoted identifiers, lists of literals, names that come with their
    values, and names that the function checks against a list."""
    text = file.text(part)
    if _SAFE.search(text) or is_constant(part, file) or is_fixed_list(part, file) or _is_number(part, file):
        return True
    if _is_made_of_constants(part, file):
        return True
    if not re.fullmatch(r"[\w.$]+", text):
        return False
    if _is_made_of_safe(text, part, context, file):
        return True
    word = re.escape(text)
    return bool(
        re.search(rf"\bif\s+{word}\s+(not\s+)?in\b|\.(includes|has|contains|containsKey|get)\(\s*{word}\s*\)", context)
        or re.search(rf"\b{word}\s*,\s*\w*(?:[aA]rgs|[pP]arams|[vV]alues)(?:\s*,\s*\w+)*\s*:?=", context)
        or re.search(
            rf"(?m)(?:^|[;{{(]|\b(?:const|let|var|final|String))[ \t]*{word}\s*:?=\s*[^\n]*"
            rf"(quote|escape|placeholder|Identifier|[\"'`](\?|%s),? ?[\"'`])",
            context,
        )
    )


def _is_made_of_constants(part: Node, file: SourceFile) -> bool:
    """Whether a function of the program's own is given literals and constants alone: `prefix(COLUMNS, "t")`."""
    given = file.arguments(part)[0] if part.type in _CALLS and _OWN_CALL.match(file.text(part)) else []
    return bool(given) and all(each.type in _LITERALS or is_constant(each, file) for each in given)


def _is_made_of_safe(name: str, part: Node, context: str, file: SourceFile) -> bool:
    """Whether all that a local name ever holds is put together from texts of the source and from what is safe."""
    values = values_of(name, part, file) if name.isidentifier() else []
    texts = [built_text(value, file) for value in values if value.start_byte < part.start_byte]
    return bool(texts) and all(
        each.start_byte < part.start_byte and file.text(each) != name and is_safe(each, context, file)
        for text in texts
        for each in text.parts
    )


def _is_number(part: Node, file: SourceFile) -> bool:
    """Whether a method of this Java file gives a number, which can hold no SQL."""
    called = _OWN_METHOD.match(file.text(part)) if part.type == "method_invocation" else None
    if called is None or file.language != "java":
        return False
    source = file.source.decode("utf-8", "replace")
    types = re.findall(rf"([\w.>\]]+)\s+{called[1]}\s*\([^(){{}};]*\)\s*(?:throws[\w\s.,]+)?\{{", source)
    return bool(types) and _JAVA_NUMBERS.issuperset(types)


def holds_numbers(part: Node, file: SourceFile) -> bool:
    """Whether a name is declared as a number, or joins a list that is declared as one of numbers."""
    typed = _NUMBER_TYPED.get(file.language)
    name = file.text(part)
    if typed is None or not re.fullmatch(r"\w+", name):
        return False
    joined = [found[1] for each in assigned_values(name, part, file) if (found := _JOINED.match(file.text(each)))]
    return _is_declared_number(joined[0] if joined else name, part, typed, file)


def _is_declared_number(name: str, part: Node, typed: re.Pattern[str], file: SourceFile) -> bool:
    before = text_before(part, file)
    places = [found.span() for found in re.finditer(rf"(?<![\w.]){re.escape(name)}\b", before)]
    if file.language == "java":
        return any(typed.search(before[max(0, start - 60) : start]) for start, _ in places)
    return any(typed.match(before, end) for _, end in places)
