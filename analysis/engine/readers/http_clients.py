"""Which library a name of a Python program talks over HTTP with: by what made it, or by its annotation."""

import re
from typing import NamedTuple

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import followed

MAKERS = {
    "requests.Session": "requests",
    "requests.session": "requests",
    "requests.sessions.Session": "requests",
    "httpx.Client": "httpx",
    "httpx.AsyncClient": "httpx",
    "aiohttp.ClientSession": "aiohttp",
}
# What may give all calls of a session a time limit: an adapter, or a method put in the place of its own.
OWN_LIMIT = re.compile(rb"\.mount\(|\.(?:request|send)\s*=\s*(?!=)")
LIBRARIES = (b"requests", b"httpx", b"aiohttp")
# `name: Session`, `name: "Session | None"`, `name = Session(`, `self.name = given`.
_HELD = re.compile(
    rb"\s*:\s*(?:Optional\[\s*)?[\"']?(?P<kind>[\w.]+)|\s*(?::[^=\n]+)?=(?!=)\s*(?P<value>[\w.]+)(?P<made>\(?)"
)


class Client(NamedTuple):
    """What a name holds: of which library, and whether the file makes it or is only given it."""

    library: str
    is_made: bool


def client_of(name: str, file: SourceFile) -> Client | None:
    """The client that the file makes, or annotates, under this name or as a field of the object; a field that is set to
    an annotated name is what that name is. None when nothing says so, or something else does: the `session` of another
    function may be one of a database."""
    if not any(map(file.mentions, LIBRARIES)):
        return None
    held = list(followed(name.encode(), file.source, _HELD, b"_$"))
    given = {each["value"] for each in held if each["value"] and not each["made"] and b"." not in each["value"]}
    held += [each for other in given for each in followed(other, file.source, _HELD, b"_.$") if each["kind"]]
    written = {each["kind"] or (each["value"] if each["made"] else b"") for each in held}
    imported = {each.decode() for each in written if each.partition(b".")[0].decode() in file.bindings}
    libraries = {MAKERS.get(file.resolve(each), "") for each in imported}
    library = libraries.pop() if len(libraries) == 1 else ""
    return Client(library, any(each["made"] for each in held)) if library else None
