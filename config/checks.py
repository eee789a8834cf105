"""Warns of variables of the environment that nothing reads and that look like one of ours: a misspelt one would go
unnoticed, and its default hold."""

import os
from difflib import get_close_matches
from typing import Any

from django.core.checks import CheckMessage, Warning, register

from config import env

# Whatever begins so is meant for this service.
OURS = ("CARDPAY_", "WALLETPAY_", "CODEHOST1_", "CODEHOST2_", "IDP2_", "CLONE_")
LIKENESS = 0.85  # one letter in eight
SHORTEST = 8  # shorter names of others look like ours by chance: API_URL and APP_URL


@register
def misspelt_variables(**_: Any) -> list[CheckMessage]:
    """One warning a variable. It tells its name and never what it holds."""
    unread = sorted(os.environ.keys() - env.READ)
    return [found for name in unread if (found := _warning(name)) is not None]


def _warning(name: str) -> CheckMessage | None:
    nearest = get_close_matches(name, sorted(env.READ), n=1, cutoff=LIKENESS) if len(name) >= SHORTEST else []
    if not nearest and not name.startswith(OURS):
        return None
    hint = f"Did you mean {nearest[0]}?" if nearest else "docs/operations.md lists the variables."
    return Warning(f"The variable {name} is set, and nothing reads it", hint=hint, id="config.W001")
