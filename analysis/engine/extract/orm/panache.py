"""Panache of Quarkus: entities that are asked themselves, `Order.find("status", Status.OPEN).page(0, 50).list()`, and
repositories that ask themselves, `list("status", Status.OPEN)`.

Nothing in a call says that the class is such an entity, and an entity of the same package is not even imported: the
queries here are `panache` until its model is known (`queries.Queries`).
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.orm.chains import query_at
from analysis.engine.extract.orm.conditions import conditions_in
from analysis.engine.extract.orm.jpa import counted
from analysis.engine.extract.orm.jpql import parsed
from analysis.engine.extract.orm.steps import Step, assigned_to, steps_after, text_of_callee
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Access, Filter, Mark
from analysis.engine.readers.reading import declarations

_WORKS_WITH_JAKARTA = (b"jakarta.", b"javax.persistence", b"javax.inject", b"javax.enterprise", b"javax.ws", b"panache")
_REPOSITORY_WORD = b"PanacheRepository"
_REPOSITORY = re.compile(rb"\bPanacheRepository(?:Base)?\s*<\s*(?:\w+\.)*(\w+)")
_ASKED = re.compile(r"([A-Z]\w*)\.(?:<[\w.<>]+>)?(\w+)")
_TEXT = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")
_COLUMN = re.compile(r"[A-Za-z_][\w.]*")
_WHERE = re.compile(r"(?i)\bwhere\b")
_NO_ALIAS = "?"  # so that a path keeps its relation: `customer.id`
_ORDER = re.compile(r"(?i)\border\s+by\s+([\w.]+)")
_SORT = re.compile(r"Sort\.(?:by|ascending|descending)\(\s*\"(\w+)\"")
_STATEMENT = re.compile(r"(?i)\s*(?:select|from|update|delete)\b")
_OPERATIONS = {
    **dict.fromkeys(("find", "findAll", "list", "listAll", "stream", "streamAll"), "select"),
    **dict.fromkeys(("findById", "findByIdOptional"), "select"),
    "count": "count",
    "update": "update",
    **dict.fromkeys(("delete", "deleteAll", "deleteById"), "delete"),
}
_BY_ID = frozenset({"findById", "findByIdOptional", "deleteById"})
_LAZY = frozenset({"find", "findAll"})  # a later step runs them
_ONE = frozenset({"firstResult", "firstResultOptional", "singleResult", "singleResultOptional"})
_RUNS = frozenset({"list", "stream", "count"}) | _ONE
_PAGES = frozenset({"page", "range"})
_OF_A_ROW = {"persist": "insert", "persistAndFlush": "insert", "delete": "delete"}
_DECLARED = re.compile(rb"\b([A-Z]\w*)\s+\Z")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """A call on a class, with the steps behind it, or on a row that stores or deletes itself."""
    if not any(map(file.mentions, _WORKS_WITH_JAKARTA)):
        return iter(())
    written = "".join(text_of_callee(call, file).split())
    asked = _ASKED.fullmatch(written)
    receiver, _, verb = written.rpartition(".")
    if asked is not None and asked[2] in _OPERATIONS:
        _append(call, asked[1], asked[2], "panache", file)
    elif receiver in ("", "this") and verb in _OPERATIONS and file.mentions(_REPOSITORY_WORD):
        model = _kept_by(call, file)
        if model:
            _append(call, model, verb, "jpa", file)
    elif verb in _OF_A_ROW and receiver.isidentifier() and not file.arguments(call)[0]:
        kind = next(filter(None, map(_DECLARED.search, declarations(receiver, file))), None)
        if kind is not None:
            operation = _OF_A_ROW[verb]
            model = kind[1].decode()
            file.queries.append(query_at(call, file, orm="panache", model=model, operation=operation, terminal=verb))
    return iter(())


READERS = dict.fromkeys((*_OPERATIONS, *_OF_A_ROW), look)


def accesses(file: SourceFile) -> Iterator[Access]:
    """Classes that implement `PanacheRepository<Order>`."""
    for scope in file.scopes if file.mentions(_REPOSITORY_WORD) else ():
        if scope.kind == "class" and (model := _model_of(scope.node, file)):
            yield Access(scope.prefix.rstrip("."), model, file.line(scope.node))


def _kept_by(call: Node, file: SourceFile) -> str:
    """The entity of the repository that a call on itself stands in."""
    around = call.parent
    while around is not None and around.type != "class_declaration":
        around = around.parent
    return _model_of(around, file) if around is not None else ""


def _model_of(declaration: Node, file: SourceFile) -> str:
    body = declaration.child_by_field_name("body")
    end = body.start_byte if body is not None else declaration.end_byte
    named = _REPOSITORY.search(file.source, declaration.start_byte, end)
    return named[1].decode() if named is not None else ""


def _append(call: Node, model: str, verb: str, orm: str, file: SourceFile) -> None:
    steps = steps_after(call.end_byte, file)
    runs = next((place for place, step in enumerate(steps) if step.name in _RUNS), -1) if verb in _LAZY else -1
    terminal = verb if verb not in _LAZY else steps[runs].name if runs >= 0 else ""
    after = steps[runs + 1 :]
    arguments = [file.text(each) for each in file.arguments(call)[0]]
    filters, is_read, eager = _conditions(verb, arguments)
    operation = "count" if terminal == "count" else _OPERATIONS[verb]
    is_one = verb in _BY_ID or terminal in _ONE
    file.queries.append(
        query_at(
            call,
            file,
            orm=orm,
            model=model,
            operation=operation,
            terminal=terminal,
            filters=filters,
            order=_order(arguments),
            limit=1 if is_one else _limit(steps[: max(0, runs)]),
            eager=eager,
            lock=any(step.name == "withLock" for step in steps),
            streaming=terminal in ("stream", "streamAll"),
            variable="" if after else assigned_to(call.start_byte, file),
            raw=not is_read,
            counted=counted(after) if operation == "select" else "",
        )
    )


def _conditions(verb: str, arguments: list[str]) -> tuple[tuple[Filter, ...], bool, tuple[str, ...]]:
    """The conditions of a query, whether they can be read, and the relations that it brings along: a column alone,
    `"code", code`, or what stands behind WHERE in the language of JPA."""
    if verb in _BY_ID:
        return (Filter("id", "eq"),), True, ()
    if verb.endswith("All") or not arguments:
        return (), True, ()
    text, values = _TEXT.fullmatch(arguments[0]), arguments[1:]
    if text is None:
        return (), arguments[0].startswith("Sort."), ()
    if _COLUMN.fullmatch(text[1]):
        return (Filter(text[1], "eq"),), True, ()
    if _STATEMENT.match(text[1]):
        query = parsed(text[1], values)
        return (query.filters, not query.narrowed, query.eager) if query is not None else ((), False, ())
    parts = _WHERE.split(text[1], maxsplit=1)
    condition = parts[-1] if len(parts) > 1 else "" if verb == "update" else text[1]
    return tuple(conditions_in(_ORDER.split(condition)[0], _NO_ALIAS, values)), True, ()


def _order(arguments: list[str]) -> tuple[str, ...]:
    found = (_ORDER.search(each) or _SORT.search(each) for each in arguments)
    return tuple(each[1] for each in found if each is not None)


def _limit(steps: tuple[Step, ...]) -> int:
    """The size of the page that the steps before the last one ask for: -1 where it is an expression."""
    asked = next((step for step in steps if step.name in _PAGES), None)
    size = asked.arguments.rpartition(",")[2].strip(" )") if asked is not None else ""
    return 0 if asked is None else int(size[:9]) if size.isdigit() else -1
