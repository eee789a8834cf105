"""How a page learns that a request failed, when whoever sends it takes no rejection (`rel-promise-unhandled`)."""

import re

from analysis.engine.codebase import Codebase
from analysis.engine.facts import FileFacts, Function

_SHOWS = re.compile(r"(?i)message|toast|notif|snackbar|alert|modal|dialog")
_INTERCEPTS = ".interceptors.response.use"
STEPS = 3  # imports from the function that asks to the client that sends


def settles_as_result(function: Function) -> bool:
    """Whether a function hands a request to the store of Redux Toolkit, whose promise holds the error as a value until
    somebody unwraps it."""
    last = {call.rpartition(".")[2] for call in function.calls}
    return "initiate" in last and "dispatch" in last and "unwrap" not in last


def tells_user(path: str, codebase: Codebase) -> bool:
    """Whether a file sends its requests by way of a client that shows the user what failed: the nearest files that it
    imports set one up with an interceptor of answers."""
    clients = codebase.summaries(_shows_failures)
    edge, seen = {path}, {path}
    for _ in range(STEPS):
        if any(each in clients for each in edge):
            return True
        edge = {found.target for each in edge for found in codebase.graph.imports_of(each) if found.runtime} - seen
        seen |= edge
    return False


def _shows_failures(facts: FileFacts) -> bool:
    calls = {call for function in facts.functions for call in function.calls}
    return any(call.endswith(_INTERCEPTS) for call in calls) and any(map(_SHOWS.search, calls))
