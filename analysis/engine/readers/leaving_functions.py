"""By which call a function of the project leaves the process."""

import re

from analysis.engine.calls import Callee
from analysis.engine.codebase import Codebase, Place
from analysis.engine.readers.held_clients import by_client
from analysis.engine.readers.outside_calls import by_class, what_it_does

_BROKERS = re.compile(r"(?i)shared_task|celery|\bapp\.task|(?:^|\.)job(?:\(|$)|actor|\brq\b|huey|dramatiq")


def leaving_call(callee: Callee, codebase: Codebase) -> str:
    """The call by which a function leaves the process, named after its client, unless it waits for a commit; empty
    when there is none."""
    facts = codebase.files[callee.path]
    function = facts.functions[callee.position]
    if any("on_commit" in call for call in function.calls):
        return ""
    within = Place(codebase, callee.path, facts, callee.position)
    for call in function.calls:
        named = by_client(by_class(call, function, facts), callee.path, codebase)
        if what_it_does(named, facts.language) and not may_fill_a_table(call, within):
            return named
    return ""


def may_fill_a_table(call: str, place: Place) -> bool:
    """Whether a task of the project is queued that no known broker's decorator made: its queue may be a table, which
    the same transaction fills, or wait for the commit."""
    task, _, verb = call.rpartition(".")
    if verb not in ("delay", "apply_async"):
        return False
    tasks = place.meant_by(task)
    decorators = [
        name for each in tasks for name in place.codebase.files[each.path].functions[each.position].decorators
    ]
    return bool(decorators) and not any(_BROKERS.search(name) for name in decorators)
