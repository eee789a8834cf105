"""Both providers on the loopback, and organizations that pay through them."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from accounts.models import User
from billing.facts import SubscriptionFact
from billing.models import Subscription
from billing.providers import provider_for
from billing.services.inflow import record
from organizations.models import Organization
from tests import factories
from tests.providers.cardpay import Cardpay
from tests.providers.loopback import serving
from tests.providers.walletpay import Walletpay

PLANS = ["solo", "pro", "team", "enterprise"]


@pytest.fixture(autouse=True)
def price_tables(settings: Any) -> None:
    cycles = ["monthly", "annual"]
    settings.CARDPAY_PRICES = {f"{plan}_{cycle}": f"price_{plan}_{cycle}" for plan in PLANS for cycle in cycles}
    settings.WALLETPAY_PLANS = {f"{plan}_{cycle}": f"P-{plan}-{cycle}".upper() for plan in PLANS for cycle in cycles}


@pytest.fixture
def cardpay(settings: Any) -> Iterator[Cardpay]:
    with serving(Cardpay) as server:
        settings.CARDPAY_API_URL, settings.CARDPAY_SECRET_KEY = server.url, "sk_test_1"
        yield server


@pytest.fixture
def walletpay(settings: Any) -> Iterator[Walletpay]:
    with serving(Walletpay) as server:
        settings.WALLETPAY_API_URL = server.url
        settings.WALLETPAY_CLIENT_ID, settings.WALLETPAY_CLIENT_SECRET = "client", "secret"
        yield server


@pytest.fixture
def organization(owner: User, admin: User, member: User) -> Organization:
    """Owner, admin and member together; nothing bought yet."""
    made: Organization = factories.organization(owner=owner, admins=[admin], members=[member], plan="free")
    return made


def known(provider: str, subscription_id: str, **changes: Any) -> Subscription:
    """Our row of a subscription that stands at the loopback provider."""
    fact: SubscriptionFact = provider_for(provider).fetch_subscription(subscription_id)
    record([replace(fact, **{"fetched": False, **changes})])
    return Subscription.objects.get(provider=provider, external_id=subscription_id)


@pytest.fixture
def by_card(cardpay: Cardpay, organization: Organization) -> Subscription:
    """The organization pays for pro, monthly, by card; the period began ten days ago."""
    start = int(time.time()) - 10 * 86400
    return known("cardpay", cardpay.subscribe(str(organization.pk), start=start)["id"])


@pytest.fixture
def by_wallet(walletpay: Walletpay, organization: Organization) -> Subscription:
    """The organization pays for pro, monthly, by wallet."""
    return known("walletpay", walletpay.subscribe(str(organization.pk))["id"])
