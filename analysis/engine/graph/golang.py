"""Resolves Go imports to packages. A package is a folder, and an import of it is one edge to the package's face.

The face is the file named after the folder, else `doc.go`, else the first file that is no test. Edges to each file of
a package would multiply imports by the size of packages; the face keeps one edge an import, and fan-in and cycles
are counted by folder (`unit_of`).
"""

from collections.abc import Iterator

from analysis.engine.facts import Import
from analysis.engine.graph.manifest import manifest_of
from analysis.engine.graph.paths import ancestors, folder_of, is_inside, joined, resolved
from analysis.engine.graph.resolution import MISSING, Files, Resolution, found, is_test, of_languages, outside

LANGUAGES = ("go",)
_HOSTED = frozenset({"github.com", "gitlab.com", "bitbucket.org", "golang.org", "go.uber.org", "k8s.io", "sigs.k8s.io"})
_THREE_PARTS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "golang.org"})


class GoResolver:
    """Knows the modules (`go.mod`), local replacements and packages of one repository."""

    def __init__(self, files: Files) -> None:
        self._faces = _faces(of_languages(files, LANGUAGES))
        self.modules: dict[str, str] = {}  # module path to folder
        self._required: dict[str, list[str]] = {}
        self._replaced: dict[str, dict[str, str]] = {}  # folder of go.mod to (module path to folder)
        for path in sorted(files):
            if files[path].language == "manifest":
                self._add_manifest(path, manifest_of(files[path]))
        self._folders = frozenset(self.modules.values())
        self._cache: dict[tuple[str, str], Resolution] = {}

    def resolve(self, path: str, statement: Import) -> Resolution:
        """The face of the imported package."""
        if statement.target.startswith("."):
            folder = resolved(folder_of(path), statement.target)
            return found(self._faces[folder]) if folder in self._faces else MISSING
        key = (self.module_folder(path), statement.target)
        if key not in self._cache:
            self._cache[key] = self._resolve(*key)
        return self._cache[key]

    def module_folder(self, path: str) -> str:
        """The folder of the `go.mod` that `path` belongs to, the root when there is none."""
        return next((folder for folder in ancestors(folder_of(path)) if folder in self._folders), "")

    def _resolve(self, module_folder: str, target: str) -> Resolution:
        for prefix in _prefixes(target):
            folder = self._replaced.get(module_folder, {}).get(prefix, self.modules.get(prefix))
            if folder is not None:
                package = joined(folder, target[len(prefix) + 1 :])
                return found(self._faces[package]) if package in self._faces else MISSING
        return outside(self._module_name(module_folder, target))

    def _module_name(self, module_folder: str, target: str) -> str:
        """The module that provides a package outside: as required in go.mod, else by the customs of its host."""
        for name in self._required.get(module_folder, ()):
            if is_inside(target, name):
                return name
        host = target.partition("/")[0]
        if host not in _HOSTED:
            return target
        return "/".join(target.split("/")[: 3 if host in _THREE_PARTS else 2])

    def _add_manifest(self, path: str, manifest: dict[str, object]) -> None:
        folder = folder_of(path)
        if manifest.get("kind") not in ("gomod", "gowork"):
            return
        if name := manifest.get("module"):
            self.modules.setdefault(str(name), folder)
            self._required[folder] = sorted(manifest.get("require", ()), key=len, reverse=True)  # type: ignore[call-overload]
        local = {old: resolved(folder, new) for old, new in manifest.get("replace", ()) if new.startswith(".")}  # type: ignore[attr-defined]
        users = [folder]
        if manifest["kind"] == "gowork":
            users = [where for where in (resolved(folder, use) for use in manifest.get("use", ())) if where is not None]  # type: ignore[attr-defined]
        for user in users:
            self._replaced.setdefault(user, {}).update({old: new for old, new in local.items() if new is not None})


def _prefixes(target: str) -> Iterator[str]:
    while target:
        yield target
        target = target.rpartition("/")[0]


def _faces(paths: list[str]) -> dict[str, str]:
    packages: dict[str, list[str]] = {}
    for path in paths:
        packages.setdefault(folder_of(path), []).append(path)
    return {folder: _face(folder, members) for folder, members in packages.items()}


def _face(folder: str, members: list[str]) -> str:
    product = [path for path in members if not path.endswith("_test.go")] or members
    for name in (folder.rpartition("/")[2] + ".go", "doc.go"):
        if (wanted := joined(folder, name)) in product:
            return wanted
    return next((path for path in product if not is_test(path)), product[0])
