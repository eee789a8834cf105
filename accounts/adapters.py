"""Where allauth's handshake ends and our accounts begin.

allauth sends the browser to the provider, keeps the state in the browser's session, exchanges the code and reads the
profile. What follows from a profile is decided by `services.sign_in_with_provider`, and every end, good or bad, is a
redirect to the front end.
"""

from typing import Any
from urllib.parse import urlencode

import structlog
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthError
from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect

from accounts import services
from accounts.models import SignInProvider
from accounts.providers import configuration_of
from accounts.providers.http import BoundedSession
from config.api.rates import client_address

log = structlog.get_logger("oauth")


class SignInAdapter(DefaultSocialAccountAdapter):
    """Our side of the handshake."""

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[SocialApp]:
        """The configured client of one provider; never one from the database, where a secret would lie open."""
        configuration = configuration_of(str(provider))
        names = {"provider": provider, "provider_id": provider, "name": provider}
        return [SocialApp(**names, **configuration)] if configuration else []

    def get_requests_session(self) -> BoundedSession:
        return BoundedSession()

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """The provider vouches for somebody: sign that person in, and leave allauth's flow here."""
        account = sociallogin.account
        profile = services.Profile(
            provider=SignInProvider(account.provider),
            uid=account.uid,
            emails=[row.email.lower() for row in sociallogin.email_addresses if row.verified],
            name=account.extra_data.get("name"),
            avatar_url=account.extra_data.get("avatar_url"),
        )
        try:
            pair = services.sign_in_with_provider(profile=profile, address=client_address(request) or None)
        except services.EmailUnverified:
            raise ImmediateHttpResponse(to_app(error="email_unverified")) from None
        except services.AccountDisabled:
            raise ImmediateHttpResponse(to_app(error="access_denied")) from None
        raise ImmediateHttpResponse(to_app(token=pair.access, refresh=pair.refresh))

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Tell the front end which of the contract's four errors it was."""
        if error == AuthError.CANCELLED:
            reason = "access_denied"
        elif "state" not in (extra_context or {}):
            reason = "invalid_state"
        else:
            reason = "provider_error"
        log.warning("sign-in failed", provider=provider.id, reason=reason, error=type(exception).__name__)
        raise ImmediateHttpResponse(to_app(error=reason))


def to_app(**query: str) -> HttpResponseRedirect:
    """Back to the front end's callback. The address holds tokens: no cache keeps it and no later page learns it."""
    response = HttpResponseRedirect(f"{settings.APP_URL}/auth/callback?{urlencode(query)}")
    response["Cache-Control"] = "no-store"
    response["Referrer-Policy"] = "no-referrer"
    return response
