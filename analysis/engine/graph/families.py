"""The files of one family of languages: they import each other and nobody else.

What is known of a family is kept from state to state. Where an import leads depends on the family's ground: which
files are there, what they show to importers, and the manifests. While the ground is the same only files with other
content are resolved again; where it changed, a family may tell which files can look at the changed part.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping

from analysis.engine.facts import FileFacts
from analysis.engine.graph import golang, java, python, script
from analysis.engine.graph.edges import FileImports, Resolver, imports_of_file
from analysis.engine.graph.model import Module
from analysis.engine.graph.modules import folder_modules, go_modules, java_modules
from analysis.engine.graph.paths import ancestors, folder_of
from analysis.engine.graph.resolution import Files, of_languages

NO_IMPORTS = FileImports()
Ground = dict[str, object]


class Family(ABC):
    """One family. After `update` all attributes speak of the state that was given last."""

    languages: tuple[str, ...]
    resolver: Resolver

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.imports: dict[str, FileImports] = {}
        self.modules: Mapping[str, Module] = {}
        self.packages: dict[str, str] = {}  # path to the folder of its package
        self.is_same = True  # whether the last update left all of this as it was
        self._files: dict[str, FileFacts] = {}
        self._ground: Ground = {}

    def update(self, members: Files, manifests: Files) -> None:
        """Take over the family's files of the next state, and the manifests that say how imports resolve."""
        before = dict(self._files)
        # Resolvers hold on to this dictionary, so that a resolver that is kept reads the content of today.
        self._files.clear()
        self._files.update(members)
        self._files.update(manifests)
        ground: Ground = {
            path: self._ground[path] if before.get(path) is facts else self._shown(path, facts)
            for path, facts in self._files.items()
        }
        self.is_same = ground == self._ground
        stale: Collection[str] = ()
        if not self.is_same:
            paths = ground.keys() | self._ground.keys()
            changed = [path for path in paths if ground.get(path) != self._ground.get(path)]
            self._ground = ground
            self.nodes = of_languages(members, self.languages)
            self._settle(self._files, self.nodes)
            stale = self._stale(changed, before)
        self._resolve(before, stale)

    @abstractmethod
    def _settle(self, files: Files, nodes: list[str]) -> None:
        """Set `resolver`, `modules` and `packages`."""

    def _stale(self, changed: Collection[str], before: Files) -> Collection[str]:
        """The files whose imports may lead elsewhere since these paths of the ground changed. Called after `_settle`;
        `before` are the files of the last state."""
        return frozenset(self.nodes)

    def _shows(self, path: str, facts: FileFacts) -> object:
        """What importers see of a file, beside that it is there."""
        return None

    def _shown(self, path: str, facts: FileFacts) -> object:
        return facts.language, facts.manifest or self._shows(path, facts)

    def _resolve(self, before: Files, stale: Collection[str]) -> None:
        """Resolve the stale files and those whose content is not that of `before`."""
        imports = {}
        for path in self.nodes:
            facts = self._files[path]
            known = self.imports.get(path)
            if known is None or before.get(path) is not facts or path in stale:
                found = imports_of_file(path, facts, self.resolver) if facts.imports else NO_IMPORTS
                if found != known:  # else the tuples that others have seen stay
                    known, self.is_same = found, False
            imports[path] = known
        self.imports = imports


class PythonFamily(Family):
    languages = python.LANGUAGES

    def _settle(self, files: Files, nodes: list[str]) -> None:
        self.resolver = resolver = python.PythonResolver(files)
        projects = python.python_projects(files)
        self.modules = folder_modules(
            nodes, lambda path: next((folder for folder in ancestors(folder_of(path)) if folder in projects), "")
        )
        self.packages = {path: resolver.root_of(path) for path in nodes}

    def _shows(self, path: str, facts: FileFacts) -> object:
        return python.names_bound_in(path, facts) if path.endswith("__init__.py") else None


class ScriptFamily(Family):
    languages = script.LANGUAGES
    resolver: script.ScriptResolver

    def __init__(self) -> None:
        super().__init__()
        self.resolver = self._resolver_before = script.ScriptResolver({})

    def _settle(self, files: Files, nodes: list[str]) -> None:
        self._resolver_before = self.resolver
        self.resolver = resolver = script.ScriptResolver(files)
        self.packages = {path: resolver.packages.folder_of_package(path) for path in nodes}
        self.modules = folder_modules(nodes, self.packages.__getitem__)

    def _stale(self, changed: Collection[str], before: Files) -> Collection[str]:
        if any(path.endswith(".json") for path in changed):  # a manifest
            return super()._stale(changed, before)
        self.resolver.take_over(self._resolver_before, changed)
        return frozenset(path for path in self.nodes if not self.resolver.knows(path, self._files[path]))


class JavaFamily(Family):
    languages = java.LANGUAGES

    def _settle(self, files: Files, nodes: list[str]) -> None:
        self.resolver = java.JavaResolver(files)
        self.packages = {path: folder_of(path) for path in nodes}
        self.modules = java_modules(files, nodes)

    def _stale(self, changed: Collection[str], before: Files) -> Collection[str]:
        moved = java.Moved(before, self._files, changed)
        return frozenset(path for path in self.nodes if moved.is_named_in(self._files[path]))

    def _shows(self, path: str, facts: FileFacts) -> object:
        return facts.package, java.top_level_classes(path, facts)


class GoFamily(Family):
    languages = golang.LANGUAGES

    def _settle(self, files: Files, nodes: list[str]) -> None:
        self.resolver = resolver = golang.GoResolver(files)
        self.packages = {path: folder_of(path) for path in nodes}
        self.modules = go_modules(nodes, resolver.module_folder)
        self._module_folder = resolver.module_folder

    def unit_of(self, path: str) -> str:
        """What goes in a circle: the module of a file."""
        return self._module_folder(path)
