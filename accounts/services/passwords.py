"""A forgotten password: the mailed link and what it opens."""

import hashlib
import secrets
from datetime import timedelta

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone

from accounts import letters
from accounts.models import PasswordReset, User
from config.errors import InvalidInput
from config.models import new_id

RESET_LIFETIME = timedelta(hours=1)


class ResetLinkInvalid(InvalidInput):
    message = "token: is invalid or has expired"


def forgot_password(*, email: str) -> None:
    """Post a letter with a reset link.

    The same work for every address: whether anybody has it is asked when the mail leaves.
    """
    letters.post(kind="password_reset", key=f"password_reset:{new_id()}", to=email.lower())


def mint_reset(*, email: str) -> str | None:
    """The link for one letter; None when no active account has the address. Only the token's hash is stored."""
    user = User.objects.filter(email=email, is_active=True).first()
    if user is None:
        return None
    token = secrets.token_urlsafe(32)
    expires_at = timezone.now() + RESET_LIFETIME
    PasswordReset.objects.create(user=user, token_hash=_hash(token), expires_at=expires_at)
    return f"{settings.APP_URL}/reset-password?token={token}"


def reset_password(*, token: str, password: str) -> None:
    """Set a new password, use up every link of the account and sign it out everywhere.

    The mailed link proves the address. ResetLinkInvalid when the token is unknown, used or too old.
    """
    links = PasswordReset.objects.filter(token_hash=_hash(token), used_at=None, expires_at__gt=timezone.now())
    link = links.filter(user__is_active=True).select_related("user").first()
    if link is None:
        raise ResetLinkInvalid
    password_hash = make_password(password)  # before the transaction: hashing is slow on purpose
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=link.user_id)
        now = timezone.now()
        if not links.update(used_at=now):
            raise ResetLinkInvalid
        user.password_resets.filter(used_at=None).update(used_at=now)
        user.password = password_hash
        user.save(update_fields=["password", "updated_at"])
        user.sessions.all().revoke()
        EmailAddress.objects.update_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
