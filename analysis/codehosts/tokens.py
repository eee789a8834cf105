"""The credentials of both code hosts: minted when they are needed, kept encrypted for their hour, told to nobody.

Code host 1 knows an App: a token signed by its key (RFC 7519, RS256) is changed for a token of one installation, which
reaches the repositories that were given to us there and nothing else. Code host 2 has one token of a service account.
"""

import base64
import hmac
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID

import jwt
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from analysis.codehosts.calls import HostFailed, HostRefused, call
from analysis.models import InstallationToken, Platform, Repository

# The host takes at most ten minutes, by its own clock.
APP_TOKEN_BACKDATED = timedelta(seconds=60)
APP_TOKEN_LIFETIME = timedelta(minutes=9)
# A token is renewed this long before it ends: the longest piece of work that may begin with it.
TOKEN_SLACK = timedelta(minutes=5)


def is_set_up(repository: Repository) -> bool:
    """Whether we may speak to the repository's code host in its name."""
    if repository.platform == Platform.CODEHOST1:
        has_app = settings.CODEHOST1_API_URL and settings.CODEHOST1_APP_ID and settings.CODEHOST1_PRIVATE_KEY
        return bool(has_app and repository.installation_id)
    has_account = settings.CODEHOST2_API_URL and settings.CODEHOST2_TOKEN
    return bool(repository.platform == Platform.CODEHOST2 and has_account and is_lent_to(repository.organization_id))


def is_lent_to(organization_id: UUID) -> bool:
    """Whether an organization may see what code host 2's one token can read: anybody can type a project's name."""
    lent = settings.CODEHOST2_ORGANIZATIONS
    return not lent or str(organization_id) in lent


def clone_authorization(repository: Repository) -> str | None:
    """The header line that lets git read the repository; None where we have no credentials for its address.

    HostFailed when the host does not give us a token now. The credentials go to the code host's own address only:
    whoever connects a repository may name any address to clone from.
    """
    if not is_set_up(repository) or not _is_at_its_host(repository):
        return None
    if repository.platform == Platform.CODEHOST1:
        return _basic("x-access-token", installation_token(repository.installation_id))
    return _basic("oauth2", settings.CODEHOST2_TOKEN)


def installation_token(installation_id: str) -> str:
    """A token of the installation that is good for some minutes at least. HostFailed when there is none to be had."""
    now = timezone.now()
    kept = InstallationToken.objects.filter(installation_id=installation_id, expires_at__gt=now + TOKEN_SLACK).first()
    opened = _opened(bytes(kept.sealed)) if kept else None
    return opened or _mint(installation_id, now)


def forget_token(installation_id: str) -> None:
    """The host no longer takes the kept token."""
    InstallationToken.objects.filter(installation_id=installation_id).delete()


def app_token(now: datetime) -> str:
    """Proves that we are the App."""
    claims = {"iss": settings.CODEHOST1_APP_ID, "iat": now - APP_TOKEN_BACKDATED, "exp": now + APP_TOKEN_LIFETIME}
    key = settings.CODEHOST1_PRIVATE_KEY.replace("\\n", "\n")  # environments often hold no line ends
    try:
        return jwt.encode(claims, key, algorithm="RS256")
    except (jwt.InvalidKeyError, ValueError, TypeError) as error:
        raise HostRefused("CODEHOST1_PRIVATE_KEY is no private key in PEM form") from error


def _mint(installation_id: str, now: datetime) -> str:
    url = f"{settings.CODEHOST1_API_URL.rstrip('/')}/app/installations/{installation_id}/access_tokens"
    given = call("POST", url, headers={"Authorization": f"Bearer {app_token(now)}"}, body={}).data
    try:
        token, expires_at = str(given["token"]), parse_datetime(given["expires_at"])
    except (KeyError, TypeError, ValueError) as error:
        raise HostFailed("The code host's answer held no token") from error
    if expires_at is None:
        raise HostFailed("The code host's answer held no token")
    row = InstallationToken(
        installation_id=installation_id, sealed=_safe().encrypt(token.encode()), expires_at=expires_at
    )
    InstallationToken.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["installation_id"], update_fields=["sealed", "expires_at"]
    )
    return token


def _safe() -> Fernet:
    """A key of its own, derived: with another SECRET_KEY what was kept cannot be read, and is minted again."""
    return Fernet(base64.urlsafe_b64encode(hmac.digest(settings.SECRET_KEY.encode(), b"code host tokens", "sha256")))


def _opened(sealed: bytes) -> str | None:
    try:
        return _safe().decrypt(sealed).decode()
    except InvalidToken:
        return None


def _is_at_its_host(repository: Repository) -> bool:
    host = settings.CODEHOST1_URL if repository.platform == Platform.CODEHOST1 else settings.CODEHOST2_URL
    return bool(host) and _origin(repository.clone_url) == _origin(host)


def _origin(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme.lower(), parts.netloc.lower()


def _basic(user: str, password: str) -> str:
    return f"Authorization: Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"
