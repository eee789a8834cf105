"""JPA and Spring Data: entities, repositories, calls of repositories and of the entity manager."""

import re
from collections.abc import Iterator

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.orm.chains import query_at
from analysis.engine.extract.orm.derived import derived
from analysis.engine.extract.orm.entities import annotations_of
from analysis.engine.extract.orm.jpql import parsed
from analysis.engine.extract.orm.sql import filters_of
from analysis.engine.extract.orm.steps import (
    Step,
    assigned_to,
    parts_of,
    split,
    statements_on,
    steps_after,
    text_of_callee,
)
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Access, Filter, Mark, Query

_TYPED = re.compile(rb"\b([A-Z]\w*(?:Repository|Repo|Dao|DAO))\b(?:<[^<>;]*>)?\s+(\w+)\s*[;,)=]")
_FIELD = re.compile(  # of a class that Spring makes: what it is given may be a repository of any name
    rb"^[ \t]+(?:@\w+(?:\([^()\n]*\))?[ \t]+)*(?:(?:private|protected|public|final)[ \t]+)*([A-Z]\w*)[ \t]+([a-z]\w*);",
    re.MULTILINE,
)
_ASKS = (
    r"(?:find|read|query|search|stream|count|exists|delete|remove|save|flush|list|load|fetch|with)\w*"
    r"|get\w*By\w+|getOne"
)
_SPRING = (b"org.springframework.", b"jakarta.inject", b"javax.inject")
_INTERFACE = re.compile(r"\bextends\b[^{]*?\b\w*(?:Repository|Dao|DAO)\s*<\s*(?:\w+\.)*(\w+)")
_STANDARD = {
    **dict.fromkeys(("findAll", "findAllById", "findById", "getById", "getOne", "getReferenceById"), "select"),
    "count": "count",
    "existsById": "exists",
    **dict.fromkeys(("save", "saveAndFlush"), "update"),
    **dict.fromkeys(("saveAll", "saveAllAndFlush"), "bulk_insert"),
    **dict.fromkeys(
        "delete deleteAll deleteById deleteAllById deleteAllInBatch deleteInBatch deleteAllByIdInBatch".split(),
        "delete",
    ),
    "flush": "commit",
    **dict.fromkeys(("listAll", "streamAll", "findByIdOptional"), "select"),  # of Panache
    **dict.fromkeys(("persist", "persistAndFlush"), "insert"),
}
_BY_ID = frozenset(
    {"findById", "findByIdOptional", "getById", "getOne", "getReferenceById", "existsById", "deleteById"}
)
_ALL_BY_ID = frozenset({"findAllById", "deleteAllById", "deleteAllByIdInBatch"})
_BULK_DELETES = frozenset({"deleteAll", "deleteAllById", "deleteAllInBatch", "deleteInBatch", "deleteAllByIdInBatch"})
_PAGES = re.compile(r"(?i)\bpage|PageRequest|Pageable|Limit\.of|\blimit\b")
_FIRST_PAGE = re.compile(r"\bof\(\s*0\s*,|Limit\.|ofSize\(|(?i:limit)")
_SORTS = re.compile(r"^(?:Sort\b|\w*[sS]ort\w*$)")
_COUNTING = {"size": "len", "isEmpty": "bool"}
_LISTS = re.compile(
    r"^(?:java\.util\.)?(?:List|Set|Collection|Iterable|Streamable|Map|SortedSet|LinkedHashSet)\b|\[\]$"
)
_PAGED = re.compile(r"^(?:Page|Slice|Window|Scroll)\w*\b")
_LITERALS = re.compile(r"\"\"\"(.*?)\"\"\"|\"((?:\\.|[^\"\\])*)\"", re.DOTALL)
_VALUE = re.compile(r"^\(\s*(?:value\s*=\s*)?(.*)\)$", re.DOTALL)
_ENTITY_MANAGER = re.compile(rb"(?<!\w)EntityManager(?:Factory)?\b")
_MANAGER = re.compile(r"(?i)(?:^|\.)(?:em|\w*entityManager(?:\(\))?|\w*session(?:\(\))?|getEm\(\))$")
_SINGLE = frozenset({"getSingleResult", "uniqueResult", "uniqueResultOptional", "getSingleResultOrNull"})
_RUNS = frozenset({"getResultList", "getResultStream", "executeUpdate", "list", "stream"}) | _SINGLE
_ENTITY_WRITES = {"persist": "insert", "merge": "update", "remove": "delete", "saveOrUpdate": "update"}
_STATELESS_WRITES = {"insert": "insert", "update": "update", "delete": "delete", "upsert": "update"}  # of Hibernate
_BUILT = re.compile(r"\b(\w+)\.toString\(\)")
_CLASS = re.compile(r"\b([A-Z]\w*)\.class\b")


def read(file: SourceFile) -> None:
    """Calls on repositories: fields, parameters and variables whose declared type is one. They have any name, so the
    text is searched for them, not the calls."""
    if file.language != "java":
        return
    types = declared_types(file)
    _read_calls(types, r"\w+", "jpa", file)
    if any(map(file.mentions, _SPRING)):
        fields = {name.decode(): kind.decode() for kind, name in _FIELD.findall(file.source)}
        _read_calls({name: fields[name] for name in fields.keys() - types.keys()}, _ASKS, "repository", file)


def declared_types(file: SourceFile) -> dict[str, str]:
    """The names of a file that are declared as repositories, each with its type."""
    if not any(map(file.mentions, (b"Repository", b"Repo ", b"Dao", b"DAO"))):
        return {}
    return {name.decode(): kind.decode() for kind, name in _TYPED.findall(file.source)}


def _read_calls(types: dict[str, str], methods: str, orm: str, file: SourceFile) -> None:
    """Calls of these methods on names of these types; `orm` is `repository` where only the type tells what it is."""
    if not types:
        return
    names = "|".join(re.escape(name) for name in sorted(types))
    root = file.tree.root_node
    calls = rf"(?<![\w.])(?:this\s*\.\s*)?({names})\s*\.\s*({methods})\s*\(".encode()
    for match in re.finditer(calls, file.source):
        node = root.descendant_for_byte_range(match.start(), match.end())
        if node is not None and node.type == "method_invocation" and not file.scope_of(node).broken:
            file.queries.append(query_of(node, types[match[1].decode()], match[2].decode(), orm, file))


def query_of(call: Node, kind: str, method: str, orm: str, file: SourceFile) -> Query:
    """What a repository of this type is asked by its method; `call` may also be what names the method."""
    arguments = [file.text(each) for each in file.arguments(call)[0]]
    shape = derived(method)
    operation = _STANDARD.get(method) or (shape.operation if shape is not None else "select")
    filters = shape.filters if shape is not None and method not in _STANDARD else ()
    if method in _BY_ID or method in _ALL_BY_ID:
        filters = (Filter("id", "in" if method in _ALL_BY_ID else "eq"),)
    if method == "save" and arguments and re.search(r"[a-rt-z]s$|List$", arguments[0]):
        operation = "bulk_insert"  # older versions save collections by `save`
    limit = shape.limit if shape is not None else 0
    if any(_PAGES.search(each) for each in arguments):
        limit = -1
    if method in _BY_ID:
        limit = 1
    steps = steps_after(call.end_byte, file)
    is_opaque = method == "findAll" and any(not _PAGES.search(each) and not _SORTS.match(each) for each in arguments)
    return query_at(
        call,
        file,
        orm=orm,
        model=kind,
        operation=operation,
        terminal=method,
        filters=filters,
        order=shape.order if shape is not None else (),
        limit=limit,
        offset=-1 if any(_PAGES.search(each) and not _FIRST_PAGE.search(each) for each in arguments) else 0,
        streaming=method.startswith("stream"),
        variable="" if steps else assigned_to(call.start_byte, file),
        raw=is_opaque,
        counted=counted(steps) if operation == "select" else "",
    )


# The entity manager


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`em.createQuery("…").setMaxResults(10).getResultList()`, also with the query in a variable."""
    if not file.mentions(b"createQuery") and not file.mentions(b"createNamedQuery"):
        return iter(())
    written = split(file.text(call))
    steps = written.steps
    if written.base.isidentifier() and all(step.name != "createQuery" for step in steps):
        before = [split(text) for text in statements_on(written.base, call, file)]
        steps = (*(step for each in before for step in each.steps), *steps)
    made = next((step for step in reversed(steps) if step.name == "createQuery"), None)
    if made is None or not _RUNS.isdisjoint(step.name for step in steps[:-1]):
        return iter(())  # what ran already gives a list, which has a `stream()` of its own
    parts = parts_of(made.arguments)
    query = parsed(_text_of(parts[0], call, file), _values_in(steps)) if parts else None
    if query is None:
        return iter(())
    terminal = steps[-1].name
    limits = [step.arguments.strip() for step in steps if step.name == "setMaxResults"]
    offsets = [step.arguments.strip() for step in steps if step.name == "setFirstResult"]
    after = steps_after(call.end_byte, file)
    file.queries.append(
        query_at(
            call,
            file,
            orm="jpa",
            model=query.model,
            operation=query.operation,
            terminal=terminal,
            filters=query.filters,
            order=query.order,
            limit=1 if terminal in _SINGLE else _number(limits),
            offset=_number(offsets),
            eager=query.eager,
            streaming=terminal in ("getResultStream", "stream"),
            variable="" if after else assigned_to(call.start_byte, file),
            raw=query.narrowed or (not query.filters and ":" in made.arguments),
            counted=counted(after),
        )
    )
    return iter(())


def _values_in(steps: tuple[Step, ...]) -> list[str]:
    """What `setParameter("name", value)` binds, each with the name or the number before it."""
    bound = (parts_of(step.arguments) for step in steps if step.name == "setParameter")
    return [": ".join((each[0].strip('"'), each[1])) for each in bound if len(each) > 1]


def counted(steps: tuple[Step, ...]) -> str:
    """`len` or `bool` when that is all that is asked of the rows: `.size()`, `.stream().count()`."""
    if [step.name for step in steps[:2]] == ["stream", "count"]:
        return "len"
    return _COUNTING.get(steps[0].name, "") if steps else ""


def look_at_entity(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`em.find(Order.class, id)`, `em.persist(order)`."""
    written = "".join(text_of_callee(call, file).split())
    receiver, _, verb = written.rpartition(".")
    if not _MANAGER.search(receiver) or not _knows_entities(file):
        return iter(())
    arguments = [file.text(each) for each in file.arguments(call)[0]]
    named = _CLASS.search(arguments[0]) if arguments else None
    is_stateless = file.mentions(b"StatelessSession")
    if verb in _STATELESS_WRITES and not is_stateless:
        return iter(())
    writes = _ENTITY_WRITES | _STATELESS_WRITES if is_stateless else _ENTITY_WRITES
    if (verb in writes and (len(arguments) == 1 or verb == "saveOrUpdate")) or (verb == "flush" and not arguments):
        operation = writes.get(verb, "commit")
        file.queries.append(query_at(call, file, orm="jpa", model="", operation=operation, terminal=verb))
    elif named is not None:
        variable = assigned_to(call.start_byte, file)
        file.queries.append(
            query_at(
                call,
                file,
                orm="jpa",
                model=named[1],
                operation="select",
                terminal=verb,
                filters=(Filter("id", "eq"),),
                limit=1,
                variable=variable,
            )
        )
    return iter(())


def _knows_entities(file: SourceFile) -> bool:
    """Whether the file works with JPA or Hibernate, and not with managers of its own: `UserEntityManager`."""
    if file.mentions(b"hibernate"):
        return True
    return file.mentions(b"EntityManager") and _ENTITY_MANAGER.search(file.source) is not None


READERS = {
    **dict.fromkeys(_RUNS, look),
    **dict.fromkeys(
        ("find", "getReference", "get", "load", "flush", *_ENTITY_WRITES, *_STATELESS_WRITES), look_at_entity
    ),
}


def _number(texts: list[str]) -> int:
    return (int(texts[-1][:9]) if texts[-1].isdigit() else -1) if texts else 0


def _text_of(argument: str, call: Node, file: SourceFile) -> str:
    """The text of a query: literals, joined, or those that the function puts into a variable."""
    if '"' not in argument:
        function = file.enclosing_function(call)
        if function is None:
            return ""
        before = file.source[function.start_byte : call.start_byte].decode("utf-8", "replace")
        argument = _put_into(argument, before)
        if '"' not in argument and (builder := _BUILT.search(argument)) is not None:
            argument = _put_into(builder[1], before)
    return " ".join((one or other) for one, other in _LITERALS.findall(argument))


def _put_into(variable: str, before: str) -> str:
    """What a text before gives to a variable, or adds to it."""
    name = re.match(r"\w+", variable)
    if name is None:
        return ""
    parts = rf"(?:\b{name[0]}\s*\+?=(?!=)|\b{name[0]}\s*\.append\()((?:[^;\"]|\"(?:\\.|[^\"\\])*\")*)"
    return " ".join(re.findall(parts, before))


# Repositories


def accesses(file: SourceFile) -> Iterator[Access]:
    """Interfaces of Spring Data, with the queries that their methods declare."""
    if not (file.mentions(b"Repository<") or file.mentions(b"Repository <")):
        return
    for scope in file.scopes:
        if scope.kind != "class" or scope.node.type != "interface_declaration":
            continue
        body = scope.node.child_by_field_name("body")
        if body is None:
            continue
        header = file.source[scope.start : body.start_byte].decode("utf-8", "replace")
        extended = _INTERFACE.search(header)
        if extended is not None:
            methods = (each for each in body.named_children if each.type == "method_declaration")
            declared = (_declared(each, extended[1], file) for each in methods)
            found = tuple(each for each in declared if each is not None)
            yield Access(scope.prefix.rstrip("."), extended[1], file.line(scope.node), found)


def _declared(method: Node, model: str, file: SourceFile) -> Query | None:
    name_node, kind_node = method.child_by_field_name("name"), method.child_by_field_name("type")
    if name_node is None or kind_node is None or method.child_by_field_name("body") is not None:
        return None
    name, kind = file.text(name_node), file.text(kind_node)
    above = annotations_of(method, file)
    listed = method.child_by_field_name("parameters")
    is_paged = _PAGED.match(kind) or (listed is not None and re.search(r"\b(?:Pageable|Limit)\b", file.text(listed)))
    query = (
        _annotated(method, name, model, above["Query"], file)
        if "Query" in above
        else _derived(method, name, model, file)
    )
    if query is None:
        return None
    limit = query.limit
    if is_paged:
        limit = -1
    elif not _LISTS.search(kind) and not kind.startswith("Stream") and query.operation == "select":
        limit = 1
    graph = _LITERALS.findall(above.get("EntityGraph", ""))
    return structs.replace(
        query,
        line=file.line(name_node),
        function=file.function_of(method),
        limit=limit,
        eager=(*query.eager, *(one or other for one, other in graph)),
        streaming=kind.startswith("Stream"),
        lock="Lock" in above,
    )


def _annotated(method: Node, name: str, model: str, annotation: str, file: SourceFile) -> Query | None:
    text = " ".join((one or other) for one, other in _LITERALS.findall(_query_text(annotation)))
    query = parsed(text)
    if query is None or "nativeQuery" in annotation:
        return query_at(
            method,
            file,
            orm="jpa",
            model=model,
            operation=_verb(text),
            terminal=name,
            filters=filters_of(text) if "nativeQuery" in annotation else (),
            order=query.order if query is not None else (),
            raw=True,
        )
    return query_at(
        method,
        file,
        orm="jpa",
        model=model,
        operation=query.operation,
        terminal=name,
        filters=query.filters,
        order=query.order,
        eager=query.eager,
        raw=query.narrowed,
    )


def _query_text(annotation: str) -> str:
    """The query of `@Query(value = "…", countQuery = "…")`."""
    inner = annotation.partition("(")[2]
    for part in parts_of(inner.rstrip(")")):
        key, sign, value = part.partition("=")
        if not sign or '"' in key:
            return part
        if key.strip() == "value":
            return value
    return ""


def _verb(text: str) -> str:
    word = text.split(maxsplit=1)[:1]
    return {"update": "update", "delete": "delete", "insert": "insert"}.get(word[0].lower() if word else "", "select")


def _derived(method: Node, name: str, model: str, file: SourceFile) -> Query | None:
    shape = derived(name)
    if shape is None:
        return None
    return query_at(
        method,
        file,
        orm="jpa",
        model=model,
        operation=shape.operation,
        terminal=name,
        filters=shape.filters,
        order=shape.order,
        limit=shape.limit,
    )
