"""Whether Django runs the clock of a project in UTC, so that a time without a zone that it takes as UTC is right
(`rel-naive-datetime`)."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts, Mark

SETS_ZONE = re.compile(rb"TIME_ZONE\s*(?::[^=\n]+)?=\s*[\"'](?:Etc/)?(?:UTC|GMT)[\"']")
_COOKIE = re.compile(rb"\.set_(?:signed_)?cookie\((?:[^()]|\([^()]*\))*\bexpires\s*=[^=,]*\Z")
_RULE = "rel-naive-datetime"
NEAR = 300  # bytes before a call


def look_at_zone(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """`TIME_ZONE = "UTC"`: Django sets the zone of its process by it."""
    if file.function_of(statement) == 0:
        yield file.mark(_RULE, statement, "", data={"form": "zone"})


def is_of_cookie(call: Node, file: SourceFile) -> bool:
    """Whether a time is when a cookie of an answer expires."""
    return _COOKIE.search(file.source, max(0, call.start_byte - NEAR), call.start_byte) is not None


def runs_in_utc(codebase: Codebase) -> bool:
    """Whether settings of the project say so."""
    return bool(codebase.summaries(_sets_utc))


def _sets_utc(facts: FileFacts) -> bool:
    return any(mark.rule == _RULE and mark.data.get("form") == "zone" for mark in facts.marks)
