"""One call of a code host's JSON API: bounded, without redirects, and every outcome that matters has a name.

What came back in an error stands in no message and no log: hosts repeat what they were sent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from config import http

SECONDS = 10.0
LARGEST_ANSWER_BYTES = 8 * 1024 * 1024
PAUSE_WITHOUT_WORD = timedelta(minutes=1)  # what codehost1 asks for when it gives no time
LONGEST_PAUSE = timedelta(hours=1)


class HostFailed(Exception):
    """The call did not work out this time."""


class HostRefused(HostFailed):
    """The host understood and said no; it will hardly say anything else next time. `status` is the answer's, or 0."""

    def __init__(self, words: str, status: int = 0) -> None:
        super().__init__(words)
        self.status = status


class NotPermitted(HostRefused):
    """We lack the right to do this."""


class NotThere(HostRefused):
    """What the call is about is gone, or hidden from us."""


class TooManyCalls(HostFailed):
    """The host wants to be left alone until `until`."""

    def __init__(self, until: datetime) -> None:
        super().__init__("The code host limits how often it may be called")
        self.until = until


@dataclass(frozen=True, slots=True)
class Reply:
    """A good answer, or 304. Header names are lower-case."""

    status: int
    data: Any = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)


def call(method: str, url: str, *, headers: Mapping[str, str], body: Any = None, now: datetime | None = None) -> Reply:
    """Send JSON, read JSON. HostFailed in one of its kinds for everything but a good answer."""
    content = b"" if body is None else orjson.dumps(body)
    sent = {"Accept": "application/json", "User-Agent": "technical-debt", **headers}
    if content:
        sent["Content-Type"] = "application/json"
    try:
        answer = http.exchange(
            method, url, headers=sent, content=content, seconds=SECONDS, largest_bytes=LARGEST_ANSWER_BYTES
        )
    except http.FAILURES as error:
        raise HostFailed(f"The code host did not answer ({type(error).__name__})") from error
    _require_good(answer, now or datetime.now(UTC))
    return Reply(answer.status, _data(answer), answer.headers)


def _require_good(answer: http.Answer, now: datetime) -> None:
    if answer.status < 300 or answer.status == 304:
        return
    if _is_limit(answer):
        raise TooManyCalls(_limit_ends(answer.headers, now))
    words = f"The code host answered {answer.status}"
    if answer.status in (401, 403):
        raise NotPermitted(words, answer.status)
    if answer.status in (404, 410):
        raise NotThere(words, answer.status)
    if 400 <= answer.status < 500 and answer.status not in (408, 409, 423, 425):
        raise HostRefused(words, answer.status)
    raise HostFailed(words)


def _is_limit(answer: http.Answer) -> bool:
    if answer.status == 429:
        return True
    is_spent = answer.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in answer.headers
    return answer.status == 403 and (is_spent or b"rate limit" in answer.body[:2000].lower())


def _limit_ends(headers: Mapping[str, str], now: datetime) -> datetime:
    """Retry-After in seconds, else the second since 1970 at which the limit is lifted."""
    pause = PAUSE_WITHOUT_WORD
    if (seconds := headers.get("retry-after", "")).isdigit():
        pause = timedelta(seconds=min(int(seconds), LONGEST_PAUSE.total_seconds()))
    elif (reset := headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset") or "").isdigit():
        pause = timedelta(seconds=int(reset) - now.timestamp())
    return now + min(max(pause, timedelta(seconds=1)), LONGEST_PAUSE)


def _data(answer: http.Answer) -> Any:
    if not answer.body:
        return None
    try:
        return orjson.loads(answer.body)
    except orjson.JSONDecodeError as error:
        raise HostFailed("The code host's answer was no JSON") from error
