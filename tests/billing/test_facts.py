"""Payment providers' events as facts: what each says, what says nothing to us, and what breaks their protocol."""

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from billing.facts import CheckoutCompleted, PaymentFact, PaymentFailure, SubscriptionEnded, SubscriptionFact
from billing.providers.cardpay_events import cardpay_facts
from billing.providers.reading import MalformedPayload
from billing.providers.walletpay_events import walletpay_facts

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
CARD_SUBSCRIPTION = {"id": "sub_1", "status": "active", "plan": "price_1"}
CARD_INVOICE = {"id": "in_1", "subscription": "sub_1", "currency": "usd", "amount_paid": 2900}
WALLET_SUBSCRIPTION = {"id": "I-1", "status": "ACTIVE", "plan_id": "P-1"}
WALLET_SALE = {"id": "S-1", "billing_agreement_id": "I-1", "amount": {"total": "29.00", "currency": "USD"}}


def card(kind: str, thing: Any) -> Any:
    return cardpay_facts({"type": kind, "data": {"object": thing}}, received_at=NOON)


def wallet(kind: str, thing: Any) -> Any:
    return walletpay_facts({"event_type": kind, "resource": thing}, received_at=NOON)


MONEY = {"invoice_id": "in_1", "amount": Decimal(29), "currency": "usd"}


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (CheckoutCompleted, {"organization_id": "org_1"}),
        (SubscriptionFact, {"status": "active", "price_id": "price_1"}),
        (SubscriptionEnded, {"status": "inactive"}),
        (PaymentFact, MONEY),
        (PaymentFailure, MONEY),
    ],
)
def test_a_fact_is_made_by_names_and_changed_by_nobody(kind: type[Any], fields: dict[str, Any]) -> None:
    named = {"provider": "cardpay", "subscription_id": "sub_1", "occurred_at": NOON, **fields}

    fact = kind(**named)

    assert fact in {kind(**named)}
    with pytest.raises(FrozenInstanceError):
        fact.occurred_at = NOON
    with pytest.raises(TypeError):
        kind(*named.values())


def test_what_an_event_does_not_say_of_money_is_the_plain_case() -> None:
    named = {"provider": "cardpay", "subscription_id": "sub_1", "occurred_at": NOON, **MONEY}

    payment, failure = PaymentFact(**named), PaymentFailure(**named)

    assert (payment.opens_period, payment.confirmed) == (True, False)
    assert (failure.attempt, failure.confirmed) == (1, False)


def test_types_that_do_not_concern_us_say_nothing() -> None:
    assert card("customer.created", {"id": "cus_1"}) == []
    assert wallet("CATALOG.PRODUCT.CREATED", {"id": "PROD-1"}) == []


@pytest.mark.parametrize("thing", [None, [], "sub_1", 7])
def test_an_event_without_its_object_is_malformed(thing: Any) -> None:
    with pytest.raises(MalformedPayload, match="is missing"):
        card("customer.subscription.updated", thing)
    with pytest.raises(MalformedPayload, match="is missing"):
        wallet("BILLING.SUBSCRIPTION.UPDATED", thing)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"status": "dancing"}, "status 'dancing' is unknown"),
        ({"status": None}, "status is missing"),
        ({"id": ""}, "id is missing"),
        ({"plan": None}, "items.data.0.price is missing"),
        ({"start_date": 10**20}, "start_date is no instant"),
    ],
)
def test_a_card_subscription_that_breaks_the_protocol(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(MalformedPayload, match=sentence):
        card("customer.subscription.updated", CARD_SUBSCRIPTION | changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"status": "DANCING"}, "status 'DANCING' is unknown"),
        ({"plan_id": None}, "plan_id is missing"),
        ({"start_time": "yesterday"}, "start_time is no instant"),
    ],
)
def test_a_wallet_subscription_that_breaks_the_protocol(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(MalformedPayload, match=sentence):
        wallet("BILLING.SUBSCRIPTION.UPDATED", WALLET_SUBSCRIPTION | changes)


@pytest.mark.parametrize("amount", ["much", "NaN", "Infinity"])
def test_an_amount_that_is_none_is_malformed(amount: str) -> None:
    with pytest.raises(MalformedPayload, match=r"amount\.total is no amount"):
        wallet("PAYMENT.SALE.COMPLETED", WALLET_SALE | {"amount": {"total": amount}})


@pytest.mark.parametrize(
    ("invoice", "amount"),
    [
        ({}, Decimal(29)),
        ({"currency": "jpy"}, Decimal(2900)),
        ({"amount_paid": "2900"}, Decimal(29)),
        ({"amount_paid": True}, Decimal(0)),
        ({"amount_paid": None}, Decimal(0)),
    ],
)
def test_an_amount_counts_minor_units_where_the_currency_has_some(invoice: dict[str, Any], amount: Decimal) -> None:
    (fact,) = card("invoice.payment_succeeded", CARD_INVOICE | invoice)

    assert isinstance(fact, PaymentFact)
    assert fact.amount == amount


SHARES = [
    {"proration": True},
    {"parent": {"subscription_item_details": {"proration": True}}},
    {"parent": {"invoice_item_details": {"proration": True}}},
]


@pytest.mark.parametrize("share", SHARES, ids=["before 2025", "of an item", "on its own"])
def test_a_renewal_after_a_change_of_plan_pays_for_the_new_period(share: dict[str, Any]) -> None:
    # The provider lists the shares of the change first; they are of the period that is over.
    shares = {"amount": -1450, "period": {"start": 1_000_500, "end": 1_001_000}, **share}
    renewal = {"amount": 9900, "proration": False, "period": {"start": 1_001_000, "end": 1_002_000}}
    period = {"period_start": 1_000_000, "period_end": 1_001_000}

    (fact,) = card("invoice.payment_succeeded", CARD_INVOICE | period | {"lines": {"data": [shares, renewal]}})

    assert isinstance(fact, PaymentFact)
    assert fact.period_start == datetime.fromtimestamp(1_001_000, UTC)
    assert fact.period_end == datetime.fromtimestamp(1_002_000, UTC)


@pytest.mark.parametrize("kind", ["invoice.payment_succeeded", "invoice.payment_failed"])
def test_an_invoice_of_no_subscription_says_nothing(kind: str) -> None:
    assert card(kind, CARD_INVOICE | {"subscription": None}) == []


@pytest.mark.parametrize(("mode", "count"), [("subscription", 1), ("", 1), ("payment", 0), ("setup", 0)])
def test_only_a_checkout_of_a_subscription_counts(mode: str, count: int) -> None:
    assert len(card("checkout.session.completed", {"mode": mode, "subscription": "sub_1"})) == count


@pytest.mark.parametrize(
    ("state", "count"), [("completed", 1), ("COMPLETED", 1), ("", 1), ("pending", 0), ("denied", 0)]
)
def test_only_a_completed_sale_counts(state: str, count: int) -> None:
    assert len(wallet("PAYMENT.SALE.COMPLETED", WALLET_SALE | {"state": state})) == count


def test_a_sale_of_no_subscription_says_nothing() -> None:
    assert wallet("PAYMENT.SALE.COMPLETED", WALLET_SALE | {"billing_agreement_id": None}) == []


@pytest.mark.parametrize(
    ("status", "kind"),
    [("active", SubscriptionFact), ("incomplete", SubscriptionFact), ("canceled", SubscriptionEnded)],
)
def test_an_update_of_a_card_subscription_may_be_its_end(status: str, kind: type) -> None:
    (fact,) = card("customer.subscription.updated", CARD_SUBSCRIPTION | {"status": status})

    assert isinstance(fact, kind)
    assert fact.occurred_at == NOON


@pytest.mark.parametrize(("status", "kind"), [("ACTIVE", SubscriptionFact), ("CANCELLED", SubscriptionEnded)])
def test_an_update_of_a_wallet_subscription_may_be_its_end(status: str, kind: type) -> None:
    (fact,) = wallet("BILLING.SUBSCRIPTION.UPDATED", WALLET_SUBSCRIPTION | {"status": status})

    assert isinstance(fact, kind)
    assert fact.occurred_at == NOON
