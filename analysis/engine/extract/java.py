"""Java for the walk."""

import re
from collections.abc import Iterable
from functools import cached_property

import tree_sitter_java
from tree_sitter import Node

from analysis.engine.extract import java_streams
from analysis.engine.extract.dialect import ClassHeader, Dialect, FunctionHeader, Imported
from analysis.engine.extract.loops import bound_of
from analysis.engine.extract.scopes import LONGEST_ITERABLE, LoopDraft, Scope
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Entry, Function, FunctionFlag, Import, ImportFlag, Parameter

LONGEST_TEXT = 160  # characters of an annotation, a type or a parameter
LARGEST_ACCESSOR = 150  # bytes

_PLAIN = frozenset("String Integer Long Boolean Double BigDecimal Object List Map Set Logger".split())
_PACKAGE = re.compile(rb"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
_MAIN = re.compile(rb"public\s+static\s+void\s+main\s*\(")
# What rules know by its full name, of packages that are mostly imported as a whole.
_OF_PACKAGE = {
    package: tuple(names.split())
    for package, names in {
        "java.beans": "XMLDecoder",
        "java.io": "FileInputStream FileOutputStream FileReader FileWriter IOException ObjectInputStream PrintWriter "
        "RandomAccessFile",
        "java.net": "ServerSocket Socket URL",
        "java.net.http": "HttpClient HttpRequest",
        "java.nio.file": "Files",
        "java.text": "SimpleDateFormat",
        "java.time": "LocalDateTime",
        "java.util": "Date List Scanner",
        "java.util.concurrent": "Executors",
        "java.util.jar": "JarFile",
        "java.util.regex": "Pattern",
        "java.util.zip": "ZipFile ZipInputStream",
        "javax.script": "ScriptEngine ScriptEngineManager",
        "org.springframework.web.client": "RestTemplate",
        "org.yaml.snakeyaml": "Yaml",
    }.items()
}
_ROUTE = re.compile(r"(?:^|\.)(Get|Post|Put|Patch|Delete|Request|Query|Mutation|Message)Mapping\b(.*)")
_RESOURCE = re.compile(r"(?:ws\.rs\.|^)(GET|POST|PUT|PATCH|DELETE)\b")
_JOB = re.compile(r"(?:^|\.)(Scheduled|Schedules|\w+Listener|EventListener|Recurring)\b")
_SERVLET = re.compile(r"\.(doGet|doPost|doPut|doDelete|doPatch|service)$")
_STEP = re.compile(r"\+=(?!\s*1\b)")
_LIMIT = re.compile(r"<=?\s*(\d{1,9})\s*$")
_BATCHED = re.compile(r"chunk|batch|page|partition|lists\.partition", re.IGNORECASE)
_OF_LIBRARIES = ("java.", "javax.", "jakarta.", "org.springframework.", "org.slf4j.", "lombok.")
_IN_TEXT_ONLY = (b"*", b"/*", b"//", b"@Constraint(")  # a constraint and its validator have to name each other
_LEADS_AWAY = frozenset(each for each in map(bytes, zip(range(256))) if each.isalnum() or each == b"_")
_LEADS_ON = frozenset(b"".join(_LEADS_AWAY) + b".$")  # before a name: it ends another one, or is a member
_MOST_USES = 20  # of a name that are looked at
_CLASSES = ("class_declaration", "interface_declaration", "enum_declaration", "record_declaration")
_METHODS = ("method_declaration", "constructor_declaration", "compact_constructor_declaration")
_PLAIN_MODIFIERS = re.compile(
    rb"((?:@[\w.]++\s++)*+)((?:(?:public|private|protected|static|final|abstract)\s++)*+)"
    rb"(?=[A-Z]\w*[\s(<\[.]|(?:void|int|long|boolean|double|byte|class|interface|enum|record)\s)"
)
_MARKER = re.compile(rb"@([\w.]+)")
_JUMPS = frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement"})


class Java(Dialect):
    name = "java"
    grammar = staticmethod(tree_sitter_java.language)
    events = {
        "method_invocation": "call",
        "object_creation_expression": "call",
        **dict.fromkeys(_METHODS, "function"),
        "lambda_expression": "closure",
        **dict.fromkeys(_CLASSES, "class_"),
        "if_statement": "branch",
        "else": "else_word",
        "for_statement": "loop",
        "enhanced_for_statement": "loop",
        "while_statement": "loop",
        "do_statement": "loop",
        "ternary_expression": "ternary",
        "switch_expression": "switch",
        "switch_block_statement_group": "case",
        "switch_rule": "case",
        "try_statement": "attempt",
        "try_with_resources_statement": "attempt",
        "catch_clause": "handler",
        "finally_clause": "cleanup",
        "synchronized_statement": "resource",
        "break_statement": "jump",
        "continue_statement": "jump",
        "ERROR": "broken",
    }
    booleans = '(binary_expression operator: "&&") (binary_expression operator: "||")'
    imports = ("import_declaration",)
    comments = ("line_comment", "block_comment")
    watchable = {
        "function": (*_METHODS, "lambda_expression"),
        "class": _CLASSES,
        "loop": ("for_statement", "enhanced_for_statement", "while_statement", "do_statement"),
        "handler": ("catch_clause",),
        "try": ("try_statement", "try_with_resources_statement"),
        "finally": ("finally_clause",),
        "with": ("try_with_resources_statement", "synchronized_statement"),
        "if": ("if_statement",),
        "switch": ("switch_expression",),
        "assignment": ("variable_declarator", "assignment_expression"),
        "import": imports,
        "comment": comments,
        "string": ("string_literal",),
        "binary": ("binary_expression",),
        "return": ("return_statement",),
        "throw": ("throw_statement",),
        "expression_statement": ("expression_statement",),
        "subscript": ("array_access",),
        "block": ("block",),
        "field": ("field_declaration",),
        "jump": ("break_statement", "continue_statement"),
        "label": ("labeled_statement",),
    }

    @cached_property
    def _name(self) -> int:
        return self.field("name")

    def callee(self, node: Node) -> tuple[int, int]:
        name = node.child_by_field_id(self._name)
        if name is not None:
            return node.start_byte, name.end_byte
        made = node.child_by_field_name("type") or node
        if made.type == "generic_type":
            made = made.child(0)
        return made.start_byte, made.end_byte

    # Definitions

    def function(self, node: Node, scope: Scope, file: SourceFile) -> FunctionHeader:
        name_node = node.child_by_field_name("name")
        name = file.text(name_node) if name_node is not None else "?"
        decorators, words = _modifiers(node, file)
        flags = FunctionFlag.METHOD
        if node.type != "method_declaration":
            flags |= FunctionFlag.CONSTRUCTOR
        if "public" in words:
            flags |= FunctionFlag.EXPORTED
        if any(each.rpartition(".")[2].startswith(("Test", "ParameterizedTest")) for each in decorators):
            flags |= FunctionFlag.TEST
        body = node.child_by_field_name("body")
        if body is None:
            flags |= FunctionFlag.ABSTRACT
        elif (
            body.end_byte - body.start_byte < LARGEST_ACCESSOR
            and name.startswith(("get", "set", "is"))
            and body.named_child_count == 1
        ):
            flags |= FunctionFlag.ACCESSOR
        name_start = name_node.start_byte if name_node is not None else -1
        return FunctionHeader(name, flags, decorators=decorators, name_start=name_start)

    def parameters(self, node: Node, file: SourceFile) -> tuple[Parameter, ...]:
        listed = node.child_by_field_name("parameters")
        if listed is None or listed.named_child_count == 0:
            return ()
        return tuple(
            _parameter(each, file)
            for each in listed.named_children
            if each.type in ("formal_parameter", "spread_parameter")
        )

    def class_(self, node: Node, scope: Scope, file: SourceFile) -> ClassHeader:
        name_node = node.child_by_field_name("name")
        decorators, words = _modifiers(node, file)
        fields = _fields(node, file)
        return ClassHeader(
            name=file.text(name_node) if name_node is not None else "?",
            bases=_bases(node, file),
            fields=tuple(name for name, _ in fields),
            decorators=decorators,
            flags=FunctionFlag.EXPORTED if "public" in words else 0,
            field_types=tuple(each for each in fields if _tells_more(*each)),
        )

    def is_async(self, node: Node) -> bool:
        return False

    def callback(self, node: Node, file: SourceFile) -> tuple[tuple[str, ...], str] | None:
        return java_streams.callback(node, file)

    def note_references(self, file: SourceFile) -> None:
        java_streams.note_references(file)

    # Control structures

    def loop(self, node: Node, loop: LoopDraft, file: SourceFile) -> None:
        if node.type == "enhanced_for_statement":
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is not None and value is not None:
                loop.variables = (file.text(name),)
                loop.head_start, loop.head_end = value.start_byte, value.end_byte
                loop.iterable = file.text(value)[:LONGEST_ITERABLE]
                loop.batched = bool(_BATCHED.search(loop.iterable))
                loop.bound = bound_of(loop.iterable, node.start_byte, file.source)
            return
        condition = node.child_by_field_name("condition")
        loop.iterable = file.text(condition)[:LONGEST_ITERABLE] if condition is not None else ""
        loop.batched = bool(_BATCHED.search(loop.iterable))
        first, update = node.child_by_field_name("init"), node.child_by_field_name("update")
        if first is not None:
            loop.head_start, loop.head_end = first.start_byte, first.end_byte
            loop.variables = tuple(re.findall(r"(\w+)\s*=", file.text(first)))
        if update is not None:
            loop.batched = bool(_STEP.search(file.text(update)))
            limit = _LIMIT.search(loop.iterable)
            loop.bound = int(limit[1]) if limit is not None else 0

    def case(self, node: Node) -> tuple[bool, bool]:
        children = node.named_children
        labels = [each for each in children if each.type == "switch_label"]
        is_default = any(each.child_count and each.child(0).type == "default" for each in labels)
        statements = [each for each in children[len(labels) :] if each.type not in ("break_statement", "line_comment")]
        if node.type == "switch_rule":
            is_flat = not statements or statements[0].type != "block" or statements[0].named_child_count <= 1
            return not is_default, is_flat
        return not is_default and len(children) > len(labels), len(statements) <= 1

    def is_guard(self, node: Node) -> bool:
        body = node.child_by_field_name("consequence")
        if body is None or node.child_by_field_name("alternative") is not None:
            return False
        if body.type == "block" and body.named_child_count == 1:
            body = body.named_child(0)
        return body.type in _JUMPS

    # Imports

    def imported(self, node: Node, file: SourceFile) -> Iterable[Imported]:
        words = file.text(node).rstrip("; ").split()
        target = words[-1] if words else ""
        flags = ImportFlag.STATIC if "static" in words else 0
        names: tuple[str, ...] = ()
        bindings: tuple[tuple[str, str], ...] = ()
        if target.endswith(".*"):
            target, names = target[:-2], ("*",)
            bindings = tuple(
                (name, f"{target}.{name}") for name in _OF_PACKAGE.get(target, ()) if name.encode() in file.source
            )
        else:
            bindings = ((target.rpartition(".")[2], target),)
        yield Imported(Import(target, file.line(node), names, flags=flags), node.start_byte, node.end_byte, bindings)

    def is_erased(self, imported: Imported, file: SourceFile) -> bool:
        """An annotation whose class is not there is left out without a word."""
        fact = imported.fact
        if fact.names or fact.flags & ImportFlag.STATIC or fact.target.startswith(_OF_LIBRARIES):
            return False
        return _is_only_mentioned(imported.bindings[0][0], imported.end, file.source)

    # The whole file

    def package(self, file: SourceFile) -> str:
        match = _PACKAGE.search(file.source)
        return match[1].decode() if match is not None else ""

    def is_entry(self, file: SourceFile) -> bool:
        return b" main(" in file.source and bool(_MAIN.search(file.source))

    def exports(self, functions: tuple[Function, ...], file: SourceFile) -> tuple[str, ...]:
        return tuple(scope.prefix.rstrip(".") for scope in file.scopes if scope.kind == "class" and _is_top(scope))

    def entries(self, functions: tuple[Function, ...], file: SourceFile) -> Iterable[Entry]:
        for function in functions:
            for decorator in function.decorators:
                if (route := _ROUTE.search(decorator)) is not None:
                    yield Entry(
                        function.name, "request", "spring", f"{route[1].upper()} {route[2].strip('()')}".strip()
                    )
                elif (resource := _RESOURCE.search(decorator)) is not None:
                    yield Entry(function.name, "request", "jax-rs", resource[1])
                elif (job := _JOB.search(decorator)) is not None:
                    yield Entry(function.name, "job", "spring", job[1])
            if _SERVLET.search(function.name) and any("Servlet" in each.annotation for each in function.parameters):
                yield Entry(function.name, "request", "servlet", function.short_name)
            if function.name.endswith(".main") and [each.annotation for each in function.parameters] == ["String[]"]:
                yield Entry(function.name, "main", "java", "main")


def _is_only_mentioned(name: str, start: int, source: bytes) -> bool:
    """Whether from this byte on only comments and annotations name an imported class."""
    word, seen = name.encode(), 0
    position = source.find(word, start)
    while position >= 0:
        end = position + len(word)
        if source[position - 1] not in _LEADS_ON and source[end : end + 1] not in _LEADS_AWAY:
            seen += 1
            line = source[source.rfind(b"\n", 0, position) + 1 : position].lstrip()
            if not line.endswith(b"@") and not line.startswith(_IN_TEXT_ONLY) and b"//" not in line:
                return False
            if seen > _MOST_USES:
                return False
        position = source.find(word, end)
    return seen > 0


def _is_top(scope: Scope) -> bool:
    return scope.parent is not None and scope.parent.kind == "module"


def _modifiers(node: Node, file: SourceFile) -> tuple[tuple[str, ...], str]:
    """Annotations, resolved, and the text of the plain modifiers."""
    plain = _PLAIN_MODIFIERS.match(file.source, node.start_byte)
    if plain is not None:
        return tuple([file.resolve(name.decode()) for name in _MARKER.findall(plain[1])]), plain[2].decode()
    first = node.child(0)
    if first.type != "modifiers":
        return (), ""
    if not first.named_child_count:
        return (), file.text(first)
    found: list[str] = []
    for each in first.named_children:
        if each.type in ("annotation", "marker_annotation"):
            name, bracket, rest = file.text(each).lstrip("@").partition("(")
            found.append(" ".join((file.resolve(name) + bracket + rest).split())[:LONGEST_TEXT])
    last = first.child(first.child_count - 1)
    text = file.source[first.named_child(first.named_child_count - 1).end_byte : last.end_byte]
    before = file.source[first.start_byte : first.named_child(0).start_byte]
    return tuple(found), (before + b" " + text).decode("utf-8", "replace")


def _parameter(node: Node, file: SourceFile) -> Parameter:
    name, kind = node.child_by_field_name("name"), node.child_by_field_name("type")
    if node.type == "spread_parameter":
        name = node.named_child(node.named_child_count - 1)
    return Parameter(
        file.text(name)[:LONGEST_TEXT] if name is not None else "",
        file.text(kind)[:LONGEST_TEXT] if kind is not None else "",
    )


def _bases(node: Node, file: SourceFile) -> tuple[str, ...]:
    found: list[str] = []
    for each in node.named_children:
        if each.type in ("superclass", "super_interfaces", "extends_interfaces"):
            text = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", file.text(each)))
            names = re.findall(r"[\w.]+", text)
            found.extend(file.resolve(name) for name in names if name not in ("extends", "implements"))
    return tuple(found)


def _fields(node: Node, file: SourceFile) -> list[tuple[str, str]]:
    """The fields of a class or record with the classes that they are declared as, without their type arguments."""
    if node.type == "record_declaration":
        listed = node.child_by_field_name("parameters")
        given = (_parameter(each, file) for each in (listed.named_children if listed is not None else ()))
        return [(each.name, each.annotation.partition("<")[0]) for each in given]
    found: list[tuple[str, str]] = []
    body = node.child_by_field_name("body")
    for each in body.named_children if body is not None else ():
        if each.type == "field_declaration":
            kind = each.child_by_field_name("type")
            written = file.text(kind)[:LONGEST_TEXT].partition("<")[0] if kind is not None else ""
            declarators = each.children_by_field_name("declarator")
            names = (declarator.child_by_field_name("name") for declarator in declarators)
            found.extend((file.text(name), written) for name in names if name is not None)
    return found


def _tells_more(name: str, kind: str) -> bool:
    """Whether the class of a field is one that the field is not called like: `CargoService cargo`."""
    return kind[:1].isupper() and kind not in _PLAIN and kind.lower() != name.lower()
