"""Go for the walk. Function literals stay part of the function around them, as the usual Go tools count."""

import re
from collections.abc import Iterable, Mapping

import tree_sitter_go
from tree_sitter import Node

from analysis.engine.extract import go_references
from analysis.engine.extract.dialect import ClassHeader, Dialect, FunctionHeader, Imported
from analysis.engine.extract.go_entries import REGISTRATIONS, look_at_registration
from analysis.engine.extract.go_errors import settles_errors
from analysis.engine.extract.loops import bound_of
from analysis.engine.extract.scopes import LONGEST_ITERABLE, LoopDraft, Scope
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Entry, Function, FunctionFlag, Import, ImportFlag, Parameter
from analysis.engine.rules.base import Look

LONGEST_TEXT = 120  # characters of a type or a name

_ENDS_IN_ERROR = re.compile(rb"(?<![\w.])error\)?$")
_NAMES = re.compile(r"[^\W\d]\w*")
_PACKAGE = re.compile(rb"^\s*package\s+(\w+)", re.MULTILINE)
_NAMED_TYPE = re.compile(  # `service.Orders`, `orderStore`
    r"[a-z]\w*\.[A-Z]\w*|(?!(?:u?int\d*|float\d+|complex\d+|string|bool|byte|rune|error|any|uintptr)\Z)[A-Za-z]\w*"
)
_MAJOR = re.compile(r"/v\d+$|\.v\d+$")
_HANDLER = re.compile(r"\b(http\.Request|gin\.Context|echo\.Context|fiber\.Ctx|fasthttp\.RequestCtx|restful\.Request)$")
_CONSUMED = re.compile(  # what a queue hands to whoever takes its messages
    r"\b(?:kafka\.Message|nats\.Msg|jetstream\.Msg|amqp(?:091)?\.Delivery|sarama\.ConsumerMessage|asynq\.Task"
    r"|events\.(?:SQS|SNS|Kinesis)Event|pubsub\.Message)$"
)
_LIMIT = re.compile(r"<=?\s*(\d{1,9})\s*$")
_STEP = re.compile(r"\+=(?!\s*1\b)")
_BATCHED = re.compile(r"chunk|batch|page|Chunk|Batch|Page")
_JUMPS = frozenset({"return_statement", "continue_statement", "break_statement", "goto_statement"})


class Go(Dialect):
    name = "go"
    grammar = staticmethod(tree_sitter_go.language)
    events = {
        "call_expression": "call",
        "function_declaration": "function",
        "method_declaration": "function",
        "func_literal": "closure",
        "type_spec": "class_",
        "if_statement": "branch",
        "else": "else_word",
        "for_statement": "loop",
        "expression_switch_statement": "switch",
        "type_switch_statement": "switch",
        "select_statement": "switch",
        "expression_case": "case",
        "type_case": "case",
        "communication_case": "case",
        "break_statement": "jump",
        "continue_statement": "jump",
        "goto_statement": "jump",
        "ERROR": "broken",
    }
    booleans = '(binary_expression operator: "&&") (binary_expression operator: "||")'
    imports = ("import_spec",)
    comments = ("comment",)
    watchable = {
        "function": ("function_declaration", "method_declaration", "func_literal"),
        "class": ("type_spec",),
        "loop": ("for_statement",),
        "if": ("if_statement",),
        "switch": ("expression_switch_statement", "type_switch_statement", "select_statement"),
        "assignment": ("assignment_statement", "short_var_declaration", "var_spec"),
        "import": ("import_spec",),
        "comment": ("comment",),
        "string": ("interpreted_string_literal", "raw_string_literal"),
        "binary": ("binary_expression",),
        "return": ("return_statement",),
        "expression_statement": ("expression_statement",),
        "subscript": ("index_expression",),
        "block": ("block",),
        "field": ("field_declaration",),
        "jump": ("break_statement", "continue_statement", "goto_statement"),
        "label": ("labeled_statement",),
        "literal": ("composite_literal",),
        "go": ("go_statement",),
        "defer": ("defer_statement",),
    }

    def callee(self, node: Node) -> tuple[int, int]:
        return node.start_byte, node.child(0).end_byte

    # Definitions

    def function(self, node: Node, scope: Scope, file: SourceFile) -> FunctionHeader:
        name_node = node.child_by_field_name("name")
        name = file.text(name_node) if name_node is not None else "?"
        flags = FunctionFlag.EXPORTED if name[:1].isupper() else 0
        if name.startswith(("Test", "Benchmark", "Fuzz")):
            flags |= FunctionFlag.TEST
        result = node.child_by_field_name("result")
        if result is not None and result.type == "function_type":
            result = None  # what it gives may fail, later
        if result is not None and _ENDS_IN_ERROR.search(file.source, result.start_byte, result.end_byte):
            flags |= FunctionFlag.RETURNS_ERROR
            body = node.child_by_field_name("body")
            if body is not None and settles_errors(body, file.source):
                flags |= FunctionFlag.SETTLES_ERRORS
        receiver = node.child_by_field_name("receiver")
        name_start = name_node.start_byte if name_node is not None else -1
        if receiver is None:
            return FunctionHeader(name, flags, name_start=name_start)
        words = _NAMES.findall(file.text(receiver).partition("[")[0])
        owner = words[-1] if words else ""
        return FunctionHeader(name, flags | FunctionFlag.METHOD, owner=owner, name_start=name_start)

    def parameters(self, node: Node, file: SourceFile) -> tuple[Parameter, ...]:
        listed = node.child_by_field_name("parameters")
        if listed is None or listed.named_child_count == 0:
            return ()
        found: list[Parameter] = []
        for each in listed.named_children:
            kind = each.child_by_field_name("type")
            annotation = file.text(kind)[:LONGEST_TEXT] if kind is not None else ""
            if each.type == "variadic_parameter_declaration":
                annotation = "..." + annotation
            names = each.children_by_field_name("name")
            found.extend(Parameter(file.text(name)[:LONGEST_TEXT], annotation) for name in names)
            if not names and each.type != "comment":
                found.append(Parameter("", annotation))
        return tuple(found)

    def class_(self, node: Node, scope: Scope, file: SourceFile) -> ClassHeader:
        name_node, kind = node.child_by_field_name("name"), node.child_by_field_name("type")
        if name_node is None or kind is None or kind.type not in ("struct_type", "interface_type"):
            return ClassHeader("")
        name = file.text(name_node)
        fields: list[str] = []
        types: list[tuple[str, str]] = []
        bases: list[str] = []
        listed = kind.named_child(0) if kind.type == "struct_type" and kind.named_child_count else None
        for each in listed.named_children if listed is not None else ():
            if each.type != "field_declaration":
                continue
            names = each.children_by_field_name("name")
            fields.extend(file.text(each_name) for each_name in names)
            declared = each.child_by_field_name("type")
            written = file.text(declared).lstrip("*")[:LONGEST_TEXT] if declared is not None else ""
            if _NAMED_TYPE.fullmatch(written):
                types.extend((file.text(each_name), written) for each_name in names)
            if not names and declared is not None:
                bases.append(file.resolve(written)[:LONGEST_TEXT])
        flags = FunctionFlag.EXPORTED if name[:1].isupper() else 0
        asked = tuple(
            (file.text(asked_name)[:LONGEST_TEXT], len(self.parameters(each, file)))
            for each in (kind.named_children if kind.type == "interface_type" else ())
            if each.type == "method_elem" and (asked_name := each.child_by_field_name("name")) is not None
        )
        return ClassHeader(name, tuple(bases), tuple(fields), flags=flags, field_types=tuple(types), methods=asked)

    def is_async(self, node: Node) -> bool:
        return False

    def note_references(self, file: SourceFile) -> None:
        go_references.note(file)

    # Control structures

    def loop(self, node: Node, loop: LoopDraft, file: SourceFile) -> None:
        clause = node.named_child(0) if node.named_child_count else node
        if clause.type == "range_clause":
            left, right = clause.child_by_field_name("left"), clause.child_by_field_name("right")
            if left is not None:
                loop.variables = tuple(name for name in _NAMES.findall(file.text(left)) if name != "_")
            if right is not None:
                loop.head_start, loop.head_end = right.start_byte, right.end_byte
                loop.iterable = file.text(right)[:LONGEST_ITERABLE]
                loop.bound = bound_of(loop.iterable, node.start_byte, file.source)
        elif clause.type == "for_clause":
            first, update = clause.child_by_field_name("initializer"), clause.child_by_field_name("update")
            condition = clause.child_by_field_name("condition")
            loop.iterable = file.text(condition)[:LONGEST_ITERABLE] if condition is not None else ""
            if first is not None:
                loop.head_start, loop.head_end = first.start_byte, first.end_byte
                loop.variables = tuple(_NAMES.findall(file.text(first).partition("=")[0]))
            loop.batched = update is not None and bool(_STEP.search(file.text(update)))
            limit = _LIMIT.search(loop.iterable)
            loop.bound = int(limit[1]) if limit is not None else 0
        else:
            loop.kind = "while"
            loop.iterable = file.text(clause)[:LONGEST_ITERABLE] if clause.type != "block" else ""
        loop.batched = loop.batched or bool(_BATCHED.search(loop.iterable))

    def case(self, node: Node) -> tuple[bool, bool]:
        body = node.named_child(node.named_child_count - 1) if node.named_child_count else None
        return True, body is None or body.type != "statement_list" or body.named_child_count <= 1

    def is_guard(self, node: Node) -> bool:
        body = node.child_by_field_name("consequence")
        if body is None or node.child_by_field_name("alternative") is not None or body.named_child_count != 1:
            return False
        statements = body.named_child(0)
        return statements.named_child_count == 1 and statements.named_child(0).type in _JUMPS

    def asks_for_error(self, node: Node) -> bool:
        condition = node.child_by_field_name("condition")
        asked = (condition.text or b"") if condition is not None else b""
        return asked.endswith(b"!= nil") and b"err" in asked.lower()

    # Imports

    def imported(self, node: Node, file: SourceFile) -> Iterable[Imported]:
        path, name_node = node.child_by_field_name("path"), node.child_by_field_name("name")
        if path is None:
            return
        target = file.text(path).strip('"`')
        local = file.text(name_node) if name_node is not None else _package_name(target)
        flags = ImportFlag.BARE if local == "_" else 0
        names = ("*",) if local == "." else ()
        given = ((local, target),) if name_node is not None and local not in ("_", ".") else ()
        bindings = ((local, target),) if local not in ("_", ".") else ()
        yield Imported(
            Import(target, file.line(node), names, flags=flags, aliases=given), node.start_byte, node.end_byte, bindings
        )

    # The whole file

    def package(self, file: SourceFile) -> str:
        match = _PACKAGE.search(file.source)
        return match[1].decode() if match is not None else ""

    def is_entry(self, file: SourceFile) -> bool:
        return b"func main()" in file.source and self.package(file) == "main"

    def exports(self, functions: tuple[Function, ...], file: SourceFile) -> tuple[str, ...]:
        names = [each.name for each in functions if each.flags & FunctionFlag.EXPORTED and not each.owner]
        types = [scope.prefix.rstrip(".") for scope in file.scopes if scope.kind == "class"]
        return (*names, *(name for name in types if name[:1].isupper()))

    def readers(self) -> Mapping[str, Look]:
        return dict.fromkeys(REGISTRATIONS, look_at_registration)

    def entries(self, functions: tuple[Function, ...], file: SourceFile) -> Iterable[Entry]:
        is_main = self.package(file) == "main"
        for function in functions:
            if any(_HANDLER.search(each.annotation) for each in function.parameters):
                yield Entry(function.name, "request", "go", function.name)
            elif any(_CONSUMED.search(each.annotation) for each in function.parameters):
                yield Entry(function.name, "job", "go", function.name)
            elif is_main and function.name == "main":
                yield Entry("main", "main", "go", "main")


def _package_name(path: str) -> str:
    """The name that a package is usually called by: the last segment without its major version."""
    last = _MAJOR.sub("", path).rpartition("/")[2]
    return last.removeprefix("go-").removesuffix("-go").replace("-", "_")
