"""Java: the class that an object is of, as far as its field or its name tells, and the classes that implement one."""

from collections.abc import Mapping
from functools import cached_property

from analysis.engine.facts import FileFacts
from analysis.engine.function_names import PackageKey, package_key
from analysis.engine.graph import ImportGraph


class JavaTypes:
    """The classes of all Java files, each called after its file."""

    def __init__(self, files: Mapping[str, FileFacts], graph: ImportGraph) -> None:
        self._files = files
        self._graph = graph
        self._types_of_fields: dict[str, dict[tuple[str, str], str]] = {}  # by path
        self._imports_by_class: dict[str, dict[str, str]] = {}  # by the importer's path

    def take_over(self, before: "JavaTypes", changed: set[str], stale: set[str]) -> None:
        """Keep what another state knows of files that are the same in both, and of those that see the same."""
        self._types_of_fields = {path: known for path, known in before._types_of_fields.items() if path not in changed}
        self._imports_by_class = {path: known for path, known in before._imports_by_class.items() if path not in stale}

    @cached_property
    def implementers(self) -> dict[str, list[tuple[str, str]]]:
        """By the name of an interface or class the classes that name it as their base, each with its file."""
        found: dict[str, list[tuple[str, str]]] = {}
        for path, facts in self._files.items():
            if facts.language == "java":
                for each in facts.classes:
                    for base in each.bases:
                        found.setdefault(base.rpartition(".")[2], []).append((path, each.name))
        return found

    def file_of(self, path: str, owner: str, held: str) -> str:
        """The file of an object's class, which the file imports or which stands in its package: the field says it, or
        the object is called after it, `orderService` of `OrderService`. Empty when there is none."""
        wanted = self._field_types(path).get((owner, held), held).lower()
        return self._imported_classes(path).get(wanted) or self._classes.get(
            (package_key(path, self._files[path]), wanted), ""
        )

    def inherits(self, path: str) -> bool:
        """Whether a class of the file has a base of this project, as far as the names of packages tell."""
        facts = self._files[path]
        own = facts.package.split(".")[:2]
        foreign = {each.target.rpartition(".")[2] for each in facts.imports if each.target.split(".")[:2] != own}
        bases = (base.rpartition(".")[2] for each in facts.classes for base in each.bases)
        return any(base not in foreign for base in bases)

    def _field_types(self, path: str) -> dict[tuple[str, str], str]:
        """By class and name the classes of the fields of a file."""
        known = self._types_of_fields.get(path)
        if known is None:
            classes = self._files[path].classes
            known = {(each.name, name): kind for each in classes for name, kind in each.field_types}
            self._types_of_fields[path] = known
        return known

    def _imported_classes(self, path: str) -> dict[str, str]:
        """By name in small letters the files that a file imports."""
        known = self._imports_by_class.get(path)
        if known is None:
            known = self._imports_by_class[path] = {}
            for edge in self._graph.imports_of(path):
                if edge.target in self._files:
                    known.setdefault(_class_of(edge.target), edge.target)
        return known

    @cached_property
    def _classes(self) -> dict[tuple[PackageKey, str], str]:
        """By package and name in small letters the files."""
        java = ((path, facts) for path, facts in self._files.items() if facts.language == "java")
        return {(package_key(path, facts), _class_of(path)): path for path, facts in java}


def _class_of(path: str) -> str:
    """The name of the class that a file is called after, in small letters."""
    return path.rpartition("/")[2].removesuffix(".java").lower()
