"""Answers of addresses that whoever sends a request chooses, read whole."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import (
    assigned_values,
    followed,
    function_text,
    is_imported,
    origin_of,
    text_before,
)

LONGEST_WAY = 1_500  # bytes behind a call in which its answer is read
LONGEST_NAME = 60
LONGEST_HEAD = 600  # bytes of decorators and parameters
LIMITED = re.compile(
    r"MaxBytesReader|LimitReader|LimitedReader|ContentLength|content_length|content-length|\.size\b|max_?size",
    re.IGNORECASE,
)
PYTHON_CALLS = frozenset({"get", "post", "request"})
SCRIPT_CALLS = frozenset({"get", "post", "request", "axios", "fetch", "got"})

_HEAD = re.compile(  # what an address begins with: a name, and what is taken of it
    r"(?:[fF]?[\"'`]\$?\{)?\s*(?:(?:new\s+)?(?:URL|str|String|encodeURI)\(\s*)?"
    r"((?:(?:self|this)\.)?[A-Za-z_$][\w$]*)((?:\??\.\w+|\[[^\]]*\]|\([^()]*\))*)"
)
_REQUESTS = frozenset({"request", "req", "ctx", "self.request", "this.request"})
_TAKEN_APART = re.compile(r"[^{}=\n]*\}\s*=\s*(?:await\s+)?(?:request|req|ctx)\b")  # `const { url } = req.body`
_NAMED = re.compile(rb"([\w$]+)\s*(?::[^=\n]{1,40})?=\s*(?:await\s+)?\Z")
_READ = {  # what brings all of an answer into memory
    "python": re.compile(rb"\.(?:content|text)\b|\.a?read\(\)"),
    "script": re.compile(rb"\.(?:text|json|arrayBuffer|blob|buffer|bytes)\(\)"),
}
_CLIENTS = re.compile(r"^(?:httpx\.(?:Async)?Client|requests\.[sS]ession|aiohttp\.ClientSession)(?:\(\))?$")
_PACKAGES = frozenset({"requests", "httpx"})
_LOADED = frozenset({"axios", "axios.get", "axios.post", "axios.request"})  # they read the answer themselves
_OPENED = frozenset({"fetch", "node-fetch", "undici.fetch", "undici.request", "cross-fetch", "isomorphic-fetch"})
_GOT = frozenset({"got", "got.get", "got.post"})
_UNREAD = re.compile(r"maxContentLength|[\"']stream[\"']|maxBodyLength|responseLimit")
_ROUTE = re.compile(r"@\w+\.(?:get|post|put|patch|delete|route|api_route)\(")


def answers_of_python(call: Node, file: SourceFile) -> Iterator[tuple[Node, str, str]]:
    """Where `requests.get(url)` of an address from the request is read whole, what is said of it, and its repair."""
    callee = file.callee(call)
    positional, named = file.arguments(call)
    if not positional or "stream" in named or not (_is_client(callee, call, file) or is_client_of_others(call, file)):
        return
    address = positional[1] if callee.endswith(".request") and len(positional) > 1 else positional[0]
    if _is_chosen(file.text(address), call, file):
        for place, text in _reads(call, _READ["python"], file):
            message = f"`{text}` brings all of what the given address sends into memory"
            yield place, message, "Stream the answer, read it in chunks and stop at a limit."


def answers_of_script(call: Node, file: SourceFile) -> Iterator[tuple[Node, str, str]]:
    """The same for `axios.get(url)`, which reads the answer itself, and for `fetch(url)` where it is read."""
    callee = file.callee(call)
    positional = file.arguments(call)[0]
    if callee not in _LOADED | _OPENED | _GOT or not positional or not _is_chosen(file.text(positional[0]), call, file):
        return
    if callee in _OPENED:
        for place, text in _reads(call, _READ["script"], file):
            message = f"`{text}` brings all of what the given address sends into memory"
            yield place, message, "Read the body as a stream and stop at a limit."
    elif not _UNREAD.search(file.text(call)) and not LIMITED.search(function_text(call, file)):
        message = f"`{callee}` brings all of what the given address sends into memory"
        limit = "Set `maxContentLength`." if callee in _LOADED else "Read the answer as a stream and stop at a limit."
        yield call, message, limit


def _is_chosen(address: str, call: Node, file: SourceFile, steps: int = 2) -> bool:
    """Whether the request says which address is meant: the text begins with it, or with a name that was given it."""
    head = _HEAD.match(address)
    if head is None:
        return False
    name, rest = head[1], head[2]
    if (name in _REQUESTS and rest) or "validated_data" in rest or name in _of_route(call, file):
        return True
    before = text_before(call, file) if steps else ""
    return any(followed(name, before, _TAKEN_APART, "_.$")) or any(
        _is_chosen(file.text(value), call, file, steps - 1)
        for value in (assigned_values(name, call, file) if steps else ())
    )


def _of_route(call: Node, file: SourceFile) -> frozenset[str]:
    """The parameters of a function that the decorators of FastAPI or Flask make a route."""
    function = file.enclosing_function(call) if file.language == "python" else None
    body = function.child_by_field_name("body") if function is not None else None
    outer = file.parent_of(function) if function is not None else None
    if function is None or body is None or outer is None or outer.type != "decorated_definition":
        return frozenset()
    head = file.source[max(outer.start_byte, body.start_byte - LONGEST_HEAD) : body.start_byte].decode(
        "utf-8", "replace"
    )
    if not _ROUTE.search(head):
        return frozenset()
    return frozenset(each.name for each in file.dialect.parameters(function, file) if "Depends(" not in head)


def _is_client(callee: str, call: Node, file: SourceFile) -> bool:
    owner = callee.rpartition(".")[0]
    return owner in _PACKAGES or (owner.isidentifier() and _CLIENTS.match(origin_of(owner, call, file)) is not None)


def is_client_of_others(call: Node, file: SourceFile) -> bool:
    """Whether a call of Python is made on what another module gives, `clients.http.get(…)`: maybe a client."""
    callee = file.callee(call)
    owner, _, _ = callee.rpartition(".")
    return file.language == "python" and "." in owner and is_imported(callee, file)


def _reads(call: Node, read: re.Pattern[bytes], file: SourceFile) -> Iterator[tuple[Node, str]]:
    """Where the answer is read first, right behind the call or of the variable that holds it."""
    if LIMITED.search(function_text(call, file)):
        return
    end = (file.enclosing_function(call) or file.tree.root_node).end_byte
    after = file.source[call.end_byte : min(call.end_byte + LONGEST_WAY, end)]
    direct = read.match(after.lstrip(b")"))
    variable = _NAMED.search(file.source[max(0, call.start_byte - LONGEST_NAME) : call.start_byte])
    if direct is not None:
        yield call, f"{file.callee(call)}(…){direct[0].decode()}"
    elif variable is not None:
        for match in followed(variable[1], after, read, b"_."):
            place = file.tree.root_node.descendant_for_byte_range(
                call.end_byte + match.start(), call.end_byte + match.end()
            )
            if place is not None:
                yield place, f"{variable[1].decode()}{match[0].decode()}"
            return
