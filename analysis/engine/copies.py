"""Code that stands in two places, found by the hashes of lines that the facts carry (`extract.blocks`).

Of each function a few places are chosen that two copies of at least `SHORTEST_BLOCK` lines have in common wherever they
stand: the smallest hash of every five neighbouring lines (winnowing, after Schleimer, Wilkerson and Aiken 2003). Places
that six equal lines begin at are then compared line by line in both directions. A block counts as a copy of the first
one by path and line. Functions that differ in their names alone are known by one hash.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Generic, NamedTuple, TypeAlias, TypeVar
from zlib import crc32

from analysis.engine.facts import RENAMED, FileFacts

SHORTEST_BLOCK = 10  # lines that are more than a closing bracket
LEAST_TOKENS = 100
CHARACTERS_PER_TOKEN = 3.5  # of code without white space
_BRACKETS = frozenset(  # lines that do not count
    crc32("".join(signs).encode()) for length in range(4) for signs in product("(){}[]<>/;,:", repeat=length)
)
NEIGHBOURS, GRAM = 5, 6  # every block of NEIGHBOURS + GRAM - 1 lines has a common place
MOST_COPIES = 40  # places that share six lines: more of them are a custom of the project
_FAMILIES = {"python": 1, "javascript": 2, "typescript": 2, "tsx": 2, "java": 3, "go": 4}


Numbers: TypeAlias = "array[int]"
_Lines: TypeAlias = tuple[str, int, int]  # path, first and last line
T = TypeVar("T")


class Copy(NamedTuple):
    """A block that stands elsewhere too: lines `first` to `last` of `path` say what `original` says at `line`."""

    path: str
    first: int
    last: int
    original: str
    line: int
    places: int  # how many there are, the original included
    is_function: bool  # the whole of a small function
    is_renamed: bool  # a whole function with other names
    identity: str  # of what is copied


class _Place(NamedTuple):
    path: str
    function: int  # position in the file's rows
    row: int


class _Rows(NamedTuple):
    """The lines of one function that count, and their hashes."""

    hashes: Numbers
    lines: Numbers
    mean_length: int  # characters of a line without white space


@dataclass(slots=True)
class _File:
    facts: FileFacts
    functions: list[_Rows] = field(default_factory=list)
    places: list[tuple[int, _Place]] = field(default_factory=list)  # key and place
    bodies: list[tuple[int, int, int]] = field(default_factory=list)  # key, first and last line
    shapes: list[tuple[int, int, int]] = field(default_factory=list)  # the same without names


class _ByKey(Generic[T]):
    """What bears which key. Most bear one alone, and a set for each would take ten times the memory."""

    def __init__(self) -> None:
        self._alone: dict[int, T] = {}
        self.shared: dict[int, set[T]] = {}

    def add(self, key: int, each: T) -> None:
        if key in self.shared:
            self.shared[key].add(each)
        elif key in self._alone:
            self.shared[key] = {self._alone.pop(key), each}
        else:
            self._alone[key] = each

    def remove(self, key: int, each: T) -> None:
        if key in self._alone:
            del self._alone[key]
            return
        self.shared[key].discard(each)
        if len(self.shared[key]) == 1:
            self._alone[key] = self.shared.pop(key).pop()


class Copies:
    """The copies among the files that it was last shown. Files that stay the same are read once."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._places: _ByKey[_Place] = _ByKey()
        self._bodies: _ByKey[_Lines] = _ByKey()
        self._shapes: _ByKey[_Lines] = _ByKey()
        self._copies: list[Copy] = []

    def among(self, files: Mapping[str, FileFacts]) -> list[Copy]:
        """Every second and further copy, by path and line."""
        gone = [path for path, known in self._files.items() if files.get(path) is not known.facts]
        for path in gone:
            self._remove(path)
        come = [path for path, facts in files.items() if facts.blocks and path not in self._files]
        for path in come:
            self._add(path, files[path])
        if gone or come:
            blocks = list(self._blocks())
            functions = [
                *_whole(self._bodies.shared, is_renamed=False),
                *_whole(self._shapes.shared, is_renamed=True),
            ]
            self._copies = sorted([*blocks, *_beside(blocks, functions)])
        return self._copies

    def _add(self, path: str, facts: FileFacts) -> None:
        file = self._files[path] = _read(path, facts)
        for key, place in file.places:
            self._places.add(key, place)
        for held, functions in ((self._bodies, file.bodies), (self._shapes, file.shapes)):
            for key, first, last in functions:
                held.add(key, (path, first, last))

    def _remove(self, path: str) -> None:
        file = self._files.pop(path)
        for key, place in file.places:
            self._places.remove(key, place)
        for held, functions in ((self._bodies, file.bodies), (self._shapes, file.shapes)):
            for key, first, last in functions:
                held.remove(key, (path, first, last))

    def _blocks(self) -> Iterator[Copy]:
        places = {key: sorted(shared) for key, shared in self._places.shared.items() if len(shared) <= MOST_COPIES}
        covered: dict[tuple[str, int], int] = {}  # per function the row up to which copies are known
        ordered = sorted((place, key) for key, shared in places.items() for place in shared)
        for place, key in ordered:
            reached = covered.get(place[:2], 0)
            if place.row < reached:
                continue
            earlier = [each for each in places[key] if each < place]
            found = max((self._match(place, each, reached) for each in earlier), default=None, key=_length)
            if found is not None and self._is_large(place, found):
                covered[place[:2]] = found.end
                others = (self._match(place, each, reached) for each in places[key] if each != place)
                yield self._copy(place, found, 1 + sum(_length(other) >= SHORTEST_BLOCK for other in others))

    def _match(self, place: _Place, other: _Place, reached: int) -> "_Match":
        """How far two functions agree around two places that do. Two places of one function do not overlap."""
        here, there = self._rows(place), self._rows(other)
        start, twin = place.row, other.row
        while start > reached and twin > 0 and here[start - 1] == there[twin - 1]:
            start, twin = start - 1, twin - 1
        longest = min(len(here) - start, len(there) - twin)
        if place[:2] == other[:2]:
            longest = min(longest, abs(start - twin))
        length = place.row - start
        while length < longest and here[start + length] == there[twin + length]:
            length += 1
        return _Match(start, min(start + length, start + longest), other, twin)

    def _rows(self, place: _Place) -> Numbers:
        return self._files[place.path].functions[place.function].hashes

    def _is_large(self, place: _Place, found: "_Match") -> bool:
        rows = found.end - found.start
        characters = rows * self._files[place.path].functions[place.function].mean_length
        return rows >= SHORTEST_BLOCK and characters >= LEAST_TOKENS * CHARACTERS_PER_TOKEN

    def _copy(self, place: _Place, found: "_Match", places: int) -> Copy:
        here = self._files[place.path].functions[place.function].lines
        there = self._files[found.other.path].functions[found.other.function].lines
        first, last = here[found.start], here[found.end - 1]
        rows = self._rows(place)[found.start : found.start + GRAM]
        identity = f"{crc32(rows.tobytes()):08x}"
        return Copy(place.path, first, last, found.other.path, there[found.twin], places, False, False, identity)


def _whole(functions: Mapping[int, set[_Lines]], *, is_renamed: bool) -> Iterator[Copy]:
    """The second and further functions of each key."""
    for key, places in functions.items():
        if len(places) <= MOST_COPIES:
            (path, line, _), *copies = sorted(places)
            for each in copies:
                yield Copy(*each, path, line, len(places), True, is_renamed, f"{key:x}")


def _beside(found: Iterable[Copy], functions: Iterable[Copy]) -> list[Copy]:
    """The functions that share no line with a copy that is known already: the outer ones before those inside, and those
    with the same names before the others."""
    known: dict[str, list[Copy]] = {}
    for each in found:
        known.setdefault(each.path, []).append(each)
    beside = []
    for each in sorted(functions, key=lambda copy: (copy.path, copy.first, -copy.last, copy.is_renamed)):
        others = known.setdefault(each.path, [])
        if not any(each.first <= other.last and other.first <= each.last for other in others):
            others.append(each)
            beside.append(each)
    return beside


class _Match(NamedTuple):
    start: int
    end: int
    other: _Place
    twin: int  # the row of the other function that `start` equals


def _length(match: _Match) -> int:
    return match.end - match.start


def _read(path: str, facts: FileFacts) -> _File:
    """The packed numbers of one file, with keys that tell languages apart."""
    family = _FAMILIES.get(facts.language, 0)
    packed = array("I", facts.blocks)
    file = _File(facts)
    position = 0
    while position < len(packed):
        first, count, extra = packed[position : position + 3]
        if count in (0, RENAMED):
            last, body = extra, packed[position + 3]
            (file.shapes if count else file.bodies).append((body << 3 | family, first, last))
            position += 4
            continue
        rows = packed[position + 3 : position + 3 + count]
        kept = [index for index, row in enumerate(rows) if row not in _BRACKETS]
        hashes, lines = array("I", [rows[index] for index in kept]), array("I", [first + index for index in kept])
        function = _Rows(hashes, lines, extra)
        for row, key in _keys(function.hashes):
            file.places.append((hash((key, family)), _Place(path, len(file.functions), row)))
        file.functions.append(function)
        position += 3 + count
    return file


def _keys(hashes: Numbers) -> Iterator[tuple[int, int]]:
    """The chosen rows of a function with a key of the six rows from there."""
    last = -1
    for start in range(len(hashes) - GRAM - NEIGHBOURS + 2):
        window = hashes[start : start + NEIGHBOURS]
        row = start + window.index(min(window))
        if row != last:
            last = row
            yield row, hash(tuple(hashes[row : row + GRAM]))
