"""A function made in a loop reads a variable of the loop later, when it has its last value."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.loops import dependents
from analysis.engine.extract.scopes import LoopDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.graph.paths import ancestors, folder_of, joined
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.readers.reading import within
from analysis.engine.rules.base import GO, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="risk-loop-variable-capture",
    version=2,
    type="loop_capture",
    category=Category.RUNTIME_RISK,
    title="Loop variable captured",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Bind the value now (`lambda x=x: ...`).",
    languages=(*PYTHON, *SCRIPT, *GO),
)
GUIDE = Guide(
    why="All functions made in the loop see the last value, not the one of their round.",
    flagged=(
        {
            "shop/work.py": """
def jobs(orders):
    found = []
    for order in orders:
        found.append(lambda: order.ship())
    return found
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
from functools import partial


def jobs(orders):
    found = []
    for order in orders:
        found.append(partial(ship, order))
    return found
"""
        },
    ),
)

_KEEPERS = re.compile(
    r"(^|[._])(append|add|insert|register\w*|connect|submit|Thread|Timer|call_later|call_soon\w*|call_at"
    r"|add_\w*(?:callback|listener|handler|observer|hook)|attach|listen|observe|after|on|bind|add_job|addJob|add_task|enqueue\w*|run_in_executor|start_new_thread|spawn"
    r"|subscribe|start_soon|schedule\w*|defer|push|set_callback|on_commit|create_task|setdefault"
    r"|apply_async|Process)$|\bevery\b.*\.do$"
)
# By these names things are given what they call later: `Button(command=...)`.
_KEPT_KEYS = re.compile(r"(?:target|command|callback|handler|on_[a-z_]+|\w+_(?:callback|handler))$")
_OLD_GO = re.compile(
    r'"go"\s*:\s*"1\.(\d|1\d|20|21)(\.\d+)?"|"(version|runtime)"\s*:\s*"(go ?)?1\.(\d|1\d|20|21)(\.\d+)?"'
)
_LATER_IN_GO = re.compile(
    rb"(?:\bgo|\bdefer)\s+\Z|\bappend\([^()\n]*,\s*\Z|\.(?:Go|AfterFunc|Submit|Schedule|HandleFunc|Handle|Cleanup|Register\w*"
    rb"|Subscribe|On[A-Z]\w*)\((?:[^()\n]*,\s*)?\Z|\w\]\s*=\s*\Z|\w\.\w+\s*=\s*\Z"
)
_VAR = re.compile(rb"\bvar\s+(\w+)")
_SCRIPT_KEEPERS = re.compile(
    r"(^|\.)(setTimeout|setInterval|setImmediate|requestAnimationFrame|nextTick"
    r"|addEventListener|once|then|click|unshift)$"
)
_SCRIPT_PARTS = frozenset({"arguments", "array", "pair", "object", "parenthesized_expression"})
_PARTS = frozenset({"argument_list", "keyword_argument", "pair", "list", "dictionary", "tuple"})


def look_at_python(function: Node, file: SourceFile) -> Iterator[Mark]:
    loop = _loop_around(function, file) if file.loops else None
    if loop is None or not _outlives(function, loop, file):
        return
    names = {name.decode("utf-8", "replace") for name in dependents(loop, file.source)}
    used = _captured(function, tuple(names), file)
    if used is not None:
        name = file.text(used)
        yield file.mark(RULE.id, used, f"`{name}` is read when the function runs: by then the loop has moved on")


def look_at_script(function: Node, file: SourceFile) -> Iterator[Mark]:
    """A function that reads a `var` of the loop; `let` and `const` are new in every round."""
    loop = _loop_around(function, file)
    if loop is None or not _is_kept(function, file):
        return
    names = tuple(name.decode() for name in _VAR.findall(file.source, loop.node.start_byte, function.start_byte))
    used = _captured(function, names, file)
    if used is not None:
        name = file.text(used)
        yield file.mark(
            RULE.id,
            used,
            f"`{name}` is a `var` of the loop: when the function runs, the loop has moved on",
            suggestion=f"Declare `{name}` with `let` or `const`.",
        )


def look_at_go(function: Node, file: SourceFile) -> Iterator[Mark]:
    """A function that a goroutine runs, that waits for the end of the function around it, or that is kept."""
    loop = _loop_around(function, file) if file.loops else None
    if loop is None or not loop.variables or loop.kind == "while" or not _runs_later(function, file):
        return
    before = file.source[loop.node.start_byte : function.start_byte].decode("utf-8", "replace")
    free = tuple(name for name in loop.variables if f"{name} := {name}" not in before)
    used = _captured(function, free, file)
    if used is not None:
        name = file.text(used)
        yield file.mark(
            RULE.id,
            used,
            f"The function reads `{name}` of the loop, which all rounds share before Go 1.22",
            suggestion=f"Copy it in the loop (`{name} := {name}`) or pass it as an argument.",
        )


def _runs_later(function: Node, file: SourceFile) -> bool:
    """Whether a function literal of Go outlives its round."""
    before = file.source[max(0, function.start_byte - 120) : function.start_byte]
    return _LATER_IN_GO.search(before) is not None


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """From Go 1.22 on every round has a variable of its own."""
    if place.facts.language != "go":
        return place.finding(mark)
    for folder in ancestors(folder_of(place.path)):
        facts = codebase.files.get(joined(folder, "go.mod"))
        if facts is not None:
            return place.finding(mark) if _OLD_GO.search(facts.manifest) else None
    return place.finding(mark, confidence=Confidence.LOW)  # nothing says which Go builds it


def _loop_around(function: Node, file: SourceFile) -> LoopDraft | None:
    """The loop statement whose body makes the function, within the same function around both."""
    scope = file.scope_of(function).parent
    while scope is not None and scope.kind not in ("function", "closure", "comprehension", "class"):
        if scope.kind == "loop" and scope.loop is not None:
            return scope.loop
        scope = scope.parent
    return None


def _outlives(function: Node, loop: LoopDraft, file: SourceFile) -> bool:
    """Whether the function is kept: appended, stored under a key, handed to a scheduler or a registration."""
    if function.type == "function_definition":
        name = function.child_by_field_name("name")
        rest = file.source[function.end_byte : loop.node.end_byte].decode("utf-8", "replace")
        if name is None:
            return False
        called = re.finditer(rf"([\w.]+)\((?:[^()\n]*[,=]\s*)?{file.text(name)}\b(?!\()", rest)
        stored = re.search(rf"\]\s*=\s*{file.text(name)}\s*$", rest, re.MULTILINE)
        return stored is not None or any(_KEEPERS.search(match[1]) for match in called)
    node, key = function.parent, ""
    while node is not None and node.type in _PARTS:
        if node.type == "keyword_argument":
            key = file.text(node).partition("=")[0].strip()
        node = node.parent
    if node is None:
        return False
    if node.type == "call":
        return bool(_KEPT_KEYS.match(key) or _KEEPERS.search(file.callee(node)))
    left = node.child_by_field_name("left") if node.type == "assignment" else None
    return left is not None and left.type in ("subscript", "attribute")


def _is_kept(function: Node, file: SourceFile) -> bool:
    """Whether a function of JavaScript outlives its round: handed to a timer or a registration, or stored."""
    node = function.parent
    while node is not None and node.type in _SCRIPT_PARTS:
        node = node.parent
    if node is None:
        return False
    if node.type == "call_expression":
        callee = file.callee(node)
        return bool(_KEEPERS.search(callee) or _SCRIPT_KEEPERS.search(callee))
    left = node.child_by_field_name("left") if node.type == "assignment_expression" else None
    return left is not None and left.type in ("subscript_expression", "member_expression")


def _captured(function: Node, variables: tuple[str, ...], file: SourceFile) -> Node | None:
    """The first read of a loop variable in the body that no parameter or assignment of the function hides."""
    body, parameters = function.child_by_field_name("body"), function.child_by_field_name("parameters")
    if body is None or not variables:
        return None
    own = file.text(parameters) if parameters is not None else ""
    text = file.text(body)
    free = {
        name
        for name in variables
        if name != "_"
        and not re.search(rf"\b{name}\b", own)
        and not re.search(rf"\b{name}\b[\w, ]*(?::=|=(?!=))|\b(?:for|as)\s[\w,\s()]*?\b{name}\b", text)
    }
    if not free or not re.search(rf"\b({'|'.join(map(re.escape, free))})\b", text):
        return None
    candidates = (body, *within(body)) if body.type == "identifier" else within(body)
    return next((each for each in candidates if each.type == "identifier" and _is_read(each, free, file)), None)


def _is_read(identifier: Node, free: set[str], file: SourceFile) -> bool:
    before = file.source[max(0, identifier.start_byte - 1) : identifier.start_byte]
    after = file.source[identifier.end_byte : identifier.end_byte + 1]
    return before != b"." and after != b"=" and file.text(identifier) in free


WATCHES = (
    Watch("function", look_at_python, PYTHON),
    Watch("function", look_at_script, SCRIPT, needs=(b"var ",)),
    Watch("func_literal", look_at_go, GO),
)
