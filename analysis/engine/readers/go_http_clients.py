"""What limits the requests of an `http.Client` that Go makes without a `Timeout`."""

import re
from enum import Enum, auto

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import function_text

_LIMITED = re.compile(
    rb"(?<!\b[dD][bB]\.)(?<!\btx\.)WithContext\((?!\s*context\.(?:Background|TODO)\(\))|\bResponseHeaderTimeout:"
    rb"|\b\w*[cC]lient\.Timeout\s*="
)
_HAS_DEADLINES = re.compile(rb"\bcontext\.With(?:Timeout|Deadline)\(")  # which may be those of the requests
_LOCAL = re.compile(rb"\n\s*(?:var\s+)?\w+\s*:?=\s*&?\Z")  # the literal that a variable is given
_ASKED_AT_ONCE = re.compile(rb"(?<![\w\])])\(&\Z")  # `(&http.Client{}).Do(request)`
_NAMED = re.compile(rb"\b(\w+)\s*(?::?=|:)\s*&?\Z")  # a variable, or a field of what is made
_OF_A_SOCKET = re.compile(rb"(?i)websocket\.?\w*\{[^{}]*HTTPClient:\s*&?\Z")
_MADE_ELSEWHERE = re.compile(r"\bTransport:\s*(?:\w+\.)?[Nn]ew\w*\(")  # where its limits may stand
_NEAR = 60  # bytes before a literal that say what it is for
_NEAR_SOCKET = 160


class Limits(Enum):
    """Whether something else than the literal limits the requests of a client."""

    NONE = auto()
    POSSIBLE = auto()
    SET = auto()


def is_of_a_socket(literal: Node, file: SourceFile) -> bool:
    """Whether a client is there to open a web socket, which stays open on purpose."""
    return _OF_A_SOCKET.search(file.source, max(0, literal.start_byte - _NEAR_SOCKET), literal.start_byte) is not None


def limits_of(literal: Node, file: SourceFile) -> Limits:
    """What limits requests of the client: of one that lives in its function alone, there; else anywhere in the file."""
    before = file.source[max(0, literal.start_byte - _NEAR) : literal.start_byte]
    is_local = _LOCAL.search(before) is not None or _ASKED_AT_ONCE.search(before) is not None
    near = function_text(literal, file).encode() if is_local else file.source
    if _LIMITED.search(near) is not None and not _is_asked_without_context(before, near):
        return Limits.SET
    is_possible = _MADE_ELSEWHERE.search(file.text(literal)) is not None or _HAS_DEADLINES.search(near) is not None
    return Limits.POSSIBLE if is_possible else Limits.NONE


def _is_asked_without_context(before: bytes, near: bytes) -> bool:
    """Whether requests are made by the methods of the client, which take no context, so that none has a deadline."""
    named = _NAMED.search(before)
    if named is None or re.search(rb"\b" + named[1] + rb"\.Timeout\s*=", near) is not None:
        return False
    return re.search(rb"\b" + named[1] + rb"\.(?:Get|Post|PostForm|Head)\(", near) is not None
