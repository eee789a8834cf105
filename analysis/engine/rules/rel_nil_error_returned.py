"""A failure is turned into success: nil is returned where an error is known."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.rules.base import GO, Watch
from analysis.engine.rules.go_results import returns_error
from analysis.engine.rules.reading import function_name, statements

RULE = Rule(
    id="rel-nil-error-returned",
    type="nil_error_return",
    category=Category.RELIABILITY,
    title="Nil returned for an error",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Return the error (wrapped), or say why it does not matter.",
    languages=GO,
)
GUIDE = Guide(
    why="The caller is told that all is well although the function knows better.",
    flagged=(
        {
            "shop/store.go": """
package shop

func load(path string) error {
	err := read(path)
	if err != nil {
		return nil
	}
	return nil
}
"""
        },
    ),
    fine=(
        {
            "shop/store.go": """
package shop

func load(path string) error {
	err := read(path)
	if err != nil {
		return err
	}
	return nil
}
"""
        },
    ),
)

_CONDITION = re.compile(rb"\bif\s+(?:[^{\n]*;\s*)?(\w*[eE]rr)\s*([!=]=)\s*nil\s*\{")

_TOLD = re.compile(r"\b(log|logger|slog|\w+\.[lL]og(ger)?)\.\w+\(|^\s*\w+\.\w+ = ", re.MULTILINE)
# Nobody is there any more to hear of it.
_TO_CLIENT = re.compile(rb"if\s+_, \w+ :?= (?:\w\.Write\(|(?:io\.WriteString|fmt\.Fprint\w*)\(\w,)")


def look(statement: Node, file: SourceFile) -> Iterator[Mark]:
    tested = _CONDITION.match(file.source, statement.start_byte)
    block = statement.child_by_field_name("consequence") if tested is not None else None
    if tested is None or block is None:
        return
    held = statements(block)
    if not held or held[-1].type != "return_statement" or not held[-1].named_child_count:
        return
    returned = held[-1].named_children[0]
    last = file.text(returned.named_children[-1] if returned.type == "expression_list" else returned)
    error, failed = tested[1].decode(), tested[2] == b"!="
    function = file.enclosing_function(statement)
    if last != ("nil" if failed else error) or function is None or not returns_error(function, file):
        return
    text = file.text(block)
    if failed and (_TOLD.search(text) or _TO_CLIENT.match(file.source, statement.start_byte)):
        return
    if failed and (re.search(rf"\b{error}\b", text) or "//" in text or "/*" in text):
        return
    name = function_name(statement, file)
    if failed:
        yield file.mark(
            RULE.id, held[-1], f"`{name}` returns nil although `{error}` is not: the failure looks like success"
        )
    else:
        yield file.mark(
            RULE.id, held[-1], f"`{error}` is nil here; `{name}` returns it as if it were an error", severity="info"
        )


WATCHES = (Watch("if", look, GO),)
