"""Who looks at what: looks of the rules and of the extractor itself, by callee and by kind of node."""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain

from tree_sitter import Node

from analysis.engine.extract import orm
from analysis.engine.extract.calls import Candidate
from analysis.engine.extract.dialect import COMMENTS, STRUCTURE, WATCHED
from analysis.engine.extract.dialects import dialect_of
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.rules import watches_of
from analysis.engine.rules.base import Look

logger = logging.getLogger(__name__)

Gate = tuple[tuple[Look, ...], Callable[[bytes, int], object] | None]  # looks, and what must match where a node starts


@lru_cache(maxsize=16)
def looks_at_calls(language: str) -> dict[str, tuple[Look, ...]]:
    """What to call for a callee's last name."""
    by_name: dict[str, tuple[Look, ...]] = {}
    for watch in watches_of(language):
        for name in watch.names if watch.on == "call" else ():
            by_name[name] = (*by_name.get(name, ()), watch.look)
    for name, reader in (*dialect_of(language).readers().items(), *orm.readers_of(language)):
        by_name[name] = (*by_name.get(name, ()), reader)
    return by_name


def watched(streams: Sequence[Iterable[Node]], file: SourceFile) -> list[Candidate]:
    """The nodes of all streams but the calls, beside the looks whose gates they pass (see `Watch`)."""
    source = file.source
    absent = frozenset(needs for needs in _all_needs(file.language) if not any(map(source.__contains__, needs)))
    by_kind = _gates_by_kind(file.language, absent)
    found: list[Candidate] = []
    for node in chain(streams[STRUCTURE], streams[COMMENTS], streams[WATCHED]):
        for looks, starts in by_kind.get(node.kind_id, ()):
            if starts is None or starts(source, node.start_byte):
                found.append((looks, node))
    return found


@lru_cache(maxsize=16)
def _all_needs(language: str) -> frozenset[tuple[bytes, ...]]:
    return frozenset(watch.needs for watch in watches_of(language) if watch.needs)


@lru_cache(maxsize=500)
def _gates_by_kind(language: str, absent: frozenset[tuple[bytes, ...]]) -> dict[int, tuple[Gate, ...]]:
    """The looks that can see something in a file without these texts; those without a gate of their own together."""
    dialect = dialect_of(language)
    open_to_all: dict[int, tuple[Look, ...]] = {}
    gated: dict[int, tuple[Gate, ...]] = {}
    for watch in watches_of(language):
        if watch.on == "call" or watch.needs in absent:
            continue
        for node_type in dialect.nodes_of(watch.on):
            kind = dialect.kind_id(node_type)
            if kind is None:
                continue
            if watch.starts is None:
                open_to_all[kind] = (*open_to_all.get(kind, ()), watch.look)
            else:
                gated[kind] = (*gated.get(kind, ()), ((watch.look,), watch.starts.match))
    for kind, looks in open_to_all.items():
        gated[kind] = ((looks, None), *gated.get(kind, ()))
    return gated


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
