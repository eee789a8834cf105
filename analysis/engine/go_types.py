"""What the types of Go say of a call: which type a field has, also one of an embedded struct, and who implements an
interface. Go declares nowhere which interfaces a type has: it has those whose methods it all has."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from analysis.engine.facts import FileFacts
from analysis.engine.graph.paths import folder_of
from analysis.engine.languages import FileKind, kind_of

EMBEDDED = 3  # structs in one another that are looked into
_STANDS_IN = re.compile(r"(?i)mock|fake|stub|spy|dummy|no_?op")  # for the type that really does it


class Method(NamedTuple):
    path: str
    position: int


class Field(NamedTuple):
    path: str  # of the file that declares it
    kind: str  # its type as written there, without a star


class GoTypes:
    """The structs and methods of the Go files of a codebase, in one state of it."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = {path: facts for path, facts in files.items() if facts.language == "go"}
        self._known: dict[tuple[str, str], dict[tuple[str, str], Field]] = {}

    def field(self, path: str, owner: str, name: str) -> Field | None:
        """The field of a struct of the package that a file belongs to."""
        fields, owners = self._fields_of(path), [owner]
        for _ in range(EMBEDDED):
            found = next((fields[each, name] for each in owners if (each, name) in fields), None)
            if found is not None:
                return found
            owners = [base for each in owners for base in self._embedded.get((_package(path, self._files), each), ())]
        return None

    def fields_called(self, path: str, name: str) -> Iterator[Field]:
        """The fields of this name of the structs that a file declares."""
        for each in self._files[path].classes if path in self._files else ():
            yield from (Field(path, kind) for called, kind in each.field_types if called == name)

    def implementing(self, path: str, interface: str, name: str) -> Iterator[Method]:
        """The methods of that name of the types that have all methods of an interface which the file declares. What
        stands in for others in tests is left out."""
        asked = next((set(each.methods) for each in self._files[path].classes if each.name == interface), set())
        wanted = next((each for each in asked if each[0] == name), None)
        for owner in self._owners.get(wanted, ()) if wanted is not None else ():
            methods = self._methods[owner]
            if asked <= methods.keys() and wanted is not None:
                yield methods[wanted]

    def _fields_of(self, path: str) -> dict[tuple[str, str], Field]:
        """By struct and name the fields of a package."""
        package = _package(path, self._files)
        known = self._known.get(package)
        if known is None:
            known = self._known[package] = {
                (each.name, name): Field(file, kind)
                for file in self._packages.get(package, ())
                for each in self._files[file].classes
                for name, kind in each.field_types
            }
        return known

    @cached_property
    def _packages(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for path in self._files:
            found.setdefault(_package(path, self._files), []).append(path)
        return found

    @cached_property
    def _embedded(self) -> dict[tuple[tuple[str, str], str], tuple[str, ...]]:
        """By package and struct what the struct embeds of its own package."""
        return {
            (_package(path, self._files), each.name): each.bases
            for path, facts in self._files.items()
            for each in facts.classes
            if each.bases
        }

    @cached_property
    def _methods(self) -> dict[tuple[tuple[str, str], str], dict[tuple[str, int], Method]]:
        """By package and type its methods, each by its name and how many parameters it takes."""
        found: dict[tuple[tuple[str, str], str], dict[tuple[str, int], Method]] = {}
        for path, facts in self._files.items():
            if kind_of(path) is FileKind.TEST:
                continue
            for position, function in enumerate(facts.functions):
                if function.owner and not _STANDS_IN.search(function.owner):
                    methods = found.setdefault((_package(path, self._files), function.owner), {})
                    name = function.short_name
                    methods[name, len(function.parameters)] = Method(path, position)
        return found

    @cached_property
    def _owners(self) -> dict[tuple[str, int], list[tuple[tuple[str, str], str]]]:
        """By name and number of parameters the types that have such a method."""
        found: dict[tuple[str, int], list[tuple[tuple[str, str], str]]] = {}
        for owner, methods in self._methods.items():
            for each in methods:
                found.setdefault(each, []).append(owner)
        return found


def _package(path: str, files: Mapping[str, FileFacts]) -> tuple[str, str]:
    return folder_of(path), files[path].package
