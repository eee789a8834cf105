"""A fixed pattern is compiled again and again."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.scopes import LoopDraft, Scope
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.readers.built_text import built_text, is_constant
from analysis.engine.readers.reading import followed, function_name, is_made_once, round_of, short, text_before
from analysis.engine.rules.base import ALL, Watch, last_names

RULE = Rule(
    id="perf-regex-in-loop",
    version=4,
    type="regex_in_loop",
    category=Category.PERFORMANCE,
    title="Pattern compiled again and again",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Compile the pattern once at module/class level.",
)
GUIDE = Guide(
    why="The pattern is the same every time and only its use differs; building it costs more than matching.",
    grades="Info in Python, which keeps the last few hundred patterns, and for the pattern of one character.",
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
_ONE_CHARACTER = re.compile(r'"(?:\\[tnrf"]|\\\\\W|\\\\[sdw]|[^\\"])[+*]?"$')  # built faster than most texts are read
_TEXT = re.compile(r'\s*=\s*("(?:[^"\\\n]|\\.)*")')
_DECLARES = re.compile(r"\s*[=;:,)]")
_TYPE = re.compile(r"\b([A-Z]\w*)(?:<[^;(){}]*>)?\s+\Z")
_ONCE = re.compile(r"(^|\.)(init|__init__|constructor|main|setup\w*|create\w*Config)$")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_PLAIN = re.compile(r"[\"'`][\w\s/:;,#%@=&-]*[\"'`]$")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    given = file.arguments(call)[0]
    if not given or _ONCE.search(function_name(call, file)):
        return
    loop = round_of(call, file)
    in_loop = loop is not None and not (_leaves(call, loop, file) or _is_of_a_failure(call, loop, file))
    confidence, is_tiny = "", False
    if callee not in _COMPILERS:
        if file.language != "java" or not in_loop or not _is_pattern_method(callee, given, file):
            return
        is_tiny = _ONE_CHARACTER.match(file.text(given[0])) is not None
        confidence = "low"  # most loops go over few, and a short pattern is built fast
    if file.function_of(call) == 0 and not in_loop:
        return
    fixed = built_text(given[0], file)
    if any(not is_constant(part, file) and not _is_go_constant(part, file) for part in fixed.parts):
        return
    if is_made_once(call, file) or (loop is not None and _names(loop.variables, file.text(given[0]))):
        return
    if not in_loop and _PLAIN.match(file.text(given[0])):
        return  # nothing to compile
    where = "in every round of the loop" if in_loop else "in every call"
    yield file.mark(
        RULE.id,
        call,
        f"`{callee.rpartition('.')[2]}` compiles {short(file.text(given[0]), 40)} {where}",
        severity="info" if is_tiny or file.language == "python" else "",
        confidence=confidence,
        data={"loop": "yes"} if in_loop else None,
    )


def _names(variables: tuple[str, ...], text: str) -> bool:
    return not set(variables).isdisjoint(_WORD.findall(text))


def _leaves(call: Node, loop: LoopDraft, file: SourceFile) -> bool:
    """Whether the loop is left with the statement of the call, `return text.replaceFirst(…)`, which runs once."""
    statement = file.statement_of(call)
    return statement.type == "return_statement" and statement.start_byte >= loop.node.start_byte and file.in_loop(call)


def _is_of_a_failure(call: Node, loop: LoopDraft, file: SourceFile) -> bool:
    """Whether a handler within the loop makes the call: only the rounds that fail pay for it."""
    scope: Scope | None = file.scope_of(call)
    while scope is not None and scope.node.id != loop.node.id:
        if scope.kind == "handler":
            return True
        scope = scope.parent
    return False


def _is_go_constant(part: Node, file: SourceFile) -> bool:
    """Whether the file declares the name as a constant."""
    name = file.text(part)
    return file.language == "go" and name.isidentifier() and f"const {name} ".encode() in file.source


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Outside of loops it counts where every request pays for it; of a command nobody feels it."""
    if runs_by_hand(codebase, place.path):
        return None
    if mark.data.get("loop"):
        return place.finding(mark)
    if not place.in_request_path or (place.facts.language == "python" and not place.in_handler):
        return None  # Python keeps what it has compiled: looked up for each request, at most
    # Else requests reach it by the names of what is called.
    return place.finding(mark) if place.in_handler else place.finding(mark, confidence=Confidence.LOW)


def _is_pattern_method(callee: str, given: list[Node], file: SourceFile) -> bool:
    receiver, _, method = callee.rpartition(".")
    if _TEXT_METHODS.get(method) != len(given) or given[0].type not in ("string_literal", "identifier"):
        return False
    text = file.text(given[0]) if given[0].type == "string_literal" else _constant(file.text(given[0]), file)
    if not _META.search(text) or (method == "split" and _FAST.match(text)):
        return False
    return _declared_type(receiver, given[0], file) in ("", "String", "var")


def _constant(name: str, file: SourceFile) -> str:
    """The text that a constant of the class holds."""
    found = next(followed(name, file.source.decode("utf-8", "replace"), _TEXT, "_.$"), None) if name.isupper() else None
    return found[1] if found is not None else ""


def _declared_type(name: str, node: Node, file: SourceFile) -> str:
    """The class that the function declares a variable as; empty for anything else."""
    found = ""
    if name.isidentifier():
        before = text_before(node, file)
        for match in followed(name, before, _DECLARES, "_.$"):
            typed = _TYPE.search(before, max(0, match.start() - len(name) - 80), match.start() - len(name))
            found = typed[1] if typed is not None else found
    return found


WATCHES = (
    Watch(
        "call",
        look,
        ALL,
        names=last_names(_COMPILERS) | frozenset(_TEXT_METHODS),
    ),
)
