"""From the import statements of one file to the edges that leave it."""

from typing import Protocol

import msgspec

from analysis.engine.facts import FileFacts, Import, ImportFlag
from analysis.engine.graph.model import Edge, External
from analysis.engine.graph.resolution import Resolution

_HARD, _DEFERRED, _ERASED, _TYPE_ONLY = range(4)


class Resolver(Protocol):
    """Knows the files of one family of languages and where their imports lead."""

    def resolve(self, path: str, statement: Import, /) -> Resolution: ...


class FileImports(msgspec.Struct, frozen=True):
    """What became of the imports of one file. `own` are its imports of itself."""

    edges: tuple[Edge, ...] = ()
    own: tuple[Edge, ...] = ()
    external: tuple[External, ...] = ()
    unresolved: tuple[Import, ...] = ()


def imports_of_file(path: str, facts: FileFacts, resolver: Resolver) -> FileImports:
    """Resolve every import of a file; edges are sorted by target, all imports of one target are one edge."""
    found: dict[str, list[tuple[int, Import, tuple[str, ...]]]] = {}
    external: list[External] = []
    unresolved: list[Import] = []
    for statement in facts.imports:
        resolution = resolver.resolve(path, statement)
        if resolution.external:
            external.append(External(package=resolution.external, line=statement.line, statement=statement))
        elif resolution.missing:
            unresolved.append(statement)
        rank = _rank(statement.flags, facts.language)
        for target, names in resolution.targets:
            found.setdefault(target, []).append((rank, statement, names))
    own = found.pop(path, None)
    return FileImports(
        edges=tuple([_edge(path, target, found[target]) for target in sorted(found)]),
        own=(_edge(path, path, own),) if own else (),
        external=tuple(external),
        unresolved=tuple(unresolved),
    )


def _rank(flags: int, language: str) -> int:
    if flags & ImportFlag.TYPE_ONLY:
        return _TYPE_ONLY
    if flags & ImportFlag.ERASED:
        return _ERASED
    # `import()` waits for no one in JavaScript; Python's import_module loads at once.
    if flags & ImportFlag.DEFERRED or (flags & ImportFlag.DYNAMIC and language != "python"):
        return _DEFERRED
    return _HARD


def _edge(source: str, target: str, statements: list[tuple[int, Import, tuple[str, ...]]]) -> Edge:
    rank, first, names = statements[0]
    reexport = bool(first.flags & ImportFlag.REEXPORT)
    if len(statements) > 1:
        rank, first, _ = min(statements, key=lambda item: (item[0], item[1].line))
        names = tuple(dict.fromkeys(name for item in statements if item[0] == rank for name in item[2]))
        reexport = all(item[1].flags & ImportFlag.REEXPORT for item in statements if item[0] == rank)
    return Edge(
        source=source,
        target=target,
        line=first.line,
        names=names,
        runtime=rank != _TYPE_ONLY,
        deferred=rank == _DEFERRED,
        reexport=reexport,
        erased=rank == _ERASED,
    )
