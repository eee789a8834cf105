"""An element is assigned to a map that was declared and never made: this panics."""

import re
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.rules.base import GO, Watch

RULE = Rule(
    id="risk-nil-map-write",
    version=2,
    type="nil_map_write",
    category=Category.RUNTIME_RISK,
    title="Write to a nil map",
    severity=Severity.CRITICAL,
    points=0.5,
    suggestion="Initialise with `make(map[K]V)` before writing; this panics.",
    languages=GO,
)
GUIDE = Guide(
    why="A map that was declared and never made can be read, and panics on the first write.",
    flagged=(
        {
            "shop/work.go": """
package shop

func count(words []string) map[string]int {
	var found map[string]int
	for _, word := range words {
		found[word] = 1
	}
	return found
}
"""
        },
    ),
    fine=(
        {
            "shop/work.go": """
package shop

func count(words []string) map[string]int {
	found := make(map[string]int)
	for _, word := range words {
		found[word] = 1
	}
	return found
}
"""
        },
    ),
)

_MAP = re.compile(rb"\w+(?:,\s*\w+)*\s+(?:map\[|[A-Z]\w*\s*\n|[a-z]\w*\s*\n)")
_FIELD = re.compile(rb"(\w+)\.(\w+)\[(?:[^\[\]\n]|\[[^\]\n]*\])+\]\s*(?:[-+*/|&^%]?=(?!=)|\+\+|--)")
_DECLARED = re.compile(rb"(\w+(?:,\s*\w+)*)\s+(?:map\[[^=]*|(\w+)\s*)$")
# What stands before `map[` on its line.
_MAP_FIELD = re.compile(rb"(?:^|[;{])[ \t]*(\w+)[ \t]+\Z")
_MAP_TYPE = re.compile(rb"\btype\s+(\w+)\s+\Z")
# A field, or the whole that it is of, gets a value, or is given to others who may give it one.
_GIVEN = (
    rb"(?<![\w.])%(owner)s(?:\.%(field)s\s*=|\s*:?=(?!=))|&%(owner)s\b|(?<![\w.])%(owner)s\.\w+\("
    rb"|[(,]\s*%(owner)s\s*[,)]"
)
_WRITTEN = rb"\[(?:[^\[\]\n]|\[[^\]\n]*\])+\]\s*(?:[-+*/|&^%]?=[^=]|\+\+|--)"


def look(declared: Node, file: SourceFile) -> Iterator[Mark]:
    named = _DECLARED.match(file.source[declared.start_byte : declared.end_byte])
    if named is None or (named[2] and named[2] not in _map_types(file.source)):
        return
    function = file.enclosing_function(declared)
    if function is None:
        return
    for name in re.findall(rb"\w+", named[1]):
        yield from _written_before_made(name, declared, function, file)


def _written_before_made(declared_name: bytes, declared: Node, function: Node, file: SourceFile) -> Iterator[Mark]:
    """The first write to a map of the function, where nothing gave the map a value before."""
    if file.source.find(declared_name + b"[", declared.end_byte, function.end_byte) < 0:
        return
    name = re.escape(declared_name)
    written = re.compile(rb"(?<![\w.])" + name + _WRITTEN).search(file.source, declared.end_byte, function.end_byte)
    if written is None:
        return
    given = re.compile(
        rb"(?<![\w.])" + name + rb"\s*(:?=[^=]|,[^\n()]*\s:?=[^=])|&" + name + rb"\b|,\s*" + name + rb"\s*:?=[^=]"
    )
    if given.search(file.source, declared.end_byte, written.start()):
        return
    node = file.tree.root_node.descendant_for_byte_range(written.start(), written.end() - 1)
    if node is not None and file.enclosing_function(node) == function:
        yield file.mark(
            RULE.id, node, f"`{declared_name.decode()}` is still nil here: no map was made since its declaration"
        )


@lru_cache(maxsize=1)
def _map_types(source: bytes) -> frozenset[bytes]:
    """The types of the file that are maps."""
    return _named_before_maps(_MAP_TYPE, source)


@lru_cache(maxsize=1)
def _map_fields(source: bytes) -> frozenset[bytes]:
    """What the file calls the maps in its structs."""
    return _named_before_maps(_MAP_FIELD, source)


def _named_before_maps(pattern: re.Pattern[bytes], source: bytes) -> frozenset[bytes]:
    """What the pattern names before each `map[`: found by that word, since the pattern could begin anywhere."""
    names, position = set(), source.find(b"map[")
    while position >= 0:
        found = pattern.search(source[source.rfind(b"\n", 0, position) + 1 : position])
        if found is not None:
            names.add(found[1])
        position = source.find(b"map[", position + 1)
    return frozenset(names)


def look_at_field(write: Node, file: SourceFile) -> Iterator[Mark]:
    """`s := Store{}` and then `s.items[key] = value`, where `items` is a map that the literal leaves out."""
    found = _FIELD.match(file.source, write.start_byte)
    if found is None or found[2] not in _map_fields(file.source):
        return
    function = file.enclosing_function(write)
    if function is None:
        return
    owner, field = re.escape(found[1]), re.escape(found[2])
    before = file.source[function.start_byte : write.start_byte]
    declared_at = rb"(?<![\w.])" + owner + rb"\s*(?::?=\s*(?:&?(\w+)\{([^{}]*)\}|new\((\w+)\))|\s(\w+)\s*\n)"
    made = next(reversed(list(re.finditer(declared_at, before))), None)
    if made is None or re.search(rb"\b" + field + rb"\s*:", made[2] or b"") or _is_by_position(made[2] or b""):
        return
    kind = re.escape(made[1] or made[3] or made[4])
    declared = re.search(rb"\btype\s+" + kind + rb"\s+struct\s*\{[^}]*?\b" + field + rb"\s+map\[", file.source)
    rest = before[made.end() :]
    given = re.search(_GIVEN % {b"owner": owner, b"field": field}, rest)
    if declared is not None and given is None:
        name = f"{found[1].decode()}.{found[2].decode()}"
        yield file.mark(RULE.id, write, f"`{name}` is still nil here: the literal of `{kind.decode()}` makes no map")


def _is_by_position(fields: bytes) -> bool:
    """Whether a literal gives its values without names, so that every field has one."""
    return bool(fields.strip()) and b":" not in fields


WATCHES = (
    Watch("var_spec", look, GO, needs=(b"map[",), starts=_MAP),
    Watch("assignment_statement", look_at_field, GO, needs=(b" map[",), starts=_FIELD),
    Watch("inc_statement", look_at_field, GO, needs=(b" map[",), starts=_FIELD),
)
