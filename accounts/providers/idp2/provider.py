"""What allauth's OpenID Connect classes need to be told, and two checks of the protocol that they leave out."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest


class Idp2Adapter(OpenIDConnectOAuth2Adapter):
    def __init__(self, request: HttpRequest, provider_id: str = "idp2") -> None:
        super().__init__(request, provider_id)

    @property
    def openid_config(self) -> dict[str, Any]:
        """The provider's own description; its issuer must be ours (OpenID Connect Discovery 1.0, section 4.3)."""
        config: dict[str, Any] = super().openid_config
        if config["issuer"].rstrip("/") != settings.IDP2_ISSUER.rstrip("/"):
            raise OAuth2Error("The discovered issuer is not the configured one")
        return config

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        return f"{settings.BASE_URL}/auth/idp2/callback"


class Idp2Provider(OpenIDConnectProvider):
    id = "idp2"
    name = "Identity provider 2"
    oauth2_adapter_class = Idp2Adapter

    def extract_uid(self, data: dict[str, Any]) -> str:
        """The subject, which identity token and profile must agree on (OpenID Connect Core 1.0, section 5.3.2)."""
        subject = data["id_token"]["sub"]
        if data["userinfo"]["sub"] != subject:
            raise OAuth2Error("The profile is somebody else's")
        return str(subject)

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        return {}

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        profile = data["userinfo"]
        return {
            "name": profile.get("name") or profile.get("preferred_username"),
            "avatar_url": profile.get("picture"),
        }

    def extract_email_addresses(self, data: dict[str, Any]) -> list[EmailAddress]:
        profile = data["userinfo"]
        if not profile.get("email"):
            return []
        return [EmailAddress(email=profile["email"], verified=profile.get("email_verified") is True, primary=True)]


provider_classes = [Idp2Provider]
login = OAuth2LoginView.adapter_view(Idp2Adapter)
callback = OAuth2CallbackView.adapter_view(Idp2Adapter)
