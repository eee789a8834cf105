"""A fixed pattern is compiled again and again."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.rules.base import ALL, Watch
from analysis.engine.rules.built_text import built_text, is_constant
from analysis.engine.rules.reading import function_name, round_of, short

RULE = Rule(
    id="perf-regex-in-loop",
    version=2,
    type="regex_in_loop",
    category=Category.PERFORMANCE,
    title="Pattern compiled again and again",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Compile the pattern once at module/class level.",
)
GUIDE = Guide(
    why="The pattern is the same every time and only its use differs; building it costs more than matching.",
    grades="Info in Python, which keeps the last few hundred patterns.",
    flagged=(
        {
            "src/Words.java": r"""
import java.util.regex.Pattern;

class Words {
    int count(java.util.List<String> lines) {
        int found = 0;
        for (String line : lines) {
            if (Pattern.compile("\\d+").matcher(line).find()) {
                found++;
            }
        }
        return found;
    }
}
"""
        },
    ),
    fine=(
        {
            "src/Words.java": r"""
import java.util.regex.Pattern;

class Words {
    private static final Pattern DIGITS = Pattern.compile("\\d+");

    boolean has(String line) {
        return DIGITS.matcher(line).find();
    }
}
"""
        },
    ),
)

_COMPILERS = frozenset(
    {"re.compile", "java.util.regex.Pattern.compile", "RegExp", "java.util.regex.Pattern.matches"}
    | {f"regexp.{name}" for name in ("MustCompile", "Compile", "MatchString", "Match", "MustCompilePOSIX")}
)
_TEXT_METHODS = {"matches": 1, "replaceAll": 2, "replaceFirst": 2, "split": 1}  # of Java's String, to their arguments
_META = re.compile(r"[.$|()\[{^?*+\\]")
_FAST = re.compile(
    r'^"(\\\\[^\w"]|\\[tnrf]|[^.$|()\[{^?*+\\"])"$'
)  # one plain or escaped character: no pattern is built
_ONCE = re.compile(r"(^|\.)(init|__init__|constructor|main|setup\w*)$")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    given = file.arguments(call)[0]
    if not given or _ONCE.search(function_name(call, file)):
        return
    in_loop = round_of(call, file) is not None
    confidence = ""
    if callee not in _COMPILERS:
        if file.language != "java" or not in_loop or not _is_pattern_method(callee, given, file):
            return
        confidence = "medium"
    if file.function_of(call) == 0 and not in_loop:
        return
    fixed = built_text(given[0], file)
    if any(not is_constant(part, file) for part in fixed.parts):
        return
    where = "in every round of the loop" if in_loop else "in every call"
    yield file.mark(
        RULE.id,
        call,
        f"`{callee.rpartition('.')[2]}` compiles {short(file.text(given[0]), 40)} {where}",
        severity="info" if file.language == "python" else "",
        confidence=confidence,
        data={"loop": "yes"} if in_loop else None,
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Outside of loops it counts where every request pays for it."""
    if mark.data.get("loop") or (place.facts.language != "python" and place.in_request_path):
        return place.finding(mark)
    return None


def _is_pattern_method(callee: str, given: list[Node], file: SourceFile) -> bool:
    method = callee.rpartition(".")[2]
    text = file.text(given[0])
    if _TEXT_METHODS.get(method) != len(given) or given[0].type != "string_literal" or not _META.search(text):
        return False
    return method != "split" or not _FAST.match(text)


WATCHES = (
    Watch(
        "call",
        look,
        ALL,
        names=frozenset({name.rpartition(".")[2] for name in _COMPILERS}) | frozenset(_TEXT_METHODS),
    ),
)
