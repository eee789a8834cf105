"""Functions of the project that say in their header that they may give None, and what is taken of what they gave as if
they never did (`rel-unchecked-optional`).

While the tree is there, a file notes which of its functions have `-> Order | None`, and where a member is taken of what
a look-up by its name has given. `evaluate` brings both together.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FileFacts
from analysis.engine.readers.handlers import is_caught
from analysis.engine.readers.lookups import FAILS, NEAR, Missing, is_tested_before, used_unchecked
from analysis.engine.readers.reading import short

_MAY_BE_NONE = re.compile(rb"(?:typing\.)?Optional\[|None\s*\||[^\n]*\|\s*None\Z")
# How functions are named that look something up; a single word is what libraries call theirs: `get`, `find`.
# What gives up by itself is none of them: `get_or_404`.
_LOOK_UP = (
    rb"(?!\w+_or_(?:404|raise|fail|error|create|throw))"
    rb"(?:(?:\w+_)?(?:by|get|find|fetch|load|look_?up|latest|current|first|last|active|resolve)_\w+|\w+_or_none)"
)
LOOKED_UP = re.compile(rb"\(?(?:await\s+)?(?:\w+\.)*(?:" + _LOOK_UP + rb")\(")
GIVEN = re.compile(rb"\w+\s*=\s*(?:await\s+)?(?:\w+\.)*(?:" + _LOOK_UP + rb")\(")
GIVES_NONE = {"gives": "none"}


def is_optional(annotation: Node, file: SourceFile) -> bool:
    """Whether the type that a function gives holds None."""
    return _MAY_BE_NONE.match(file.source, annotation.start_byte, annotation.end_byte) is not None


def taken_at_once(taken: Node, file: SourceFile) -> Iterator[Missing]:
    """`(await orders.by_code(code)).owner`, `find_order(code).owner`."""
    looked_up = taken.child_by_field_name("object")
    while looked_up is not None and looked_up.type in ("parenthesized_expression", "await"):
        looked_up = looked_up.named_children[0] if looked_up.named_child_count == 1 else None
    if looked_up is None or looked_up.type != "call" or _is_asked(looked_up, file):
        return
    callee, member = file.callee(looked_up), file.text(taken.child_by_field_name("attribute") or taken)
    message = f"`{short(callee)}` may give None, and `.{short(member, 30)}` of None fails"
    yield Missing(looked_up, message, confidence="medium", data={"giver": callee})


def taken_by_name(assignment: Node, file: SourceFile) -> Iterator[Missing]:
    """`order = find_order(code)`, and then `order.owner`."""
    name, looked_up = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
    if looked_up is not None and looked_up.type == "await":
        looked_up = looked_up.named_children[0]
    if name is None or name.type != "identifier" or looked_up is None or looked_up.type != "call":
        return
    member = file.source[name.start_byte : name.end_byte] + b"."
    if file.source.find(member, looked_up.end_byte, looked_up.end_byte + NEAR) < 0:
        return
    used = used_unchecked(file.text(name), looked_up, file)
    if used is None or not used.text.startswith(".") or _is_asked(looked_up, file):
        return
    callee = file.callee(looked_up)
    message = f"`{file.text(name)}` may be None: `{short(callee)}` gave it, and `{short(used.text, 30)}` of None fails"
    yield Missing(used.node, message, confidence="medium", data={"giver": callee})


def _is_asked(looked_up: Node, file: SourceFile) -> bool:
    """Whether something has asked before, or catches the failure."""
    return is_tested_before(looked_up, file) or is_caught(looked_up, file, FAILS)


def may_give_none(callee: str, place: Place) -> bool:
    """Whether all that a callee may mean says that it may give None: the functions that the file sees, or else the
    methods of that name wherever they stand, since what an object holds is known by its name alone."""
    codebase = place.codebase
    meant = place.meant_by(callee)
    receiver, _, name = callee.rpartition(".")
    known = [
        _gives_none(codebase.files[each.path], each.position)
        for each in meant
        if not receiver or "." not in receiver or codebase.files[each.path].functions[each.position].owner
    ]
    if not known and receiver:
        known = [gives for methods in codebase.summaries(_methods).values() for gives in methods.get(name, ())]
    return bool(known) and all(known)


def _gives_none(facts: FileFacts, position: int) -> bool:
    return any(each.function == position and each.data == GIVES_NONE for each in facts.marks)


def _methods(facts: FileFacts) -> dict[str, list[bool]]:
    """The methods of a file of Python by their names, and whether each may give None."""
    if facts.language != "python":
        return {}
    found: dict[str, list[bool]] = {}
    for position, function in enumerate(facts.functions):
        if function.owner:
            name = function.short_name
            found.setdefault(name, []).append(_gives_none(facts, position))
    return found
