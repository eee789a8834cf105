"""What several rules read off the text around a node.

Reading text costs less than asking the tree: rules call these for candidates only.
"""

import re
from collections.abc import Container, Iterator
from typing import AnyStr

from tree_sitter import Node

from analysis.engine.extract.scopes import LoopDraft
from analysis.engine.extract.source import SourceFile

LONGEST_TEXT = 60_000  # bytes of a function that are read
# What stands in the brackets of a key, `rows[body["id"]]` too; one level deep.
KEY = rb"(?:[^\[\]\n]|\[[^\[\]\n]*\])+"
LONGEST_TYPE = 200  # bytes before a name in which its type is written
DEFINITIONS = frozenset(
    """function_definition lambda class_definition function_declaration function_expression arrow_function class_body
    generator_function generator_function_declaration method_definition class_declaration method_declaration
    constructor_declaration lambda_expression func_literal""".split()
)
_ASSIGNED = re.compile(rb"(?:\s*:\s*[^=\n:]{1,60})?\s*[+:]?=(?![=>])\s*(?:await\s+)?")
_UNPACKED = re.compile(r"(?:\s*,\s*[*.]*\w+)*\s*,?\s*[\])}]?\s*:?=(?![=>])")
_UNPACKS = re.compile(r"\s*(?:(?:const|let|var)\s*[\[{]|[\[(])?\s*(?:[*.]*\w+\s*,\s*)*[*.]*")
_AMONG_OTHERS = re.compile(rb"(?:\s*,\s*[\w.]+)*\s*\]?\s*:?=(?![=>])\s*")
_NAMES_BEFORE = re.compile(rb"(?:[\w.]+[ \t]*,[ \t]*)*\Z")
_LISTED = frozenset({"expression_list", "tuple", "array"})
_REPOSITORY_TYPE = re.compile(rb"\w(?:Repository|Dao|DAO|Mapper)(?:<[^;=()]*>)?\s+\Z")
_DECLARED = re.compile(rb"\s*[;=,):]")
# What makes a variable, behind its name: an assignment, an annotation; or before it, where it is opened.
_ORIGIN = re.compile(r"(?:\s*:\s*[\w.\[\] |]+)?\s*=\s*(?:await\s+|new\s+)?([\w.]+)\(|\s*:\s*([\w.]+)|\b")
_OPENED = re.compile(r"\bwith\s+([\w.]+)\([^\n]*\)\s+as\s+\Z")
_MISSING = re.compile(r"\(?\s*(?:(?:!\s*|not )([\w.]+)|([\w.]+)(?: is None|\s*={2,3}\s*(?:null|nil|undefined)))\s*\)?")
_GIVEN = re.compile(r"\s*:?=(?!=)")
_OWN = rb"\b(?:const|let|var)\s+NAME\b|\bNAME\s*:=|^(?:(?!=>|\)\s*[{:])[^\n])*[(,]\s*NAME\s*[,):=]"
_NAMED_AS_TEST = re.compile(
    r"(?:_test|_spec|[.-]test|[.-]spec)\.\w+$|(?:^|/)(?:load|stress|perf\w*)[-_]?tests?(?:ing)?/"
)
CALLS = frozenset({"call", "call_expression", "method_invocation"})
WORD_END = re.compile(r"\b")  # for `followed`, where a name has only to stand whole
COMMENTS = frozenset({"comment", "line_comment", "block_comment"})
_IFS = frozenset({"if_statement", "elif_clause"})
_LISTS = frozenset({"array", "list", "tuple", "set"})


def function_text(node: Node, file: SourceFile) -> str:
    """Text of the innermost function around the node; at the top level the text of the file."""
    function = file.enclosing_function(node) or file.tree.root_node
    return file.code[function.start_byte : min(function.end_byte, function.start_byte + LONGEST_TEXT)].decode(
        "utf-8", "replace"
    )


def text_before(node: Node, file: SourceFile) -> str:
    """Text of the innermost function (at the top level of the file) up to the node."""
    return file.code[_start_before(node, file) : node.start_byte].decode("utf-8", "replace")


def _start_before(node: Node, file: SourceFile) -> int:
    """Where the innermost function begins, or what is read of it before the node."""
    function = file.enclosing_function(node)
    return max(function.start_byte if function is not None else 0, node.start_byte - LONGEST_TEXT)


def text_after(node: Node, file: SourceFile) -> str:
    """Text from the end of the node to the end of the innermost function around it."""
    function = file.enclosing_function(node) or file.tree.root_node
    return file.code[node.end_byte : min(function.end_byte, node.end_byte + LONGEST_TEXT)].decode("utf-8", "replace")


def is_named_as_test(path: str) -> bool:
    """Whether a file is one of tests by a name that languages do not know, or of a folder of load tests."""
    return _NAMED_AS_TEST.search(path) is not None


def node_at(start: int, root: Node) -> Node:
    """The innermost node at a byte."""
    return root.descendant_for_byte_range(start, start + 1) or root


def ancestor(node: Node, kinds: Container[str]) -> Node | None:
    """The innermost node of such a kind around a node."""
    above = node.parent
    while above is not None and above.type not in kinds:
        above = above.parent
    return above


def conditions_around(node: Node, file: SourceFile) -> Iterator[Node]:
    """The conditions of the `if` statements around a node in its function, the innermost first."""
    above = file.parent_of(node)
    while above is not None and above.type not in DEFINITIONS:
        condition = above.child_by_field_name("condition") if above.type in _IFS else None
        if condition is not None:
            yield condition
        above = file.parent_of(above)


def round_of(node: Node, file: SourceFile) -> LoopDraft | None:
    """The loop that runs the node in each of its rounds, also as the body of a function given to `forEach` or `map`."""
    loop = file.loop_of(node)
    if loop is None or file.in_loop(node):
        return loop
    function = file.enclosing_function(node) if loop.kind == "callback" else None
    return loop if function is not None and function.id == loop.node.id else None


def awaited_call(awaited: Node, file: SourceFile) -> Node | None:
    """The call that an `await` waits for. In `await load<Row>(key)` the grammar takes the `await` for a part of it."""
    call = awaited.named_children[0] if awaited.named_child_count else None
    if call is None or call.type in CALLS or not file.source.startswith(b"<", awaited.end_byte):
        return call if call is not None and call.type in CALLS else None
    around = awaited.parent
    while around is not None and around.start_byte == awaited.start_byte and around.type not in CALLS:
        around = around.parent
    return around if around is not None and around.start_byte == awaited.start_byte else None


def is_awaited(call: Node) -> bool:
    """Whether Python waits for what a call gives, right there."""
    return call.parent is not None and call.parent.type == "await"


def function_name(node: Node, file: SourceFile) -> str:
    """Qualified name of the function that the node belongs to, for messages."""
    return file.functions[file.function_of(node)].name


def origin_of(name: str, node: Node, file: SourceFile) -> str:
    """What gave a name its value, as far as one look tells: the resolved name of the call or class of its last
    assignment before the node (`requests.Session()`), or of its annotation (`requests.Session`). Empty when unknown."""
    before = text_before(node, file)
    found = ""
    for match in followed(name, before, _ORIGIN, "_."):
        start = match.start() - len(name)
        line = before[before.rfind("\n", 0, start) + 1 : start]
        opened = _OPENED.search(line) if "with" in line else None
        if opened is not None:
            found = opened[1] + "()"
        elif match[1] or match[2]:
            found = match[1] + "()" if match[1] else match[2]
    return file.resolve(found) if found else ""


def full_callee(call: Node, file: SourceFile) -> str:
    """The resolved callee, also when the chain begins with a call of an imported name: `Path(x).open()`."""
    callee = file.callee(call)
    head, dot, rest = callee.partition(".")
    return file.resolve(head.removesuffix("()")) + "()" + dot + rest if head.endswith("()") else callee


def is_own_function(callee: str, file: SourceFile) -> bool:
    """Whether the file itself defines a function of this plain name, so that no built-in one is meant."""
    return "." not in callee and any(function.name == callee for function in file.functions)


def is_imported(callee: str, file: SourceFile) -> bool:
    """Whether the head of a resolved name came from an import of the file, and is no local variable of that name."""
    head = callee.partition(".")[0]
    return any(full == head or full.startswith(head + ".") for full in file.bindings.values())


def assigned_values(name: str, node: Node, file: SourceFile) -> list[Node]:
    """The expressions that the innermost function assigns to a name before the node, augmented assignments too."""
    start = _start_before(node, file)
    found = followed(name.encode(), file.code, _ASSIGNED, b"_.$", start, node.start_byte)
    return [_expression_at(match.end(), file) for match in found]


def given_together(name: str, node: Node, file: SourceFile) -> Iterator[Node]:
    """What the innermost function gives a name before the node together with others: `text, sep = "", ","`."""
    start = _start_before(node, file)
    for match in followed(name.encode(), file.code, _AMONG_OTHERS, b"_.$", start, node.start_byte):
        names = _NAMES_BEFORE.search(file.code, max(start, match.start() - LONGEST_TYPE), match.start() - len(name))
        position = names[0].count(b",") if names is not None else 0
        values = _expression_at(match.end(), file)
        if values.type in _LISTED and position < values.named_child_count:
            yield values.named_children[position]


def is_unpacked(name: str, text: str) -> bool:
    """Whether a line gives the name a value together with others: `key, parents = rows[i]`."""
    return any(
        name not in text[match.end() :].partition("\n")[0]
        and _UNPACKS.fullmatch(text, text.rfind("\n", 0, match.start()) + 1, match.start() - len(name))
        for match in followed(name, text, _UNPACKED, "_.")
    )


def given_values(name: str, file: SourceFile) -> list[Node]:
    """The expressions that the file gives a name anywhere, as a constant has one."""
    return [_expression_at(match.end(), file) for match in followed(name.encode(), file.code, _ASSIGNED, b"_.$")]


def known_values(name: str, node: Node, file: SourceFile) -> list[Node]:
    """The expressions that the function gives a name before the node, or else the file anywhere."""
    return assigned_values(name, node, file) or given_values(name, file)


def first_argument(call: Node, file: SourceFile) -> str:
    """The first positional argument as it is written; empty when there is none."""
    return next((file.text(each) for each in file.arguments(call)[0]), "")


def line_around(match: re.Match[str]) -> str:
    """The line of its text that a match stands in, or the lines from its first to its last."""
    text = match.string
    return text[text.rfind("\n", 0, match.start()) + 1 : text.find("\n", match.end()) % (len(text) + 1)]


def followed(
    name: AnyStr, text: AnyStr, behind: re.Pattern[AnyStr], no_start: AnyStr, start: int = 0, end: int | None = None
) -> Iterator[re.Match[AnyStr]]:
    """What follows a name, where it stands whole and the pattern matches right behind it. Letters, digits and
    `no_start` are what it may not follow. Found by the text: a pattern for each name would have to be compiled."""
    last = len(text) if end is None else end
    position = text.find(name, start, last)
    while position >= 0:
        before = text[position - 1 : position] if position else text[:0]
        match = behind.match(text, position + len(name), last)
        if match is not None and not (before.isalnum() or (before and before in no_start)):
            yield match
        position = text.find(name, max(position + 1, match.end() if match is not None else 0), last)


def parameter_list(function: Node) -> Node | None:
    """The parameters of a function; of an arrow function without brackets the only one."""
    return function.child_by_field_name("parameters") or function.child_by_field_name("parameter")


def is_parameter(name: Node, call: Node, file: SourceFile) -> bool:
    """Whether a name is one of the parameters of the innermost function around the call."""
    function = file.enclosing_function(call)
    listed = function.child_by_field_name("parameters") if function is not None else None
    if listed is None or name.type != "identifier":
        return False
    return re.search(rf"\b{re.escape(file.text(name))}\b", file.text(listed)) is not None


def has_own(name: str, text: bytes) -> bool:
    """Whether the text of a function declares a variable or parameter of this name."""
    return re.search(_OWN.replace(b"NAME", re.escape(name.encode())), text) is not None


def declarations(name: str, file: SourceFile) -> Iterator[bytes]:
    """What stands before a name wherever Java may declare it: `private final Map<String, Row>`, and no more than that
    is certain."""
    for match in followed(name.encode(), file.code, _DECLARED, b"_.$"):
        end = match.start() - len(name.encode())
        yield file.code[max(0, end - LONGEST_TYPE) : end]


def is_repository(name: str, file: SourceFile) -> bool:
    """Whether Java declares something of this name as a repository: `AnimalRepository animals`."""
    return any(map(_REPOSITORY_TYPE.search, declarations(name, file)))


def _expression_at(start: int, file: SourceFile) -> Node:
    """The outermost expression that begins at this byte."""
    node = file.tree.root_node.descendant_for_byte_range(start, start + 1) or file.tree.root_node
    while (parent := node.parent) is not None and parent.start_byte == start and not parent.type.endswith("statement"):
        node = parent
    return node.named_children[0] if node.type == "expression_list" and node.named_child_count == 1 else node


def is_short_list(text: str, node: Node, file: SourceFile, most: int = 20) -> bool:
    """Whether an iterable is a constant by its spelling, or a local name for a literal of few elements."""
    if re.fullmatch(r"[A-Z][A-Z0-9_]+", text):
        return True
    if not re.fullmatch(r"[A-Za-z_$][\w$]*", text):
        return False
    values = assigned_values(text, node, file)
    return bool(values) and all(value.type in _LISTS and value.named_child_count <= most for value in values)


def within(node: Node, stop: frozenset[str] = DEFINITIONS) -> Iterator[Node]:
    """The named nodes below a node in document order, without what stands in nested definitions."""
    pending = list(reversed(node.named_children))
    while pending:
        each = pending.pop()
        yield each
        if each.type not in stop:
            pending.extend(reversed(each.named_children))


def statements(block: Node | None) -> list[Node]:
    """The statements of a block, without comments. Go keeps them in a list of its own."""
    if block is None:
        return []
    children = [each for each in block.named_children if each.type not in COMMENTS]
    if len(children) == 1 and children[0].type == "statement_list":
        children = [each for each in children[0].named_children if each.type not in COMMENTS]
    return children


def short(text: str, length: int = 60) -> str:
    """Text on one line, cut to a length, for messages."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def is_made_once(call: Node, file: SourceFile) -> bool:
    """Whether a branch around the call is for a value that is missing, and gives it one."""
    if not file.is_in(call, "if"):
        return False
    node: Node | None = file.statement_of(call)
    while node is not None and node.type not in DEFINITIONS:
        if node.type == "if_statement" and (condition := node.child_by_field_name("condition")) is not None:
            # What the head of the `if` computes runs whether it is missing or not.
            is_inside = call.start_byte >= condition.end_byte
            missing = _MISSING.fullmatch(file.text(condition)) if is_inside else None
            if missing is not None and next(followed(missing[1] or missing[2], file.text(node), _GIVEN, "_."), None):
                return True
        node = file.parent_of(node)
    return False
