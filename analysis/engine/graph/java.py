"""Resolves Java imports to files by the packages that files declare, wherever their source folder stands.

Classes of one package see each other without an import, so edges inside a package are not known and cycles are
judged between packages. An import of `a.b.*` leads to the classes of that package that the file mentions in bases,
annotations, parameters or calls; when none is seen it leads to `package-info.java`, or the package's first file.
"""

from collections.abc import Collection

from analysis.engine.facts import FileFacts, Import
from analysis.engine.graph.paths import folder_of, shared_depth
from analysis.engine.graph.resolution import MISSING, Files, Resolution, dotted_names, is_test, of_languages, outside

LANGUAGES = ("java",)
_DEEPEST_NESTING = 4


class JavaResolver:
    """Knows the packages and top-level classes of one repository."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._classes: dict[str, list[str]] = {}
        self._packages: dict[str, list[str]] = {}
        for path in of_languages(files, LANGUAGES):
            self._add(path, files[path])
        self._same_for_all: dict[str, Resolution] = {}
        self._mentions: dict[str, tuple[FileFacts, frozenset[str]]] = {}

    def resolve(self, path: str, statement: Import) -> Resolution:
        """The files that declare the imported classes."""
        known = self._same_for_all.get(statement.target)
        if known is not None and not statement.names:
            return known
        target = statement.target.removesuffix(".*")
        everything = "*" in statement.names or target != statement.target
        if everything and target in self._packages:
            return self._whole_package(path, target)
        names = [target] if everything else dotted_names(statement)
        targets: dict[str, tuple[str, ...]] = {}
        for name in names:
            file = self._class_file(path, name)
            if file:
                targets[file] = (*targets.get(file, ()), name.rpartition(".")[2])
        if targets:
            resolution = Resolution(targets=tuple(sorted(targets.items())))
            if not statement.names and len(self._classes.get(target, ())) == 1:
                self._same_for_all[target] = resolution
            return resolution
        package = _package_part(names[0])
        # A package that is not there beside packages that are is written by a generator.
        parent = package.rpartition(".")[0]
        if package in self._packages or (parent and parent in self._packages):
            return MISSING
        resolution = outside(package)
        if not statement.names:
            self._same_for_all[statement.target] = resolution
        return resolution

    def _add(self, path: str, facts: FileFacts) -> None:
        self._packages.setdefault(facts.package, []).append(path)
        for name in top_level_classes(path, facts):
            self._classes.setdefault(_full_name(facts, name), []).append(path)

    def _class_file(self, importer: str, name: str) -> str | None:
        """The file of a class; of a nested class or static member, the file around it."""
        for _ in range(_DEEPEST_NESTING):
            if name in self._classes:
                return _nearest(self._classes[name], importer)
            name = name.rpartition(".")[0]
            if name in self._packages:
                return None
        return None

    def _whole_package(self, importer: str, package: str) -> Resolution:
        mentioned = self._mentioned_in(importer)
        targets = {}
        for path in self._packages[package]:
            name = path.rpartition("/")[2].removesuffix(".java")
            if name in mentioned and path == _nearest(self._classes[f"{package}.{name}"], importer):
                targets[path] = (name,)
        if not targets:
            files = self._packages[package]
            info = [path for path in files if path.endswith("/package-info.java")]
            targets[_nearest(info or files, importer)] = ("*",)
        return Resolution(targets=tuple(sorted(targets.items())))

    def _mentioned_in(self, path: str) -> frozenset[str]:
        facts = self._files[path]
        known = self._mentions.get(path)
        if known is None or known[0] is not facts:
            known = self._mentions[path] = (facts, frozenset(_mentions(facts)))
        return known[1]


class Moved:
    """The classes and packages of the files that changed between two states: where imports of them lead has to be asked
    again."""

    def __init__(self, before: Files, now: Files, changed: Collection[str]) -> None:
        states = (before, now)
        files = [(path, state[path]) for state in states for path in changed if path in state]
        java = [(path, facts) for path, facts in files if facts.language in LANGUAGES]
        self._packages = tuple({facts.package for _, facts in java})
        self._classes = {_full_name(facts, name) for path, facts in java for name in top_level_classes(path, facts)}
        # What lies below a package that came or went may be missing now, or outside.
        had, has = ({facts.package for facts in state.values() if facts.language in LANGUAGES} for state in states)
        self._below = tuple((had ^ has).intersection(self._packages))

    def is_named_in(self, facts: FileFacts) -> bool:
        """Whether an import of the file names one of them."""
        packages = self._packages
        for statement in facts.imports:
            if (statement.target.startswith(packages) or statement.names) and self._is_named_by(statement):
                return True
        return False

    def _is_named_by(self, statement: Import) -> bool:
        target = statement.target.removesuffix(".*")
        if target in self._packages and ("*" in statement.names or target != statement.target):
            return True
        names = dotted_names(statement) if statement.names else [target]
        return any(name.startswith(self._below) or self._is_class(name) for name in names)

    def _is_class(self, name: str) -> bool:
        for _ in range(_DEEPEST_NESTING):
            if name in self._classes:
                return True
            name = name.rpartition(".")[0]
        return False


def _full_name(facts: FileFacts, name: str) -> str:
    return f"{facts.package}.{name}" if facts.package else name


def top_level_classes(path: str, facts: FileFacts) -> frozenset[str]:
    """The classes that other files can import from this one; a file that was not parsed has one of its own name."""
    stem = path.rpartition("/")[2].removesuffix(".java")
    return frozenset((stem, *(entry.name for entry in facts.classes if "." not in entry.name)))


def _mentions(facts: FileFacts) -> set[str]:
    texts: list[str] = []
    for entry in facts.classes:
        texts += (*entry.bases, *entry.decorators, *entry.fields)
    for function in facts.functions:
        texts += (*function.decorators, *function.calls, *(parameter.annotation for parameter in function.parameters))
    words: set[str] = set()
    for text in texts:
        for part in text.replace("<", ".").replace(">", ".").replace("(", ".").replace(",", ".").split("."):
            words.add(part.strip(" @[]?"))
    return words


def _nearest(paths: list[str], importer: str) -> str:
    """Of several files with one class name, product code before tests, then the one that shares most folders."""
    if len(paths) == 1:
        return paths[0]
    from_test = is_test(importer)
    here = folder_of(importer)
    return min(
        paths,
        key=lambda path: (
            not from_test and is_test(path),
            -shared_depth(folder_of(path), here),
            not path.startswith(importer.partition("/")[0]),  # `service-api/` belongs to `service/`
            path,
        ),
    )


def _package_part(name: str) -> str:
    """`org.slf4j.Logger` comes from `org.slf4j`: the segments before the first capital letter."""
    parts = name.split(".")
    for index, part in enumerate(parts):
        if part[:1].isupper():
            return ".".join(parts[:index]) or name
    return name
