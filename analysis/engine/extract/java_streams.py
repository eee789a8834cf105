"""Streams and `forEach` of Java: what is called for each element of a list."""

import re

from tree_sitter import Node

from analysis.engine.extract.places import place_of
from analysis.engine.extract.scopes import LONGEST_ITERABLE, LoopDraft
from analysis.engine.extract.source import SourceFile, innermost_loop
from analysis.engine.facts import LoopCall

_EACH = frozenset(
    """forEach forEachOrdered map flatMap mapMulti mapToObj mapToInt mapToLong mapToDouble filter anyMatch allMatch
    noneMatch peek""".split()
)
_EACH_OF_COLLECTOR = frozenset(  # of what a stream is collected into
    """toMap toUnmodifiableMap toConcurrentMap mapping flatMapping filtering groupingBy groupingByConcurrent
    partitioningBy summingInt summingLong summingDouble""".split()
)
_OF_A_STREAM = _EACH | _EACH_OF_COLLECTOR
_EACH_OF_COLLECTION = frozenset({"forEach", "removeIf"})  # without a stream
_STREAM = re.compile(rb"([\w.()]*)\s*\.\s*(?:s|parallelS)tream\(\)|\b\w*Stream\.\w+\(")
_REFERENCE = re.compile(rb"\(\s*((?:this\.)?[a-z_]\w*)::([a-z]\w*)\s*\)")  # of an object: a class's is one of the row


def callback(node: Node, file: SourceFile) -> tuple[tuple[str, ...], str] | None:
    """What a lambda that is called for each element takes, and what it goes through; None for other nodes."""
    iterable = _walked(node.start_byte, file) if node.type == "lambda_expression" else None
    if iterable is None:
        return None
    listed = node.child_by_field_name("parameters")
    names = re.findall(r"(\w+)\s*(?:[,)]|$)", file.text(listed)) if listed is not None else []
    return tuple(names), iterable


def note_references(file: SourceFile) -> None:
    """`orders.stream().map(store::load)` calls `store.load` for each of the orders."""
    for match in _REFERENCE.finditer(file.source) if b"::" in file.source else ():
        start = match.start(1)
        iterable, scope = _walked(start, file), file.scope_at(start, match.end())
        given = file.tree.root_node.descendant_for_byte_range(start, match.end(2))
        if iterable is None or scope.broken or given is None:
            continue
        loop = LoopDraft(len(file.loops), given, "callback", scope.function.index, innermost_loop(scope, start))
        loop.iterable = iterable
        name = file.resolve(f"{match[1].decode()}.{match[2].decode()}")
        loop.calls.append(LoopCall(name, file.line(given), True, False, name))
        file.loops.append(loop)
        scope.function.calls[name] = None


def _walked(start: int, file: SourceFile) -> str | None:
    """What is gone through by a call that is given what begins at this byte; None where it is called once."""
    place = place_of(file.source, start)
    collector = place.name.partition("(")[0] if not place.callee else ""  # of which it is not the first argument
    is_collected = collector in _EACH_OF_COLLECTOR
    if not is_collected and place.callee not in _OF_A_STREAM and place.callee not in _EACH_OF_COLLECTION:
        return None
    before = file.source[max(0, start - 400) : start]
    before = before[max(before.rfind(b";"), before.rfind(b"{")) + 1 :]
    stream = _STREAM.search(before)
    if stream is None and place.callee not in _EACH_OF_COLLECTION:
        return None
    iterable = stream[1].decode("utf-8", "replace") if stream is not None and stream[1] else place.receiver
    return iterable[:LONGEST_ITERABLE]
