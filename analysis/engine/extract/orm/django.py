"""Django's ORM: querysets by manager chains, models by their base class."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.orm.chains import Chain, Step, chain_of, is_literal, query_at, strings_in
from analysis.engine.extract.orm.conditions import alternatives
from analysis.engine.extract.orm.steps import parts_of
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import DJANGO, RELATED, Filter, Mark, Query
from analysis.engine.readers.reading import assigned_values, followed

_MANAGER = re.compile(r"(?:^|\.)([A-Z]\w*)\.(?:\w*objects|_default_manager|_base_manager|\w*_manager)$")
# The model as a migration or a command knows it: `apps.get_model("shop", "Order").objects`.
_GOT = re.compile(r"get_model\(\s*(?:[\"']\w+[\"']\s*,\s*)?[\"'](?:\w+\.)?(\w+)[\"']\s*\)\.objects$")
# The manager of a relation: `customer.bills.filter(…)`. What a list or a dictionary has as well is no such step.
_RELATED_STEPS = (
    "all|filter|exclude|order_by|values|values_list|only|defer|select_related|prefetch_related|select_for_update|annotate"
    "|aggregate|exists|first|last|latest|earliest|in_bulk|iterator|create|bulk_create|get_or_create|update_or_create"
)
_RELATED = re.compile(rf"(?:[a-z_]\w*\.)+[a-z_]\w*\.a?(?:{_RELATED_STEPS})(?!\w)")
_OF_CLIENTS = re.compile(r"(?i)client|api|sdk|stripe|openai|anthropic|twilio|session|service|conn|resource")
_LOOKUPS = {
    "exact": "eq",
    "iexact": "function",
    "in": "in",
    "gt": "range",
    "gte": "range",
    "lt": "range",
    "lte": "range",
    "range": "range",
    "contains": "contains",
    "icontains": "contains",
    "endswith": "contains",
    "iendswith": "contains",
    "startswith": "like",
    "istartswith": "like",
    "regex": "contains",
    "iregex": "contains",
    "isnull": "null",
    "year": "range",
    **dict.fromkeys(
        """iso_year month day week week_day iso_week_day quarter date time hour minute second unaccent trunc lower upper
        length""".split(),
        "function",
    ),
}
_OPERATIONS = {
    "get": "select",
    "first": "select",
    "last": "select",
    "latest": "select",
    "earliest": "select",
    "in_bulk": "select",
    "iterator": "select",
    "aiterator": "select",
    "count": "count",
    "exists": "exists",
    "aggregate": "aggregate",
    "create": "insert",
    "get_or_create": "insert",
    "update_or_create": "insert",
    "bulk_create": "bulk_insert",
    "bulk_update": "update",
    "update": "update",
    "delete": "delete",
}
_SINGLE = frozenset({"get", "first", "last", "latest", "earliest", "exists", "get_or_create", "update_or_create"})
_LAZY = (
    "all filter exclude order_by values values_list only defer select_related prefetch_related select_for_update"
    " annotate distinct using reverse none raw extra union"
)
_WRITES = {"save": "update", "delete": "delete"}
_AWAITED = {f"a{name}": name for name in (*_OPERATIONS, *_WRITES) if name != "aiterator"}  # `acreate` is `create`
_NOT_MODELS = re.compile(r"(?i)(form|serializer|file|image|storage|cache|session|writer|fig|doc|workbook|super\(\))$")
_MADE = re.compile(
    r"(\w+)\s*(?::\s*\w+\s*)?=\s*(?:await\s+)?(?:\w+\.)*(?:a?get_object_or_404\(\s*(?:\w+\.)*)?(?![A-Z_]+\b)([A-Z]\w*)\b[(.,]"
)
_LOADS = re.compile(rb"\b(list|tuple|set|frozenset|sorted)\(\Z")
_WHOLE = re.compile(rb"(?![\w\"'])(?:\s*,[^()\n]*\b(many)\s*=\s*True\b|(\s*[,)]))?")  # `many`: a serializer's
_MADE_HERE = re.compile(rb"(?:\w+\.)*([A-Z]\w*)\((?:[^()]|\([^()]*\))*\)\s*\.(save)$")
_COMPUTED = re.compile(  # `Lower("email")`, `TruncDate(F("sent_at"))`
    r"(?:\w+\.)*(?:Lower|Upper|Trunc\w*|Extract\w*|Cast|Substr|Left|Right|Length|L?R?Trim|Coalesce|Replace|MD5)\(\s*"
    r"(?:(?:\w+\.)?F\(\s*)?[\"'](\w+)[\"']"
)
_PREFETCHED = re.compile(rb"\bPrefetch\([^()]*\Z")
LONGEST_HEAD = 120  # bytes before a chain that it is given to
_CONDITION = re.compile(r"\b(\w+)\s*=(?!=)\s*")


@dataclass(slots=True)
class _Shape:
    """A queryset while its steps are read."""

    operation: str = "select"
    terminal: str = ""
    filters: list[Filter] = field(default_factory=list)
    order: tuple[str, ...] = ()
    limit: int = 0
    offset: int = 0
    eager: list[str] = field(default_factory=list)
    columns: tuple[str, ...] = ()
    lock: bool = False
    streaming: bool = False
    raw: bool = False
    computed: dict[str, str] = field(default_factory=dict)  # names for what functions make of columns, and the columns


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Appends a query when the call ends a chain on a manager, or on a variable that holds one."""
    if not _uses_django(file) or not _may_be_queryset(call, file):
        return iter(())
    chain = chain_of(call, file)
    if chain is None:
        return iter(())
    resolved = file.resolve(chain.base)
    manager = _MANAGER.search(resolved) or (_GOT.search(chain.base) if "get_model" in chain.base else None)
    if manager is not None:
        _append(chain, _Shape(), manager[1], file)
    elif chain.base.isidentifier():
        # What ran already holds rows or a dict of them: their `get` or `count` is no query.
        known = _held(chain.base, call, file)
        if known is not None and known.variable == chain.base and not known.terminal:
            _append(chain, _shape_of(known), known.model, file, orm=known.orm)
    elif _is_related(chain, file):
        _append(chain, _Shape(), chain.base, file, orm=RELATED)
    return iter(())


def _is_related(chain: Chain, file: SourceFile) -> bool:
    """Whether a chain may begin with the manager of a relation, which `queries` knows when all models are."""
    if chain.base.partition(".")[0] in file.bindings or _RELATED.match(f"{chain.base}.{chain.steps[0].name}") is None:
        return False
    if chain.steps[0].name == "create" and _OF_CLIENTS.search(chain.base):
        return False  # `client.messages.create(…)`
    return all(_AWAITED.get(step.name, step.name) in READERS for step in chain.steps)


def look_at_write(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`order.save()` and `order.delete()`; the model is known when the variable's origin is."""
    if not _uses_django(file):
        return iter(())
    chain = chain_of(call, file)
    if chain is None:
        _append_made(call, file)
        return iter(())
    if len(chain.steps) > 1 or _MANAGER.search(file.resolve(chain.base)) or _NOT_MODELS.search(chain.base):
        return look(call, file)
    held = _held(chain.base, call, file)
    if held is not None and not held.terminal and chain.steps[0].name == "delete":
        return look(call, file)
    if file.arguments(call)[0]:
        return iter(())
    name = _AWAITED.get(chain.steps[0].name, chain.steps[0].name)
    model = held.model if held is not None else _made(chain.base, call, file)
    operation = _WRITES[name]
    orm = held.orm if held is not None else "django"
    file.queries.append(query_at(call, file, orm=orm, model=model, operation=operation, terminal=name))
    return iter(())


def _append_made(call: Node, file: SourceFile) -> None:
    """`Order(total=total).save()`: a row that is made and written at once."""
    start, end = file.dialect.callee(call)
    made = _MADE_HERE.match(file.source, start, end)
    if made is None or file.arguments(call)[0]:
        return
    model, name = made[1].decode(), made[2].decode()
    if not _NOT_MODELS.search(model):
        file.queries.append(query_at(call, file, orm="django", model=model, operation="insert", terminal=name))


READERS = {
    **dict.fromkeys((*_OPERATIONS, *_LAZY.split(), *_AWAITED), look),
    **dict.fromkeys((*_WRITES, *(f"a{name}" for name in _WRITES)), look_at_write),
}


def _uses_django(file: SourceFile) -> bool:
    return file.mentions(b".objects") or file.mentions(b"django") or file.mentions(b"models import ")


def _may_be_queryset(call: Node, file: SourceFile) -> bool:
    """A manager in the chain, or a query before that a variable may hold."""
    name = file.callee(call)
    if "()" in name:  # managers may stand in the arguments of a chain too
        start, end = file.dialect.callee(call)
        name = file.source[start:end].decode("utf-8", "replace")
    if "objects." in name or "_manager." in name or _RELATED.match(name) is not None:
        return True
    return bool(file.query_variables) and name.partition(".")[0] in file.query_variables


def _takes_one(chain: Chain) -> bool:
    """`orders[0]` runs at once; `orders[:1]` is as lazy as what it is cut from."""
    index = chain.top.child_by_field_name("subscript") if chain.top.type == "subscript" else None
    return chain.limit == 1 and index is not None and index.type != "slice"


def _append(chain: Chain, shape: _Shape, model: str, file: SourceFile, *, orm: str = "django") -> None:
    for step in chain.steps:
        _read_step(step, shape, file)
    if _PREFETCHED.search(file.source, max(0, chain.top.start_byte - LONGEST_HEAD), chain.top.start_byte):
        shape.filters.append(Filter("other.id", "in"))  # Django adds the keys of the rows that it is loaded for
    if chain.limit and not shape.limit:
        shape.limit, shape.offset = chain.limit, chain.offset
    terminal = shape.terminal or ("slice" if _takes_one(chain) else chain.terminal)
    if terminal == "len":
        shape.operation = "select"
    file.queries.append(
        query_at(
            chain.top,
            file,
            orm=orm,
            model=model,
            operation=shape.operation,
            terminal=terminal,
            filters=tuple(shape.filters),
            order=shape.order,
            limit=shape.limit,
            offset=shape.offset,
            eager=tuple(shape.eager),
            columns=shape.columns,
            lock=shape.lock,
            streaming=shape.streaming,
            variable=chain.variable,
            raw=shape.raw,
        )
    )


def _read_step(step: Step, shape: _Shape, file: SourceFile) -> None:
    name = _AWAITED.get(step.name, step.name)
    positional, keywords = file.arguments(step.call)
    if name in ("filter", "exclude", "get", "get_or_create", "update_or_create"):
        found = [_in_columns(each, shape.computed) for each in _filters(positional, keywords, file)]
        if name == "exclude":
            found = [structs.replace(each, operator="other") for each in found]
            found += [Filter(key.removesuffix("__in"), "excluded") for key in _subqueries(keywords, file)]
        shape.filters += found
    elif name in ("annotate", "alias"):
        computed = ((key, _COMPUTED.match(file.text(value))) for key, value in keywords.items())
        shape.computed.update((key, match[1]) for key, match in computed if match is not None)
    elif name == "order_by":
        shape.order = strings_in(positional, file)
    elif name in ("select_related", "prefetch_related"):
        shape.eager += [path.replace("__", ".") for path in strings_in(positional, file)]
        shape.eager += ["*"] * (name == "select_related" and not positional)  # all keys that cannot be null
        shape.eager += ["*" for each in positional if each.type == "list_splat"]  # what a list names, which is not read
        prefetched = (path for each in positional for path in _prefetched(each, file))
        shape.eager += [path.replace("__", ".") for path in prefetched]
    elif name in ("values", "values_list", "only", "defer"):
        shape.columns = strings_in(positional, file)
    elif name == "select_for_update":
        shape.lock = True
    elif name in ("raw", "extra"):
        shape.raw = True
    if name in _OPERATIONS:
        shape.operation, shape.terminal = _OPERATIONS[name], name
        shape.limit = 1 if name in _SINGLE else shape.limit
        shape.streaming = shape.streaming or name in ("iterator", "aiterator")


def _in_columns(condition: Filter, computed: dict[str, str]) -> Filter:
    """A condition on what a function makes of a column, in the name that an earlier step gave that: one on the
    column."""
    column = computed.get(condition.column)
    if column is None:
        return condition
    operator = condition.operator if condition.operator == "contains" else "function"
    return Filter(column, operator, condition.constant)


def _subqueries(keywords: dict[str, Node], file: SourceFile) -> Iterator[str]:
    """The conditions `id__in=Order.objects.…` whose rows the database is to find itself."""
    for key, value in keywords.items():
        text = file.text(value) if key.endswith("__in") and key.count("__") == 1 else ""
        if ".objects" in text and not text.startswith(("list(", "set(", "[")):
            yield key


_PREFETCH = re.compile(r"Prefetch\(\s*[\"']([\w.]+)")


def _prefetched(given: Node, file: SourceFile) -> list[str]:
    """What a `Prefetch` brings, also one that a name holds; of a name that holds anything else nobody knows."""
    if given.type not in ("identifier", "attribute"):
        return _PREFETCH.findall(file.text(given))
    values = assigned_values(file.text(given), given, file)
    return [path for each in values for path in _PREFETCH.findall(file.text(each))] or ["*"]


def _filters(positional: list[Node], keywords: dict[str, Node], file: SourceFile) -> list[Filter]:
    found = [_filter(name, is_literal(value)) for name, value in keywords.items() if name not in ("**", "defaults")]
    for each in positional:
        text = file.text(each)
        sides = parts_of(text, between="|") if "|" in text and "&" not in text else [text]
        found += alternatives([[_filter(name, False) for name in _CONDITION.findall(side)] for side in sides])
    return found


def _filter(name: str, constant: bool) -> Filter:
    *path, last = name.split("__")
    if not path:
        return Filter(last, "eq", constant)
    if len(path) > 1 and _LOOKUPS.get(path[-1]) == "function" and last in _LOOKUPS:
        return Filter(".".join(path[:-1]), "function", constant)  # `created__date__gte`
    if last in _LOOKUPS:
        return Filter(".".join(path), _LOOKUPS[last], constant)
    return Filter(".".join((*path, last)), "eq", constant)


def _held(variable: str, node: Node, file: SourceFile) -> Query | None:
    """The last query before this place, in the same function, whose result the variable holds, or that fills it
    round by round as the variable of a loop."""
    if not file.queries:
        return None
    function, line = file.function_of(node), file.line(node)
    loops = [loop for loop in file.loops if loop.function == function and variable in loop.variables]
    if not loops and variable not in file.query_variables:
        return None
    for query in reversed(file.queries):
        if query.orm not in DJANGO or query.function != function or query.line > line:
            continue
        if query.variable == variable:
            return query
        if any(
            loop.iterable == query.variable or (query.terminal == "iter" and file.line(loop.node) == query.line)
            for loop in loops
        ):
            return query
    return None


def _made(variable: str, node: Node, file: SourceFile) -> str:
    """The class that the function itself made the variable of: `= Order(...)`, `= get_object_or_404(Order, ...)`."""
    if not variable.isidentifier():
        return ""
    scope = file.scope_of(node).function.node
    before = file.source[max(scope.start_byte, node.start_byte - 4_000) : node.start_byte].decode("utf-8", "replace")
    position = before.rfind(variable)
    while position >= 0:
        made = _MADE.match(before, position)
        if made is not None and made[1] == variable and not _continues(before, position):
            return made[2]
        position = before.rfind(variable, 0, position)
    return ""


def _continues(text: str, position: int) -> bool:
    """Whether a word goes on at this position that began before it."""
    return position > 0 and (text[position - 1].isalnum() or text[position - 1] == "_")


def _shape_of(query: Query) -> _Shape:
    """A chain that goes on from a variable."""
    return _Shape(
        filters=list(query.filters),
        order=query.order,
        limit=query.limit,
        offset=query.offset,
        eager=list(query.eager),
        columns=query.columns,
        lock=query.lock,
        streaming=query.streaming,
        raw=query.raw,
    )


def join_variables(file: SourceFile) -> None:
    """Chains that are lazy until a loop over their variable runs them: the last one before the loop."""
    for loop in file.loops:
        line = file.line(loop.node)
        for index in range(len(file.queries) - 1, -1, -1):
            query = file.queries[index]
            if query.variable == loop.iterable and query.function == loop.function and query.line <= line:
                if query.orm in DJANGO and not query.terminal:
                    file.queries[index] = structs.replace(query, terminal="iter")
                break
    for index, query in enumerate(file.queries):
        if query.orm in DJANGO and query.variable and not query.terminal:
            terminal = _loaded_by(query, file)
            if terminal:
                file.queries[index] = structs.replace(query, terminal=terminal)


def _loaded_by(query: Query, file: SourceFile) -> str:
    """What makes a list of the rows where the variable stands next: `sorted(rows, key=…)`. Empty when it goes on."""
    end = file.functions[query.function].node.end_byte
    start = file.lines.starts[min(query.line, file.lines.count - 1)]
    for match in followed(query.variable.encode(), file.source, _WHOLE, b"_.$", start, end):
        if match[1]:
            return "list"
        loaded = _LOADS.search(file.source, start, match.start() - len(query.variable))
        return loaded[1].decode() if loaded is not None and match[2] else ""
    return ""
