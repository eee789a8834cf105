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
from analysis.engine.names import MADE_UP
from analysis.engine.policy import Policy
from analysis.engine.rules.base import ALL, GO, JAVA, PYTHON, SCRIPT, Watch
from analysis.engine.rules.reading import LONGEST_TEXT, followed, function_text, round_of, statements, text_after
from analysis.engine.rules.sizes import Size, size_of

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

# What the declaration of a name says: a list by its type or by its value.
_LIST_TYPES = re.compile(
    r"""\s*:\s*["']?(?:Optional\[)?(?:typing\.)?(?:list|List|Sequence|MutableSequence)\b"""
    r"|\s*[?!]?:\s*(?:readonly\s+)?(?:[\w.<>|{}: ]+?|\([^)\n]*\))\[\]|\s*[?!]?:\s*(?:Readonly)?Array<"
)
_LIST_VALUES = re.compile(
    r"\s*(?::[^=\n]+)?=\s*(?:await\s+)?(?!(?:frozen)?set\(|dict\()(?:\[|\(\s*await\s|list\(|sorted\(|Promise\.all\(|Array\.from\("
    r"|Object\.(?:keys|values|entries)\(|(?:[\w.()\[\]'\"]+)\.(?:map|filter|flatMap|findMany|values_list|tolist)\()"
)
_ALIAS = re.compile(r"\s*=\s*([a-z_]\w*)\s*\n")  # `self.ids = ids`, where the parameter has a type
_DECLARED = re.compile(  # an assignment, or an annotation that names a type
    r"""\s*[?!]?(?::\s*["']?(?:readonly\s+)?[\w.(\[{][^=\n]{0,80}?)?=(?![=>])|\s*[?!]?:\s*["']?(?:readonly\s+)?"""
    r"(?:[A-Z]\w*|list|set|dict|str|tuple|frozenset|string|number|any|unknown|typing\.\w+)(?:[\[<.]|\[\]|\s*[,=)|;\n])"
)
_TYPE_BEFORE = re.compile(r"([\w.]+)(?:<(?:[^<>;=(){}]|<[^<>]*>)*>)?\s+\Z")  # of Java
_JAVA_LISTS = re.compile(r"(?:.*\.)?(?:(?:Array|Linked|CopyOnWriteArray)?List|Vector)$")
_NO_TYPES = frozenset({"return", "new", "case", "throw", "else", "instanceof", "in", "package", "import"})
_JAVA_BEHIND = re.compile(r"\s*[=;,)]")
_NAME = re.compile(r"(?:(?:self|this|cls)\.)?[A-Za-z_$][\w$]*")
_GROWS = re.compile(r"\.(append|push|add|extend|insert)\(")
_BEGINS = re.compile(r"(\s*:[^=\n]+)?\s*:?=(?![=>])")
_SHRINKS = re.compile(r"\.(remove|pop|shift|splice|clear|insert|unshift)\b")
_ENDS = re.compile(  # the branch behind the search leaves the loop
    r"^[^\n;{}]*(?:\)[ \t]*|\{\s*)(?:return|break|throw)\b|^[^\n\])}]*:\s*(?:return|break|raise)\b"
)
_EQUALS = re.compile(r"^\s*\(?\s*([^=!<>&|]+?)\s*===?\s*([^=!<>&|?]+?)\s*\)?\s*$")
_JAVA_EQUALS = re.compile(
    r"^\s*\(?\s*(?:Objects\.equals\(\s*([^,&|!]+?),\s*([^&|!]+?)\)|([^&|!]+?)\.equals\(([^&|!]+)\))\s*\)?\s*$"
)
_ARROW = re.compile(  # one expression on one element: its names, and what it says of them
    r"^(?:function\s*)?\(?\s*(\w+|\{[\w\s,:]*\})\s*(?::[^)]*)?\)?\s*(?:=>|->)?\s*"
    r"(?:\{\s*return\s+([^;{}]+?);?\s*\}|(?<=[>\s])([^{\n]+))$"
)
_GO_FUNCTION = re.compile(r"^func\(\s*(\w+)\s[^)]*\)\s*bool\s*\{\s*return\s+([^;{}]+?)\s*\}$")
_LEFT = re.compile(r"[^\n]*\n\s*(?:return|break)\b")
_POLLS = re.compile(rb"\b(?:setTimeout|sleep|delay)\(")  # it waits for what is put in: little at a time
_ENDS_THERE = re.compile(rb"(?![\w$])")
_LEAVING = frozenset({"break_statement", "return_statement", "raise_statement", "throw_statement"})
_BY_VALUE = frozenset({"includes", "indexOf", "contains"})
_BY_CONDITION = frozenset({"find", "findIndex", "some", "anyMatch", "noneMatch", "filter"})
_SCRIPT_METHODS = frozenset({"includes", "indexOf", "find", "findIndex", "some", "filter", "shift"})
FEW = 10  # elements of a literal that cost nothing to search


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
    elif (method in _BY_VALUE and len(given) == 1) or (method == "index" and file.language == "python"):
        if given and given[0][:1] not in ('"', "'"):  # always the same answer, whatever the round
            yield from _searched(call, receiver, file)
    elif method in _BY_CONDITION and len(given) == 1:
        yield from _searched_by(call, receiver.removesuffix(".stream()"), given[0], file)


def look_at_go(call: Node, file: SourceFile) -> Iterator[Mark]:
    given = file.arguments(call)[0]
    package, _, method = file.callee(call).rpartition(".")
    if package not in ("slices", "golang.org/x/exp/slices") or len(given) != 2:
        return
    name = file.text(given[0])
    if not re.fullmatch(r"\w+(?:\.\w+)?", name) or _ends_search(call, file):
        return
    if method.endswith("Func") and not _compares_in_go(file.text(given[1]), call, file):
        return
    if _is_outside(name, call, file) and not _is_few(name, call, file):
        yield from _marks(call, name, file)


def _compares_in_go(function: str, call: Node, file: SourceFile) -> bool:
    found, loop = _GO_FUNCTION.match(function), round_of(call, file)
    return found is not None and loop is not None and _compares(found[2], (found[1],), loop, file)


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
    if condition and _compares(condition, inner.variables, outer, file) and not _is_few(inner.iterable, node, file):
        yield from _marks(node, inner.iterable, file, outer, is_list=_is_list(inner.iterable, node, file))


def _only_condition(node: Node, file: SourceFile) -> str:
    """The condition that stands alone in a loop, when what it guards does not end the search as a whole."""
    if "comprehension" in node.type or node.type == "generator_expression":
        conditions = [each for each in node.named_children if each.type == "if_clause"]
        loops = [each for each in node.named_children if each.type == "for_in_clause"]
        return file.text(conditions[0])[2:] if len(conditions) == len(loops) == 1 else ""
    inside = statements(node.child_by_field_name("body"))
    if len(inside) != 1 or inside[0].type != "if_statement" or "return" in file.text(inside[0]):
        return ""
    condition = inside[0].child_by_field_name("condition")
    is_alone = inside[0].child_by_field_name("alternative") is None
    return file.text(condition) if condition is not None and is_alone else ""


def _compares(condition: str, variables: tuple[str, ...], outer: LoopDraft, file: SourceFile) -> bool:
    """Whether the condition is one equality between an element of the inner and one of the outer loop."""
    match = (_JAVA_EQUALS.match(condition) if file.language == "java" else None) or _EQUALS.match(condition)
    if match is None:
        return False
    sides = [set(re.findall(r"(?<![.\w$])[A-Za-z_$][\w$]*", each)) for each in match.groups() if each]
    around = {name.decode("utf-8", "replace") for name in dependents(outer, file.source)} - set(variables)
    return any(
        not one.isdisjoint(variables) and not other.isdisjoint(around) and other.isdisjoint(variables)
        for one, other in (sides, sides[::-1])
    )


def _takes_first(method: str, given: list[str], language: str) -> bool:
    if language == "python":
        return method == "pop" and given == ["0"]
    return method == "shift" and not given if language != "java" else method == "remove" and given == ["0"]


def _drained(call: Node, name: str, method: str, file: SourceFile) -> Iterator[Mark]:
    """A mark where a loop takes the elements away from the front, one by one."""
    loop = round_of(call, file)
    if loop is None or not _NAME.fullmatch(name) or (file.language == "java" and not _is_list(name, call, file)):
        return
    size = size_of(name, call, file)
    is_queue = name.lower().endswith(("queue", "pending", "stack", "todo"))
    if (
        _is_left(call, loop, file)
        or _POLLS.search(file.source, loop.node.start_byte, loop.node.end_byte)
        or (size is Size.FEW and not is_queue)
        or 0 < loop.bound <= FEW
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


def _is_left(call: Node, loop: LoopDraft, file: SourceFile) -> bool:
    """Whether the line behind a call leaves the loop that is around it."""
    found = _LEFT.match(text_after(call, file))
    return found is not None and call.end_byte + found.end() <= loop.node.end_byte


_QUEUES = {
    "python": "Use a `collections.deque` and its `popleft`.",
    "java": "Use an `ArrayDeque` and its `poll`.",
}


def _searched(node: Node, name: str, file: SourceFile) -> Iterator[Mark]:
    """A mark when the name is known to be a list from outside the loop that the loop does not change."""
    if round_of(node, file) is None or not _NAME.fullmatch(name) or not _is_list(name, node, file):
        return
    if _is_few(name, node, file) or _ends_search(node, file) or not _is_outside(name, node, file):
        return
    yield from _marks(node, name, file)


def _searched_by(call: Node, name: str, condition: str, file: SourceFile) -> Iterator[Mark]:
    """A mark when the search compares each element with one of the loop around it, and nothing else."""
    loop = round_of(call, file)
    arrow = _ARROW.match(condition)
    if loop is None or arrow is None or not _NAME.fullmatch(name) or not _is_outside(name, call, file):
        return
    elements = tuple(re.findall(r"\w+", arrow[1]))
    if not _compares(arrow[2] or arrow[3], elements, loop, file) or _is_few(name, call, file):
        return
    if not _ends_search(call, file):
        yield from _marks(call, name, file, is_list=_is_list(name, call, file))


def _ends_search(node: Node, file: SourceFile) -> bool:
    """Whether what was found ends the loop: by a branch right behind the search, or at the end of the block that it
    decides on."""
    if _ENDS.match(text_after(node, file)):
        return True
    statement = file.statement_of(node)
    block = statement.child_by_field_name("consequence") if statement.type == "if_statement" else None
    inside = statements(block)
    return bool(inside) and inside[-1].type in _LEAVING


def _is_few(name: str, node: Node, file: SourceFile) -> bool:
    """Whether a literal of few elements is all that the list ever holds."""
    if re.fullmatch(r"[A-Z][A-Z0-9_]+", name):
        return True
    declared = _declaration(name, node, file)
    begin = re.match(r"[^=]*=\s*(?:\[\]\w+\{|(?:List|Arrays|Set)\.(?:of|asList)\(|\[)([^\[\](){}]*)[\])}]", declared)
    if begin is None or begin[1].count(",") >= FEW or re.search(r"\bfor\b|\.\.\.|\*", begin[1]):
        return False
    return bool(begin[1].strip()) and not _grows(name, node, file)


def _grows(name: str, node: Node, file: SourceFile) -> bool:
    """Whether the list is filled in the function: a short literal is only its beginning then."""
    return next(followed(name, function_text(node, file), _GROWS, "_"), None) is not None


def _is_list(name: str, node: Node, file: SourceFile) -> bool:
    """Whether the nearest declaration of a name says that it holds a list."""
    declared = _declaration(name, node, file)
    typed = re.match(r"<(?!var>)([\w.]+)>", declared)
    if typed is not None:
        return _JAVA_LISTS.match(typed[1]) is not None
    if _LIST_TYPES.match(declared) or _LIST_VALUES.match(declared):
        return True
    alias = _ALIAS.match(declared) if file.language == "python" and "." in name else None
    if alias is None:
        return False
    return next(followed(alias[1], file.source.decode("utf-8", "replace"), _LIST_TYPES, "_.$"), None) is not None


def _declaration(name: str, node: Node, file: SourceFile) -> str:
    """What follows the last declaration of a name before the node, from the innermost function that has one, else from
    the file; of Java its type goes before in angle brackets. Empty when there is none or a parameter has no type."""
    function = None if "." in name else file.enclosing_function(node)
    while function is not None:
        found = _last_declaration(name, file, function.start_byte, node.start_byte)
        if found or _is_parameter(name, function, file):
            return found
        function = file.enclosing_function(function)
    return _last_declaration(name, file, 0, len(file.source))


def _last_declaration(name: str, file: SourceFile, start: int, end: int) -> str:
    text = file.source[max(start, end - LONGEST_TEXT) : end].decode("utf-8", "replace")
    bare = name.rpartition(".")[2] if file.language != "python" else name
    behind, no_start = _JAVA_BEHIND if file.language == "java" else _DECLARED, "_$" if "." in name else "_.$"
    found = ""
    for match in followed(bare, text, behind, no_start):
        begin = match.start()
        if file.language == "java":
            before = _TYPE_BEFORE.search(text, max(0, begin - len(bare) - 120), begin - len(bare))
            if before is None or before[1] in _NO_TYPES:
                continue
            found = f"<{before[1]}>"
        else:
            found = ""
        found += text[begin : begin + 200]
    return found


def _is_parameter(name: str, function: Node, file: SourceFile) -> bool:
    body = function.child_by_field_name("body")
    head = file.source[function.start_byte : body.start_byte if body is not None else function.start_byte]
    return next(followed(name.encode(), head, _ENDS_THERE, b"_.$"), None) is not None


def _is_outside(name: str, node: Node, file: SourceFile, loop: LoopDraft | None = None) -> bool:
    """Whether the list lives longer than a round and nothing is taken out of it in between."""
    loop = loop or round_of(node, file)
    if loop is None or name in loop.variables or 0 < loop.bound <= FEW or name == loop.iterable:
        return False
    head = name.partition(".")[0]
    if head.encode() in dependents(loop, file.source) or _begins_in(loop, name, file):
        return False
    body = file.source[loop.node.start_byte : loop.node.end_byte].decode("utf-8", "replace")
    return next(followed(name, body, _SHRINKS, "_"), None) is None


def _begins_in(loop: LoopDraft, name: str, file: SourceFile) -> bool:
    """Whether every round begins the list anew."""
    body = file.source[loop.node.start_byte : loop.node.end_byte].decode("utf-8", "replace")
    return next(followed(name, body, _BEGINS, "_."), None) is not None


def _is_body(loop: LoopDraft, node: Node, file: SourceFile) -> bool:
    function = file.enclosing_function(node)
    return loop.kind == "callback" and function is not None and function.id == loop.node.id


def _marks(
    node: Node, name: str, file: SourceFile, loop: LoopDraft | None = None, *, is_list: bool = True
) -> Iterator[Mark]:
    """None when neither the list nor the loop has many elements by its name; a guess unless both may have, and it is
    known to be a list."""
    loop = loop or round_of(node, file)
    if loop is None:
        return
    grows = _grows(name, node, file)
    through = size_of(loop.iterable, loop.node, file) if loop.kind != "while" else Size.UNKNOWN
    searched = size_of(name, node, file)
    if Size.FEW in (through, searched) or Size.MANY not in (through, searched):
        return
    is_large = through is Size.MANY and (searched is Size.MANY or grows)
    if not is_large and file.language == "tsx":
        return  # what one page shows is not much
    yield file.mark(
        RULE.id,
        node,
        f"`{name}` is searched from its start in every round of the loop",
        confidence="" if is_large and is_list and file.language != "tsx" else "low",
        suggestion=f"Build a set or map of `{name}` before the loop.",
    )


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """Everywhere but where rows are made up, a few of them."""
    return None if MADE_UP.search(place.path) else place.finding(mark)


WATCHES = (
    Watch('(comparison_operator operators: ["in" "not in"]) @n', look_at_membership, PYTHON),
    Watch("call", look_at_call, PYTHON, names=frozenset({"index", "pop"})),
    Watch("call", look_at_call, SCRIPT, names=_SCRIPT_METHODS),
    Watch(
        "call",
        look_at_call,
        JAVA,
        names=frozenset({"contains", "indexOf", "remove", "anyMatch", "noneMatch", "filter"}),
    ),
    Watch("call", look_at_go, GO, names=frozenset({"Contains", "Index", "ContainsFunc", "IndexFunc"})),
    Watch("loop", look_at_join, ALL),
)
