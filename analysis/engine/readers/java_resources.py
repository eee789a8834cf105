"""What Java does with a stream, a statement or an answer besides closing it: who holds it, and who else closes it."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import function_text, text_after, within

_STILL_STREAMS = frozenset("skip limit filter map sorted distinct onClose flatMap parallel peek".split())
STATEMENTS = frozenset({"createStatement", "prepareStatement", "prepareCall"})
_STATEMENT_OF = re.compile(r"(\w+)\s*\.")
# The answer of a client, by its declared type, with what imports that; who reads its body may close it.
_ANSWERS = {"Response": b"okhttp3", "CloseableHttpResponse": b"org.apache.h"}
_READS_BODY = r"\.(?:body|getEntity)\(\)"
# Who reads or writes a stream and leaves it open.
_READS_STREAM = re.compile(
    r"IOUtils\.(?:copy\w*|read\w*|toString|toByteArray|toCharArray|write\w*|skip\w*|consume)|StreamUtils\.\w+|ByteStreams\.\w+|CharStreams\.\w+"
    r"|Files\.copy|ImageIO\.read"
)
_LOADS = frozenset({"load", "loadFromXML", "store", "storeToXML"})
_LOADED_TYPE = r"\b(?:Properties|KeyStore|Yaml)\s+{}\b"


def unread_answer(call: Node, file: SourceFile) -> str:
    """The local variable of an answer of which only the status is read, as in
    `Response response = client.newCall(request).execute()`; empty for others."""
    declarator = call.parent
    declaration = declarator.parent if declarator is not None and declarator.type == "variable_declarator" else None
    if declarator is None or declaration is None or declaration.type != "local_variable_declaration":
        return ""
    kind, name = declaration.child_by_field_name("type"), declarator.child_by_field_name("name")
    library = _ANSWERS.get(file.text(kind)) if kind is not None else None
    if library is None or name is None or not file.mentions(library):
        return ""
    is_read = re.search(rf"\b{file.text(name)}{_READS_BODY}", text_after(call, file)) is not None
    return "" if is_read else file.text(name)


def without_readers(name: str, rest: str, file: SourceFile) -> str:
    """The text without calls that read or write a stream and leave it open."""
    word = re.escape(name)
    for used in re.finditer(rf"\b((\w+)\.(\w+))\(\s*{word}\b", rest):
        loads = used[3] in _LOADS and re.search(_LOADED_TYPE.format(re.escape(used[2])).encode(), file.source)
        if loads or _READS_STREAM.fullmatch(used[1]):
            rest = rest.replace(used[0], f"{used[1]}(")
    return rest


def gives_stream_back(name: str, call: Node, file: SourceFile) -> bool:
    """Whether the function returns a chain on a local stream that is a stream still: who asked for it closes it."""
    function = file.enclosing_function(call)
    for each in within(function) if function is not None else ():
        chain = each.named_children[0] if each.type == "return_statement" and each.named_child_count else None
        if chain is not None and chain.type == "method_invocation" and file.text(chain).startswith(f"{name}."):
            last = chain.child_by_field_name("name")
            return last is not None and file.text(last) in _STILL_STREAMS
    return False


def is_held(step: Node, file: SourceFile) -> bool:
    """Whether a chain that is a stream still is assigned or returned: somebody else may close it."""
    while step.parent is not None and step.parent.type == "method_invocation":
        step = step.parent
    name = step.child_by_field_name("name")
    held = step.parent is not None and step.parent.type in ("assignment_expression", "return_statement")
    return held and name is not None and file.text(name) in _STILL_STREAMS


def closes_with_its_connection(call: Node, opened: str, file: SourceFile) -> bool:
    """Whether a statement ends with a connection that the same function closes, as JDBC says it does."""
    made = _STATEMENT_OF.match(file.text(call)) if opened in STATEMENTS else None
    if made is None:
        return False
    name = re.escape(made[1])
    text = function_text(call, file)
    return re.search(rf"\btry\s*\([^{{]*\b{name}\s*=|\bfinally\b[\s\S]*\b{name}\.close\(", text) is not None


def outermost_wrapper(call: Node) -> Node:
    """The last of `new BufferedReader(new InputStreamReader(...))` around the call."""
    node = call
    while (listed := node.parent) is not None and listed.type == "argument_list":
        around = listed.parent
        if around is None or around.type != "object_creation_expression":
            break
        node = around
    return node
