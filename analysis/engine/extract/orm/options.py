"""Object literals that ORMs of JavaScript take: options by name, and conditions in the spellings of Prisma, TypeORM,
Sequelize and Mongoose."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from tree_sitter import Node

from analysis.engine.extract.orm.chains import is_literal
from analysis.engine.extract.orm.conditions import alternatives
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Filter
from analysis.engine.readers.reading import assigned_values, followed

DEEPEST = 5  # levels of objects that are read

_OPERATORS = {
    "equals": "eq",
    "equal": "eq",
    "eq": "eq",
    "in": "in",
    "any": "in",
    "lt": "range",
    "lte": "range",
    "gt": "range",
    "gte": "range",
    "lessthan": "range",
    "lessthanorequal": "range",
    "morethan": "range",
    "morethanorequal": "range",
    "between": "range",
    "contains": "contains",
    "endswith": "contains",
    "substring": "contains",
    "regex": "contains",
    "regexp": "contains",
    "iregexp": "contains",
    "ilike": "contains",
    "startswith": "like",
    "like": "like",
    "is": "null",
    "isnull": "null",
    "exists": "null",
    "ne": "other",
    "not": "other",
    "nin": "other",
    "notin": "other",
    "notlike": "other",
    "notbetween": "other",
    "size": "other",
    "all": "other",
    "elemmatch": "other",
    "raw": "function",
}
_JOINED = frozenset({"and", "or", "nor", "not"})
_THROUGH = frozenset({"some", "every", "none", "is", "isnot", "elemmatch"})
_SKIPPED = frozenset({"mode", "options"})
_LEADING = re.compile(r"""^\(?\s*["'`]\s*%""")
_MANY = re.compile(r"(?i)(?:ids|keys|list)$")
_REGEX_START = re.compile(r"^/\^|^(?:new )?RegExp\(\s*[`'\"]\^")
# A pattern that begins at the start of the text, or may: what a function of the project makes of a path.
_BEGINS = re.compile(
    r"/\^|(?:new )?RegExp\(\s*[`'\"]\^|[`'\"]\^"
    r"|(?:await )?(?!(?:\w+\.)*escape|RegExp\()[\w.]*(?:[rR]eg[eE]x|Pattern)\w*\("
)
_PATTERN = re.compile(r"(?:new )?RegExp\(")
_CHANGED = re.compile(rb"(?:\.\w+|\[[^\]\n]*\])+\s*=(?!=)|\s*[,)]")  # a property of it, or it goes elsewhere
_WRAPPED = re.compile(r"^(?:sequelize|Sequelize)?\.?(?:fn|where|literal)$")
_COMPARED = re.compile(  # Sequelize: what a function makes of a column
    r"(?:\w+\.)?where\(\s*(?:(?:\w+\.)?fn\(\s*[\"'`]\w+[\"'`]\s*,|(?:\w+\.)?cast\()\s*(?:\w+\.)?col\(\s*[\"'`](?:[A-Z]\w*\.)?([\w.]+)"
)


def options_of(node: Node | None, file: SourceFile) -> dict[str, Node | None]:
    """The options of an object literal by name; of a short form the value is unknown."""
    return dict(pairs(node, file))


def object_of(node: Node, file: SourceFile) -> Node:
    """The object literal that a variable was given in the function, if it was given nothing else and is not changed
    afterwards; other nodes as they are."""
    if node.type != "identifier":
        return node
    name = file.text(node)
    values = assigned_values(name, node, file)
    if len(values) != 1 or values[0].type != "object":
        return node
    changes = followed(name.encode(), file.source, _CHANGED, b"_.$", values[0].end_byte, node.start_byte)
    return node if any(True for _ in changes) else values[0]


def pairs(node: Node | None, file: SourceFile) -> Iterator[tuple[str, Node | None]]:
    """Keys and values of an object literal. Computed keys lose their brackets: `Op.in`."""
    for each in node.named_children if node is not None and node.type == "object" else ():
        key, value = each.child_by_field_name("key"), each.child_by_field_name("value")
        if each.type == "pair" and key is not None and value is not None:
            yield file.text(key).strip("\"'[] "), value
        elif each.type == "shorthand_property_identifier":
            yield file.text(each), None


def keys(node: Node | None, file: SourceFile) -> Iterator[str]:
    """The keys that are not switched off, of an object or of those in an array; strings of an array as they are."""
    for each in elements(node):
        first = each.named_children[0] if each.type == "array" and each.named_children else each  # `["name", "DESC"]`
        if first.type == "string":
            yield file.text(first).strip("\"'")
        for key, value in pairs(each, file):
            if value is None or value.type != "false":
                yield key


def paths(node: Node | None, file: SourceFile, before: str = "") -> Iterator[str]:
    """Keys with those below them, by dots: `relations: { lines: { product: true } }`."""
    for each in elements(node):
        if each.type == "string":
            yield file.text(each).strip("\"'")
        for key, value in pairs(each, file):
            path = f"{before}.{key}" if before else key
            if value is None or value.type != "false":
                yield path
                yield from paths(value if value is not None and value.type == "object" else None, file, path)


def elements(node: Node | None) -> Iterable[Node]:
    """The elements of an array literal; another value alone."""
    if node is None:
        return ()
    return node.named_children if node.type == "array" else (node,)


def amount(node: Node | None, file: SourceFile) -> int:
    """A number as written, -1 for an expression, 0 when nothing is given."""
    if node is None:
        return 0
    text = file.text(node)
    return int(text[:9]) if text.isdigit() else -1


def limit_of(options: dict[str, Node | None], name: str, file: SourceFile) -> int:
    """The amount under this name; one that is given in short form is an expression."""
    return -1 if name in options and options[name] is None else amount(options.get(name), file)


def conditions(node: Node | None, file: SourceFile, path: str = "", depth: int = 0) -> Iterator[Filter]:
    """The conditions of a `where` object, with the paths of relations."""
    if node is not None and node.type == "call_expression" and (wrapped := _COMPARED.match(file.text(node))):
        yield Filter(wrapped[1], "function")
    for written, value in pairs(node, file):
        if depth < DEEPEST:
            yield from _of_key(written, value, file, path, depth)


def _of_key(written: str, value: Node | None, file: SourceFile, path: str, depth: int) -> Iterator[Filter]:
    key = written.removeprefix("$").rpartition("Op.")[2]
    is_operator = written != key or key.isupper() or bool(path)
    kind = value.type if value is not None else ""
    if key == "not" and path and kind == "object":
        yield Filter(path, "other")  # whatever it denies, an index finds little by it
    elif key.lower() in _JOINED and is_operator and kind in ("array", "object"):
        sides = [tuple(conditions(each, file, path, depth + 1)) for each in elements(value)]
        # A path of MongoDB, `$or`, leads into the same document.
        yield from alternatives(sides) if key.lower() == "or" and written[0] != "$" else chain(*sides)
    elif path:
        yield from _below(path, written, key, value, file, depth)
    else:
        yield from condition(key.strip("$"), value, file, depth)


def _below(path: str, written: str, key: str, value: Node | None, file: SourceFile, depth: int) -> Iterator[Filter]:
    """The conditions of a key in the object of a property: an operator, or a property further down."""
    folded = key.lower()
    if folded in _THROUGH and value is not None and value.type == "object":
        yield from conditions(value, file, path, depth + 1)
    elif written.endswith("Op.contains"):
        yield Filter(path, "other")  # of Sequelize: ranges, arrays and documents, not texts
    elif folded in _OPERATORS:
        yield Filter(path, _operator(folded, value, file), value is not None and is_literal(value))
    elif folded not in _SKIPPED:
        yield from condition(f"{path}.{key}", value, file, depth)


def either_of(node: Node | None, file: SourceFile) -> tuple[Filter, ...]:
    """The conditions of a `where` that is an object, a call, or an array of alternatives."""
    return tuple(alternatives([tuple(conditions(each, file)) for each in elements(node)]))


def is_readable(node: Node | None, file: SourceFile) -> bool:
    """Whether the conditions of a `where` can be read."""
    return node is not None and (node.type in ("object", "array") or _COMPARED.match(file.text(node)) is not None)


def condition(path: str, value: Node | None, file: SourceFile, depth: int = 0) -> Iterator[Filter]:
    """The conditions of one property of a `where` object."""
    if value is None:
        yield Filter(path, "in" if _MANY.search(path) else "eq")
    elif value.type == "object":
        yield from conditions(value, file, path, depth + 1)
    elif value.type == "array":
        yield Filter(path, "in", all(is_literal(each) for each in value.named_children))
    elif value.type in ("call_expression", "new_expression") and _PATTERN.match(file.text(value)):
        yield Filter(path, "like" if _REGEX_START.match(file.text(value)) else "contains")
    elif value.type == "call_expression":
        yield _called(path, value, file)
    elif value.type in ("null", "undefined"):
        yield Filter(path, "null", True)
    elif value.type == "regex":
        yield Filter(path, "like" if _REGEX_START.match(file.text(value)) else "contains")
    else:
        text = file.text(value)
        yield Filter(path, "in" if _MANY.search(text) and not _MANY.search(path) else "eq", is_literal(value))


def _called(path: str, call: Node, file: SourceFile) -> Filter:
    """`In(ids)`, `Like("%x")`, `Not(IsNull())` of TypeORM; other calls give plain values."""
    name = file.text(call.child(0)).rpartition(".")[2].lower()
    arguments = file.arguments(call)[0]
    if name in _OPERATORS and file.mentions(b"typeorm"):
        value = arguments[0] if arguments else None
        return Filter(path, _operator(name, value, file), value is not None and is_literal(value))
    return Filter(path, "eq")


def _operator(name: str, value: Node | None, file: SourceFile) -> str:
    """The operator of a condition. What begins with a wildcard is looked for anywhere."""
    operator = _OPERATORS[name]
    text = file.text(value) if value is not None else ""
    if operator == "like" and _LEADING.match(text):
        return "contains"
    if name in ("regex", "regexp") and any(map(_BEGINS.match, _written(value, text, file))):
        return "like"
    return operator


def _written(value: Node | None, text: str, file: SourceFile) -> list[str]:
    """A pattern as it is written, here or where the variable is given it."""
    if value is None or value.type != "identifier":
        return [text]
    return [file.text(each) for each in assigned_values(text, value, file)]
