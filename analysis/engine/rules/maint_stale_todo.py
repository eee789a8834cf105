"""A TODO without anybody who owns it."""

import re
from collections.abc import Iterator

from msgspec import structs
from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.metrics.churn import STALE_DAYS
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.reading import short
from analysis.engine.rules.base import ALL, Watch
from analysis.engine.severity import WORSE_IN_HOTSPOT

RULE = Rule(
    id="maint-stale-todo",
    type="stale_todo",
    category=Category.MAINTAINABILITY,
    title="TODO without an owner",
    severity=Severity.INFO,
    points=0.5,
    suggestion="Do it, or give it an owner and an issue.",
    tests_too=True,
)
GUIDE = Guide(
    why="A TODO that belongs to nobody is a decision that nobody made.",
    grades=(
        "Warning when its file has not changed for 180 days, or for a FIXME, HACK or XXX in a hotspot. With an owner "
        "or an issue it is told only after 180 days. More points when it names a bug or security."
    ),
    flagged=(
        {
            "shop/work.py": """
def total(order):
    # TODO handle refunds
    return order.total
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def total(order):
    # TODO(dana): handle refunds, see SHOP-211
    return order.total
"""
        },
    ),
)

GRAVE_EXCESS = 1.5  # points above the base when it names a bug or security

_WORD = re.compile(
    rb"(?:^|[\n.!?:(])[\s/*#!<-]*((?:TODO|FIXME|HACK|XXX)\b|(?:todo|fixme|hack|xxx|Todo|Fixme|Hack)(?=\s*[:!(-])"
    # At the start of the comment also alone; a `todo list` is a thing.
    rb"|(?<=[#/*] )(?:(?:todo|Todo)(?=\s+(?!(?:lists?|items?|apps?|pages?|views?|tasks?|models?|entry|entries|is)\b)"
    rb"(?!(?:are|was|of)\b)\w)"
    rb"|(?:fixme|Fixme|xxx)(?=\s+\w)|(?:hack|Hack)(?=\s+(?:to|for|around|until|because)\b)))([^\n]*)"
)
_WORDS = (b"TODO", b"FIXME", b"HACK", b"XXX", b"odo", b"ixme", b"hack", b"Hack", b"xxx")
_OWNED = re.compile(
    rb"^\s*\(\s*[\w@#./: +-]+\)|^\s*\[[\w@#./: -]+\]|@\w|#\d+|\b[A-Z][A-Z0-9]+-\d+|https?://|\bgh-\d+"
    rb"|^\s*:?\s*[a-z]{2,12}:\s|[Ii]ssue \d+"
    rb"|\b(?:[Rr]emove|[Dd]rop|[Dd]elete|[Ss]top)\b[^\n]*\b(?:in|after|with|by|until)\s+(?:version\s+|release\s+)?v?\d+\.\d+"
)
_REFERS = re.compile(rb"@\w|#\d+|\b[A-Z][A-Z0-9]+-\d+|https?://")
# What goes on in the lines below, up to the next one.
_MORE = re.compile(rb"(?:\n[ \t]*(?:#|//|\*)(?!\s*(?i:TODO|FIXME|HACK|XXX)\b)[^\n]*){0,4}")
_GRAVE = re.compile(rb"\b(bug|security|vulnerab\w*|leak|race condition|deadlock|corrupt\w*|unsafe)\b", re.IGNORECASE)
_URGENT = (b"FIXME", b"HACK", b"XXX")


def look(comment: Node, file: SourceFile) -> Iterator[Mark]:
    start, end = comment.start_byte, comment.end_byte
    text = file.source[start:end]
    found = _WORD.search(text) if any(word in text for word in _WORDS) else None
    if found is None:
        return
    more = _MORE.match(file.source, end)
    around = found[2] + (more[0] if more is not None else b"")
    owned = _OWNED.search(found[2].rstrip(b"*/ ")) or _REFERS.search(around)
    said = short(found[2].decode("utf-8", "replace").strip(" :-*/"), 70)
    word = found[1].decode().upper()
    if owned:
        message = f"`{word}` that nobody has done for {STALE_DAYS} days: {said}"
    else:
        message = f"`{word}` without owner or issue: {said}" if said else f"`{word}` says neither what nor who"
    data = {"urgent": "yes"} if found[1] in _URGENT else {}
    mark = file.mark(
        RULE.id,
        comment,
        message,
        excess=GRAVE_EXCESS if _GRAVE.search(found[2]) else 0.0,
        data=data | ({"owned": "yes"} if owned else {}),
    )
    yield structs.replace(mark, line=file.lines.of(start + found.start(1)))


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Old ones are a warning, and those that have an owner are told then only. Where the file changes all the time, a
    FIXME is in everybody's way."""
    is_stale = codebase.history.is_untouched(place.path, STALE_DAYS)
    if mark.data.get("owned") and not is_stale:
        return None
    tags = frozenset({WORSE_IN_HOTSPOT}) if mark.data.get("urgent") else frozenset()
    return place.finding(mark, tags=tags, severity=Severity.WARNING if is_stale else None)


WATCHES = (Watch("comment", look, ALL, needs=_WORDS),)
