"""A list is searched from its start in every round of a loop."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.loops import dependents
from analysis.engine.extract.scopes import LoopDraft
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import runs_by_hand
from analysis.engine.policy import Policy
from analysis.engine.readers.browsers import runs_in_browsers
from analysis.engine.readers.ended_searches import costs_nobody, ends_search, leaves_loop
from analysis.engine.readers.equal_elements import compares, is_for_few
from analysis.engine.readers.lists import FEW, grows, is_few, is_list
from analysis.engine.readers.reading import followed, round_of, statements
from analysis.engine.readers.sizes import Size, is_loaded, size_by_name, size_of
from analysis.engine.rules.base import ALL, GO, JAVA, PYTHON, SCRIPT, Watch

RULE = Rule(
    id="perf-quadratic-lookup",
    version=5,
    type="quadratic_lookup",
    category=Category.PERFORMANCE,
    title="Search of a list in a loop",
    severity=Severity.WARNING,
    points=1,
    suggestion="Build a set or map before the loop.",
    confidence=Confidence.MEDIUM,
)
GUIDE = Guide(
    why="A list is searched from its start each time; a set answers at once.",
    grades=(
        "Info where no query, no file and no growth tells of many elements, whatever the names say. Not told on the "
        "way to an error, for the children of one node of a tree, and where a loop tries names until one is free."
    ),
    flagged=(
        {
            "shop/work.py": """
def fresh(rows):
    known = []
    for row in rows:
        if row.key in known:
            continue
        known.append(row.key)
    return known
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def fresh(rows):
    known = set()
    for row in rows:
        if row.key in known:
            continue
        known.add(row.key)
    return known
"""
        },
    ),
)

_NAME = re.compile(r"(?:(?:self|this|cls)\.)?[A-Za-z_$][\w$]*")
_BEGINS = re.compile(r"(\s*:[^=\n]+)?\s*:?=(?![=>])")
_SHRINKS = re.compile(r"\.(remove|pop|shift|splice|clear|insert|unshift)\b")
_ARROW = re.compile(  # one expression on one element: its names, and what it says of them
    r"^(?:function\s*)?\(?\s*(\w+|\{[\w\s,:]*\})\s*(?::[^)]*)?\)?\s*(?:=>|->)?\s*"
    r"(?:\{\s*return\s+([^;{}]+?);?\s*\}|(?<=[>\s])([^{\n]+))$"
)
_EQUAL = re.compile(r"\s*(\w+)(?:\.\w+|\[[^\[\]]*\])*\s*==\s*(\w+)(?:\.\w+|\[[^\[\]]*\])*\s*")
_GO_FUNCTION = re.compile(r"^func\(\s*(\w+)\s[^)]*\)\s*bool\s*\{\s*return\s+([^;{}]+?)\s*\}$")
_POLLS = re.compile(rb"\b(?:setTimeout|sleep|delay)\(")  # it waits for what is put in: little at a time
_BY_VALUE = frozenset({"includes", "indexOf", "lastIndexOf", "contains"})
_BY_CONDITION = frozenset({"find", "findIndex", "some", "anyMatch", "noneMatch", "filter"})
_ANY = re.compile(rb"\bany\(")
_POSITIONS = frozenset({"index", "indexOf", "lastIndexOf", "Index"})
_OF_EACH = frozenset({"filter", "map", "mapToInt", "removeIf"})
_REFERENCE = re.compile(r"(?:(?:Predicate\.)?not\()?((?:this\.)?\w+)::(contains|indexOf)\)?$")
_SCRIPT_METHODS = frozenset({"includes", "indexOf", "lastIndexOf", "find", "findIndex", "some", "filter", "shift"})
_QUEUES = {
    "python": "Use a `collections.deque` and its `popleft`.",
    "java": "Use an `ArrayDeque` and its `poll`.",
}


def look_at_membership(operation: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: `x in some_list`."""
    right = operation.child(2) if operation.child_count == 3 else None
    if right is None or right.type not in ("identifier", "attribute"):
        return
    if b" in " in file.source[operation.start_byte : right.end_byte]:
        yield from _searched(operation, file.text(right), file)


def look_at_call(call: Node, file: SourceFile) -> Iterator[Mark]:
    """`list.index(x)`, `array.includes(x)`, `array.find(y => y.id === x.id)`, `list.contains(x)`, and what takes the
    first element away."""
    receiver, _, method = file.callee(call).rpartition(".")
    given = [file.text(each) for each in file.arguments(call)[0]]
    if _takes_first(method, given, file.language):
        yield from _drained(call, receiver, method, file)
    elif len(given) == 1 and (searched := _REFERENCE.match(given[0])) is not None:
        if method in _OF_EACH:
            yield from _searched_for_each(call, receiver.removesuffix(".stream()"), searched, file)
    elif (method in _BY_VALUE and len(given) == 1) or (method == "index" and file.language == "python"):
        if given and given[0][:1] not in ('"', "'"):  # always the same answer, whatever the round
            yield from _searched(call, receiver, file, is_position=method in _POSITIONS)
    elif method in _BY_CONDITION and len(given) == 1:
        yield from _searched_by(call, receiver.removesuffix(".stream()"), given[0], file)


def look_at_go(call: Node, file: SourceFile) -> Iterator[Mark]:
    given = file.arguments(call)[0]
    package, _, method = file.callee(call).rpartition(".")
    if package not in ("slices", "golang.org/x/exp/slices") or len(given) != 2:
        return
    name = file.text(given[0])
    if not re.fullmatch(r"\w+(?:\.\w+)?", name) or ends_search(call, file):
        return
    if method.endswith("Func") and not _compares_in_go(file.text(given[1]), call, file):
        return
    if _is_outside(name, call, file) and not is_few(name, call, file):
        yield from _marks(call, name, _rounds(call, file), file, is_position=method in _POSITIONS)


def _compares_in_go(function: str, call: Node, file: SourceFile) -> bool:
    found, loop = _GO_FUNCTION.match(function), round_of(call, file)
    return found is not None and loop is not None and compares(found[2], (found[1],), loop, file)


def look_at_join(node: Node, file: SourceFile) -> Iterator[Mark]:
    """A loop in a loop that looks for the elements that are equal."""
    scope = file.scope_of(node)
    inner = scope.loop if scope.node.id == node.id else None
    outer = inner.parent if inner is not None else None
    if inner is None or outer is None or not inner.variables or not outer.variables or outer.node.id == node.id:
        return
    if inner.function != outer.function and not _is_body(outer, node, file):
        return
    if not _NAME.fullmatch(inner.iterable) or not _is_outside(inner.iterable, node, file, outer):
        return
    condition = _only_condition(node, file)
    if condition and compares(condition, inner.variables, outer, file) and not is_few(inner.iterable, node, file):
        is_known = is_list(inner.iterable, node, file)
        yield from _marks(node, inner.iterable, _rounds(node, file, outer), file, is_known=is_known)


def look_at_product(node: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: `[(a, b) for a in many for b in others if a.id == b.id]`, whose two loops are parts of one."""
    clauses = [each for each in node.named_children if each.type in ("for_in_clause", "if_clause")]
    if [each.type for each in clauses] != ["for_in_clause", "for_in_clause", "if_clause"]:
        return
    outer, inner = (_parts_of(each, file) for each in clauses[:2])
    equal = _EQUAL.fullmatch(file.text(clauses[2])[2:])
    if outer is None or inner is None or equal is None or {equal[1], equal[2]} != {outer[0], inner[0]}:
        return
    name = inner[1]
    if _NAME.fullmatch(name) and not is_few(name, node, file):
        rounds = size_of(outer[1], node, file)
        yield from _marks(node, name, rounds, file, is_known=is_list(name, node, file))


def _parts_of(clause: Node, file: SourceFile) -> tuple[str, str] | None:
    """The variable and the collection of a clause."""
    left, right = clause.child_by_field_name("left"), clause.child_by_field_name("right")
    return (file.text(left), file.text(right)) if left is not None and right is not None else None


def _only_condition(node: Node, file: SourceFile) -> str:
    """The condition that stands alone in a loop, when what it guards does not end the search as a whole."""
    if "comprehension" in node.type or node.type == "generator_expression":
        conditions = [each for each in node.named_children if each.type == "if_clause"]
        loops = [each for each in node.named_children if each.type == "for_in_clause"]
        if len(conditions) == len(loops) == 1:
            return file.text(conditions[0])[2:]
        # `any(one.id == other.id for one in many)`
        asked = node.named_children[0] if not conditions and len(loops) == 1 else None
        is_any = asked is not None and _ANY.search(
            file.source, max(0, node.start_byte - len("any(")), node.start_byte + 1
        )
        return file.text(asked) if asked is not None and is_any else ""
    inside = statements(node.child_by_field_name("body"))
    if len(inside) != 1 or inside[0].type != "if_statement" or "return" in file.text(inside[0]):
        return ""
    condition = inside[0].child_by_field_name("condition")
    is_alone = inside[0].child_by_field_name("alternative") is None
    return file.text(condition) if condition is not None and is_alone else ""


def _takes_first(method: str, given: list[str], language: str) -> bool:
    if language == "python":
        return method == "pop" and given == ["0"]
    return method == "shift" and not given if language != "java" else method == "remove" and given == ["0"]


def _drained(call: Node, name: str, method: str, file: SourceFile) -> Iterator[Mark]:
    """A mark where a loop takes the elements away from the front, one by one."""
    loop = round_of(call, file)
    if loop is None or not _NAME.fullmatch(name) or (file.language == "java" and not is_list(name, call, file)):
        return
    if file.source.find(f"{name}.{method}(".encode(), loop.node.start_byte, call.start_byte) >= 0:
        return  # told before
    size = size_of(name, call, file)
    is_queue = name.lower().endswith(("queue", "pending", "stack", "todo"))
    if (
        leaves_loop(call, loop, file)
        or _POLLS.search(file.source, loop.node.start_byte, loop.node.end_byte)
        or (size is Size.FEW and not is_queue)
        or (0 < loop.bound <= FEW and loop.kind != "while")  # one goes on while there is more
        or _begins_in(loop, name, file)
    ):
        return
    yield file.mark(
        RULE.id,
        call,
        f"`{name}.{method}` moves all other elements of the list in every round of the loop",
        confidence="low",
        suggestion=_QUEUES.get(file.language, f"Go through `{name}` by index."),
    )


def _searched(node: Node, name: str, file: SourceFile, *, is_position: bool = False) -> Iterator[Mark]:
    """A mark when the name is known to be a list from outside the loop that the loop does not change."""
    if round_of(node, file) is None or not _NAME.fullmatch(name) or not is_list(name, node, file):
        return
    if is_few(name, node, file) or ends_search(node, file) or not _is_outside(name, node, file):
        return
    yield from _marks(node, name, _rounds(node, file), file, is_position=is_position)


def _searched_for_each(call: Node, elements: str, searched: re.Match[str], file: SourceFile) -> Iterator[Mark]:
    """Java: `orders.removeIf(blocked::contains)`, where the call itself is the loop."""
    name = searched[1]
    if is_list(name, call, file) and not is_few(name, call, file):
        yield from _marks(call, name, size_of(elements, call, file), file, is_position=searched[2] in _POSITIONS)


def _searched_by(call: Node, name: str, condition: str, file: SourceFile) -> Iterator[Mark]:
    """A mark when the search compares each element with one of the loop around it, and nothing else."""
    loop = round_of(call, file)
    arrow = _ARROW.match(condition)
    if loop is None or arrow is None or not _NAME.fullmatch(name) or not _is_outside(name, call, file):
        return
    elements = tuple(re.findall(r"\w+", arrow[1]))
    if not compares(arrow[2] or arrow[3], elements, loop, file) or is_few(name, call, file):
        return
    if not ends_search(call, file):
        yield from _marks(call, name, _rounds(call, file), file, is_known=is_list(name, call, file))


def _is_outside(name: str, node: Node, file: SourceFile, loop: LoopDraft | None = None) -> bool:
    """Whether the list lives longer than a round and nothing is taken out of it in between."""
    loop = loop or round_of(node, file)
    if loop is None or name in loop.variables or 0 < loop.bound <= FEW or name == loop.iterable:
        return False
    head = name.partition(".")[0]
    body = file.text(loop.node)
    is_changed = head.encode() in dependents(loop, file.source) or _begins_in(loop, name, file)
    if is_changed and not (file.language == "go" and _is_only_added_to(name, body)):
        return False
    return next(followed(name, body, _SHRINKS, "_"), None) is None


def _is_only_added_to(name: str, body: str) -> bool:
    """Go: whether all that is assigned to the name is the slice itself with more in it, `seen = append(seen, key)`."""
    given = [body[each.end() :].lstrip() for each in followed(name, body, _BEGINS, "_.")]
    return bool(given) and all(each.startswith(f"append({name},") for each in given)


def _begins_in(loop: LoopDraft, name: str, file: SourceFile) -> bool:
    """Whether every round begins the list anew."""
    body = file.text(loop.node)
    return next(followed(name, body, _BEGINS, "_."), None) is not None


def _is_body(loop: LoopDraft, node: Node, file: SourceFile) -> bool:
    function = file.enclosing_function(node)
    return loop.kind == "callback" and function is not None and function.id == loop.node.id


def _rounds(node: Node, file: SourceFile, loop: LoopDraft | None = None) -> Size:
    """How many rounds the loop around has, by the name of what it goes through, or few by that of one of them."""
    loop = loop or round_of(node, file)
    if loop is None or loop.kind == "while":
        return Size.UNKNOWN
    size = size_of(loop.iterable, loop.node, file)
    is_few = size is Size.UNKNOWN and any(size_by_name(each) is Size.FEW for each in loop.variables[:1])
    return Size.FEW if is_few else size


def _marks(
    node: Node, name: str, rounds: Size, file: SourceFile, *, is_known: bool = True, is_position: bool = False
) -> Iterator[Mark]:
    """None when the list or the loop has few elements by its name, or nothing tells of many and it is not known to be a
    list; a guess unless both may have many. Who asks for the position of one after the other takes a map of them for
    any list."""
    if costs_nobody(node, file):
        return
    searched = size_of(name, node, file)
    if searched is Size.FEW and is_position:
        searched = Size.UNKNOWN
    if Size.FEW in (rounds, searched) or (Size.MANY not in (rounds, searched) and not is_known):
        return
    is_large = rounds is Size.MANY and (searched is Size.MANY or grows(name, node, file))
    is_seen = _is_seen_to_be_long(name, node, file)
    if not is_large and file.language == "tsx":
        return  # what one page shows is not much
    yield file.mark(
        RULE.id,
        node,
        f"`{name}` is searched from its start in every round of the loop",
        severity="" if is_seen and Size.MANY in (rounds, searched) else "info",
        confidence="" if is_large and is_seen and is_known and not _is_for_one(node, file) else "low",
        suggestion=f"Build a set or map of `{name}` before the loop.",
        data={"size": "unknown"} if Size.MANY not in (rounds, searched) else None,
    )


def _is_seen_to_be_long(name: str, node: Node, file: SourceFile) -> bool:
    """Whether a query or a file gives what is searched or gone through, or the list grows with the rounds: a name
    alone may mean a handful."""
    loop = round_of(node, file)
    is_through_many = loop is not None and is_loaded(loop.iterable, loop.node, file)
    return is_through_many or is_loaded(name, node, file) or grows(name, node, file)


def _is_for_one(node: Node, file: SourceFile) -> bool:
    """Whether the search is for one page, or for few by what stands around."""
    return file.language == "tsx" or is_for_few(node, file)


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Everywhere but in commands, of which nobody feels it, and on pages where nothing tells of many: what one person
    looks at or picks."""
    is_guess = "size" in mark.data or (mark.confidence == "low" and place.facts.language in SCRIPT)
    if is_guess and runs_in_browsers(place):
        return None
    return None if runs_by_hand(codebase, place.path) else place.finding(mark)


WATCHES = (
    Watch('(comparison_operator operators: ["in" "not in"]) @n', look_at_membership, PYTHON),
    Watch("call", look_at_call, PYTHON, names=frozenset({"index", "pop"})),
    Watch("call", look_at_call, SCRIPT, names=_SCRIPT_METHODS),
    Watch(
        "call",
        look_at_call,
        JAVA,
        names=frozenset({"contains", "indexOf", "lastIndexOf", "remove", "anyMatch", "noneMatch"} | _OF_EACH),
    ),
    Watch("call", look_at_go, GO, names=frozenset({"Contains", "Index", "ContainsFunc", "IndexFunc"})),
    Watch("loop", look_at_join, ALL),
    Watch("(_ (for_in_clause) . (for_in_clause) . (if_clause)) @n", look_at_product, PYTHON),
)
