"""What allauth's classes for this kind of code host need to be told: other addresses, and stricter reading."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.providers.github.provider import GitHubProvider
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from django.conf import settings
from django.http import HttpRequest


class Codehost1Adapter(GitHubOAuth2Adapter):
    """Every address comes from the configuration at the time of the call."""

    provider_id = "codehost1"
    authorize_url = property(lambda self: self._address("authorize_url"))
    access_token_url = property(lambda self: self._address("access_token_url"))
    profile_url = property(lambda self: self._address("profile_url"))
    emails_url = property(lambda self: self._address("emails_url"))

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        return f"{settings.BASE_URL}/auth/codehost1/callback"

    def _address(self, name: str) -> str:
        return str(self.get_provider().app.settings[name])


class Codehost1Provider(GitHubProvider):
    id = "codehost1"
    name = "Code host 1"
    oauth2_adapter_class = Codehost1Adapter

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        # The address of the public profile proves nothing; only the list of addresses tells which are verified.
        return {}

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        return {"name": data.get("name") or data.get("login"), "avatar_url": data.get("avatar_url")}

    def extract_email_addresses(self, data: dict[str, Any]) -> list[EmailAddress]:
        return [
            EmailAddress(email=row["email"], verified=row.get("verified") is True, primary=row.get("primary") is True)
            for row in data.get("emails", [])
        ]


provider_classes = [Codehost1Provider]
login = OAuth2LoginView.adapter_view(Codehost1Adapter)
callback = OAuth2CallbackView.adapter_view(Codehost1Adapter)
