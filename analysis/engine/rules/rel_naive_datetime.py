"""A point in time without a zone: it means another instant on another machine."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Rule, Severity
from analysis.engine.rules.base import JAVA, PYTHON, Watch

RULE = Rule(
    id="rel-naive-datetime",
    type="naive_datetime",
    category=Category.RELIABILITY,
    title="Datetime without a zone",
    severity=Severity.INFO,
    points=0.5,
    suggestion="Use an aware value: `datetime.now(timezone.utc)` / `timezone.now()` / `Instant.now()`.",
    languages=(*PYTHON, *JAVA),
)

_NOW = {"datetime.datetime.now": 0, "datetime.datetime.fromtimestamp": 1}  # name to the position of the zone
_NEVER_AWARE = frozenset({"datetime.datetime.utcnow", "datetime.datetime.utcfromtimestamp", "datetime.datetime.today"})
_MADE_AWARE = re.compile(r"\s*\.(astimezone|replace)\(")
_MATTERS = re.compile(
    r"expir|deadline|valid_until|timeout|created|updated|deleted|_at\b|_until\b|[<>]=?|\.save\(|\.create\("
)
_LOGGING = re.compile(r"\b(log\w*|print|strftime)\b")
_TZINFO_POSITION = 7


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    positional, keywords = file.arguments(call)
    if callee in _NOW:
        if len(positional) > _NOW[callee] or keywords.keys() & {"tz", "**"}:
            return
    elif callee == "datetime.datetime":
        if (
            (len(positional) < 3 and "year" not in keywords)
            or len(positional) > _TZINFO_POSITION
            or keywords.keys() & {"tzinfo", "**"}
        ):
            return
    elif callee == "datetime.datetime.strptime":
        if len(positional) < 2 or positional[1].type != "string" or "%z" in file.text(positional[1]):
            return
    elif callee not in _NEVER_AWARE:
        return
    if _MADE_AWARE.match(file.source[call.end_byte : call.end_byte + 40].decode("utf-8", "replace")):
        return
    yield file.mark(
        RULE.id,
        call,
        f"`{callee.removeprefix('datetime.')}` here gives a time without a zone",
        severity=_severity(call, file),
    )


def look_at_java(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if callee == "java.time.LocalDateTime.now" and not file.arguments(call)[0]:
        yield file.mark(RULE.id, call, "`LocalDateTime.now()` has no zone", severity=_severity(call, file))


def _severity(call: Node, file: SourceFile) -> str:
    """A warning where the value is compared, stored or used for expiry."""
    statement = file.text(file.statement_of(call))
    return "warning" if _MATTERS.search(statement) and not _LOGGING.search(statement) else ""


WATCHES = (
    Watch(
        "call",
        look_at_python,
        PYTHON,
        names=frozenset({"now", "today", "utcnow", "fromtimestamp", "utcfromtimestamp", "datetime", "strptime"}),
    ),
    Watch("call", look_at_java, JAVA, names=frozenset({"now"})),
)
