"""Who looks at what: looks of the rules and of the extractor itself, by callee and by kind of node."""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from tree_sitter import Node

from analysis.engine.extract import orm
from analysis.engine.extract.calls import Candidate
from analysis.engine.extract.dialect import COMMENTS, STRUCTURE, WATCHED, Streams
from analysis.engine.extract.dialects import dialect_of
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.rules import watches_of
from analysis.engine.rules.base import Look, Watch

logger = logging.getLogger(__name__)

Looks = tuple[Look, ...]
Gate = tuple[Looks, Callable[[bytes, int], object] | None]  # looks, and what must match where a node starts


@dataclass(frozen=True, slots=True)
class CallLooks:
    """Who looks at calls, by the last segment of the callee."""

    by_name: dict[str, Looks]
    by_ending: tuple[tuple[str, Look], ...]
    endings: tuple[str, ...]

    def at(self, last: str) -> Looks:
        looks = self.by_name.get(last, ())
        if last.endswith(self.endings):
            looks += tuple(look for ending, look in self.by_ending if last.endswith(ending))
        return looks


@lru_cache(maxsize=16)
def looks_at_calls(language: str) -> CallLooks:
    """The looks at calls of the rules and of the extractor itself."""
    by_name: dict[str, Looks] = {}
    watches = [watch for watch in watches_of(language) if watch.on == "call"]
    named = [(name, watch.look) for watch in watches for name in watch.names]
    for name, look in (*named, *dialect_of(language).readers().items(), *orm.readers_of(language)):
        by_name[name] = (*by_name.get(name, ()), look)
    by_ending = tuple((ending, watch.look) for watch in watches for ending in watch.endings)
    return CallLooks(by_name, by_ending, tuple({ending for ending, _ in by_ending}))


@dataclass(frozen=True, slots=True)
class Gates:
    """What can see something in a file: its looks by the kind of node, and the node types that must be brought."""

    by_kind: dict[int, tuple[Gate, ...]]
    node_types: frozenset[str]


def gates_of(language: str, text: bytes, *, comments: bool = False) -> Gates:
    """The gates that a source leaves open, or with `comments` those that the text of its comments leaves open."""
    needed = _all_needs(language, comments)
    return _gates(language, comments, frozenset(each for each in needed if not any(map(text.__contains__, each))))


@lru_cache(maxsize=32)
def _all_needs(language: str, comments: bool) -> frozenset[tuple[bytes, ...]]:
    return frozenset(watch.needs for watch in _watches(language, comments) if watch.needs)


@lru_cache(maxsize=32)
def _watches(language: str, comments: bool) -> tuple[Watch, ...]:
    """The watches of comments, or those of all other nodes but calls."""
    spoken = dialect_of(language).comments
    found = (watch for watch in watches_of(language) if watch.on != "call")
    return tuple(watch for watch in found if comments == set(dialect_of(language).nodes_of(watch.on)).issubset(spoken))


@lru_cache(maxsize=500)
def _gates(language: str, comments: bool, absent: frozenset[tuple[bytes, ...]]) -> Gates:
    """Looks without a gate of their own stand together, before those with one."""
    dialect = dialect_of(language)
    open_to_all: dict[str, Looks] = {}
    gated: dict[str, tuple[Gate, ...]] = {}
    for watch in _watches(language, comments):
        for node_type in dialect.nodes_of(watch.on) if watch.needs not in absent else ():
            if watch.starts is None:
                open_to_all[node_type] = (*open_to_all.get(node_type, ()), watch.look)
            else:
                gated[node_type] = (*gated.get(node_type, ()), ((watch.look,), watch.starts.match))
    for node_type, looks in open_to_all.items():
        gated[node_type] = ((looks, None), *gated.get(node_type, ()))
    by_kind = {kind: gates for each, gates in gated.items() if (kind := dialect.kind_id(each)) is not None}
    return Gates(by_kind, frozenset(gated))


def watched(streams: Streams, gates: Gates, file: SourceFile) -> Iterator[Candidate]:
    """The nodes of all streams but the calls, beside the looks whose gates they pass (see `Watch`)."""
    source, comments = file.source, streams[COMMENTS]
    spoken = b"\n".join([source[node.start_byte : node.end_byte] for node in comments])
    yield from _passing(chain(streams[STRUCTURE], streams[WATCHED]), gates, source)
    yield from _passing(comments, gates_of(file.language, spoken, comments=True), source)


def _passing(nodes: Iterable[Node], gates: Gates, source: bytes) -> Iterator[Candidate]:
    by_kind = gates.by_kind
    for node in nodes:
        for looks, starts in by_kind.get(node.kind_id, ()):
            if starts is None or starts(source, node.start_byte):
                yield looks, node


def marks_of(candidates: Iterable[Candidate], file: SourceFile) -> tuple[Mark, ...]:
    """What the looks say about the candidates, by line. A rule that fails costs its own mark only."""
    check_scopes = file.tree.root_node.has_error
    marks: list[Mark] = []
    for looks, node in candidates:
        if check_scopes and file.scope_of(node).broken:
            continue
        for look in looks:
            try:
                marks.extend(look(node, file))
            except Exception:
                logger.exception("A rule failed in %s on a %s", look.__module__, node.type)
    marks.sort(key=lambda mark: (mark.line, mark.rule, mark.message))
    return tuple(marks)
