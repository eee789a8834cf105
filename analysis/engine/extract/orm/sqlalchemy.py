"""SQLAlchemy: session queries and `select()` statements."""

import re
from collections.abc import Iterator

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.loops import WORD, dependents
from analysis.engine.extract.orm.chains import Chain, chain_of, query_at
from analysis.engine.extract.orm.steps import closing_bracket, parts_of, statements_on, steps_after
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Filter, Mark
from analysis.engine.readers.reading import followed

_SESSION = re.compile(r"(?i)(^|\.)(db\.)?_?\w*session(\(\))?$")
_TERMINALS = {
    "all": "select",
    "first": "select",
    "one": "select",
    "one_or_none": "select",
    "first_or_404": "select",  # of Flask
    "one_or_404": "select",
    "get_or_404": "select",
    "scalar": "select",
    "scalars": "select",
    "scalar_one": "select",
    "scalar_one_or_none": "select",
    "get": "select",
    "get_one": "select",
    "count": "count",
    "delete": "delete",
    "update": "update",
    "yield_per": "select",
}
_RUNNERS = ("query", "execute", "scalars", "scalar", "get", "get_one", "stream", "stream_scalars", "exec")
_GIVEN_STATEMENTS = frozenset(_RUNNERS) - {"query"}
_ENDS = frozenset({"all", "first", "one", "one_or_none", "scalar", "count"})  # of a query that a variable holds
_DATABASE = re.compile(r"(?i)(?:^|[._])(?:db|database|sess|s|tx|conn|connection)$")
_CLASS = re.compile(r"(?:\w+\.)*[A-Z][A-Za-z0-9]*[a-z]\w*\b")
_STATEMENT = re.compile(r"[(\s]*(?:\w+\.)?(?:select|insert|update|delete)\(")
_LOADED = re.compile(r"(?:\b(?:select|query|get|get_one)\(\s*|^)([A-Z]\w*)(?=\s*[,)]|\.query\b)")
_QUERIED = re.compile(r"\.query\(\s*(?:\w+\.)*[A-Z]\w*")
_LAST_STEP = re.compile(r"\.(\w+)\([^()]*(?:\([^()]*\)[^()]*)*\)[\s)]*\Z")
# The model that a repository was made for.
_OF_ANY = re.compile(r"\b(?:self|cls)\._?(?:model|entity)(?:_?(?:class|cls|type))?\b(?!\()")
_ANY_MODEL = "AnyModel"
_COMPUTED = re.compile(r"\bselect\(\s*(?:\w+\.)?(?:func\.)?(count|sum|min|max|avg|exists)\(")
_COMPUTATIONS = {"count": "count", "exists": "exists"}
_TYPES = re.compile(r"\btext\(")
_SINGLE = frozenset(
    """first one one_or_none scalar scalar_one scalar_one_or_none get get_one first_or_404 one_or_404
    get_or_404""".split()
)
_BY_KEY = frozenset({"get", "get_one", "get_or_404"})
_OPERATORS = {"==": "eq", "!=": "other", "<": "range", "<=": "range", ">": "range", ">=": "range"}
_COMPARED = re.compile(r"\b[A-Z]\w*\.(\w+)\s*(==|!=|<=?|>=?)\s*(['\"\d]|True|False|None)?")
_METHOD = re.compile(
    r"\b[A-Z]\w*\.(\w+)\.(in_|not_in|notin_|like|ilike|contains|icontains|startswith|endswith|iendswith|is_|between)\("
    r"\s*([^\n]{0,60})"
)
_FLAGGED = re.compile(  # a column that is a condition by itself
    r"\.(?:filter|where)\(\s*(?:~|(?:sa\.)?not_\()?\s*[A-Z]\w*\.(\w+)\s*\)?\s*[,)]"
)
_SUBQUERY = re.compile(r"(?:\w+\.)*(?:select|query)\(|\w+\.query\b")
_TRUTH = re.compile(r"(?:\w+\.)?(?:[tT]rue|[fF]alse)\b")
_WRAPPED = re.compile(
    r"\b(?:func\.\w+|cast|extract)\(\s*(?:[\"']\w+[\"']\s*,\s*)?[A-Z]\w*\.(\w+)[^()]*\)\s*(?:==|!=|<=?|>=?|\.(?:in_|like|between)\()"
)
_FILTERED_BY = re.compile(r"filter_by\(")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_GIVEN = re.compile(r"(\w+)\s*=(?!=)\s*(True\b|False\b|None\b|['\"\d])?")
_PICKED = re.compile(r"\.with_parent\(|\.(?:filter|where|filter_by)\(\s*\*")  # by what is known where it runs
_ANY_OF = re.compile(r"\bor_\(\s*\*")  # a condition for each of many keys
_ANY = re.compile(r"\bor_\(")
_SIDES = re.compile(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*\|\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_COLUMN = re.compile(r"\b([A-Z]\w*)\.([a-z_]\w*)")
_BASE = re.compile(r"[a-z_]\w*(?=\s*(?:\.|\Z))")
_LEADING = re.compile(r"[rf]{0,2}[\"']%")
_PREFIX = re.compile(r"[rf]{0,2}[\"'](?!%)")  # a text whose first character is known, or a name in braces
_METHODS = {
    "in_": "in",
    "like": "like",
    "not_in": "other",
    "notin_": "other",
    "ilike": "contains",
    "contains": "contains",
    "icontains": "contains",
    "endswith": "contains",
    "iendswith": "contains",
    "startswith": "like",
    "is_": "null",
    "between": "range",
}
_EAGER = re.compile(r"\b(?:joinedload|selectinload|subqueryload|contains_eager)\(\s*(?:[\w.]*\.)?(\w+)")
_MODEL = re.compile(r"\b([A-Z]\w*)")
_TAKES = re.compile(
    rb"(?:\.(?:scalars|unique|mappings|tuples)\(\))*\.(all|first|one|one_or_none|scalar\w*|fetchall)\(\)"
)
_AWAITED_LENGTH = re.compile(rb"\blen\(\s*\(\s*await\s+\Z")
_TO_THE_END = re.compile(rb"\s*\)(?:\s*\.\w+\(\))*\s*\)")
LONGEST_AWAIT = 40  # bytes of `len((await `, with line breaks
LONGEST_WAY = 300  # bytes behind a statement in which its rows are taken


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`session.query(A).filter(...).all()`, `session.scalars(select(A))`, `A.query.filter_by(...).first()`."""
    chain = chain_of(call, file) if _uses_sqlalchemy(file) else None
    if chain is None:
        return iter(())
    first = chain.steps[0]
    if first.name in _RUNNERS and _is_session(chain, file):
        _append(chain, file, given=_given_to(first.call, file))
    elif model := _model_asked(chain):
        _append(chain, file, model=model)
    elif chain.base.isidentifier() and chain.steps[-1].name in _ENDS and file.mentions(b".query("):
        given = _built(chain.base, call, file)
        if _is_lazy(given):
            _append(chain, file, given=given)
    return iter(())


def look_at_part(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`for order in session.query(Order).filter(...)`, or `Order.query.filter(...)`: a loop or a list around runs the
    query."""
    chain = chain_of(call, file) if _uses_sqlalchemy(file) else None
    if chain is None or not chain.terminal:
        return iter(())
    if chain.steps[0].name == "query" and _is_session(chain, file):
        _append(chain, file)
    elif (model := _model_asked(chain)) and chain.steps[-1].name not in _TERMINALS:
        _append(chain, file, model=model)
    return iter(())


def _model_asked(chain: Chain) -> str:
    """`Order` of `Order.query.filter_by(…)`, as Flask writes it; empty for any other chain."""
    is_model = chain.base.endswith(".query") and chain.base[:1].isupper()
    return chain.base.rpartition(".")[0].rpartition(".")[2] if is_model else ""


def look_at_session(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Flushes, commits and deletions of a session."""
    chain = chain_of(call, file) if _uses_sqlalchemy(file) else None
    if chain is not None and len(chain.steps) == 1 and _is_unit_of_work(chain, file):
        name = chain.steps[0].name
        operation = {"commit": "commit", "flush": "commit", "delete": "delete"}.get(name, "bulk_insert")
        model = _model_of_row(call, file) if name == "delete" else ""
        file.queries.append(query_at(call, file, orm="sqlalchemy", model=model, operation=operation, terminal=name))
    elif chain is not None:
        return look(call, file)
    return iter(())


READERS = {
    **dict.fromkeys((*_TERMINALS, *_RUNNERS, "unique"), look),
    **dict.fromkeys(
        "filter filter_by where order_by join outerjoin options limit offset distinct".split(), look_at_part
    ),
    **dict.fromkeys(
        ("commit", "flush", "delete", "bulk_save_objects", "bulk_insert_mappings", "add_all"), look_at_session
    ),
}


def join_variables(file: SourceFile) -> None:
    """Queries that are lazy until a loop over their variable runs them."""
    if not _uses_sqlalchemy(file) or not file.mentions(b".query("):
        return
    for loop in file.loops:
        rows = loop.node.child_by_field_name("right") if loop.iterable.isidentifier() else None
        given = _built(loop.iterable, rows, file) if rows is not None else ""
        if rows is not None and _is_lazy(given):
            _append(Chain(loop.iterable, (), 0, 0, "iter", "", rows), file, given=given)


def _uses_sqlalchemy(file: SourceFile) -> bool:
    return file.mentions(b"sqlalchemy") or file.mentions(b"session") or file.mentions(b".query")


def _is_session(chain: Chain, file: SourceFile) -> bool:
    """Whether a session is asked: by its name, else by what it is given."""
    given = file.arguments(chain.steps[0].call)[0]
    if _SESSION.search(chain.base):
        # `session.get("key")` asks the session of a visitor.
        return chain.steps[0].name != "get" or not given or given[0].type != "string"
    if not given or not file.mentions(b"sqlalchemy"):
        return False
    text = file.text(given[0])
    if chain.steps[0].name in ("query", "get", "get_one"):
        return _DATABASE.search(chain.base) is not None and _CLASS.match(text) is not None
    return _STATEMENT.match(text) is not None or _STATEMENT.match(_given_to(chain.steps[0].call, file)) is not None


def _is_unit_of_work(chain: Chain, file: SourceFile) -> bool:
    """Whether what is flushed or committed is a session, by its name; `db` may be one where SQLAlchemy is used."""
    name = chain.steps[0].name
    is_database = (
        name in ("commit", "flush", "delete") and file.mentions(b"sqlalchemy") and _DATABASE.search(chain.base)
    )
    return bool(_SESSION.search(chain.base) or is_database)


def _model_of_row(call: Node, file: SourceFile) -> str:
    """Of which model the row is that a session is given, where the function has loaded it itself, there or before."""
    given = file.arguments(call)[0]
    name, function = file.text(given[0]) if len(given) == 1 else "", file.function_of(call)
    at_once = _LOADED.search(name) if not name.isidentifier() else None
    if at_once is not None:
        return at_once[1]
    loaded = (query for query in reversed(file.queries) if query.variable == name and query.function == function)
    return next((query.model for query in loaded if name), "")


def _given_to(call: Node, file: SourceFile) -> str:
    """The statement that a variable holds which a session is given, also where a step is added there."""
    given = file.arguments(call)[0]
    base = _BASE.match(file.text(given[0])) if given and given[0].type in ("identifier", "call") else None
    return _built(base[0], given[0], file) if base is not None else ""


def _built(name: str, node: Node, file: SourceFile) -> str:
    """The chain that a variable was given before, with the steps that were added to it since."""
    found: list[str] = []
    for statement in statements_on(name, node, file, only_given=True):
        if not statement.lstrip("( \n\t").startswith(name + "."):
            found.clear()
        found.append(statement)
    return "\n".join(found)


def _is_lazy(given: str) -> bool:
    """Whether what a variable was given is a query that did not run yet."""
    last = _LAST_STEP.search(given)
    return _QUERIED.search(given) is not None and (last is None or last[1] not in _TERMINALS)


def _append(chain: Chain, file: SourceFile, model: str = "", given: str = "") -> None:
    text = f"{given}\n{file.text(chain.top)}" if given else file.text(chain.top)
    is_of_any = file.mentions(b"elf.") and (generic := _OF_ANY.sub(_ANY_MODEL, text)) != text
    text = generic if is_of_any else text
    names = [step.name for step in chain.steps]
    raw = re.search(r"\b(select|insert|update|delete)\(", text)
    if not model:
        named = _MODEL.search(_TYPES.sub("", text.partition("(")[2]))
        model = named[1] if named is not None else ""
    if not model or (names[:1] == ["execute"] and raw is None):
        return  # SQL text is the business of the `sql` adapter
    verb = raw[1] if raw is not None else ""
    last = next((name for name in reversed(names) if name in _TERMINALS), "")
    operation = _operation(last, verb, names, text)
    terminal = last or (names[0] if names and names[0] in _GIVEN_STATEMENTS else chain.terminal)
    if terminal in ("execute", "exec", "scalars") and operation == "select":
        terminal = _taken(chain, file) or terminal
    query = query_at(
        chain.top,
        file,
        orm="sqlalchemy",
        model="" if model == _ANY_MODEL else model,
        operation=operation,
        terminal=terminal,
        filters=(Filter("pk", "eq"),) if last in _BY_KEY else _filters(text, model),
        order=tuple(re.findall(r"order_by\(\s*(?:\w+\.)?(\w+)", text)),
        limit=_limit(terminal, text, chain, file),
        offset=-1 if ".offset(" in text else 0,
        eager=tuple(_EAGER.findall(text)),
        lock="with_for_update" in text,
        streaming="yield_per" in text or names[:1] == ["stream"],
        variable=chain.variable,
        counted=_counted(chain, file) if operation == "select" else "",
    )
    if query.loop >= 0 and given:
        changing = dependents(file.loops[query.loop], file.source)
        depends = query.uses_loop_variable or not changing.isdisjoint(WORD.findall(given.encode()))
        query = structs.replace(query, uses_loop_variable=depends)
    file.queries.append(query)


def _operation(last: str, verb: str, names: list[str], text: str) -> str:
    """What a chain does, by the step that runs it and by the statement that it was made with."""
    if verb and verb != "select" and names[0] != "query":
        return verb
    computed = _COMPUTED.search(text) if verb else None
    if computed is not None:
        return _COMPUTATIONS.get(computed[1], "aggregate")
    return _TERMINALS.get(last, "select")


def _limit(terminal: str, text: str, chain: Chain, file: SourceFile) -> int:
    if terminal in _SINGLE:
        return 1
    written = re.search(r"\.limit\((\d+|[^)])", text)
    return _number(written[1]) if written is not None else chain.limit or _cut(chain, file)


def _taken(chain: Chain, file: SourceFile) -> str:
    """What takes the rows out of a result, `all` of `(await …).scalars().all()`, also where a variable holds it."""
    taken = [step.name for step in steps_after(chain.top.end_byte, file) if step.name in (*_TERMINALS, "fetchall")]
    if taken or not chain.variable:
        return taken[-1] if taken else ""
    after = file.source[chain.top.end_byte : chain.top.end_byte + LONGEST_WAY]
    for match in followed(chain.variable.encode(), after, _TAKES, b"_.$"):
        return match[1].decode()
    return ""


def _cut(chain: Chain, file: SourceFile) -> int:
    """A limit that cannot be read where the result gives a number of rows only."""
    is_cut = file.mentions(b"fetchmany") and any(s.name == "fetchmany" for s in steps_after(chain.top.end_byte, file))
    return -1 if is_cut else 0


def _counted(chain: Chain, file: SourceFile) -> str:
    """`len` when nothing but the number of rows is asked for, here or of the result that a variable holds."""
    if chain.terminal in ("len", "bool") and chain.steps:
        return chain.terminal
    start, end = chain.top.start_byte, chain.top.end_byte
    head = file.source[max(0, start - LONGEST_AWAIT) : start]
    if _AWAITED_LENGTH.search(head) is not None and _TO_THE_END.match(file.source, end) is not None:
        return "len"
    if chain.variable and chain.steps and chain.steps[-1].name in ("execute", "exec"):
        after = file.source[chain.top.end_byte : chain.top.end_byte + LONGEST_WAY]
        for match in followed(chain.variable.encode(), after, _TAKES, b"_.$"):
            is_measured = after[: match.start() - len(chain.variable)].endswith(b"len(")
            return "len" if is_measured and after[match.end() : match.end() + 1] == b")" else ""
    return ""


def _number(text: str) -> int:
    return int(text[:9]) if text.isdigit() else -1


def _filters(text: str, model: str) -> tuple[Filter, ...]:
    found: list[Filter] = []
    for sides in _alternatives(text):
        if (column := _either(sides, model)) is not None:
            found.append(Filter(column, "either"))
            text = text.replace(sides[0], "").replace(sides[1], "")  # neither of them narrows
    found += [Filter(name, _OPERATORS[sign], bool(value)) for name, sign, value in _COMPARED.findall(text)]
    found += [_called(name, method, value) for name, method, value in _METHOD.findall(text)]
    found += [Filter(name, "eq", True) for name in _FLAGGED.findall(text)]
    found += [Filter(name, "function") for name in _WRAPPED.findall(text)]
    found += [Filter("other.id", "eq")] * (_PICKED.search(text) is not None)
    found += [Filter("other.id", "in")] * (_ANY_OF.search(text) is not None)
    for match in _FILTERED_BY.finditer(text):
        given = text[match.end() : closing_bracket(text, match.end())]
        while (shorter := _IN_BRACKETS.sub("", given)) != given:
            given = shorter
        found += [Filter(name, "eq", bool(value)) for name, value in _GIVEN.findall(given)]
    return tuple(found)


def _called(name: str, method: str, value: str) -> Filter:
    if method == "is_" and _TRUTH.match(value):
        return Filter(name, "eq", True)
    return Filter(name, _operator(method, value))


def _alternatives(text: str) -> Iterator[tuple[str, str]]:
    """The first two sides of each `or_(…, …)` and `(…) | (…)`."""
    for match in _ANY.finditer(text):
        sides = parts_of(text[match.end() : closing_bracket(text, match.end())])
        if len(sides) > 1:
            yield sides[0], sides[1]
    for match in _SIDES.finditer(text):
        yield match[1], match[2]


def _either(sides: tuple[str, str], model: str) -> str | None:
    """The column of the model on one side, where the other side asks another table. None when both ask one table."""
    named = [_COLUMN.search(side) for side in sides]
    one, other = named
    if one is None or other is None or one[1] == other[1] or model not in (one[1], other[1]):
        return None
    return one[2] if one[1] == model else other[2]


def _operator(method: str, value: str) -> str:
    if method == "like" and _LEADING.match(value):
        return "contains"
    if method == "ilike" and _PREFIX.match(value):
        return "function"  # letters of both cases are compared, as by `lower(…)`
    if method in ("not_in", "notin_") and _SUBQUERY.match(value):
        return "excluded"
    return _METHODS.get(method, "other")
