"""An element is assigned to a map that was declared and never made: this panics."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.rules.base import GO, Watch

RULE = Rule(
    id="risk-nil-map-write",
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

_MAP = re.compile(rb"\w+\s+map\[")
_DECLARED = re.compile(rb"(\w+)\s+map\[[^=]*$")


def look(declared: Node, file: SourceFile) -> Iterator[Mark]:
    named = _DECLARED.match(file.source[declared.start_byte : declared.end_byte])
    function = file.enclosing_function(declared) if named is not None else None
    if named is None or function is None:
        return
    name = re.escape(named[1])
    written = re.compile(rb"(?<![\w.])" + name + rb"\[[^\]\n]+\]\s*([+|-]?=[^=]|\+\+)").search(
        file.source, declared.end_byte, function.end_byte
    )
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
            RULE.id, node, f"`{named[1].decode()}` is still nil here: no map was made since its declaration"
        )


WATCHES = (Watch("var_spec", look, GO, starts=_MAP),)
