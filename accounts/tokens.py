"""Access and refresh tokens: JSON Web Tokens (RFC 7519) that carry the id of their session.

Claims of both: `sub` (user), `sid` (session), `jti`, `iat`, `exp`, `type`. One algorithm and one key; whatever a
token's header asks for is ignored.
"""

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings
from rest_framework_simplejwt.exceptions import TokenError
from rest_framework_simplejwt.tokens import Token

from accounts.models import Session
from config.errors import NotAuthenticated

LONGEST_TOKEN = 2048
TOKENS_REMEMBERED = 2000  # by each process, of those that were found genuine


class InvalidToken(NotAuthenticated):
    """Forged, expired, malformed, of the wrong kind, or of a session that has ended."""


class Access(Token):
    """Proves a session for some minutes."""

    token_type = "access"  # noqa: S105 - the name of a kind
    lifetime = settings.ACCESS_LIFETIME


class Refresh(Token):
    """Buys one new pair."""

    token_type = "refresh"  # noqa: S105 - the name of a kind
    lifetime = settings.REFRESH_LIFETIME


@dataclass(frozen=True)
class Pair:
    """What a sign-in or a refresh hands out."""

    access: str
    refresh: str


@dataclass(frozen=True)
class Claims:
    """What a token says that was found genuine."""

    user_id: UUID
    session_id: UUID
    jti: str
    expires_at: float  # seconds since 1970


def read_access(raw: bytes) -> Claims:
    """`read` for access tokens: callers come with the same one for a quarter of an hour, and its signature is checked
    once. Its expiry is checked each time."""
    claims = _read_before(raw)
    if claims.expires_at <= time.time():
        raise InvalidToken
    return claims


@lru_cache(maxsize=TOKENS_REMEMBERED)
def _read_before(raw: bytes) -> Claims:
    return read(Access, raw)


def read(kind: type[Token], raw: str | bytes) -> Claims:
    """Check signature, expiry, kind and shape; InvalidToken when anything is wrong.

    Whether the session still lives is for the caller to ask.
    """
    if len(raw) > LONGEST_TOKEN:
        raise InvalidToken
    try:
        token: Any = kind(raw)  # type: ignore[arg-type]  # simplejwt annotates an encoded token as a Token
        if not isinstance(token["iat"], int):
            raise InvalidToken
        user, session = UUID(token["sub"]), UUID(token["sid"])
        return Claims(user_id=user, session_id=session, jti=str(token["jti"]), expires_at=float(token["exp"]))
    except (TokenError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise InvalidToken from error


def new_refresh(session_id: UUID, user_id: UUID) -> Refresh:
    """A refresh token, not yet written down in its session."""
    token = Refresh()
    token["sub"], token["sid"] = str(user_id), str(session_id)
    return token


def pair_of(session: Session, refresh: Refresh) -> Pair:
    """The refresh token with a new access token of the same session."""
    access = Access()
    access["sub"], access["sid"] = str(session.user_id), str(session.pk)
    return Pair(access=str(access), refresh=str(refresh))
