"""Imports and exports of JavaScript and TypeScript: statements, `require`, `import()`, CommonJS exports."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from tree_sitter import Node

from analysis.engine.extract.dialect import Imported
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Import, ImportFlag

_REQUIRE = re.compile(
    rb"(?:\b(?:const|let|var)\s+(\{[^{}=]*\}|[\w$]+)\s*=\s*)?(?:await\s+)?\b(require|import)\(\s*([\"'`])([^\"'`\n$]+)\3\s*\)"
    rb"(?:\.([\w$]+))?"
)
_PLAIN = re.compile(
    rb"import\s++(type\s++)?+(?:\{([\w$\s,]*+)\}|([\w$]++)|\*\s++as\s++([\w$]++))\s*+from\s*+([\"'])([^\"'\n\\]++)\5"
)
_EXPORT = re.compile(
    rb"export\s++(default\s++)?+(?:(?:async\s++)?+function\s*+\*?+\s++|(?:abstract\s++)?+class\s++|interface\s++|type\s++|enum\s++)"
    rb"([A-Za-z_$][\w$]*+)(?=\s*+[(<{=]|\s++extends\b|\s++implements\b)"
)
_TYPED = re.compile(rb"\btype\s")
_EXPORTED = re.compile(rb"\b(?:module\.)?exports\.([\w$]+)\s*=[^=]|\bmodule\.exports\s*=\s*(\{[^{}]*\}|[\w$]+)")
# Classes with such decorators keep the types of their parameters: they are values there.
_DECORATED = re.compile(rb"^[ \t]*@[A-Z]\w*\(", re.MULTILINE)
_KEEPS_TYPES = re.compile(rb"@[A-Z]\w*\((?:[^{};]|\{[^{}]*\})*+|\bconstructor\s*\([^{}]*+")
_OF_A_TYPE = re.compile(rb"(?<=\w)<[^<>(){}=]*>")  # which nobody keeps: of `Store<Order>` the `Store` is left
_CALLED = re.compile(rb"(?:new\s+)?([\w$]+)")
# Of the project: relative, by an alias, or from a root of sources. The path of a package costs one look more.
_OWN_TARGET = re.compile(r"\.{1,2}(?:/|$)|~/|#|@?[\w-]*/")
_VALUES = frozenset({"identifier", "shorthand_property_identifier"})
_IN_TYPES = frozenset({"type_query", "nested_type_identifier"})
_MOST_USES = 40  # that are looked at
_WORDS = frozenset({"identifier", "import"})
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


def module_of(source: str) -> str:
    """What a name imported from this source is called by: the built-in modules without their prefix."""
    return source.removeprefix("node:")


def imported_by(node: Node, file: SourceFile) -> Iterator[Imported]:
    """The import of an `import ... from` or `export ... from` statement."""
    start = node.start_byte
    plain = _PLAIN.match(file.source, start)
    if plain is not None and (imported := _plain_import(plain, start, node.end_byte, file)) is not None:
        yield imported
        return
    source = node.child_by_field_name("source") if _EXPORT.match(file.source, start) is None else None
    if source is None:
        return
    target = file.text(source).strip("\"'`")
    if node.type == "export_statement":
        names = _exported_again(node, file)
        yield Imported(
            Import(target, file.line(node), names, flags=ImportFlag.REEXPORT | _type_only(node)),
            node.start_byte,
            node.end_byte,
        )
        return
    names, bindings = _clause(node, module_of(target), file)
    flags = _type_only(node) | (0 if names else ImportFlag.BARE)
    yield _import(target, names, bindings, flags, start, node.end_byte, file)


def _plain_import(plain: re.Match[bytes], start: int, end: int, file: SourceFile) -> Imported | None:
    """An import as nearly all are, read off its text: of listed names, of the default, of everything."""
    target = plain[6].decode("utf-8", "replace").strip("\"'`")
    listed, module = plain[2], module_of(target)
    flags = ImportFlag.TYPE_ONLY if plain[1] else 0
    if listed is None:
        local, name = (plain[3] or plain[4]).decode(), "default" if plain[3] else "*"
        return _import(target, (name,), ((local, module),), flags, start, end, file)
    if not listed or listed.isspace() or _TYPED.search(listed):
        return None
    names, bindings = _listed(listed.decode(), module)
    return _import(target, names, bindings, flags, start, end, file)


def _import(
    target: str,
    names: tuple[str, ...],
    bindings: tuple[tuple[str, str], ...],
    flags: int,
    start: int,
    end: int,
    file: SourceFile,
) -> Imported:
    aliases = tuple(
        [
            (local, name)
            for (local, _), name in zip(bindings, names, strict=True)
            if local != name and name not in ("*", "default")
        ]
    )
    return Imported(Import(target, file.lines.of(start), names, flags=flags, aliases=aliases), start, end, bindings)


def is_left_out(imported: Imported, file: SourceFile) -> bool:
    """Whether TypeScript leaves the import of a file of the project out, because only types use its names."""
    fact, start, end, bindings = imported
    if not bindings or not _OWN_TARGET.match(fact.target) or fact.flags & ImportFlag.DYNAMIC:
        return False
    if not file.source.startswith(b"import", start):
        return False  # `require` is a call
    names = [local.encode() for local, _ in bindings]
    if not _called(file).isdisjoint(names):
        return False
    described = _described(file)
    if any(name in described for name in names):
        return False
    return not any(_is_value(name, start, end, file) for name in names)


@lru_cache(maxsize=1)
def _called(file: SourceFile) -> frozenset[bytes]:
    """The words that calls begin with: values, whatever else they are."""
    heads = (_CALLED.match(file.source, call.start_byte) for call in file.calls)
    return frozenset(head[1] for head in heads if head is not None)


@lru_cache(maxsize=1)
def _described(file: SourceFile) -> bytes:
    """What is decorated, and the parameters of constructors beside it: their types may be kept for the framework that
    reads them at run time."""
    if _DECORATED.search(file.source) is None:
        return b""
    kept = b"\n".join(found[0] for found in _KEEPS_TYPES.finditer(file.source))
    while (shorter := _OF_A_TYPE.sub(b"", kept)) != kept:
        kept = shorter
    return kept


def _is_value(name: bytes, start: int, end: int, file: SourceFile) -> bool:
    """Whether a name is used at run time outside of the import that brings it; also where nobody uses it."""
    source, root = file.source, file.tree.root_node
    position, seen = source.find(name), 0
    while position >= 0:
        after = position + len(name)
        around = source[max(0, position - 1) : position], source[after : after + 1]
        if not start <= position < end and not any(map(_is_word, around)):
            seen += 1
            node = root.descendant_for_byte_range(position, after)
            if seen > _MOST_USES or (node is not None and node.type in _VALUES and not _is_in_type(node)):
                return True
        position = source.find(name, after)
    return not seen


def _is_word(character: bytes) -> bool:
    return character.isalnum() or character in (b"_", b"$")


def _is_in_type(node: Node) -> bool:
    """Whether a name is part of `typeof a.b`, or of `a.B` where a type stands."""
    above = node.parent
    while above is not None and above.type == "member_expression":
        above = above.parent
    return above is not None and above.type in _IN_TYPES


def required(file: SourceFile) -> Iterator[Imported]:
    """`require("x")` and `import("x")` with the names they are assigned to."""
    source = file.source
    if b"require(" not in source and b"import(" not in source:
        return
    for match in _REQUIRE.finditer(source):
        if not _is_code(match.start(2), match.end(2), file):
            continue
        target = match[4].decode("utf-8", "replace")
        # `require("x").default` is what an import of its default gives: the module.
        module = module_of(target) + (f".{match[5].decode()}" if match[5] and match[5] != b"default" else "")
        # `require("knex")(options)` gives what the module makes, not the module.
        made = "()" if source.startswith(b"(", match.end()) else ""
        bindings = _assigned((match[1] or b"").decode("utf-8", "replace"), module + made)
        names = tuple(full.rpartition(".")[2] for _, full in bindings) if (match[1] or b"").startswith(b"{") else ()
        flags = ImportFlag.DYNAMIC if match[2] == b"import" else 0
        place = match.start(2)
        yield Imported(Import(target, file.lines.of(place), names, flags=flags), place, match.end(), bindings)


def _is_code(start: int, end: int, file: SourceFile) -> bool:
    """Whether the word is one of the program, not of a comment, a string or a regular expression."""
    node = file.tree.root_node.descendant_for_byte_range(start, end)
    return node is not None and node.type in _WORDS


def exported_names(node: Node, file: SourceFile) -> Iterator[str]:
    """Names that an export statement gives to other files."""
    plain = _EXPORT.match(file.source, node.start_byte)
    if plain is not None:
        yield from ("default", plain[2].decode()) if plain[1] else (plain[2].decode(),)
        return
    if any(each.type == "default" for each in node.children[:3]):
        yield "default"
    declaration = node.child_by_field_name("declaration")
    if declaration is not None:
        yield from _declared_names(declaration, file)
        return
    value = node.child_by_field_name("value")
    if value is not None and value.type == "identifier":
        yield file.text(value)
    clauses = (each for each in node.named_children if each.type == "export_clause")
    for each in chain.from_iterable(clause.named_children for clause in clauses):
        name = each.child_by_field_name("alias") or each.child_by_field_name("name")
        if name is not None:
            yield file.text(name)


def _declared_names(declaration: Node, file: SourceFile) -> Iterator[str]:
    """The name of a function or class; of variables all, also those that are taken out of an object."""
    name = declaration.child_by_field_name("name")
    if name is not None:
        yield file.text(name)
    for each in declaration.named_children:
        pattern = each.child_by_field_name("name") if each.type == "variable_declarator" else None
        if pattern is not None:
            yield from _NAME.findall(file.text(pattern))


def common_exports(file: SourceFile) -> Iterator[str]:
    """Names on `exports` and `module.exports`."""
    if b"exports" not in file.source:
        return
    for match in _EXPORTED.finditer(file.source):
        if match[1]:
            yield match[1].decode("utf-8", "replace")
        elif match[2].startswith(b"{"):
            for part in match[2].strip(b"{} \n").split(b","):
                name = _NAME.match(part.decode("utf-8", "replace").strip())
                if name is not None:
                    yield name[0]
        else:
            yield "default"
            yield match[2].decode("utf-8", "replace")


def _listed(text: str, module: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """What `{ a, b as c }` imports, read off the text between its brackets."""
    parts = [part.split() for part in text.split(",")]
    names = tuple([part[0] for part in parts if part])
    return names, tuple([(part[-1], f"{module}.{part[0]}") for part in parts if part])


def _clause(node: Node, module: str, file: SourceFile) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Imported names beside local name and what it stands for."""
    names: list[str] = []
    bindings: list[tuple[str, str]] = []
    clause = next((each for each in node.named_children if each.type == "import_clause"), None)
    for each in clause.named_children if clause is not None else ():
        if each.type == "identifier":
            names.append("default")
            bindings.append((file.text(each), module))
        elif each.type == "namespace_import":
            names.append("*")
            bindings.append((file.text(each.named_child(0)), module))
        elif each.type == "named_imports":
            for specifier in each.named_children:
                name, alias = specifier.child_by_field_name("name"), specifier.child_by_field_name("alias")
                if name is not None:
                    names.append(file.text(name))
                    local = file.text(alias or name)
                    bindings.append((local, f"{module}.{file.text(name)}"))
    return tuple(names), tuple(bindings)


def _exported_again(node: Node, file: SourceFile) -> tuple[str, ...]:
    clause = next((each for each in node.named_children if each.type == "export_clause"), None)
    if clause is None:
        return ("*",)
    return tuple(
        file.text(name) for each in clause.named_children if (name := each.child_by_field_name("name")) is not None
    )


def _type_only(node: Node) -> int:
    if any(each.type == "type" for each in node.children[1:2]):
        return ImportFlag.TYPE_ONLY
    clause = next((each for each in node.named_children if each.type == "import_clause"), None)
    if clause is None or clause.named_child_count != 1 or clause.named_child(0).type != "named_imports":
        return 0
    specifiers = clause.named_child(0).named_children
    is_type = bool(specifiers) and all(each.child_count and each.child(0).type == "type" for each in specifiers)
    return ImportFlag.TYPE_ONLY if is_type else 0


def _assigned(pattern: str, module: str) -> tuple[tuple[str, str], ...]:
    if not pattern.startswith("{"):
        return ((pattern, module),) if pattern else ()
    found = []
    for part in pattern.strip("{} \n").split(","):
        name, _, local = (each.strip() for each in part.partition(":"))
        if _NAME.fullmatch(name):
            found.append((local if _NAME.fullmatch(local) else name, f"{module}.{name}"))
    return tuple(found)
