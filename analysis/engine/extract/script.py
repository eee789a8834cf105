"""JavaScript, TypeScript and TSX for the walk."""

import re
from collections.abc import Iterable, Mapping

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Node

from analysis.engine.extract import script_entries
from analysis.engine.extract.dialect import ClassHeader, Dialect, FunctionHeader, Imported
from analysis.engine.extract.loops import bound_of
from analysis.engine.extract.places import PER_ELEMENT, place_of
from analysis.engine.extract.scopes import LONGEST_ITERABLE, LoopDraft, Scope
from analysis.engine.extract.script_imports import common_exports, exported_names, imported_by, is_left_out, required
from analysis.engine.extract.script_promises import FUNCTIONS, gives_settled, keeps_errors
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Entry, Function, FunctionFlag, Parameter
from analysis.engine.rules.base import Look

LONGEST_NAME = 80

_NAMES = re.compile(r"[A-Za-z_$][\w$]*")
_TESTS = frozenset({"it", "test", "describe"})
_FIELD = re.compile(rb"this(?<!\wthis)\.([\w$]+)\s*=[^=]")
_STEP = re.compile(r"\+=(?!\s*1\b)|=\s*\w+\s*\+(?!\s*1\b)")
_LIMIT = re.compile(r"<=?\s*(\d+)\s*$")
_BATCHED = re.compile(r"chunk|batch|page|paginat|partition|cursor", re.IGNORECASE)
_AROUND_AWAIT = frozenset({"instantiation_expression", "non_null_expression"})


class JavaScript(Dialect):
    name = "javascript"
    grammar = staticmethod(tree_sitter_javascript.language)
    events = {
        "call_expression": "call",
        "new_expression": "call",
        **dict.fromkeys(FUNCTIONS, "function"),
        "class_declaration": "class_",
        "abstract_class_declaration": "class_",
        "class": "class_",
        "decorator": "decorator",
        "if_statement": "branch",
        "else": "else_word",
        "for_statement": "loop",
        "for_in_statement": "loop",
        "while_statement": "loop",
        "do_statement": "loop",
        "ternary_expression": "ternary",
        "switch_statement": "switch",
        "switch_case": "case",
        "try_statement": "attempt",
        "catch_clause": "handler",
        "finally_clause": "cleanup",
        "break_statement": "jump",
        "continue_statement": "jump",
        "await_expression": "awaiting",
        "yield_expression": "yields",
        "jsx_element": "markup",
        "jsx_self_closing_element": "markup",
        "ERROR": "broken",
    }
    booleans = '(binary_expression operator: "&&") (binary_expression operator: "||")'
    imports = ("import_statement", "export_statement")
    comments = ("comment",)
    watchable = {
        "function": FUNCTIONS,
        "class": ("class_declaration", "abstract_class_declaration", "class"),
        "loop": ("for_statement", "for_in_statement", "while_statement", "do_statement"),
        "handler": ("catch_clause",),
        "try": ("try_statement",),
        "finally": ("finally_clause",),
        "if": ("if_statement",),
        "switch": ("switch_statement",),
        "assignment": ("variable_declarator", "assignment_expression", "augmented_assignment_expression"),
        "import": ("import_statement",),
        "comment": ("comment",),
        "string": ("string", "template_string"),
        "binary": ("binary_expression",),
        "return": ("return_statement",),
        "throw": ("throw_statement",),
        "await": ("await_expression",),
        "expression_statement": ("expression_statement",),
        "subscript": ("subscript_expression",),
        "block": ("statement_block",),
        "field": ("public_field_definition", "field_definition"),
        "jump": ("break_statement", "continue_statement"),
        "label": ("labeled_statement",),
        "literal": ("object",),
    }

    def callee(self, node: Node) -> tuple[int, int]:
        first = node.child(0)
        called = node.child_by_field_name("constructor") if first.type == "new" else _without_await(first)
        return (called or first).start_byte, (called or first).end_byte

    # Definitions

    def name_node(self, node: Node) -> Node:
        return node.child_by_field_name("name") or node

    def function(self, node: Node, scope: Scope, file: SourceFile) -> FunctionHeader:
        flags = FunctionFlag.ASYNC if node.child(0).type == "async" else 0
        name_node = node.child_by_field_name("name")
        if name_node is not None:
            name = file.text(name_node)[:LONGEST_NAME]
        else:
            place = place_of(file.source, node.start_byte)
            name = place.name
            if not place.is_given:
                if node.type == "arrow_function" and not _has_block(node):
                    return FunctionHeader("")
                flags |= FunctionFlag.ANONYMOUS
                if name.partition("(")[0] in _TESTS:
                    flags |= FunctionFlag.TEST
        if node.type == "method_definition":
            flags |= _method_flags(node, name, scope)
        elif name in file.exports and scope.function.index == 0:
            flags |= FunctionFlag.EXPORTED
        if keeps_errors(node, file.source) if flags & FunctionFlag.ASYNC else gives_settled(node, file.source):
            flags |= FunctionFlag.KEEPS_ERRORS
        name_start = name_node.start_byte if name_node is not None else -1
        return FunctionHeader(name, flags, name_start=name_start)

    def parameters(self, node: Node, file: SourceFile) -> tuple[Parameter, ...]:
        listed = node.child_by_field_name("parameters")
        if listed is None:
            single = node.child_by_field_name("parameter")
            return (Parameter(file.text(single)),) if single is not None else ()
        if listed.named_child_count == 0:
            return ()
        return tuple(_parameter(each, file) for each in listed.named_children if each.type != "comment")

    def class_(self, node: Node, scope: Scope, file: SourceFile) -> ClassHeader:
        name_node = node.child_by_field_name("name")
        name = file.text(name_node) if name_node is not None else place_of(file.source, node.start_byte).name
        heritage = next((each for each in node.named_children if each.type == "class_heritage"), None)
        decorators = tuple(
            file.resolve(file.text(each).lstrip("@"))[:160] for each in node.named_children if each.type == "decorator"
        )
        flags = FunctionFlag.EXPORTED if name in file.exports else 0
        return ClassHeader(name, _bases(heritage, file), _fields(node, file), decorators, flags)

    def callback(self, node: Node, file: SourceFile) -> tuple[tuple[str, ...], str] | None:
        if node.type not in ("arrow_function", "function_expression"):
            return None
        place = place_of(file.source, node.start_byte)
        if place.callee not in PER_ELEMENT or not place.receiver:
            return None
        listed = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
        names = _NAMES.findall(file.text(listed)) if listed is not None else []
        return tuple(names), place.receiver

    # Control structures

    def loop(self, node: Node, loop: LoopDraft, file: SourceFile) -> None:
        if node.type == "for_in_statement":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None:
                loop.variables = tuple(_NAMES.findall(file.text(left)))
                loop.head_start, loop.head_end = right.start_byte, right.end_byte
                loop.iterable = file.text(right)[:LONGEST_ITERABLE]
                loop.bound = bound_of(loop.iterable, node.start_byte, file.source)
                loop.batched = bool(_BATCHED.search(loop.iterable))
            return
        condition = node.child_by_field_name("condition")
        loop.iterable = file.text(condition)[:LONGEST_ITERABLE] if condition is not None else ""
        loop.batched = bool(_BATCHED.search(loop.iterable))
        initializer, increment = node.child_by_field_name("initializer"), node.child_by_field_name("increment")
        if initializer is not None:
            loop.head_start, loop.head_end = initializer.start_byte, initializer.end_byte
            loop.variables = tuple(re.findall(r"([A-Za-z_$][\w$]*)\s*=", file.text(initializer)))
        if increment is not None:
            loop.batched = bool(_STEP.search(file.text(increment)))
            limit = _LIMIT.search(loop.iterable)
            loop.bound = int(limit[1][:9]) if limit is not None else 0

    def case(self, node: Node) -> tuple[bool, bool]:
        body = node.children_by_field_name("body")
        statements = [each for each in body if each.type != "break_statement"]
        return bool(body), len(statements) <= 1

    def is_guard(self, node: Node) -> bool:
        body = node.child_by_field_name("consequence")
        if body is None or node.child_by_field_name("alternative") is not None:
            return False
        if body.type == "statement_block" and body.named_child_count == 1:
            body = body.named_child(0)
        return body.type in ("return_statement", "throw_statement", "continue_statement", "break_statement")

    # Imports and exports

    def imported(self, node: Node, file: SourceFile) -> Iterable[Imported]:
        if node.type == "export_statement":
            file.exports.update(dict.fromkeys(exported_names(node, file)))
        return imported_by(node, file)

    def imported_anywhere(self, file: SourceFile) -> Iterable[Imported]:
        file.exports.update(dict.fromkeys(common_exports(file)))
        return required(file)

    def exports(self, functions: tuple[Function, ...], file: SourceFile) -> tuple[str, ...]:
        return tuple(file.exports)

    # The whole file

    def is_entry(self, file: SourceFile) -> bool:
        return file.source.startswith(b"#!") or b"require.main === module" in file.source

    def readers(self) -> Mapping[str, Look]:
        return {
            **dict.fromkeys(script_entries.VERBS, script_entries.look_at_route),
            **dict.fromkeys(("addHook", "route"), script_entries.look_at_hook),
            "createServer": script_entries.look_at_server,
            **dict.fromkeys(script_entries.PROCEDURES, script_entries.look_at_procedure),
        }

    def entries(self, functions: tuple[Function, ...], file: SourceFile) -> Iterable[Entry]:
        return script_entries.declared(functions, file)


class TypeScript(JavaScript):
    name = "typescript"
    grammar = staticmethod(tree_sitter_typescript.language_typescript)

    def is_erased(self, imported: Imported, file: SourceFile) -> bool:
        return is_left_out(imported, file)


class Tsx(TypeScript):
    name = "tsx"
    grammar = staticmethod(tree_sitter_typescript.language_tsx)


def _without_await(called: Node) -> Node:
    """What is called: the grammar takes `await load<Row>(key)` for a call of `await load`."""
    inner = called
    while inner.type in _AROUND_AWAIT and inner.named_child_count:
        inner = inner.named_children[0]
    return inner.named_children[0] if inner.type == "await_expression" and inner.named_child_count else called


def _has_block(node: Node) -> bool:
    body = node.child_by_field_name("body")
    return body is not None and body.type == "statement_block"


def _method_flags(node: Node, name: str, scope: Scope) -> int:
    flags = FunctionFlag.METHOD
    words = {each.type for each in node.children[:4]}
    if "async" in words:
        flags |= FunctionFlag.ASYNC
    if "get" in words or "set" in words:
        flags |= FunctionFlag.ACCESSOR
    if "*" in words:
        flags |= FunctionFlag.GENERATOR
    if name == "constructor":
        flags |= FunctionFlag.CONSTRUCTOR
    if scope.owner and not name.startswith("#"):
        flags |= FunctionFlag.EXPORTED
    return flags


def _parameter(node: Node, file: SourceFile) -> Parameter:
    pattern = node.child_by_field_name("pattern") or node.child_by_field_name("left") or node
    annotation = node.child_by_field_name("type")
    has_default = (
        node.type in ("optional_parameter", "assignment_pattern") or node.child_by_field_name("value") is not None
    )
    return Parameter(
        " ".join(file.text(pattern).split())[:LONGEST_NAME],
        file.text(annotation).lstrip(": ")[:LONGEST_NAME] if annotation is not None else "",
        has_default,
    )


def _bases(heritage: Node | None, file: SourceFile) -> tuple[str, ...]:
    if heritage is None:
        return ()
    text = re.sub(r"<[^<>]*>", "", file.text(heritage))
    return tuple(
        file.resolve(name)[:LONGEST_ITERABLE]
        for name in re.findall(r"[\w$.]+(?:\([^()]*\))?", text)
        if name not in ("extends", "implements")
    )


def _fields(node: Node, file: SourceFile) -> tuple[str, ...]:
    found: dict[str, None] = {}
    body = node.child_by_field_name("body")
    for each in body.named_children if body is not None else ():
        if each.type in ("public_field_definition", "field_definition"):
            name = each.child_by_field_name("name") or each.child_by_field_name("property")
            value = each.child_by_field_name("value")
            if name is not None and (value is None or value.type not in ("arrow_function", "function_expression")):
                found[file.text(name)] = None
    for match in _FIELD.finditer(file.source, node.start_byte, node.end_byte):
        found[match[1].decode("utf-8", "replace")] = None
    return tuple(found)
