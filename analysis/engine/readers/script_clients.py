"""Clients for HTTP that a file of a script makes for all: `export const stock = axios.create({ … })`."""

import re

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Client

_MAKES = {"axios.create": "axios", "got.extend": "got", "got.default.extend": "got"}
_GIVEN = re.compile(rb"\b(?:const|let|var)\s+(\w+)\s*(?::[^=\n]{1,60})?=\s*\Z|\b(?:module\.)?exports\.(\w+)\s*=\s*\Z")
_NEAR = 120  # bytes before the call in which its name stands


def made_by(file: SourceFile) -> tuple[Client, ...]:
    """The clients that a script makes at its top level."""
    if not (file.mentions(b"axios") or file.mentions(b"got")):
        return ()
    found: list[Client] = []
    for call, callee in zip(file.calls, file.call_names, strict=True):
        library = _MAKES.get(callee, "")
        given = _GIVEN.search(file.source, max(0, call.start_byte - _NEAR), call.start_byte) if library else None
        if given is not None and file.function_of(call) == 0:
            found.append(Client((given[1] or given[2]).decode(), library, is_limited=False))
    return tuple(found)
