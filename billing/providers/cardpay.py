"""The card provider, through its official client pointed at CARDPAY_API_URL."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import stripe
import structlog
from django.conf import settings

from billing.facts import PaymentFact, SubscriptionFact
from billing.models import BillingCycle, PaymentProvider, Plan
from billing.prices import CURRENCY
from billing.providers.base import (
    CheckoutOrder,
    PlanChange,
    PlanChangeOrder,
    ProviderNotConfigured,
    UnknownAtProvider,
)
from billing.providers.cardpay_events import payment_fact, subscription_fact
from billing.providers.http import exchange
from billing.providers.reading import MalformedPayload, at_path, listed, required, text, unix_instant
from config.errors import ProviderFailed

INTERVALS = {BillingCycle.MONTHLY: "month", BillingCycle.ANNUAL: "year"}
MISSING = "resource_missing"

log = structlog.get_logger("billing")
# The client writes a line for every call and quotes the provider's error messages; ours say enough.
logging.getLogger("stripe").setLevel(logging.WARNING)


class _Transport(stripe.HTTPClient):
    """The official client's requests over our bounded exchange."""

    name = "bounded"

    def request(
        self, method: str, url: str, headers: Mapping[str, str] | None, post_data: Any = None, **_: Any
    ) -> tuple[str, int, Mapping[str, str]]:
        content = post_data if isinstance(post_data, bytes) else (post_data or "").encode()
        answer = exchange(method.upper(), url, headers=headers or {}, content=content)
        return answer.body.decode("utf-8", "replace"), answer.status, answer.headers

    def close(self) -> None:
        """Nothing is kept open between exchanges."""


class Cardpay:
    """The verbs of `Provider` in the card provider's protocol."""

    name = PaymentProvider.CARDPAY

    def __init__(self, *, api_url: str, secret_key: str) -> None:
        self.client = stripe.StripeClient(
            secret_key, base_addresses={"api": api_url.rstrip("/")}, http_client=_Transport(), max_network_retries=0
        )

    @classmethod
    def configured(cls) -> "Cardpay":
        """The client by the settings; ProviderNotConfigured without them."""
        if not (settings.CARDPAY_API_URL and settings.CARDPAY_SECRET_KEY):
            raise ProviderNotConfigured
        return cls(api_url=settings.CARDPAY_API_URL, secret_key=settings.CARDPAY_SECRET_KEY)

    def create_checkout(self, order: CheckoutOrder, *, key: str) -> str:
        """A hosted page for a subscription. The organization's id goes along on the session and on the subscription."""
        buyer = {"customer": order.customer_id} if order.customer_id else {"customer_email": order.email}
        session = self._call(
            "post",
            "/v1/checkout/sessions",
            key=key,
            mode="subscription",
            line_items=[{"price": order.price_id, "quantity": 1}],
            client_reference_id=order.organization_id,
            metadata={"orgId": order.organization_id},
            subscription_data={"metadata": {"orgId": order.organization_id}},
            success_url=order.success_url,
            cancel_url=order.cancel_url,
            **buyer,
        )
        return required(session, "url")

    def portal_url(self, customer_id: str, *, return_url: str, key: str) -> str:
        """A session of the customer portal."""
        session = self._call(
            "post", "/v1/billing_portal/sessions", key=key, customer=customer_id, return_url=return_url
        )
        return required(session, "url")

    def fetch_subscription(self, subscription_id: str) -> SubscriptionFact:
        """GET /v1/subscriptions/:id."""
        return _fact(self._call("get", _path(subscription_id)))

    def fetch_payments(self, subscription_id: str, *, since: datetime) -> list[PaymentFact]:
        """The paid invoices of a subscription, oldest first; of its 100 newest invoices."""
        invoices = listed(self._call("get", "/v1/invoices", subscription=subscription_id, limit=100), "data")
        paid = [invoice for invoice in invoices if text(invoice, "status") in ("", "paid")]
        facts = [payment_fact(invoice, _paid_at(invoice)) for invoice in reversed(paid) if _paid_at(invoice) >= since]
        return [fact for fact in facts if fact and fact.amount > 0]

    def cancel_at_period_end(self, subscription_id: str, *, key: str) -> SubscriptionFact | None:
        """Let it run out."""
        body = self._call("post", _path(subscription_id), key=key, cancel_at_period_end=True)
        return replace(_fact(body), cancel_at_period_end=True)

    def keep(self, subscription_id: str, *, key: str) -> SubscriptionFact | None:
        """Let it go on."""
        body = self._call("post", _path(subscription_id), key=key, cancel_at_period_end=False)
        return replace(_fact(body), cancel_at_period_end=False)

    def change_plan(self, subscription_id: str, order: PlanChangeOrder, *, at: datetime, key: str) -> PlanChange:
        """Move the subscription's item to another price, prorated at the instant that our own figures are computed
        for. One that stands at that price already was moved by a call whose answer was lost: it is left alone."""
        present = self._call("get", _path(subscription_id))
        if text(present, "items.data.0.price") == order.price_id:
            return PlanChange(fact=_fact(present))
        # Without the id of the item that is there a second one would be added, and both would be charged.
        item = {"id": required(present, "items.data.0.id"), "price": order.price_id}
        body = self._call("post", _path(subscription_id), key=key, items=[item], proration_date=int(at.timestamp()))
        return PlanChange(fact=replace(_fact(body), price_id=order.price_id))

    def cancel_now(self, subscription_id: str, *, key: str) -> None:
        """DELETE /v1/subscriptions/:id; one that is gone counts as ended."""
        try:
            self._call("delete", _path(subscription_id), key=key)
        except UnknownAtProvider:
            log.info("subscription_gone_already", provider=str(self.name), subscription=subscription_id)

    def ensure_price(self, plan: Plan, cycle: BillingCycle, amount: Decimal) -> str:
        """The active recurring price of this amount on the plan's product; both are made when they are missing."""
        product_id = f"technical-debt-{plan.pk}"
        try:
            self._call("get", f"/v1/products/{product_id}")
        except UnknownAtProvider:
            self._call("post", "/v1/products", key=f"product:{product_id}", id=product_id, name=plan.name)
        cents = int(amount * 100)
        prices = self._call("get", "/v1/prices", product=product_id, active=True, type="recurring", limit=100)
        for price in listed(prices, "data"):
            same_cycle = text(price, "recurring.interval") == INTERVALS[cycle]
            if same_cycle and at_path(price, "unit_amount") == cents and text(price, "currency") == CURRENCY:
                return required(price, "id")
        made = self._call(
            "post",
            "/v1/prices",
            key=f"price:{product_id}:{cycle}:{cents}",
            product=product_id,
            unit_amount=cents,
            currency=CURRENCY,
            recurring={"interval": INTERVALS[cycle]},
            metadata={"planId": plan.pk, "billingCycle": cycle},
        )
        return required(made, "id")

    def _call(self, method: str, path: str, *, key: str = "", **params: Any) -> Mapping[str, Any]:
        options = {"idempotency_key": key} if key else {}
        try:
            answer: Any = self.client.raw_request(method, path, **params, **options)
        except stripe.InvalidRequestError as error:
            if error.code == MISSING or error.http_status == 404:
                log.info("unknown_at_provider", provider=str(self.name), param=error.param)
                raise UnknownAtProvider from error
            raise _refused(error) from error
        except stripe.StripeError as error:
            raise _refused(error) from error
        if not isinstance(answer.data, Mapping):
            raise MalformedPayload("the answer is no object")
        return answer.data


def _refused(error: stripe.StripeError) -> ProviderFailed:
    # The provider's own words may quote the request; they go to the log by code only.
    log.warning("provider_refused", provider="cardpay", status=error.http_status, code=error.code)
    return ProviderFailed("The payment provider refused the request; nothing was changed")


def _path(subscription_id: str) -> str:
    return f"/v1/subscriptions/{quote(subscription_id, safe='')}"


def _fact(body: Mapping[str, Any]) -> SubscriptionFact:
    return replace(subscription_fact(body, datetime.now(UTC).replace(microsecond=0)), fetched=True)


def _paid_at(invoice: Mapping[str, Any]) -> datetime:
    return unix_instant(invoice, "status_transitions.paid_at", "created", "date") or datetime.fromtimestamp(0, UTC)
