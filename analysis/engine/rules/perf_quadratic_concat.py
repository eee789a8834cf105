"""A text or list is grown by copying it whole in every round of a loop."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.reading import assigned_values, followed, is_short_list, short
from analysis.engine.rules.sizes import Size, size_of

RULE = Rule(
    id="perf-quadratic-concat",
    type="quadratic_concat",
    category=Category.PERFORMANCE,
    title="Concatenation in a loop",
    severity=Severity.WARNING,
    points=1,
    suggestion="Collect the parts in a list/`StringBuilder`/`strings.Builder` and join once.",
)
GUIDE = Guide(
    why="Each round copies all that was there before: twice the input takes four times as long.",
    grades="Info when the loop is visibly small, and in Python where the interpreter repairs the local case.",
    flagged=(
        {
            "src/Report.java": """
class Report {
    String of(java.util.List<String> lines) {
        String text = "";
        for (String line : lines) {
            text += line;
        }
        return text;
    }
}
"""
        },
    ),
    fine=(
        {
            "src/Report.java": """
class Report {
    String of(java.util.List<String> lines) {
        StringBuilder text = new StringBuilder();
        for (String line : lines) {
            text.append(line);
        }
        return text.toString();
    }
}
"""
        },
    ),
)

SMALL_LOOP = 20  # rounds that are known to be few

_GROWS = re.compile(rb"([\w.]++)\s*+(?:\+=|=\s*(?:\1|\(\1)\s*\+(?!\+))\s*")
_LIST_GROWS = re.compile(rb"([\w$]++)\s*+=\s*(?:\1\.concat\(|\[\s*\.\.\.\1\b|\{\s*\.\.\.\1\b)")
_TEXT = re.compile(r"""^([rbfuRBFU]{0,2}["'`]|String\.valueOf|string\(|str\()""")
_BYTES = re.compile(r"""^(b["']|bytes\()""")
_LEAVES = re.compile(rb"\s*;?\s*(return|break)\b")
_BEGINS = re.compile(r"(\s*:\s*\w+)?\s*:?=(?!=)")
_GO_TEXT = re.compile(r"\bvar\s+%s\s+string\b")


def look_at_growth(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """`s += part` and `s = s + part`."""
    found = _GROWS.match(file.source, statement.start_byte)
    if found is None or not _repeats(statement, file):
        return
    name = found[1].decode("utf-8", "replace")
    started = _start_of(name, statement, file)
    if started is None:
        return
    is_local_text = file.language == "python" and "." not in name and not _BYTES.match(started)
    is_small = _takes_few(statement, file)
    what = "bytes" if _BYTES.match(started) else "text"
    yield file.mark(
        RULE.id,
        statement,
        f"`{name}` grows in a loop: each round copies all of its {what} so far",
        severity="info" if is_local_text or is_small else "",
        confidence="low" if is_small else "",
    )


def look_at_list(statement: Node, file: SourceFile) -> Iterator[Mark]:
    found = _LIST_GROWS.match(file.source, statement.start_byte)
    if found is not None and _repeats(statement, file):
        name = found[1].decode("utf-8", "replace")
        if _is_outside(name, statement, file):
            is_small = _takes_few(statement, file)
            yield file.mark(
                RULE.id,
                statement,
                f"`{name}` is copied whole in every round of the loop",
                severity="info" if is_small else "",
                confidence="low" if is_small else "medium",
                suggestion=f"Add to it in place (`{name}.push(...)`).",
            )


def look_at_reduce(call: Node, file: SourceFile) -> Iterator[Mark]:
    given = file.arguments(call)[0]
    if len(given) != 2 or given[0].type not in ("arrow_function", "function_expression"):
        return
    start, end = file.dialect.callee(call)
    reduced = file.source[start:end].decode("utf-8", "replace").rpartition(".")[0]
    if is_short_list(reduced, call, file):
        return
    size = size_of(reduced, call, file)
    text = file.text(given[0])
    accumulator = re.match(r"(?:async\s*)?(?:function\s*\w*\s*)?\(\s*([\w$]+)", text)
    if accumulator is None:
        return
    name = re.escape(accumulator[1])
    if re.search(rf"(=>\s*\(?|return\s+)([\[{{]\s*\.\.\.{name}\b|{name}\.concat\()", text):
        yield file.mark(
            RULE.id,
            call,
            f"`{short(accumulator[1])}` is copied whole for every element of the `reduce`",
            severity="info" if size is Size.FEW else "",
            confidence={Size.FEW: "low", Size.UNKNOWN: "medium", Size.MANY: ""}[size],
            suggestion="Change the accumulator in place, or use `map`, `flatMap` or `Object.fromEntries`.",
        )


def _repeats(statement: Node, file: SourceFile) -> bool:
    """Whether a loop of unknown length runs the statement again and again."""
    loop = file.loop_of(statement) if file.in_loop(statement) else None
    if loop is None or 0 < file.loops[loop].bound <= SMALL_LOOP:
        return False
    if _LEAVES.match(file.source, statement.end_byte):
        return False
    return not is_short_list(file.loops[loop].iterable, file.loops[loop].node, file)


def _takes_few(statement: Node, file: SourceFile) -> bool:
    """Whether the loop has few rounds by the name of what it goes through."""
    loop = file.loops[file.loop_of(statement) or 0]
    return size_of(loop.iterable, loop.node, file) is Size.FEW


def _start_of(name: str, statement: Node, file: SourceFile) -> str | None:
    """What a text began as, before the loop; None when it is no text or begins anew in every round."""
    if not _is_outside(name, statement, file):
        return None
    if file.language == "go":
        loop = file.loops[file.loop_of(statement) or 0].node
        function = file.enclosing_function(statement)
        before = file.source[function.start_byte if function is not None else 0 : loop.start_byte].decode(
            "utf-8", "replace"
        )
        if re.search(_GO_TEXT.pattern % re.escape(name), before):
            return '""'
    values = assigned_values(name, statement, file)
    first = file.text(values[0]) if values else ""
    return first if _TEXT.match(first) else None


def _is_outside(name: str, statement: Node, file: SourceFile) -> bool:
    """Whether the variable lives longer than one round."""
    loop = file.loop_of(statement)
    if loop is None:
        return False
    body = file.source[file.loops[loop].node.start_byte : statement.start_byte].decode("utf-8", "replace")
    return next(followed(name, body, _BEGINS, "_."), None) is None


WATCHES = (
    Watch("augmented_assignment", look_at_growth, PYTHON, starts=_GROWS),
    Watch("assignment_expression", look_at_growth, JAVA, starts=_GROWS),
    Watch("assignment_statement", look_at_growth, GO, starts=_GROWS),
    Watch("assignment_expression", look_at_list, SCRIPT, starts=_LIST_GROWS),
    Watch("call", look_at_reduce, SCRIPT, names=frozenset({"reduce"})),
)
