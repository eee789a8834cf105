"""Functions that are called while a lock is held, as `risk-lock-held-across-io` sees them: those of the same file, and
those of other files that may ask a server or a database."""

import re
import sys
from collections.abc import Iterable
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.scopes import FunctionDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.readers.leaving_functions import leaving_call
from analysis.engine.readers.outside_calls import what_it_does
from analysis.engine.readers.reading import CALLS, declarations, within
from analysis.engine.readers.slow_calls import DATA, SLEEPS, how_it_leaves

MOST_CALLS = 5  # of a lock that `judge` follows
MOST_FUNCTIONS = 3  # of one name in a file that are looked at

_OWN = re.compile(r"(?:(?:self|cls|this)\.)?(\w+)")
_OWN_IN_GO = re.compile(r"(?:(\w+)\.)?(\w+)")
_RECEIVER = re.compile(rb"func \(\s*(\w+)")
_CONTEXT = re.compile(r"(?i)(?:\w*ctx|context)$|\.Context\(\)$")
_FIELD = re.compile(r"(?:this\.|self\.)?(\w+)\.\w+")
_OF_A_SERVICE = re.compile(rb"\b\w+(?:Service|Client|Gateway|Api|API|Dao|DAO|Provider|Notifier|Sender|Store)\s+\Z")
_HELD_IN_PYTHON = re.compile(r"self\.\w+\.\w+")


class HeldCall(NamedTuple):
    """A call of another function: what that does outside, in words, or the name that only `judge` can follow."""

    node: Node
    words: str
    called: str


def calls_of_others(calls: Iterable[Node], file: SourceFile) -> list[HeldCall]:
    """The calls up to the first one of a function of the file that leaves the process, of those that may do so."""
    found: list[HeldCall] = []
    for call in calls:
        asked = (_asks_in(each, file) for each in _own_functions(call, file))
        if words := next((each for each in asked if each), ""):
            return [*found, HeldCall(call, words, "")]
        if len(found) < MOST_CALLS and (called := _called_elsewhere(call, file)):
            found.append(HeldCall(call, "", called))
    return found


def first_of_the_lock(mark: Mark, place: Place, codebase: Codebase) -> str:
    """What the function of another file that a mark tells of does outside, in words; empty when it stays inside, or
    another one that is called under the same lock left before."""
    for each in place.facts.marks:
        if each.rule == mark.rule and each.data.get("lock") == mark.data["lock"]:
            words = _what_others_do(each.data["called"], place, codebase)
            if each == mark or words:
                return words if each == mark else ""
    return ""


def _asks_in(function: FunctionDraft, file: SourceFile) -> str:
    """How a function of the file leaves the process, in words; what it reads may be what the lock protects."""
    calls = (each for each in within(function.node) if each.type in CALLS)
    return next((words for each in calls if (words := how_it_leaves(each, file)) and words != SLEEPS), "")


def _own_functions(call: Node, file: SourceFile) -> list[FunctionDraft]:
    """The functions of the file that a call without an object, or on the own one, can mean."""
    callee = file.callee(call)
    if file.language == "go":
        found = _OWN_IN_GO.fullmatch(callee)
        if found is None or not _is_receiver(found[1] or "", call, file):
            return []
        name = found[2]
    else:
        found = _OWN.fullmatch(callee)
        if found is None:
            return []
        name = found[1]
    around = file.functions[file.function_of(call)]
    meant = [
        each
        for each in file.functions[1:]
        if each.short_name == name and each.name != around.name and each.owner in ("", around.owner)
    ]
    return meant if len(meant) <= MOST_FUNCTIONS else []


def _is_receiver(name: str, call: Node, file: SourceFile) -> bool:
    if not name:
        return True
    node = file.functions[file.function_of(call)].node
    receiver = _RECEIVER.match(file.source, node.start_byte)
    return receiver is not None and receiver[1].decode() == name


def _called_elsewhere(call: Node, file: SourceFile) -> str:
    """A call that may lead to a function of another file which leaves the process; empty for all others. In Go what
    takes a context, in Java what is called on a service, in Python what is imported from the project."""
    callee = file.callee(call)
    if " " in callee or "(" in callee:
        return ""
    if file.language == "go":
        first = next(iter(file.arguments(call)[0]), None)
        return callee if first is not None and _CONTEXT.search(file.text(first)) else ""
    if file.language == "java":
        field = _FIELD.fullmatch(callee)
        is_service = field is not None and any(map(_OF_A_SERVICE.search, declarations(field[1], file)))
        return callee if is_service else ""
    if file.language != "python" or _HELD_IN_PYTHON.fullmatch(callee):
        return callee if file.language == "python" else ""
    head = callee.partition(".")[0]
    is_imported = any(full == callee or callee.startswith(f"{full}.") for full in file.bindings.values())
    return callee if is_imported and head not in sys.stdlib_module_names else ""


def _what_others_do(called: str, place: Place, codebase: Codebase) -> str:
    """What all functions that the name can mean in other files do outside of the process, in words; empty where one
    stays inside."""
    said = []
    for each in place.meant_by(called):
        inner = leaving_call(each, codebase)
        words = what_it_does(inner, codebase.files[each.path].language) if inner else ""
        said.append(words or (DATA if codebase.queries.by_function.get(each) else ""))
    return said[0] if said and all(said) else ""
