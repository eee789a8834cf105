"""Rows that a script asks a function or a builder for, and makes when there are none.

Of which table the question is, and whether the act makes a row of it, is known when all files are. The `data` of a
mark:

- `asks`: callee and line of the question, `findByEmail@12`
- `acts`: the same of the calls that may make the row
- `first`, `last`: the lines among which a statement of the function itself may
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.calls import Callee
from analysis.engine.codebase import Place
from analysis.engine.extract.orm.steps import closing_bracket
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.queries import QuerySite
from analysis.engine.readers.checked_rows import OF_FILES, acting, knows_of_others, script_question

_CALLED = r"(?P<call>[A-Za-z_$][\w$]*(?:\.[\w$]+)*)(?:<[^<>()]*>)?\("
_ASKS = (re.compile(rf"\s*(?::[^=\n]+)?=\s*await\s+{_CALLED}"), re.compile(rf"await\s+{_CALLED}"))
_ACTS = re.compile(r"(?<![\w.$])(?P<call>(?:[\w$]+\.)*(?:create|insert|save|add|persist|register)\w*)(?:<[^<>()]*>)?\(")
_MAY_MAKE = re.compile(r"(?:create|insert|save|add|persist|register)\w*(?:<[^<>()]*>)?\(")
_WORD = re.compile(r"(?<![\w.$])[A-Za-z_$][\w$]*")
_NO_VALUES = frozenset({"await", "this", "new", "true", "false", "null", "undefined", "where", "tx", "trx"})
MOST_ACTS = 4
_TAKES_ONE = frozenset({"QueryRow", "QueryRowContext", "QueryRowx", "QueryRowxContext", "Get", "GetContext"})  # of Go


class MadeRow(NamedTuple):
    """A row that was looked for by these columns and is made on a line, in a function that is called there or not."""

    model: str
    asked_on: int
    line: int
    columns: tuple[str, ...]
    is_called: bool


def call_act(branch: Node, file: SourceFile) -> dict[str, str] | None:
    """What a branch asks and what it may make, where the question names a value that the act names too."""
    body = branch.child_by_field_name("consequence")
    if body is None:
        return None
    question = script_question(branch, file, *_ASKS)
    text, first = acting(branch, file, inside=question.is_absent) if question is not None else ("", 0)
    if question is None or _MAY_MAKE.search(text) is None or knows_of_others(branch, file):
        return None
    if OF_FILES.search(question.asked["call"].rpartition(".")[0]):
        return None
    asked_for = set(_WORD.findall(question.rest[: closing_bracket(question.rest, 0)])) - _NO_VALUES
    if asked_for.isdisjoint(_WORD.findall(text)):
        return None
    asks = f"{file.resolve(question.asked['call'])}@{question.line}"
    return noted(asks, calls_at(_ACTS, text, first, file.resolve), text, first)


def calls_at(pattern: re.Pattern[str], text: str, first: int, named: Callable[[str], str] = str) -> list[str]:
    """The calls that a pattern finds in a text that begins on a line, each with its own line: `seats.add@12`."""
    return [f"{named(each['call'])}@{first + text.count(chr(10), 0, each.start())}" for each in pattern.finditer(text)]


def noted(asks: str, acts: list[str], text: str, first: int) -> dict[str, str]:
    """The data of a mark, as `made_row` reads it: calls with their lines, and the first and last line of the act."""
    return {
        "form": "calls",
        "asks": asks,
        "acts": " ".join(acts[:MOST_ACTS]),
        "first": str(first),
        "last": str(first + text.count("\n")),
    }


def made_row(mark: Mark, place: Place) -> MadeRow | None:
    """The row that the function looks for and makes; None where question and act are not about the same table."""
    looked = [site for site, _ in _sites(mark.data["asks"], place) if _is_question(site)]
    if not looked:
        return None
    inside = range(int(mark.data["first"]), int(mark.data["last"]) + 1)
    own = ((site, 0) for site in place.queries if site.line in inside)
    called = (each for act in mark.data["acts"].split() for each in _sites(act, place))
    for site, line in (*own, *called):
        same = next((each for each in looked if each.model == site.model), None)
        if same is not None and site.query.operation == "insert" and "upsert" not in site.notes:
            columns = tuple(each.column for each in same.query.filters if each.operator == "eq")
            return MadeRow(
                site.model, int(mark.data["asks"].rpartition("@")[2]), line or site.line, columns, bool(line)
            )
    return None


def _sites(call: str, place: Place) -> Iterator[tuple[QuerySite, int]]:
    """The queries that a call on a line runs, with that line: those of the function it calls, or its own with 0."""
    name, _, at = call.rpartition("@")
    own = [site for site in place.queries if site.line == int(at)]
    yield from ((site, 0) for site in own)
    if not own:
        called: tuple[Callee, ...] = place.meant_by(name)
        for each in called:
            yield from ((site, int(at)) for site in place.codebase.queries.by_function.get(each, ()))


def _is_question(site: QuerySite) -> bool:
    """Whether a query asks for one row by what it holds."""
    asks = site.query.operation in ("exists", "count") or (
        site.query.operation == "select"
        and (site.query.limit == 1 or site.has_key or site.query.terminal in _TAKES_ONE)
    )
    return asks and bool(site.model) and any(each.operator == "eq" for each in site.query.filters)
