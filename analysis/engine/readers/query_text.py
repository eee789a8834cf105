"""What the text around a query says that its shape does not, noted while the source is there.

One mark per query of a file, and none for a query about which nothing is noted. Its `data` may hold

- `query`: the query's position in the file's facts, always
- `later`: it stands in a lambda or a closure, which runs when somebody calls it
- `passing`: it asks for rows in a state that they leave again, as those that wait
- `claimed`: the program looks at how many rows it changed
- `opaque`: conditions stand in the chain that cannot be read (`filter(**wanted)`)
- `own`: steps of the project's own stand in the chain (`Order.objects.open()`), which may do anything
- `limited`: a limit stands there that cannot be read (`{ where, take }`), or only different values are asked for
- `guarded`: inside its loop the query runs only when a map or cache does not know the answer
- `optional`: it only stands in for a value that was not given (`given or Order.objects.get(...)`)
- `keyed`: the parameters of its function, and `self`, that stand in the chain
- `branched`: inside its function it stands in a branch, so that not every call runs it
- `remembered`: before it the function returns what a cache of its own knows
- `searched`: its loop looks for the one round in which the query runs (`if row.id == wanted:`)
- `retried`: its loop is one of attempts
- `sometimes`: inside its loop it stands in a branch, so that not every round runs it
- `tried`: inside its loop a `try` stands around it
- `failed`: inside its loop it stands where an error is handled, so that it runs in few rounds
- `reasoned`: a comment above it says why it is done for one row at a time
- `made`: inside its loop Django saves an object that the round makes, which inserts a row
- `nested`: what it writes brings rows of other tables along (`data: { lines: { create: … } }`)
- `joined`: the relations that SQLAlchemy joins to its rows, of those that it loads
- `compared`: the count is only compared with zero
- `apart`: relations are loaded by queries of their own
- `clamped`: near its offset stands an upper limit
- `offset`: the position of the parameter that is its offset, where no limit stands near
- `taken`: the attributes that the function reads of the rows, when the rows go nowhere else
- `kept`: what the program does with all rows that the database could do, and the attributes of a row that it takes:
  `filter is_paid`, `sum amount`, `sort created`
- `whole`: a statement that writes names the table and, in its whole chain, no condition
- `upsert`: a statement that inserts says what happens to a row that is there already
- `returned`: its rows, or the lazy chain, are what the function gives back
- `uses`: how the rest of the function uses the variable that holds the rows, as words with counts: `len:1 bool:2`
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.calls import OWN_RECEIVERS
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.queries import ANNOTATION
from analysis.engine.readers.loop_text import loop_notes
from analysis.engine.readers.query_conditions import has_own_steps, is_opaque
from analysis.engine.readers.query_limits import is_clamped, is_limited, parameter_of_offset
from analysis.engine.readers.query_moments import is_branched, is_remembered, runs_later, stands_in
from analysis.engine.readers.query_surroundings import Surroundings
from analysis.engine.readers.row_text import marked
from analysis.engine.readers.row_variables import is_only_compared, is_returned, uses_of
from analysis.engine.readers.row_work import kept_by
from analysis.engine.readers.taken_rows import taken_by
from analysis.engine.readers.whole_tables import names_whole_table
from analysis.engine.rules.base import ROOTS, Watch

Notes = Iterator[tuple[str, str]]

LINES_OF_A_CLAIM = 20  # a statement over lines with its conditions, and what follows
_CHANGED_ROWS = re.compile(r"\b(\w+)\.(?:count|affected|rowCount|rowcount|modifiedCount|matchedCount|RowsAffected)\b")
_ON_CONFLICT = re.compile(r"(?i)\bon_?conflict|\bon(?:conflict| ?duplicate ?key)|\bon conflict\b")
_PASSING = re.compile(
    r"(?i)(?:status|state)\w*[\"']?\s*(?:===?|=|:|,)\s*[\w.\"']*(?:in_?progress|pending|running|processing|terminating|queued|waiting)"
)
_COMPARED = re.compile(
    r"\.count\w*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*\)?\s*(?:(?:>|[!=]==?)\s*0|>=\s*1|<\s*1)\b(?!\.)"
)
_JOINED = re.compile(r"\bjoinedload\(\s*(?:[\w.]*\.)?(\w+)")
_APART = re.compile(r"relationLoadStrategy|separate\s*:\s*true")
_NAMED = re.compile(r"(?<![\w.])[A-Za-z_$][\w$]*(?!\s*(?:=(?!=)|:[^:]))")  # read, and no key of an option
_ASSIGNED = re.compile(r"\s*(?:const |let |var |final )?(?:\w+ )?(\w+)(?:: [^=]+?)? :?= ([^\n]+)")


def look(root: Node, file: SourceFile) -> Iterator[Mark]:
    """The notes of a whole file, when all its queries are known."""
    if not file.queries:
        return
    lines = file.source.decode("utf-8", "replace").split("\n")
    for position, query in enumerate(file.queries):
        notes = dict(_notes(Surroundings(query, lines, file)))
        if notes:
            notes["query"] = str(position)
            yield Mark(ANNOTATION, query.line, query.function, "", "", data=notes)


WATCHES = tuple(Watch(root, look, languages) for languages, root in ROOTS)


def _notes(at: Surroundings) -> Notes:
    """All notes of one query, by what they speak of."""
    query, file = at.query, at.file
    yield from _of_conditions(at)
    yield from _of_caller(at)
    yield from _of_moment(at)
    yield from _of_relations(at)
    yield from _of_write(at)
    if query.loop >= 0:
        yield from loop_notes(query, file.loops[query.loop], at.lines, at.chain, file)
    if query.operation == "count" and (_COMPARED.search(at.chain) or is_only_compared(at)):
        yield "compared", "1"
    if query.operation == "select":
        yield from _of_rows(at)


def _of_conditions(at: Surroundings) -> Notes:
    """What picks the rows and cannot be read from the query's shape: conditions, steps, limits."""
    query = at.query
    if query.operation not in ("select", "update", "delete"):
        return
    if is_opaque(at):
        yield "opaque", "1"
    if has_own_steps(at):
        yield "own", "1"
    if is_limited(at):
        yield "limited", "1"
    if query.operation == "select" and query.filters and _PASSING.search(at.chain):
        yield "passing", "1"
    if query.offset == -1 and is_clamped(at):
        yield "clamped", "1"
    elif query.offset == -1 and (position := parameter_of_offset(at)) is not None:
        yield "offset", str(position)


def _of_caller(at: Surroundings) -> Notes:
    """What the query asks for of what its function was given, also by way of what is assigned above it."""
    if at.query.function == 0:
        return
    function = at.file.functions[at.query.function].node
    named = set(_NAMED.findall(at.chain))
    for line in reversed(at.before[1:]):
        assigned = _ASSIGNED.match(line) if "= " in line else None
        if assigned is not None and assigned[1] in named:
            named.update(_NAMED.findall(assigned[2]))
    given = (each.name.lstrip("*&") for each in at.file.dialect.parameters(function, at.file))
    keyed = [each for each in dict.fromkeys((*given, *sorted(OWN_RECEIVERS))) if each in named]
    if keyed:
        yield "keyed", " ".join(keyed)


def _of_moment(at: Surroundings) -> Notes:
    """When the query runs, where it does not whenever its function does."""
    if runs_later(at):
        yield "later", "1"
    if stands_in(at):
        yield "optional", "1"
    if is_remembered(at):
        yield "remembered", "1"
    if is_branched(at):
        yield "branched", "1"


def _of_relations(at: Surroundings) -> Notes:
    """How relations are loaded with the rows."""
    if len(at.query.eager) < 2:
        return
    if _APART.search(at.chain):
        yield "apart", "1"
    if at.query.orm == "sqlalchemy":
        joined = [name for name in _JOINED.findall(at.around) if name in at.query.eager]
        if len(joined) > 1:
            yield "joined", " ".join(dict.fromkeys(joined))


def _of_write(at: Surroundings) -> Notes:
    """How far a statement that writes reaches, and what the program learns of it."""
    operation = at.query.operation
    if operation == "update" and at.query.variable and _is_asked(at):
        yield "claimed", "1"
    if operation in ("insert", "bulk_insert") and _ON_CONFLICT.search(at.chain):
        yield "upsert", "1"
    if operation in ("update", "delete") and names_whole_table(at.chain, at.before):
        yield "whole", "1"


def _is_asked(at: Surroundings) -> bool:
    """Whether the lines behind a write ask how many rows it changed."""
    after = "\n".join(at.lines[at.query.line : at.query.line + LINES_OF_A_CLAIM])
    return any(match[1] == at.query.variable for match in _CHANGED_ROWS.finditer(after))


def _of_rows(at: Surroundings) -> Notes:
    """What the function does with the rows that it reads."""
    query, language = at.query, at.file.language
    rows = marked(at)
    taken = taken_by(rows, language) if query.function != 0 and rows else ""
    if taken:
        yield "taken", taken
    if is_returned(at):
        yield "returned", "1"
    kept = kept_by(rows, query, at.lines, language) if rows else ""
    if kept:
        yield "kept", kept
    if uses := uses_of(at):
        yield "uses", " ".join(f"{kind}:{count}" for kind, count in sorted(uses.items()))
