"""Whether an expression of Python is a `pathlib.Path`, also one that is joined from another."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import assigned_values, followed, given_values, origin_of

_PATH = "pathlib.Path"
_GIVES = re.compile(rb"\([^)]*\)\s*->\s*([\w.]+)\s*:")
_STEPS = frozenset("joinpath resolve absolute expanduser with_suffix with_name with_stem relative_to".split())
_FAR = 3  # names from which a path was made, one from another


def is_path(expression: Node | None, file: SourceFile, names: int = _FAR) -> bool:
    """Whether the expression begins with a path: `(ROOT / "a" / name)`, `path.parent`, `Path(a).resolve()`."""
    node = _beginning(expression, file)
    if node is None:
        return False
    if node.type == "call":
        callee = file.callee(node)
        return callee == _PATH or _is_given_by(callee, file)
    name = file.text(node)
    if node.type == "identifier" and origin_of(name, node, file).removesuffix("()") == _PATH:
        return True
    if names == 0 or node.type not in ("identifier", "attribute"):
        return False
    values = (assigned_values(name, node, file) if node.type == "identifier" else []) or given_values(name, file)
    return any(is_path(value, file, names - 1) for value in values)


def _is_given_by(callee: str, file: SourceFile) -> bool:
    """Whether a function of the file, or a method of the object, says that it gives a path: `def target() -> Path:`."""
    name = callee.removeprefix("self.")
    if not name.isidentifier() or not file.mentions(b"-> "):
        return False
    return any(
        file.resolve(each[1].decode()) == _PATH for each in followed(b"def " + name.encode(), file.source, _GIVES, b"")
    )


def _beginning(expression: Node | None, file: SourceFile) -> Node | None:
    """What stands at the left end of joined paths and of the steps from one path to another."""
    node = expression
    while node is not None:
        if node.type == "parenthesized_expression":
            node = next(iter(node.named_children), None)
        elif node.type == "binary_operator":
            operator = node.child_by_field_name("operator")
            node = node.child_by_field_name("left") if operator is not None and operator.type == "/" else None
        elif node.type == "attribute" and file.source.endswith(b".parent", node.start_byte, node.end_byte):
            node = node.child_by_field_name("object")
        elif (step := _step(node)) is not None and file.text(step) in _STEPS:
            node = step.parent.child_by_field_name("object") if step.parent is not None else None
        else:
            return node
    return None


def _step(call: Node) -> Node | None:
    """The name of the method that is called on something."""
    function = call.child_by_field_name("function") if call.type == "call" else None
    return function.child_by_field_name("attribute") if function is not None else None
