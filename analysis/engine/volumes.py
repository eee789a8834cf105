"""How large a table is: the policy's declarations matched to tables and models (rules.md 1.3)."""

from collections.abc import Iterable, Mapping

from analysis.engine.model import Volume

UNDECLARED = Volume.M
FACTOR = {Volume.S: 0.5, Volume.M: 1.0, Volume.XL: 2.0, Volume.XXL: 3.0}
_ORDER = (Volume.S, Volume.M, Volume.XL, Volume.XXL)


class Volumes:
    """The declared sizes. A key is compared with the exact table name, then with the model's name, then with the
    table name without schema and case, and last with the model's name as a table would be called after it: `hook_task`
    is the table of `HookTask` where the project's names are in the singular."""

    def __init__(self, declared: Mapping[str, Volume]) -> None:
        self._exact = dict(declared)
        self._folded: dict[str, Volume] = {}
        self._words: dict[str, Volume] = {}
        for name in sorted(declared):
            self._folded.setdefault(_folded(name), declared[name])
            self._words.setdefault(_folded(name).replace("_", ""), declared[name])

    def of(self, table: str, model: str = "") -> Volume:
        """The size of `table`; M when nobody declared it."""
        return self.declared(table, model) or UNDECLARED

    def declared(self, table: str, model: str = "") -> Volume | None:
        """The declared size of `table`, or None."""
        found = self._exact.get(table)
        if found is None and model:
            found = self._exact.get(model)
        if found is None and table:
            found = self._folded.get(_folded(table))
        if found is None and model:
            found = self._words.get(model.lower())
        return found


def unmatched(declared: Iterable[str], *, tables: Iterable[str], models: Iterable[str]) -> list[str]:
    """The declared names that mean none of these tables and models."""
    tables, models = set(tables), set(models)
    exact = tables | models
    folded = {_folded(table) for table in tables}
    words = {model.lower() for model in models}
    return [
        name
        for name in declared
        if not (name in exact or _folded(name) in folded or _folded(name).replace("_", "") in words)
    ]


def larger(one: Volume, other: Volume) -> Volume:
    """The larger of two sizes."""
    return max(one, other, key=_ORDER.index)


def is_large(volume: Volume | None) -> bool:
    """XL and XXL: a million rows and more."""
    return volume in (Volume.XL, Volume.XXL)


def _folded(name: str) -> str:
    return name.rpartition(".")[2].strip('"`[]').lower()
