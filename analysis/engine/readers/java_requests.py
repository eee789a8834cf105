"""Requests of Java and the limits of those who wait for them."""

import re

from tree_sitter import Node

from analysis.engine.extract.orm.steps import steps_after
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import function_text

_MAKES_CLIENT = re.compile(r"\bHttpClient\s*\.\s*new(?:Builder|HttpClient)\(")
_SETS_LIMIT = re.compile(r"\.(?:timeout|connectTimeout)\(")
# Who waits for what is sent sets the limit: `client.sendAsync(request, …).orTimeout(5, SECONDS)`.
_WAITS_SO_LONG = re.compile(r"\.(?:orTimeout|completeOnTimeout)\(|\.get\(\s*[\w.]+\s*,")
_TIMEOUT = re.compile(
    rb"\.(timeout|connectTimeout|setConnectTimeout|setReadTimeout|setRequestFactory)\(|RestTemplateBuilder"
)
_LOCAL = re.compile(
    rb"(?:^|[;{}])\s*(?:(?:private|protected|public|static|final|var)\s+)*[\w.]+\s+\w+\s*=\s*(?:new\s+)?\Z"
)
_RETURNED = re.compile(rb"\breturn\s+(?:new\s+)?\Z")


def is_unlimited_request(call: Node, file: SourceFile) -> bool:
    """Whether the request that begins with `HttpRequest.newBuilder` is built in one go without a time limit: the client
    has none for answers. Where the function, or else the file, makes the client and sets no limit at all,
    that is told at the client."""
    steps = {step.name for step in steps_after(call.end_byte, file)}
    if "build" not in steps or "timeout" in steps:
        return False
    if _WAITS_SO_LONG.search(file.text(file.statement_of(call))) is not None:
        return False
    around = function_text(call, file)
    text = around if _MAKES_CLIENT.search(around) is not None else file.source.decode("utf-8", "replace")
    return _SETS_LIMIT.search(text) is not None or _MAKES_CLIENT.search(text) is None


def has_limit_near(call: Node, file: SourceFile) -> bool:
    """Whether a time limit is set near: in the function for what a local variable holds, or what is used up or given
    back right there, else anywhere in the file."""
    before = file.source[max(0, call.start_byte - 80) : call.start_byte]
    is_returned = _RETURNED.search(before) is not None and file.callee(call).endswith("RestTemplate")
    # The request of the same chain is made in the same function.
    is_used_up = file.source[call.end_byte :].lstrip().startswith(b".send") and "newBuilder(" in file.text(
        file.statement_of(call)
    )
    if is_returned or is_used_up or _LOCAL.search(before) is not None:
        return _TIMEOUT.search(function_text(call, file).encode()) is not None
    return _TIMEOUT.search(file.source) is not None
