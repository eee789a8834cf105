"""The chat endpoint: an OpenAI-compatible `POST {AI_BASE_URL}/chat/completions`, asked once and never again.

Settings: AI_BASE_URL switches the AI operations on, AI_API_KEY and AI_MODEL are sent when they are set,
AI_TIMEOUT_SECONDS bounds a call from connecting to its last byte, AI_CALLS_AT_ONCE bounds the calls of one process.
"""

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import httpcore
import orjson
import structlog
from django.conf import settings

from config.errors import ProviderFailed, Unavailable
from config.http import FAILURES, Answer, exchange

LARGEST_ANSWER_BYTES = 1024 * 1024

Message = Mapping[str, str]

log = structlog.get_logger("ai")


class AiOff(Unavailable):
    message = "AI operations are not set up here; an operator switches them on with AI_BASE_URL"


class AiBusy(Unavailable):
    message = "Too many AI operations are under way; try again in a minute, no credits were used"


class AiFailed(ProviderFailed):
    message = "The AI service failed; no credits were used, try again"


class AiTooSlow(AiFailed):
    message = "The AI service did not answer in time; no credits were used, try again"


class AiNonsense(AiFailed):
    message = "The AI service's answer made no sense; no credits were used, try again"


def require_ai() -> None:
    """AiOff unless an endpoint is configured."""
    if not settings.AI_BASE_URL:
        raise AiOff


def complete(messages: Sequence[Message], *, seconds: float | None = None) -> str:
    """What the model says to these messages: text with at least one character that is no blank.

    `seconds` shortens the time limit of the settings.

    AiFailed (AiTooSlow, AiNonsense) when there is none in time, AiBusy when too many calls are under way. What went
    over the wire stands in no error and in no log.
    """
    require_ai()
    request: dict[str, Any] = {"messages": list(messages), "stream": False}
    if settings.AI_MODEL:
        request["model"] = settings.AI_MODEL
    with _turn():
        answer = _send(orjson.dumps(request), min(seconds or math.inf, settings.AI_TIMEOUT_SECONDS))
    if answer.status != 200:
        log.warning("ai_call_refused", status=answer.status)
        raise AiFailed
    return _content(answer.body)


def _send(content: bytes, seconds: float) -> Answer:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "technical-debt"}
    if settings.AI_API_KEY:
        headers["Authorization"] = f"Bearer {settings.AI_API_KEY}"
    url = f"{settings.AI_BASE_URL.rstrip('/')}/chat/completions"
    try:
        return exchange(
            "POST", url, headers=headers, content=content, seconds=seconds, largest_bytes=LARGEST_ANSWER_BYTES
        )
    except FAILURES as error:
        log.warning("ai_call_failed", error=type(error).__name__)
        raise (AiTooSlow if isinstance(error, httpcore.TimeoutException | TimeoutError) else AiFailed) from error


def _content(body: bytes) -> str:
    try:
        content = orjson.loads(body)["choices"][0]["message"]["content"]
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError) as error:
        raise AiNonsense from error
    if not isinstance(content, str) or not content.strip():
        raise AiNonsense
    return content


class _Turns:
    """How many calls of this process are under way: each holds a thread of the web server until it ends."""

    taken = 0
    guard = threading.Lock()


@contextmanager
def _turn() -> Iterator[None]:
    with _Turns.guard:
        if _Turns.taken >= settings.AI_CALLS_AT_ONCE:
            raise AiBusy
        _Turns.taken += 1
    try:
        yield
    finally:
        with _Turns.guard:
            _Turns.taken -= 1
