"""Python for the walk."""

import re
from collections.abc import Iterable

import tree_sitter_python
from tree_sitter import Node

from analysis.engine.extract.dialect import ClassHeader, Dialect, FunctionHeader, Imported
from analysis.engine.extract.loops import bound_of
from analysis.engine.extract.python_entries import entries_of
from analysis.engine.extract.scopes import LONGEST_ITERABLE, LoopDraft, Scope
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Entry, Function, FunctionFlag, Import, ImportFlag, Parameter

LONGEST_ANNOTATION = 80

_NAMES = re.compile(r"[^\W\d]\w*")
_BATCHED = re.compile(r"chunk|batch|page|paginat|fetchmany|partition|windowed|islice|range\([^,()]+,[^,]+,")
_RANGE = re.compile(r"range\((\d+)(?:,\s*(\d+))?\)$")
_SLICE = re.compile(r"\[:(\d+)\]$")
_FROM = re.compile(rb"from\s++([\w.]++)\s++import\s*+\(?+([\w\s,]++)\)?")
_FIELD = re.compile(rb"self(?<!\wself)\.(\w+)(?:\s*:[^=\n]+)?\s*=[^=]")
_MAP = re.compile(rb"\bmap\(\Z")
_GIVEN = re.compile(rb"\s*,\s*([\w.]+(?:\([^()]*\))?)")
_ANNOTATED = re.compile(
    rb"^(?:type\s+)?(\w+)\s*(?::\s*[\w.]*TypeAlias)?\s*=\s*(?:\w+\.)?Annotated\[\s*([\w.]+)\s*,", re.MULTILINE
)
_CALLED = re.compile(rb"\b(\w+)\(")
_MAIN = re.compile(rb"^if __name__ ==", re.MULTILINE)


class Python(Dialect):
    name = "python"
    grammar = staticmethod(tree_sitter_python.language)
    events = {
        "call": "call",
        "function_definition": "function",
        "lambda": "closure",
        "class_definition": "class_",
        "decorator": "decorator",
        "if_statement": "branch",
        "elif_clause": "alternative",
        "else_clause": "otherwise",
        "for_statement": "loop",
        "while_statement": "loop",
        "list_comprehension": "comprehension",
        "set_comprehension": "comprehension",
        "dictionary_comprehension": "comprehension",
        "generator_expression": "comprehension",
        "for_in_clause": "decision",
        "if_clause": "decision",
        "conditional_expression": "ternary",
        "match_statement": "switch",
        "case_clause": "case",
        "try_statement": "attempt",
        "except_clause": "handler",
        "finally_clause": "cleanup",
        "with_statement": "resource",
        "await": "awaiting",
        "yield": "yields",
        "ERROR": "broken",
    }
    booleans = "(boolean_operator)"
    imports = ("import_statement", "import_from_statement", "future_import_statement")
    comments = ("comment",)
    watchable = {
        "function": ("function_definition", "lambda"),
        "class": ("class_definition",),
        "loop": (
            "for_statement",
            "while_statement",
            "list_comprehension",
            "set_comprehension",
            "dictionary_comprehension",
            "generator_expression",
        ),
        "handler": ("except_clause",),
        "try": ("try_statement",),
        "finally": ("finally_clause",),
        "with": ("with_statement",),
        "if": ("if_statement",),
        "switch": ("match_statement",),
        "assignment": ("assignment", "augmented_assignment", "named_expression"),
        "import": imports,
        "comment": comments,
        "string": ("string",),
        "binary": ("binary_operator", "comparison_operator", "boolean_operator"),
        "return": ("return_statement",),
        "throw": ("raise_statement",),
        "await": ("await",),
        "expression_statement": ("expression_statement",),
        "subscript": ("subscript",),
        "delete": ("delete_statement",),
        "block": ("block",),
        "jump": ("break_statement", "continue_statement"),
    }

    def callee(self, node: Node) -> tuple[int, int]:
        return node.start_byte, node.child(0).end_byte

    def callback(self, node: Node, file: SourceFile) -> tuple[tuple[str, ...], str] | None:
        """`map(lambda row: …, rows)`."""
        start, end = node.start_byte, node.end_byte
        if node.type != "lambda" or _MAP.search(file.source, max(0, start - 5), start) is None:
            return None
        listed, rows = node.child_by_field_name("parameters"), _GIVEN.match(file.source, end)
        names = tuple(_NAMES.findall(file.text(listed))) if listed is not None else ()
        return names, rows[1].decode("utf-8", "replace") if rows is not None else ""

    # Definitions

    def function(self, node: Node, scope: Scope, file: SourceFile) -> FunctionHeader:
        name_node = node.child_by_field_name("name")
        name = file.text(name_node) if name_node is not None else "?"
        flags = 0
        if node.child(0).type == "async":
            flags |= FunctionFlag.ASYNC
        if scope.owner:
            flags |= FunctionFlag.METHOD
            if name == "__init__":
                flags |= FunctionFlag.CONSTRUCTOR
        if not name.startswith("_") and (scope.owner or scope.function.index == 0):
            flags |= FunctionFlag.EXPORTED
        if name.startswith("test_") or name == "test":
            flags |= FunctionFlag.TEST
        return FunctionHeader(name, flags, name_start=name_node.start_byte if name_node is not None else -1)

    def parameters(self, node: Node, file: SourceFile) -> tuple[Parameter, ...]:
        listed = node.child_by_field_name("parameters")
        if listed is None or listed.named_child_count == 0:
            return ()
        found: list[Parameter] = []
        keyword_only = False
        for each in listed.named_children:
            if each.type == "keyword_separator":
                keyword_only = True
                continue
            parameter = _parameter(each, file, keyword_only)
            if parameter is not None:
                found.append(parameter)
                keyword_only = keyword_only or (parameter.name[:1] == "*" and parameter.name[1:2] != "*")
        return tuple(found)

    def class_(self, node: Node, scope: Scope, file: SourceFile) -> ClassHeader:
        name_node = node.child_by_field_name("name")
        bases = node.child_by_field_name("superclasses")
        return ClassHeader(
            name=file.text(name_node) if name_node is not None else "?",
            bases=tuple(
                file.resolve(file.text(each))[:LONGEST_ITERABLE]
                for each in (bases.named_children if bases is not None else ())
                if each.type in ("identifier", "attribute", "subscript", "call")
            ),
            fields=_fields(node, file),
        )

    def docstring(self, node: Node) -> Node | None:
        body = node if node.type == "module" else node.child_by_field_name("body")
        if body is None or not body.named_child_count:
            return None
        first = body.named_child(0)
        if first.type == "comment":
            first = next((each for each in body.named_children if each.type != "comment"), first)
        if first.type == "expression_statement" and first.child(0).type in ("string", "concatenated_string"):
            return first
        return None

    # Control structures

    def loop(self, node: Node, loop: LoopDraft, file: SourceFile) -> None:
        clause = node
        if loop.kind == "comprehension":
            clause = next((each for each in node.named_children if each.type == "for_in_clause"), node)
        left, right = clause.child_by_field_name("left"), clause.child_by_field_name("right")
        if left is not None:
            loop.variables = tuple(_NAMES.findall(file.text(left)))
        if right is not None:
            loop.head_start, loop.head_end = right.start_byte, right.end_byte
        else:
            right = node.child_by_field_name("condition")
        if right is not None:
            loop.iterable = file.text(right)[:LONGEST_ITERABLE]
            loop.batched = bool(_BATCHED.search(loop.iterable)) and ".iterator(" not in loop.iterable
            loop.bound = _bound(right, loop.iterable) or bound_of(loop.iterable, node.start_byte, file.source)

    def case(self, node: Node) -> tuple[bool, bool]:
        body = node.child_by_field_name("consequence")
        is_default = node.named_child_count == 2 and node.named_child(0).type == "case_pattern" and _is_wildcard(node)
        return not is_default, body is not None and body.named_child_count == 1

    def is_guard(self, node: Node) -> bool:
        body = node.child_by_field_name("consequence")
        return (
            node.child_by_field_name("alternative") is None
            and body is not None
            and body.named_child_count == 1
            and body.named_child(0).type in _JUMPS
        )

    # Imports

    def imported(self, node: Node, file: SourceFile) -> Iterable[Imported]:
        line = file.line(node)
        if node.type == "import_statement":
            for each in node.children_by_field_name("name"):
                yield _imported_module(each, node, line, file)
            return
        target, names = _plain_import(node, file) or _odd_import(node, file)
        level = len(target) - len(target.lstrip("."))
        prefix = target if target.endswith(".") else target + "."
        yield Imported(
            Import(
                target=target[level:],
                line=line,
                names=tuple([name for name, _ in names]),
                level=level,
                aliases=tuple([(local, name) for name, local in names if local != name]),
            ),
            node.start_byte,
            node.end_byte,
            tuple([(local, prefix + name) for name, local in names if name != "*"]),
        )

    def import_flags(self, scope: Scope, file: SourceFile) -> int:
        if scope.kind == "if":
            condition = scope.node.child_by_field_name("condition")
            text = file.text(condition) if condition is not None else ""
            if text.endswith("TYPE_CHECKING"):
                return ImportFlag.TYPE_ONLY
            if text.startswith("__name__"):
                return ImportFlag.DEFERRED
        return 0

    # The whole file

    def is_entry(self, file: SourceFile) -> bool:
        return file.source.startswith(b"#!") or (b"__name__" in file.source and bool(_MAIN.search(file.source)))

    def exports(self, functions: tuple[Function, ...], file: SourceFile) -> tuple[str, ...]:
        return tuple(
            each.name
            for each in functions
            if each.flags & FunctionFlag.EXPORTED and not each.owner and each.parent == 0
        )

    def annotated(self, file: SourceFile) -> tuple[tuple[str, str], ...]:
        if b"Annotated[" not in file.source:
            return ()
        return tuple((name.decode(), kind.decode()) for name, kind in _ANNOTATED.findall(file.source))

    def entries(self, functions: tuple[Function, ...], file: SourceFile) -> Iterable[Entry]:
        yield from entries_of(functions, file.classes, file)
        guard = _MAIN.search(file.source) if b"__name__" in file.source else None
        if guard is not None:
            yield Entry("module", "main", "python", "__main__")
            started = {name.decode() for name in _CALLED.findall(file.source, guard.end())}
            yield from (
                Entry(each.name, "main", "python", "__main__")
                for each in functions
                if each.name in started and not each.owner and each.parent == 0
            )


_JUMPS = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})


def _parameter(node: Node, file: SourceFile, keyword_only: bool) -> Parameter | None:
    kind = node.type
    if kind in ("identifier", "list_splat_pattern", "dictionary_splat_pattern", "tuple_pattern"):
        return Parameter(file.text(node)[:LONGEST_ANNOTATION], "", False, keyword_only and kind == "identifier")
    if kind not in ("typed_parameter", "default_parameter", "typed_default_parameter"):
        return None
    name_node = node.child_by_field_name("name") or node.named_child(0)
    annotation = node.child_by_field_name("type")
    name = file.text(name_node)[:LONGEST_ANNOTATION]
    return Parameter(
        name,
        file.text(annotation)[:LONGEST_ANNOTATION] if annotation is not None else "",
        kind != "typed_parameter",
        keyword_only and not name.startswith("*"),
    )


def _fields(node: Node, file: SourceFile) -> tuple[str, ...]:
    """Names assigned on `self` anywhere in the class, and in its body."""
    found: dict[str, None] = {}
    body = node.child_by_field_name("body")
    for statement in body.named_children if body is not None else ():
        if statement.type == "expression_statement" and statement.child(0).type == "assignment":
            left = statement.child(0).child(0)
            if left.type == "identifier":
                found[file.text(left)] = None
    for name in _FIELD.findall(file.source[node.start_byte : node.end_byte]):
        found[name.decode("utf-8", "replace")] = None
    return tuple(found)


def _bound(node: Node, text: str) -> int:
    if node.type in ("list", "tuple", "set"):
        return node.named_child_count
    if (match := _RANGE.match(text)) is not None:
        low, high = int(match[1]), int(match[2] or 0)
        return high - low if match[2] else low
    if (match := _SLICE.search(text)) is not None:
        return int(match[1])
    return 0


def _is_wildcard(case: Node) -> bool:
    pattern = case.named_child(0)
    return pattern.end_byte - pattern.start_byte == 1 and pattern.named_child_count == 0


def _imported_module(node: Node, statement: Node, line: int, file: SourceFile) -> Imported:
    name, local = _name_and_alias(node, file)
    if local != name:
        fact = Import(target=name, line=line, aliases=((local, name),))
        return Imported(fact, statement.start_byte, statement.end_byte, ((local, name),))
    head = name.partition(".")[0]
    return Imported(Import(target=name, line=line), statement.start_byte, statement.end_byte, ((head, head),))


def _plain_import(node: Node, file: SourceFile) -> tuple[str, list[tuple[str, str]]] | None:
    """What `from a import b, c as d` imports, read off its text: the module, and names with their local ones. None for
    statements with comments, stars or letters beyond ASCII."""
    found = _FROM.fullmatch(file.source, node.start_byte, node.end_byte)
    if found is None:
        return None
    parts = [part.split(" as ") for part in " ".join(found[2].decode().split()).split(",")]
    names = [(part[0].strip(), part[-1].strip()) for part in parts if part != [""] and part != [" "]]
    return found[1].decode(), names


def _odd_import(node: Node, file: SourceFile) -> tuple[str, list[tuple[str, str]]]:
    """The same for any statement."""
    module = node.child_by_field_name("module_name")
    target = file.text(module).replace(" ", "") if module is not None else "__future__"
    if any(each.type == "wildcard_import" for each in node.named_children):
        return target, [("*", "*")]
    return target, [_name_and_alias(each, file) for each in node.children_by_field_name("name")]


def _name_and_alias(node: Node, file: SourceFile) -> tuple[str, str]:
    if node.type == "aliased_import":
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        if name is not None and alias is not None:
            return file.text(name), file.text(alias)
    text = file.text(node)
    return text, text
