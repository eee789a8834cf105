"""Calls that run SQL, each with the text that it is given."""

import re
from dataclasses import dataclass

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.built_text import BuiltText, built_text, text_of_argument, values_of
from analysis.engine.readers.joined_text import joined_name, joined_piece, pushed_into
from analysis.engine.readers.sql_places import is_in_quotes, is_value_place, takes_a_value

# Names of calls, by language.
IN_PYTHON = frozenset(
    {
        *("execute", "executemany", "executescript", "raw", "RawSQL", "text", "fetch", "fetchrow", "fetchval"),
        *("read_sql", "read_sql_query"),
    }
)
_CONDITIONS = frozenset({"whereRaw", "orWhereRaw", "andWhereRaw", "havingRaw", "orderByRaw", "groupByRaw", "joinRaw"})
_PIECES = _CONDITIONS | {"RawSQL"}  # are given a part of a statement, whatever that says
IN_SCRIPTS = _CONDITIONS | {"$queryRawUnsafe", "$executeRawUnsafe", "query", "raw", "execute", "literal", "all", "run"}
IN_JAVA = frozenset(
    """createQuery createNativeQuery executeQuery executeUpdate execute prepareStatement prepareCall addBatch
    queryForObject queryForList queryForMap query batchUpdate update""".split()
)
IN_GO = frozenset(
    """Query Exec QueryRow QueryContext ExecContext QueryRowContext Prepare PrepareContext Raw Queryx MustExec
    Select Get SelectContext GetContext QueryxContext QueryRowxContext PreparexContext NewRaw""".split()
)
# Steps of builders that put their text into the statement: GORM's, TypeORM's.
CLAUSES_OF_GORM = frozenset({"Where", "WhereOr", "Having", "Or", "Not"})  # and Bun's
CLAUSES_OF_BUILDERS = frozenset({"where", "andWhere", "orWhere", "having"})
CLAUSES = CLAUSES_OF_GORM | CLAUSES_OF_BUILDERS
_SQL = re.compile(
    r"\b(select\b[\s\S]*\bfrom|insert\s+into|update\b[\s\S]*\bset|delete\s+from|replace\s+into"
    r"|merge\s+into|truncate|with\s+\w+\s+as"
    r"|(create|alter|drop)\s+(table|index|view|schema|database|type|role|user|sequence|extension|trigger|function)"
    r"|from\s+\w+[\s\S]*\bwhere|where\s+[\w.]+\s*(=|<|>|in\b|like\b)|order\s+by)\b",
    re.IGNORECASE,
)
_COMPARES = re.compile(r"\w\s*(?:[=<>]|\b(?:i?like|in)\b)", re.IGNORECASE)
_CONTEXT_FIRST = re.compile(r"(Context|Ctx)$")
_INTO = re.compile(r"^(?:Select|Get)(?:Context)?$")  # of sqlx
_PGX = re.compile(r"(?i)(^|\.)(ctx|context)(\b|\.|\()")
_QUOTE_OF_THE_PROGRAM = re.compile(r"^\s*[rbfuRBFU]{0,2}[\"'`]")
_MOST_PARTS = 20  # of a text, to look behind their names


@dataclass(frozen=True)
class Statement:
    """A call that runs SQL, and the text that it is given."""

    call: Node
    method: str
    text: BuiltText
    file: SourceFile

    @property
    def is_clause(self) -> bool:
        """Whether it is a step of a builder, which is given a part of the statement."""
        return self.method in CLAUSES


def statement_of(call: Node, file: SourceFile) -> Statement | None:
    """The call as one that runs SQL with parts in its text; None for others."""
    callee = file.callee(call)
    method = callee.rpartition(".")[2]
    positional = _given(call, method, file)
    if not positional or (method == "text" and not callee.startswith("sqlalchemy.")):
        return None
    text = _with_opening(text_of_argument(positional[0], file), file)
    fixed = text.fixed
    is_condition = (method in _PIECES and fixed.strip(" ?")) or (method in CLAUSES and _COMPARES.search(fixed))
    if not text.parts or not (_SQL.search(fixed) or is_condition):
        return None
    return Statement(call, method, _with_own_texts(text, file), file)


def _given(call: Node, method: str, file: SourceFile) -> list[Node]:
    """What the call is given from the statement on: without a context of Go, and what the rows are read into."""
    given = list(file.arguments(call)[0])
    if file.language == "go" and given and (_CONTEXT_FIRST.search(method) or _PGX.search(file.text(given[0]))):
        given = given[1:]
    if len(given) > 1 and _INTO.search(method) and file.text(given[0]).startswith("&"):
        given = given[1:]
    return given


def _with_opening(text: BuiltText, file: SourceFile) -> BuiltText:
    """A local name at the start stands for the statement that it holds: `run(sql + " LIMIT 9")`."""
    opening = text.parts[0] if text.parts and not text.leads[0].strip() else None
    if opening is None or opening.type != "identifier":
        return text
    name = file.text(opening)
    held = [built_text(value, file) for value in values_of(name, opening, file)]
    if not any(_SQL.search(each.fixed) for each in held):
        return text
    inner = [pair for each in held for pair in zip(each.parts, each.leads, strict=True) if file.text(pair[0]) != name]
    return BuiltText(
        " ".join((*(each.fixed for each in held), text.fixed)),
        (*(part for part, _ in inner), *text.parts[1:]),
        (*(lead for _, lead in inner), *text.leads[1:]),
    )


def _with_own_texts(text: BuiltText, file: SourceFile) -> BuiltText:
    """A local name that holds SQL of its own stands for the parts of it: where a value would stand, and where values
    stand in it."""
    fixed, parts, leads = [text.fixed], list[Node](), list[str]()
    for part, lead in zip(text.parts, text.leads, strict=True):
        name = file.text(part)
        values = _values_behind(part, file) if len(text.parts) < _MOST_PARTS else []
        texts = [built_text(value, file) for value in values if value.start_byte < part.start_byte]
        inner = [
            (each, before)
            for own in texts
            for each, before in zip(own.parts, own.leads, strict=True)
            if file.text(each) != name
        ]
        own_text = " ".join(own.fixed for own in texts)
        is_sql = is_value_place(lead) and _SQL.search(own_text)
        values_inside = any(takes_a_value(each, before, file) for each, before in inner)
        is_quoted = is_value_place(lead) and any(is_in_quotes(each, before, file) for each, before in inner)
        if inner and (is_sql or values_inside or is_quoted):
            fixed.append(own_text)
            parts.extend(each for each, _ in inner)
            leads.extend(_joint(lead, before) if is_quoted else before for _, before in inner)
        else:
            parts.append(part)
            leads.append(lead)
    return BuiltText(" ".join(fixed), tuple(parts), tuple(leads))


def _joint(lead: str, before: str) -> str:
    """The text before a place, and behind it what its own text begins with, without the quotes of the program."""
    return lead.rstrip("\"'` ") + _QUOTE_OF_THE_PROGRAM.sub("", before)


def _values_behind(part: Node, file: SourceFile) -> list[Node]:
    """What a local name was given, or what was put into the local list that is joined; of a text that is joined of one
    piece for each row, that piece."""
    if part.type == "identifier":
        return [joined_piece(value) or value for value in values_of(file.text(part), part, file)]
    joined = joined_name(file.text(part))
    return pushed_into(joined, part, file) if joined else []
