"""Where the rows of a query written as SQL go: whether the program keeps all of them, and under which name."""

import re
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.orm.steps import assigned_to, closing_bracket, steps_after
from analysis.engine.extract.source import SourceFile

LONGEST_READING = 700  # bytes behind a query in which its rows are read
LONGEST_CALL = 60  # bytes before a call in which its result is named

_NEXT_QUERY = re.compile(r"execute\(|\.Query\(|\nfunc ")
_MAPPED = re.compile(r"(?i:mapper)\b|\brs\b|::")  # Spring: each row becomes an object of the list
_LOADING_CALLS = frozenset({"queryForList", "Select", "SelectContext"})  # these bring all rows at once
MEASURES = {"size": "len", "isEmpty": "bool"}  # of a list of Java
_MEASURED = re.compile(rb"\)\s*(?:\.rows\s*\.length|\.rowCount)\b")
_COMPARED = re.compile(rb"\s*(?:[=!<>]=|[<>?])")
_ALL_OF_CURSOR = frozenset({"fetchall", "all"})
_TAKEN = re.compile(r"(?:\b(\w+)\s*(?::[^=\n]{1,60})?=\s*(?:await\s+)?)?\b[\w.]+\.fetchall\(")
_CURSOR = re.compile(r"\b(\w+)\s*,\s*\w+\s*:?=\s*\Z")
_WALK = re.compile(r"\bfor\s[^{\n]*?\b(\w+)\.Next\(\)[^{\n]*\{")
_KEPT = re.compile(r"([\w.]+)\s*=\s*append\(")
_JDBC = frozenset({"prepareStatement", "executeQuery"})
# Of Spring's JdbcClient and DatabaseClient, and of Jdbi.
TAKES_STATEMENT = frozenset({"sql", "createQuery", "createUpdate", "createCall"})
_ALL_AT_ONCE = frozenset({"list", "set", "listOfRows", "singleColumn", "collect", "toList"})
_ONE = frozenset("single optional singleRow singleValue one first findOne findFirst findOnly".split())
_STREAMS = frozenset({"stream", "all", "iterator", "useStream"})
_ASKED = _ALL_AT_ONCE | _ONE | _STREAMS
_NEXT_OF_JDBC = re.compile(r"prepareStatement\(|createStatement\(|executeUpdate\(")
_WALK_OF_JDBC = re.compile(r"\bwhile\s*\(\s*\w+\.next\(\)\s*\)\s*\{")
_HANDED_ON_BY_JDBC = re.compile(r"(?:\breturn\s+|\b(\w+)\s*=\s*)(?:this\.)?(\w+)\(\s*\w+\s*\)\s*;")
_KEPT_OF_JDBC = re.compile(r"\b(?!batch)(\w+)\.add\(")
_STREAMED = re.compile(r"\.setFetchSize\(|\.setMaxRows\(|\bbreak\b")
_COUNTED = re.compile(r"\s*\w+(?:\+\+|\s*\+=\s*1)\s*\Z")
_HANDED_ON = re.compile(
    r"(?:\b(?!err\b|_\b)(\w+)(?:\s*,\s*\w+)?\s*:?=\s*"
    r"|\breturn\s+(?=(?:\w+\.)*(?i:scan|collect|read|parse|load|to|map|decode|all)))"
    r"(?:\w+\.)*(\w+)(?:\[[^\]\n]*\])?\(([^\n]*)\)"
)
_NAME = re.compile(r"\w+")
_OF_ONE = re.compile(r"One|First|Single|Row\Z|Close|Err\Z")


class Rows(NamedTuple):
    """`variable` holds all of them; `counted` is `len` where nothing but their number is asked for; `is_one` where no
    more than one is taken."""

    are_kept: bool
    variable: str = ""
    counted: str = ""
    is_one: bool = False
    is_streamed: bool = False


def rows_of(call: Node, file: SourceFile) -> Rows:
    """What the program does with the rows of the query that a call runs."""
    name = file.callee(call).rpartition(".")[2]
    if name in _LOADING_CALLS and file.language == "go":
        given = (file.text(each).lstrip("&") for each in file.arguments(call)[0] if file.text(each)[:1] == "&")
        return Rows(True, next((each for each in given if each.isidentifier()), ""))
    if name in _LOADING_CALLS or (name == "query" and _MAPPED.search(file.text(call)) is not None):
        after = steps_after(call.end_byte, file)
        asked = MEASURES.get(after[0].name, "") if after else ""
        return Rows(True, "" if asked else assigned_to(call.start_byte, file), asked)
    if file.language == "go":
        return _of_go(call, file)
    if name in TAKES_STATEMENT:
        return _of_steps(call, file)
    if name in _JDBC:
        return _of_jdbc(call, file)
    if file.language == "python":
        return _of_python(call, file)
    is_kept = file.language != "java" and _is_awaited(call, file)
    if is_kept and _is_measured(call, file):
        return Rows(True, "", "len")
    return Rows(is_kept, assigned_to(call.start_byte, file) if is_kept else "")


def _is_measured(call: Node, file: SourceFile) -> bool:
    """Script: `(await pool.query(…)).rows.length`. Who compares that with a number asks whether there is a row."""
    after = file.source[call.end_byte : call.end_byte + LONGEST_CALL]
    measured = _MEASURED.match(after)
    return measured is not None and _COMPARED.match(after, measured.end()) is None


def _of_python(call: Node, file: SourceFile) -> Rows:
    """`cur.execute(…).fetchall()`, or `cur.fetchall()` in a statement behind it."""
    if any(step.name in _ALL_OF_CURSOR for step in steps_after(call.end_byte, file)):
        is_measured = file.source[: call.start_byte].endswith(b"len(")
        return Rows(True, assigned_to(call.start_byte, file), "len" if is_measured else "")
    taken = _TAKEN.search(_behind(call, file))
    return Rows(taken is not None, (taken[1] or "") if taken is not None else "")


def _of_go(call: Node, file: SourceFile) -> Rows:
    """Rows that a walk appends to a slice or only counts, or that a function takes which gives them back."""
    cursor = _CURSOR.search(
        file.source[max(0, call.start_byte - LONGEST_CALL) : call.start_byte].decode("utf-8", "replace")
    )
    behind = _behind(call, file)
    walk = _WALK.search(behind)
    if walk is not None:
        body = behind[walk.end() : closing_bracket(behind, walk.end())]
        kept = _KEPT.search(body)
        if kept is None:
            is_counted = _COUNTED.match(body) is not None
            return Rows(is_counted, "", "len" if is_counted else "")
        return Rows(True, kept[1] if kept[1].isidentifier() else "")
    for each in _HANDED_ON.finditer(behind):
        if cursor is not None and cursor[1] in _NAME.findall(each[3]) and _OF_ONE.search(each[2]) is None:
            return Rows(True, each[1] or "")
    return Rows(False)


def _of_steps(call: Node, file: SourceFile) -> Rows:
    """Java: rows that a step behind the statement asks for: `client.sql("…").query(Order.class).list()`."""
    steps = steps_after(call.end_byte, file)
    asked = next((place for place, step in enumerate(steps) if step.name in _ASKED), -1)
    if asked < 0:
        return Rows(False)
    if steps[asked].name in _ALL_AT_ONCE:
        after = steps[asked + 1 :]
        counted = MEASURES.get(after[0].name, "") if after else ""
        return Rows(True, "" if after else assigned_to(call.start_byte, file), counted)
    return Rows(False, is_one=steps[asked].name in _ONE, is_streamed=steps[asked].name in _STREAMS)


def _of_jdbc(call: Node, file: SourceFile) -> Rows:
    """Rows of a `ResultSet` that a walk adds to a list; a driver that is told how many to fetch brings no more."""
    behind = _behind(call, file, _NEXT_OF_JDBC)
    walk = _WALK_OF_JDBC.search(behind)
    body = behind[walk.end() : closing_bracket(behind, walk.end())] if walk is not None else ""
    kept = _KEPT_OF_JDBC.search(body)
    if walk is None:
        return _of_helper(behind, file)
    is_all = kept is not None and _STREAMED.search(behind[: walk.end()] + body) is None
    return Rows(is_all, kept[1] if is_all and kept is not None else "")


def _of_helper(behind: str, file: SourceFile) -> Rows:
    """Rows of a `ResultSet` that a method of the same file takes, which walks and adds them to a list."""
    handed = _HANDED_ON_BY_JDBC.search(behind)
    if handed is None:
        return Rows(False)
    head = re.search(rf"\b{handed[2]}\(\s*(?:final\s+)?ResultSet\s+\w+[^{{;]*\{{".encode(), file.source)
    text = file.source[head.end() : head.end() + LONGEST_READING].decode("utf-8", "replace") if head is not None else ""
    walk = _WALK_OF_JDBC.search(text, 0, closing_bracket(text, 0))
    body = text[walk.end() : closing_bracket(text, walk.end())] if walk is not None else ""
    is_all = _KEPT_OF_JDBC.search(body) is not None and _STREAMED.search(behind[: handed.end()] + body) is None
    return Rows(is_all, (handed[1] or "") if is_all else "")


def _behind(call: Node, file: SourceFile, next_query: re.Pattern[str] = _NEXT_QUERY) -> str:
    """The text behind a call up to the next query."""
    text = file.source[call.end_byte : call.end_byte + LONGEST_READING].decode("utf-8", "replace")
    return next_query.split(text, maxsplit=1)[0]


def _is_awaited(call: Node, file: SourceFile) -> bool:
    """Script: drivers give all rows to who waits for them, or to whom the promise is given back."""
    return file.source[max(0, call.start_byte - 8) : call.start_byte].rstrip().endswith((b"await", b"return"))
