"""The calls of a file: what each calls, the function that makes it, and the loop that repeats it."""

from bisect import bisect_left
from collections.abc import Callable, Iterator

from tree_sitter import Node

from analysis.engine.extract.callees import AWAIT, names_of
from analysis.engine.extract.loops import WORD, dependents
from analysis.engine.extract.scopes import Scope
from analysis.engine.extract.source import SourceFile, innermost_loop, normalised
from analysis.engine.facts import LoopCall
from analysis.engine.rules.base import Look

LONGEST_CALL = 500  # bytes of a call in a loop that are searched for loop variables
# Rules ask for parents, and each parent costs a walk from the root: beyond these the file is no work of man, and
# looking at every call would be quadratic.
LONGEST_CHAIN = 3_000  # bytes of a callee
MOST_CANDIDATES = 5_000  # calls that rules look at in one file

Candidate = tuple[tuple[Look, ...], tuple[Node]]  # who looks at which call


def read_calls(
    calls: list[Node], file: SourceFile, looks_at: Callable[[str], tuple[Look, ...]], awaited: set[int]
) -> list[Candidate]:
    """Note each call at its function and loop; return those that somebody looks at by the callee's name.

    `calls` stand in the order of the document, the scopes of the file are complete, `looks_at` knows the looks by the
    callee, and `awaited` are the ends of the expressions that are awaited. Calls of the same scope stand in rows, and
    are handled by the row.
    """
    if not calls:
        return []
    starts = [call.start_byte for call in calls]
    names = names_of(calls, starts, file)
    file.calls, file.call_names = calls, list(names)
    places, first = _Places(file), 0
    while first < len(calls):
        scope = places.move(calls[first], starts[first])
        last = bisect_left(starts, places.border, first + 1)
        if scope.broken:
            names[first:last] = [""] * (last - first)
        else:
            scope.function.calls.update(dict.fromkeys(names[first:last]))
            if scope.loop is not None:
                for index in range(first, last):
                    _note(calls[index], starts[index], names[index], scope, file, awaited)
        first = last
    file.dialect.note_references(file)
    watched = {name: looks for name in set(names) if name and (looks := looks_at(name))}
    return list(_candidates(calls, starts, names, watched, file)) if watched else []


def _candidates(
    calls: list[Node], starts: list[int], names: list[str], watched: dict[str, tuple[Look, ...]], file: SourceFile
) -> Iterator[Candidate]:
    indexes = [index for index, name in enumerate(names) if name in watched]
    for index in indexes[:MOST_CANDIDATES]:
        call = calls[index]
        if _is_readable(call, starts[index], file):
            yield watched[names[index]], (call,)


class _Places:
    """The scope at a byte that only moves on. Until `border` it stays the same."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.scope = file.scopes[0]
        self.border = 0
        self._next = 1

    def move(self, node: Node, start: int) -> Scope:
        scopes, scope, following = self.file.scopes, self.scope, self._next
        while following < len(scopes) and scopes[following].start < start:
            scope = scopes[following]
            following += 1
        while start >= scope.end and scope.parent is not None:
            scope = scope.parent
        self.scope, self._next, self.border = scope, following, scope.end
        if following < len(scopes):
            self.border = min(scope.end, scopes[following].start)
            if scopes[following].start == start:  # which of the two holds the other?
                return self.file.scope_at(start, node.end_byte)
        return scope


def _is_readable(call: Node, start: int, file: SourceFile) -> bool:
    return call.end_byte - start < LONGEST_CHAIN or file.dialect.callee(call)[1] - start < LONGEST_CHAIN


def _note(call: Node, start: int, name: str, scope: Scope, file: SourceFile, awaited: set[int]) -> None:
    """Note a call at the loop that repeats it."""
    loop = innermost_loop(scope, start)
    if loop is None:
        return
    end = call.end_byte
    text = file.source[start : min(end, start + LONGEST_CALL)]
    changing = dependents(loop, file.source)
    uses = any(map(text.__contains__, changing)) and not changing.isdisjoint(WORD.findall(text))
    is_awaited = end in awaited or text.startswith(AWAIT)
    loop.calls.append(LoopCall(name, file.lines.of(start), uses, is_awaited, normalised(text)))
