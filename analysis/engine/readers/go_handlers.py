"""Functions of Go that answer requests, by what they are given: `func(w http.ResponseWriter, r *http.Request)`, which
middleware returns without that a route names it; and methods that they may come to by a way that nobody sees."""

import re

from analysis.engine.codebase import Place
from analysis.engine.extract.scopes import Scope
from analysis.engine.extract.source import SourceFile
from analysis.engine.names import runs_by_hand

_GIVEN = (b"http.ResponseWriter", b"gin.Context", b"echo.Context", b"fiber.Ctx")
_HEAD = re.compile(
    rb"func\s*(?:\([^()]*\)\s*)?\w*\s*\(\s*\w+\s+(?:http\.ResponseWriter\s*,\s*\w+\s+\*http\.Request"
    rb"|\*gin\.Context|\*?echo\.Context|\*?fiber\.Ctx)\s*\)"
)


def answers_requests(start: int, file: SourceFile) -> bool:
    """Whether what stands at this byte runs in such a function."""
    if file.language != "go" or not any(map(file.mentions, _GIVEN)):
        return False
    scope: Scope | None = file.scope_at(start, start + 1)
    while scope is not None and scope.parent is not None:
        if scope.kind in ("function", "closure") and _HEAD.match(file.source, scope.start):
            return True
        scope = scope.parent
    return False


def may_be_reached(place: Place) -> bool:
    """Whether it is a method of a program that answers requests, and no way is seen to it: a request may reach it by a
    value of some interface."""
    codebase = place.codebase
    is_of_server = place.facts.language == "go" and bool(place.function.owner) and bool(codebase.request_path)
    is_seen = place.in_request_path or place.in_job_path
    return is_of_server and not is_seen and not runs_by_hand(codebase, place.path)
