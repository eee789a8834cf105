"""A failure is turned into success: nil is returned where an error is known."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.go_results import returns_error
from analysis.engine.readers.handlers import comment_above, explaining_words
from analysis.engine.readers.reading import function_name, statements, text_before
from analysis.engine.rules.base import GO, Watch

RULE = Rule(
    id="rel-nil-error-returned",
    type="nil_error_return",
    category=Category.RELIABILITY,
    title="Nil returned for an error",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Return the error (wrapped), or say why it does not matter.",
    languages=GO,
    guesses=False,
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
    r"\bos\.L?[sS]tat\(|\bexec\.LookPath\(|\bos\.(?:LookupEnv|Readlink)\(|[pP]rompt\w*\.(?:Run|Show)\(|/dev/tty|\.Cookie\("
    r"|\.Read(?:Bytes|String|Line|Rune|Byte)\("
    # a program whose status is the answer
    r"|exec\.Command(?:Context)?\([^\n]*\"(?:status|running|is-\w+|show|list|exists?|inspect|check|--?version)\"[^\n]*"
    r"\)\.Run\("
)
# What a comment says of all that stands in a block.
_SAID_OF_ERRORS = re.compile(
    r"(?i)\b(?:in case of|on|if)\b[^.]{0,40}\b(?:errors?|fail\w*)\b|best[- ]effort|\bfall(?:s|ing)? ?back|\bignor"
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
_CONSTANTS = frozenset({"nil", "true", "false"})
_WALKS = re.compile(rb"\.(?:Walk|Visit|Each|ForEach|Iter|Range)\w*\((?:[^(){}\n]|\([^()\n]*\))*\Z")
NEAR = 200  # bytes before a function
_WAITS = re.compile(r"func\([^)]*\) \(\w*\s*bool, \w*\s*error\)")
_TOLD = re.compile(
    r"\bfmt\.F?[pP]rint\w*\(|\bprintln\(|\b(color|log|logger|slog|\w+\.[lL]og(ger)?)\.\w+\("
    r"|\b\w+\.(Warn|Error)\w*\(|^\s*\w+\.\w+ = ",
    re.MULTILINE,
)
# What is noted for who looks for mistakes; without the error it says nothing of what failed.
_NOTED = re.compile(r"\b(?:log|logger|slog|\w+\.[lL]og(?:ger)?)\.(?:Debug|Trace)\w*\([^\n]*")
_GIVES_ERROR = re.compile(r"\breturn\b[^\n{}]*(?:\b\w*[eE]rr\w*\b|\b(?:errors|fmt)\.(?:New|Wrapf?|Errorf)\()[^\n]*")
_TOOK_ONE_KIND = re.compile(
    r"\bif (?:errors\.Is\(\w+, [\w.]+\)|\w+ == [\w.]*(?:Err[A-Z]\w*|EOF)) \{[^{}]*\breturn\b[^{}]*\}"
)
# Nobody is there any more to hear of it.
_TO_CLIENT = re.compile(rb"if\s+_, \w+ :?= (?:(?!f\.)\w\.Write\(|(?:io\.WriteString|fmt\.Fprint\w*)\(\w,)")


@dataclass(frozen=True)
class Branch:
    """A branch that asks whether an error is nil, and ends with a return."""

    node: Node  # the `if`
    error: str
    block: Node
    last: Node  # the `return`
    function: Node
    file: SourceFile

    @property
    def text(self) -> str:
        return self.file.text(self.block)

    @property
    def returned(self) -> Node:
        return self.last.named_children[0]

    @property
    def results(self) -> list[str]:
        """What is given back, as it is written."""
        nodes = self.returned.named_children if self.returned.type == "expression_list" else [self.returned]
        return [self.file.text(each) for each in nodes]

    @property
    def has_others(self) -> bool:
        return self.returned.type == "expression_list"


def look(statement: Node, file: SourceFile) -> Iterator[Mark]:
    tested = _CONDITION.match(file.source, statement.start_byte)
    branch = _branch(statement, tested[1].decode(), file) if tested is not None else None
    if branch is None or tested is None:
        return
    if tested[2] == b"==":
        yield from _told_as_error(branch)
    elif branch.results[-1] == "nil" and not any(reason(branch) for reason in _REASONS):
        message = f"`{_name(branch)}` returns nil although `{branch.error}` is not: the failure looks like success"
        confidence = _confidence(branch)
        severity = "info" if confidence == "low" else ""
        yield file.mark(RULE.id, branch.last, message, severity=severity, confidence=confidence)


def _branch(statement: Node, error: str, file: SourceFile) -> Branch | None:
    """The branch of an `if` in a function whose last result is an error, when it ends by returning something."""
    block, function = statement.child_by_field_name("consequence"), file.enclosing_function(statement)
    held = statements(block)
    if block is None or function is None or not held or not returns_error(function, file):
        return None
    if held[-1].type != "return_statement" or not held[-1].named_child_count:
        return None
    return Branch(statement, error, block, held[-1], function, file)


def _told_as_error(branch: Branch) -> Iterator[Mark]:
    """`if err == nil { return x, err }`: true, and read as a mistake."""
    if branch.results[-1] != branch.error:
        return
    if _is_passed_on(branch) or _is_another(branch):
        return
    message = f"`{branch.error}` is nil here; `{_name(branch)}` returns it as if it were an error"
    yield branch.file.mark(RULE.id, branch.last, message, severity="info")


def _confidence(branch: Branch) -> str:
    """Sure is a branch that does nothing else, in a function that passes its other errors on."""
    asks = _ASKS_BY_NAME.search(_name(branch)) is not None and _goes_on(branch)
    if asks or _converts(branch) or _is_in_walk(branch) or _does_more(branch):
        return "low"
    # What is computed in place of the result may be an answer.
    is_computed = branch.has_others and branch.returned.named_children[0].type == "call_expression"
    return "" if _passes_others_on(branch) and not (is_computed or _goes_on(branch)) else "medium"


def _does_more(branch: Branch) -> bool:
    """Whether something stands in the branch beside the return and what is noted."""
    done = (each for each in statements(branch.block) if _NOTED.fullmatch(branch.file.text(each)) is None)
    return len(list(done)) > 1


def _passes_others_on(branch: Branch) -> bool:
    """Whether another return of the function gives an error: here it was forgotten."""
    text, own = branch.file.text(branch.function), branch.text
    return _GIVES_ERROR.search(text.replace(own, "")) is not None


def _name(branch: Branch) -> str:
    return function_name(branch.node, branch.file)


def _is_told(branch: Branch) -> bool:
    """The branch logs, keeps or uses the error, or a comment says why."""
    if _TOLD.search(_NOTED.sub("", branch.text)) or re.search(rf"\b{branch.error}\b", branch.text):
        return True
    return "//" in branch.text or "/*" in branch.text or explaining_words(comment_above(branch.node, branch.file)) > 1


def _is_explained_above(branch: Branch) -> bool:
    """A comment above a block around speaks of what is done when something fails in there."""
    above = branch.node.parent
    while above is not None and above.id != branch.function.id:
        if _SAID_OF_ERRORS.search(comment_above(above, branch.file)):
            return True
        above = above.parent
    return False


def _is_to_client(branch: Branch) -> bool:
    return _TO_CLIENT.match(branch.file.source, branch.node.start_byte) is not None


def _is_not_yet(branch: Branch) -> bool:
    """A function that is asked again until it says yes."""
    return branch.function.type == "func_literal" and _WAITS.match(branch.file.text(branch.function)) is not None


def _has_no_key(branch: Branch) -> bool:
    start = branch.function.start_byte
    return _OF_INDEX.search(branch.file.source, max(0, start - NEAR), start) is not None


def _converts(branch: Branch) -> bool:
    """Whether the error comes from reading a value as another kind, which may say that it is none of that kind."""
    return _READS_AS.search(_call_of(branch).partition("\n")[0]) is not None


def _goes_on(branch: Branch) -> bool:
    """Whether a `false` beside the nil says that there is none, or all that was read before is given back as it is."""
    beside = branch.results[:-1]
    return "false" in beside or "true" in beside or (len(beside) > 1 and all(map(_READ_BEFORE.fullmatch, beside)))


def _is_in_walk(branch: Branch) -> bool:
    """Whether a walk over files goes on without one that cannot be read."""
    start = branch.function.start_byte
    before = branch.file.source[max(0, start - NEAR) : start]
    return branch.function.type == "func_literal" and _WALKS.search(before) is not None


def _is_passed_on(branch: Branch) -> bool:
    """`if n, err = w.Write(b); err == nil { return n, err }`: both results of the call as they are."""
    if re.search(rf"\w,\s*{branch.error}\s*:?=", _head(branch)) is not None:
        return True
    beside = branch.results[:-1]
    bound = _since_bound(branch).partition("\n")[0]
    return len(beside) == 1 and re.match(rf"\s*{re.escape(beside[0])},\s*{branch.error}\s*:?=", bound) is not None


def _says_no_beside(branch: Branch) -> bool:
    """Another result says that it failed, or is what the call was given: what cannot be read stays as it is."""
    beside = branch.results[:-1]
    if any(map(_REFUSES.search, beside)):
        return True
    bound = _call_of(branch)
    named = (each for each in beside if each.isidentifier() and each not in _CONSTANTS)
    return any(re.search(rf"[(,]\s*{each}\s*[,)]", bound) is not None for each in named)


def _is_another(branch: Branch) -> bool:
    """Whether the block gives the name a new value, or a parameter has it that is given back as it came."""
    if re.search(rf"\b{branch.error}\s*:?=(?!=)", branch.text):
        return True
    given = branch.function.child_by_field_name("parameters")
    return given is not None and re.search(rf"\b{branch.error}\b", branch.file.text(given)) is not None


def _is_asked(branch: Branch) -> bool:
    """The error comes from a call that asks a question."""
    return _ASKS.search(_call_of(branch)) is not None


def _is_told_before(branch: Branch) -> bool:
    """Something between the call and the test has already taken the error. A branch that asked for one kind of it and
    left has taken that kind alone."""
    if _is_bound_in_head(branch):
        return False  # what was asked before was another error of that name
    since = _TOOK_ONE_KIND.sub("", _since_bound(branch).partition("\n")[2])
    return bool(re.search(rf"\b{branch.error}\b", since))


def _call_of(branch: Branch) -> str:
    """The text that gave the error: in the head of the `if`, or since the line before."""
    return _head(branch) if _is_bound_in_head(branch) else _since_bound(branch)


def _is_bound_in_head(branch: Branch) -> bool:
    return re.search(rf"\b{branch.error}\s*:?=(?!=)", _head(branch)) is not None


def _head(branch: Branch) -> str:
    start = branch.node.start_byte
    return branch.file.source[start : start + NEAR].decode("utf-8", "replace").partition("{")[0]


def _since_bound(branch: Branch) -> str:
    """The text from the line that gave the error to the test."""
    before = text_before(branch.node, branch.file)
    found = list(re.finditer(rf"^[^\n]*\b{branch.error}\s*:?=(?!=)", before, re.MULTILINE))[-1:]
    return before[found[0].start() :] if found else ""


_REASONS: tuple[Callable[[Branch], bool], ...] = (
    _is_told,
    _is_told_before,
    _is_to_client,
    _is_asked,
    _says_no_beside,
    _is_not_yet,
    _has_no_key,
    _is_explained_above,
)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """What may be an answer, or was handled in the branch, is not told."""
    return None if mark.confidence == "low" else place.finding(mark)


WATCHES = (Watch("if", look, GO),)
