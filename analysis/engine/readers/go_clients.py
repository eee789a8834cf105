"""Clients of Redis, MongoDB and gRPC that Go builds without a limit. That of `go-redis` has limits of its own."""

import re
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.go_results import helps_tests
from analysis.engine.readers.reading import assigned_values

CONNECTING_LIBRARIES = (b"gomodule/redigo", b"go.mongodb.org/mongo-driver", b"google.golang.org/grpc")
CONNECTS = frozenset({"Dial", "DialURL", "Connect", "DialContext"})
_REDIGO = re.compile(r"github\.com/gomodule/redigo/redis\.Dial(?:URL)?")
_MONGO = re.compile(r"go\.mongodb\.org/mongo-driver/(?:v2/)?mongo\.Connect")
_GRPC = re.compile(r"google\.golang\.org/grpc\.Dial(?:Context)?")
_LIMIT = re.compile(r"(?i)time_?out")
_ADDRESS_OF_MONGO = re.compile(r"\boptions\.Client\(\)\s*\.\s*ApplyURI\(\s*(?P<text>[\"`])?")
_ENDLESS = re.compile(r"context\.(?:Background|TODO)\(\)")


class Built(NamedTuple):
    """What is wrong with a client, how certain that is, and what to do."""

    message: str
    confidence: str
    suggestion: str


def connects_for_ever(call: Node, file: SourceFile) -> Built | None:
    """The client that a call builds without a limit. None where it has one, or where one may stand elsewhere."""
    callee = file.callee(call)
    given = file.arguments(call)[0]
    if helps_tests(file) or any(each.type == "variadic_argument" for each in given):
        return None
    if _REDIGO.fullmatch(callee):
        return _of_redigo(given, file)
    if _MONGO.fullmatch(callee):
        return _of_mongo(given, file)
    return _of_grpc(callee, given, file) if _GRPC.fullmatch(callee) else None


def _of_redigo(given: list[Node], file: SourceFile) -> Built | None:
    if any(_LIMIT.search(text) for each in given for text in _texts(each, file)):
        return None
    return Built(
        "`redis.Dial` is given no `DialReadTimeout`: a silent server holds its caller for ever",
        "",
        "Pass `redis.DialConnectTimeout`, `DialReadTimeout` and `DialWriteTimeout`.",
    )


def _of_mongo(given: list[Node], file: SourceFile) -> Built | None:
    """Options that are written out: each operation is given a context as well, which may bring a deadline."""
    texts = [text for each in given for text in _texts(each, file)]
    addresses = [found for found in map(_ADDRESS_OF_MONGO.search, texts) if found is not None]
    if not addresses or any(map(_LIMIT.search, texts)):
        return None
    return Built(
        "`mongo.Connect` is given no `SetTimeout`: an operation without a deadline waits for ever",
        "low",
        "Call `SetTimeout` on the options.",
    )


def _of_grpc(callee: str, given: list[Node], file: SourceFile) -> Built | None:
    """A connection that is waited for, by a call that takes no context or gets one without an end."""
    is_endless = not callee.endswith("Context") or (bool(given) and _is_endless(given[0], file))
    texts = [file.text(each) for each in given]
    if not is_endless or not any("WithBlock()" in text for text in texts) or any(map(_LIMIT.search, texts)):
        return None
    return Built(
        f"`{callee.rpartition('/')[2]}` blocks until the server answers, however long that takes",
        "",
        "Use `grpc.NewClient`, or `DialContext` with a deadline.",
    )


def _is_endless(context: Node, file: SourceFile) -> bool:
    return all(_ENDLESS.fullmatch(text) for text in _texts(context, file))


def _texts(given: Node, file: SourceFile) -> list[str]:
    """An argument as it is written, or what its function gave the name before."""
    values = assigned_values(file.text(given), given, file) if given.type == "identifier" else []
    return [file.text(each) for each in values] or [file.text(given)]
