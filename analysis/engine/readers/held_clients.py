"""Clients that files of Python and of scripts hold, and what a call through one is a call of: `SESSION.get` of another
file is `requests.get`, `client().put_object` of a function that makes one `boto3.s3.put_object`.

While the tree is there, a file notes which of its names hold a client, or give one. `evaluate` follows the imports.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Client, FileFacts
from analysis.engine.readers.http_clients import LIBRARIES, MAKERS, client_of, limits_itself
from analysis.engine.readers.reading import followed
from analysis.engine.readers.script_clients import made_by
from analysis.engine.rules.base import SCRIPT

CLOUD = frozenset({"boto3.client", "boto3.resource"})
_LAST_NAMES = frozenset(each.rpartition(".")[2] for each in (*MAKERS, *CLOUD))
_GIVEN_TO = re.compile(rb"(?:^|[\s;])(?P<own>self\.)?(?P<name>\w+)[ \t]*(?::[^=\n]+)?=[ \t]*(?:await[ ]+)?\Z")
_GIVEN_BACK = re.compile(rb"\breturn[ \t]+(?:await[ ]+)?\Z")
_OPENED = re.compile(rb"\bwith\s+(?:await[ ]+)?\Z")
_OPENED_AS = re.compile(rb"\s+as\s+(\w+)")
_NAMED_SO = re.compile(rb"\s*(?:(?:\+|-|\*)?=(?!=)|:(?!=))")
# `self._http = http`, and what annotates a name: `http: httpx.AsyncClient`.
_FIELD = re.compile(rb"\bself\.(\w+)[ \t]*(?::[^=\n]+)?=[ \t]*\w+[ \t]*(?=\n|#|$)")
_ANNOTATED = re.compile(rb"\b(\w+)[ \t]*:[ \t]*[\"']?(?:\w+\.)*(?:Session|Client|AsyncClient|ClientSession)\b")
_RETURNED = re.compile(rb"\breturn[ \t]+(\w+)[ \t]*(?=\n|#|$)")
_MADE_BY_OWN = re.compile(rb"^(\w+)[ \t]*(?::[^=\n]+)?=[ \t]*(\w+)\(", re.MULTILINE)
_SERVICE = re.compile(r"""["'](\w[\w-]*)["']""")
NEAR = 120  # bytes before a call in which its result is named


def held_by(file: SourceFile) -> tuple[Client, ...]:
    """The names of a file that hold a client, and the functions of Python, `client()`, that give one."""
    if file.language in SCRIPT:
        return made_by(file)
    if file.language != "python" or not any(map(file.mentions, (*LIBRARIES, b"boto3"))):
        return ()
    found: dict[str, str] = {}
    local: dict[tuple[int, str], str] = {}  # by function and name
    for call, callee in zip(file.calls, file.call_names, strict=True):
        if callee.rpartition(".")[2] in _LAST_NAMES and (library := _library(callee, call, file)):
            for name in _names_of(call, library, local, file):
                found.setdefault(name, library)
    for pattern in (_FIELD, _ANNOTATED):
        for match in pattern.finditer(file.source):
            client = client_of(match[1].decode(), file)
            if client is not None:
                found.setdefault(match[1].decode(), client.library)
    found |= _given_by_functions(local, file)
    for name, function in _MADE_BY_OWN.findall(file.source) if any(each.endswith("()") for each in found) else ():
        if (library := found.get(f"{function.decode()}()", "")) and name.decode() not in found:
            found[name.decode()] = library
    return tuple(Client(name, library, limits_itself(name, file)) for name, library in found.items())


def _library(callee: str, call: Node, file: SourceFile) -> str:
    """What the result of a call is a client of, with the service of a cloud."""
    if callee not in CLOUD:
        return MAKERS.get(callee, "")
    first = next(iter(file.arguments(call)[0]), None)
    service = _SERVICE.match(file.text(first)) if first is not None else None
    return f"boto3.{service[1]}" if service is not None else "boto3.client"


def _names_of(call: Node, library: str, local: dict[tuple[int, str], str], file: SourceFile) -> Iterator[str]:
    """Under which names a client is kept that a call makes; a variable is noted as one of its function."""
    before = file.source[max(0, call.start_byte - NEAR) : call.start_byte]
    function = file.function_of(call)
    given = _GIVEN_TO.search(before)
    if given is not None:
        name = given["name"].decode()
        if given["own"] or not function:
            yield name
        else:
            local[function, name] = library
            if client_of(name, file) is not None:  # and nothing else anywhere in the file
                yield name
    elif _GIVEN_BACK.search(before) and function:
        yield f"{file.functions[function].name.rpartition('.')[2]}()"
    elif _OPENED.search(before):
        opened = _OPENED_AS.match(file.source, call.end_byte)
        if opened is not None and not _has_other_value(opened[1], file):
            yield opened[1].decode()


def _has_other_value(name: bytes, file: SourceFile) -> bool:
    """Whether the file gives a name that a `with` opens a value elsewhere."""
    starts = (match.start() - len(name) for match in followed(name, file.source, _NAMED_SO, b"_."))
    return any(not file.source.endswith(b" as ", 0, start) for start in starts)


def _given_by_functions(local: dict[tuple[int, str], str], file: SourceFile) -> dict[str, str]:
    """The functions that give back the client which one of their variables holds."""
    given: dict[str, str] = {}
    for match in _RETURNED.finditer(file.source) if local else ():
        function = file.scope_at(match.start(), match.end()).function
        if library := local.get((function.index, match[1].decode())):
            given[f"{function.name.rpartition('.')[2]}()"] = library
    return given


def by_own_client(call: str, file: SourceFile) -> str:
    """A call of the file named after the library whose client it goes through, while the tree is there."""
    receiver, _, verb = call.rpartition(".")
    name = receiver.removeprefix("self.")
    library = next((each.library for each in held_by(file) if each.name == name), "")
    return f"{library}.{verb}" if library else call


def by_client(call: str, path: str, codebase: Codebase) -> str:
    """A call named after the library whose client it goes through, here or in an imported file; else as it is."""
    client, verb = client_behind(call, path, codebase), call.rpartition(".")[2]
    return f"{client.library}.{verb}" if client is not None else call


def client_behind(call: str, path: str, codebase: Codebase) -> Client | None:
    """The client that a call is made on, when a file of the project holds it."""
    receiver = call.rpartition(".")[0]
    module, _, name = receiver.rpartition(".")
    facts = codebase.files[path]
    is_script = facts.language in SCRIPT
    if not name or not (facts.language == "python" or (is_script and "/" in module)):
        return None
    own = _held(name, facts) if module in ("", "self") else None
    if own is not None or module == "self":
        return own
    bare = name.removesuffix("()")
    for edge in codebase.graph.imports_of(path):
        target = codebase.files.get(edge.target)
        if target is None or not target.clients:
            continue
        is_meant = bare in edge.names or (module and not is_script and _is_of_module(edge.target, module))
        if (is_meant or (is_script and "*" in edge.names)) and (found := _held(name, target)) is not None:
            return found
    return None


def _is_of_module(path: str, module: str) -> bool:
    return path.endswith(f"/{module.rpartition('.')[2]}.py")


def _held(name: str, facts: FileFacts) -> Client | None:
    return next((each for each in facts.clients if each.name == name), None)
