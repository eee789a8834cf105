"""The authentication endpoints."""

from accounts.views.entrance import EntranceViewSet
from accounts.views.oauth import OAuthViewSet
from accounts.views.sessions import SessionViewSet

__all__ = ["EntranceViewSet", "OAuthViewSet", "SessionViewSet"]
