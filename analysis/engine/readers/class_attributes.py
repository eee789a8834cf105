"""Collections that a class of Python holds and its methods fill through `self`, so that all instances share them."""

import re

from tree_sitter import Node

from analysis.engine.extract.scopes import Scope
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.state_changes import CHANGES_COLLECTION

LONGEST_HEAD = 120  # bytes of a class up to its body

_ON_PURPOSE = re.compile(rb"(?i)cache|memo|locks?$")
# Pydantic copies what a class holds for each of its instances.
_COPIED = re.compile(
    rb"\bclass\s+\w+\([^)]*\b(?:BaseModel|SQLModel|BaseSettings)\b|\n\s+(?:class Config\b|model_config\s*=)"
)
_OF_ONE_RUN = re.compile(rb"Registry|\([^)]*\w(?:Checker|Visitor)\b")  # the last two by a linter, once
_SINGLETON = re.compile(rb"\bcls\.\w*instance\w*\b|\b__new__\(")


def name_of(assignment: Node, file: SourceFile) -> bytes:
    """What an assignment in the body of a class gives a value."""
    return file.source[assignment.start_byte : assignment.end_byte].partition(b"=")[0].partition(b":")[0].strip()


def place_of_filling(assignment: Node, file: SourceFile) -> int | None:
    """Where a method fills a collection that all instances share without meaning to."""
    name, owner = name_of(assignment, file), file.scope_of(assignment)
    if owner.kind != "class" or _is_meant(name, assignment, owner, file):
        return None
    body = file.source[assignment.end_byte : owner.end]
    own = rb"\bself\." + re.escape(name)
    if _is_of_one_object(own, body) or re.search(own + rb"\s*(?::[^=\n]+)?=(?!=)", body):
        return None
    if re.search(rb"\bin " + own + rb"\b(?![.\[])|" + own + rb"\.get\(", body):
        return None  # filled on first use
    changed = re.search(own + CHANGES_COLLECTION, body)
    return assignment.end_byte + changed.start() if changed is not None else None


def _is_meant(name: bytes, assignment: Node, owner: Scope, file: SourceFile) -> bool:
    """Whether the name, the type or the class says that instances share it, or they get copies."""
    head = file.source[owner.start : owner.start + LONGEST_HEAD].partition(b":")[0]
    return (
        _ON_PURPOSE.search(name) is not None
        or b"ClassVar" in file.source[assignment.start_byte : assignment.end_byte]
        or _OF_ONE_RUN.search(head) is not None
        or _COPIED.search(file.source, owner.start, owner.end) is not None
    )


def _is_of_one_object(own: bytes, body: bytes) -> bool:
    """Whether there is one instance, or each puts itself in, or takes out what it has put in."""
    leaves = rb"\bdel " + own + rb"\[(?![^\]\n]*:)"
    enters = own + rb"\.(?:append|add)\(self\)"
    return _SINGLETON.search(body) is not None or re.search(leaves + rb"|" + enters, body) is not None
