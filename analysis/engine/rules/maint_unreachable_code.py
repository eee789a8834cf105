"""Code that can never run: after a jump, after an endless loop, under a condition that is always false."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.model import Category, Guide, Rule, Severity
from analysis.engine.readers.reading import CALLS, COMMENTS, short, statements
from analysis.engine.rules.base import ALL, GO, JAVA, PYTHON, SCRIPT, Watch, last_names

RULE = Rule(
    id="maint-unreachable-code",
    type="unreachable_code",
    category=Category.MAINTAINABILITY,
    title="Unreachable code",
    severity=Severity.WARNING,
    points=0.5,
    suggestion="Delete it, or correct the jump above.",
)
GUIDE = Guide(
    why="Code that never runs is read, kept working and believed in.",
    flagged=(
        {
            "shop/work.py": """
def total(order):
    return order.total
    order.save()
"""
        },
    ),
    fine=(
        {
            "shop/work.py": """
def total(order):
    order.save()
    return order.total
"""
        },
    ),
)

_EXITS = frozenset(
    """sys.exit os._exit exit quit process.exit process.abort java.lang.System.exit System.exit os.Exit panic log.Fatal
    log.Fatalf log.Fatalln log.Panic log.Panicf log.Panicln runtime.Goexit""".split()
)
_WANTED = ("return_statement", "throw_statement", "break_statement")
_HOISTED = frozenset(
    """function_declaration generator_function_declaration class_declaration empty_statement labeled_statement
    interface_declaration type_alias_declaration pass_statement function_definition import_statement ERROR""".split()
)
_BLOCKS = frozenset(
    """block module program statement_block statement_list source_file switch_case switch_default constructor_body
    switch_block_statement_group expression_case default_case communication_case""".split()
)
_LEAVES = frozenset(
    {
        "return_statement",
        "raise_statement",
        "throw_statement",
        "break_statement",
        "continue_statement",
        "goto_statement",
    }
)
_NESTED = frozenset({"block", "statement_block"})
_BRACED_END = re.compile(rb"(?:[\s;]|//[^\n]*|/\*.*?\*/)*(?:\}|\)|case\b|default\b|else\b|$)", re.DOTALL)
_NEXT_LINE = re.compile(rb"[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*([ \t]*)(?=[^\s#])")
_FALSE = re.compile(
    rb"(?:el)?if\s*(?:\(\s*(?:false|0)\s*(?:\)|&&)|\(?\s*(?:False|0)\s*(?:\)?\s*:|and\b)|false\s*(?:\{|&&))"
)
_TRUE = re.compile(rb"if\s*(?:\(\s*true\s*\)|True\s*:|true\s*\{)")
_ENDLESS = re.compile(rb"while\s+(?:True|1)\s*:|while\s*\(\s*true\s*\)\s*\{|for\s*\(\s*;\s*;\s*\)\s*\{|for\s*\{")
_NO_CODE = frozenset({"comment", "line_comment", "block_comment", "string_fragment", "string_content", "identifier"})
_BROKEN_OUT_OF = frozenset(
    """for_statement while_statement do_statement for_in_statement enhanced_for_statement switch_statement
    switch_expression expression_switch_statement type_switch_statement select_statement""".split()
)
_LEAVES_LOOP = re.compile(rb"\b(break|goto)\b")


def look_at_jump(statement: Node, file: SourceFile) -> Iterator[Mark]:
    after = _statement_after(statement, file)
    if after is None:
        return
    word = file.source[statement.start_byte : statement.start_byte + 20].split(maxsplit=1)[0].rstrip(b";(").decode()
    is_break = after.type == "break_statement"
    yield _mark(after, f"`{word}`", file, severity="info" if is_break else "")


def look_at_exit(call: Node, file: SourceFile) -> Iterator[Mark]:
    if not _ends_process(call, file):
        return
    callee = file.callee(call)
    statement = call.parent
    if statement is None or statement.type != "expression_statement":
        return
    after = _statement_after(statement, file)
    # What a call is that never returns the compiler does not know, and may want a jump behind it.
    if after is not None and (_is_panic(call, file) or after.type not in _WANTED):
        yield _mark(after, f"`{callee}`", file)


def look_at_loop(loop: Node, file: SourceFile) -> Iterator[Mark]:
    if loop.child_by_field_name("alternative") is not None or (after := _statement_after(loop, file)) is None:
        return
    if after.type in ("raise_statement", "throw_statement"):
        return  # which says that nobody comes here
    leaving = _LEAVES_LOOP.finditer(file.source, loop.start_byte, loop.end_byte)
    if not any(_leaves(match.start(), loop, file) for match in leaving):
        yield _mark(after, "the endless loop above", file)


def _leaves(start: int, loop: Node, file: SourceFile) -> bool:
    """Whether the word at this place is a jump out of the loop, and not out of a `switch` or a loop inside of it."""
    node = file.tree.root_node.descendant_for_byte_range(start, start + 1)
    if node is None or node.type in _NO_CODE:
        return False
    statement = node.parent
    if statement is None or statement.type != "break_statement" or statement.named_child_count:
        return True  # to a label
    inner: Node = statement
    around = statement.parent
    while around is not None and around != loop:
        if around.type in _BROKEN_OUT_OF and inner.type != "else_clause":  # the `else` of a loop of Python is behind it
            return False
        inner, around = around, around.parent
    return True


def look_at_if(statement: Node, file: SourceFile) -> Iterator[Mark]:
    yield file.mark(RULE.id, statement, "The condition is always false: the code under it never runs")


def look_at_else(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """The `else` of a condition that is always true."""
    other = statement.child_by_field_name("alternative")
    if other is not None:
        yield file.mark(RULE.id, other, "The condition is always true: the `else` never runs")


def look_at_branches(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """An `if` with an `else` of which each branch leaves."""
    if statement.child_by_field_name("alternative") is None or (after := _statement_after(statement, file)) is None:
        return
    ways = _ways_out(statement, file)
    if not ways or ("exit" in ways and after.type in _LEAVES):
        return  # behind a call that ends the process many compilers want a jump all the same
    yield _mark(after, "each branch of the `if` above", file)


def _ways_out(branch: Node | None, file: SourceFile) -> frozenset[str]:
    """How a block, or all branches of an `if` that ends in an `else`, leave the block around: by a "jump", or by an
    "exit" that ends the process. Empty when one of them goes on."""
    if branch is None:
        return frozenset()
    if branch.type in _LEAVES:
        return frozenset({"jump"})
    if branch.type == "expression_statement":
        call = branch.named_child(0)
        if call is None or not _ends_process(call, file):
            return frozenset()
        return frozenset({"jump" if _is_panic(call, file) else "exit"})
    if branch.type == "elif_clause":
        return _ways_out(branch.child_by_field_name("consequence"), file)
    if branch.type == "else_clause":
        return _ways_out(branch.child_by_field_name("body") or branch.named_child(branch.named_child_count - 1), file)
    if branch.type == "if_statement":
        others = branch.children_by_field_name("alternative")
        if not others or others[-1].type == "elif_clause":
            return frozenset()
        ways = [_ways_out(each, file) for each in (branch.child_by_field_name("consequence"), *others)]
        return frozenset().union(*ways) if all(ways) else frozenset()
    held = statements(branch) if branch.type in _NESTED else []
    return _ways_out(held[-1], file) if held else frozenset()


def _ends_process(call: Node, file: SourceFile) -> bool:
    """Whether a call ends the process, or panics, and no function of the file has its name."""
    if call.type not in CALLS:
        return False
    callee = file.callee(call)
    return callee in _EXITS and not any(each.name == callee for each in file.functions)


def _is_panic(call: Node, file: SourceFile) -> bool:
    """Whether a call is one that the compiler of Go knows never to return."""
    return file.language == "go" and file.callee(call) == "panic"


def _statement_after(statement: Node, file: SourceFile) -> Node | None:
    """The next statement of the same block that is more than a declaration. The text is asked before the tree."""
    source, end = file.source, statement.end_byte
    if file.language == "python":
        column = statement.start_byte - (source.rfind(b"\n", 0, statement.start_byte) + 1)
        following = _NEXT_LINE.match(source, end)
        if following is None or len(following[1]) != column:
            return None
    elif _BRACED_END.match(source, end):
        return None
    after = statement.next_named_sibling
    while after is not None and after.type in COMMENTS:
        after = after.next_named_sibling
    parent = statement.parent
    if after is None or after.type in _HOISTED or parent is None or parent.type not in _BLOCKS or parent.has_error:
        return None
    text = file.text(after)
    if re.match(r"yield\b|var\s+[\w$,\s]+;|(elif|else|except|finally|case)\b|type\s", text):
        return None
    return after


def _mark(after: Node, cause: str, file: SourceFile, severity: str = "") -> Mark:
    code = short(file.text(after).partition("\n")[0])
    return file.mark(RULE.id, after, f"`{code}` never runs: {cause} leaves before", severity=severity)


def _followed(*words: str) -> str:
    """The query pattern of statements that something follows in their block."""
    return f"([{' '.join(f'({word}_statement)' for word in words)}] @n . (_))"


WATCHES = (
    Watch(_followed("return", "raise", "break", "continue"), look_at_jump, PYTHON),
    Watch(_followed("return", "throw", "break", "continue"), look_at_jump, SCRIPT),
    Watch(_followed("return", "throw"), look_at_jump, JAVA),
    Watch(_followed("return", "break", "continue", "goto"), look_at_jump, GO),
    Watch("loop", look_at_loop, (*PYTHON, *SCRIPT, *JAVA, *GO), starts=_ENDLESS),
    Watch("if", look_at_if, ALL, starts=_FALSE),
    Watch("if", look_at_else, ALL, starts=_TRUE),
    Watch("elif_clause", look_at_if, PYTHON, starts=_FALSE),
    Watch("if", look_at_branches, ALL, needs=(b"else",)),
    Watch(
        "call",
        look_at_exit,
        ALL,
        names=last_names(_EXITS),
    ),
)
