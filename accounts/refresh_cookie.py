"""The refresh token in a cookie that scripts cannot read, for front ends that live in a browser.

Three things together keep other sites from using it: SameSite=Strict, a body that must be JSON (which no form can send
and a script on another origin only after a preflight), and the Origin check here, for pages on the same site but on
another origin.
"""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from accounts.tokens import InvalidToken
from config.errors import NotAllowed

# Browsers take a cookie with this prefix over TLS alone.
NAME = "__Secure-refresh" if settings.SERVED_OVER_TLS else "refresh"
PATH = f"{urlsplit(settings.BASE_URL).path}/auth/refresh"


class ForeignOrigin(NotAllowed):
    message = "The refresh cookie is not for pages of this origin"


def put(response: HttpResponseBase, token: str) -> None:
    """Hand out a refresh token as a cookie that travels to the refresh endpoint only."""
    response.set_cookie(NAME, token, max_age=settings.REFRESH_LIFETIME, **_scope())


def clear(response: HttpResponseBase) -> None:
    """Tell the browser to forget the cookie."""
    response.set_cookie(NAME, "", max_age=0, **_scope())


def read(request: HttpRequest) -> str:
    """The token that came as a cookie. InvalidToken without one, ForeignOrigin when another origin's page asks."""
    origin = request.headers.get("Origin")
    if origin and origin not in settings.CORS_ALLOWED_ORIGINS and urlsplit(origin).netloc != request.get_host():
        raise ForeignOrigin
    token = request.COOKIES.get(NAME)
    if not token:
        raise InvalidToken
    return token


def _scope() -> dict[str, Any]:
    return {"path": PATH, "httponly": True, "samesite": "Strict", "secure": settings.SERVED_OVER_TLS}
