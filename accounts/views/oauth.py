"""Sign-in through a provider: out to its page, and back with a code."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import requests
import structlog
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.contrib.auth import SESSION_KEY
from django.core.cache import caches
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponseBase, QueryDict
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from accounts.adapters import to_app
from accounts.providers import configuration_of
from accounts.providers.codehost1 import provider as codehost1
from accounts.providers.idp2 import provider as idp2
from config.api.schema import describe, query
from config.errors import Unavailable

Step = Callable[[HttpRequest], HttpResponseBase]

STATE_LIFETIME = timedelta(minutes=10)
LOGIN: dict[str, Step] = {"codehost1": codehost1.login, "idp2": idp2.login}
CALLBACK: dict[str, Step] = {"codehost1": codehost1.callback, "idp2": idp2.callback}
# What a provider that is away, or that answers nonsense, makes of allauth's code.
PROVIDER_FAULTS = (
    requests.RequestException,
    OAuth2Error,
    ImproperlyConfigured,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
)

log = structlog.get_logger("oauth")


class NotConfigured(Unavailable):
    message = "Sign-in with this provider is not set up here"


class OAuthViewSet(ViewSet):
    """Two redirects a provider. Browsers come here, so no credential is looked at."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []
    provider = ""

    @property
    def operation_suffix(self) -> str:
        """Tells the operations of the two providers apart."""
        return self.provider

    @describe(
        "Start a sign-in with the provider",
        description="Open this address in the browser: it sends it on to the provider's page.",
        status=302,
        errors={503: NotConfigured.message},
    )
    def start(self, request: Request) -> HttpResponseBase:
        self._require_configuration()
        browser = request._request
        browser.GET = QueryDict()  # allauth would take scopes and parameters for the provider from strangers
        if SESSION_KEY not in browser.session:  # staff in the admin keep their longer session
            browser.session.set_expiry(STATE_LIFETIME)
        return self._guarded(LOGIN[self.provider], browser)

    @describe(
        "Finish a sign-in with the provider",
        description=(
            "The provider sends the browser here. It goes on to `{app_url}/auth/callback` with `token` and `refresh`, "
            "or with `error`: access_denied, invalid_state, email_unverified or provider_error."
        ),
        status=302,
        parameters=[
            query("code", about="From the provider."),
            query("state", about="As sent to the provider; it belongs to one browser and works once."),
            query("error", about="From the provider, instead of a code."),
        ],
        errors={503: NotConfigured.message},
    )
    def callback(self, request: Request) -> HttpResponseBase:
        self._require_configuration()
        refusal, state = request.query_params.get("error"), request.query_params.get("state")
        if refusal and not state:  # some providers forget the state when they refuse; nothing can be gained here
            return to_app(error="access_denied" if refusal == "access_denied" else "provider_error")
        if not state or not _is_first_use(state):
            return to_app(error="invalid_state")
        return self._guarded(CALLBACK[self.provider], request._request)

    def _require_configuration(self) -> None:
        if configuration_of(self.provider) is None:
            raise NotConfigured

    def _guarded(self, step: Step, browser: HttpRequest) -> HttpResponseBase:
        try:
            return step(browser)
        except PROVIDER_FAULTS as error:
            log.warning("the provider failed", provider=self.provider, error=type(error).__name__)
            return to_app(error="provider_error")


def _is_first_use(state: str) -> bool:
    # The state lies in the browser's session, where two callbacks at the same instant would both find it.
    key = f"oauth-state:{hashlib.sha256(state.encode()).hexdigest()}"
    counters: Any = caches["counters"]
    return bool(counters.count(key, keep=STATE_LIFETIME) == 1)
