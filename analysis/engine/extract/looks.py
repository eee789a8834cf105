"""Who looks at what: looks of the rules and of the extractor itself, by callee and by kind of node."""

import logging
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import hyperscan
from tree_sitter import Node

from analysis.engine.extract import orm
from analysis.engine.extract.dialects import dialect_of
from analysis.engine.extract.nodes import Nodes
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.rules import watches_of
from analysis.engine.rules.base import Look

logger = logging.getLogger(__name__)

Looks = tuple[Look, ...]
Seen = tuple[Looks, Sequence[Node]]  # who looks, and at what


class Gate(NamedTuple):
    """A look at a type of node, with what must match where a node starts and, of comments, words of which it must hold
    one."""

    look: Look
    starts: re.Pattern[bytes] | None
    words: tuple[bytes, ...]


class CallLooks:
    """Who looks at calls, by the last segment of the callee: looks of the rules and, but for tests, of the extractor
    itself."""

    def __init__(self, language: str, in_tests: bool) -> None:
        self._name_call = dialect_of(language).name_call
        watches = [watch for watch in watches_of(language, in_tests=in_tests) if watch.on == "call"]
        named = [(name, watch.look) for watch in watches for name in watch.names]
        if not in_tests:
            named += [*dialect_of(language).readers().items(), *orm.readers_of(language)]
        self._by_name: dict[str, Looks] = {}
        for name, look in named:
            self._by_name[name] = (*self._by_name.get(name, ()), look)
        self._words = tuple(name.encode() for name in self._by_name)
        self._by_ending = tuple((ending, watch.look) for watch in watches for ending in watch.endings)
        self._endings = tuple({ending for ending, _ in self._by_ending})
        self.at = lru_cache(maxsize=20_000)(self._at)

    def may_see_in(self, source: bytes) -> bool:
        """Whether a name that somebody looks at stands in the source at all."""
        return any(word in source for word in self._words)

    def _at(self, callee: str) -> Looks:
        last = self._name_call(callee)
        looks = self._by_name.get(last, ())
        if last.endswith(self._endings):
            looks += tuple(look for ending, look in self._by_ending if last.endswith(ending))
        return looks


@lru_cache(maxsize=32)
def looks_at_calls(language: str, *, in_tests: bool = False) -> CallLooks:
    return CallLooks(language, in_tests)


Gates = Mapping[str, tuple[Gate, ...]]  # what can see something in a file, by the type of node


def gates_of(language: str, source: bytes, *, in_tests: bool = False) -> Gates:
    """The gates that a source leaves open."""
    return _gates(language, in_tests, _needs(language, in_tests).met_by(source))


@lru_cache(maxsize=32)
def watched_types(language: str, *, in_tests: bool = False) -> frozenset[str]:
    """Types of nodes that rules look at, whatever a source holds. One query brings them all: to compile another one
    takes as long as to parse thousands of lines, and a node that nobody looks at costs next to nothing."""
    nodes_of = dialect_of(language).nodes_of
    watches = watches_of(language, in_tests=in_tests)
    return frozenset(each for watch in watches if watch.on != "call" for each in nodes_of(watch.on))


class Needs:
    """The needs of all watches of a language, looked for at once."""

    def __init__(self, needs: Iterable[tuple[bytes, ...]]) -> None:
        self._needs = tuple(needs)
        patterns = [b"|".join(map(re.escape, each)) for each in self._needs]
        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        if patterns:
            self._database.compile(
                expressions=patterns,
                ids=list(range(len(patterns))),
                flags=[hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_DOTALL] * len(patterns),
            )

    def met_by(self, source: bytes) -> frozenset[tuple[bytes, ...]]:
        """Those of which a text stands in the source."""
        met: list[tuple[bytes, ...]] = []

        def note(number: int, start: int, end: int, flags: int, context: object) -> None:
            met.append(self._needs[number])

        if source and self._needs:
            self._database.scan(source, match_event_handler=note)
        return frozenset(met)


@lru_cache(maxsize=32)
def _needs(language: str, in_tests: bool) -> Needs:
    return Needs({watch.needs for watch in watches_of(language, in_tests=in_tests) if watch.needs})


@lru_cache(maxsize=500)
def _gates(language: str, in_tests: bool, met: frozenset[tuple[bytes, ...]]) -> Gates:
    dialect = dialect_of(language)
    gates: dict[str, tuple[Gate, ...]] = {}
    for watch in watches_of(language, in_tests=in_tests):
        if watch.on == "call" or (watch.needs and watch.needs not in met):
            continue
        for node_type in dialect.nodes_of(watch.on):
            words = watch.needs if node_type in dialect.comments else ()
            gates[node_type] = (*gates.get(node_type, ()), Gate(watch.look, watch.starts, words))
    return gates


def watched(nodes: Nodes, gates: Gates, file: SourceFile) -> Iterator[Seen]:
    """What looks have to look at besides calls: the nodes that pass their gates (see `Watch`)."""
    for node_type, open_to in gates.items():
        found = nodes.by_type[node_type]
        for gate in open_to if found else ():
            yield (gate.look,), _passing(gate, found, file.source)


def _passing(gate: Gate, nodes: list[Node], source: bytes) -> list[Node]:
    if gate.words:
        nodes = _speaking_of(nodes, gate.words, source)
    return nodes if gate.starts is None else _starting(nodes, gate.starts, source)


def _starting(nodes: list[Node], pattern: re.Pattern[bytes], source: bytes) -> list[Node]:
    matches = pattern.match
    return [node for node in nodes if matches(source, node.start_byte)]


def _speaking_of(comments: list[Node], words: tuple[bytes, ...], source: bytes) -> list[Node]:
    """The comments in which one of the words stands."""
    starts = [node.start_byte for node in comments]
    found: dict[int, Node] = {}
    for word in words:
        position = source.find(word)
        while position >= 0:
            index = bisect_right(starts, position) - 1
            if index >= 0 and position < comments[index].end_byte:
                found[index] = comments[index]
            position = source.find(word, position + 1)
    return [found[index] for index in sorted(found)]


def marks_of(seen: Iterable[Seen], file: SourceFile) -> tuple[Mark, ...]:
    """What looks say about nodes, by line. A rule that fails costs its own mark only."""
    check_scopes = file.tree.root_node.has_error
    marks: list[Mark] = []
    for looks, nodes in seen:
        for node in nodes:
            if check_scopes and file.scope_of(node).broken:
                continue
            for look in looks:
                try:
                    marks.extend(look(node, file))
                except Exception:
                    logger.exception("A rule failed in %s on a %s", look.__module__, node.type)
    marks.sort(key=lambda mark: (mark.line, mark.rule, mark.message))
    return tuple(marks)
