"""A handler takes a cancellation or an interrupt, and the work goes on as if nobody had asked it to stop."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.rules.base import JAVA, PYTHON, Watch
from analysis.engine.rules.reading import function_name, function_text, text_after, text_before

RULE = Rule(
    id="rel-cancellation-swallowed",
    type="cancellation_swallowed",
    category=Category.RELIABILITY,
    title="Cancellation swallowed",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Restore the interrupt flag or re-raise the cancellation, so shutdown works.",
    languages=(*PYTHON, *JAVA),
)
GUIDE = Guide(
    why="Somebody asked the work to stop and it goes on: shutdowns hang and time limits do not limit.",
    flagged=(
        {
            "shop/work.py": """
import asyncio


async def work(queue):
    while True:
        try:
            await queue.get()
        except asyncio.CancelledError:
            pass
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
import asyncio


async def work(queue):
    try:
        await queue.get()
    except asyncio.CancelledError:
        queue.close()
        raise
"""
        },
    ),
)

_INTERRUPTED = re.compile(rb"catch\s*\([^)]*\bInterruptedException\b")
_KEEPS_ON = re.compile(r"\.interrupt\(|\bthrow\b|System\.exit|propagate|[tT]hrow\w*\(|halt\(|exit\(")
_ENDS_THREAD = re.compile(r"(^|\.)(run|main)$")
_CANCELLED = re.compile(rb"except\s*(\(?[^:\n]*\b(CancelledError|BaseException)\b|:)")
_RAISES = re.compile(r"\braise\b|sys\.exit|os\._exit")


def look_at_catch(handler: Node, file: SourceFile) -> Iterator[Mark]:
    if _INTERRUPTED.match(file.source, handler.start_byte) is None:
        return
    body = handler.child_by_field_name("body")
    if body is None or _KEEPS_ON.search(file.text(body)):
        return
    name = function_name(handler, file)
    if _ENDS_THREAD.search(name) and not re.search(r"\w\s*\(", text_after(handler, file)):
        return
    if re.search(r"catch\s*\([^)]*\b(ignored?|expected|unused)\s*\)", file.text(handler).partition("{")[0]):
        return
    yield file.mark(RULE.id, handler, f"`{name}` takes the interrupt and nobody above will see it")


def look_at_except(handler: Node, file: SourceFile) -> Iterator[Mark]:
    found = _CANCELLED.match(file.source, handler.start_byte) if file.in_async(handler) else None
    if found is None:
        return
    body = handler.named_children[-1]
    attempt = handler.parent
    guarded = attempt.child_by_field_name("body") if attempt is not None else None
    if guarded is None or b"await " not in file.source[guarded.start_byte : guarded.end_byte]:
        return
    if _RAISES.search(file.text(body)):
        return
    if re.search(r"\.cancel\(\)", text_before(handler, file)) or _is_taken_before(handler, file):
        return
    caught = found[2].decode() if found[2] else "except:"
    yield file.mark(
        RULE.id, handler, f"`{caught}` around an await takes the cancellation of `{function_name(handler, file)}`"
    )


def _is_taken_before(handler: Node, file: SourceFile) -> bool:
    """Whether an earlier handler of the same `try` raises the cancellation again."""
    before = function_text(handler, file).partition(file.text(handler))[0]
    return bool(re.search(r"except[^\n]*CancelledError[^\n]*:\s*\n?\s*raise\b[^\n]*\s*\Z", before))


WATCHES = (Watch("handler", look_at_catch, JAVA), Watch("handler", look_at_except, PYTHON))
