"""A regular expression that takes exponential time on texts that almost match."""

import re
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from re import _constants as signs  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.reading import followed, short
from analysis.engine.readers.short_texts import is_short_text
from analysis.engine.rules.base import JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="risk-regex-backtracking",
    version=2,
    type="regex_backtracking",
    category=Category.RUNTIME_RISK,
    title="Regular expression that backtracks",
    severity=Severity.WARNING,
    points=1,
    suggestion="Rewrite without nested quantifiers or limit the input length.",
    confidence=Confidence.MEDIUM,
    languages=(*PYTHON, *SCRIPT, *JAVA),
)
GUIDE = Guide(
    why="A text of thirty characters that nearly matches keeps a core busy for minutes: anybody may send one.",
    grades="Critical on the path of a request.",
    flagged=(
        {
            "shop/names.py": r"""
import re

NAME = re.compile(r"^(\w+\s?)*$")
"""
        },
    ),
    fine=(
        {
            "shop/names.py": r"""
import re

NAME = re.compile(r"^\w+(\s\w+)*$")
"""
        },
    ),
)

LONGEST = 1_000  # characters of a pattern
_NESTED = re.compile(r"[+*}]\)?[^()]{0,12}\)(?:[+*]|\{\d*,\})")
# A choice that is repeated, and has to be followed by something that can fail.
_CHOICE = re.compile(r"\((?:\?:)?([^()|]{1,40}(?:\|[^()|]{1,40})+)\)(?:[+*]|\{\d+,\})(?=[^?)]|\)[^+*?)])")
_ONE_SIGN = re.compile(r"\\?[^\\\[\]+*?{}]|\[[^\]]+\]")
_SAMPLE = "abzAZ019_- .,;:/'\"\t\n@#é"
_LITERAL = re.compile(r"^[rbu]*([\"'`]{3}|[\"'`])(.*)\1$", re.DOTALL)
_GIVEN = re.compile(rb"\s*(?::[^=\n]+)?=\s*([rRbBuU]{0,2}(?:\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'))\s*;?\s*\n")
_PUT_TOGETHER = frozenset({"binary_expression", "binary_operator", "concatenated_string", "call_expression", "call"})
_TESTED = re.compile(rb"\.(?:test|exec)\(\s*([\w.$]+)\s*\)")
_SCRIPT = re.compile(r"^/(.*)/\w*$", re.DOTALL)
_CALLS = frozenset({"compile", "match", "search", "fullmatch", "sub", "findall", "finditer", "split"})

Items = Sequence[tuple[Any, Any]]  # a pattern as Python's own parser takes it apart


def look_at_call(call: Node, file: SourceFile) -> Iterator[Mark]:
    """A pattern written out in `re.compile("...")`, `Pattern.compile("...")` or `new RegExp("...")`."""
    positional = file.arguments(call)[0]
    callee = file.callee(call)
    if not positional or (file.language == "python" and not callee.startswith("re.")):
        return
    text = _named(positional[0], file) if positional[0].type == "identifier" else file.text(positional[0])
    found = _LITERAL.match(text)
    if found is None or positional[0].type in _PUT_TOGETHER:
        return
    is_raw = text[:2].lower().startswith(("r", "br"))
    pattern = found[2] if is_raw else found[2].replace("\\\\", "\\")
    is_whole = callee.rpartition(".")[2] in ("matches", "fullmatch")  # the end of the text must follow
    whole = f"(?:{pattern})$" if is_whole else pattern
    yield from _marked(positional[0], whole, _subject_of(call, file), file, shown=pattern)


def _subject_of(call: Node, file: SourceFile) -> str:
    """The text that a call matches at once; empty where it only makes the pattern."""
    positional = file.arguments(call)[0]
    if file.language == "python":
        position = 2 if file.callee(call).endswith((".sub", ".subn")) else 1
        is_made = file.callee(call) == "re.compile" or len(positional) <= position
        return "" if is_made else file.text(positional[position])
    receiver = call.child_by_field_name("object") if file.language == "java" else None
    return file.text(receiver) if receiver is not None else ""


def _subject_of_literal(literal: Node, file: SourceFile) -> str:
    """The text that is matched with a pattern of a script: `/a+/.test(text)`, `text.match(/a+/)`."""
    above = literal.parent
    asked = _TESTED.match(file.source, literal.end_byte) if above is not None else None
    if asked is not None:
        return asked[1].decode("utf-8", "replace")
    function = above.parent.child_by_field_name("function") if above is not None and above.parent is not None else None
    receiver = function.child_by_field_name("object") if function is not None else None
    return file.text(receiver) if receiver is not None else ""


def _named(name: Node, file: SourceFile) -> str:
    """The literal that the file gives a name; empty when there is none."""
    given = followed(file.source[name.start_byte : name.end_byte], file.source, _GIVEN, b"_.$")
    return next((match[1].decode("utf-8", "replace") for match in given), "")


def look_at_literal(literal: Node, file: SourceFile) -> Iterator[Mark]:
    found = _SCRIPT.match(file.text(literal))
    if found is not None:
        yield from _marked(literal, found[1], _subject_of_literal(literal, file), file)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """On the path of a request anybody may send such a text. Java remembers since its release 9 where a group has
    failed, so that only long texts cost it much."""
    if place.facts.language == "java":
        return place.finding(mark, confidence=Confidence.LOW)
    return place.finding(mark, severity=Severity.CRITICAL if place.in_request_path else None)


@lru_cache(maxsize=2_000)
def backtracks(pattern: str) -> bool:
    """Whether a repetition without an end holds another one that may match the same text in many ways, and something
    follows that can fail."""
    if len(pattern) > LONGEST:
        return False
    if any(_overlap(group[1].split("|")) for group in _CHOICE.finditer(pattern)):
        return True
    if _NESTED.search(pattern) is None:
        return False
    try:
        with warnings.catch_warnings(action="ignore"):  # about patterns that somebody else wrote
            return _is_ambiguous(list(parser.parse(pattern)), followed=False)
    except (re.error, OverflowError, RecursionError):
        return False


def _overlap(branches: list[str]) -> bool:
    """Whether two branches of a repeated choice take the same text: then each round of it doubles the ways."""
    if any(not branch for branch in branches):
        return False
    if all(_ONE_SIGN.fullmatch(branch) for branch in branches):
        taken = [{sign for sign in _SAMPLE if re.fullmatch(branch, sign)} for branch in branches]
        return any(not first.isdisjoint(second) for first, second in combinations(taken, 2))
    plain = [branch for branch in branches if re.fullmatch(r"[\w ]+", branch)]
    return any(
        re.fullmatch(f"(?:{'|'.join(other for other in plain if other is not branch)})+", branch) is not None
        for branch in plain
        if len(plain) > 1
    )


def _is_ambiguous(items: Items, *, followed: bool) -> bool:
    for position, (sign, value) in enumerate(items):
        after = followed or any(_can_fail(each) for each in items[position + 1 :])
        if sign in (signs.MAX_REPEAT, signs.MIN_REPEAT):
            inner = list(value[2])
            if value[1] is signs.MAXREPEAT and after and _repeats_itself(inner):
                return True
            if _is_ambiguous(inner, followed=after):
                return True
        elif any(_is_ambiguous(list(each), followed=after) for each in _parts(sign, value)):
            return True
    return False


def _parts(sign: Any, value: Any) -> Sequence[Items]:
    """What a group or an alternation is made of."""
    if sign is signs.SUBPATTERN:
        return [value[3]]
    return value[1] if sign is signs.BRANCH else ()


def _can_fail(item: tuple[Any, Any]) -> bool:
    sign, value = item
    return sign not in (signs.MAX_REPEAT, signs.MIN_REPEAT) or value[0] > 0


def _repeats_itself(items: Items) -> bool:
    """Whether one repetition without an end may be all that matches, in one branch at least: every split of the text
    then matches too."""
    while len(items) == 1 and items[0][0] is signs.SUBPATTERN:
        items = list(items[0][1][3])
    if len(items) == 1 and items[0][0] is signs.BRANCH:
        return any(_repeats_itself(list(branch)) for branch in items[0][1][1])
    items = [_unwrapped(item) for item in items]
    if not all(sign in (signs.MAX_REPEAT, signs.MIN_REPEAT) for sign, _ in items):
        return False
    needed = [value for _, value in items if value[0] > 0]
    return len(needed) < 2 and any(value[1] is signs.MAXREPEAT for value in needed or [value for _, value in items])


def _unwrapped(item: tuple[Any, Any]) -> tuple[Any, Any]:
    """What a group around one thing only groups."""
    while item[0] is signs.SUBPATTERN and len(item[1][3]) == 1:
        item = item[1][3][0]
    return item


def _marked(node: Node, pattern: str, subject: str, file: SourceFile, shown: str = "") -> Iterator[Mark]:
    if backtracks(pattern) and not is_short_text(subject, node, file):
        cost = "time with the square of its length" if file.language == "java" else "exponential time"
        yield file.mark(RULE.id, node, f"`{short(shown or pattern)}` takes {cost} on a text that almost matches")


WATCHES = (
    Watch("call", look_at_call, PYTHON, names=_CALLS),
    Watch("call", look_at_call, SCRIPT, names=frozenset({"RegExp"})),
    Watch("call", look_at_call, JAVA, names=frozenset({"compile", "matches", "replaceAll", "replaceFirst"})),
    Watch("regex", look_at_literal, SCRIPT, starts=re.compile(rb"/[^\n]*(?:[+*}][^\n()]{0,13}|\|[^\n()]*)\)[+*{]")),
)
