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
from collections import Counter
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.calls import OWN_RECEIVERS
from analysis.engine.extract.orm.steps import closing_bracket
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import DJANGO, Mark, Query
from analysis.engine.queries import ANNOTATION
from analysis.engine.readers.loop_text import indent_of, is_in_block, loop_notes
from analysis.engine.readers.reading import followed
from analysis.engine.readers.row_text import marked, ready_at
from analysis.engine.readers.row_work import kept_by, taken_by
from analysis.engine.readers.whole_tables import names_whole_table
from analysis.engine.rules.base import ALL, Watch

LONGEST_CHAIN = 3_000  # characters of a chain that are read
LONGEST_FUNCTION = 60_000

_DJANGO_STEPS = frozenset(
    """objects all filter exclude order_by values values_list only defer select_related prefetch_related
    select_for_update annotate distinct using reverse get first last latest earliest in_bulk iterator count exists
    aggregate create update delete bulk_create bulk_update get_or_create update_or_create alias list set tuple len
    sorted""".split()
)
_ON_CONFLICT = re.compile(r"(?i)\bon_?conflict|\bon(?:conflict| ?duplicate ?key)|\bon conflict\b")
_STEP = re.compile(
    r"\.(?:a(?=(?:get|first|last|latest|earliest|count|exists|aggregate|create|update|delete|bulk_|in_bulk|iterator)))?(\w+)\("
)
_UNREAD_CONDITION = re.compile(r"\.(?:filter|exclude)\(\s*(?:\*|~|Exists\(|[a-z_][\w.]*\s*[,)|&]|self\.|[\w.]+\()")
LINES_OF_CONDITIONS = 40  # above a query, in which they are put together
_HELD_WHERE = re.compile(r"\bwhere: (\w+)\b")
LINES_OF_A_LAMBDA = 9
LINES_OF_A_CLAIM = 20  # a statement over lines with its conditions, and what follows
_CHANGED_ROWS = re.compile(r"\b(\w+)\.(?:count|affected|rowCount|rowcount|modifiedCount|matchedCount|RowsAffected)\b")
_BRACKETS = re.compile(r"[()\[\]{}]")
_LAMBDA = re.compile(r"\blambda\b[^:\n]*:")
_UNREAD_KEYWORDS = re.compile(r"\.(?:filter|exclude|get)\([^()]*(?:\([^()]*\)[^()]*)*\*\*[\w{]")
_ON_VARIABLE = re.compile(
    r"(?<![\w.])([a-z_]\w*)\.(?:filter|exclude|values|values_list|annotate|order_by|all|distinct|select_related)\("
)
_GIVEN_CHAIN = re.compile(r"\s*=(?!=)\s*([^\n]*(?:\n[^\n]*)?)")
_GROUPED = re.compile(r"\.values(?:_list)?\s*(?:\.order_by\s*)?\.annotate\b")  # without their arguments
_ARGUMENTS = re.compile(r"\([^()]*\)")
_ANY_ARGUMENTS = "\x00"  # stands for the brackets of a call and what is in them
_OUTER_STEP = re.compile(_STEP.pattern.removesuffix(r"\(") + _ANY_ARGUMENTS)
_UNREAD_OPTIONS = re.compile(
    r"\bwhere\s*[,}]|\bwhere\s*:(?!\s*\{)|(?:find\w*|count|\w+Many)\(\s*[A-Za-z_$]|^\s*\.\.\.|[{,]\s*\.\.\."
)
# Conditions that are unpacked, of other tables, or on the columns of a subquery.
_UNREAD_CLAUSE = re.compile(
    r"\.filter\(\s*\*|\.where\(\s*\*|\.join\(|\.c\.\w+\.?\w*(?: ?[=<>!]|\()|\b(?:or|and)_\(\s*\*|\.(?:any|has)\(\w+ ?="
)
_ANY_CLAUSE = re.compile(r"\.(?:filter|filter_by|where)\(\s*[^\s)]")
_BUILT_ABOVE = frozenset({"typeorm", "jpa"})  # by a builder, or as text
_GROUPS_ABOVE = re.compile(r"\bgroupBy\(|\bselect\s+distinct\b", re.IGNORECASE)
_PASSING = re.compile(
    r"(?i)(?:status|state)\w*[\"']?\s*(?:===?|=|:|,)\s*[\w.\"']*(?:in_?progress|pending|running|processing|terminating|queued|waiting)"
)
_UNREAD_LIMIT = re.compile(
    r"\btake\b|\.slice\(|\blimit\b|\.limit\(|\bLIMIT\b|paginat|\bcursor\s*[:,}]|Page\b|\bdistinct\b", re.IGNORECASE
)
_LIMITS = ("take", ".slice(", "limit", "paginat", "cursor", "page", "distinct")
_REMEMBERED = re.compile(r"(?i)\bif\b[^\n]*cache[^\n]*\n?\s*return\b|\bif\b[^\n]*cache[^\n]*:\s*return\b")
_EMPTY_WHERE = re.compile(r"\.(?:delete|update)Many\(\s*\{\s*where:\s*\{\s*\}")
_COMPARED = re.compile(
    r"\.count\w*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*\)?\s*(?:(?:>|[!=]==?)\s*0|>=\s*1|<\s*1)\b(?!\.)"
)
_STAND_IN = re.compile(r"\b(?:or|else)\s+\(?(?:await\s+)?[\w.]+\(?[^\n]*\Z|\bor\s+$")
_MISSING = re.compile(r"\bif\b[^\n]*(?:=== (?:undefined|null)|== null|is None|\bnot \w+|\(!\w+\))[^\w\n]*\Z")
_HEAD = re.compile(
    r"(?:\b(?P<len>len\(\s*)|\b(?P<bool>bool\(\s*)|\b(?P<test>if\s+(?:not\s+)?)|\b(?P<braced>if\s*\(!?)"
    r"|(?P<start>^[ \t]*))\Z",
    re.MULTILINE,
)
_TAIL = re.compile(
    r"(?P<close>\s*\))|(?P<size>\.(?:length|size\(\))(?![\w(]))|(?P<empty>\.isEmpty\(\))|(?P<colon>\s*(?::|\band\b|\bor\b))|(?P<given>\s*=(?!=))"
)
_JOINED = re.compile(r"\bjoinedload\(\s*(?:[\w.]*\.)?(\w+)")
_RETURN = re.compile(r"\s*return\b")
_RETURNED = re.compile(r"\s*return\s+(?:list\()?(\w+)(?:\.scalars\(\)|\.all\(\)|\))*(?:, (?:nil|res\.Error))?;?\s*$")
LONGEST_RETURN = 12  # lines behind a query in which its rows are given back
_APART = re.compile(r"relationLoadStrategy|separate\s*:\s*true")
_POSITION = r"(?<!per)(?<!per_)(?:page|offset|skip|start)(?!_?s(?:ize)?\b)\w*"  # and no size of a page
_CLAMP = re.compile(  # of the offset; a clamp of the limit leaves it free
    rf"\b\w*?{_POSITION}\s*:?=[^=\n]*\b(?:min|clamp)\(|\b(?:min|clamp)\((?:[^()\n]|\([^()\n]*\))*?(?:\w\()?{_POSITION}|max_?{_POSITION}"
    rf"|\b{_POSITION}\s*:\s*(?:Annotated\[[\w ]+,\s*)?[^\n,()]*\([^()\n]*\ble=|\bif\b[^\n]*\b{_POSITION}\s*>=?\s*\d",
    re.IGNORECASE,
)
# A clamp of how many rows a page has: `min(size, MAX_PAGE)`.
_CLAMPED_SIZE = re.compile(
    r"\b(?:min|clamp)\((?=[^()\n]*(?:size|limit|per_?page|take|count))(?![^()\n]*\b(?:page|offset|skip)\b)[^()\n]*\)",
    re.IGNORECASE,
)
_OFFSET_NAMED = re.compile(r"\b(?:offset|skip)\s*[(:]\s*(\w+)\s*[,)}\n]|[{,]\s*(offset|skip)\s*[,}\n]")
_PUT_TOGETHER = re.compile(r"\$\{|\bf\"[^\"\n]*\{|\bf'[^'\n]*\{|%s\b|[\"'`]\s*\+|\+\s*[\"'`]|\.format\(|Sprintf\(")
_AWAITED_APART = re.compile(rb"\(\s*await\s+\Z")
_WORD = re.compile(r"\w")
_NAMED = re.compile(r"(?<![\w.])[A-Za-z_$][\w$]*(?!\s*(?:=(?!=)|:[^:]))")  # read, and no key of an option
_ASSIGNED = re.compile(r"\s*(?:const |let |var |final )?(?:\w+ )?(\w+)(?:: [^=]+?)? :?= ([^\n]+)")
_BRANCH = re.compile(r"\s*(?:\}\s*)?(?:if\b|elif\b|else\b|except\b|catch\b|case\b|switch\b)")
LONGEST_HEAD = 12  # the longest of the signs that are asked for, `if not`, with room for more blanks
WIDEST_HEAD = 120  # characters before a name that say how it is used
_KINDS: dict[tuple[str | None, str | None], str] = {
    ("len", "close"): "len",
    ("bool", "close"): "bool",
    ("braced", "close"): "bool",
    ("test", "colon"): "bool",
    ("start", "given"): "again",
}


def look(root: Node, file: SourceFile) -> Iterator[Mark]:
    """The notes of a whole file, when all its queries are known."""
    if not file.queries:
        return
    lines = file.source.decode("utf-8", "replace").split("\n")
    for position, query in enumerate(file.queries):
        notes = dict(_notes(query, lines, file))
        if notes:
            notes["query"] = str(position)
            yield Mark(ANNOTATION, query.line, query.function, "", "", data=notes)


WATCHES = tuple(
    Watch(root, look, languages)
    for root, languages in (("module", ("python",)), ("program", ALL[1:5]), ("source_file", ALL[5:]))
)


def _notes(query: Query, lines: list[str], file: SourceFile) -> Iterator[tuple[str, str]]:
    """All notes of one query, by what they speak of."""
    text = chain_text(lines, query.line)
    yield from _of_conditions(query, text, lines, file)
    yield from _of_caller(query, text, lines, file)
    yield from _of_moment(query, text, lines, file)
    yield from _of_relations(query, text, lines, file)
    yield from _of_write(query, text, lines, file)
    loop = file.loops[query.loop] if query.loop >= 0 else None
    if loop is not None:
        yield from loop_notes(query, loop, lines, text, file)
    if query.operation == "count" and _COMPARED.search(text):
        yield "compared", "1"
    if query.operation == "select":
        yield from _of_rows(query, text, lines, file)


def _of_conditions(query: Query, text: str, lines: list[str], file: SourceFile) -> Iterator[tuple[str, str]]:
    """What picks the rows and cannot be read from the query's shape: conditions, steps, limits."""
    if query.operation not in ("select", "update", "delete"):
        return
    is_opaque = _is_opaque(query, text) or (query.orm in DJANGO and _begins_opaque(query, text, lines, file))
    is_opaque = is_opaque or (query.orm == "prisma" and _is_added_to(text, lines, query.line))
    if is_opaque and not (query.operation != "select" and _EMPTY_WHERE.search(text)):
        yield "opaque", "1"
    if query.orm == "django" and _has_own_steps(text.partition(".objects")[2]):
        yield "own", "1"
    limited = _own_text(query, text, lines, file)
    if query.limit == 0 and _may_be_limited(limited) and _UNREAD_LIMIT.search(limited):
        yield "limited", "1"
    elif query.orm in _BUILT_ABOVE and _GROUPS_ABOVE.search(_around(query, lines, file)):
        yield "limited", "1"  # a row for each group
    if query.operation == "select" and query.filters and _PASSING.search(text):
        yield "passing", "1"
    if query.offset == -1 and _CLAMP.search(_CLAMPED_SIZE.sub("", _around(query, lines, file))):
        yield "clamped", "1"
    elif query.offset == -1 and (named := _OFFSET_NAMED.search(text)) is not None:
        function = file.functions[query.function].node
        given = [each.name for each in file.dialect.parameters(function, file)] if query.function else []
        if (name := named[1] or named[2]) in given:
            yield "offset", str(given.index(name))


def _has_own_steps(chain: str) -> bool:
    """Whether a step of a chain is no word of Django. What its arguments call, `timezone.now()`, is no step."""
    if _DJANGO_STEPS.issuperset(_STEP.findall(chain)):
        return False
    while (shorter := _ARGUMENTS.sub(_ANY_ARGUMENTS, chain)) != chain:
        chain = shorter
    return not _DJANGO_STEPS.issuperset(_OUTER_STEP.findall(chain.partition(")")[0]))


def _own_text(query: Query, text: str, lines: list[str], file: SourceFile) -> str:
    """The text up to the end of the query: Python names what it does with the rows behind it, `if row.size > limit`,
    and so does a script behind the bracket of `(await orders.find())`."""
    span = file.query_spans.get((query.line, query.anchor, query.model))
    if span is None:
        return text
    own = file.source[file.lines.starts[query.line - 1] : span[1]].decode("utf-8", "replace")
    if file.language == "python":
        return own
    if not _AWAITED_APART.search(file.source, max(0, span[0] - LONGEST_HEAD), span[0]):
        return text
    rest = file.source[span[1] : span[1] + LONGEST_CHAIN].decode("utf-8", "replace")
    return own + rest[: closing_bracket(rest, 0)]


def _of_caller(query: Query, text: str, lines: list[str], file: SourceFile) -> Iterator[tuple[str, str]]:
    """What the query asks for of what its function was given, also by way of what is assigned above it."""
    if query.function == 0:
        return
    function = file.functions[query.function].node
    named = set(_NAMED.findall(text))
    for line in reversed(lines[file.lines.of(function.start_byte) : query.line - 1]):
        assigned = _ASSIGNED.match(line) if "= " in line else None
        if assigned is not None and assigned[1] in named:
            named.update(_NAMED.findall(assigned[2]))
    given = (each.name.lstrip("*&") for each in file.dialect.parameters(function, file))
    keyed = [each for each in dict.fromkeys((*given, *sorted(OWN_RECEIVERS))) if each in named]
    if keyed:
        yield "keyed", " ".join(keyed)


def _of_moment(query: Query, text: str, lines: list[str], file: SourceFile) -> Iterator[tuple[str, str]]:
    """When the query runs, where it does not whenever its function does."""
    if query.orm in DJANGO and _is_in_lambda(text, lines, query.line):
        yield "later", "1"
    if query.function == 0 and file.language == "go" and _is_in_closure(lines, query.line):
        yield "later", "1"
    if _stands_in(lines, query.line):
        yield "optional", "1"
    if _is_remembered(query, lines, file):
        yield "remembered", "1"
    if query.function != 0 and _is_branched(query, lines, file):
        yield "branched", "1"


def _of_relations(query: Query, text: str, lines: list[str], file: SourceFile) -> Iterator[tuple[str, str]]:
    """How relations are loaded with the rows."""
    if len(query.eager) < 2:
        return
    if _APART.search(text):
        yield "apart", "1"
    if query.orm == "sqlalchemy":
        joined = [name for name in _JOINED.findall(_around(query, lines, file)) if name in query.eager]
        if len(joined) > 1:
            yield "joined", " ".join(dict.fromkeys(joined))


def _of_write(query: Query, text: str, lines: list[str], file: SourceFile) -> Iterator[tuple[str, str]]:
    """How far a statement that writes reaches, and what the program learns of it."""
    if query.operation == "update" and query.variable and _is_asked(query, lines):
        yield "claimed", "1"
    if query.operation in ("insert", "bulk_insert") and _ON_CONFLICT.search(text):
        yield "upsert", "1"
    if query.operation in ("update", "delete") and names_whole_table(text, _lines_before(query, lines, file)):
        yield "whole", "1"


def _lines_before(query: Query, lines: list[str], file: SourceFile) -> list[str]:
    """The lines of the function before a query; at the top level none."""
    if query.function == 0:
        return []
    return lines[file.lines.of(file.functions[query.function].node.start_byte) - 1 : query.line - 1]


def _of_rows(query: Query, text: str, lines: list[str], file: SourceFile) -> Iterator[tuple[str, str]]:
    """What the function does with the rows that it reads."""
    rows = marked(query, lines, file)
    taken = taken_by(rows, file.language) if query.function != 0 and rows else ""
    if taken:
        yield "taken", taken
    if _is_returned(query, lines):
        yield "returned", "1"
    kept = kept_by(rows, query, lines, file.language) if rows else ""
    if kept:
        yield "kept", kept
    start = ready_at(query, lines, query.line + text.count("\n")) if query.variable else 0
    uses = _uses(query, lines, start, file) if query.variable else None
    if uses:
        yield "uses", " ".join(f"{kind}:{count}" for kind, count in sorted(uses.items()))


def _is_returned(query: Query, lines: list[str]) -> bool:
    """Whether a `return` stands before the query, or right behind it with its variable and nothing more."""
    if query.limit == 1 or query.function == 0:
        return False
    if not query.variable:
        return _RETURN.match(lines[query.line - 1]) is not None
    after = lines[query.line : query.line + LONGEST_RETURN]
    return any((found := _RETURNED.match(line)) is not None and found[1] == query.variable for line in after)


def _is_branched(query: Query, lines: list[str], file: SourceFile) -> bool:
    """Whether a branch of the function holds the query."""
    first = file.lines.of(file.functions[query.function].node.start_byte)
    before = "\n".join(lines[first : query.line - 1])
    return is_in_block(_BRANCH, before, indent_of(lines[query.line - 1]))


def _around(query: Query, lines: list[str], file: SourceFile) -> str:
    """The lines of the function before a query, and some after it."""
    node = file.functions[query.function].node
    first, last = file.lines.of(node.start_byte), file.lines.of(max(node.start_byte, node.end_byte - 1))
    return "\n".join(lines[max(first - 1, query.line - 30) : min(last, query.line + 6)])


def _is_remembered(query: Query, lines: list[str], file: SourceFile) -> bool:
    function = file.functions[query.function]
    if query.function == 0 or not (file.mentions(b"cache") or file.mentions(b"Cache")):
        return False
    before = "\n".join(lines[file.lines.of(function.node.start_byte) - 1 : query.line - 1])
    return _REMEMBERED.search(before) is not None


def _may_be_limited(text: str) -> bool:
    """A cheap question before the pattern, which looks everywhere for either case."""
    text = text.lower()
    return any(map(text.__contains__, _LIMITS))


def _stands_in(lines: list[str], line: int) -> bool:
    """Whether the query is only what follows `or`, `else`, `??`, or an `if` for a value that is missing."""
    before = lines[max(0, line - 3) : line]
    text = "\n".join(before)
    if "??" in text or (("or" in text or "else" in text) and _STAND_IN.search(text)):
        return True
    return len(before) > 1 and "if" in before[-2] and _MISSING.search(before[-2]) is not None


def _is_grouped(text: str) -> bool:
    """Whether the chain itself, and none in its arguments, gives a row for each group."""
    before, _, chain = text.partition(".objects")
    while (plain := _ARGUMENTS.sub("", chain)) != chain:
        chain = plain
    return ".annotate(" not in before and _GROUPED.search(chain) is not None


def _is_in_closure(lines: list[str], line: int) -> bool:
    """Whether the declaration that begins above the line, at the margin, holds a function."""
    for above in reversed(lines[:line]):
        if "func(" in above:
            return True
        if above[:1].strip():
            return False
    return False


def _is_asked(query: Query, lines: list[str]) -> bool:
    """Whether the lines behind a write ask how many rows it changed."""
    after = "\n".join(lines[query.line : query.line + LINES_OF_A_CLAIM])
    return any(match[1] == query.variable for match in _CHANGED_ROWS.finditer(after))


def _is_in_lambda(text: str, lines: list[str], line: int) -> bool:
    """Whether a lambda of the same line, or one whose bracket is still open, holds the query."""
    if _LAMBDA.search(text.partition(".objects")[0]):
        return True
    above = "\n".join(lines[max(0, line - LINES_OF_A_LAMBDA) : line - 1])
    made = above.rfind("lambda")
    if made < 0 or not (begun := _LAMBDA.match(above, made)):
        return False
    level = 0
    for bracket in _BRACKETS.findall(above, begun.end()):
        level += 1 if bracket in "([{" else -1
        if level < 0:
            return False
    return level > 0


def chain_text(lines: list[str], line: int) -> str:
    """The text from the start of a line to the end of the line that closes its brackets and ends its chain."""
    parts: list[str] = []
    level = size = 0
    for text in lines[line - 1 : line + 80]:
        if parts and level <= 0 and not text.lstrip().startswith("."):
            break
        parts.append(text)
        size += len(text)
        level += text.count("(") + text.count("[") + text.count("{")
        level -= text.count(")") + text.count("]") + text.count("}")
        if level < 0 or size > LONGEST_CHAIN:
            break
    return "\n".join(parts)


def _is_opaque(query: Query, text: str) -> bool:
    if query.orm == "sql":
        if not query.filters and query.operation in ("update", "delete") and _PUT_TOGETHER.search(text):
            return True  # the condition may stand in another part of the text
        return not query.filters and re.search(r"\bWHERE\b", text, re.IGNORECASE) is not None
    if query.raw:
        return True  # conditions that the reader of the ORM could not read
    if query.orm in DJANGO:
        keyed = _UNREAD_CONDITION.search(text) or _UNREAD_KEYWORDS.search(text)
        return keyed is not None or (".values" in text and ".annotate(" in text and _is_grouped(text))
    if query.orm == "prisma":
        unread = _UNREAD_OPTIONS.findall(text)
        return any("where" not in each for each in unread) or (not query.filters and "where" in text)
    if query.orm != "sqlalchemy":
        return False
    return _UNREAD_CLAUSE.search(text) is not None or (not query.filters and _ANY_CLAUSE.search(text) is not None)


def _is_added_to(text: str, lines: list[str], line: int) -> bool:
    """Whether the lines above add conditions to the variable that holds those of the query."""
    held = _HELD_WHERE.search(text)
    above = "\n".join(lines[max(0, line - LINES_OF_CONDITIONS) : line])
    return held is not None and re.search(rf"\b{held[1]}(?:\.\w+|\[[^\]\n]+\]) = ", above) is not None


def _begins_opaque(query: Query, text: str, lines: list[str], file: SourceFile) -> bool:
    """Whether the chain goes on with what a variable holds, and conditions that cannot be read stand there."""
    base = _ON_VARIABLE.search(text)
    if base is None or query.function == 0:
        return False
    first = file.lines.of(file.functions[query.function].node.start_byte)
    before = "\n".join(lines[first - 1 : query.line - 1])
    return any(
        _UNREAD_KEYWORDS.search(given[1]) or _UNREAD_CONDITION.search(given[1])
        for given in followed(base[1], before, _GIVEN_CHAIN, "_.")
    )


def _uses(query: Query, lines: list[str], start: int, file: SourceFile) -> Counter[str]:
    """How the function uses the rows after the query, until the variable holds something else."""
    node = file.functions[query.function].node
    last = file.lines.of(max(node.start_byte, node.end_byte - 1))
    after = "\n".join(lines[start:last])[:LONGEST_FUNCTION]
    uses: Counter[str] = Counter()
    for position, kind in _mentions(query.variable, after):
        if kind == "again":
            indent = indent_of(_first_line(query, lines))
            between = after[:position].split("\n")
            is_other_branch = any(each.strip() and indent_of(each) < indent for each in between[:-1])
            if is_other_branch or len(between[-1]) > indent:
                uses["other"] += 1  # only in one branch: the rows may be used after it
            break
        uses[kind] += 1
    return uses


def _first_line(query: Query, lines: list[str]) -> str:
    """The line that assigns the variable: a chain may stand a few lines below, inside of `list(`."""
    above = reversed(lines[max(0, query.line - 4) : query.line])
    return next((line for line in above if line.lstrip().startswith(query.variable)), lines[query.line - 1])


def _mentions(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Where the variable stands, and as what: `len`, `bool`, `again` when it is assigned, `other`. By two patterns
    around each place, since a pattern for each name would have to be compiled first."""
    position = text.find(name)
    while position >= 0:
        end = position + len(name)
        head = _HEAD.search(_before(text, position))
        tail = _TAIL.match(text, end)
        before = text[position - 1 : position] if position else ""
        is_word = not (before.isalnum() or before in ("_", ".", "$"))
        kind = _KINDS.get((head.lastgroup if head else None, tail.lastgroup if tail else None))
        if kind:
            yield position, kind
        elif is_word and tail is not None and tail.lastgroup in ("size", "empty"):
            yield position, "len" if tail.lastgroup == "size" else "bool"
        elif is_word and before not in ('"', "'") and not _WORD.match(text, end):
            yield position, "other"
        position = text.find(name, end)


def _before(text: str, position: int) -> str:
    """The end of the text before a place, a gap as short as it can be: searching costs by length."""
    before = text[max(0, position - WIDEST_HEAD) : position]
    stem = before.rstrip()
    return stem[-LONGEST_HEAD:] + before[len(stem) :]
