"""What becomes of a reading of the clock: whether it is compared, stored or given away (`rel-naive-datetime`)."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import WORD_END, followed, function_text, line_around, text_after
from analysis.engine.readers.time_spans import ASSIGNED, LOCAL_CLOCK

_MATTERS = re.compile(
    r"expir|deadline|valid_until|timeout|created|updated|deleted|_at\b|_until\b|\.\w+_(?:date|time)\s*=(?!=)|[^-<>=][<>]=?[^<>=]|\.save\(|\.create\("
    r"|\.is(Before|After)\(",
    re.IGNORECASE,
)
_TELLS = re.compile(r"(?i)(?:[\w.]*\blog\w*|print|echo|[\w.]*\b(?:debug|info|warn\w*|error|stdout\.write))\b[\w.]*\(")
_GIVEN_AWAY = re.compile(
    r"^return\b|^[\w.]+(?:\.\w+|\[[^\]]*\])\s*=|[\"']?\w[\"']?\s*[:=]\s*now\(\)(?:\.isoformat|\s*[,)}])|now\(\)\.(?:isoformat|toString)\("
)
_IN_A_TEXT = re.compile(r"\bstr\(now\(\)|%\s*\(?now\(\)|\{now\(\)")
_LOGGING = re.compile(r"\b(log\w*|print|strftime|format)\b|\.isoformat\(|[Ff]ile_?[Nn]ame")
_QUERIED = re.compile(
    r"\b(?:gte?|lte?)\s*[:,]|\b(?:More|Less)Than\w*\(|\bBetween\(|\bOp\.\w+\]"
    r"|\b(?:execute\w*|bulk_create|insert\w*|upsert\w*|persist|put_item)\([^\n]*[,(\[]\s*\w+\s*[,)\]]"
    r"|\.(?:create|get_or_create|update_or_create|filter|exclude|update)\([^\n]*\w\s*=\s*\w+\s*[,)]"
    r"|\w__(?:gte?|lte?)\s*=|\b(?:\w*_at|\w*[cC]reated|\w*[uU]pdated|\w*expir\w*|\w*timestamp)\s*=(?!=)|\.set\w*(?:At|Date|Time)\("
)
# Into a row that is made, or a column of one, and what stores it: `Slot(begins=begins)`, `slot.begins = begins`.
_INTO_A_ROW = re.compile(r"(?:\b[A-Z]\w*\((?:[^\n]*,\s*)?\w+\s*=|\.\w+\s*=)\s*\Z")
_STORES = re.compile(r"\.(?:save|add|add_all|merge|commit|flush|bulk_create|persist)\(")
_ORDERED = re.compile(r"\.is(?:Before|After)\(")
_LESS_OR_MORE = re.compile(r"\s*[<>]=?\s*[\w(]")
_OF_A_MODULE = re.compile(r"[A-Z][A-Z\d_]*\s*(?::[^=\n]+)?=\s*now\(\)\s*$")
_COMPARED_AS_TEXT = re.compile(r"\.isoformat\([^()\n]*\)\s*[<>]=?\s*[\w(]")
_LESS_OR_MORE_BEFORE = re.compile(r"[\w)]\s*[<>]=?\s*\Z")
_LOCAL_READINGS = re.compile(
    r"\b(?:datetime\.now\(\s*\)|datetime\.today\(\)|(?<!utc)fromtimestamp\([^,()]*(?:\([^()]*\))?[^,()]*\))"
)
_FROM_WHICH = re.compile(rb"\s*-\s*(?!\w*(?:[tT]ime)?delta)[a-z]\w*")
_SAID = re.compile(r"(?:#|//)[^\n]*")
NEAR = 60  # bytes before a use


def severity_of(call: Node, file: SourceFile) -> str:
    """A warning where the value is compared, stored or used for expiry, also by way of a variable."""
    # What the call itself is given says nothing of what becomes of the time.
    statement = _header(file.statement_of(call), file).replace(file.text(call), "now()")
    if _LOGGING.search(statement):
        return ""
    if _MATTERS.search(statement):
        return "warning"
    given = ASSIGNED.match(statement)
    return "warning" if given is not None and _matters_later(given[1], call, file) else ""


def confidence_of(call: Node, severity: str, file: SourceFile) -> str:
    """What becomes of a time is not known where nothing compares or stores it. Two readings of the local clock may be
    compared; one alone meets what comes from elsewhere."""
    if not severity:
        return "low"
    if not LOCAL_CLOCK.match(file.text(call)):
        return ""
    others = len(_LOCAL_READINGS.findall(function_text(call, file))) > 1
    is_span = _FROM_WHICH.match(file.source, call.end_byte) is not None
    return "low" if others else "medium" if is_span else ""


def stays(call: Node, severity: str, file: SourceFile, *, is_constant: bool = False) -> dict[str, str]:
    """Whether nothing is known to become of a time: it is not compared or stored, nor given back, kept in a member or a
    dictionary, or written as a text that others read. A constant of a module is there for others."""
    statement = _header(file.statement_of(call), file).replace(file.text(call), "now()")
    if is_constant and file.function_of(call) == 0 and _OF_A_MODULE.match(statement):
        return {}
    is_shown = _TELLS.match(statement) is not None or _IN_A_TEXT.search(statement) is not None
    leaves = not is_shown and _GIVEN_AWAY.search(statement) is not None
    return {} if severity or leaves else {"form": "stays"}


def _header(statement: Node, file: SourceFile) -> str:
    """A statement, of a compound one its head alone."""
    body = statement.child_by_field_name("body") or statement.child_by_field_name("consequence")
    end = body.start_byte if body is not None and "block" in body.type else statement.end_byte
    return _SAID.sub("", file.source[statement.start_byte : end].decode("utf-8", "replace"))


def _matters_later(name: str, call: Node, file: SourceFile) -> bool:
    """Whether a line after the call stores or compares the variable."""
    after = text_after(call, file)
    for match in followed(name, after, WORD_END, "_."):
        line = line_around(match)
        is_compared = _LESS_OR_MORE.match(after, match.end()) or _LESS_OR_MORE_BEFORE.search(
            after, max(0, match.start() - len(name) - 60), match.start() - len(name)
        )
        start = match.start() - len(name)
        if _INTO_A_ROW.search(after[max(0, start - NEAR) : start]) and _STORES.search(after, match.end()):
            return True
        if _COMPARED_AS_TEXT.match(after, match.end()):
            return True
        if (is_compared or _QUERIED.search(line) or _ORDERED.search(line)) and not _LOGGING.search(line):
            return True
    return False
