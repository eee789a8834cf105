"""Requests of `java.net.http` and the limits of those who wait for them (`risk-http-no-timeout`)."""

import re

from tree_sitter import Node

from analysis.engine.extract.orm.steps import steps_after
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import function_text

_MAKES_CLIENT = re.compile(r"\bHttpClient\s*\.\s*new(?:Builder|HttpClient)\(")
_SETS_LIMIT = re.compile(r"\.(?:timeout|connectTimeout)\(")
# Who waits for what is sent sets the limit: `client.sendAsync(request, …).orTimeout(5, SECONDS)`.
_WAITS_SO_LONG = re.compile(r"\.(?:orTimeout|completeOnTimeout)\(|\.get\(\s*[\w.]+\s*,")


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
