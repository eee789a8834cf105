"""Parts of a SQL text that can put nothing foreign into it: constants, numbers, placeholders, checked names."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.built_text import SUMS, built_text, is_constant, values_of
from analysis.engine.readers.checked_text import is_plain_word
from analysis.engine.readers.joined_text import QUOTED, is_fixed_list, joined_name
from analysis.engine.readers.reading import (
    CALLS,
    assigned_values,
    followed,
    known_values,
    text_before,
    within,
)

_SAFE = re.compile(
    r"quote_?(name|ident|identifier|literal)|escape\w*[()]|strconv\.\w+\(|^\((?:int|long)\)|\bIdentifier\(|QuoteIdentifier"
    r"|\buuid(?:v?[1-7])?\(\)|\brandomUUID\(\)|\buuid\.New(?:String)?\(\)"
    r"|\bliteral_?(?:string|value)\(|sanitize|placeholder|qmarks|\w*[bB]indings?$"
    r"|[\"'`](\?|%s),? ?[\"'`]\s*[.*)]|\.join\([^)]*[\"'](\?|%s)|^len\(|^int\(|^str\(int\(|\bintval\b"
    r"|^(?-i:(?:\w+\.)?[A-Z][A-Z0-9_]+)\.(?:map|join|filter)\(|\.length$|^\w*(?:[iI]ndex|[iI]dx|[cC]ounter)(?:\+\+)?$|\.(?:toISOString|isoformat|getTime)\(\)$|Prisma\.(sql|join|raw)|\.Format\(time\.\w+\)$",
    re.IGNORECASE,
)
_LITERALS = frozenset(
    {"string", "string_literal", "interpreted_string_literal", "number", "integer", "decimal_integer_literal"}
)
_CLASS_CONSTANT = re.compile(r"[A-Z]\w*(?:\.[A-Z]\w*)+(?:\.value)?")  # `EventTypes.Closed`
_OWN_CALL = re.compile(r"(?:this\.|self\.|cls\.)?\w+\(")
_OWN_CALLEE = re.compile(r"(?:this\.|self\.|cls\.)?(\w+)\(")
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
    "typescript": re.compile(r"\??\s*:\s*(?:number|bigint|boolean)(?:\[\])?\s*(?=[,;=(){}])"),
}
_TEXT_TYPED = {
    "java": re.compile(r"\bString\s+\Z"),
    "go": re.compile(r"\s+(?:,\s*\w+\s+)*string\b"),
    "typescript": re.compile(r"\??\s*:\s*string\s*(?=[,;=(){}])"),
    "python": re.compile(r"\s*:\s*(?:Optional\[)?str\b"),
}
# One of a few texts that its type lists: `order: "ASC" | "DESC"`, or by a name of that type.
_LISTED_TEXTS = r"\|?\s*(?:\"[^\"\n]*\"|'[^'\n]*')(?:\s*\|\s*(?:\"[^\"\n]*\"|'[^'\n]*'))*"
_LITERAL_TYPED = re.compile(rf"\??\s*:\s*{_LISTED_TEXTS}\s*(?=[,;=(){{}}])")
_TYPED_BY_NAME = re.compile(r"\??\s*:\s*([A-Z]\w*)\s*(?=[,;=(){}])")
_LITERAL_TYPE = re.compile(rf"\s*=\s*{_LISTED_TEXTS}\s*(?:[;\n]|\Z)".encode())
_RETURNS = frozenset({"return_statement"})
_BODIES = frozenset({"block", "statement_block", "constructor_body"})
_ZOD = re.compile(rb"\s*:\s*z\s*\.(?:array\(\s*z\.)?(?:coerce\.)?(?:number|bigint|boolean)\(")
_ENUM_OF_GRAPHQL = re.compile(
    rb"\s*:\s*\{\s*type:\s*(?:new\s+GraphQL(?:NonNull|List)\(\s*)*(?:\w+\.)?GraphQL(?!String\b|ID\b|JSON|NonNull|List)\w+"
)
_LIMIT_PLACE = re.compile(r"(?i)\b(?:limit|offset|top|fetch\s+(?:first|next))\s*\(?\s*[\"'`]?\Z")
# A list that is written out, once its texts are taken out of it: `["a", "b"]`, `List.of("a", "b")`.
_WRITTEN_LIST = re.compile(
    r"(?:\[\]string|new\s+String\[\]|List\.of|Set\.of|Arrays\.asList|(?:set|tuple|list|new\s+Set)(?=\())?"
    r"\s*[\[({][\s,\d()\[\]{}]*[\])}](?:\s+as\s+const)?"
)
_CONSTANT_LIST = re.compile(r"(?:[\w.]+\.)?_?[A-Z][A-Z0-9_]*(?:\.(?:items|keys|values)\(\))?")
_SUBSCRIPTS = frozenset({"subscript", "subscript_expression", "index_expression"})
_WRITTEN_MAP = re.compile(r"(?:map\[\w+\]\w+)?\{\s*(?:[\w$]*\s*:\s*,?\s*)+\}")
_SUM_OF_NUMBERS = re.compile(r"[\w.]+\s*[-+*]\s*\d+")
_JOINED = re.compile(r"[\w.]*\bjoin\(\s*(?:\"[^\"]*\"\s*,\s*)?(\w+)")


def is_safe(part: Node, context: str, file: SourceFile) -> bool:
    """Constants, numbers, generated placeholders, quoted identifiers, lists of literals, texts of builders, names that
    come with their values, and names that the function checks against a list."""
    text = file.text(part)
    if _SAFE.search(text) or is_constant(part, file) or is_fixed_list(part, file) or _is_number(part, file):
        return True
    if _is_made_of_constants(part, file) or _is_of_a_written_list(text, part, file):
        return True
    if _gives_constants(part, file):
        return True
    if file.language != "go" and _CLASS_CONSTANT.fullmatch(text) and text.partition(".")[0] in file.bindings:
        return True
    if part.type in SUMS:
        pieces = built_text(part, file).parts
        return pieces != (part,) and all(is_safe(each, context, file) for each in pieces)
    if not re.fullmatch(r"[\w.$]+", text):
        return False
    if _is_made_of_safe(text, part, context, file) or _is_looked_up(text, part, file):
        return True
    if _is_of_a_literal_type(text, part, file) or is_plain_word(text, part, file):
        return True
    word = re.escape(text)
    return bool(
        re.search(rf"\bif\s+{word}\s+(not\s+)?in\b|\.(includes|has|contains|containsKey|get)\(\s*{word}\s*\)", context)
        or re.search(rf"\bslices\.Contains\([^,\n]+,\s*{word}\s*\)|(?:!|\bok\s*:?=\s*)[\w.]+\[{word}\]", context)
        or re.search(rf"\b{word}\s*,\s*\w*(?:[aA]rgs|[pP]arams|[vV]alues)(?:\s*,\s*\w+)*\s*:?=", context)
        or re.search(rf"\b{word}\s*,[^\n=]*:?=\s*(?:(?!\n\s*\n)[\s\S]){{0,800}}?\.\s*ToSql\(\)", context)
        or re.search(
            rf"(?m)(?:^|[;{{(]|\b(?:const|let|var|final|String))[ \t]*{word}\s*:?=\s*[^\n]*"
            rf"(quote|escape|placeholder|Identifier|[\"'`](\?|%s),? ?[\"'`])",
            context,
        )
    )


def _is_made_of_constants(part: Node, file: SourceFile) -> bool:
    """Whether a function of the program's own is given literals and constants alone: `prefix(COLUMNS, "t")`."""
    given = file.arguments(part)[0] if part.type in CALLS and _OWN_CALL.match(file.text(part)) else []
    return bool(given) and all(each.type in _LITERALS or is_constant(each, file) for each in given)


def _gives_constants(part: Node, file: SourceFile) -> bool:
    """Whether a function of this file gives literals and constants alone, whatever it is asked: `direction(order)`."""
    called = _OWN_CALLEE.match(file.text(part)) if part.type in CALLS else None
    found = [each for each in file.functions[1:] if called is not None and each.short_name == called[1]]
    if len(found) != 1:
        return False
    body = found[0].node.child_by_field_name("body")
    if body is None:
        return False
    given = [each.named_children[0] for each in within(body) if each.type in _RETURNS and each.named_children]
    if body.type not in _BODIES:
        given = [body]  # of an arrow function
    return bool(given) and all(is_constant(each, file) for value in given for each in built_text(value, file).parts)


def _is_of_a_literal_type(name: str, part: Node, file: SourceFile) -> bool:
    """Whether a parameter of TypeScript is declared as one of a few texts."""
    if file.language not in ("typescript", "tsx") or not name.isidentifier():
        return False
    if _is_declared(name, part, _LITERAL_TYPED, file):
        return True
    typed = next(followed(name, text_before(part, file), _TYPED_BY_NAME, "_.$"), None)
    types = followed(typed[1].encode(), file.source, _LITERAL_TYPE, b"_.$") if typed is not None else ()
    return next(iter(types), None) is not None


def _is_of_a_written_list(name: str, part: Node, file: SourceFile) -> bool:
    """Whether a name goes over a list that the source writes out: `for column in ("name", "city")`."""
    loop = file.loop_of(part)
    while loop is not None and name not in loop.variables:
        loop = loop.parent
    if loop is None:
        return False
    if _is_written_out(loop.iterable):
        return True
    values = assigned_values(loop.iterable, part, file) if loop.iterable.isidentifier() else []
    return bool(values) and all(_is_written_out(file.text(value)) for value in values)


def _is_written_out(text: str) -> bool:
    without = QUOTED.sub("", text)
    is_list = without != text and _WRITTEN_LIST.fullmatch(without.strip()) is not None
    return is_list or _CONSTANT_LIST.fullmatch(text) is not None


def _is_looked_up(name: str, part: Node, file: SourceFile) -> bool:
    """Whether a local name holds one of the texts that a literal maps to: `formats[unit]`."""
    values = assigned_values(name, part, file) if name.isidentifier() else []
    return bool(values) and all(_is_of_a_written_map(value, part, file) for value in values)


def _is_of_a_written_map(value: Node, part: Node, file: SourceFile) -> bool:
    if value.type not in _SUBSCRIPTS:
        return False
    name = file.text(value.named_children[0])
    maps = known_values(name, part, file) if name.isidentifier() else []
    return bool(maps) and all(_WRITTEN_MAP.fullmatch(QUOTED.sub("", file.text(each))) is not None for each in maps)


def is_counted(part: Node, lead: str, file: SourceFile) -> bool:
    """Whether a number, by its declaration or a sum with one, says how many rows are wanted."""
    if _LIMIT_PLACE.search(lead) is None:
        return False
    is_sum = file.language in ("python", "go") and _SUM_OF_NUMBERS.fullmatch(file.text(part)) is not None
    return is_sum or holds_numbers(part, file)


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
    typed = _NUMBER_TYPED.get("typescript" if file.language == "tsx" else file.language)
    name = joined_name(file.text(part)) or file.text(part)
    if _is_enum_of_a_schema(name, file):
        return True
    if typed is None or not re.fullmatch(r"\w+", name):
        return False
    if _is_number_of_a_schema(name, file):
        return True
    return _is_declared(next(iter(joined_into(name, part, file)), name), part, typed, file)


def holds_text(part: Node, file: SourceFile) -> bool:
    """Whether a name is declared as text."""
    typed = _TEXT_TYPED.get("typescript" if file.language == "tsx" else file.language)
    name = file.text(part)
    return typed is not None and re.fullmatch(r"\w+", name) is not None and _is_declared(name, part, typed, file)


def joined_into(name: str, part: Node, file: SourceFile) -> list[str]:
    """The lists that were joined into a local name."""
    values = assigned_values(name, part, file) if name.isidentifier() else []
    return [found[1] for each in values if (found := _JOINED.match(file.text(each)))]


def _is_number_of_a_schema(name: str, file: SourceFile) -> bool:
    """Whether a schema of Zod in this file lets only numbers through under this name: `ids: z.array(z.number())`."""
    return file.mentions(b"z.") and next(followed(name.encode(), file.source, _ZOD, b"_."), None) is not None


def _is_enum_of_a_schema(name: str, file: SourceFile) -> bool:
    """Whether a schema of GraphQL in this file lets numbers, times or listed values alone through under this name."""
    last = name.rpartition(".")[2].encode()
    return file.mentions(b"graphql") and next(followed(last, file.source, _ENUM_OF_GRAPHQL, b"_."), None) is not None


def _is_declared(name: str, part: Node, typed: re.Pattern[str], file: SourceFile) -> bool:
    before = text_before(part, file)
    places = [found.span() for found in re.finditer(rf"(?<![\w.]){re.escape(name)}\b", before)]
    if file.language == "java":
        return any(typed.search(before[max(0, start - 60) : start]) for start, _ in places)
    return any(typed.match(before, end) for _, end in places)
