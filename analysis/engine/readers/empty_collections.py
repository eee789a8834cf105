"""Collections that begin empty: the name under which each language declares one."""

import re
from typing import NamedTuple

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile

_IN_PYTHON = re.compile(
    rb"(\w+)\s*(?::[^=\n]+)?=\s*(?:\{ ?\}|\[ ?\]|dict\(\)|set\(\)|list\(\)|defaultdict\([^)\n]*\)|OrderedDict\(\))\s*$"
)
BEGINS_IN_PYTHON = re.compile(
    rb"\w+\s*(?::[^=\n]+)?=\s*(?:\{ ?\}|\[ ?\]|dict\(\)|set\(\)|list\(\)|defaultdict\(|OrderedDict\()"
)
IN_SCRIPT = re.compile(rb"(\w+)\s*(?::[^=\n]+)?=\s*(?:new (?:Map|Set)(?:<[^\n]*>)?\(\)|\{ ?\}|\[ ?\])")
_FIELD_OF_JAVA = re.compile(
    rb"(?:(?:public|private|protected|final|static|volatile)\s+)+(?:java\.util\.)?(?:concurrent\.)?\w*(?:Map"
    rb"|Set|List)<[^;=]*>\s+"
    rb"(?P<name>\w+)\s*=\s*(?:Collections\.synchronized\w+\(\s*)?"
    rb"(?:new\s+(?!Weak|\w*Reference)\w*(?:HashMap|HashSet|TreeMap|ArrayList|LinkedList|SkipListMap|SkipListSet|ArraySet)\b"
    rb"|\w*\.(?:newConcurrentMap|newKeySet)\()"
)
IN_GO = re.compile(rb"(?P<name>\w+)\s*(?:=\s*(?:map\[|make\(map\[)|\s+sync\.Map\b|=\s*sync\.Map\{)")
_FIELD_OF_SCRIPT = re.compile(
    rb"(?:(?:public|private|protected|static|readonly)\s+)*#?(?P<name>\w+)\s*(?::[^=\n]+)?="
    rb"\s*(?:new (?:Map|Set)(?:<[^\n]*>)?\(\)|\{ ?\}|\[ ?\])"
)


class Field(NamedTuple):
    """A field that begins as an empty collection."""

    name: str
    is_static: bool


def in_python(assignment: Node, file: SourceFile) -> str:
    """The name that an assignment gives an empty collection; empty when it gives something else, as below."""
    found = _IN_PYTHON.match(file.source[assignment.start_byte : assignment.end_byte])
    return found[1].decode("utf-8", "replace") if found is not None else ""


def in_script(declarator: Node, file: SourceFile) -> str:
    """The name that a declarator gives an empty collection and nothing else."""
    found = IN_SCRIPT.match(file.source, declarator.start_byte, declarator.end_byte)
    is_empty = found is not None and found.end() == declarator.end_byte
    return found[1].decode("utf-8", "replace") if found is not None and is_empty else ""


def in_go(spec: Node, file: SourceFile) -> str:
    """The name of a map that a variable of Go begins with."""
    found = IN_GO.match(file.source, spec.start_byte, spec.end_byte)
    return found["name"].decode() if found is not None else ""


def field_of_script(field: Node, file: SourceFile) -> Field | None:
    """The field of a class, when it begins with an empty collection."""
    return _field(_FIELD_OF_SCRIPT, field, file)


def field_of_java(field: Node, file: SourceFile) -> Field | None:
    """The field of a class, when it begins with a collection that keeps what it holds."""
    return _field(_FIELD_OF_JAVA, field, file)


def _field(pattern: re.Pattern[bytes], field: Node, file: SourceFile) -> Field | None:
    found = pattern.match(file.source, field.start_byte, field.end_byte)
    return Field(found["name"].decode(), b"static" in found[0]) if found is not None else None
