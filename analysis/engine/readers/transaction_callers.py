"""Functions that only ever run in the transaction of who calls them, or of who calls those."""

from collections.abc import Iterator

from analysis.engine.calls import Callee
from analysis.engine.codebase import Codebase
from analysis.engine.facts import FileFacts, Function
from analysis.engine.readers import transactions

MOST_LEVELS = 3  # of calls between a write and the transaction around it


def called_in_transactions(codebase: Codebase, asked_of: set[Callee]) -> set[Callee]:
    """Of the functions those that are called, and only ever inside a transaction: that of the caller, or of who calls
    the caller."""
    inside = called_inside(codebase)
    callers: dict[Callee, set[tuple[Callee, bool]]] = {}  # with whether the call stands in a transaction
    asked, found = set(asked_of) if inside else set(), set[Callee]()
    for _ in range(MOST_LEVELS):
        found |= asked
        outside = set[Callee]()  # who calls them without a transaction of their own
        for callee, caller, call in _calls_of(asked, codebase):
            is_inside = call in inside.get(caller, ())
            callers.setdefault(callee, set()).add((caller, is_inside))
            if not is_inside:
                outside.add(caller)
        asked = outside - found
    covered = set[Callee]()
    for _ in range(MOST_LEVELS):
        covered |= {
            callee for callee in callers if all(is_inside or caller in covered for caller, is_inside in callers[callee])
        }
    return covered


def called_inside(codebase: Codebase) -> dict[Callee, set[str]]:
    """Per function what it calls in a transaction of its own, as it is written."""
    inside: dict[Callee, set[str]] = {}
    for place, mark in codebase.marks(transactions.ANNOTATION):
        called = {call.rpartition("@")[0] for call in mark.data["calls"].split()}
        inside.setdefault(place.callee, set()).update(called)
    return inside


def _calls_of(asked: set[Callee], codebase: Codebase) -> Iterator[tuple[Callee, Callee, str]]:
    """Each call of the functions by others: which, by whom, and as it is written."""
    names = {codebase.files[each.path].functions[each.position].short_name for each in asked}
    called_in = codebase.summaries(_called_names) if names else {}
    for path, facts in codebase.sources if names else ():
        if path not in called_in or called_in[path].isdisjoint(names):
            continue
        for caller, function, call in _calls_by_name(path, facts, names):
            for callee in codebase.calls.resolve(path, function, call):
                if callee in asked and callee != caller:
                    yield callee, caller, call


def _calls_by_name(path: str, facts: FileFacts, names: set[str]) -> Iterator[tuple[Callee, Function, str]]:
    for index, function in enumerate(facts.functions):
        for call in function.calls:
            if call.rpartition(".")[2] in names:
                yield Callee(path, index), function, call


def _called_names(facts: FileFacts) -> frozenset[str]:
    return frozenset(call.rpartition(".")[2] for function in facts.functions for call in function.calls)
