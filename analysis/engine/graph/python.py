"""Resolves Python imports to files, in the way of the import system but without running it.

A source root is a folder that stands on `sys.path`: the one around the outermost package of a file, the folder of a
`pyproject.toml`, `setup.cfg` or `requirements.txt`, its `src`, and what build tools name there. A root near the
importing file wins. Names of the standard library never lead into the project.
"""

import sys
from collections.abc import Iterable, Mapping

from analysis.engine.facts import FileFacts, Import
from analysis.engine.graph.manifest import manifest_of
from analysis.engine.graph.paths import ancestors, folder_of, joined, resolved, shared_depth
from analysis.engine.graph.resolution import MISSING, NOTHING, Files, Resolution, Target, of_languages, outside

LANGUAGES = ("python",)
_PROJECT_KINDS = frozenset({"pyproject", "setup", "requirements"})


class PythonResolver:
    """Knows the Python files and source roots of one repository."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._paths = frozenset(of_languages(files, LANGUAGES))
        self._folders = frozenset(folder for path in self._paths for folder in ancestors(folder_of(path)))
        self._shared_roots = self._find_shared_roots(files)
        self._roots_of: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        self._bound: dict[str, frozenset[str]] = {}

    def resolve(self, path: str, statement: Import) -> Resolution:
        """The files that one import statement of `path` loads."""
        if statement.level:
            return self._relative(path, statement)
        top = statement.target.partition(".")[0]
        if not top or top in sys.stdlib_module_names or top == "__future__":
            return outside(top)
        folder = folder_of(path)
        where = self._locate(folder, statement.target)
        if where is not None:
            if where + ".py" == path:
                where = self._elsewhere(folder, statement.target, where)
            return self._targets(where, statement.names, importer=path)
        # A folder that only happens to be called like a library is none of its packages.
        return MISSING if self._is_package(self._locate(folder, top)) else outside(top)

    def root_of(self, path: str) -> str:
        """The folder around the outermost package that `path` belongs to."""
        folder = folder_of(path)
        while folder and joined(folder, "__init__.py") in self._paths:
            folder = folder_of(folder)
        return folder

    def _relative(self, path: str, statement: Import) -> Resolution:
        base = resolved(folder_of(path), "/".join([".."] * (statement.level - 1)))
        if base is None:
            return MISSING
        where = joined(base, statement.target.replace(".", "/")) if statement.target else base
        if not self._exists(where):
            return MISSING
        return self._targets(where, statement.names, importer=path)

    def _targets(self, where: str, names: tuple[str, ...], importer: str = "") -> Resolution:
        """`where` is a module without its suffix, or a package's folder."""
        if where + ".py" in self._paths and where not in self._folders:
            return Resolution(targets=((where + ".py", names),))
        init = joined(where, "__init__.py")
        init_is_there = init in self._paths
        targets: list[Target] = []
        own: list[str] = []
        for name in names:
            module = self._submodule(where, name)
            if module and not (init_is_there and name in self._names_bound_in(init)):
                targets.append((module, (name,)))
            else:
                own.append(name)
        if init_is_there and (own or not names) and init != importer:
            targets.append((init, tuple(own)))
        if targets:
            return Resolution(targets=tuple(targets))
        if init_is_there or not own:
            return NOTHING
        return Resolution(targets=((where + ".py", names),)) if where + ".py" in self._paths else MISSING

    def _submodule(self, folder: str, name: str) -> str | None:
        base = joined(folder, name)
        for candidate in (f"{base}/__init__.py", f"{base}.py"):
            if candidate in self._paths:
                return candidate
        return None

    def _names_bound_in(self, init: str) -> frozenset[str]:
        if init not in self._bound:
            self._bound[init] = names_bound_in(init, self._files[init])
        return self._bound[init]

    def _locate(self, folder: str, dotted: str) -> str | None:
        key = (folder, dotted)
        if key not in self._found:
            tail = dotted.replace(".", "/")
            candidates = (joined(root, tail) for root in self._roots_for(folder))
            self._found[key] = next((where for where in candidates if self._exists(where)), None)
        return self._found[key]

    def _elsewhere(self, folder: str, dotted: str, own: str) -> str:
        """The module of another root where the nearest is the importing file itself, which nobody means."""
        tail = dotted.replace(".", "/")
        candidates = (joined(root, tail) for root in self._roots_for(folder))
        return next((where for where in candidates if where != own and self._exists(where)), own)

    def _exists(self, where: str) -> bool:
        return where + ".py" in self._paths or where in self._folders

    def _is_package(self, where: str | None) -> bool:
        return where is not None and (where + ".py" in self._paths or joined(where, "__init__.py") in self._paths)

    def _roots_for(self, folder: str) -> tuple[str, ...]:
        """Roots in the order in which they are tried: around the importing file first, then the nearest others."""
        if folder not in self._roots_of:
            around = [root for root in ancestors(folder) if joined(root, "__init__.py") not in self._paths]
            others = sorted(self._shared_roots - set(around), key=lambda root: (-shared_depth(root, folder), root))
            self._roots_of[folder] = (*around, *others)
        return self._roots_of[folder]

    def _find_shared_roots(self, files: Files) -> frozenset[str]:
        roots = {""}
        for path in self._paths:
            if path.endswith("__init__.py"):
                roots.add(self.root_of(path))
        roots.update(_declared_roots(files))
        return frozenset(root for root in roots if root in self._folders or not root)


def names_bound_in(path: str, facts: FileFacts) -> frozenset[str]:
    """Names that a package defines itself or takes from one of its modules, so that they hide a submodule."""
    package = f".{folder_of(path).replace('/', '.')}"
    names = {function.name for function in facts.functions} | {entry.name for entry in facts.classes}
    for statement in facts.imports:
        binds_submodules = not statement.target or (not statement.level and package.endswith(f".{statement.target}"))
        if not binds_submodules:  # as `from . import name` and `from package import name` do
            names.update(statement.names)
    return frozenset(names)


def _declared_roots(files: Files) -> Iterable[str]:
    for path, facts in files.items():
        if facts.language != "manifest":
            continue
        manifest = manifest_of(facts)
        if manifest.get("kind") not in _PROJECT_KINDS:
            continue
        folder = folder_of(path)
        yield from (folder, joined(folder, "src"))
        for root in manifest.get("roots", ()):
            where = resolved(folder, root)
            if where is not None:
                yield where


def python_projects(files: Mapping[str, FileFacts]) -> frozenset[str]:
    """Folders that hold a manifest of a Python project."""
    return frozenset(
        folder_of(path)
        for path, facts in files.items()
        if facts.language == "manifest" and manifest_of(facts).get("kind") in _PROJECT_KINDS
    )
