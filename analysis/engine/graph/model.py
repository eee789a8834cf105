"""What the import graph is made of. Nothing here reads a source file.

Edges and externals are structs that the garbage collector leaves alone: there are tens of thousands of them.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter

import msgspec

from analysis.engine.facts import Import


class Edge(msgspec.Struct, frozen=True, gc=False):
    """One file imports another. All import statements between the two files are one edge.

    `line` is the first import that counts most: run-time before deferred, deferred before type-only. `runtime` is
    false when every import between the two is gone at run time, `deferred` is true when none of them runs while the
    source file is loaded. `erased` imports load nothing, though they do not say so: TypeScript drops those that only
    types use. `reexport` is true when the source only passes the names on.
    """

    source: str
    target: str
    line: int
    names: tuple[str, ...] = ()
    runtime: bool = True
    deferred: bool = False
    reexport: bool = False
    erased: bool = False


@dataclass(frozen=True, slots=True)
class Cycle:
    """A strongly connected component: `files` and `edges` are sorted, `cut` are the edges to remove.

    `units` are what goes in a circle: files in Python and JavaScript, folders of packages in Java, the folders of
    modules in Go. `deferred` cycles only close through imports inside functions.
    """

    files: tuple[str, ...]
    edges: tuple[Edge, ...]
    cut: tuple[Edge, ...]
    units: tuple[str, ...] = ()
    deferred: bool = False


@dataclass(frozen=True, slots=True)
class Module:
    """A part of the project as its authors see it. `path` is its folder, empty for the repository's root."""

    name: str
    path: str


class External(msgspec.Struct, frozen=True, gc=False):
    """An import that leaves the project: the package's name, the line, and the import as written."""

    package: str
    line: int
    statement: Import


@dataclass(frozen=True)
class ImportGraph:
    """Who imports whom. Every tuple is sorted; building twice from shuffled input gives the same graph.

    `nodes` are the parsed files of the project, generated ones and tests included; `tests` tells the latter apart.
    `unresolved` lists imports that point into the project but at no file that is there.
    """

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    tests: frozenset[str] = frozenset()
    generated: frozenset[str] = frozenset()
    external: Mapping[str, tuple[External, ...]] = field(default_factory=dict)
    unresolved: Mapping[str, tuple[Import, ...]] = field(default_factory=dict)
    self_imports: tuple[Edge, ...] = ()
    modules: Mapping[str, Module] = field(default_factory=dict)
    cycles: tuple[Cycle, ...] = ()
    deferred_cycles: tuple[Cycle, ...] = ()
    entries: Mapping[str, str] = field(default_factory=dict)  # folder to the file that is its public entry
    packages: Mapping[str, str] = field(default_factory=dict)  # path to the folder of its package.json or Go package

    @cached_property
    def _outgoing(self) -> Mapping[str, tuple[Edge, ...]]:
        return {path: tuple(edges) for path, edges in groupby(self.edges, key=attrgetter("source"))}

    @cached_property
    def _incoming(self) -> Mapping[str, tuple[Edge, ...]]:
        groups: defaultdict[str, list[Edge]] = defaultdict(list)
        for edge in self.edges:
            groups[edge.target].append(edge)
        return {path: tuple(edges) for path, edges in groups.items()}

    @cached_property
    def project_edges(self) -> tuple[Edge, ...]:
        """Edges between files that are no tests: what the architecture rules judge."""
        return tuple(edge for edge in self.edges if edge.source not in self.tests and edge.target not in self.tests)

    def imports_of(self, path: str) -> tuple[Edge, ...]:
        """Edges that leave `path`."""
        return self._outgoing.get(path, ())

    def importers_of(self, path: str) -> tuple[Edge, ...]:
        """Edges that arrive at `path`."""
        return self._incoming.get(path, ())
