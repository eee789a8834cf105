"""Resolves imports of JavaScript and TypeScript to files, in the ways of Node, TypeScript and the bundlers.

In this order: relative paths, `#` imports of the nearest `package.json`, `paths` and `baseUrl` of the nearest
`tsconfig.json`, names of packages in this repository, the bundlers' `@/` and `~/`. Built output (`dist/x.js`) that is
not in the repository stands for its source (`src/x.ts`).
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analysis.engine.facts import FileFacts, Import
from analysis.engine.graph.paths import ancestors, folder_of, joined, resolved
from analysis.engine.graph.resolution import MISSING, NOTHING, Files, Resolution, found, of_languages, outside
from analysis.engine.graph.script_packages import PackageIndex
from analysis.engine.graph.tsconfig import ConfigIndex

LANGUAGES = ("javascript", "typescript", "tsx")
_SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
# What TypeScript lets stand behind an import that names the compiled file.
_SOURCES_OF = {".js": (".ts", ".tsx", ".jsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_NAMED_ASSET = re.compile(
    r"\.(css|scss|sass|less|styl|svg|png|jpe?g|gif|webp|avif|ico|json5?|ya?ml|toml|html?|md|mdx|txt|csv|vue|svelte|astro"
    r"|wasm|node|woff2?|ttf|otf|eot|mp[34]|webm|pdf|graphql|gql|po|proto|sql|hbs|ejs|d\.[cm]?ts)$"
)
_BUILT = re.compile(r"^(\./)?(dist|lib|build|out|es|esm|cjs)/((esm|cjs|types|src)/)*")
_NODE_BUILTINS = frozenset(
    re.findall(
        r"\w+",
        "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain"
        " events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline"
        " repl stream string_decoder timers tls trace_events tty url util v8 vm wasi worker_threads zlib",
    )
)
_APP_FOLDERS = {"@/": ("src", "", "app"), "~/": ("app", "src", "")}


class _Found(NamedTuple):
    """Where an import leads, and the places where files were looked for on the way."""

    resolution: Resolution
    looked_at: tuple[str, ...]


class ScriptResolver:
    """Knows the scripts, packages and compiler options of one repository."""

    def __init__(self, files: Files) -> None:
        self._paths = frozenset(of_languages(files, LANGUAGES))
        self._stubs = frozenset(path for path in files if path.endswith((".d.ts", ".d.mts", ".d.cts")))
        self.packages = PackageIndex(files)
        self._configs = ConfigIndex(files, self.packages)
        self._found: dict[tuple[str, str], _Found] = {}
        self._looked_at: list[str] = []

    def resolve(self, path: str, statement: Import) -> Resolution:
        """The file that one import statement of `path` loads."""
        key = (folder_of(path), statement.target)
        known = self._found.get(key)
        if known is None:
            self._looked_at = []
            resolution = self._resolve(*key)
            known = self._found[key] = _Found(resolution, tuple(self._looked_at))
        resolution = known.resolution
        if statement.names and resolution.targets:
            return found(resolution.targets[0][0], statement.names)
        return resolution

    def knows(self, path: str, facts: FileFacts) -> bool:
        """Whether it was found out before where each import of a file leads."""
        folder = folder_of(path)
        return all((folder, statement.target) in self._found for statement in facts.imports)

    def take_over(self, before: "ScriptResolver", changed: Iterable[str]) -> None:
        """Take over what another one found out, unless it looked where one of the `changed` files came or went. Both
        know the same manifests."""
        places = {place for path in changed for place in _places_of(path)}
        self._found = {key: known for key, known in before._found.items() if places.isdisjoint(known.looked_at)}

    def _resolve(self, folder: str, written: str) -> Resolution:
        target = written.partition("?")[0].rpartition("!")[2]
        if target.startswith((".", "/")):
            return self._relative(folder, target)
        if target.startswith("#"):
            return self._by_candidates(self.packages.internal_imports(folder, target), internal=True, target=target)
        if target.startswith("node:") or (target.partition("/")[0] in _NODE_BUILTINS and not self.packages.has(target)):
            return outside(target.removeprefix("node:").partition("/")[0])
        if not target or ":" in target.partition("/")[0]:
            return outside(target)
        aliased = self._by_candidates(self._configs.candidates(folder, target), internal=False, target=target)
        if aliased.targets or aliased is NOTHING:
            return aliased
        if self.packages.has(target):
            return self._by_candidates(self.packages.candidates(target), internal=True, target=target)
        return self._bundler_alias(folder, target)

    def _relative(self, folder: str, target: str) -> Resolution:
        where = resolved("" if target.startswith("/") else folder, target)
        if where is None:
            return MISSING
        file = self._file(where)
        if file:
            return found(file)
        if where in self._stubs or where + ".d.ts" in self._stubs or _NAMED_ASSET.search(target):
            return NOTHING
        return MISSING

    def _bundler_alias(self, folder: str, target: str) -> Resolution:
        rest = target[2:]
        for prefix, folders in _APP_FOLDERS.items():
            if target.startswith(prefix):
                roots = [joined(package, name) for package in ancestors(folder) for name in folders]
                return self._by_candidates([joined(root, rest) for root in roots], internal=True, target=target)
        return outside(package_name(target))

    def _by_candidates(self, candidates: list[str], *, internal: bool, target: str) -> Resolution:
        """The first candidate that is there. `internal`: the import can only mean this project."""
        for candidate in candidates:
            file = self._file(candidate) or self._source_of_built(candidate)
            if file:
                return found(file)
        if any(candidate in self._stubs or candidate + ".d.ts" in self._stubs for candidate in candidates):
            return NOTHING
        if not internal:
            return MISSING
        return NOTHING if _NAMED_ASSET.search(target) else MISSING

    def _file(self, where: str) -> str | None:
        """`where` as Node and TypeScript would find it: exactly, by its source, with a suffix, or as a folder.

        `_places_of` says the same the other way round.
        """
        self._looked_at.append(where)
        if where in self._paths:
            return where
        stem, dot, suffix = where.rpartition(".")
        for other in _SOURCES_OF.get(dot + suffix, ()):
            if stem + other in self._paths:
                return stem + other
        for suffix in _SUFFIXES:
            if where + suffix in self._paths:
                return where + suffix
        index = joined(where, "index")
        for suffix in _SUFFIXES:
            if index + suffix in self._paths:
                return index + suffix
        main = self.packages.main_of(where)
        return self._file(main) if main and main != where else None

    def _source_of_built(self, candidate: str) -> str | None:
        """The source of a built file: `pkg/dist/esm/x.js` is `pkg/src/x.ts`, or `pkg/x.ts`."""
        package = self.packages.folder_of_package(candidate)
        inside = candidate[len(package) + 1 :] if package else candidate
        rest, replaced = _BUILT.subn("", inside, count=1)
        if not replaced:
            return None
        rest = re.sub(r"(\.d)?\.[cm]?[jt]s$", "", rest)
        return self._file(joined(package, joined("src", rest))) or self._file(joined(package, rest))


def _places_of(path: str) -> Iterator[str]:
    """Every place that leads to this file when it is looked for there."""
    yield path
    for suffix in (*_SUFFIXES, ".d.ts"):
        if path.endswith(suffix):
            stem = path.removesuffix(suffix)
            yield stem
            yield from (stem + compiled for compiled, sources in _SOURCES_OF.items() if suffix in sources)
            if stem.rpartition("/")[2] == "index":
                yield folder_of(stem)


def package_name(target: str) -> str:
    """`@scope/name/sub/path` is of `@scope/name`, `name/sub` of `name`."""
    return "/".join(target.split("/")[: 2 if target.startswith("@") else 1])
