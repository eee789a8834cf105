"""The wallet provider's access tokens: kept in the memory of this process, never in a cache or the database.

What a cache holds lies open in Redis, and losing a token costs one call.
"""

import threading
import time

from django.conf import settings

# A token is not used in its last minute, since it could expire on the way.
MARGIN_SECONDS = 60

Account = tuple[str, str, str]


class AccessTokens:
    """The good token of each account, known by address, client id and secret."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Account, tuple[str, float]] = {}

    def get(self, account: Account) -> str:
        """A token that is good for a moment at least; "" without one."""
        with self._lock:
            value, good_until = self._kept.get(account, ("", 0.0))
        return value if time.monotonic() < good_until else ""

    def keep(self, account: Account, value: str, lifetime_seconds: float) -> None:
        with self._lock:
            self._kept = {account: (value, time.monotonic() + lifetime_seconds - MARGIN_SECONDS)}

    def drop(self, account: Account) -> None:
        """The provider does not take it any more."""
        with self._lock:
            self._kept.pop(account, None)


TOKENS = AccessTokens()


def configured_account() -> Account:
    """The account of the settings."""
    return (
        settings.WALLETPAY_API_URL.rstrip("/"),
        settings.WALLETPAY_CLIENT_ID,
        settings.WALLETPAY_CLIENT_SECRET,
    )
