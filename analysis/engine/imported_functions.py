"""Functions that a file sees by its imports, also by way of an index that passes their names on."""

from collections.abc import Iterable, Iterator, Mapping

from analysis.engine.facts import FileFacts
from analysis.engine.function_names import FunctionNames, Names
from analysis.engine.graph import ImportGraph

PASSED_ON = 4  # files in a row that only pass names on (`export … from`)

Imported = tuple[str, Names, tuple[str, ...]]  # an imported file, its functions, the names that were imported


class ImportedFunctions:
    """What each file imports, looked up when somebody asks."""

    def __init__(self, files: Mapping[str, FileFacts], graph: ImportGraph, names: FunctionNames) -> None:
        self._files = files
        self._graph = graph
        self._names = names
        self._imported: dict[str, list[Imported]] = {}
        self._exported: dict[str, frozenset[str]] = {}

    def take_over(self, before: "ImportedFunctions", stale: set[str]) -> None:
        """Keep what another state knows of files that see the same in both."""
        self._imported = {path: known for path, known in before._imported.items() if path not in stale}

    def of(self, path: str) -> list[Imported]:
        found = self._imported.get(path)
        if found is None:
            found = self._imported[path] = list(self._find(path))
        return found

    def seeing(self, changed: Iterable[str]) -> set[str]:
        """The files that import one of these, directly or by way of one that passes names on or has others for them."""
        seen: set[str] = set()
        pending = list(changed)
        for _ in range(PASSED_ON + 1):
            importers = [edge for path in pending for edge in self._graph.importers_of(path)]
            pending = [
                edge.source
                for edge in importers
                if edge.source not in seen
                and (
                    edge.reexport
                    or _is_package(edge.source)
                    or (edge.source in self._files and self._files[edge.source].annotated)
                )
            ]
            seen.update(edge.source for edge in importers)
        return seen

    def _find(self, path: str) -> Iterator[Imported]:
        for edge in self._graph.imports_of(path):
            if edge.target in self._files:
                for target in (edge.target, *self._names.rest_of_package(edge.target)):
                    yield target, self._names.names_in(target), edge.names
                yield from self._behind(edge.target, edge.names)
                yield from self._behind_package(edge.target, edge.names)
                yield from self._annotated(edge.target, edge.names)

    def _behind(self, index: str, names: tuple[str, ...]) -> Iterator[Imported]:
        """The files that really hold these names, which the file that was imported only passes on."""
        seen, edge = {index}, [index]
        for _ in range(PASSED_ON):
            edge = [
                target for path in edge for target in self._passed_on(path)
                if target in self._files and target not in seen
            ]  # fmt: skip
            seen.update(edge)
            for target in edge:
                taken = tuple(name for name in names if name in self._exports(target))
                if taken:
                    yield target, self._names.names_in(target), taken

    def _behind_package(self, index: str, names: tuple[str, ...]) -> Iterator[Imported]:
        """Python: the modules from which a package has these names, `from shop.services.orders import OrderService`."""
        pending = {index: names} if _is_package(index) else {}
        seen = {index}
        for _ in range(PASSED_ON):
            found: dict[str, tuple[str, ...]] = {}
            for package, wanted in pending.items():
                for edge in self._graph.imports_of(package):
                    taken = wanted if "*" in edge.names else tuple(name for name in wanted if name in edge.names)
                    if taken and edge.target in self._files and edge.target not in seen:
                        found[edge.target] = taken
            seen |= found.keys()
            for target, taken in found.items():
                if held := tuple(name for name in taken if name in self._defined(target)):
                    yield target, self._names.names_in(target), held
            pending = {path: taken for path, taken in found.items() if _is_package(path)}

    def _annotated(self, path: str, names: tuple[str, ...]) -> Iterator[Imported]:
        """Python: the methods of the classes for which a file has these names: `OrdersDep = Annotated[Orders, ...]`."""
        for alias, kind in self._files[path].annotated:
            if alias not in names:
                continue
            owner = kind.rpartition(".")[2]
            imported = (edge.target for edge in self._graph.imports_of(path) if owner in edge.names)
            for file in (path, *imported):
                functions = self._files[file].functions if file in self._files else ()
                methods: Names = {}
                for index, function in enumerate(functions):
                    if function.owner == owner:
                        methods.setdefault(function.short_name, []).append(index)
                if methods:
                    yield file, methods, (alias,)

    def _passed_on(self, path: str) -> Iterator[str]:
        return (edge.target for edge in self._graph.imports_of(path) if edge.reexport)

    def _defined(self, path: str) -> frozenset[str]:
        """Python: the functions and classes of a module."""
        return self._exports(path).union(each.name for each in self._files[path].classes)

    def _exports(self, path: str) -> frozenset[str]:
        known = self._exported.get(path)
        if known is None:
            known = self._exported[path] = frozenset(self._files[path].exports)
        return known


def _is_package(path: str) -> bool:
    """Python: whether a file is that of a package, which others ask for what its modules hold."""
    return path.rpartition("/")[2] == "__init__.py"
