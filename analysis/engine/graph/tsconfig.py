"""Aliases of TypeScript: `paths` and `baseUrl` of the nearest `tsconfig.json`, through `extends` and `references`."""

from dataclasses import dataclass

from analysis.engine.graph.manifest import Manifest, manifest_of
from analysis.engine.graph.paths import ancestors, folder_of, joined, resolved
from analysis.engine.graph.resolution import Files
from analysis.engine.graph.script_packages import PackageIndex

_LONGEST_CHAIN = 12


@dataclass(frozen=True, slots=True)
class Aliases:
    """`paths` as (before the star, after it, has a star, targets) with targets seen from the repository's root."""

    paths: tuple[tuple[str, str, bool, tuple[str, ...]], ...] = ()
    base: str | None = None


class ConfigIndex:
    """The aliases that hold in each folder."""

    def __init__(self, files: Files, packages: PackageIndex) -> None:
        self._configs: dict[str, Manifest] = {}
        for path in sorted(files):
            if files[path].language == "manifest":
                manifest = manifest_of(files[path])
                if manifest.get("kind") == "tsconfig":
                    self._configs[path] = manifest
        self._packages = packages
        self._of_folder: dict[str, Aliases] = {}

    def candidates(self, folder: str, target: str) -> list[str]:
        """Paths that an alias or `baseUrl` makes of `target`, in the compiler's order."""
        if not self._configs:
            return []
        aliases = self._aliases(folder)
        matches = []
        for before, after, star, targets in aliases.paths:
            if not star and target == before:
                return list(targets)
            long_enough = star and len(target) >= len(before) + len(after)
            if long_enough and target.startswith(before) and target.endswith(after):
                middle = target[len(before) : len(target) - len(after)]
                matches.append((len(before), [path.replace("*", middle) for path in targets]))
        found = max(matches, key=lambda match: match[0])[1] if matches else []
        return found if aliases.base is None else [*found, joined(aliases.base, target)]

    def _aliases(self, folder: str) -> Aliases:
        if folder not in self._of_folder:
            self._of_folder[folder] = self._find_aliases(folder)
        return self._of_folder[folder]

    def _find_aliases(self, folder: str) -> Aliases:
        for around in ancestors(folder):
            for name in ("tsconfig.json", "jsconfig.json"):
                path = joined(around, name)
                if path in self._configs:
                    return self._read_with_references(path)
        return Aliases()

    def _read_with_references(self, path: str) -> Aliases:
        """A solution file only lists its parts (`tsconfig.app.json`); the first part with aliases speaks for it."""
        own = self._read(path)
        if own.paths or own.base is not None:
            return own
        for reference in self._configs[path].get("references", ()):
            part = self._config_at(folder_of(path), reference)
            if part and folder_of(part) == folder_of(path):
                aliases = self._read(part)
                if aliases.paths or aliases.base is not None:
                    return aliases
        return own

    def _read(self, path: str, depth: int = 0) -> Aliases:
        config = self._configs[path]
        folder = folder_of(path)
        inherited = Aliases()
        for parent in config.get("extends", ()):
            where = self._extended(folder, parent)
            if where and depth < _LONGEST_CHAIN:
                read = self._read(where, depth + 1)
                inherited = Aliases(read.paths or inherited.paths, inherited.base if read.base is None else read.base)
        written = config.get("baseUrl")
        base = resolved(folder, written) if written else inherited.base
        if not config.get("paths"):
            return Aliases(inherited.paths, base)
        return Aliases(_paths(config["paths"], folder if base is None else base), base)

    def _extended(self, folder: str, parent: str) -> str | None:
        if parent.startswith("."):
            return self._config_at(folder, parent)
        for candidate in self._packages.candidates(parent):
            where = self._config_at("", candidate)
            if where:
                return where
        return None

    def _config_at(self, folder: str, reference: str) -> str | None:
        where = resolved(folder, reference)
        if where is None:
            return None
        candidates = (where, where + ".json", joined(where, "tsconfig.json"))
        return next((candidate for candidate in candidates if candidate in self._configs), None)


def _paths(written: dict[str, list[str]], base: str) -> tuple[tuple[str, str, bool, tuple[str, ...]], ...]:
    rows = []
    for pattern, targets in written.items():
        before, star, after = pattern.partition("*")
        places = tuple(place for place in (resolved(base, target) for target in targets) if place is not None)
        rows.append((before, after, bool(star), places))
    return tuple(rows)
