"""Which library a name of a Python program talks over HTTP with: by what made it, or by its annotation."""

import re
from functools import lru_cache
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import followed, origin_of

MAKERS = {
    "requests.Session": "requests",
    "requests.session": "requests",
    "requests.sessions.Session": "requests",
    "httpx.Client": "httpx",
    "httpx.AsyncClient": "httpx",
    "aiohttp.ClientSession": "aiohttp",
}
LIBRARIES = (b"requests", b"httpx", b"aiohttp")
_LIMITED = frozenset({"httpx", "aiohttp"})
# `name: Session`, `name: "Session | None"`, `name = Session(`, `self.name = given`.
_HELD = re.compile(
    rb"\s*:\s*(?:Optional\[\s*)?[\"']?(?P<kind>[\w.]+)|\s*(?::[^=\n]+)?=(?!=)\s*(?P<value>[\w.]+)(?P<made>\(?)"
)
_NAME = re.compile(r"(?:self\.)?\w+")
_ORIGIN = re.compile(rb"\s*(?::\s*([\w.]+)|=\s*([\w.]+)\()")
_SESSION_MADE = re.compile(
    rb"(?<![\w.])((?:self\.)?\w+)[ \t]*(?::[^=\n]+)?=[ \t]*(?:\w+\.)?[sS]ession\(\)"
    rb"|\bwith\s+(?:requests\.)?[sS]ession\(\)\s+as\s+(\w+)\s*:"
)
_LIMITS_ITSELF = re.compile(rb"(?:(\w+)|[\])])\.(?:mount\(|(?:request|send)\s*=\s*(?!=))")


class Held(NamedTuple):
    """What a name holds: of which library, and whether the file makes it or is only given it."""

    library: str
    is_made: bool


def client_of(name: str, file: SourceFile) -> Held | None:
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
    return Held(library, any(each["made"] for each in held)) if library else None


def call_on_client(callee: str, call: Node, file: SourceFile) -> str:
    """The name of a call on a client that has a limit unless the call lifts it: of what made or annotates the client,
    in the function, its parameters or the fields of the object."""
    receiver, _, verb = callee.rpartition(".")
    if not _NAME.fullmatch(receiver):
        return callee
    origin = origin_of(receiver, call, file) if receiver.isidentifier() else ""
    if not origin:
        given = followed(receiver.encode(), file.source, _ORIGIN, b"_.")
        origin = next((file.resolve((each[1] or each[2]).decode()) for each in given), "")
    library = MAKERS.get(origin.removesuffix("()"), "")
    return f"{library}.{verb}" if library in _LIMITED else callee


def session_of(receiver: str, call: Node, file: SourceFile) -> Held | None:
    """The session of `requests` that the file makes or is given under this name, unless the function makes something
    else of the name."""
    if not file.mentions(b"requests") or not _NAME.fullmatch(receiver):
        return None
    origin = origin_of(receiver, call, file) if receiver.isidentifier() else ""
    if origin.startswith(("aiohttp", "httpx")) or limits_itself(receiver, file):
        return None
    if receiver in _sessions(file.source):
        return Held("requests", is_made=True)
    client = client_of(receiver.rpartition(".")[2], file)
    return client if client is not None and client.library == "requests" else None


def limits_itself(name: str, file: SourceFile) -> bool:
    """Whether a session may have a limit of its own: by an adapter that is mounted on it, or on something that the file
    does not make as another session."""
    own = {each[1].decode("utf-8", "replace") if each[1] else "" for each in _LIMITS_ITSELF.finditer(file.source)}
    if not own:
        return False
    return name.rpartition(".")[2] in own or not own <= {each.rpartition(".")[2] for each in _sessions(file.source)}


@lru_cache(maxsize=1)
def _sessions(source: bytes) -> frozenset[str]:
    """What the file calls the sessions that it makes."""
    made = _SESSION_MADE.findall(source)
    return frozenset((assigned or opened).decode("utf-8", "replace") for assigned, opened in made)
