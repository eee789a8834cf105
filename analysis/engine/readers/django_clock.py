"""Whether Django runs the clock of a project in UTC, so that a time without a zone that it takes as UTC is right, and
whether it keeps times without a zone at all (`rel-naive-datetime`)."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts, Mark

SETS_ZONE = re.compile(rb"TIME_ZONE\s*(?::[^=\n]+)?=\s*[\"'](?:Etc/)?(?:UTC|GMT)[\"']")
KEEPS_NO_ZONE = re.compile(rb"USE_TZ\s*=\s*(?:False|True)\b")
_COOKIE = re.compile(rb"\.set_(?:signed_)?cookie\((?:[^()]|\([^()]*\))*\bexpires\s*=[^=,]*\Z")
_RULE = "rel-naive-datetime"
NEAR = 300  # bytes before a call


def look_at_zone(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """`TIME_ZONE = "UTC"`: Django sets the zone of its process by it."""
    if file.function_of(statement) == 0:
        yield file.mark(_RULE, statement, "", data={"form": "zone"})


def look_at_times(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """`USE_TZ = False`: all times of the project are those of one clock."""
    if file.function_of(statement) == 0:
        form = "local" if file.text(statement).endswith("False") else "aware"
        yield file.mark(_RULE, statement, "", data={"form": form})


def is_of_cookie(call: Node, file: SourceFile) -> bool:
    """Whether a time is when a cookie of an answer expires."""
    return _COOKIE.search(file.source, max(0, call.start_byte - NEAR), call.start_byte) is not None


def runs_in_utc(codebase: Codebase) -> bool:
    """Whether settings of the project say so."""
    return bool(codebase.summaries(_sets_utc))


def keeps_no_zone(codebase: Codebase) -> bool:
    """Whether Django keeps times without a zone in all settings of the project that speak of it."""
    forms = set().union(*codebase.summaries(_said_of_times).values())
    return forms == {"local"}


def _said_of_times(facts: FileFacts) -> frozenset[str]:
    forms = (mark.data.get("form", "") for mark in facts.marks if mark.rule == _RULE)
    return frozenset({"local", "aware"}.intersection(forms))


def _sets_utc(facts: FileFacts) -> bool:
    return any(mark.rule == _RULE and mark.data.get("form") == "zone" for mark in facts.marks)
