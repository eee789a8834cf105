"""Models with all that they inherit, and what other places add: parts of a class, migrations, reverse relations."""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from msgspec import structs

from analysis.engine.facts import COMPUTED, Access, Column, FileFacts, Model, Relation
from analysis.engine.models import IndexedModel, ModelIndex

KEYS = frozenset({"pk", "id", "uuid", "guid", "_id"})
_KEY_OF_RELATION = re.compile(r"(?:_id|Id|\.(?:id|pk))$")


@dataclass(frozen=True, slots=True)
class Schema:
    """A model with all that it inherits: columns and relations by name, and the columns that lead an index."""

    entry: IndexedModel
    columns: Mapping[str, Column]
    relations: Mapping[str, Relation]
    leading: frozenset[str]
    unique: frozenset[tuple[str, ...]]
    searchable: frozenset[str]  # columns with an index that is no plain one, see `Model.searchable`

    @property
    def name(self) -> str:
        return self.entry.model.name

    def attribute_of(self, column: str) -> str:
        """How the model calls a column that SQL names: `originPort` for `origin_port`."""
        if column in self.columns:
            return column
        folded = _folded(column)
        named = (name for name, each in self.columns.items() if folded in (_folded(name), _folded(each.stored or name)))
        return next(named, column)

    def is_key(self, column: str) -> bool:
        """Whether an equality on this column leaves at most one row."""
        found = self.columns.get(column)
        if column in KEYS or (found is not None and (found.unique or found.primary_key)):
            return True
        relation = self.relations.get(_KEY_OF_RELATION.sub("", column))
        return relation is not None and relation.one_to_one

    def is_indexed(self, column: str) -> bool:
        """Whether an index begins with this column."""
        found = self.columns.get(column.removesuffix("_id")) or self.columns.get(column)
        return column in KEYS or column in self.leading or (found is not None and found.indexed)

    def finds_inside(self, column: str) -> bool:
        """Whether a trigram or full-text index finds what stands inside of the column's text."""
        return column in self.searchable

    def finds_computed(self, column: str) -> bool:
        """Whether an index is on what a function makes of the column."""
        return column in self.searchable or column + COMPUTED in self.searchable

    def is_foreign_key(self, column: str) -> bool:
        """Whether the column points to a row of another table."""
        return self.parent(column) is not None

    def parent(self, column: str) -> str | None:
        """The model of the row that a foreign key points to; None for other columns."""
        relation = self.relations.get(column.removesuffix("_id").removesuffix("Id")) or self.relations.get(column)
        return relation.target if relation is not None and relation.kind == "to_one" else None

    def key_behind(self, reverse: str) -> str:
        """The foreign key of Django whose other side has this name: `customer` for `bills`. Empty when none has."""
        plain = f"{self.name.lower()}_set"
        keys = (each for each in self.relations.values() if each.kind == "to_one")
        return next((each.name for each in keys if reverse == (each.reverse or plain)), "")

    def finds_few(self, column: str) -> bool:
        """Whether a condition on the column finds few rows through an index, here or in a related table. Foreign keys
        count as indexed, as most databases have them, but not in MongoDB."""
        if "." in column and column not in self.columns:
            return True
        return self.is_indexed(column) or (self.entry.model.orm != "mongoose" and self.is_foreign_key(column))


class Schemas:
    """The schema of every model of a codebase, by its name or that of a repository of it."""

    def __init__(self, models: ModelIndex, files: Mapping[str, FileFacts], accesses: Mapping[str, Access]) -> None:
        """`accesses` are the repositories of production files, by name."""
        self._models = models
        self._files = files
        self._accesses = accesses
        self._known: dict[str, Schema | None] = {}
        self._near: dict[int, Schema] = {}  # by the identity of the model

    def named(self, name: str) -> Schema | None:
        """The model of this name, as a class, as a client property (`prisma.order`) or as a repository of it, with what
        it inherits."""
        asked = name
        if name not in self._known:
            access = self._accesses.get(name)
            name = access.model if access is not None and access.model != name else name
            last = name.rpartition(".")[2]
            entry = self._named.get(last) or self._named.get(last[:1].upper() + last[1:])
            entry = entry or (self._models.of_table(name) if name else None) or self._imported_as(last)
            self._known[asked] = self._full(entry) if entry is not None else None
        return self._known[asked]

    def _imported_as(self, name: str) -> IndexedModel | None:
        """What a file of JavaScript calls `OrderModel` when it imports `export default model("Order", …)`."""
        found = self._named.get(name.removesuffix("Model")) if name.endswith("Model") else None
        return found if found is not None and found.model.orm in ("mongoose", "sequelize") else None

    def lineage(self, model: Model) -> Iterator[Model]:
        """The model and its bases, each once."""
        pending, seen = deque([model]), {model.name}
        while pending:
            each = pending.popleft()
            yield each
            for base in each.bases:
                found = self._any_model.get(base.rpartition(".")[2])
                if found is not None and found.name not in seen:
                    seen.add(found.name)
                    pending.append(found)

    def related_by(self, name: str, receiver: str) -> Schema | None:
        """The model behind a relation to many: of the model that the receiver is named after (`order.lines`), else of
        any model; None when models disagree about it."""
        owner = self.named(receiver.title().replace("_", "") if receiver.islower() else receiver)
        found = owner.relations.get(name) if owner is not None else None
        if found is not None and found.kind == "to_many":
            return self.named(found.target)
        targets = self._targets.get(name, frozenset())
        return self.named(next(iter(targets))) if len(targets) == 1 and owner is None else None

    def nearest(self, schema: Schema, path: str) -> Schema:
        """The schema as this file means it where several services have a model of its name."""
        entry = self._models.nearest(schema.entry, path)
        if entry is schema.entry:
            return schema
        known = self._near.get(id(entry))
        if known is None:
            known = self._near[id(entry)] = self._full(entry)
        return known

    def _full(self, entry: IndexedModel) -> Schema:
        columns: dict[str, Column] = {}
        relations: dict[str, Relation] = {}
        indexes: list[tuple[str, ...]] = []
        searchable: set[str] = set()
        parts = self._parts.get(entry.model.name, ())
        for model in (*self.lineage(entry.model), *parts, *self._tables.get(entry.table.lower(), ())):
            if model.orm == "ddl" and entry.model.orm != "ddl":
                model = _in_words_of(columns, model)
            columns.update(
                (each.name, structs.replace(columns[each.name], unique=True))
                for each in model.columns
                if each.unique and each.name in columns
            )
            columns.update((each.name, each) for each in model.columns if each.name not in columns)
            is_script = model.orm == "ddl" and entry.model.orm != "ddl"  # its keys are columns of the class
            known = columns if is_script else relations
            relations.update((each.name, each) for each in model.relations if each.kind and each.name not in known)
            indexes += filter(None, model.indexes)  # one of expressions names no column
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
        for entry in sorted(self._models.all, key=lambda each: each.model.orm == "ddl"):
            found.setdefault(entry.model.name, entry)
        for entry in self._models.all:
            if entry.model.known_as:
                found.setdefault(entry.model.known_as, entry)
        return found

    @cached_property
    def _tables(self) -> Mapping[str, list[Model]]:
        """What SQL files say of each table: its columns, and the indexes that migrations add."""
        found: dict[str, list[Model]] = {}
        for entry in self._models.all:
            if entry.model.orm == "ddl":
                found.setdefault(entry.table.lower(), []).append(entry.model)
        return found

    @cached_property
    def _parts(self) -> Mapping[str, list[Model]]:
        """What other places add to a model: associations and indexes, by the model's name."""
        found: dict[str, list[Model]] = {}
        for facts in self._files.values():
            for model in facts.models:
                if model.abstract and not model.columns:
                    found.setdefault(model.name, []).append(model)
        return found

    @cached_property
    def _any_model(self) -> Mapping[str, Model]:
        """Models by name, abstract ones too."""
        found: dict[str, Model] = {}
        for facts in self._files.values():
            for model in facts.models:
                if model.columns or not model.abstract:
                    found.setdefault(model.name, model)
        return found

    @cached_property
    def _targets(self) -> Mapping[str, frozenset[str]]:
        """Per name of a relation to many the models that it leads to."""
        found: dict[str, set[str]] = {}
        declared = [{each.name: each for each in entry.model.relations} for entry in self._models.all]
        for relations in (*self._reverse.values(), *declared):
            for name, each in relations.items():
                if each.kind == "to_many":
                    found.setdefault(name, set()).add(each.target)
        return {name: frozenset(targets) for name, targets in found.items()}

    @cached_property
    def _reverse(self) -> Mapping[str, Mapping[str, Relation]]:
        """Per model the relations that others declare to it, under the name that they give it."""
        found: dict[str, dict[str, Relation]] = {}
        for entry in self._models.all:
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
    """A table whose keys and indexes have the names that the model gives their columns: `AppId` is `appId`."""
    known = {_folded(name): name for name in columns}
    known.update((_folded(each.stored), name) for name, each in columns.items() if each.stored)

    def own_name(name: str) -> str:
        return known.get(_folded(name), name)

    alone = tuple((own_name(each.name),) for each in table.columns if each.indexed or each.primary_key)
    named = tuple(tuple(map(own_name, each)) for each in table.indexes)
    searchable = tuple(
        own_name(each.removesuffix(COMPUTED)) + COMPUTED * each.endswith(COMPUTED) for each in table.searchable
    )
    unique = tuple(
        structs.replace(each, name=known[_folded(each.name)])
        for each in table.columns
        if each.unique and own_name(each.name) != each.name
    )
    return structs.replace(table, columns=(*table.columns, *unique), indexes=(*named, *alone), searchable=searchable)


def _folded(name: str) -> str:
    return name.replace("_", "").lower()
