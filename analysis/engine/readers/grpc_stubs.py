"""Calls on stubs of gRPC, as generated code gives them to Java, Python and Go: none has a deadline of its own."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.go_results import helps_tests
from analysis.engine.readers.reading import CALLS, assigned_values, followed, text_after, text_before

_OF_JAVA = re.compile(rb"\b\w+BlockingStub\s+(\w+)\s*[;=,)]")
_OF_PYTHON = re.compile(rb"\b(?:self\.)?(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)*(\w+Stub)\(")
_OF_GO = re.compile(
    rb"\b(\w+)\s+(?:\w*pb|\w+v\d)\.[A-Z]\w*Client\b|\b(\w+)\s*(?:,\s*\w+\s*)?:?=\s*(?:\w*pb|\w+v\d)\.New\w+Client\("
)
_CALLED = re.compile(rb"\.(\w+)\(")
_ABOUT_THE_STUB = re.compile(rb"with[A-Z]|get(?:Channel|CallOptions)$")
# Limits that hold for every call of a channel.
_FOR_ALL = re.compile(
    rb"newBlockingStub\([^;]*\.withDeadline|\bwithInterceptors\(|\bintercept_channel\(|\bWith(?:Chain)?UnaryInterceptor\("
)
_ENDLESS = re.compile(r"context\.(?:Background|TODO)\(\)")
_STREAMS = re.compile(r"\.(?:Recv|Send|CloseSend|CloseAndRecv|RecvMsg)\(")  # which stay open on purpose
_ITERATED = re.compile(r"\b(?:for\b[^\n]*\bin|yield from)\s*\Z")


def calls_without_deadline(root: Node, file: SourceFile) -> Iterator[tuple[Node, str]]:
    """The calls on stubs that the file declares or makes, with what they call, that nothing limits."""
    if _FOR_ALL.search(file.source) or (file.language == "go" and helps_tests(file)):
        return
    for name in sorted(_stubs(file)):
        for called in followed(name, file.source, _CALLED, b"_"):
            node: Node | None = root.descendant_for_byte_range(called.start() - len(name), called.end())
            if file.language == "python" and node is not None and node.type == "attribute":
                node = node.parent
            if node is None or node.type not in CALLS or _ABOUT_THE_STUB.match(called[1]):
                continue
            if file.language == "java" or not _may_be_limited(node, file):
                yield node, f"{name.decode()}.{called[1].decode()}"


def _stubs(file: SourceFile) -> set[bytes]:
    if file.language == "java":
        return {each[1] for each in _OF_JAVA.finditer(file.source)}
    if file.language == "python":
        made = _OF_PYTHON.finditer(file.source)
        return {
            each[1] for each in made if "_pb2_grpc" in file.resolve(each[0].partition(b"=")[2].strip(b" (").decode())
        }
    return {each[1] or each[2] for each in _OF_GO.finditer(file.source)}


def _may_be_limited(call: Node, file: SourceFile) -> bool:
    """Whether a call of Python or Go is given a limit, may be given one, or opens a stream."""
    positional, keywords = file.arguments(call)
    if file.language == "python":
        is_open = "timeout" in keywords or "**" in keywords or any(each.type == "list_splat" for each in positional)
        return is_open or len(positional) > 1 or _ITERATED.search(text_before(call, file)) is not None
    context = positional[0] if positional else None
    if context is None:
        return True
    values = assigned_values(file.text(context), context, file) if context.type == "identifier" else [context]
    if not values or not all(_ENDLESS.fullmatch(file.text(each)) for each in values):
        return True
    return _STREAMS.search(text_after(call, file)) is not None
