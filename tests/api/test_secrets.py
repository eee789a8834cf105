"""Planted secrets come to light nowhere (C10): not in logs, rows, caches, letters' rows, or the bodies of errors.

Each secret goes where a person or a provider would put it, and things fail around it. What stands in logs, database,
Redis, clones and process lists while real processes die is looked at in the storm (tests/stress/storm.py).
"""

import logging
from itertools import count
from typing import Any

import pytest
from django.db import connection

from accounts import services
from accounts.models import Letter, SignInProvider
from organizations.services import invite_member
from organizations.services.invitations import mint_token
from tests import factories, logs
from tests.providers.cardpay import Cardpay
from tests.providers.loopback import serving
from tests.stress.leaks import found_in
from tests.webhooks import deliveries

MOODS = ["fails", "refuses", "lies"]


class Secrets:
    """Makes secrets that nothing else resembles, and remembers what each of them was."""

    def __init__(self) -> None:
        self.numbers, self.planted = count(1), dict[str, str]()

    def plant(self, what: str, shape: str = "{}") -> str:
        secret = shape.format(f"Planted{next(self.numbers):03}Secret")
        return self.keep(f"{what} {secret}", secret)

    def keep(self, what: str, secret: str) -> str:
        self.planted[what] = secret
        return secret


@pytest.fixture
def secrets() -> Secrets:
    return Secrets()


@pytest.fixture
def written(caplog: pytest.LogCaptureFixture) -> Any:
    """Everything that was logged, as it would be written."""
    caplog.set_level(logging.INFO)
    return lambda: "\n".join(logs.formatter().format(record) for record in caplog.records)


@pytest.mark.django_db
def test_planted_secrets_come_to_light_nowhere(
    secrets: Secrets, written: Any, owner: Any, organization: Any, anonymous: Any, settings: Any
) -> None:
    anonymous.raise_request_exception = False
    answers = [
        *_signing_in(secrets, anonymous, owner),
        *_inviting(secrets, anonymous, organization),
        *_delivering(secrets, anonymous, settings),
        *_connecting(secrets, owner, organization),
        *_paying(secrets, owner, organization, settings),
        *_asking_with_odd_credentials(secrets, anonymous),
    ]

    assert len(secrets.planted) >= 40
    errors = b"".join(answer.content for answer in answers if answer.status_code >= 400)
    assert errors
    assert list(found_in(errors, secrets.planted)) == []
    assert list(found_in(written(), secrets.planted)) == []
    assert list(found_in(_every_row(), secrets.planted)) == []
    assert list(found_in(str(list(Letter.objects.values())), secrets.planted)) == []


def _every_row() -> str:
    with connection.cursor() as cursor:
        text = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'select * from "{table}"')
            for row in cursor.fetchall():
                cells = (bytes(cell) if isinstance(cell, memoryview) else cell for cell in row)
                text.append(
                    " ".join(cell.decode("latin-1") if isinstance(cell, bytes) else str(cell) for cell in cells)
                )
    return "\n".join(text)


def _signing_in(secrets: Secrets, client: Any, owner: Any) -> Any:
    auth, password = "/v1/auth", secrets.plant("password")
    yield client.post(f"{auth}/signup", {"email": "eve@example.org", "name": "Eve", "password": password})
    yield client.post(f"{auth}/signup", {"email": "eve@example.org", "name": "Eve", "password": password})
    yield client.post(f"{auth}/signup", {"email": "no address", "name": "Eve", "password": secrets.plant("password")})
    yield client.post(f"{auth}/signup", {"email": "f@example.org", "password": secrets.plant("password")})
    yield client.post(f"{auth}/login", {"email": "eve@example.org", "password": secrets.plant("wrong password")})
    yield client.post(f"{auth}/login", {"email": secrets.plant("a password typed as address"), "password": password})
    yield client.post(f"{auth}/login", {"password": secrets.plant("password alone")})
    pair = services.open_session(user=owner, provider=SignInProvider.EMAIL)
    secrets.keep("access token", pair.access)
    secrets.keep("refresh token", pair.refresh)
    fresh = client.post(f"{auth}/refresh", {"refreshToken": pair.refresh})
    secrets.keep("second refresh token", fresh.json()["refreshToken"])
    secrets.keep("second access token", fresh.json()["accessToken"])
    yield client.post(f"{auth}/refresh", {"refreshToken": pair.refresh})
    yield client.post(f"{auth}/refresh", {"refreshToken": secrets.plant("no token")})
    link = services.mint_reset(email=owner.email).partition("=")[2]
    secrets.keep("reset token", link)
    yield client.post(
        f"{auth}/reset-password", {"token": link, "newPassword": secrets.keep("a weak one", "plantedwithoutadigit")}
    )
    yield client.post(f"{auth}/reset-password", {"token": link, "newPassword": secrets.plant("new password")})
    yield client.post(f"{auth}/reset-password", {"token": link, "newPassword": secrets.plant("new password")})
    yield client.post(f"{auth}/reset-password", {"token": secrets.plant("no link"), "newPassword": password})
    yield client.get(f"{auth}/codehost1/callback?code={secrets.plant('code')}&state={secrets.plant('state')}")


def _inviting(secrets: Secrets, client: Any, organization: Any) -> Any:
    guest = invite_member(organization=organization, email="guest@example.org", actor=organization.owner.user)
    token = secrets.keep("invitation", mint_token(guest.pk) or "")
    yield client.post(f"/v1/orgs/invitations/{token}/accept")
    yield client.post(f"/v1/orgs/invitations/{secrets.plant('no invitation')}/accept")


def _delivering(secrets: Secrets, client: Any, settings: Any) -> Any:
    settings.CARDPAY_WEBHOOK_SECRETS = [secrets.plant("webhook secret", "whsec_{}"), secrets.plant("older secret")]
    settings.CODEHOST1_WEBHOOK_SECRET = secrets.plant("webhook secret")
    settings.CODEHOST2_WEBHOOK_TOKEN = secrets.plant("webhook token")
    for secret in settings.CARDPAY_WEBHOOK_SECRETS:
        yield deliveries.cardpay(secret=secret).send()
    yield deliveries.cardpay(secret=secrets.plant("foreign secret")).send()
    good = deliveries.codehost2("Push Hook", {"ref": "refs/heads/main"})
    for token in (settings.CODEHOST2_WEBHOOK_TOKEN, secrets.plant("foreign token")):
        yield deliveries.Signed(good.source, {**good.headers, "codehost2-token": token}, good.body).send()
        yield deliveries.Signed(good.source, {**good.headers, "codehost2-token": token}, b"no json").send()
    yield deliveries.codehost1("push", {"ref": "x"}).send()


def _connecting(secrets: Secrets, owner: Any, organization: Any) -> Any:
    client = _signed_in(secrets, owner)
    for shape in ("https://user:{}@code.example.org/a.git", "https://{}@code.example.org/a.git", "ssh://git:{}@a/b"):
        address = shape.format(secrets.plant("password in an address"))
        body = {"orgId": str(organization.pk), "fullName": "acme/a", "platform": "git", "cloneUrl": address}
        yield client.post("/v1/api/repos", body)


def _paying(secrets: Secrets, owner: Any, organization: Any, settings: Any) -> Any:
    client = _signed_in(secrets, owner)
    body = {"orgId": str(organization.pk), "planId": "team", "billingCycle": "monthly"}
    settings.CARDPAY_PRICES, settings.WALLETPAY_PLANS = {"team_monthly": "price_1"}, {"team_monthly": "P-1"}
    with serving(Cardpay) as provider:
        for mood in MOODS:
            provider.mood = mood
            settings.CARDPAY_API_URL, settings.CARDPAY_SECRET_KEY = provider.url, secrets.plant("key", "sk_{}")
            settings.WALLETPAY_API_URL, settings.WALLETPAY_CLIENT_ID = provider.url, "client"
            settings.WALLETPAY_CLIENT_SECRET = secrets.plant("client secret")
            yield client.post("/v1/billing/checkout", body)
            yield client.post("/v1/billing/walletpay/checkout", body)
    settings.CARDPAY_API_URL = f"http://user:{secrets.plant('password of a proxy')}@127.0.0.1:9"
    yield client.post("/v1/billing/checkout", body)


def _asking_with_odd_credentials(secrets: Secrets, client: Any) -> Any:
    for shape in ("Bearer {}", "Basic {}", "Token {}", "{}", "Bearer a.{}.c"):
        yield client.get("/v1/auth/me", HTTP_AUTHORIZATION=secrets.plant("credential", "{}").join(shape.split("{}")))
    yield client.get(f"/v1/nothing/{secrets.plant('path')}")
    yield client.get(f"/v1/orgs?token={secrets.plant('query')}")
    yield client.get("/v1/orgs", HTTP_COOKIE=f"session={secrets.plant('cookie')}")
    yield client.post(
        "/v1/auth/login", b'{"password": "' + secrets.plant("broken body").encode(), content_type="application/json"
    )


def _signed_in(secrets: Secrets, owner: Any) -> Any:
    pair = services.open_session(user=owner, provider=SignInProvider.EMAIL)
    secrets.keep(f"access token {len(secrets.planted)}", pair.access)
    made = factories.client(pair.access)
    made.raise_request_exception = False
    return made
