"""Functions of Go that answer requests, by what they are given: `func(w http.ResponseWriter, r *http.Request)`, which
middleware returns without that a route names it."""

import re

from analysis.engine.extract.scopes import Scope
from analysis.engine.extract.source import SourceFile

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
