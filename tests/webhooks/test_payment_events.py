"""Payment events come late, twice and in every order; the end state is that of the newest fact."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import orjson
import pytest
import time_machine
from django.utils import timezone

from billing.models import Payment, Subscription
from tests import factories
from tests.webhooks import deliveries
from webhooks import inbox
from webhooks.models import State, WebhookEvent

pytestmark = pytest.mark.django_db

PAYLOADS = Path(__file__).parent / "payloads"
CARD = (
    "customer.subscription.created",
    "customer.subscription.updated",
    "invoice.payment_succeeded",
    "invoice.payment_failed",
)
CARD_ENDED = (
    "customer.subscription.created",
    "customer.subscription.updated",
    "invoice.payment_succeeded",
    "customer.subscription.deleted",
)
WALLET = (
    "BILLING.SUBSCRIPTION.CREATED",
    "BILLING.SUBSCRIPTION.ACTIVATED",
    "PAYMENT.SALE.COMPLETED",
    "BILLING.SUBSCRIPTION.CANCELLED",
)


def in_short(order: Sequence[str]) -> str:
    return " ".join(kind.rpartition(".")[2].lower() for kind in order)


@pytest.fixture(autouse=True)
def prices(settings):
    settings.CARDPAY_PRICES = {"pro_monthly": "price_pro"}
    settings.WALLETPAY_PLANS = {"pro_monthly": "P-PRO"}


@pytest.fixture
def organization():
    return factories.organization(plan="free")


def payload(source: str, kind: str, organization: Any) -> dict[str, Any]:
    text = (PAYLOADS / source / f"{kind}.json").read_text()
    return orjson.loads(text.replace("<org_id>", str(organization.id)))


def deliver(source: str, kinds: Sequence[str], organization: Any) -> None:
    """Send each event twice, then work until nothing is left, through all the pauses that an early event needs."""
    for kind in kinds:
        event = payload(source, kind, organization)
        signed = deliveries.cardpay_bytes(orjson.dumps(event)) if source == "cardpay" else deliveries.walletpay(event)
        assert [signed.send().json()["duplicate"] for _ in range(2)] == [False, True]
        inbox.drain()
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for _ in range(inbox.MOST_ATTEMPTS):
            clock.shift(timedelta(hours=2))
            inbox.drain()


def all_done() -> bool:
    return not WebhookEvent.objects.exclude(state=State.DONE, handled=True).exists()


@pytest.mark.parametrize("order", list(permutations(CARD)), ids=in_short)
def test_the_newest_state_of_a_card_subscription_wins_in_any_order(organization, order):
    deliver("cardpay", order, organization)

    subscription = Subscription.objects.get()
    assert all_done(), list(WebhookEvent.objects.values_list("type", "error"))
    assert (subscription.status, subscription.cancel_at_period_end) == ("cancelling", True)
    assert [payment.invoice_id for payment in Payment.objects.all()] == ["in_1"]
    organization.refresh_from_db()
    assert organization.plan_id == "pro"


@pytest.mark.parametrize("order", list(permutations(CARD_ENDED)), ids=in_short)
def test_the_end_of_a_card_subscription_is_final_in_any_order(organization, order):
    deliver("cardpay", order, organization)

    subscription = Subscription.objects.get()
    assert all_done(), list(WebhookEvent.objects.values_list("type", "error"))
    assert subscription.status == "inactive"
    assert Payment.objects.count() == 1
    organization.refresh_from_db()
    assert organization.plan_id == "free"


@pytest.mark.parametrize("order", list(permutations(WALLET)), ids=in_short)
def test_the_end_of_a_wallet_subscription_is_final_in_any_order(organization, wallet, order, settings):
    deliver("walletpay", order, organization)

    subscription = Subscription.objects.get()
    assert all_done(), list(WebhookEvent.objects.values_list("type", "error"))
    assert subscription.status == "cancelled"
    assert Payment.objects.count() == 1
    organization.refresh_from_db()
    assert organization.plan_id == "free"


def test_a_completed_checkout_waits_for_a_provider_that_does_not_answer(organization, settings):
    settings.CARDPAY_API_URL, settings.CARDPAY_SECRET_KEY = "", ""

    deliveries.cardpay_bytes(orjson.dumps(payload("cardpay", "checkout.session.completed", organization))).send()
    inbox.drain()

    event = WebhookEvent.objects.get()
    assert (event.state, event.attempts) == (State.RECEIVED, 1)
    assert "not set up" in event.error


def test_a_price_that_is_in_no_table_is_kept_as_an_error(organization, settings):
    settings.CARDPAY_PRICES = {"pro_monthly": "another"}

    deliver("cardpay", ["customer.subscription.created"], organization)

    event = WebhookEvent.objects.get()
    assert (event.state, Subscription.objects.count()) == (State.DEAD, 0)
    assert "price_pro" in event.error
