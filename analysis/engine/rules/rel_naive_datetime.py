"""A point in time without a zone: it means another instant on another machine."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import MADE_UP
from analysis.engine.policy import Policy
from analysis.engine.readers.browsers import runs_in_browsers
from analysis.engine.readers.django_clock import (
    KEEPS_NO_ZONE,
    SETS_ZONE,
    is_of_cookie,
    keeps_no_zone,
    look_at_times,
    look_at_zone,
    runs_in_utc,
)
from analysis.engine.readers.java_dates import is_zoned, reads_fields, reads_texts, stored_as
from analysis.engine.readers.reading import WORD_END, followed, function_text, short, text_after
from analysis.engine.readers.time_spans import ASSIGNED, gives_a_day, is_end_of_span, is_span, is_start_of_span
from analysis.engine.readers.uses_of_times import confidence_of, severity_of, stays
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="rel-naive-datetime",
    type="naive_datetime",
    category=Category.RELIABILITY,
    title="Datetime without a zone",
    severity=Severity.INFO,
    points=0.5,
    suggestion="Use an aware value: `datetime.now(timezone.utc)` / `timezone.now()` / `Instant.now()`.",
)
GUIDE = Guide(
    why="A time without a zone means another instant on another machine and twice the same hour in autumn.",
    grades="Warning when compared, stored or used for expiry, else info.",
    flagged=(
        {
            "shop/work.py": """
from datetime import datetime


def is_over(order):
    return order.expires_at < datetime.utcnow()
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from datetime import UTC, datetime


def is_over(order):
    return order.expires_at < datetime.now(UTC)
"""
        },
    ),
)

_NOW = {"datetime.datetime.now": 0, "datetime.datetime.fromtimestamp": 1}  # name to the position of the zone
_NEVER_AWARE = frozenset({"datetime.datetime.utcnow", "datetime.datetime.utcfromtimestamp", "datetime.datetime.today"})
# `now().replace(hour=0)` is as much without a zone as `now()`.
_SET_BACK = re.compile(r"(?:\s*\.replace\((?![^()]*\btzinfo\b)[^()]*\))+")
_READS_CLOCK = frozenset({"datetime.datetime.now", "datetime.datetime.today"})
_MADE_AWARE = re.compile(r"\s*\.(astimezone|replace|date|year|month|day|weekday)\b")
# The reading of the clock as local time is right again as a number of seconds, and right enough as a text for people.
_CLOCK_IS_RIGHT = re.compile(r"\s*\.(timestamp|timetuple|strftime|ctime)\b")
_REWRITTEN = re.compile(r"\s*\.(strftime|time|timetuple)\b")
_HOURS_AND_DAY = re.compile(r"^(?=[^zZX]*$)(?=.*[HhkK]).*[yYd]")  # a time of a day, and no zone
_OF_NAME = re.compile(r"\"[A-Za-z_]*\"")  # written without a sign, as for the name of a file
# A text for people, and a time span: `formatted(LocalDateTime.now())`, `started.until(LocalDateTime.now(), MILLIS)`.
_SHOWN_OR_SPAN = re.compile(rb"\"\s*\+\s*\Z|(?:\.append|\b[fF]ormat\w*|\.until|\b[bB]etween)\((?:[\w.()]+,\s*)?\s*\Z")
_NAMES = re.compile(r"(?:[nN]ame|\bfile_?[iI]d)[\"']?\]?\s*=[^=]")
_FORMATTED = re.compile(rb"\s*\.(format|toLocalDate|getYear)\(")
_WRAPPED = re.compile(
    r"(?:make_aware|make_utc|as_utc|to_utc|localize|strftime|\bformat\w*|\w_format\w*)\(\s*(?:value\s*=\s*)?$"
)
_HAS_A_DAY = re.compile(r"%-?[dDjxcFsUW]")
_NAMED_NAIVE = re.compile(r"(?i)naive|no_?tz|without_?(?:tz|zone)")
_WRITTEN = re.compile(r"\.strftime\(")
_NAMES_CONSTANT = re.compile(rb"\bconst\s+[A-Z][A-Z\d_]*\s*(?::[^=\n]+)?=\s*\Z")
_WRITTEN_AS_UTC = re.compile(r"\.isoformat\([^()]*\)(?:\[:\d+\])?\s*\+\s*[\"'](?:Z|\+00:?00)[\"']")
_IN_OBJECT = re.compile(rb"[\w\"']\s*:\s*(?:new\s+)?\Z")
_DEFAULT = re.compile(rb"(?:default|default_factory|onupdate|insert_default)\s*=\s*[\w.]*\b(?:utcnow|now|today)\s*[,)]")
_SAID_LOCAL = re.compile(rb"(?i)#[^\n]*(?:\blocal time|\bnaive\b)[^\n]*\n(?:\s*#[^\n]*\n)*\s*\Z")
_NEVER = frozenset({"1", "1900", "1970", "9999"})  # years that stand for none
NEAR = 60  # bytes before a call
LONGEST_REPLACE = 100  # bytes of a time that is set to an hour
SAID = 400  # bytes of comments above a statement
_TZINFO_POSITION = 7
# A text that ends with a time of the day, whatever day is put before it: `day + "T00:00:00"`.
_DIGITS = r"(?:\d\d|\$\{[^{}]*\})"  # of the clock, written out or filled in
_ENDS_LOCAL = re.compile(rf"(?:\+\s*[\"'`]|\}}|\d)[T ]{_DIGITS}:{_DIGITS}(?::{_DIGITS}(?:\.\d+)?)?[\"'`]$")
_BUILT = frozenset({"binary_expression", "template_string"})
_LOCAL_TIME = re.compile(r"""["'`]\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?["'`]$""")


def look_at_python(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if not callee.startswith("datetime.") or not _is_naive(call, callee, file):
        return
    after = _text_behind(call, file)
    is_day = callee in _READS_CLOCK and gives_a_day(call, file)
    if _MADE_AWARE.match(after) and not is_day:
        return
    if _WRAPPED.search(file.source[max(0, call.start_byte - 60) : call.start_byte].decode("utf-8", "replace")):
        return
    if _is_harmless(call, callee, file):
        return
    if callee == "datetime.date.today" or is_day:
        if _CLOCK_IS_RIGHT.match(after) or _NAMES.search(file.text(file.statement_of(call))):
            return
        shown = f"{callee.removeprefix('datetime.')}().date()" if is_day else "date.today()"
        message = f"`{shown}` is the day of this machine's zone"
        data = stays(call, "", file)
        yield file.mark(RULE.id, call, message, severity="info", confidence="low", data=data)
        return
    name = callee.removeprefix("datetime.")
    is_constant = callee == "datetime.datetime" and all(each.type == "integer" for each in file.arguments(call)[0])
    year = next(iter(file.arguments(call)[0]), None) if is_constant else None
    if year is not None and file.text(year) in _NEVER:
        return
    if is_constant and call.parent is not None and call.parent.type == "argument_list":
        return  # an example of a time
    if is_constant and "make_aware(" in text_after(call, file):
        return  # what it is filled in for gets its zone there
    if _is_meant(call, file):
        return
    severity = severity_of(call, file)
    yield file.mark(
        RULE.id,
        call,
        f"`{name}` here gives a time without a zone",
        severity=severity,
        confidence=confidence_of(call, severity, file),
        data={"form": "cookie"} if is_of_cookie(call, file) else stays(call, severity, file, is_constant=is_constant),
    )


def _text_behind(call: Node, file: SourceFile) -> str:
    """What is done with a time, without what only sets a part of it."""
    after = file.source[call.end_byte : call.end_byte + NEAR + LONGEST_REPLACE].decode("utf-8", "replace")
    return _SET_BACK.sub("", after, count=1) if _SET_BACK.match(after) else after[:NEAR]


def look_at_default(given: Node, file: SourceFile) -> Iterator[Mark]:
    """`Column(DateTime, default=datetime.utcnow)`: each row is given a time without a zone."""
    value = given.child_by_field_name("value")
    name = file.resolve(file.text(value)) if value is not None else ""
    if name in _NOW or name in _NEVER_AWARE:
        yield file.mark(
            RULE.id,
            given,
            f"`{name.removeprefix('datetime.')}` gives each new value a time without a zone",
            severity="warning",
            confidence="medium",
        )


def look_at_java(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    if callee == "java.time.LocalDateTime.now" and not file.arguments(call)[0]:
        yield from _local_time(call, file)
    elif callee == "java.util.Date" and not file.arguments(call)[0]:
        kept, is_stored = stored_as(call, file)
        if kept:
            data = {} if is_stored else {"form": "stays"}
            message = f"`{kept}` is given a `Date`, which is read in the zone of the machine"
            suggestion = "Use `Instant.now()`."
            yield file.mark(RULE.id, call, message, severity="info", confidence="low", suggestion=suggestion, data=data)
    elif callee == "java.text.SimpleDateFormat" and not is_zoned(call, file):
        yield from _date_format(call, file)


def _local_time(call: Node, file: SourceFile) -> Iterator[Mark]:
    if _FORMATTED.match(file.source, call.end_byte) or _SHOWN_OR_SPAN.search(
        file.source, max(0, call.start_byte - 60), call.start_byte
    ):
        return
    if is_start_of_span(call, file):
        return
    if "systemDefault()" in function_text(call, file):
        return  # all times of the function are of the zone of the machine
    suggestion = "Use `Instant.now()` or `ZonedDateTime.now(zone)`."
    message = "`LocalDateTime.now()` has no zone"
    severity = severity_of(call, file)
    kept, is_stored = stored_as(call, file)
    data, confidence = stays(call, severity, file), "" if severity else "low"
    if kept and is_stored:
        data = {}
        message = f"`{kept}` is given a `LocalDateTime`, which has no zone"
    yield file.mark(RULE.id, call, message, severity=severity, confidence=confidence, suggestion=suggestion, data=data)


def _date_format(call: Node, file: SourceFile) -> Iterator[Mark]:
    pattern = next(iter(file.arguments(call)[0]), None)
    if pattern is None or pattern.type != "string_literal" or not _HOURS_AND_DAY.search(file.text(pattern)):
        return  # a day, or a time of the day, of whichever zone
    is_read = reads_texts(call, file)
    if reads_fields(call, file) if is_read else _OF_NAME.fullmatch(file.text(pattern)):
        return
    yield file.mark(
        RULE.id,
        call,
        "This `SimpleDateFormat` reads and writes times in the zone of the machine",
        confidence="medium",
        data={} if is_read else {"form": "written"},
        suggestion="Use a `DateTimeFormatter` with a zone, or call `setTimeZone`.",
    )


def look_at_script(call: Node, file: SourceFile) -> Iterator[Mark]:
    given = file.arguments(call)[0]
    if len(given) != 1 or file.callee(call) not in ("Date", "Date.parse"):
        return
    if given[0].type in _BUILT and _ENDS_LOCAL.search(file.text(given[0])):
        severity = severity_of(call, file)
        yield file.mark(
            RULE.id,
            call,
            f"`{short(file.text(given[0]))}` names no zone: it is read in the zone of the machine",
            severity=severity,
            confidence="" if severity else "low",
            data={"form": "built"},
            suggestion="End the text with `Z` or an offset.",
        )
    elif _LOCAL_TIME.match(file.text(given[0])):
        is_row = _IN_OBJECT.search(file.source, max(0, call.start_byte - NEAR), call.start_byte) is not None
        severity = "" if is_row else severity_of(call, file)
        yield file.mark(
            RULE.id,
            call,
            f"{file.text(given[0])} names no zone: it is read in the zone of the machine",
            severity=severity,
            confidence="" if severity else "low",
            # Mostly an example of a row; a constant of a module is there for others.
            data={} if severity or _is_constant_of_script(call, file) else {"form": "stays"},
            suggestion="End the text with `Z` or an offset.",
        )


def _is_constant_of_script(call: Node, file: SourceFile) -> bool:
    """Whether the time is that of a constant of the module: `export const RELEASE = new Date("...")`."""
    before = file.source[max(0, call.start_byte - NEAR) : call.start_byte]
    return file.function_of(call) == 0 and _NAMES_CONSTANT.search(before) is not None


def look_at_go(call: Node, file: SourceFile) -> Iterator[Mark]:
    given = file.arguments(call)[0]
    if file.callee(call) == "time.Date" and given and file.text(given[-1]) == "nil":
        yield file.mark(
            RULE.id,
            call,
            "`time.Date` with a nil location panics",
            severity="warning",
            suggestion="Pass `time.UTC`.",
        )


def _is_naive(call: Node, callee: str, file: SourceFile) -> bool:
    positional, keywords = file.arguments(call)
    if callee in _NOW:
        return len(positional) <= _NOW[callee] and not keywords.keys() & {"tz", "**"}
    if callee == "datetime.datetime":
        given = len(positional) + len(keywords.keys() & {"year", "month", "day"})
        splat = any(each.type == "list_splat" for each in positional)
        return 3 <= given <= _TZINFO_POSITION and not splat and not keywords.keys() & {"tzinfo", "**"}
    if callee == "datetime.datetime.strptime":
        if call.parent is not None and call.parent.type == "expression_statement":
            return False  # only asks whether it can be read
        if len(positional) < 2 or positional[1].type != "string" or "%z" in file.text(positional[1]):
            return False
        if not _HAS_A_DAY.search(file.text(positional[1])):
            return False  # a time of the day, of whichever
        return not re.match(
            r"(?:[^\n]*\n){1,3}[^\n]*(make_aware|\.replace\(tzinfo|\.localize\()", text_after(call, file)
        )
    return callee in _NEVER_AWARE or callee == "datetime.date.today"


def _is_harmless(call: Node, callee: str, file: SourceFile) -> bool:
    """Whether the value is turned at once into what is right without a zone, or measures how long something takes."""
    after = _text_behind(call, file)
    if is_span(call, file):
        return True
    if callee in ("datetime.datetime.utcnow", "datetime.datetime.utcfromtimestamp") and _WRITTEN_AS_UTC.search(
        file.text(file.statement_of(call))
    ):
        return True
    if is_end_of_span(call, file):
        return True
    if callee == "datetime.datetime.utcnow":
        return after.lstrip().startswith(".strftime(") or _is_text_of_utc(call, file)
    if callee == "datetime.datetime.fromtimestamp":
        return _REWRITTEN.match(after) is not None
    if callee in _READS_CLOCK:
        if after.startswith(":%"):
            return True  # of a text: `f"{datetime.now():%Y%m%d}"`
        if _CLOCK_IS_RIGHT.match(after) or _NAMES.search(file.text(file.statement_of(call))):
            return True
        return re.match(r"\s*-\s*\w*(start|begin|t0|tic)\w*", after) is not None
    return callee == "datetime.datetime.strptime" and _REWRITTEN.match(after) is not None


def _is_meant(call: Node, file: SourceFile) -> bool:
    """Whether the function, or a comment on the line or above, says that the time is to be without a zone."""
    name = file.functions[file.function_of(call)].name
    line = file.source[call.start_byte :].partition(b"\n")[0]
    if _NAMED_NAIVE.search(name) is not None or b"naive" in line.partition(b"#")[2].lower():
        return True
    start = file.statement_of(call).start_byte
    return _SAID_LOCAL.search(file.source, max(0, start - SAID), start) is not None


def _is_text_of_utc(call: Node, file: SourceFile) -> bool:
    """Whether the time in UTC goes into a variable that is only written as a text: `expires.strftime("... GMT")`."""
    given = ASSIGNED.match(file.text(file.statement_of(call)))
    if given is None:
        return False
    after = text_after(call, file)
    uses = list(followed(given[1], after, WORD_END, "_."))
    # As a keyword of the same name it is no use: `expires=expires.strftime(...)`.
    uses = [each for each in uses if not re.match(r"\s*=(?!=)", after[each.end() :])]
    return bool(uses) and all(_WRITTEN.match(after, each.end()) for each in uses)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A time that stays in its function, or goes into a line of the log, meets no other zone, and none of a project
    that keeps all of its times without one. A page means the day of who looks at it."""
    form = mark.data.get("form")
    if form in ("zone", "local", "aware") or (form == "cookie" and runs_in_utc(codebase)):
        return None
    if form == "built" and (place.facts.language == "tsx" or runs_in_browsers(place)):
        return None
    if form == "written":  # for people of this place, unless others ask for it
        is_asked = place.in_request_path or any(entry.kind == "request" for entry in place.facts.entries)
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW) if is_asked else None
    if form == "stays" or (mark.confidence == "low" and MADE_UP.search(place.path)):
        return None
    if place.facts.language == "python" and keeps_no_zone(codebase):
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    return place.finding(mark)


WATCHES = (
    Watch(
        "call",
        look_at_python,
        PYTHON,
        names=frozenset({"now", "today", "utcnow", "fromtimestamp", "utcfromtimestamp", "datetime", "strptime"}),
    ),
    Watch("assignment", look_at_zone, PYTHON, needs=(b"TIME_ZONE",), starts=SETS_ZONE),
    Watch("assignment", look_at_times, PYTHON, needs=(b"USE_TZ",), starts=KEEPS_NO_ZONE),
    Watch("keyword_argument", look_at_default, PYTHON, needs=(b"utcnow", b".now"), starts=_DEFAULT),
    Watch("call", look_at_java, JAVA, names=frozenset({"now", "Date", "SimpleDateFormat"})),
    Watch("call", look_at_script, SCRIPT, names=frozenset({"Date", "parse"})),
    Watch("call", look_at_go, GO, names=frozenset({"Date"})),
)
