"""Rows that SQLAlchemy commits one after the other, as `risk-missing-transaction` sees them."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.rules.branches import run_together

_STEP = re.compile(
    rb"\b(?:\w*[sS]ession|db)(?:\.session)?\.(?P<verb>add|add_all|delete|merge|commit)\("
    rb"|^[ \t]+(?P<row>\w+)\.\w+[ \t]*[-+]?=(?!=)",
    re.MULTILINE,
)
_LOADED = (
    rb"\b%s\s*(?::[^=\n]+)?=(?!=)[^\n]*\b(?:\w*[sS]ession|db)\b[^\n]*\.(?:get|query|execute|scalars?|first|one\w*)\("
)


def half_done(root: Node, file: SourceFile) -> Iterator[tuple[Node, int]]:
    """Rows that a function writes and commits, and the line of the next that it writes and commits too."""
    written: dict[int, list[re.Match[bytes]]] = {}
    for match in _STEP.finditer(file.source):
        function = file.scope_at(match.start(), match.end()).function
        if function.index and (match["verb"] or _is_loaded(match, function.node, file)):
            written.setdefault(function.index, []).append(match)
    for steps in written.values():
        pair = _two_commits(steps, root)
        if pair is not None:
            first, second = pair
            yield _node_of(first, root), file.lines.of(second.end())


def _is_loaded(change: re.Match[bytes], function: Node, file: SourceFile) -> bool:
    """Whether the session gave the row whose column is changed."""
    loaded = re.compile(_LOADED % re.escape(change["row"]))
    return loaded.search(file.source, function.start_byte, change.start()) is not None


def _two_commits(steps: list[re.Match[bytes]], root: Node) -> tuple[re.Match[bytes], re.Match[bytes]] | None:
    """A write that is committed, and the next write that is committed too, in one run."""
    first = commit = second = None
    for step in steps:
        if step["verb"] != b"commit":
            if commit is not None and second is None and _may_follow(commit, step, root):
                second = step
            first = first or step
        elif second is not None and first is not None:
            return first, second
        elif first is not None and commit is None and _may_follow(first, step, root):
            commit = step
    return None


def _may_follow(first: re.Match[bytes], second: re.Match[bytes], root: Node) -> bool:
    return run_together(_node_of(first, root), _node_of(second, root))


def _node_of(step: re.Match[bytes], root: Node) -> Node:
    start = step.start() + len(step[0]) - len(step[0].lstrip())
    return root.descendant_for_byte_range(start, start + 1) or root
