"""Rows that Python looks for and then makes, as `risk-check-then-act` sees them."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.checked_rows import NEAR, RowAct, knows_of_others, line_of
from analysis.engine.readers.reading import assigned_values, text_before

MOST_NAMES = 3  # that stand between a question and what it asks

_DJANGO_LOADS = (
    r"(?P<model>[A-Z]\w*)\.objects\b(?P<chain>\.(?!\w*create)[^\n]*?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^\n]*?)?)"
    r"(?:\.a?(?:first|last|exists|get_or_none|count)\(\)|\)\s*$)"
)
_ALCHEMY_LOADS = (
    r"(?:\.query\(\s*|\bselect\(\s*|\.get\(\s*)(?P<model>[A-Z]\w*)\b(?P<chain>[^\n]{0,400}?)"
    r"(?:\.(?:first|one_or_none|scalar_one_or_none|scalar|exists|all|count)\(|\)\s*$)"
)
_FLASK_LOADS = r"(?P<model>[A-Z]\w*)\.query\b(?P<chain>[^\n]{0,300}?)\.(?:first|one_or_none|scalar|count|all)\("
_MONGO_LOADS = r"(?P<model>[\w.]+)\.(?:find_one|count_documents)\((?P<chain>[^\n]{0,200}?)\)\s*$"
_SQL_LOADS = (
    r"(?:execute|fetchrow|fetchval|fetch_one|fetch_val)\(\s*[rf]?[\"']+\s*(?i:SELECT)\s[^;]{0,200}?\s(?i:FROM)\s+"
    r"(?P<model>\w+)(?P<chain>\s+(?i:WHERE)\s[^;]{0,400})"
)
_LOADS = tuple(map(re.compile, (_FLASK_LOADS, _DJANGO_LOADS, _ALCHEMY_LOADS, _MONGO_LOADS, _SQL_LOADS)))
_FETCHED = re.compile(r"^[\w.]+\.fetch(?:one|val)\(\)$")  # of the statement that was executed before
_COLUMNS_OF_SQL = re.compile(r"\b(\w+)\s*=\s*(?:\?|%s|%\(|\$\d|:\w)")
_STATE = re.compile(
    r"(?P<not>not\s+)?(?P<asked>.+?)\s*(?:(?P<none>==\s*0|<\s*1|is\s+None|==\s*None)|is\s+not\s+None|!=\s*None|>\s*0|>=\s*1|!=\s*0)?$",
    re.DOTALL,
)
_WALRUS = re.compile(r"^\(\s*\w+\s*:=\s*(.+)\)$", re.DOTALL)
# A name that stands for what is asked: `rows`, `rows.exists()`, `len(rows)`, `session.scalar(statement)`.
_NAMES = re.compile(r"^(?P<head>[a-z_]\w*)(?=$|\.\w+\(\s*\)$)|\((?P<given>[a-z_]\w*)\)")
_COLUMNS = re.compile(r"(?:\(\s*|,\s*)(\w+?)(?:__iexact)?=(?!=)|\.(\w+)\s*==|[\"'](\w+)[\"']\s*:")
_CAUGHT = re.compile(rb"except\s+\(?(?P<model>[A-Z]\w*)\.DoesNotExist\b")


def python_act(branch: Node, file: SourceFile) -> RowAct | None:
    """`if not Seat.objects.filter(no=n).exists(): Seat.objects.create(no=n)`, the same over a variable that holds the
    row or the question, and the guard that leaves before the row is made."""
    condition = branch.child_by_field_name("condition")
    for question in _questions(condition):
        state = _STATE.match(file.text(question))
        loaded = _loaded(state["asked"], branch, file) if state is not None else None
        if state is None or loaded is None:
            continue
        asked = tuple(dict.fromkeys(_asked_columns(loaded)))
        absent = bool(state["not"]) != bool(state["none"])
        line = line_of(_made(loaded["model"], branch, file), branch, file, inside=absent) if asked else 0
        if line and not knows_of_others(branch, file):
            return RowAct(loaded["model"], line, asked)
    return None


def _asked_columns(loaded: re.Match[str]) -> Iterator[str]:
    """The columns by which a row is looked for."""
    if loaded.re.pattern == _SQL_LOADS:
        yield from _COLUMNS_OF_SQL.findall(loaded["chain"])
    else:
        yield from (next(filter(None, each)) for each in _COLUMNS.findall(loaded["chain"]))


def python_handler_act(handler: Node, file: SourceFile) -> RowAct | None:
    """`try: Seat.objects.get(no=n)`, `except Seat.DoesNotExist: Seat.objects.create(no=n)`."""
    caught = _CAUGHT.match(file.source, handler.start_byte)
    if caught is None or knows_of_others(handler, file):
        return None
    model = caught["model"].decode()
    text = file.text(handler)
    made = re.search(rf"(?<![\w.]){model}\.objects\.a?create\(|(?<![\w.]){model}\([^()]*\)\.a?save\(", text)
    asked = re.findall(
        rf"(?<![\w.]){model}\.objects\.a?get\(([^()]*(?:\([^()]*\)[^()]*)*)\)", text_before(handler, file)[-NEAR:]
    )
    if made is None or not asked:
        return None
    columns = tuple(re.findall(r"(?:^|,\s*)(\w+)=", asked[-1].strip()))
    return RowAct(model, file.line(handler) + text[: made.start()].count("\n"), columns) if columns else None


def _questions(condition: Node | None) -> Iterator[Node]:
    """The parts of a condition that all have to hold."""
    pending = [condition] if condition is not None else []
    while pending:
        each = pending.pop()
        if each.type == "boolean_operator" and any(child.type == "and" for child in each.children):
            pending.extend(reversed(each.named_children))
        elif each.type == "parenthesized_expression" and each.named_child_count == 1:
            pending.extend(each.named_children)
        else:
            yield each


def _loaded(asked: str, branch: Node, file: SourceFile) -> re.Match[str] | None:
    """What a question is about, also when variables hold it or a part of it: `rows = Seat.objects.filter(no=n)`, then
    `rows.exists()`."""
    for _ in range(MOST_NAMES):
        asked = " ".join(asked.split()).removeprefix("await ")
        if _FETCHED.match(asked):
            executed = text_before(branch, file)[-NEAR:].rpartition("execute(")
            asked = " ".join((executed[1] + executed[2]).split())
        asked = _WALRUS.sub(r"\1", asked).removeprefix("await ")
        found = next((found for load in _LOADS if (found := load.search(asked)) is not None), None)
        named = _NAMES.search(asked) if found is None else None
        if named is None:
            return found
        values = assigned_values(named["head"] or named["given"], branch, file)
        if not values:
            return None
        group = "head" if named["head"] else "given"
        asked = asked[: named.start(group)] + file.text(values[-1]) + asked[named.end(group) :]
    return None


def _made(model: str, branch: Node, file: SourceFile) -> str:
    """The pattern of what makes a row of the model, or adds one that was made before."""
    word = re.escape(model)
    held = "|".join(_rows_at_hand(model, branch, file))
    return (
        rf"(?<![\w.]){word}\.objects\.a?create\(|(?<![\w.]){word}\([^()]*(?:\([^()]*\)[^()]*)*\)\.a?save\("
        rf"|(?i:INSERT\s+(?:OR\s+\w+\s+)?INTO\s+[\"`]?{word}\b)"
        rf"|\.add\(\s*{word}\(|(?<![\w.]){word}\.create\(|{word}\.insert_one\(|\binsert\(\s*{word}\b"
        rf"|(?P<row>\w+)\s*=\s*{word}\("
        rf"(?=[\s\S]{{0,600}}?(?P<saved>\.add\(\s*(?P=row)\s*\)|(?<![\w.])(?P=row)\.a?save\())"
    ) + (rf"|\.add\(\s*(?:{held})\s*\)" if held else "")


def _rows_at_hand(model: str, branch: Node, file: SourceFile) -> Iterator[str]:
    """Names of rows of the model that the function is given, or has made before the question."""
    function = file.functions[file.function_of(branch)].node
    given = file.dialect.parameters(function, file) if function.type == "function_definition" else ()
    yield from (each.name for each in given if each.annotation.rpartition(".")[2] == model)
    before = text_before(branch, file)[-NEAR:]
    yield from re.findall(rf"^[ \t]+(\w+)\s*=\s*{re.escape(model)}\(", before, re.MULTILINE)
