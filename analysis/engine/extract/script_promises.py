"""Whether a function of script may reject the promise that it gives."""

import re

from tree_sitter import Node

FUNCTIONS = (
    "function_declaration",
    "generator_function_declaration",
    "function_expression",
    "generator_function",
    "arrow_function",
    "method_definition",
)
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
HEAD = 300  # bytes of a function in which `new Promise` stands


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
        if node.type in FUNCTIONS or node.type == "class_declaration":
            continue
        if node.type == "try_statement" and is_handled(node, source):
            pending.extend(each for each in node.named_children if _may_wait(each, source))
        elif node.type in ("await_expression", "return_statement") and _may_reject(node, source):
            return False
        else:
            pending.extend(node.named_children)
    return True


def gives_settled(function: Node, source: bytes) -> bool:
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
    if len(handlers) != 2 or handlers[1].type not in FUNCTIONS:
        return False
    return _THROWS.search(source, handlers[1].start_byte, handlers[1].end_byte) is None


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


def _may_wait(part: Node, source: bytes) -> bool:
    """Whether a part of a `try` that handles its errors can fail for its own sake: what it answers there does not."""
    text = source[part.start_byte : part.end_byte]
    if part.type == "catch_clause":
        return b"await" in text
    if part.type == "finally_clause":
        return text.count(b"await ") > len(_GIVES_BACK.findall(text))
    return part.type != "statement_block"


def _may_reject(node: Node, source: bytes) -> bool:
    given = node.named_children[0] if node.named_child_count else None
    if given is None or (node.type == "return_statement" and given.type not in _GIVES_PROMISES):
        return False
    if node.type == "return_statement" and _SETTLES.match(source, given.start_byte):
        return False  # ends the function by telling somebody; the value means nothing
    _, caught, handler = source[given.start_byte : given.end_byte].rpartition(b".catch(")
    return not caught or _THROWS.search(_COMMENT.sub(b"", handler)) is not None
