"""The model index: every ORM model and table of the codebase by class name and by table name (rules.md 1.5.1)."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import PurePosixPath

from analysis.engine.facts import FileFacts, Model
from analysis.engine.languages import FileKind, kind_of

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_APP_PACKAGES = frozenset({"models", "model"})


@dataclass(frozen=True, slots=True)
class IndexedModel:
    """A model, the file that defines it, and its table: as declared, else by the ORM's naming rule."""

    path: str
    table: str
    model: Model


class ModelIndex:
    """Looks models up. Of two with one name the first by path and line wins, unless it is said who asks: a service of
    a monorepo means the model that is nearest to it."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        # Classes before what SQL says of their tables, which may be an index only.
        self.all: tuple[IndexedModel, ...] = tuple(sorted(_indexed(files), key=lambda each: each.model.orm == "ddl"))
        names = [(entry.model.name, entry) for entry in self.all if entry.model.name]
        names += [(entry.model.known_as, entry) for entry in self.all if entry.model.known_as]
        self._by_name = _first_by(names)
        self._by_table = _first_by((entry.table.lower(), entry) for entry in self.all if entry.table)

    def named(self, name: str, near: str = "") -> IndexedModel | None:
        """The model of this class name, qualified or not, as the file `near` would mean it."""
        found = self._by_name.get(name) or self._by_name.get(name.rpartition(".")[2])
        return self.nearest(found, near) if found is not None and near else found

    def nearest(self, entry: IndexedModel, path: str) -> IndexedModel:
        """Of the models that are called like this one, and belong to the same ORM, the one in the part of the tree
        that the file stands in; where that leaves several, the one of the file with most models."""
        namesakes = self._namesakes.get((entry.model.orm, entry.model.name), ())
        if len(namesakes) < 2:
            return entry
        return max(namesakes, key=lambda each: (_shared_folders(each.path, path), self._models_in[each.path]))

    @cached_property
    def _namesakes(self) -> Mapping[tuple[str, str], list[IndexedModel]]:
        found: dict[tuple[str, str], list[IndexedModel]] = {}
        for entry in self.all:
            found.setdefault((entry.model.orm, entry.model.name), []).append(entry)
        return found

    @cached_property
    def _models_in(self) -> Mapping[str, int]:
        return Counter(entry.path for entry in self.all)

    def of_table(self, table: str) -> IndexedModel | None:
        """The model of this table, without regard to case."""
        return self._by_table.get(table.lower())

    def model_of(self, table: str) -> str:
        """The class name that goes with a table, empty when unknown."""
        entry = self.of_table(table)
        return entry.model.name if entry else ""


def table_of(path: str, model: Model) -> str:
    """The table of a model: as declared, else derived the way its ORM does it."""
    if model.table:
        return model.table
    match model.orm:
        case "django":
            return f"{app_label(path)}_{model.name.lower()}"
        case "prisma" | "ddl" | "sequelize":
            return model.name
        case "gorm" | "bun":
            return _plural(snake_case(model.name))
        case "mongoose":
            return _plural(model.name.lower())
        case _:
            return snake_case(model.name)


def _shared_folders(path: str, other: str) -> int:
    """How many folders two files have in common, from the top."""
    pairs = zip(PurePosixPath(path).parts[:-1], PurePosixPath(other).parts[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def app_label(path: str) -> str:
    """The Django app that a model file belongs to: the folder of `models.py`, or of the package `models`."""
    folders = PurePosixPath(path).parts[:-1]
    while folders and folders[-1] in _APP_PACKAGES:
        folders = folders[:-1]
    return folders[-1].lower() if folders else "models"


def _indexed(files: Mapping[str, FileFacts]) -> Iterator[IndexedModel]:
    constants = _Constants(files)
    for path, facts in files.items():
        is_past = kind_of(path) is FileKind.MIGRATION  # its classes are what a model was once
        for model in facts.models:
            if not model.abstract and (model.orm == "ddl" or not is_past):
                named = constants.text(path, model.table_constant) if model.table_constant else ""
                yield IndexedModel(path, named or table_of(path, model), model)


class _Constants:
    """What constants that name tables say, by their own name and the class, which is the file, that holds them."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._texts: dict[str, dict[str, str]] = {}
        for path, facts in files.items():
            for name, text in facts.constants:
                self._texts.setdefault(name, {}).setdefault(PurePosixPath(path).stem, text)

    def text(self, path: str, written: str) -> str:
        """The text of a constant as `path` writes it, with its class or not; empty when that is in doubt."""
        holder, _, name = written.rpartition(".")
        texts = self._texts.get(name, {})
        known = texts.get(holder.rpartition(".")[2] or PurePosixPath(path).stem)
        return known or (next(iter(texts.values())) if len(set(texts.values())) == 1 else "")


def _first_by(pairs: Iterable[tuple[str, IndexedModel]]) -> dict[str, IndexedModel]:
    found: dict[str, IndexedModel] = {}
    for name, entry in pairs:
        found.setdefault(name, entry)
    return found


def snake_case(name: str) -> str:
    """`orderLine` and `OrderLine` as `order_line`."""
    return _WORD_START.sub("_", name).lower()


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")
