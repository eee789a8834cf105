"""The `package.json` files of a repository: which packages live here, and what their names and sub-paths stand for."""

from typing import Any

from analysis.engine.graph.manifest import Manifest, manifest_of
from analysis.engine.graph.paths import ancestors, folder_of, resolved
from analysis.engine.graph.resolution import Files, is_test
from analysis.engine.languages import FileKind, kind_of

# Conditions of `exports` in the order in which they lead to source code.
_CONDITIONS = ("source", "types", "import", "module", "node", "browser", "development", "require", "default")
_MOST_CONDITIONS = 8


class PackageIndex:
    """Packages by folder and by name. The package nearest to the root and outside tests owns a name."""

    def __init__(self, files: Files) -> None:
        self.by_folder: dict[str, Manifest] = {}
        for path in sorted(files):
            if files[path].language == "manifest" and kind_of(path) is not FileKind.VENDORED:
                manifest = manifest_of(files[path])
                if manifest.get("kind") == "package" and path.endswith("package.json"):
                    self.by_folder[folder_of(path)] = manifest
        self._folder_of_name: dict[str, str] = {}
        for folder in sorted(self.by_folder, key=lambda folder: (is_test(folder + "/"), folder.count("/"), folder)):
            name = self.by_folder[folder].get("name")
            if isinstance(name, str) and name:
                self._folder_of_name.setdefault(name, folder)

    def has(self, target: str) -> bool:
        """Whether the import names a package of this repository."""
        return self._split(target) is not None

    def folder_of_package(self, path: str) -> str:
        """The folder of the nearest `package.json` around `path`, the root when there is none."""
        return next((folder for folder in ancestors(folder_of(path)) if folder in self.by_folder), "")

    def main_of(self, folder: str) -> str | None:
        """The main file of the package in `folder`, without any look at the disk."""
        package = self.by_folder.get(folder)
        if package is None:
            return None
        for key in ("types", "typings", "module", "main"):
            if isinstance(package.get(key), str) and package[key].strip("./"):
                return resolved(folder, package[key])
        return None

    def candidates(self, target: str) -> list[str]:
        """Paths that a package of this repository may mean by `name` or `name/sub/path`, the likeliest first."""
        split = self._split(target)
        if split is None:
            return []
        folder, rest = split
        package = self.by_folder[folder]
        written = [*_exported(package.get("exports"), "./" + rest if rest else ".")]
        if not rest:
            mains = [package.get(key) for key in ("types", "typings", "module", "main")]
            written += [path for path in mains if isinstance(path, str)]
            written += ["src/index", "index", "lib/index", "src/main"]
        else:
            written += [rest, f"src/{rest}", f"lib/{rest}"]
        return [where for where in (resolved(folder, path) for path in written) if where is not None]

    def internal_imports(self, folder: str, target: str) -> list[str]:
        """Paths that a `#name` may mean in the nearest package that maps it."""
        for around in ancestors(folder):
            imports = self.by_folder.get(around, {}).get("imports")
            if isinstance(imports, dict):
                written = _mapped(imports, target)
                return [where for where in (resolved(around, path) for path in written) if where is not None]
        return []

    def _split(self, target: str) -> tuple[str, str] | None:
        parts = target.split("/")
        size = 2 if target.startswith("@") else 1
        folder = self._folder_of_name.get("/".join(parts[:size]))
        return None if folder is None else (folder, "/".join(parts[size:]))


def exports_path(manifest: Manifest, subpath: str) -> bool:
    """Whether a package offers `subpath` (`dist/forms`) to others by the `exports` of its `package.json`."""
    exports = manifest.get("exports")
    return isinstance(exports, dict) and bool(_mapped(exports, "./" + subpath))


def _exported(exports: Any, subpath: str) -> list[str]:
    if isinstance(exports, dict) and any(key.startswith(".") for key in exports):
        return _mapped(exports, subpath)
    return _leaves(exports) if subpath == "." else []


def _mapped(mapping: dict[str, Any], key: str) -> list[str]:
    """Targets of `key` in an `exports` or `imports` map; the pattern with the longest fixed part wins."""
    if key in mapping:
        return _leaves(mapping[key])
    patterns = sorted((pattern for pattern in mapping if pattern.count("*") == 1), key=lambda text: (-len(text), text))
    for pattern in patterns:
        before, after = pattern.split("*")
        if len(key) >= len(pattern) - 1 and key.startswith(before) and key.endswith(after):
            star = key[len(before) : len(key) - len(after)]
            return [leaf.replace("*", star) for leaf in _leaves(mapping[pattern])]
    return []


def _leaves(value: Any, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value] if value.startswith(".") else []
    if depth > _MOST_CONDITIONS:
        return []
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item, depth + 1)]
    if not isinstance(value, dict):
        return []
    known = [name for name in _CONDITIONS if name in value]
    return [leaf for name in [*known, *sorted(value.keys() - set(known))] for leaf in _leaves(value[name], depth + 1)]
