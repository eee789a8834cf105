"""Which functions of a file give promises or coroutines."""

import re
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from analysis.engine.codebase import Place
from analysis.engine.extract.script_promises import is_handled, keeps_errors
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import FunctionFlag, Mark
from analysis.engine.readers.reading import (
    DEFINITIONS,
    assigned_values,
    awaited_call,
    followed,
    parameter_list,
    within,
)

_HOOKED = re.compile(rb"([\w$]+)\s*=\s*(?:React\.)?useCallback\(\s*\Z")
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function_declaration", "method_definition"})
_PLAIN = frozenset({"true", "false", "null", "undefined", "number", "string"})
_WORDS = re.compile(r"[\w$]+")
_OF_SEVERAL = frozenset({"Promise.race", "Promise.all", "Promise.any"})
_ENDS_WITH_CATCH = re.compile(r"\.catch\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*\Z")
_NEVER_REJECTED = re.compile(
    r"Promise\.resolve\([^()]*\)\s*\Z|new Promise(?:<[^()]*>)?\(\s*\(?\s*\w+\s*\)?\s*=>\s*setTimeout\("
)
_FIRST = re.compile(rb"([\w$]+)\(")
_THEN = re.compile(rb"\bthen\b")
_FILLS = re.compile(rb"\.(?:push|unshift|splice|fill)\(|\[[^\]\n]*\]\s*=(?!=)")


@lru_cache(maxsize=1)
def async_functions(file: SourceFile) -> dict[str, Node]:
    """Async functions of the file that can be called by name; generators are none. Kept for the file read last."""
    return {
        each.name: each.node
        for each in file.functions
        if each.flags & FunctionFlag.ASYNC and not each.flags & FunctionFlag.GENERATOR and _is_declared(each.node, file)
    }


def async_function(callee: str, call: Node, file: SourceFile) -> Node | None:
    """The async function of this file that a callee means: `load`, `this.load`, `self.load`."""
    known = async_functions(file)
    if not known:
        return None
    head, _, name = callee.rpartition(".")
    is_own = head in ("this", "self")
    if not is_own and (head or callee in file.bindings):
        return None
    if not head and is_parameter_around(name, call, file):
        return None
    around = file.functions[file.function_of(call)]
    if is_own:
        return known.get(f"{around.owner}.{name}") if around.owner else _of_the_object(around.name, name, known)
    return _in_scope(around.name, name, known, file)


def settles_at_once(function: Node, file: SourceFile) -> bool:
    """Whether an async function of a script waits for nothing and gives nothing back that could fail."""
    body = function.child_by_field_name("body")
    if body is None or body.type != "statement_block" or b"await" in file.source[body.start_byte : body.end_byte]:
        return False
    return not any(
        each.type == "throw_statement"
        or (each.type == "return_statement" and each.named_child_count and each.named_children[0].type not in _PLAIN)
        for each in within(body)
    )


def never_rejects(function: Node, file: SourceFile) -> bool:
    """Whether the function handles what it awaits, or awaits only functions of the file that do or wait for nothing."""
    if keeps_errors(function, file.source):
        return True
    body = function.child_by_field_name("body")
    nodes = (each for each in within(body) if each.type == "await_expression") if body else ()
    awaited = [awaited_call(each, file) for each in nodes]
    return bool(awaited) and all(each is not None and _handles_its_own(each, file) for each in awaited)


def awaited_elsewhere(function: Node, file: SourceFile) -> dict[str, str] | None:
    """What an async function awaits, by name, for `awaits_only_what_keeps_errors`; None where that is no call, where it
    gives back or throws something else, or where nothing is awaited."""
    body = function.child_by_field_name("body")
    nodes = list(_without_handled(body, file)) if body is not None else []
    awaited = [awaited_call(each, file) for each in nodes if each.type == "await_expression"]
    if not awaited or None in awaited:
        return None
    if any(each.type == "throw_statement" for each in nodes):
        return None
    names = [file.callee(each) for each in awaited if each is not None and not _handles_its_own(each, file)]
    return {"awaits": " ".join(dict.fromkeys(names))} if all(names) and not any(" " in name for name in names) else None


def _without_handled(body: Node, file: SourceFile) -> Iterator[Node]:
    """The nodes below a body, without functions in it and without what a `try` with a quiet handler holds."""
    pending = list(body.named_children)
    while pending:
        node = pending.pop()
        yield node
        if node.type == "try_statement" and is_handled(node, file.source):
            pending.extend(each for each in node.named_children if each.type != "statement_block")
        elif node.type not in DEFINITIONS:
            pending.extend(node.named_children)


def awaits_only_what_keeps_errors(mark: Mark, place: Place) -> bool:
    """Whether all that an async function awaits are functions of the project that handle their own errors."""
    names = mark.data.get("awaits", "").split()
    codebase = place.codebase
    for name in names:
        found = place.meant_by(name)
        flags = [codebase.files[each.path].functions[each.position].flags for each in found]
        if not flags or not all(each & FunctionFlag.KEEPS_ERRORS for each in flags):
            return False
    return bool(names)


def _handles_its_own(awaited: Node, file: SourceFile) -> bool:
    callee = file.callee(awaited)
    if callee == "Promise.allSettled" or (callee == "Promise.all" and runs_only_what_keeps_errors(awaited, file)):
        return True
    called = async_function(callee, awaited, file) or _hooked(file).get(callee)
    return called is not None and (keeps_errors(called, file.source) or settles_at_once(called, file))


def runs_only_what_keeps_errors(call: Node, file: SourceFile) -> bool:
    """Whether `Promise.all(ids.map(load))` waits for functions of the file that handle their own errors."""
    named = [async_function(word, call, file) for word in dict.fromkeys(_WORDS.findall(file.text(call)))]
    found = [each for each in named if each is not None]
    return (
        bool(found)
        and b"async" not in file.source[call.start_byte : call.end_byte]
        and all(keeps_errors(each, file.source) for each in found)
    )


@lru_cache(maxsize=1)
def _hooked(file: SourceFile) -> dict[str, Node]:
    """Async functions that a component keeps: `const load = useCallback(async () => {...}, [])`."""
    if not file.mentions(b"useCallback("):
        return {}
    flagged = (each.node for each in file.functions if each.flags & FunctionFlag.ASYNC)
    made = ((_HOOKED.search(file.source, max(0, node.start_byte - 80), node.start_byte), node) for node in flagged)
    return {found[1].decode("utf-8", "replace"): node for found, node in made if found is not None}


def is_parameter_around(name: str, call: Node, file: SourceFile) -> bool:
    """Whether a function around the call, up to the outermost, has a parameter of this name."""
    node = call.parent
    while node is not None:
        if node.type in _FUNCTIONS:
            listed = parameter_list(node)
            if listed is not None and name in _WORDS.findall(file.text(listed)):
                return True
        node = node.parent
    return False


def keeps_its_error(chain: Node, file: SourceFile) -> bool:
    """Whether a chain begins with a function of a hook that keeps the error for the page to show:
    `const [save, { error }] = useSaveMutation()`."""
    called = _FIRST.match(file.source, chain.start_byte) if file.mentions(b"Mutation(") else None
    if called is None:
        return False
    hook = rb"\[\s*" + re.escape(called[1]) + rb"\b[^\]]*\]\s*=\s*use\w*Mutation\("
    return re.search(hook, file.source) is not None


def _is_declared(function: Node, file: SourceFile) -> bool:
    """Whether the name is that of a declaration, method or variable, not the key of an object or a callback."""
    if function.type not in ("arrow_function", "function_expression"):
        return True
    return file.source[max(0, function.start_byte - 40) : function.start_byte].rstrip().endswith(b"=")


def _of_the_object(around: str, name: str, known: dict[str, Node]) -> Node | None:
    """The method that `this` has in a function of a method, as in one given to `setTimeout`."""
    while "." in around:
        around = around.rpartition(".")[0]
        if (found := known.get(f"{around}.{name}")) is not None:
            return found
    return None


def _in_scope(around: str, name: str, known: dict[str, Node], file: SourceFile) -> Node | None:
    """The async function that a name means in a function, unless a nearer one of that name is not async."""
    names = {each.name for each in file.functions}
    while True:
        full = f"{around}.{name}" if around else name
        if full in names or not around:
            return known.get(full)
        around = around.rpartition(".")[0]


def all_handled(chain: Node, file: SourceFile) -> bool:
    """Whether a chain begins with `Promise.race([...])` or its like, and each promise in the list takes its own
    rejection or has none, or there is no promise in it."""
    first = _beginning(chain)
    listed = file.arguments(first)[0] if file.callee(first) in _OF_SEVERAL else []
    if len(listed) == 1 and _holds_plain_values(listed[0], file):
        return True
    if len(listed) != 1 or listed[0].type != "array" or not listed[0].named_child_count:
        return False
    return all(_is_handled_alone(file.text(each)) for part in listed[0].named_children for each in _choices(part))


def _holds_plain_values(listed: Node, file: SourceFile) -> bool:
    """Whether a list has nothing but objects and constants as they are written, also by the name of a variable:
    `rows.map((row) => ({ row }))`."""
    if listed.type == "identifier":
        name = file.source[listed.start_byte : listed.end_byte]
        values = assigned_values(name.decode("utf-8", "replace"), listed, file)
        if len(values) != 1 or any(followed(name, file.source, _FILLS, b"_.$")):
            return False
        listed = values[0]
    if listed.type == "array":
        return bool(listed.named_children) and all(_is_plain(each, file) for each in listed.named_children)
    if listed.type != "call_expression" or not file.callee(listed).endswith(".map"):
        return False
    made = file.arguments(listed)[0]
    if len(made) != 1 or made[0].type not in _FUNCTIONS or file.source.startswith(b"async", made[0].start_byte):
        return False
    body = made[0].child_by_field_name("body")
    if body is None or body.type != "statement_block":
        return body is not None and _is_plain(body, file)
    given = (each.named_children for each in within(body) if each.type == "return_statement")
    return all(_is_plain(value, file) for values in given for value in values)


def _is_plain(value: Node, file: SourceFile) -> bool:
    while value.type == "parenthesized_expression" and value.named_child_count == 1:
        value = value.named_children[0]
    if value.type == "object":
        return _THEN.search(file.source, value.start_byte, value.end_byte) is None
    return value.type in _PLAIN


def _beginning(chain: Node) -> Node:
    """The first call of a chain."""
    while True:
        function = chain.child_by_field_name("function")
        inner = function.child_by_field_name("object") if function is not None else None
        if inner is None or inner.type != "call_expression":
            return chain
        chain = inner


def _choices(node: Node) -> list[Node]:
    return node.named_children[-2:] if node.type == "ternary_expression" else [node]


def _is_handled_alone(promise: str) -> bool:
    return _ENDS_WITH_CATCH.search(promise) is not None or _NEVER_REJECTED.match(promise) is not None
