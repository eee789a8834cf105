"""A TODO without anybody who owns it."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.rules.base import ALL, Watch
from analysis.engine.rules.reading import short
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
    grades="More points when it names a bug or security.",
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
    rb"(?:^|[\n.!?:(])[\s/*#!<-]*((?:TODO|FIXME|HACK|XXX)\b|(?:todo|fixme|Todo|Fixme)(?=\s*[:!(-]))([^\n]*)"
)
_WORDS = (b"TODO", b"FIXME", b"HACK", b"XXX", b"odo", b"ixme")
_OWNED = re.compile(
    rb"^\s*\(\s*[\w@#./: -]+\)|^\s*\[[\w@#./: -]+\]|@\w|#\d+|\b[A-Z][A-Z0-9]+-\d+|https?://|\bgh-\d+"
    rb"|^\s*:?\s*[a-z]{2,12}:\s|[Ii]ssue \d+"
)
_MORE = re.compile(rb"(?:\n[ \t]*(?:#|//|\*)[^\n]*){0,4}")
_BEFORE = re.compile(rb"(?:#|//)\s*(?:TODO|FIXME|HACK|XXX)\b[^\n]*\n[ \t]*\Z")  # one that goes over several lines
_GRAVE = re.compile(rb"\b(bug|security|vulnerab\w*|leak|race condition|deadlock|corrupt\w*|unsafe)\b", re.IGNORECASE)
_URGENT = (b"FIXME", b"HACK", b"XXX")


def look(comment: Node, file: SourceFile) -> Iterator[Mark]:
    start, end = comment.start_byte, comment.end_byte
    text = file.source[start:end]
    found = _WORD.search(text) if any(word in text for word in _WORDS) else None
    if found is None:
        return
    if _BEFORE.search(file.source, max(0, start - 200), start):
        return
    more = _MORE.match(file.source, end)
    around = found[2] + (more[0] if more is not None else b"")
    if _OWNED.search(found[2].rstrip(b"*/ ")) or re.search(rb"@\w|#\d+|\b[A-Z][A-Z0-9]+-\d+|https?://", around):
        return
    said = short(found[2].decode("utf-8", "replace").strip(" :-*/"), 70)
    word = found[1].decode().upper()
    yield file.mark(
        RULE.id,
        comment,
        f"`{word}` without owner or issue: {said}" if said else f"`{word}` says neither what nor who",
        excess=GRAVE_EXCESS if _GRAVE.search(found[2]) else 0.0,
        data={"urgent": "yes"} if found[1] in _URGENT else None,
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Where the file changes all the time, a FIXME is in everybody's way."""
    if mark.data.get("urgent"):
        return place.finding(mark, tags=frozenset({WORSE_IN_HOTSPOT}))
    return place.finding(mark)


WATCHES = (Watch("comment", look, ALL, needs=_WORDS),)
