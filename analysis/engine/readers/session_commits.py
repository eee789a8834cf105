"""Rows that SQLAlchemy commits one after the other, as `risk-missing-transaction` sees them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.branches import is_on_purpose, made_when_missing, run_together
from analysis.engine.readers.reading import assigned_values, node_at, within

_STEP = re.compile(
    rb"\b(?:\w*[sS]ession|db|\w*conn(?:ection)?|cur(?:sor)?)(?:\.session)?\."
    rb"(?P<verb>add|add_all|delete|merge|commit|bulk_\w+|execute)"
    rb"\((?P<writes>\s*(?:(?:\w+\.)?(?:update|insert|delete)\(|[rf]?[\"']+\s*(?i:UPDATE|INSERT|DELETE)\s))?"
    rb"|^[ \t]+(?P<row>\w+)\.\w+[ \t]*[-+]?=(?!=)",
    re.MULTILINE,
)
_ADDED = re.compile(rb"\.(?:add|merge|refresh)\(\s*(\w+)\s*[,)]")
# What gives a row: a session, or in Flask the query of a model.
_GIVES_ROW = re.compile(
    r"\b(?:\w*[sS]ession|db)\b.*\.(?:get|query|execute|scalars?|first|one\w*)\(|\b[A-Z]\w*\.query\b.*\.(?:get|first|one)\w*\(",
    re.DOTALL,
)


# A row that a function is given: a parameter that says of which class it is, alone or as one that may be missing.
_OF_A_CLASS = re.compile(r"(?:Optional\[)?[\"']?(?:\w+\.)*[A-Z]\w+[\"']?(?:\s*\|\s*None|\])?")
_NO_ROW = re.compile(
    r"(?:Request|Response|Session|Settings|Config|Context|Client|Service|Form|Schema|Model|Task|Path|Logger|State|Args"
    r"|Options|Namespace|Any|Dict|Mapping|Result|D[tT][oO])\W*$"
)


class Committed(NamedTuple):
    """A function that writes and commits: where it writes first, and what it calls behind the commit. `is_sure`: what
    it writes it says itself, and does not run a statement that it is given."""

    first: Node
    calls: tuple[str, ...]
    is_sure: bool


def committed(root: Node, file: SourceFile) -> Iterator[Committed]:
    """The functions of a file that write rows and commit them."""
    for every in _steps(root, file, any_statement=True).values():
        steps = [step for step in every if not _is_made_alone(step, every, root, file)]
        first = next((step for step in steps if step["verb"] != b"commit"), None)
        commit = next(
            (
                each
                for each in steps
                if first is not None
                and each["verb"] == b"commit"
                and _may_follow(first, each, root)
                and not is_on_purpose(each.start(), file)
            ),
            None,
        )
        if first is not None and commit is not None:
            is_sure = first["verb"] != b"execute" or first["writes"] is not None
            yield Committed(_node_of(first, root), tuple(_calls_behind(commit, root, file)), is_sure)


def _calls_behind(commit: re.Match[bytes], root: Node, file: SourceFile) -> Iterator[str]:
    """What the function calls after a commit."""
    function = file.scope_at(commit.start(), commit.end()).function.node
    for call in within(function):
        if call.type == "call" and call.start_byte > commit.end() and run_together(_node_of(commit, root), call):
            yield file.callee(call)


def half_done(root: Node, file: SourceFile) -> Iterator[tuple[Node, int]]:
    """Rows that a function writes and commits, and the line of the next that it writes and commits too. What it makes
    only where it is missing is no first half: the next run finds it."""
    for steps in _steps(root, file).values():
        pair = _two_commits([step for step in steps if not _is_made_alone(step, steps, root, file)], root, file)
        if pair is not None:
            first, second = pair
            yield _node_of(first, root), file.lines.of(second.end())


def _is_made_alone(step: re.Match[bytes], steps: list[re.Match[bytes]], root: Node, file: SourceFile) -> bool:
    """Whether a row is made and committed where it is missing, and no other is written there."""
    around = made_when_missing(_node_of(step, root), file) if step["verb"] in (b"add", b"commit") else None
    if around is None:
        return False
    verbs = [each["verb"] for each in steps if around.start_byte <= each.start() < around.end_byte]
    return verbs.count(b"commit") == 1 and [each for each in verbs if each != b"commit"] == [b"add"]


def _steps(root: Node, file: SourceFile, *, any_statement: bool = False) -> dict[int, list[re.Match[bytes]]]:
    """By the index of a function its writes and commits, with those statements that only it knows to write."""
    found: dict[int, list[re.Match[bytes]]] = {}
    for match in _STEP.finditer(file.source):
        if match["verb"] == b"execute" and match["writes"] is None and not any_statement:
            continue
        function = file.scope_at(match.start(), match.end()).function
        if function.index and (match["verb"] or _is_loaded(match, root, file)):
            found.setdefault(function.index, []).append(match)
    return found


def _is_loaded(change: re.Match[bytes], root: Node, file: SourceFile) -> bool:
    """Whether the session gave the row whose column is changed, to this function or to who calls it."""
    name = change["row"].decode("utf-8", "replace")
    values = assigned_values(name, _node_of(change, root), file)
    if values:
        return any(_GIVES_ROW.search(file.text(value)) for value in values)
    function = file.scope_at(change.start(), change.end()).function.node
    kind = next((each.annotation for each in file.dialect.parameters(function, file) if each.name == name), "")
    if _OF_A_CLASS.fullmatch(kind) is None or _NO_ROW.search(kind) is not None:
        return False
    return not _is_added(name.encode(), file.source[function.start_byte : change.start()])


def _is_added(row: bytes, text: bytes) -> bool:
    """Whether the row is the one that was written before: the commit between kept it, and this one changes it."""
    return row in _ADDED.findall(text)


def _two_commits(
    steps: list[re.Match[bytes]], root: Node, file: SourceFile
) -> tuple[re.Match[bytes], re.Match[bytes]] | None:
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
            if is_on_purpose(step.start(), file):
                return None
            commit = step
    return None


def _may_follow(first: re.Match[bytes], second: re.Match[bytes], root: Node) -> bool:
    return run_together(_node_of(first, root), _node_of(second, root))


def _node_of(step: re.Match[bytes], root: Node) -> Node:
    start = step.start() + len(step[0]) - len(step[0].lstrip())
    return node_at(start, root)
