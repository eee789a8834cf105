"""A failure is turned into success: nil is returned where an error is known."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.rules.base import GO, Watch
from analysis.engine.rules.go_results import returns_error
from analysis.engine.rules.handlers import comment_above, explaining_words
from analysis.engine.rules.reading import function_name, statements, text_before

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

# Calls whose failure answers a question: is there such a file, does the user agree?
_ASKS = re.compile(
    r"\bos\.L?[sS]tat\(|\bexec\.LookPath\(|\bos\.(?:LookupEnv|Readlink)\(|[pP]rompt\w*\.(?:Run|Show)\(|/dev/tty"
    r"|\.Read(?:Bytes|String|Line|Rune|Byte)\("
)
# What stands beside the nil says that it failed: `Update400JSONResponse{}`, `VerdictReject`.
_REFUSES = re.compile(
    r"[45]\d\d(?=[A-Z])|(?:Status|\b)[45]\d\d\b|(?i:re_?queue|retry|reject|refus|denied|forbid|invalid|fail|error)"
    r"|(?:[a-z_.](?:Stopped|Unknown|Disabled|Missing|Absent|Inactive|Offline|Unavailable|Down))$"
)
_READS_AS = re.compile(r"=\s*(?:\w+\.)*(?:[pP]arse|[cC]onvert|[aA]s[A-Z]|[tT]o[A-Z]|[fF]rom[A-Z])\w*\(")
_READ_BEFORE = re.compile(r"(?!nil$|true$|iota$)[a-z]\w*")
_OF_INDEX = re.compile(rb"\bIndexFunc\s*=\s*\Z")  # what has no such key stands in no index
_ASKS_BY_NAME = re.compile(
    r"(?:^|\.)(?:[iI]s|[hH]as|[cC]an|[sS]hould|[eE]xists?|[cC]heck|[vV]alid)(?=[A-Z]|$)\w*$|[a-z](?:Exists|Valid|Used|Known)$"
)
_WALKS = re.compile(rb"\.(?:Walk|Visit|Each|ForEach|Iter|Range)\w*\((?:[^(){}\n]|\([^()\n]*\))*\Z")
NEAR = 200  # bytes before a function
_WAITS = re.compile(r"func\([^)]*\) \(\w*\s*bool, \w*\s*error\)")
_TOLD = re.compile(
    r"\bfmt\.F?[pP]rint\w*\(|\bprintln\(|\b(color|log|logger|slog|\w+\.[lL]og(ger)?)\.\w+\("
    r"|\b\w+\.(Warn|Error)\w*\(|^\s*\w+\.\w+ = ",
    re.MULTILINE,
)
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
    if not failed and _is_passed_on(error, returned, statement, file):
        return
    if not failed and _is_another(error, function, text, file):
        return
    if failed and (re.search(rf"\b{error}\b", text) or "//" in text or "/*" in text):
        return
    if failed and explaining_words(comment_above(statement, file)) > 1:
        return
    if failed and (_is_asked(error, statement, file) or _is_told_before(error, statement, file)):
        return
    if failed and returned.type == "expression_list" and _says_no_beside(returned, error, statement, file):
        return
    if failed and function.type == "func_literal" and _WAITS.match(file.text(function)):
        return  # not yet, ask again
    if failed and _OF_INDEX.search(file.source, max(0, function.start_byte - NEAR), function.start_byte):
        return
    name = function_name(statement, file)
    if failed:
        # What is computed in place of the result may be an answer.
        is_computed = returned.type == "expression_list" and returned.named_children[0].type == "call_expression"
        answers = _ASKS_BY_NAME.search(name) is not None and _goes_on(returned, file)
        is_asked = answers or _converts(error, statement, file)
        is_doubt = is_computed or _goes_on(returned, file)
        confidence = "low" if is_asked or _is_in_walk(function, file) else "medium" if is_doubt else ""
        yield file.mark(
            RULE.id,
            held[-1],
            f"`{name}` returns nil although `{error}` is not: the failure looks like success",
            confidence=confidence,
        )
    else:
        yield file.mark(
            RULE.id, held[-1], f"`{error}` is nil here; `{name}` returns it as if it were an error", severity="info"
        )


def _converts(error: str, statement: Node, file: SourceFile) -> bool:
    """Whether the error comes from reading a value as another kind, which may say that it is none of that kind."""
    head = file.source[statement.start_byte : statement.start_byte + 200].decode("utf-8", "replace").partition("{")[0]
    text = head if re.search(rf"\b{error}\s*:?=", head) else _since_bound(error, statement, file).partition("\n")[0]
    return _READS_AS.search(text) is not None


def _goes_on(returned: Node, file: SourceFile) -> bool:
    """Whether a `false` beside the nil says that there is none, or all that was read before is given back as it is."""
    beside = [file.text(each) for each in returned.named_children[:-1]]
    return "false" in beside or "true" in beside or (len(beside) > 1 and all(map(_READ_BEFORE.fullmatch, beside)))


def _is_in_walk(function: Node, file: SourceFile) -> bool:
    """Whether a walk over files goes on without one that cannot be read."""
    before = file.source[max(0, function.start_byte - NEAR) : function.start_byte]
    return function.type == "func_literal" and _WALKS.search(before) is not None


def _is_passed_on(error: str, returned: Node, statement: Node, file: SourceFile) -> bool:
    """`if n, err = w.Write(b); err == nil { return n, err }`: both results of the call as they are."""
    start = file.source[statement.start_byte : statement.start_byte + 200].decode("utf-8", "replace").partition("{")[0]
    if re.search(rf"\w,\s*{error}\s*:?=", start) is not None:
        return True
    beside = [file.text(each) for each in returned.named_children[:-1]] if returned.type == "expression_list" else []
    bound = _since_bound(error, statement, file).partition("\n")[0]
    return len(beside) == 1 and re.match(rf"\s*{re.escape(beside[0])},\s*{error}\s*:?=", bound) is not None


def _says_no_beside(returned: Node, error: str, statement: Node, file: SourceFile) -> bool:
    """Whether another result says that it failed, or is what the call was given: what cannot be read stays as it is."""
    beside = [file.text(each) for each in returned.named_children[:-1]]
    if any(map(_REFUSES.search, beside)):
        return True
    bound = _since_bound(error, statement, file)
    return any(each.isidentifier() and re.search(rf"[(,]\s*{each}\s*[,)]", bound) is not None for each in beside)


def _is_another(error: str, function: Node, text: str, file: SourceFile) -> bool:
    """Whether the block gives the name a new value, or a parameter has it that is given back as it came."""
    if re.search(rf"\b{error}\s*:?=(?!=)", text):
        return True
    given = function.child_by_field_name("parameters")
    return given is not None and re.search(rf"\b{error}\b", file.text(given)) is not None


def _is_asked(error: str, statement: Node, file: SourceFile) -> bool:
    """Whether the error comes from a call that asks a question."""
    head = file.source[statement.start_byte : statement.start_byte + 200].decode("utf-8", "replace").partition("{")[0]
    return bool(_ASKS.search(head if re.search(rf"\b{error}\s*:?=", head) else _since_bound(error, statement, file)))


def _is_told_before(error: str, statement: Node, file: SourceFile) -> bool:
    """Whether something between the call and the test has already taken the error."""
    text = _since_bound(error, statement, file)
    return bool(re.search(rf"\b{error}\b", text.partition("\n")[2]))


def _since_bound(error: str, statement: Node, file: SourceFile) -> str:
    """The text from the line that gave the error to the test."""
    before = text_before(statement, file)
    found = list(re.finditer(rf"^[^\n]*\b{error}\s*:?=(?!=)", before, re.MULTILINE))[-1:]
    return before[found[0].start() :] if found else ""


WATCHES = (Watch("if", look, GO),)
