"""Look-ups of Java: an `Optional` that is opened unasked, keys of a map, first rows, `null` for want of anything."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.orm.steps import closing_bracket
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.handlers import is_caught
from analysis.engine.readers.lookups import (
    ALWAYS_A_ROW,
    ASKED,
    FAILS,
    NEAR,
    Missing,
    is_asked_by_key,
    is_asked_for,
    text_before_in_outermost,
    used_unchecked,
)
from analysis.engine.readers.reading import (
    LONGEST_TYPE,
    WORD_END,
    declarations,
    followed,
    function_text,
    given_values,
    is_repository,
    short,
    text_after,
    text_before,
)

_MAP = re.compile(rb"(?<![<\w])(?<!, )\w*Map<[^;=(]*>\s+$")
_PLAIN_KEY = re.compile(rb"Map<\s*(?:String|Long|Integer|UUID|Object)\s*,[^;=(]*>\s+$")  # not one of few kinds
_KEY_OF_PROGRAM = re.compile(r"(?:\w+\.)*[A-Z][A-Z0-9_]+|[\w.]+\.(?:class|getClass\(\))")
_TABLE_OF_PROGRAM = re.compile(rb"\b(?:static\s+final|final\s+static)\b[^;{}]*\Z|\bEnumMap<[^;{}]*\Z")
_TAKEN_OUT = re.compile(rb"\.(?:remove|clear)\(")
_ASKED_OR_PUT = re.compile(r"\.(?:containsKey|put\w*|compute\w*|keySet|entrySet|get)\(")
_HAS_KEY = re.compile(r"\.(?:containsKey\(|size\(\)\s*;)")
_OF_ROWS = re.compile(r"\s*:\s*\w+(?:\(\))?\)\s*\{")
_COLLECTED = re.compile(r"\s*=[^;]*\b(?:toMap|convertMap|uniqueIndex|groupingBy|partitioningBy)\(")
LONGEST_AROUND = 3_000  # characters before a call in which its map is made
_OPTIONAL_TYPE = re.compile(  # and no `Supplier<Optional<String>>`: its brackets end with its own
    r"\bOptional(?:<[^;=(),<>]*(?:<[^;=(),<>]*(?:<[^;=(),<>]*>)?>)?>)?\s+\Z"
)
_ASKED_OPTIONAL = re.compile(r"\s*\.\s*(?:isPresent|isEmpty|ifPresent|orElse\w*)\b")
_GIVEN_ANEW = re.compile(r"\s*=(?!=)")
_FILLED = re.compile(r"\s*=[^;]*\bof\(")
_ROWS_OF_JAVA = re.compile(
    r"\s*=\s*[\w.]*(?:[jJ]dbc\w*|[tT]emplate|[qQ]uery|[eE]m|[mM]anager)\b[^;]*\.(?:query|queryForList|getResultList)\([^;]*;"
    r"|\s*=\s*(?:this\.)?\w*(?:[rR]epo|[rR]epository|[dD]ao|[mM]apper|[jJ]dbi)\.(?:find|select|list|query|search)\w*\([^;]*;"
    # Whatever runs it: rows are what a SELECT gives.
    r"|\s*=\s*(?:\w+\.)+\w+\(\s*\"\s*(?i:select)\b[^;]*;"
    r"|\s*=[^;]*\.create\w*Query\([^;]*\.list\(\)\s*;|\s*=[^;]*\.selectList\([^;]*;"
    r"|\s*=[^;]*\.select(?:From|Distinct)?\([^;]*\.fetch(?:Into)?\([^;]*;"
)
# What is given as SQL by the name of a constant or a variable.
_ROWS_BY_NAME = re.compile(r"\s*=\s*(?:\w+\.)+\w+\(\s*(\w+)\s*[,)][^;]*;")
_SELECT = re.compile(r"\"+\s*(?i:select)\b")
_QUERIED_ROWS = re.compile(r"\.(?:query|queryForList|getResultList|selectList)\(\)$")
_SELECTED_ROWS = re.compile(r"\A(?:\w+\.)+\w+\(\s*\"\s*(?i:select)\b")
_FROM_REPOSITORY = re.compile(r"(?:this\.)?(\w+)\.(?:find|list|search|query|select)\w*\(\)")
_ROWS_OF_A_FIELD = re.compile(r"\s*=\s*(?:this\.)?(\w+)\.(?:find|list|search|query|select)\w*\([^;]*;")
_SIZE = re.compile(r"[eE]mpty\(|size\(\)|hasNext\(\)")
_MANAGER = re.compile(r"(?i)(?:^|\.)(?:em|\w*entityManager)\.find$")
_ASKS_ITSELF = re.compile(r"\A([A-Z]\w*)\s+\w+\s*=\s*\1\s*\.\s*(?:<\1>\s*)?findById\Z")  # an entity of Panache
# Panache and Hibernate give null where no row meets the conditions.
NULL_OF_JAVA = frozenset(
    {"orElse", "find", "findById", "firstResult", "uniqueResult", "getSingleResultOrNull", "singleResultOrNull"}
)
_GIVES_NULL = re.compile(r"\)\.(?:firstResult|uniqueResult|getSingleResultOrNull|singleResultOrNull)$")
_KEEPS_ROWS = (b"anache", b"ersistence", b"hibernate")
_FOUND_BY = re.compile(r"\s*=\s*[\w.]+\.find(?:ById|First|Any|One)\w*\([^;]*;")
_GIVEN_TO = re.compile(r"\A[\w.<>]+\s+(\w+)\s*=\s*(?:[\w.]+\.\w+\([^;]*\)\s*)?\Z")
_GROUP = re.compile(r"\.group\(")
_VAR = re.compile(r"\bvar\s+\Z")
_OPTIONAL = re.compile(
    r"(^|\.)(find\w*|get\w*Optional|findFirst\(\)|findAny\(\)|max\(\)|min\(\)|reduce\(\)|stream\(\)[\w().]*)\(\)\.get$"
)
_FUTURE = re.compile(r"\b(ExecutionException|\w*Future)\b|Async\(")  # `get()` waits there


def look_at_java_map(call: Node, file: SourceFile) -> Iterator[Missing]:
    """`map.get(key).method()` of a declared `Map` in Java, where nobody has put or asked for a key before."""
    head, _, _ = file.callee(call).rpartition(".")
    if len(file.arguments(call)[0]) != 1 or not re.fullmatch(r"(this\.)?\w+", head):
        return
    name = head.rpartition(".")[2]
    declared = list(declarations(name, file))
    if file.source[call.end_byte : call.end_byte + 1] != b"." or not any(map(_MAP.search, declared)):
        return
    is_table = any(map(_TABLE_OF_PROGRAM.search, declared)) and not any(
        followed(name.encode(), file.source, _TAKEN_OUT, b"_$")
    )
    if is_table or _KEY_OF_PROGRAM.fullmatch(file.text(file.arguments(call)[0][0])):
        return  # who wrote the key wrote the map
    before = text_before(call, file)
    if any(followed(name, before, _ASKED_OR_PUT, "_")) or is_caught(call, file, FAILS):
        return
    if f".containsKey({file.text(file.arguments(call)[0][0])})" in before:
        return  # of another map, which is mostly filled together with this one
    around = text_before_in_outermost(call, file)[-LONGEST_AROUND:]
    if any(followed(name, around, _HAS_KEY, "_")):
        return  # in the step before, which lets through what has one, or as many as there are
    if any(followed(name, around, _OF_ROWS, "_")) or any(followed(name, around, _COLLECTED, "_")):
        return  # a row has its columns, and a map that was made of a list has its elements
    message = f"`{head}.get` gives null for a key that is not there, and its use throws"
    is_plain = all(_PLAIN_KEY.search(each) for each in declared if _MAP.search(each))
    is_asked = is_plain and is_asked_by_key(call, file)
    yield Missing(call, message, confidence="low", data=ASKED if is_asked else None)


def look_at_get(call: Node, file: SourceFile) -> Iterator[Missing]:
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
    if is_caught(call, file, FAILS):
        return
    before = text_before(call, file)
    if variable is not None:
        yield from _look_at_variable(variable[1], before, call)
        return
    if _FUTURE.search(function_text(call, file)):
        return
    start, _ = file.dialect.callee(call)
    looked_up = file.source[start : call.end_byte].decode("utf-8", "replace").rpartition(".")[0]
    if looked_up + ".isPresent()" in before or re.search(
        r"isPresent\(\)|isEmpty\(\)|size\(\)|hasNext\(\)", before[-NEAR:]
    ):
        return
    is_walk = "stream()" in looked_up  # who walks over a list mostly knows what is in it
    yield Missing(
        call,
        f"`{short(looked_up)}` may be empty, and `get()` then throws an error that names nothing",
        confidence="low" if is_walk else "medium",
        data=ASKED if is_walk and is_asked_for(looked_up, call, file) else None,
    )


def look_at_first_row(call: Node, file: SourceFile) -> Iterator[Missing]:
    """`jdbc.query(sql, mapper).get(0)`, where nobody has asked how many rows there are."""
    head = file.callee(call).rpartition(".")[0]
    before = text_before(call, file)
    if is_caught(call, file, FAILS):
        return
    if head.isidentifier():
        made = _rows_made(head, before, file)
        if made is None or _SIZE.search(before, made.end()) or ALWAYS_A_ROW.search(made[0]):
            return
    elif not (
        _QUERIED_ROWS.search(head)
        or _SELECTED_ROWS.match(file.text(call))
        or _is_of_repository(_FROM_REPOSITORY.fullmatch(head), file)
    ):
        return
    if ALWAYS_A_ROW.search(file.text(call)):
        return
    message = f"`{short(head)}` may give no row, and `get(0)` of nothing throws"
    yield Missing(call, message, confidence="medium")


def _rows_made(name: str, before: str, file: SourceFile) -> re.Match[str] | None:
    """Where the variable was last given the rows of a query."""
    made = list(followed(name, before, _ROWS_OF_JAVA, "_."))
    made += [each for each in followed(name, before, _ROWS_OF_A_FIELD, "_.") if _is_of_repository(each, file)]
    made += [each for each in followed(name, before, _ROWS_BY_NAME, "_.") if _is_select(each[1], file)]
    return max(made, key=lambda each: each.start(), default=None)


def _is_select(name: str, file: SourceFile) -> bool:
    """Whether the file gives a name nothing but the text of a SELECT that may give no row."""
    values = [file.text(each) for each in given_values(name, file)]
    return bool(values) and all(_SELECT.match(each) and not ALWAYS_A_ROW.search(each) for each in values)


def _is_of_repository(asked: re.Match[str] | None, file: SourceFile) -> bool:
    return asked is not None and is_repository(asked[1], file)


def look_at_nothing(call: Node, file: SourceFile) -> Iterator[Missing]:
    """`repository.findById(id).orElse(null).name()`, `entityManager.find(Order.class, id).total()` in Java."""
    callee = file.callee(call)
    given = [file.text(each) for each in file.arguments(call)[0]]
    is_null = callee.endswith(".orElse") and given == ["null"]
    if not given and callee.endswith(".find"):
        yield from _look_at_matcher(call, file)
        return
    if given and callee.endswith(".findById") and _ASKS_ITSELF.search(_statement_before(call, file)):
        yield from _look_at_given(call, f"{short(callee)}", file)
        return
    if _GIVES_NULL.search(callee) is not None:
        is_null = any(map(file.mentions, _KEEPS_ROWS))
    if not is_null and not (_MANAGER.search(callee) and len(given) > 1 and given[0].endswith(".class")):
        return
    if is_caught(call, file, FAILS):
        return
    if file.source.startswith(b".", call.end_byte):
        yield Missing(call, f"`{short(callee)}` may give null, and its use throws")
    elif file.source.startswith(b";", call.end_byte):
        yield from _look_at_given(call, short(callee), file)


def _statement_before(call: Node, file: SourceFile) -> str:
    """The statement of a call up to what it calls, and that with it."""
    start = file.statement_of(call).start_byte
    return file.source[start : file.dialect.callee(call)[1]].decode("utf-8", "replace")


def _look_at_given(call: Node, giver: str, file: SourceFile) -> Iterator[Missing]:
    """What the function reads of the variable that is given `null` for want of a row."""
    start = file.statement_of(call).start_byte
    given_to = _GIVEN_TO.search(file.source[start : call.start_byte].decode("utf-8", "replace"))
    used = used_unchecked(given_to[1], call, file) if given_to is not None else None
    if given_to is not None and used is not None and not used.text.startswith("["):
        message = f"`{given_to[1]}` may be null: `{giver}` gave it, and `{short(used.text, 30)}` of it throws"
        yield Missing(used.node, message, confidence="medium")


def _look_at_matcher(call: Node, file: SourceFile) -> Iterator[Missing]:
    """`matcher.find();` whose answer nobody takes, and then `matcher.group(1)`."""
    name = file.callee(call).rpartition(".")[0]
    if call.parent is None or call.parent.type != "expression_statement" or not file.mentions(b"Matcher"):
        return
    if name.isidentifier() and any(followed(name, text_after(call, file), _GROUP, "_.")):
        yield Missing(call, f"`{name}` may find nothing, and `group` of that throws", confidence="medium")


def _look_at_variable(name: str, before: str, call: Node) -> Iterator[Missing]:
    if "Optional" not in before and "var " not in before:
        return
    ends = [
        each.end()
        for each in followed(name, before, WORD_END, "_")
        if _OPTIONAL_TYPE.search(before, max(0, each.start() - LONGEST_TYPE), each.start() - len(name))
        or (
            _VAR.search(before, max(0, each.start() - LONGEST_TYPE), each.start() - len(name))
            and _FOUND_BY.match(before, each.end())
        )
    ]
    if not ends:
        return
    since = before[ends[-1] :]
    if _FILLED.match(since) or any(followed(name, since, _ASKED_OPTIONAL, "_")) or _is_asked_as_given(name, since):
        return
    message = f"`{name}` may be empty, and `get()` then throws an error that names nothing"
    yield Missing(call, message, confidence="medium")


def _is_asked_as_given(name: str, since: str) -> bool:
    """Whether a condition gives the variable its value and asks: `while ((row = next()).isPresent())`."""
    return any(
        since.startswith("(", each.start() - len(name) - 1)
        and _ASKED_OPTIONAL.match(since, closing_bracket(since, each.end()) + 1)
        for each in followed(name, since, _GIVEN_ANEW, "_.")
    )
