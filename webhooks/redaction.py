"""The body of an event as staff may read it."""

from typing import Any

import orjson

MOST_BYTES = 256 * 1024
DEEPEST = 40
LONGEST_TEXT = 20_000
HIDDEN = "(hidden)"
SECRET_WORDS = ("secret", "token", "password", "authorization", "signature", "private_key", "api_key", "credential")


def readable(body: bytes) -> str:
    """Indented JSON whose secrets are hidden, cut after 20,000 characters; what is no JSON is not shown at all."""
    if not body:
        return ""
    if len(body) > MOST_BYTES:
        return f"({len(body)} bytes: too much to show)"
    try:
        payload = orjson.loads(body)
    except orjson.JSONDecodeError:
        return f"({len(body)} bytes that are not JSON)"
    text = orjson.dumps(_without_secrets(payload, DEEPEST), option=orjson.OPT_INDENT_2).decode()
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}\n…"


def _without_secrets(value: Any, depth: int) -> Any:
    if depth == 0:
        return "…"
    if isinstance(value, list):
        return [_without_secrets(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {name: HIDDEN if _is_secret(name) else _without_secrets(v, depth - 1) for name, v in value.items()}
    return value


def _is_secret(name: str) -> bool:
    lower = name.lower()
    return any(word in lower for word in SECRET_WORDS)
