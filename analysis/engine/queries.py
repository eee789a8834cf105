"""Queries at their place: the table and volume that one touches, what narrows it, and what drives the loop around it.

Facts name models as the code does; here they meet the model index (rules.md 1.5.1 to 1.5.3). Only queries of
production files are known: tests, migrations and generated code have none.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import structs

from analysis.engine.facts import RELATED, FileFacts, Filter, Function, Loop, Query
from analysis.engine.model import Ladder, Severity, Volume
from analysis.engine.names import FLAG, SMALL, named_thing, runs_by_hand
from analysis.engine.schemas import KEYS, Schema
from analysis.engine.severity import LADDERS
from analysis.engine.volumes import UNDECLARED, larger

if TYPE_CHECKING:
    from analysis.engine.codebase import Codebase

LONGEST_ITERABLE = 8  # lines of an iterable in which its query may stand
FEW = 10  # rows or rounds that nobody needs to save
ANNOTATION = "query"  # rule of the marks in which `readers.query_text` notes what the text around a query says
READS = frozenset({"select", "count", "exists", "aggregate"})
WRITES = frozenset({"insert", "update", "delete"})
INSERTS = frozenset({"insert", "bulk_insert"})
NEEDED = frozenset({"knex"})  # libraries without which what looks like a query is none, see `Query.needs`

# ORMs without lazy row sets
LOADED_AT_ONCE = frozenset({"typeorm", "sequelize", "mongoose", "drizzle", "jpa", "gorm", "bun"})
_WITH_CLASSES = LOADED_AT_ONCE - {"drizzle"}
NOT_OF_MONGOOSE = frozenset({"findAll", "findByPk", "findAndCountAll", "findOrCreate", "bulkCreate", "destroy"})
OF_REPOSITORIES = frozenset(  # what Spring Data and Panache give to each of them
    """findAll findAllById findById getById getOne getReferenceById count existsById save saveAll saveAndFlush
    saveAllAndFlush delete deleteAll deleteById deleteAllById deleteAllInBatch deleteInBatch deleteAllByIdInBatch
    flush listAll streamAll findByIdOptional persist persistAndFlush""".split()
)
_OF_FEW = re.compile(r"(?i)^is_?(?:super_?user|staff|admin|default|primary)$")  # flags that few rows have
_PANACHE = re.compile(r"(?:^|\.)PanacheEntity(?:Base)?$")
_REPOSITORY = re.compile(r"(?:Repository|Repo|Dao|DAO)$")
_FIRST_NAME = re.compile(
    r"^\(?(?:await\s+)?(?:enumerate\(|list\(|sorted\(|reversed\(|tuple\(|set\()?([A-Za-z_$][\w$]*)"
)


@dataclass(frozen=True, slots=True)
class QuerySite:
    """One query of the project, where it stands."""

    path: str
    facts: FileFacts
    position: int  # in the file's queries
    query: Query
    schema: Schema | None  # None: the model is not in the index
    volume: Volume
    is_declared: bool  # the policy names the table's size
    notes: Mapping[str, str]  # what the text around it says, see `readers.query_text`

    @property
    def line(self) -> int:
        return self.query.line

    @property
    def function(self) -> Function:
        return self.facts.functions[self.query.function]

    @property
    def asks_by_value(self) -> bool:
        """Whether the caller says by a value which rows it wants."""
        return any(each.operator == "eq" and not each.constant for each in self.query.filters)

    @property
    def loop(self) -> Loop | None:
        return self.facts.loops[self.query.loop] if 0 <= self.query.loop < len(self.facts.loops) else None

    @property
    def model(self) -> str:
        """The name of the model; of an unknown one as the code names it."""
        return self.schema.name if self.schema is not None else self.query.model

    @property
    def table(self) -> str:
        """The table's name; empty when the model is unknown."""
        return self.schema.entry.table if self.schema else self.query.model if self.query.orm == "sql" else ""

    @property
    def label(self) -> str:
        """How a message calls what is queried."""
        return f"`{self.model or 'the database'}`"

    @property
    def looks_small(self) -> bool:
        """Whether the table is one of those that stay small by their nature, and nobody declared another size."""
        return not self.is_declared and SMALL.search(named_thing(self.model)) is not None

    @property
    def runs(self) -> bool:
        """Whether the chain reaches the database here."""
        return bool(self.query.terminal) or self.query.orm in ("prisma", "sql")

    @property
    def is_read(self) -> bool:
        return self.query.operation in READS

    @property
    def is_write(self) -> bool:
        return self.query.operation in WRITES

    @property
    def has_key(self) -> bool:
        """Whether a condition on a key leaves at most one row."""
        wanted = {each.column for each in self.query.filters if each.operator == "eq"}
        if any(self.schema.is_key(name) if self.schema else name in KEYS for name in wanted):
            return True
        return self.schema is not None and any(wanted.issuperset(columns) for columns in self.schema.unique)

    @property
    def leaves_few(self) -> bool:
        """Whether the conditions are those of a short span of time, or of what two others have in common: few rows, as
        far as nobody declares a size."""
        spans = Counter(each.column for each in self.query.filters if each.operator == "range")
        given = {each.column.partition(".")[0] for each in self.query.filters if each.operator == "eq"}
        relations = self.schema.relations if self.schema is not None else {}
        return not self.is_declared and (max(spans.values(), default=0) > 1 or len(given & relations.keys()) > 1)

    @property
    def is_limited(self) -> bool:
        """Whether the number of rows is fixed by a limit, a key or what is asked for (rules.md 1.5.3)."""
        query = self.query
        return (
            query.operation != "select"
            or query.limit != 0
            or "limited" in self.notes
            or self.has_key
            or any(each.operator == "in" for each in query.filters)
        )

    @property
    def may_be_loaded(self) -> bool:
        """Whether it asks for all rows of a relation, which whoever loaded their owner may have loaded as well."""
        query = self.query
        return "related" in self.notes and self.is_read and len(query.filters) == 1 and not (query.order or query.eager)

    @property
    def is_unreadable(self) -> bool:
        """Whether conditions or steps stand in the chain whose meaning is unknown."""
        of_adapter = self.query.raw and self.query.orm in LOADED_AT_ONCE
        return of_adapter or "opaque" in self.notes or "own" in self.notes

    @property
    def is_narrowed(self) -> bool:
        """Whether a condition other than on flags leaves part of the table only, or cannot be read."""
        return self.is_unreadable or any(self._narrows(each) for each in self.query.filters)

    def _narrows(self, condition: Filter) -> bool:
        if condition.operator in ("null", "other", "excluded"):
            return False
        if condition.operator in ("like", "contains"):
            return True
        name = condition.column.rpartition(".")[2]
        if condition.operator == "eq" and _OF_FEW.search(name):
            return True
        is_flag = FLAG.search(name) and not (self.schema is not None and self.schema.is_foreign_key(name))
        return not condition.constant and not is_flag


class Queries:
    """All queries of a codebase, by place."""

    def __init__(self, codebase: "Codebase") -> None:
        self._codebase = codebase
        self._called: set[tuple[str, str]] = set()  # declared queries that somebody calls: repository and method

    @cached_property
    def sites(self) -> tuple[QuerySite, ...]:
        """Every query, ordered by path and by its place in the file."""
        return tuple(sorted(self._sites(), key=lambda site: site.path))

    @cached_property
    def by_function(self) -> Mapping[tuple[str, int], tuple[QuerySite, ...]]:
        """The queries of each function, by path and position of the function."""
        found: dict[tuple[str, int], list[QuerySite]] = {}
        for site in self.sites:
            found.setdefault((site.path, site.query.function), []).append(site)
        return {key: tuple(sites) for key, sites in found.items()}

    @cached_property
    def libraries(self) -> frozenset[str]:
        """Those of `NEEDED` that a file of the project imports."""
        return frozenset(chain.from_iterable(self._codebase.summaries(_needed_libraries).values()))

    @cached_property
    def filled(self) -> frozenset[str]:
        """The names of models of which the program inserts many rows at once, or one in each round of a loop."""
        return frozenset(
            site.schema.name
            for site in self.sites
            if site.schema is not None
            and (site.query.operation == "bulk_insert" or (site.query.operation == "insert" and site.query.loop >= 0))
            and not runs_by_hand(self._codebase, site.path)
        )

    def volume_of(self, schema: Schema | None) -> Volume:
        """The declared size of a model's table."""
        return self._declared(schema) or UNDECLARED

    def driver(self, path: str, loop: Loop) -> QuerySite | None:
        """The query whose rows a loop goes through, when the function shows it."""
        sites = self.by_function.get((path, loop.function), ())
        if loop.kind == "callback":  # the rows come from the function around it
            around = self._codebase.files[path].functions[loop.function].parent
            sites = (*self.by_function.get((path, around), ()), *sites)
        for site in reversed(sites):
            if site.line > loop.line + loop.iterable.count("\n"):
                continue
            query = site.query
            named = _FIRST_NAME.match(loop.iterable)
            if query.operation != "select":
                continue
            if query.variable and named is not None and named[1] == query.variable:
                return site
            if f".{query.terminal}(" in loop.iterable and loop.line - site.line <= LONGEST_ITERABLE:
                return site
            if site.line >= loop.line and query.terminal in ("iter", "iterator", "list", "tuple", "sorted", "all"):
                return site
        return None

    def severity(self, volume: Volume | None, driver: QuerySite | None) -> Severity | None:
        """What the table that drives a loop asks for when it is larger than the one that is queried in it; None when
        it is not, and the finding's own table decides."""
        own = volume or UNDECLARED
        if driver is None or larger(own, driver.volume) is own:
            return None
        return LADDERS[Ladder.READ][driver.volume]

    def _declared(self, schema: Schema | None) -> Volume | None:
        return self._codebase.volumes.declared(schema.entry.table, schema.name) if schema is not None else None

    def _sites(self) -> Iterator[QuerySite]:
        for path, facts in self._codebase.sources:
            yield from self.sites_of(path, facts)
        yield from self._declared_only()

    def sites_of(self, path: str, facts: FileFacts) -> Iterator[QuerySite]:
        """The queries of one file, in the order of its facts; `sites` leaves those of migrations out."""
        if not facts.queries:
            return
        notes = {int(mark.data["query"]): mark.data for mark in facts.marks if mark.rule == ANNOTATION and mark.data}
        for position, query in enumerate(facts.queries):
            known = self._known(query, facts)
            if known is not None:
                said = notes.get(position, {})
                yield self._site(
                    path, facts, position, known, {**said, "related": "1"} if query.orm == RELATED else said
                )

    def _site(self, path: str, facts: FileFacts, position: int, query: Query, notes: Mapping[str, str]) -> QuerySite:
        schema = self._codebase.schemas.named(query.model)
        if schema is not None:
            schema = self._codebase.schemas.nearest(schema, path)
            query = _in_words_of(schema, query)
        declared = self._declared(schema)
        if schema is None and query.orm == "sql" and query.model:
            declared = self._codebase.volumes.declared(query.model)  # a table that no model or script describes
        return QuerySite(path, facts, position, query, schema, declared or UNDECLARED, declared is not None, notes)

    def _known(self, query: Query, facts: FileFacts) -> Query | None:
        """The query with what the model and its repository add to it; None for a call that is none after all."""
        if query.needs and query.needs not in self.libraries:
            return None
        if query.orm == RELATED:
            return self._of_relation(query, facts)
        if query.orm == "class":
            schema = self._codebase.schemas.named(query.model)
            orm = schema.entry.model.orm if schema is not None else ""
            is_own = orm == "mongoose" and query.terminal in NOT_OF_MONGOOSE  # a method that the model defines
            return structs.replace(query, orm=orm) if orm in _WITH_CLASSES and not is_own else None
        if query.orm == "drizzle":  # what a file imports may be no table
            schema = self._codebase.schemas.named(query.model)
            return query if schema is not None and schema.entry.model.orm == "drizzle" else None
        if query.orm == "panache":
            schema = self._codebase.schemas.named(query.model)
            return structs.replace(query, orm="jpa") if schema is not None and self._is_asked_itself(schema) else None
        if query.orm == "repository":  # a field of a type that may be one
            if query.model not in self._codebase.repositories:
                return None
            query = structs.replace(query, orm="jpa")
        access = self._codebase.repositories.get(query.model) if query.orm == "jpa" else None
        if access is None:
            return query if query.orm != "jpa" or not _REPOSITORY.search(query.model) else None
        declared = [each for each in access.queries if each.terminal == query.terminal]
        if declared:  # of two by the same name one takes a page
            self._called.add((access.name, query.terminal))
            return _as_declared(query, min(declared, key=lambda each: (each.limit == -1) != (query.limit == -1)))
        return query if query.terminal in OF_REPOSITORIES else None

    def _is_asked_itself(self, schema: Schema) -> bool:
        """Whether an entity of Java has the methods of Panache, by one of its bases."""
        lineage = self._codebase.schemas.lineage(schema.entry.model)
        return any(_PANACHE.search(base) is not None for model in lineage for base in model.bases)

    def _of_relation(self, query: Query, facts: FileFacts) -> Query | None:
        """The query of a relation's manager: of the rows that point to its owner. Reads in loops are none of their own,
        `perf-n-plus-one-relation` tells of them."""
        receiver, _, relation = query.model.rpartition(".")
        owner = facts.functions[query.function].owner if receiver == "self" else receiver.rpartition(".")[2]
        schema = self._codebase.schemas.related_by(relation, owner)
        key = schema.key_behind(relation) if schema is not None and schema.entry.model.orm == "django" else ""
        if schema is None or not key or (query.loop >= 0 and query.operation in READS):
            return None
        return structs.replace(query, orm="django", model=schema.name, filters=(Filter(key, "eq"), *query.filters))

    def _declared_only(self) -> Iterator[QuerySite]:
        """Queries of repositories that no call was seen for: they stand where they are declared, and do not run."""
        for path, facts in self._codebase.sources:
            for access in facts.accesses:
                for query in access.queries:
                    if (access.name, query.terminal) not in self._called:
                        lazy = structs.replace(query, terminal="", model=access.name)
                        yield self._site(path, facts, -1, lazy, {"declared": "1"})


def _needed_libraries(facts: FileFacts) -> frozenset[str]:
    return NEEDED.intersection(each.target for each in facts.imports)


def _in_words_of(schema: Schema, query: Query) -> Query:
    """A query written as SQL, also one that a repository of Java declares, with the names that the model gives its
    columns."""
    if query.orm not in ("sql", "jpa") or schema.entry.model.orm == "ddl":
        return query
    filters = tuple(structs.replace(each, column=schema.attribute_of(each.column)) for each in query.filters)
    return structs.replace(query, filters=filters, order=tuple(map(schema.attribute_of, query.order)))


def _as_declared(call: Query, declared: Query) -> Query:
    """A call of a repository's method as the query that the repository declares for it."""
    return structs.replace(
        call,
        operation=declared.operation,
        filters=declared.filters,
        order=declared.order,
        limit=declared.limit or call.limit,
        eager=declared.eager,
        columns=declared.columns,
        lock=declared.lock,
        streaming=declared.streaming,
        raw=declared.raw,
    )
