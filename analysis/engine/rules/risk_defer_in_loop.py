"""A `defer` in a loop runs when the function ends, not when the iteration does."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.go_results import helps_tests
from analysis.engine.readers.reading import followed, node_at, short, statements
from analysis.engine.rules.base import GO, Watch

RULE = Rule(
    id="risk-defer-in-loop",
    type="defer_in_loop",
    category=Category.RUNTIME_RISK,
    title="Defer in a loop",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Move the body into a function so each iteration releases its resource.",
    languages=GO,
    tests_too=True,
    guesses=False,
)
GUIDE = Guide(
    why="Everything stays open until the function ends: with ten thousand files it ends with none left to open.",
    flagged=(
        {
            "shop/store.go": """
package shop

import "os"

func readAll(paths []string) {
	for _, path := range paths {
		file, _ := os.Open(path)
		defer file.Close()
		use(file)
	}
}
"""
        },
    ),
    fine=(
        {
            "shop/store.go": """
package shop

import "os"

func readAll(paths []string) {
	for _, path := range paths {
		read(path)
	}
}

func read(path string) {
	file, _ := os.Open(path)
	defer file.Close()
	use(file)
}
"""
        },
    ),
)

_ENDS = re.compile(rb"(return|break|panic\(|os\.Exit\(|log\.Fatal)")
_ENDLESS = re.compile(rb"for\s*\{")
_UNDOES = re.compile(rb"defer\s+func\([^()]*\)\s*\{\s*if\s+(?:!\s*\w+|\w*[eE]rr\s*!=\s*nil)\s*\{")
_OF_A_LIST = re.compile(rb"defer\s+\w+\[\w+\]\.\w+\(")  # of an element: the list is for what follows the loop
_LETS_GO = re.compile(
    rb"(?i)(?:close|unlock|done|release|rollback|stop|cancel|disconnect|free|return|put|shutdown)\w*\("
)
_FIRST_ROUND = re.compile(r"if\s+(?:\w+\s*==\s*[01]|!?\w*[fF]irst\w*)\s*\{")
_UNLOCKS = re.compile(r"(?i)\b(\w+)(?:\.\w+)*\.\w*unlock\(\)")
_LAST_CALL = re.compile(r"(?:(?:if\s+)?\w+\s*:?=\s*)?([\w.]+\()")
_NEXT_ROUND = re.compile(rb"\bcontinue\b")
_CLOSES_BODY = re.compile(rb"defer\s+(\w+)\.Body\.Close\(\)")
_GIVEN = re.compile(rb"(?:\s*,\s*\w+)*\s*:?=\s*")
_LEAVES = re.compile(rb"^\s*(?:return|break|goto|panic\(|os\.Exit\(|log\.Fatal)", re.MULTILINE)


def look(statement: Node, file: SourceFile) -> Iterator[Mark]:
    if not file.in_loop(statement) or _leaves_the_loop_after(statement, file) or _is_kept(statement, file):
        return
    if _takes_back(statement, file) or _calls_what_it_goes_over(statement, file):
        return
    if _holds_all_locks(statement, file) or _is_for_a_goroutine(statement, file):
        return
    if _is_let_go_by_each_round(statement, file):
        return
    deferred = short(file.text(statement).partition("\n")[0])
    if _never_ends(statement, file):
        message = f"`{deferred}` never runs: the loop around it has no end"
    else:
        message = f"`{deferred}` piles up until the function returns, one for each iteration"
    is_test = helps_tests(file)
    # What lets nothing go may be meant for the end, as what puts back what all rounds changed.
    lets_go = _LETS_GO.search(file.source, statement.start_byte, statement.end_byte) is not None
    if not lets_go and _serves_what_follows(statement, file):
        return
    severity = "info" if is_test or _is_closed_by_its_client(statement, file) else ""
    yield file.mark(RULE.id, statement, message, severity=severity, confidence="" if lets_go else "medium")


def _is_closed_by_its_client(statement: Node, file: SourceFile) -> bool:
    """Whether what is closed is the body of an answer of a client that was generated from OpenAPI: it reads the body,
    closes it and puts a copy in memory in its place. `user, answer, err := api.GetUser(ctx, id).Execute()`."""
    closed = _CLOSES_BODY.match(file.source, statement.start_byte)
    function = file.enclosing_function(statement)
    if closed is None or function is None:
        return False
    given = [*followed(closed[1], file.code, _GIVEN, b"_.", function.start_byte, statement.start_byte)]
    asked = file.statement_of(node_at(given[-1].end(), file.tree.root_node)) if given else None
    return asked is not None and file.text(asked).endswith(").Execute()")


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """In tests and in `main` the pile is short."""
    if place.kind is FileKind.TEST:  # where much is opened for all that follows
        return place.finding(mark, severity=Severity.INFO, confidence=Confidence.LOW)
    if place.function.name == "main":
        return place.finding(mark, severity=Severity.INFO)
    return place.finding(mark)


def _takes_back(statement: Node, file: SourceFile) -> bool:
    """Whether what is deferred undoes all rounds, in case that the function does not come to its end."""
    return _UNDOES.match(file.source, statement.start_byte) is not None


def _calls_what_it_goes_over(statement: Node, file: SourceFile) -> bool:
    """Whether the loop goes over functions that are all to run at the end: `for _, undo := range undos`."""
    called = re.match(r"defer\s+(\w+)\(\)", file.text(statement))
    loop = file.loop_of(statement)
    if called is None or loop is None:
        return False
    head = file.text(loop.node).partition("{")[0]
    return re.search(rf"\b{called[1]}\s*:=\s*range\b", head) is not None


def _holds_all_locks(statement: Node, file: SourceFile) -> bool:
    """Whether a round takes the lock of its own element and does nothing under it: what follows the loop needs all."""
    loop = file.loop_of(statement)
    unlocked = _UNLOCKS.search(file.text(statement))
    if loop is None or unlocked is None or unlocked[1] not in loop.variables:
        return False
    body = statements(loop.node.child_by_field_name("body"))
    return bool(body) and body[-1].id == statement.id


def _serves_what_follows(statement: Node, file: SourceFile) -> bool:
    """Whether a block ends by taking what it defers to give back: `hub.Add(id, c); defer hub.Remove(id, c)`."""
    block = statement.parent
    body = statements(block)
    if len(body) < 2 or body[-1].id != statement.id:
        return False
    taken = file.text(body[-2]).partition("(")
    given = file.text(statement).removeprefix("defer ").partition("(")
    return bool(given[2]) and taken[2] == given[2] and taken[0].partition(".")[0] == given[0].partition(".")[0]


def _is_for_a_goroutine(statement: Node, file: SourceFile) -> bool:
    """Whether a goroutine was given what is let go, or the context that is cancelled: it outlives the round."""
    deferred = re.match(r"defer\s+(\w+)(?:\.\w+)?\(\)$", file.text(statement))
    block = statement.parent
    if deferred is None or block is None:
        return False
    text = file.text(block)
    made = re.search(rf"(\w+),\s*{deferred[1]}\s*:?=\s*context\.With", text)
    return re.search(rf"(?m)^\s*go\s[^\n]*\b{made[1] if made is not None else deferred[1]}\b", text) is not None


def _is_let_go_by_each_round(statement: Node, file: SourceFile) -> bool:
    """Whether the round itself does what is deferred, or commits what would be rolled back: `span.End()`. Then the
    `defer` is for those who return from within, and finds nothing to do."""
    deferred = file.text(statement).removeprefix("defer ")
    called = deferred.partition("(")[0] + "("
    ends = {called, called.replace(".Rollback(", ".Commit(")}
    behind, block = statement.next_named_sibling, statement.parent
    if block is None or block.parent is None or block.parent.parent is None:
        return False
    if block.parent.parent.type != "for_statement":
        return False  # in a branch, which not each round takes
    while behind is not None:
        done = _LAST_CALL.match(file.text(behind))
        if done is not None and done[1] in ends:
            return _NEXT_ROUND.search(file.source, statement.end_byte, behind.start_byte) is None
        behind = behind.next_named_sibling
    return False


def _never_ends(statement: Node, file: SourceFile) -> bool:
    """Whether the loop around it is written without an end, and nothing in it leaves the loop."""
    loop = file.loop_of(statement)
    if loop is None or not _ENDLESS.match(file.source, loop.node.start_byte):
        return False
    return _LEAVES.search(file.source, loop.node.start_byte, loop.node.end_byte) is None


def _leaves_the_loop_after(statement: Node, file: SourceFile) -> bool:
    """Whether one of the blocks around the statement, within the loop, ends by leaving it in the same iteration."""
    block = statement.parent
    while block is not None and block.type not in ("for_statement", "func_literal"):
        last = block.named_children[-1] if block.type in ("block", "statement_list") else None
        if last is not None and _ENDS.match(file.source, last.start_byte):
            return True
        block = block.parent
    return False


def _runs_once(statement: Node, file: SourceFile) -> bool:
    """Whether the branch around it is taken once, as it gives the variable a value or is for the first round:
    `if timer == nil { ... }`, `if i == 0 { ... }`."""
    used = re.match(r"defer\s+(\w+)\.", file.text(statement))
    branch = statement.parent
    while branch is not None and branch.type in ("block", "statement_list"):
        branch = branch.parent
    if used is None or branch is None or branch.type != "if_statement":
        return False
    text = file.text(branch)
    return text.startswith(f"if {used[1]} == nil") or _FIRST_ROUND.match(text) is not None


def _is_kept(statement: Node, file: SourceFile) -> bool:
    """Whether what is closed at the end is collected in the loop: it must stay open for what follows the loop."""
    if _OF_A_LIST.match(file.source, statement.start_byte) or _runs_once(statement, file):
        return True
    closed = re.match(r"defer\s+(?:func\(\)\s*\{[^\n]*?)?(\w+)\.\w+\((?:[^\n]*,\s*(\w+)\))?", file.text(statement))
    block = statement.parent
    if closed is None or block is None:
        return False
    is_test = helps_tests(file)
    loop = file.loop_of(statement)
    own = "" if is_test else r"(?!\.)"  # the address of a server that a test starts serves as the server itself
    for name in filter(None, closed.groups()):
        if is_test and loop is not None and name in loop.variables:
            return True
        kept = rf"\bappend\([^\n]*\b{re.escape(name)}\b{own}|\w\]\s*=\s*&?{re.escape(name)}\b{own}"
        if is_test:
            kept += rf"|\w\.\w+\s*=\s*{re.escape(name)}\."
        if re.search(kept, file.text(block)) is not None:
            return True
    return False


WATCHES = (Watch("defer", look, GO),)
