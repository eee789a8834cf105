"""What becomes of a `Date` or of a `SimpleDateFormat` of Java (`rel-naive-datetime`)."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.lookups import text_before_in_outermost
from analysis.engine.readers.reading import WORD_END, followed, function_text, text_after
from analysis.engine.readers.transactions import in_transaction

_TIME = r"\w*(?:At|On|Date|Time|Created|Updated|Modified|Until|Since|Expir\w+)"
_SET = re.compile(rf"(?:\b(\w+)(?:\([^()]*\))?\.)?\b(set(?!SentDate){_TIME})\(\s*\Z")
_PUT = re.compile(r"(?:^|[;{}\s])((?:this\.)?\w+)\s*=\s*\Z")
_INTO_FIELD = re.compile(rf"(?:^|[;{{}}\s])(\w+)\.({_TIME})\s*=\s*\Z")
_VARIABLE = re.compile(r"\b(?:Date|LocalDateTime|var)\s+(\w+)\s*=\s*\Z")
_ENTITY = re.compile(rb"@(?:Entity|Document|Embeddable|MappedSuperclass)\b")
_FIELD = re.compile(rb"\b(?:Date|LocalDateTime)\s+\Z")
_IS_SAVED = re.compile(
    r"(?i)\b\w*(?:mapper|repo\w*|dao|entityManager)\.(?:\w*(?:insert|save|persist|update|merge|store))\w*\("
)
_GIVEN_TO = re.compile(rb"(\w+)\s*=\s*\Z")
_LOCAL = re.compile(rb"\b(?:SimpleDateFormat|DateFormat|var)\s+\w+\s*=\s*\Z")
_WRITES_AND_READS = re.compile(r"\.format\([\s\S]*(?:\.parse|Timestamp\.valueOf)\(")
_GIVES_INSTANT = re.compile(r"\.(?:getTimeInMillis|getTime|toInstant|before|after|compareTo)\(")
# A row that is given to a repository, or that stores itself.
_TO_A_STORE = re.compile(
    r"\.(?:save|persist|insert|merge|update|store|upsert)\w*\(\s*(\w+)\s*[,)]|\b(\w+)\.persist(?:AndFlush)?\(\s*\)"
)
# Also where a lambda takes the row: `cards.findById(id).ifPresent(card -> { ... })`.
_LOADED = re.compile(
    r"\b(\w+)\s*=\s*[^;]*?\.(?:find|get|load|require)\w*\("
    r"|\.(?:find|get|load|require)\w*\([^;]*\)\s*\.(?:ifPresent\w*|forEach|map)\(\s*\(?(\w+)\)?\s*->"
)
_LOADS = re.compile(r"(?:find|get)\w*(?:ById|Reference|One)")
NEAR = 80  # bytes before a call


def stored_as(made: Node, file: SourceFile) -> tuple[str, bool]:
    """What a `Date` of now is kept as, right away or by way of a variable, and whether that is known to be stored: by
    the function, or because it is a field of an entity. Empty where it is kept as nothing."""
    before = file.source[max(0, made.start_byte - NEAR) : made.start_byte].decode("utf-8", "replace")
    after = text_after(made, file)
    is_saved = _IS_SAVED.search(after) is not None
    variable = _VARIABLE.search(before)
    if variable is None:
        return _kept_as(before, is_saved, made, file)
    for use in followed(variable[1], after, WORD_END, "_."):
        kept = _kept_as(
            after[max(0, use.start() - len(variable[1]) - NEAR) : use.start() - len(variable[1])],
            is_saved,
            made,
            file,
        )
        if kept[0]:
            return kept
    return "", False


def _is_stored(row: str, made: Node, file: SourceFile) -> bool:
    """Whether the function gives a row to what stores it, or is a transaction that writes the rows it has loaded."""
    if any(row in found.groups() for found in _TO_A_STORE.finditer(text_after(made, file))):
        return True
    if not file.mentions(b"@Transactional") or not in_transaction(made.start_byte, file):
        return False
    before = text_before_in_outermost(made, file)
    return _LOADS.match(row) is not None or any(row in found.groups() for found in _LOADED.finditer(before))


def _kept_as(before: str, is_saved: bool, made: Node, file: SourceFile) -> tuple[str, bool]:
    given = _SET.search(before)
    if given is not None:
        return given[2], is_saved or (given[1] is not None and _is_stored(given[1], made, file))
    into = _INTO_FIELD.search(before)
    if into is not None and into[1] != "this" and _is_stored(into[1], made, file):
        return into[2], True
    put = _PUT.search(before) if _ENTITY.search(file.source) else None
    name = put[1].removeprefix("this.") if put is not None else ""
    return (name, True) if name and _is_field(name, file) else ("", False)


def _is_field(name: str, file: SourceFile) -> bool:
    declared = followed(name.encode(), file.source, re.compile(rb"\s*[;=]"), b"_.")
    return any(
        _FIELD.search(file.source, max(0, each.start() - len(name) - NEAR), each.start() - len(name))
        for each in declared
    )


def reads_texts(made: Node, file: SourceFile) -> bool:
    """Whether the format reads texts that come from elsewhere: what it writes is mostly for people of this place, and
    what a function reads that it has written itself meets no other zone."""
    if _WRITES_AND_READS.search(function_text(made, file)):
        return False
    called = _name_of(made, file) + b".parse("
    return file.source.startswith(b".parse(", made.end_byte) or (called != b".parse(" and called in file.source)


def reads_fields(made: Node, file: SourceFile) -> bool:
    """Whether the function reads a text into a calendar and takes the hour or the day out again: the zone of both is
    the same, and nothing of it is left."""
    function = function_text(made, file)
    is_taken_apart = "Calendar.getInstance()" in function and ".get(Calendar." in function
    return is_taken_apart and _GIVES_INSTANT.search(function) is None


def is_zoned(made: Node, file: SourceFile) -> bool:
    """Whether the format that is made gets a zone: by its variable, in its function where it is one of that, or one
    that is unknown somewhere in the file."""
    called = _name_of(made, file) + b".setTimeZone("
    is_local = _LOCAL.search(file.source, max(0, made.start_byte - NEAR), made.start_byte) is not None
    if is_local and file.enclosing_function(made) is not None:
        return called.decode() in text_after(made, file)
    return called in file.source


def _name_of(made: Node, file: SourceFile) -> bytes:
    given = _GIVEN_TO.search(file.source, max(0, made.start_byte - NEAR), made.start_byte)
    return given[1] if given is not None else b""
