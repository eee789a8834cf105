"""The one call that runs while a provider waits for our answer: it has three seconds for everything, and no more.

Time-outs of an HTTP client count from byte to byte, so a server that sends one byte a second outlives them. A cancelled
coroutine does not: the whole exchange, fetching a token included, runs in an event loop of its own under one deadline.

Each delivery that waits holds a thread of the web server, which has few. While the provider fails or is slow one
delivery at a time asks it and the others are refused at once, to be sent again: else everybody would wait for it.
"""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import orjson
import structlog
from django.conf import settings

from billing.providers.walletpay_token import TOKENS, configured_account
from config.errors import Unavailable

DEADLINE_SECONDS = 3.0
SLOW_SECONDS = 1.0
LARGEST_ANSWER_BYTES = 64 * 1024

log = structlog.get_logger("webhooks")


class VerificationUnavailable(Unavailable):
    message = "The event could not be verified now; send it again later"


class _Refused(Exception):
    """The provider does not know the access token."""


TLS = httpx.create_ssl_context()


def ask(body: bytes) -> Any:
    """The answer of `verify-webhook-signature` to this body; VerificationUnavailable when there is none in time."""
    loop = asyncio.new_event_loop()
    try:
        with _turn():
            return loop.run_until_complete(asyncio.wait_for(_exchange(body), DEADLINE_SECONDS))
    except (httpx.HTTPError, httpx.InvalidURL, _Refused, TimeoutError, ValueError) as error:
        # The kind of failure is enough; an address or an answer could carry a secret.
        log.warning("wallet verification failed", kind=type(error).__name__)
        raise VerificationUnavailable from error
    finally:
        loop.close()


class _Provider:
    """How the provider did when this process asked it last, and how many deliveries are asking now."""

    guard = threading.Lock()
    asking = 0
    is_in_trouble = False


@contextmanager
def _turn() -> Iterator[None]:
    with _Provider.guard:
        if _Provider.is_in_trouble and _Provider.asking:
            raise VerificationUnavailable
        _Provider.asking += 1
    began, failed = time.monotonic(), True
    try:
        yield
        failed = False
    finally:
        with _Provider.guard:
            _Provider.asking -= 1
            _Provider.is_in_trouble = failed or time.monotonic() - began > SLOW_SECONDS


async def _exchange(body: bytes) -> Any:
    async with httpx.AsyncClient(
        base_url=settings.WALLETPAY_API_URL,
        headers={"Accept-Encoding": "identity"},
        timeout=DEADLINE_SECONDS,
        verify=TLS,
        follow_redirects=False,
    ) as client:
        try:
            return await _verify(client, await _token(client), body)
        except _Refused:
            TOKENS.drop(configured_account())
            return await _verify(client, await _token(client), body)


async def _token(client: httpx.AsyncClient) -> str:
    if known := TOKENS.get(configured_account()):
        return known
    answer = await _post(
        client,
        "/v1/oauth2/token",
        b"grant_type=client_credentials",
        {"Content-Type": "application/x-www-form-urlencoded"},
        httpx.BasicAuth(settings.WALLETPAY_CLIENT_ID, settings.WALLETPAY_CLIENT_SECRET),
    )
    if not isinstance(answer, dict) or not isinstance(answer.get("access_token"), str):
        raise ValueError("no access token in the answer")
    lifetime = answer.get("expires_in")
    TOKENS.keep(configured_account(), answer["access_token"], lifetime if isinstance(lifetime, int | float) else 0)
    return answer["access_token"]


async def _verify(client: httpx.AsyncClient, token: str, body: bytes) -> Any:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    return await _post(client, "/v1/notifications/verify-webhook-signature", body, headers)


async def _post(
    client: httpx.AsyncClient, path: str, body: bytes, headers: dict[str, str], auth: httpx.BasicAuth | None = None
) -> Any:
    async with client.stream("POST", path, content=body, headers=headers, auth=auth) as response:
        if response.status_code == httpx.codes.UNAUTHORIZED:
            raise _Refused
        response.raise_for_status()
        answer = b""
        async for chunk in response.aiter_raw():
            answer += chunk
            if len(answer) > LARGEST_ANSWER_BYTES:
                raise ValueError("the answer is too long")
        return orjson.loads(answer)
