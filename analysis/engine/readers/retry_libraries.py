"""Libraries that try again, and what they were told: each reader says what has no end, or nothing."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import short, statements

_FOR_EVER = re.compile(rb"while\s+(?:True|1)\s*:")
_RETRIED = re.compile(r"@Retry\w*\([^()]*[aA]ttempts\w*\s*=\s*Integer\.MAX_VALUE")
_WAITS_LONGER = re.compile(rb"\b(?:factor|maxTimeout)\s*:")
_ATTEMPTS = frozenset({"retries", "maxRetries", "retry", "attempts", "numOfAttempts", "maxAttempts"})
_NO_NUMBER = re.compile(rb"Infinity|Number\.(?:POSITIVE_INFINITY|MAX_\w+)")
_BACKOFF_ENDS = re.compile(r"\bmax_(?:tries|time)\s*=")
_RETRY_ENDS = re.compile(r"\btries\s*=\s*(?!-1)")
_ENDS = {  # what limits the attempts, by the decorator
    "backoff.on_exception": _BACKOFF_ENDS,
    "backoff.on_predicate": _BACKOFF_ENDS,
    "retrying.retry": re.compile(r"\bstop_max_(?:attempt_number|delay)\s*="),
    "retry.retry": _RETRY_ENDS,
    "retry.api.retry": _RETRY_ENDS,
}


def said_of_annotation(annotation: Node, file: SourceFile) -> str:
    """`@Retryable(maxAttempts = Integer.MAX_VALUE)`."""
    text = file.text(annotation)
    return f"`{short(text)}` tries again for ever" if _RETRIED.match(text) else ""


def said_of_decorator(decorator: Node, file: SourceFile) -> str:
    """`tenacity.retry` without stop or wait, `backoff` without an end, a task that is retried for ever."""
    name, _, given = file.text(decorator).lstrip("@").partition("(")
    resolved = file.resolve(name.strip())
    if "**" in given:
        return ""
    missing = ""
    if resolved in ("tenacity.retry", "tenacity.AsyncRetrying", "tenacity.Retrying"):
        missing = " and ".join(word for word in ("stop", "wait") if not re.search(rf"\b{word}\s*=", given))
        if missing == "stop" and _listens(decorator, file):
            return ""
    elif (end := _ENDS.get(resolved)) is not None and not end.search(given):
        missing = "end"
    if missing:
        return f"`{name}` is given no {missing}"
    is_endless = re.search(r"\bmax_retries[\"']?\s*[=:]\s*None\b", given) is not None
    return f"`{name}` is tried again for ever: `max_retries=None`" if is_endless else ""


def _listens(decorator: Node, file: SourceFile) -> bool:
    """Whether the function waits for work for ever, so that there is no last attempt."""
    around = decorator.parent
    function = around.child_by_field_name("definition") if around is not None else None
    body = function.child_by_field_name("body") if function is not None else None
    if body is None:
        return False
    return any(
        each.type == "while_statement" and _FOR_EVER.match(file.source, each.start_byte) for each in statements(body)
    )


def said_of_option(pair: Node, file: SourceFile) -> str:
    """`retries: Infinity` and `forever: true`."""
    key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
    if key is None or value is None:
        return ""
    name, given = file.text(key).strip("'\""), file.source[value.start_byte : value.end_byte]
    is_endless = name in _ATTEMPTS and _NO_NUMBER.fullmatch(given) is not None
    beside = pair.parent
    is_patient = (
        beside is not None and _WAITS_LONGER.search(file.source, beside.start_byte, beside.end_byte) is not None
    )
    is_endless = is_endless or (name == "forever" and given.startswith(b"true") and not is_patient)
    return f"`{file.text(pair)}` tries again for ever" if is_endless else ""
