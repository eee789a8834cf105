"""The calls of a file: what each calls, the function that makes it, and the loop that repeats it."""

from collections.abc import Callable

from tree_sitter import Node

from analysis.engine.extract.callees import Callees
from analysis.engine.extract.loops import WORD, dependents
from analysis.engine.extract.scopes import LoopDraft, Scope
from analysis.engine.extract.source import SourceFile, innermost_loop, normalised
from analysis.engine.facts import LoopCall
from analysis.engine.rules.base import Look

LONGEST_CALL = 500  # bytes of a call in a loop that are searched for loop variables
# Rules ask for parents, and each parent costs a walk from the root: beyond these the file is no work of man, and
# looking at every call would be quadratic.
LONGEST_CHAIN = 3_000  # bytes of a callee
MOST_CANDIDATES = 5_000  # calls that rules look at in one file

Candidate = tuple[tuple[Look, ...], Node]  # who looks at which node


def read_calls(
    calls: list[Node], file: SourceFile, looks_at: Callable[[str], tuple[Look, ...]], awaited: set[int]
) -> list[Candidate]:
    """Note each call at its function and loop; return those that somebody looks at by the callee's last name.

    `calls` stand in the order of the document, the scopes of the file are complete, `looks_at` knows the looks by the
    last name of a callee, and `awaited` are the ends of the expressions that are awaited.
    """
    if not calls:
        return []
    callees, places = Callees(file), _Places(file)
    known: dict[str, tuple[Look, ...]] = {}
    candidates: list[Candidate] = []
    names: list[str] = []  # of the rest of a chain, from its end
    starts = [call.start_byte for call in calls]
    for index, (call, start, following) in enumerate(zip(calls, starts, (*starts[1:], -1), strict=True)):
        if names:
            name = names.pop()
        elif start == following:
            chain = calls[index : index + _length(starts, index)]
            names = callees.chain(chain, start)
            names.reverse()
            name = names.pop()
        else:
            name = callees.single(call, start)
        scope = places.scope if start < places.border else places.move(call, start)
        if scope.broken:
            continue
        scope.function.calls[name] = None
        looks = known.get(name)
        if looks is None:
            looks = known[name] = looks_at(file.dialect.name_call(name))
        if looks and len(candidates) < MOST_CANDIDATES and _is_readable(call, start, file):
            candidates.append((looks, call))
            file.callees[call.id] = name
        if scope.loop is not None:
            loop = innermost_loop(scope, start)
            if loop is not None:
                _note(call, start, name, loop, file, awaited)
    return candidates


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


def _length(starts: list[int], index: int) -> int:
    """How many calls begin where this one does."""
    start, last = starts[index], index + 1
    while last < len(starts) and starts[last] == start:
        last += 1
    return last - index


def _is_readable(call: Node, start: int, file: SourceFile) -> bool:
    return call.end_byte - start < LONGEST_CHAIN or file.dialect.callee(call)[1] - start < LONGEST_CHAIN


def _note(call: Node, start: int, name: str, loop: LoopDraft, file: SourceFile, awaited: set[int]) -> None:
    end = call.end_byte
    text = file.source[start : min(end, start + LONGEST_CALL)]
    changing = dependents(loop, file.source)
    uses = any(map(text.__contains__, changing)) and not changing.isdisjoint(WORD.findall(text))
    loop.calls.append(LoopCall(name, file.lines.of(start), uses, end in awaited, normalised(text)))
