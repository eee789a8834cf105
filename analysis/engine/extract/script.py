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
_FUNCTIONS = (
    "function_declaration",
    "generator_function_declaration",
    "function_expression",
    "generator_function",
    "arrow_function",
    "method_definition",
)
_AROUND_AWAIT = frozenset({"instantiation_expression", "non_null_expression"})
_GIVES_PROMISES = frozenset({"call_expression", "await_expression", "new_expression"})


_SETTLES = re.compile(
    rb"(?:resolve|reject|done|next|callback|cb|clearTimeout|(?:console|res|toast|(?:this\.)?logger|log)\.[\w.()]+"
    rb"|warn|info|debug|log(?:Error|Warning)?)\("
)
_GIVES_RESULT = re.compile(rb"\)\s*:\s*(?:Promise<\s*(?:Result|Either)<|ResultAsync<)")  # errors come as values
_THROWS = re.compile(rb"\bthrow\b")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
# What gives a promise that nothing can reject: `(url) => new Promise((resolve) => ...)`.
_RESOLVES_ONLY = re.compile(
    rb"[^{}]{0,200}?(?:=>\s*|\{\s*return\s+)new Promise(?:<[^()]*>)?\("
    rb"\s*(?:async\s*)?(?:\(\s*\w+(?:\s*:[^,)]*)?\)|\w+)\s*=>"
)
_GIVES_OR_WAITS = re.compile(rb"\bawait\b|\bthrow\b|\breturn[ \t]+[^;\s]")
_GIVES_BACK = re.compile(rb"\bawait [\w.?]+\.(?:release|close|end|destroy|disconnect|unlock|quit)\w*\(")
HEAD = 300  # bytes of a function in which that stands


def keeps_errors(function: Node, source: bytes) -> bool:
    """Whether every promise that the function awaits or gives back is handled inside it: by a `try` whose handler does
    not throw, or by a `.catch`; or there is none."""
    text = source[function.start_byte : function.end_byte]
    body = function.child_by_field_name("body")
    if body is not None and _GIVES_RESULT.search(source, function.start_byte, body.start_byte):
        return True
    if body is not None and body.type == "statement_block" and not _GIVES_OR_WAITS.search(text):
        return True  # waits for nothing, and gives nothing that could fail
    if b"catch" not in text:
        return False
    pending = list(body.named_children) if body is not None else []
    while pending:
        node = pending.pop()
        if node.type in _FUNCTIONS or node.type == "class_declaration":
            continue
        if node.type == "try_statement" and is_handled(node, source):
            pending.extend(each for each in node.named_children if _may_wait(each, source))
        elif node.type in ("await_expression", "return_statement") and _may_reject(node, source):
            return False
        else:
            pending.extend(node.named_children)
    return True


def _gives_settled(function: Node, source: bytes) -> bool:
    """Whether a function that does not wait gives a promise that nothing can reject: `new Promise((resolve) => …)`, or
    a chain that ends in `.then(done, failed)`."""
    if source.find(b"new Promise", function.start_byte, min(function.end_byte, function.start_byte + HEAD)) > 0:
        return _RESOLVES_ONLY.match(source, function.start_byte) is not None
    given = function.child_by_field_name("body") if function.type == "arrow_function" else None
    called = given.child_by_field_name("function") if given is not None and given.type == "call_expression" else None
    arguments = given.child_by_field_name("arguments") if given is not None and called is not None else None
    if called is None or arguments is None or not source.endswith(b".then", called.start_byte, called.end_byte):
        return False
    handlers = [each for each in arguments.named_children if each.type != "comment"]
    if len(handlers) != 2 or handlers[1].type not in _FUNCTIONS:
        return False
    return _THROWS.search(source, handlers[1].start_byte, handlers[1].end_byte) is None


def _may_wait(part: Node, source: bytes) -> bool:
    """Whether a part of a `try` that handles its errors can fail for its own sake: what it answers there does not."""
    text = source[part.start_byte : part.end_byte]
    if part.type == "catch_clause":
        return b"await" in text
    if part.type == "finally_clause":
        return text.count(b"await ") > len(_GIVES_BACK.findall(text))
    return part.type != "statement_block"


def is_handled(attempt: Node, source: bytes) -> bool:
    """Whether a `try` has a handler that throws nothing."""
    handler = attempt.child_by_field_name("handler")
    if handler is None:
        return False
    if _THROWS.search(source, handler.start_byte, handler.end_byte) is None:
        return True
    pending = list(handler.named_children)  # the word may stand in a comment or a text
    while pending:
        node = pending.pop()
        if node.type == "throw_statement":
            return False
        pending.extend(node.named_children)
    return True


def _may_reject(node: Node, source: bytes) -> bool:
    given = node.named_children[0] if node.named_child_count else None
    if given is None or (node.type == "return_statement" and given.type not in _GIVES_PROMISES):
        return False
    if node.type == "return_statement" and _SETTLES.match(source, given.start_byte):
        return False  # ends the function by telling somebody; the value means nothing
    _, caught, handler = source[given.start_byte : given.end_byte].rpartition(b".catch(")
    return not caught or _THROWS.search(_COMMENT.sub(b"", handler)) is not None


class JavaScript(Dialect):
    name = "javascript"
    grammar = staticmethod(tree_sitter_javascript.language)
    events = {
        "call_expression": "call",
        "new_expression": "call",
        **dict.fromkeys(_FUNCTIONS, "function"),
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
        "function": _FUNCTIONS,
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
        if keeps_errors(node, file.source) if flags & FunctionFlag.ASYNC else _gives_settled(node, file.source):
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
