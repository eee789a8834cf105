"""The two OAuth sign-ins: which of them are configured, and with what."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings


def configuration_of(provider: str) -> dict[str, Any] | None:
    """Client id, secret and addresses of a provider, as allauth wants them; None until all its variables are set."""
    return {"codehost1": _codehost1, "idp2": _idp2}[provider]()


def available() -> list[dict[str, str]]:
    """Id and host name of each provider that is set up."""
    hosts = {"codehost1": settings.CODEHOST1_URL, "idp2": settings.IDP2_ISSUER}
    return [
        {"id": provider, "name": urlsplit(address).hostname or provider}
        for provider, address in hosts.items()
        if configuration_of(provider)
    ]


def _codehost1() -> dict[str, Any] | None:
    web, api = settings.CODEHOST1_URL.rstrip("/"), settings.CODEHOST1_API_URL.rstrip("/")
    if not (web and api and settings.CODEHOST1_CLIENT_ID and settings.CODEHOST1_CLIENT_SECRET):
        return None
    addresses = {
        "authorize_url": f"{web}/login/oauth/authorize",
        "access_token_url": f"{web}/login/oauth/access_token",
        "profile_url": f"{api}/user",
        "emails_url": f"{api}/user/emails",
    }
    return {
        "client_id": settings.CODEHOST1_CLIENT_ID,
        "secret": settings.CODEHOST1_CLIENT_SECRET,
        "settings": {**addresses, "scope": settings.CODEHOST1_SCOPES, "oauth_pkce_enabled": True},
    }


def _idp2() -> dict[str, Any] | None:
    if not (settings.IDP2_ISSUER and settings.IDP2_CLIENT_ID and settings.IDP2_CLIENT_SECRET):
        return None
    return {
        "client_id": settings.IDP2_CLIENT_ID,
        "secret": settings.IDP2_CLIENT_SECRET,
        "settings": {"server_url": settings.IDP2_ISSUER.rstrip("/"), "oauth_pkce_enabled": True},
    }
