"""A text or list is grown by copying it whole in every round of a loop."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.scopes import LoopDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import MADE_UP
from analysis.engine.policy import Policy
from analysis.engine.readers.browsers import runs_in_browsers
from analysis.engine.readers.capped_growth import is_capped
from analysis.engine.readers.lists import declaration
from analysis.engine.readers.reading import (
    assigned_values,
    followed,
    given_together,
    is_short_list,
    is_unpacked,
    round_of,
    short,
    text_before,
)
from analysis.engine.readers.sizes import Size, is_loaded, size_of
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="perf-quadratic-concat",
    version=7,
    type="quadratic_concat",
    category=Category.PERFORMANCE,
    title="Concatenation in a loop",
    severity=Severity.WARNING,
    points=1,
    suggestion="Collect the parts in a list/`StringBuilder`/`strings.Builder` and join once.",
)
GUIDE = Guide(
    why="Each round copies all that was there before: twice the input takes four times as long.",
    grades=(
        "Info in Python where the interpreter repairs the local case (nothing else holds the text), and where nothing "
        "tells of many rounds, or the name tells of few."
    ),
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
_LIST_GROWS = re.compile(
    rb"([\w$.]++)\s*+=\s*(?:\1\.concat\(|\[\s*\.\.\.\1\b|\{\s*\.\.\.\1\b|Buffer\.concat\(\s*\[\s*\1\s*,)"
)
# The accumulator of a `reduce`, and where a step gives back a copy of it.
_FIRST_OF_SCRIPT = re.compile(r"(?:async\s*)?(?:function\s*\w*\s*)?\(\s*([\w$]+)")
_COPIES_OF_SCRIPT = r"(=>\s*\(?|return\s+)([\[{]\s*\.\.\.NAME\b|NAME\.concat\(|Object\.assign\(\s*\{\s*\},\s*NAME\b)"
_FIRST_OF_PYTHON = re.compile(r"lambda\s+(\w+)\s*,")
_COPIES_OF_PYTHON = r"(:\s*\(?)(\{\s*\*\*NAME\b|\[\s*\*NAME\b|dict\(NAME\s*,|NAME\s*\|\s*\{|NAME\s*\+\s*\[)"
_TEXT_GROWS = re.compile(rb"([\w$.]++)\s*+=\s*\1\.concat\(")
_TABLE_GROWS = re.compile(
    rb"([\w.]++)\s*+=\s*(?:\1\.append\(|(?:pd|pandas)\.concat\(\s*[\[(]\s*\1\s*,|\[\s*\*\1\s*,|\{\s*\*\*\1\s*,"
    rb"|\1\s*\+(\s*\[)?)"
)
_LIST_MADE = re.compile(r"\[|list\(|\(\s*\)|tuple\(")
_TEXT = re.compile(
    r"""^([rbfuRBFU]{0,2}["'`]|String\.(?:valueOf|format)|fmt\.Sprint|strings\.|string\(|str\(|bytes\()"""
)
_BYTES = re.compile(r"""^(b["']|bytes\()""")
_LEAVES = re.compile(rb"[^\S\n]*;?\s*?(?:\n([^\S\n]*))?(?:return|break)\b")
_BEGINS = re.compile(r"(\s*:\s*[\w.\[\]<>|, ]+?)?\s*:?=(?![=>])")
_FIELD = re.compile(rb"\s*(?::\s*\w+\s*)?=\s*(?![=>])")
_WHOLE = re.compile(r"\s*[),\n]")
_MADE_TEXT_ELSEWHERE = re.compile(  # in Java and Go
    r"\s*(?:String\.(?:valueOf|format|join)|fmt\.Sprint\w*|strconv\.(?:Itoa|Format\w+|Quote)|strings\.(?:Repeat|Replace\w*|Join|To\w+|Trim\w*)|string)\("
)
_PROBLEMS = re.compile(r"(?i)(?:errors|errs|warnings|problems|violations)$")  # hardly ever any
_KEPT = re.compile(r"(?:\.(?:append|add|insert|put)\(\s*(?:\w+\s*,\s*)?|\w\s=\s*)\Z")
_TEXT_VARIABLE = re.compile(r"(?:,\s*\w+)*\s+string\b")  # what follows the name in Go
_TEXT_FIELD = re.compile(rb"[ \t]+string\b")
_READS = re.compile(r"(?i)\b\w*(?:readline|recv|read|nextline|scan|hasnext\w*)\s*\(|\b(?:rs|rows|results?)\.next\(")
_ENDLESS = re.compile(r"\(?\s*(?:true|True|1)?\s*\)?")
_MADE_TEXT = re.compile(r"\s*(?:str|repr)\((?:[^()]|\([^()]*\))*\)\s*(?:\+|\Z)")
_LITERAL = re.compile(r"""(["'`])(?:(?!\1).)*+\1""", re.DOTALL)
_COMPARED = re.compile(r"[=!<>]=|[<>]|\bin\b")  # yes or no: a number at most
_IN_BRACKETS = re.compile(r"\([^()\[\]]*\)|\[[^()\[\]]*\]")
_GROWN = re.compile(r"\s*\+=")


def look_at_growth(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """`s += part` and `s = s + part`."""
    found = _GROWS.match(file.source, statement.start_byte)
    loop = _loop_around(statement, file) if found is not None else None
    if found is None or loop is None:
        return
    name = found[1].decode("utf-8", "replace")
    if is_capped(name, statement, loop, file):
        return
    if _PROBLEMS.search(loop.iterable):
        return  # told once, on the way to a failure
    started = _start_of(name, statement, found.end(), loop, file)
    if started is None:
        return
    is_bytes = _BYTES.match(started) is not None
    is_local_text = (
        file.language == "python" and "." not in name and not is_bytes and not _is_global(name, statement, file)
    )
    size = _rounds(loop, file)
    if is_local_text and size is not Size.MANY:
        return
    is_mild = size is not Size.MANY or (is_local_text and not _is_shared(name, loop, file))
    yield file.mark(
        RULE.id,
        statement,
        f"`{name}` grows in a loop: each round copies all of its {'bytes' if is_bytes else 'text'} so far",
        severity="info" if is_mild else "",
        confidence="low" if is_local_text else _certainty(size, loop, file),
    )


def look_at_text(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """Java: `text = text.concat(part)`."""
    yield from _copied(statement, _TEXT_GROWS, "Collect the parts in a `StringBuilder`.", file)


def look_at_list(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """Script: `all = all.concat(part)` and `all = [...all, part]`."""
    yield from _copied(statement, _LIST_GROWS, "Add to it in place (`{}.push(...)`).", file)


def look_at_table(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: `rows = rows + [row]`, `df = df.append(row)` and `df = pd.concat([df, part])`."""
    yield from _copied(
        statement, _TABLE_GROWS, "Collect the parts in a list and put them together after the loop.", file
    )


def _copied(statement: Node, growth: re.Pattern[bytes], advice: str, file: SourceFile) -> Iterator[Mark]:
    found = growth.match(file.source, statement.start_byte)
    loop = _loop_around(statement, file) if found is not None else None
    if found is None or loop is None:
        return
    name = found[1].decode("utf-8", "replace")
    if growth is _TABLE_GROWS and not _is_table(name, found, statement, file):
        return
    if growth is _LIST_GROWS and loop.kind == "while" and "await " in _body(loop, file):
        return  # page by page: each round waits for an answer, beside which the copy is nothing
    if growth is _LIST_GROWS and any(each.type == "string" for each in assigned_values(name, statement, file)):
        return  # the `concat` of a text
    if _PROBLEMS.search(name) or is_capped(name, statement, loop, file) or not _is_outside(name, statement, loop, file):
        return
    size = _rounds(loop, file)
    yield file.mark(
        RULE.id,
        statement,
        f"`{name}` is copied whole in every round of the loop",
        severity="" if size is Size.MANY else "info",
        data=None if size is Size.MANY else {"size": "unknown"},
        confidence=_certainty(size, loop, file),
        suggestion=advice.format(name),
    )


def _is_table(name: str, growth: re.Match[bytes], statement: Node, file: SourceFile) -> bool:
    """Whether the result is a copy: `append` of a list gives None, and nobody assigns that; a sum may be of numbers."""
    if b".append(" in growth[0]:
        return file.mentions(b"pandas")
    if growth[0].endswith((b",", b"[")):
        return True
    return any(_LIST_MADE.match(file.text(value)) for value in _values(name, statement, file))


def look_at_reduce(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Script: `rows.reduce((all, row) => ({ ...all, [row.id]: row }), {})`."""
    given = file.arguments(call)[0]
    if len(given) != 2 or given[0].type not in ("arrow_function", "function_expression"):
        return
    start, end = file.dialect.callee(call)
    reduced = file.source[start:end].decode("utf-8", "replace").rpartition(".")[0]
    advice = "Change the accumulator in place, or use `map`, `flatMap` or `Object.fromEntries`."
    accumulator = _FIRST_OF_SCRIPT.match(file.text(given[0]))
    if accumulator is not None:
        yield from _reduced(call, given[0], accumulator[1], _COPIES_OF_SCRIPT, reduced, advice, file)


def look_at_python_reduce(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: `reduce(lambda all, row: {**all, row.id: row}, rows, {})`."""
    given = file.arguments(call)[0]
    if file.callee(call) != "functools.reduce" or len(given) != 3 or given[0].type != "lambda":
        return
    advice = "Fill one dictionary or list in a loop or a comprehension (`itertools.chain.from_iterable`)."
    accumulator = _FIRST_OF_PYTHON.match(file.text(given[0]))
    if accumulator is not None:
        yield from _reduced(call, given[0], accumulator[1], _COPIES_OF_PYTHON, file.text(given[1]), advice, file)


def _reduced(
    call: Node, step: Node, accumulator: str, copies: str, reduced: str, advice: str, file: SourceFile
) -> Iterator[Mark]:
    """A mark where a step of a `reduce` gives back a copy of all so far, unless few are gone through."""
    size = size_of(reduced, call, file)
    if reduced in file.bindings or reduced[:1] in ("[", "(") or is_short_list(reduced, call, file):
        return
    text = file.text(step)
    copied = re.search(copies.replace("NAME", re.escape(accumulator)), text)
    if copied is not None:
        start = step.start_byte + len(text[: copied.start(2)].encode())
        yield file.mark(
            RULE.id,
            file.tree.root_node.descendant_for_byte_range(start, start + 1) or call,
            f"`{short(accumulator)}` is copied whole for every element of the `reduce`",
            severity="" if size is Size.MANY else "info",
            data=None if size is Size.MANY else {"size": "unknown"},
            confidence="medium" if size is Size.MANY and is_loaded(reduced, call, file) else "low",
            suggestion=advice,
        )


def _loop_around(statement: Node, file: SourceFile) -> LoopDraft | None:
    """The loop that runs the statement again and again, unless few rounds are known. A name of few is a guess."""
    loop = round_of(statement, file)
    if loop is None or 0 < loop.bound <= SMALL_LOOP or _ends_it(statement, file):
        return None
    return loop if not is_short_list(loop.iterable, loop.node, file) else None


def _ends_it(statement: Node, file: SourceFile) -> bool:
    """Whether the loop is left right behind the statement; less indented, a Python statement stands after the loop."""
    found = _LEAVES.match(file.source, statement.end_byte)
    if found is None or file.language != "python" or found[1] is None:
        return found is not None
    line_start = file.source.rfind(b"\n", 0, statement.start_byte) + 1
    return len(found[1]) >= statement.start_byte - line_start


def _rounds(loop: LoopDraft, file: SourceFile) -> Size:
    """How many rounds the loop has: by the name of what it goes through, many where it reads until the end."""
    if loop.kind == "while":
        head = loop.iterable if not _ENDLESS.fullmatch(loop.iterable) else _body(loop, file)
        return Size.MANY if _READS.search(head) else Size.UNKNOWN
    return size_of(loop.iterable, loop.node, file)


def _body(loop: LoopDraft, file: SourceFile) -> str:
    return file.source[loop.head_end or loop.node.start_byte : loop.node.end_byte].decode("utf-8", "replace")


def _certainty(size: Size, loop: LoopDraft, file: SourceFile) -> str:
    """Certain where it reads until the end, likely where a query or a file gives the parts; a name is a guess."""
    if size is not Size.MANY:
        return "low"
    if loop.kind == "while":
        return ""
    return "medium" if is_loaded(loop.iterable, loop.node, file) else "low"


def _start_of(name: str, statement: Node, value_start: int, loop: LoopDraft, file: SourceFile) -> str | None:
    """What a text began as, before the loop; None when it is no text, begins anew in every round, or grew above."""
    if not _is_outside(name, statement, loop, file):
        return None
    for value in _values(name, statement, file):
        text = file.text(value)
        if _TEXT.match(text):
            return text
    adds_text = _adds_text(file.source[value_start : statement.end_byte].decode("utf-8", "replace"), file)
    return '""' if adds_text or _is_declared_text(name.removeprefix("this."), loop, file) else None


def _is_shared(name: str, loop: LoopDraft, file: SourceFile) -> bool:
    """Whether each round gives the text away as well: then Python cannot add to it in place."""
    body = file.text(loop.node)
    ends = (match.start() - len(name) for match in followed(name, body, _WHOLE, "_."))
    return any(_KEPT.search(body, max(0, end - 30), end) for end in ends)


def _is_declared_text(name: str, loop: LoopDraft, file: SourceFile) -> bool:
    """Whether the function of Go, or the class of Java, declares the name as a text."""
    if file.language not in ("go", "java"):
        return False
    if file.language == "go" and "." in name:
        bare = name.rpartition(".")[2].encode()
        return next(followed(bare, file.source, _TEXT_FIELD, b"_.$"), None) is not None
    if file.language == "java":
        return declaration(name, loop.node, file).startswith(("<String>", "<java.lang.String>"))
    return next(followed(name, text_before(loop.node, file), _TEXT_VARIABLE, "_.$"), None) is not None


def _values(name: str, statement: Node, file: SourceFile) -> list[Node]:
    """What the function, or the file for a field or a global, assigns to the name."""
    together = [*given_together(name, statement, file)]
    values: list[Node | None] = [*(together or assigned_values(name, statement, file)[:1])]
    if not values and ("." in name or _is_global(name, statement, file)):
        found = [*followed(name.encode(), file.source, _FIELD, b"_.$")]
        if not found and name.startswith("self."):
            found = [*followed(name[len("self.") :].encode(), file.source, _FIELD, b"_.$")]
        values = [file.tree.root_node.descendant_for_byte_range(each.end(), each.end() + 1) for each in found]
    return [_whole(value) for value in values if value is not None]


def _whole(value: Node) -> Node:
    """The literal that a part of it stands for."""
    while value.parent is not None and value.type in ("string_start", "string_content", '"', "'"):
        value = value.parent
    return value


def _is_global(name: str, statement: Node, file: SourceFile) -> bool:
    return file.mentions(b"global ") and f"global {name}" in text_before(statement, file)


def _adds_text(value: str, file: SourceFile) -> bool:
    """Whether a part of the sum is a literal text, or one that is made of something; a single quote means a number
    outside of Python."""
    if file.language != "python":
        if _MADE_TEXT_ELSEWHERE.match(value):
            return True
        value = value.replace("'", "")
    elif _MADE_TEXT.match(value):
        return True
    plain = _LITERAL.sub(r"\1\1", value)
    while (shorter := _IN_BRACKETS.sub("", plain)) != plain:
        plain = shorter
    return (
        not _COMPARED.search(plain)
        and re.search(r"""(?:^|\+)\s*[fr]?["'`]|["'`]\s*(?:\+|;?\s*\Z)""", plain) is not None
    )


def _is_outside(name: str, statement: Node, loop: LoopDraft, file: SourceFile) -> bool:
    """Whether the variable lives longer than one round, is not emptied in between, and grows here first."""
    start = loop.head_end if loop.head_start <= statement.start_byte and loop.head_end else loop.node.start_byte
    body = file.source[start : loop.node.end_byte].decode("utf-8", "replace")
    before = file.source[start : statement.start_byte].decode("utf-8", "replace")
    if next(followed(name, before, _GROWN, "_."), None) is not None:
        return False
    owner = name.partition(".")[0]
    if owner in loop.variables or is_unpacked(owner, before):
        return False  # each round has another one
    if owner != name and next(followed(owner, before, _BEGINS, "_."), None) is not None:
        return False
    return all(
        body[match.end() :].lstrip("( [{.*\n").startswith(name) or "concat(" in body[match.end() : match.end() + 20]
        for match in followed(name, body, _BEGINS, "_.")
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Everywhere but where rows are made up, a few of them, a table is put together as the module is loaded, or nothing
    tells of many on a page."""
    is_once = mark.function == 0 and mark.confidence == Confidence.LOW.value
    is_shown = "size" in mark.data and runs_in_browsers(place)
    return None if is_once or is_shown or MADE_UP.search(place.path) else place.finding(mark)


WATCHES = (
    Watch("augmented_assignment", look_at_growth, PYTHON, starts=_GROWS),
    Watch("assignment", look_at_table, PYTHON, starts=_TABLE_GROWS),
    Watch("(assignment right: (binary_operator)) @n", look_at_growth, PYTHON, starts=_GROWS),
    Watch("assignment_expression", look_at_growth, JAVA, starts=_GROWS),
    Watch("assignment_expression", look_at_text, JAVA, starts=_TEXT_GROWS),
    Watch("assignment_statement", look_at_growth, GO, starts=_GROWS),
    Watch("assignment_expression", look_at_list, SCRIPT, starts=_LIST_GROWS),
    Watch("call", look_at_reduce, SCRIPT, names=frozenset({"reduce"})),
    Watch("call", look_at_python_reduce, PYTHON, names=frozenset({"reduce"})),
)
