"""Where in the text of a SQL statement a part stands, and whether a value could stand there."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.joined_text import joined_name

LONGEST_JOINT = 40  # bytes between a text of the program and what is added to it
# What stands before a part: a comparison or an open quote, or a word after which SQL takes a name.
_VALUE_PLACE = re.compile(
    r"(?:[=<>]|\b(?:i?like|between|and|values|any)\b|\bin\s*\()\s*\(?\s*(?:'%?|\\?\"%)?\Z|(?:[=<(,]|like)\s*'[^']*\Z",
    re.IGNORECASE,
)
_NAME_PLACE = re.compile(
    r"\b(?:from|into|join|update|ignore|table|index|view|schema|database|sequence|truncate|exists|on|by|select|type"
    r"|role|user|column|trigger"
    r"|constraint|extension|owned|set|asc|desc|only|distinct)\s+[\\\"'`\[(]*\Z|[\w\"`]\.[\\\"`]*\Z|\w_\Z",
    re.IGNORECASE,
)
_COLUMNS_PLACE = re.compile(  # `INSERT INTO shop (`, `min(`
    r"(?i)\b(?:into\s+[^()'=]+|conflict\s*|min|max|sum|avg|count)\(\s*[\"'`]?\Z"
)
_INTERNAL = re.compile(
    r"table|column|schema|field|index|sequence|alias|_meta\b|db_|dbname|database|order|direction"
    r"|clause|where|cond|filter|suffix|sort|\bbuild\w*\("
    r"|prefix|constraint|partition|class|entity|view|quoted|sql|query|select|join|interval|limit"
    r"|offset|type|tbl|cols?\b"
    r"|query_?set|func|operator|\w_(name|key)s?$",
    re.IGNORECASE,
)
_OWN_NAME = re.compile(r"^(?:self|this|cls)[.\w]*$|_meta\b|__table|\bdb_table\b|\b[tT]able[nN]ame\(\)|^\w+\.class\b")
_SUBQUERY = re.compile(r"(?i)(?:sub_?quer(?:y|ie)|sub_?select|cond(?:ition)?|filter|where|clause|predicate)s?$")
OPENS = re.compile(r"[rbfRBF]{0,2}[\"'`]+\s*")  # what opens a statement is a piece of it
_CONDITION_PLACE = re.compile(r"(?i)\b(?:where|and|or|having)\s+\(*\s*[\"'`]?\Z")
_BEFORE_CLAUSE = re.compile(rb"(?i)\}\s*\)*\s*(?:and|or|group|order|limit)\b")
_BETWEEN = re.compile(r"(?i)\bbetween\b(?:(?!\band\b)[\s\S])*\band\b\W*\Z")
# Before a comparison stands a column: `${column} = ?`, `+ column + " >= ?"`.
_BEFORE_SIGN = re.compile(rb"(?i)(?:\}|\s*\)?\s*\+\s*[\"'`])\s*(?:[=<>]|!=|\b(?:not\s+)?(?:i?like|in|is|between)\b)")
_METHOD = re.compile(r"\.\w+\([\s\S]*\Z")
_BEHIND_TEXT = re.compile(rb"(?:[\"'`]\s*\+\s*\(?|\.append\()\s*\Z")
_IN_QUOTES = re.compile(r"['\"]%?\Z")
_OF_THE_MODEL = re.compile(r"_meta\.\w+$|__table(?:name)?__|\bdb_table$")
_GO_CONSTANT = re.compile(r"[a-z]\w*\.[A-Z]\w*")  # of another package
FROM_REQUEST = re.compile(
    r"(?i)\b(?:req|request|params|args|body|query|input|form|payload|ctx|event)\b"
    r"|\.(?-i:FormValue|PostFormValue|PathValue|URLParam|QueryParam|DefaultQuery)\("  # of Go
)
AFTER_SIGN = re.compile(r"(?:[=<>]|\b(?:i?like|in))\s*\(?\s*[\\\"'%]*\Z", re.IGNORECASE)
_PIECE = re.compile(r"(?i)(?:expr|expression|sql|clause|fragment|condition)s?$")  # by its name no value


def stands_for_a_value(part: Node, lead: str, file: SourceFile) -> bool | None:
    """Whether a parameter could stand there; None where the program itself names a table or a column."""
    text = file.text(part)
    if file.language == "go" and _GO_CONSTANT.fullmatch(text) and text.partition(".")[0] in file.bindings:
        return None
    if _OF_THE_MODEL.search(text):
        return None
    if OPENS.fullmatch(lead) or _is_condition(part, lead, file):
        return FROM_REQUEST.search(text) is not None
    is_compared = _BEFORE_SIGN.match(file.source, part.end_byte) is not None and not AFTER_SIGN.search(lead)
    if _COLUMNS_PLACE.search(lead) or is_compared:
        return None if _OWN_NAME.search(text) else False
    if _VALUE_PLACE.search(lead):
        named = joined_name(text) or _METHOD.sub("", text)
        return not _SUBQUERY.search(named) or is_in_quotes(part, lead, file)
    if _NAME_PLACE.search(lead):
        return None if _OWN_NAME.search(text) else False
    return not _INTERNAL.search(text)


def _is_condition(part: Node, lead: str, file: SourceFile) -> bool:
    """Whether a whole condition stands there: `WHERE ${matches} AND day = 1`."""
    if not _CONDITION_PLACE.search(lead) or _BETWEEN.search(lead):
        return False
    return _BEFORE_CLAUSE.match(file.source, part.end_byte) is not None


def is_in_quotes(part: Node, lead: str, file: SourceFile) -> bool:
    """Whether a quote of SQL is open before a part; the quote that ends a text of the program is none."""
    start = part.start_byte
    ends_text = _BEHIND_TEXT.search(file.source, max(0, start - LONGEST_JOINT), start) is not None
    return _IN_QUOTES.search(lead[:-1] if ends_text else lead) is not None


def is_value_place(lead: str) -> bool:
    """Whether a value stands behind the text, also where the quote of the program ends it."""
    return any(_VALUE_PLACE.search(text) for text in (lead, lead[:-1] if lead.endswith(('"', "'", "`")) else ""))


def takes_a_value(part: Node, lead: str, file: SourceFile) -> bool:
    """Whether a value stands there, and the part is no piece of SQL by its name."""
    return is_value_place(lead) and _PIECE.search(file.text(part)) is None
