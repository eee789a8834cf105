"""Functions that a decorator of the project runs while it holds a lock."""

import re
from collections.abc import Iterator

from analysis.engine.calls import Callee
from analysis.engine.codebase import Codebase, Place
from analysis.engine.facts import Function

_LOCKS = re.compile(r"for_update|(?:^|\.)(?:acquire|lock)$")


def runs_locked(place: Place) -> bool:
    """Whether a decorator of the function locks a row, or takes a lock, before it calls the function."""
    decorators = (each.partition("(")[0] for each in place.function.decorators)
    return any(
        _LOCKS.search(call)
        for name in decorators
        for callee in place.codebase.calls.resolve(place.path, place.function, name)
        for function in _within(callee, place.codebase)
        for call in function.calls
    )


def _within(callee: Callee, codebase: Codebase) -> Iterator[Function]:
    """A function and those that are made in it."""
    functions = codebase.files[callee.path].functions
    inside = {callee.position}
    for position in range(callee.position, len(functions)):
        if position in inside or functions[position].parent in inside:
            inside.add(position)
            yield functions[position]
