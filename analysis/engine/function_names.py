"""Functions by the last part of their names: those of a file, and those of a package whose files share them."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from sys import intern

from analysis.engine.facts import FileFacts
from analysis.engine.graph.paths import folder_of

SHARED_PACKAGES = frozenset({"go", "java"})

Names = dict[str, list[int]]  # last part of a function's name to its positions
PackageKey = tuple[str, str, str]  # language, folder, package


class FunctionNames:
    """What no import is needed for. Files are looked at when somebody asks."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = files
        self._names: dict[str, Names] = {}  # by path
        self._in_package: dict[PackageKey, dict[str, list[tuple[str, int]]]] = {}  # by package and name

    def take_over(self, before: "FunctionNames", changed: set[str], touched: set[PackageKey]) -> None:
        """Keep what another state knows of all but the files that changed and the packages that hold them."""
        self._names = {path: known for path, known in before._names.items() if path not in changed}
        self._in_package = {key: known for key, known in before._in_package.items() if key not in touched}

    def named(self, path: str, name: str) -> list[int]:
        return self.names_in(path).get(name, [])

    def names_in(self, path: str) -> Names:
        names = self._names.get(path)
        if names is None:
            names = self._names[path] = {}
            for index, function in enumerate(self._files[path].functions):
                if index:
                    names.setdefault(intern(function.short_name), []).append(index)
        return names

    def neighbours(self, path: str, name: str) -> Iterator[tuple[str, int]]:
        """The functions of that name in the other files of a package that its files share."""
        facts = self._files[path]
        if facts.language not in SHARED_PACKAGES:
            return
        key = package_key(path, facts)
        known = self._in_package.get(key)
        if known is None:
            known = self._in_package[key] = {}
            for file in self._packages.get(key, ()):
                for each, indexes in self.names_in(file).items():
                    known.setdefault(each, []).extend((file, index) for index in indexes)
        yield from (each for each in known.get(name, ()) if each[0] != path)

    def siblings(self, path: str) -> tuple[str, ...]:
        """The other files of a package that its files share."""
        facts = self._files[path]
        if facts.language not in SHARED_PACKAGES:
            return ()
        return tuple(other for other in self._packages.get(package_key(path, facts), ()) if other != path)

    def rest_of_package(self, path: str) -> tuple[str, ...]:
        """Go imports packages: an edge leads to one of its files and stands for all of them."""
        return self.siblings(path) if self._files[path].language == "go" else ()

    def packages_of(self, paths: Iterable[str]) -> set[PackageKey]:
        """The packages of those files that this state has."""
        return {package_key(path, self._files[path]) for path in paths if path in self._files}

    def files_in(self, packages: Iterable[PackageKey]) -> set[str]:
        """The files of packages that share what they have."""
        return {path for key in packages for path in self._packages.get(key, ())}

    @cached_property
    def _packages(self) -> dict[PackageKey, list[str]]:
        packages: dict[PackageKey, list[str]] = {}
        for path, facts in self._files.items():
            if facts.language in SHARED_PACKAGES:
                packages.setdefault(package_key(path, facts), []).append(path)
        return packages


def package_key(path: str, facts: FileFacts) -> PackageKey:
    return facts.language, folder_of(path), facts.package
