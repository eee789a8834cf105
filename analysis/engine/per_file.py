"""What functions make of each file, one state of a repository after the other: files that stay are not asked again."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from analysis.engine.facts import FileFacts

T = TypeVar("T")
Make = Callable[[str, FileFacts], T]


class PerFile:
    """A table for each function that is asked: path to what it makes of the file, where that is anything.

    Tables stand in the order of `files`, whatever the states before were. `before` are the tables of another state;
    facts of the same file must be the same object in both for anything to be saved.
    """

    def __init__(self, files: Mapping[str, FileFacts], before: "PerFile | None" = None) -> None:
        self._files = files
        self._tables: dict[Make[Any], Mapping[str, Any]] = {}
        if before is not None:
            changed = [path for path, facts in files.items() if before._files.get(path) is not facts]
            gone = [path for path in before._files if path not in files]
            self._tables = {make: self._after(table, make, changed, gone) for make, table in before._tables.items()}

    def table(self, make: Make[T]) -> Mapping[str, T]:
        known = self._tables.get(make)
        if known is None:
            made = ((path, make(path, facts)) for path, facts in self._files.items())
            known = self._tables[make] = {path: each for path, each in made if each}
        return known

    def _after(
        self, before: Mapping[str, T], make: Make[T], changed: Sequence[str], gone: Sequence[str]
    ) -> Mapping[str, T]:
        if not changed and not gone:
            return before
        table = {**before}
        for path in gone:
            table.pop(path, None)
        for path in changed:
            made = make(path, self._files[path])
            if made:
                table[path] = made
            else:
                table.pop(path, None)
        if table.keys() <= before.keys():
            return table
        return {path: table[path] for path in self._files if path in table}
