"""One exchange with a payment provider: at most 10 seconds in all, an answer of at most 4 MB."""

from collections.abc import Mapping

import structlog

from config import http
from config.errors import ProviderFailed

TOTAL_SECONDS = 10.0
LARGEST_ANSWER_BYTES = 4 * 1024 * 1024

log = structlog.get_logger("billing")


def exchange(method: str, url: str, *, headers: Mapping[str, str], content: bytes = b"") -> http.Answer:
    """Send one request and read the whole answer. ProviderFailed when that does not work out; bodies stay out of it."""
    try:
        return http.exchange(
            method, url, headers=headers, content=content, seconds=TOTAL_SECONDS, largest_bytes=LARGEST_ANSWER_BYTES
        )
    except http.FAILURES as error:
        log.warning("provider_unreachable", method=method, error=type(error).__name__)
        raise ProviderFailed from error
