"""Clients of MongoDB and Kafka that Java builds, or asks, without any limit."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import given_values

_LIMIT = re.compile(r"(?i)time_?out")
_ENDLESS = re.compile(r"(?:\w+\.)*(?:ofMillis|ofSeconds|of)?\(?\s*Long\.MAX_VALUE\b")


def unlimited_client(call: Node, file: SourceFile) -> str:
    """What is wrong with a call that builds a client or polls through one; empty where it has a limit, or one may stand
    elsewhere."""
    callee = file.callee(call)
    given = file.arguments(call)[0]
    if callee.endswith("MongoClients.create") and file.mentions(b"mongodb"):
        if len(given) > 1 or (given and not _is_known_without_limit(given[0], file)):
            return ""
        return "`MongoClients.create` is given no `socketTimeoutMS`: a silent server holds its caller for ever"
    is_poll = callee.endswith(".poll") and len(given) == 1 and file.mentions(b"kafka") and file.mentions(b"Consumer")
    if is_poll and _ENDLESS.match(file.text(given[0])):
        return f"`{callee}` waits for messages without end: its loop never sees that it should stop"
    return ""


def _is_known_without_limit(address: Node, file: SourceFile) -> bool:
    """Whether an address stands in the program, there or as a constant of the class, and sets no limit."""
    values = given_values(file.text(address), file) if address.type == "identifier" else [address]
    return bool(values) and all(
        each.type == "string_literal" and _LIMIT.search(file.text(each)) is None for each in values
    )
