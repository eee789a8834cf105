"""Whether two readings of a clock only measure how long something took, or only the day is taken of one
(`rel-naive-datetime`)."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import WORD_END, followed, text_after

# Two readings of the same clock: their difference is a time span whatever the zone.
LOCAL_CLOCK = re.compile(r"(?:datetime\.)*(?:now|today|fromtimestamp)\(")
_DAY = re.compile(rb"\s*\.date\(\)")
_SPAN_OF = re.compile(r"\s*(?:\.until\(|,\s*LocalDateTime\.now\(\)\s*\))")
_STARTED = re.compile(r"((?:self\.)?\w*(?:(start|begin|t0|tic)|finish|end(?!_?(?:date|at|of))|stop)\w*)\s*=\s*\Z")
_TAKEN_FROM = re.compile(r"(?:now\(\)|(?:finish|end|stop)\w*)\s*-\s*\Z")
_MINUS_START = re.compile(r"\s*-\s*(?:self\.)?\w*(?:start|begin|t0|tic)")
_UTC_CLOCK = re.compile(r"(?:datetime\.)*utc(?:now|fromtimestamp)\(")
ASSIGNED = re.compile(r"(?:\w+\s+)?(\w+)\s*(?::[^=\n]+)?=(?!=)")
_MEMBER = re.compile(r"self\.\w+")
_GIVEN = re.compile(r"\s*(?::[^=\n]+)?=(?!=)\s*")
NEAR = 60  # bytes before a call


def gives_a_day(call: Node, file: SourceFile) -> bool:
    """Whether only the day is taken of a reading, or of what it is reckoned with: `(datetime.now() - span).date()`."""
    taken_of, above = call, call.parent
    if above is not None and above.type == "binary_operator":
        outer = above.parent
        taken_of = outer if outer is not None and outer.type == "parenthesized_expression" else call
    return _DAY.match(file.source, taken_of.end_byte) is not None


def is_span(call: Node, file: SourceFile) -> bool:
    """Whether the call is taken from another reading of the same clock, or the other from it; a member may keep it."""
    above = call.parent
    if above is None or above.type != "binary_operator" or above.named_child_count != 2:
        return False
    operator = above.child_by_field_name("operator")
    if operator is None or file.text(operator) != "-":
        return False
    sides = [file.text(each) for each in above.named_children]
    return any(all(_reads(side, clock, file) for side in sides) for clock in (LOCAL_CLOCK, _UTC_CLOCK))


def _reads(side: str, clock: re.Pattern[str], file: SourceFile) -> bool:
    """Whether one side of a difference reads a clock, or is a member that is given nothing else in this file."""
    if _MEMBER.fullmatch(side) is None:
        return clock.match(side) is not None
    source = file.source.decode("utf-8", "replace")
    given = [source[each.end() :] for each in followed(side, source, _GIVEN, "_.")]
    return any(map(clock.match, given)) and all(clock.match(each) or each.startswith("None") for each in given)


def is_end_of_span(call: Node, file: SourceFile) -> bool:
    """Whether the time is kept as the start or the end of what is measured: `self.started = now()`, and elsewhere
    `now() - self.started` or `self.finished - self.started`."""
    before = file.source[max(0, call.start_byte - NEAR) : call.start_byte].decode("utf-8", "replace")
    kept = _STARTED.search(before)
    if kept is None:
        return False
    is_member = kept[1].startswith("self.")
    text = file.source.decode("utf-8", "replace") if is_member else text_after(call, file)
    if kept[2] is not None:
        return any(
            _TAKEN_FROM.search(text, max(0, each.start() - NEAR), each.start() - len(kept[1]))
            for each in followed(kept[1], text, WORD_END, "_.")
        )
    return any(followed(kept[1], text, _MINUS_START, "_."))


def is_start_of_span(call: Node, file: SourceFile) -> bool:
    """Whether a time of Java goes into a variable that only measures how long it took."""
    given = ASSIGNED.match(file.text(file.statement_of(call)))
    uses = list(followed(given[1], text_after(call, file), WORD_END, "_.")) if given is not None else []
    return bool(uses) and all(_SPAN_OF.match(each.string, each.end()) for each in uses)
