"""Functions that a decorator of the project runs while it holds a lock."""

import re

from analysis.engine.codebase import Place

_LOCKS = re.compile(r"for_update|(?:^|\.)(?:acquire|lock)$")


def runs_locked(place: Place) -> bool:
    """Whether a decorator of the function locks a row, or takes a lock, before it calls the function."""
    decorators = (each.partition("(")[0] for each in place.function.decorators)
    return any(
        _LOCKS.search(call)
        for name in decorators
        for callee in place.meant_by(name)
        for within in place.codebase.place(*callee).with_nested()
        for call in within.function.calls
    )
