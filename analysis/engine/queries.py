"""Queries at their place: the table and volume that one touches, what narrows it, and what drives the loop around it.

Facts name models as the code does; here they meet the model index (rules.md 1.5.1 to 1.5.3). Only queries of
production files are known: tests, migrations and generated code have none.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import structs

from analysis.engine.facts import Access, Column, FileFacts, Filter, Function, Loop, Model, Query, Relation
from analysis.engine.languages import FileKind
from analysis.engine.model import Ladder, Severity, Volume
from analysis.engine.models import IndexedModel
from analysis.engine.severity import LADDERS
from analysis.engine.volumes import UNDECLARED, larger

if TYPE_CHECKING:
    from analysis.engine.codebase import Codebase

LONGEST_ITERABLE = 8  # lines of an iterable in which its query may stand
FEW = 10  # rows or rounds that nobody needs to save
ANNOTATION = "query"  # rule of the marks in which `rules.query_text` notes what the text around a query says
READS = frozenset({"select", "count", "exists", "aggregate"})
WRITES = frozenset({"insert", "update", "delete"})

LOADED_AT_ONCE = frozenset({"typeorm", "sequelize", "mongoose", "jpa", "gorm"})  # ORMs without lazy row sets
NOT_OF_MONGOOSE = frozenset({"findAll", "findByPk", "findAndCountAll", "findOrCreate", "bulkCreate", "destroy"})
OF_REPOSITORIES = frozenset(  # what Spring Data gives to each of them
    """findAll findAllById findById getById getOne getReferenceById count existsById save saveAll saveAndFlush
    saveAllAndFlush delete deleteAll deleteById deleteAllById deleteAllInBatch deleteInBatch deleteAllByIdInBatch
    flush""".split()
)
_KEYS = frozenset({"pk", "id", "uuid", "guid", "_id"})
FLAG = re.compile(
    r"^(is|has|was|can|should)_|^(is|has)[A-Z]|(?i:status|state$|active|enabled|disabled|deleted|archived|published(?!_?(?:at|on|date)$)"
    r"|visible|kind$|type$|removed|hidden|internal)"
)
SMALL = re.compile(
    r"(?i)^tax\w*$|^os$|^settings?_?items?$|(settings?|preference|metadata|dataset|facilit(y|ies)|config(uration)?|channel|country|countr(y|ies)|currency|types?|categor(y|ies)|role|permission|language"
    r"|locale|template|plugin|features?|flags?|zone|warehouse|plan|tier|timezone|status"
    r"|provider(?:_?detail)?|integration|theme|site|menu|region|unit|platform|property|properties|location|administrator|seller|store|backend"
    r"|privileges?|right|severity|severities|priority|priorities|badge|group|queue|fields?|service|scheduler|cron|(?:periodic|scheduled)_?task|suggestion"
    r"|dictionary|dictionaries|dict|reason|calendar|election|slider|banner|forum|plugins?_?registry|department|column|scale|genre|level|rank|grade|kind|option|connector|state|stage)s?$"
)
MADE_UP = re.compile(
    r"(^|/)(?<!com/)(?<!org/)(?<!net/)(?<!/example/)(seeds?|seeders?|fixtures?|demo|examples?|samples?|migrations?)(/|[-_.])"
    r"|(?:random|dummy|fake|_seed)_data|[\w-]\.seeds?\.[jt]s$|(^|/)(?:factories|populate)\.py$"
    r"|/commands/(?:generate|populate|seed|fill)_\w+\.py$"
)
_COMMANDS = re.compile(
    r"(^|/)(?:[\w-]+[-_])?cli(?:/|\.(?:py|[cm]?[jt]s|go)$)"
    r"|(^|/)(?:[\w-]*[-_])?migrat(?:e|or|ions?)(?:[-_][\w-]*)?\.(?:py|[cm]?[jt]s|go)$|Migrat(?:or|ion)\.java$"
)
_OF_FEW = re.compile(r"(?i)^is_?(?:super_?user|staff|admin|default|primary)$")  # flags that few rows have
_SORT = re.compile(r"(?<=[a-z])(?:Entity|Model|DO|PO|Record)$")
_REPOSITORY = re.compile(r"(?:Repository|Repo|Dao|DAO)$")
_FIRST_NAME = re.compile(
    r"^\(?(?:await\s+)?(?:enumerate\(|list\(|sorted\(|reversed\(|tuple\(|set\()?([A-Za-z_$][\w$]*)"
)


def named_thing(model: str) -> str:
    """What the rows of a model stand for: categories for `CategoryEntity`."""
    return _SORT.sub("", model)


@dataclass(frozen=True, slots=True)
class Schema:
    """A model with all that it inherits: columns and relations by name, and the columns that lead an index."""

    entry: IndexedModel
    columns: Mapping[str, Column]
    relations: Mapping[str, Relation]
    leading: frozenset[str]
    unique: frozenset[tuple[str, ...]]
    searchable: frozenset[str]  # columns with a trigram, full-text or functional index

    @property
    def name(self) -> str:
        return self.entry.model.name

    def is_key(self, column: str) -> bool:
        """Whether an equality on this column leaves at most one row."""
        found = self.columns.get(column)
        return column in _KEYS or (found is not None and (found.unique or found.primary_key))

    def is_indexed(self, column: str) -> bool:
        """Whether an index begins with this column."""
        found = self.columns.get(column.removesuffix("_id")) or self.columns.get(column)
        return column in _KEYS or column in self.leading or (found is not None and found.indexed)

    def is_foreign_key(self, column: str) -> bool:
        """Whether the column points to a row of another table."""
        relation = self.relations.get(column.removesuffix("_id").removesuffix("Id")) or self.relations.get(column)
        return relation is not None and relation.kind == "to_one"

    def finds_few(self, column: str) -> bool:
        """Whether a condition on the column finds few rows through an index, here or in a related table. Foreign keys
        count as indexed, as most databases have them, but not in MongoDB."""
        if "." in column and column not in self.columns:
            return True
        return self.is_indexed(column) or (self.entry.model.orm != "mongoose" and self.is_foreign_key(column))


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
    notes: Mapping[str, str]  # what the text around it says, see `rules.query_text`

    @property
    def line(self) -> int:
        return self.query.line

    @property
    def function(self) -> Function:
        return self.facts.functions[self.query.function]

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
        if any(self.schema.is_key(name) if self.schema else name in _KEYS for name in wanted):
            return True
        return self.schema is not None and any(wanted.issuperset(columns) for columns in self.schema.unique)

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
        self._schemas: dict[str, Schema | None] = {}
        self._near: dict[int, Schema] = {}  # by the identity of the model
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
    def filled(self) -> frozenset[str]:
        """The names of models of which the program inserts many rows at once, or one in each round of a loop."""
        return frozenset(
            site.schema.name
            for site in self.sites
            if site.schema is not None
            and (site.query.operation == "bulk_insert" or (site.query.operation == "insert" and site.query.loop >= 0))
            and not runs_by_hand(self._codebase, site.path)
        )

    def schema(self, name: str) -> Schema | None:
        """The model of this name, as a class, as a client property (`prisma.order`) or as a repository of it, with what
        it inherits."""
        asked = name
        if name not in self._schemas:
            access = self._accesses.get(name)
            name = access.model if access is not None and access.model != name else name
            last = name.rpartition(".")[2]
            entry = self._named.get(last) or self._named.get(last[:1].upper() + last[1:])
            entry = entry or (self._codebase.models.of_table(name) if name else None)
            self._schemas[asked] = self._full(entry) if entry is not None else None
        return self._schemas[asked]

    def lineage(self, model: Model) -> Iterator[Model]:
        """The model and its bases, each once."""
        pending, seen = [model], {model.name}
        while pending:
            each = pending.pop(0)
            yield each
            for base in each.bases:
                found = self._any_model.get(base.rpartition(".")[2])
                if found is not None and found.name not in seen:
                    seen.add(found.name)
                    pending.append(found)

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

    def related_by(self, name: str, receiver: str) -> Schema | None:
        """The model behind a relation to many: of the model that the receiver is named after (`order.lines`), else of
        any model; None when models disagree about it."""
        owner = self.schema(receiver.title().replace("_", "") if receiver.islower() else receiver)
        found = owner.relations.get(name) if owner is not None else None
        if found is not None and found.kind == "to_many":
            return self.schema(found.target)
        targets = self._targets.get(name, frozenset())
        return self.schema(next(iter(targets))) if len(targets) == 1 and owner is None else None

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
            if not facts.queries:
                continue
            notes = {
                int(mark.data["query"]): mark.data for mark in facts.marks if mark.rule == ANNOTATION and mark.data
            }
            for position, query in enumerate(facts.queries):
                known = self._known(query)
                if known is not None:
                    yield self._site(path, facts, position, known, notes.get(position, {}))
        yield from self._declared_only()

    def _site(self, path: str, facts: FileFacts, position: int, query: Query, notes: Mapping[str, str]) -> QuerySite:
        schema = self._nearest(self.schema(query.model), path)
        declared = self._declared(schema)
        if schema is None and query.orm == "sql" and query.model:
            declared = self._codebase.volumes.declared(query.model)  # a table that no model or script describes
        return QuerySite(path, facts, position, query, schema, declared or UNDECLARED, declared is not None, notes)

    def _nearest(self, schema: Schema | None, path: str) -> Schema | None:
        """The schema as this file means it where several services have a model of its name."""
        if schema is None:
            return None
        entry = self._codebase.models.nearest(schema.entry, path)
        if entry is schema.entry:
            return schema
        known = self._near.get(id(entry))
        if known is None:
            known = self._near[id(entry)] = self._full(entry)
        return known

    def _known(self, query: Query) -> Query | None:
        """The query with what the model and its repository add to it; None for a call that is none after all."""
        if query.orm == "class":
            schema = self.schema(query.model)
            orm = schema.entry.model.orm if schema is not None else ""
            is_own = orm == "mongoose" and query.terminal in NOT_OF_MONGOOSE  # a method that the model defines
            return structs.replace(query, orm=orm) if orm in LOADED_AT_ONCE and not is_own else None
        access = self._accesses.get(query.model) if query.orm == "jpa" else None
        if access is None:
            return query if query.orm != "jpa" or not _REPOSITORY.search(query.model) else None
        for each in access.queries:
            if each.terminal == query.terminal:
                self._called.add((access.name, each.terminal))
                return _as_declared(query, each)
        return query if query.terminal in OF_REPOSITORIES else None

    def _declared_only(self) -> Iterator[QuerySite]:
        """Queries of repositories that no call was seen for: they stand where they are declared, and do not run."""
        for path, facts in self._codebase.sources:
            for access in facts.accesses:
                for query in access.queries:
                    if (access.name, query.terminal) not in self._called:
                        lazy = structs.replace(query, terminal="", model=access.name)
                        yield self._site(path, facts, -1, lazy, {"declared": "1"})

    def _full(self, entry: IndexedModel) -> Schema:
        columns: dict[str, Column] = {}
        relations: dict[str, Relation] = {}
        indexes: list[tuple[str, ...]] = []
        searchable: set[str] = set()
        parts = self._parts.get(entry.model.name, ())
        for model in (*self.lineage(entry.model), *parts, *self._tables.get(entry.table.lower(), ())):
            if model.orm == "ddl" and entry.model.orm != "ddl":
                model = _in_words_of(columns, model)
            columns.update((each.name, each) for each in model.columns if each.name not in columns)
            is_script = model.orm == "ddl" and entry.model.orm != "ddl"  # its keys are columns of the class
            known = columns if is_script else relations
            relations.update((each.name, each) for each in model.relations if each.kind and each.name not in known)
            indexes += model.indexes
            searchable.update(model.searchable)
        for name, relation in self._reverse.get(entry.model.name, {}).items():
            relations.setdefault(name, relation)
        unique = frozenset(each for each in indexes if len(each) > 1)
        leading = frozenset(each[0] for each in indexes)
        return Schema(entry, columns, relations, leading, unique, frozenset(searchable))

    @cached_property
    def _named(self) -> Mapping[str, IndexedModel]:
        """Models by name; a class or a schema before the table that a migration makes for it."""
        found: dict[str, IndexedModel] = {}
        for entry in sorted(self._codebase.models.all, key=lambda each: each.model.orm == "ddl"):
            found.setdefault(entry.model.name, entry)
        return found

    @cached_property
    def _tables(self) -> Mapping[str, list[Model]]:
        """What SQL files say of each table: its columns, and the indexes that migrations add."""
        found: dict[str, list[Model]] = {}
        for entry in self._codebase.models.all:
            if entry.model.orm == "ddl":
                found.setdefault(entry.table.lower(), []).append(entry.model)
        return found

    @cached_property
    def _parts(self) -> Mapping[str, list[Model]]:
        """What other places add to a model: associations and indexes, by the model's name."""
        found: dict[str, list[Model]] = {}
        for facts in self._codebase.files.values():
            for model in facts.models:
                if model.abstract and not model.columns:
                    found.setdefault(model.name, []).append(model)
        return found

    @cached_property
    def _accesses(self) -> Mapping[str, Access]:
        """Repositories by their name."""
        found: dict[str, Access] = {}
        for _, facts in self._codebase.sources:
            for access in facts.accesses:
                found.setdefault(access.name, access)
        return found

    @cached_property
    def _any_model(self) -> Mapping[str, Model]:
        """Models by name, abstract ones too."""
        found: dict[str, Model] = {}
        for facts in self._codebase.files.values():
            for model in facts.models:
                if model.columns or not model.abstract:
                    found.setdefault(model.name, model)
        return found

    @cached_property
    def _targets(self) -> Mapping[str, frozenset[str]]:
        """Per name of a relation to many the models that it leads to."""
        found: dict[str, set[str]] = {}
        declared = [{each.name: each for each in entry.model.relations} for entry in self._codebase.models.all]
        for relations in (*self._reverse.values(), *declared):
            for name, each in relations.items():
                if each.kind == "to_many":
                    found.setdefault(name, set()).add(each.target)
        return {name: frozenset(targets) for name, targets in found.items()}

    @cached_property
    def _reverse(self) -> Mapping[str, Mapping[str, Relation]]:
        """Per model the relations that others declare to it, under the name that they give it."""
        found: dict[str, dict[str, Relation]] = {}
        for entry in self._codebase.models.all:
            model = entry.model
            if model.orm != "django":
                continue
            unique = {column.name for column in model.columns if column.unique}
            for each in model.relations:
                name = each.reverse or (model.name.lower() if each.name in unique else f"{model.name.lower()}_set")
                kind = "to_one" if each.name in unique else "to_many"
                if not name.endswith("+"):
                    found.setdefault(each.target, {})[name] = Relation(name, kind, model.name, each.name)
        return found


def _in_words_of(columns: Mapping[str, Column], table: Model) -> Model:
    """A table whose columns and indexes have the names that the model gives them: `AppId` is `appId`."""
    known = {_folded(name): name for name in columns}
    alone = tuple(
        (known.get(_folded(each.name), each.name),) for each in table.columns if each.indexed or each.primary_key
    )
    named = tuple(tuple(known.get(_folded(name), name) for name in each) for each in table.indexes)
    searchable = tuple(known.get(_folded(name), name) for name in table.searchable)
    return structs.replace(table, indexes=(*named, *alone), searchable=searchable)


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


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


def runs_by_hand(codebase: "Codebase", path: str) -> bool:
    """Whether a file is a command, a script, or fills a database with made-up rows."""
    is_by_hand = MADE_UP.search(path) is not None or _COMMANDS.search(path) is not None
    return is_by_hand or codebase.kind(path) is FileKind.SCRIPT
