"""The letters that accounts send."""

from typing import Any

from accounts import letters
from accounts.models import Letter
from accounts.services.passwords import RESET_LIFETIME, mint_reset


@letters.composer("password_reset")
def compose_password_reset(letter: Letter) -> dict[str, Any] | None:
    """A fresh link, or nothing when the address belongs to no active account."""
    link = mint_reset(email=letter.recipient)
    return {"link": link, "minutes": int(RESET_LIFETIME.total_seconds() // 60)} if link else None
