"""The wallet provider, by HTTP: its subscriptions API (v1) at WALLETPAY_API_URL."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

import orjson
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
from billing.providers.http import exchange
from billing.providers.reading import MalformedPayload, decimal, iso_instant, listed, required, text
from billing.providers.walletpay_events import subscription_fact
from billing.providers.walletpay_token import TOKENS, Account
from config.errors import ProviderFailed, Unavailable
from config.http import Answer

INTERVALS = {BillingCycle.MONTHLY: "MONTH", BillingCycle.ANNUAL: "YEAR"}
PRODUCT_ID = "TECHNICAL-DEBT"
# Answers to a cancellation of what is over already.
ENDED_ALREADY = ("SUBSCRIPTION_STATUS_INVALID", "RESOURCE_NOT_FOUND")

log = structlog.get_logger("billing")


class NoPortal(Unavailable):
    message = "This payment provider has no customer portal; payers manage the subscription in their account there"


class Walletpay:
    """The verbs of `Provider` in the wallet provider's protocol."""

    name = PaymentProvider.WALLETPAY

    def __init__(self, *, api_url: str, client_id: str, client_secret: str) -> None:
        self.api_url = api_url.rstrip("/")
        self.client_id, self.client_secret = client_id, client_secret

    @classmethod
    def configured(cls) -> "Walletpay":
        """The client by the settings; ProviderNotConfigured without them."""
        given = settings.WALLETPAY_API_URL, settings.WALLETPAY_CLIENT_ID, settings.WALLETPAY_CLIENT_SECRET
        if not all(given):
            raise ProviderNotConfigured
        return cls(api_url=given[0], client_id=given[1], client_secret=given[2])

    def create_checkout(self, order: CheckoutOrder, *, key: str) -> str:
        """A subscription that waits for the payer's approval. The organization's id goes along as `custom_id`."""
        body = {
            "plan_id": order.price_id,
            "custom_id": order.organization_id,
            "subscriber": {"email_address": order.email},
            "application_context": {
                "user_action": "SUBSCRIBE_NOW",
                "return_url": order.success_url,
                "cancel_url": order.cancel_url,
            },
        }
        return _approval_url(self._call("POST", "/v1/billing/subscriptions", body, key=key))

    def portal_url(self, customer_id: str, *, return_url: str, key: str) -> str:
        """There is none."""
        raise NoPortal

    def fetch_subscription(self, subscription_id: str) -> SubscriptionFact:
        """GET /v1/billing/subscriptions/:id."""
        body = self._call("GET", _path(subscription_id))
        return replace(subscription_fact(body, datetime.now(UTC).replace(microsecond=0)), fetched=True)

    def fetch_payments(self, subscription_id: str, *, since: datetime) -> list[PaymentFact]:
        """The completed transactions of a subscription, oldest first."""
        span = {"start_time": _stamp(since), "end_time": _stamp(datetime.now(UTC))}
        items = listed(self._call("GET", f"{_path(subscription_id)}/transactions?{urlencode(span)}"), "transactions")
        done = [item for item in items if text(item, "status") == "COMPLETED"]
        return sorted((_payment(subscription_id, item) for item in done), key=lambda fact: fact.occurred_at)

    def cancel_at_period_end(self, subscription_id: str, *, key: str) -> SubscriptionFact | None:
        """The provider knows no such thing: nothing is sent until shortly before the period ends."""
        return None

    def keep(self, subscription_id: str, *, key: str) -> SubscriptionFact | None:
        """Nothing was sent yet, so nothing is to be taken back."""
        return None

    def change_plan(self, subscription_id: str, order: PlanChangeOrder, *, at: datetime, key: str) -> PlanChange:
        """Ask for the payer's approval of another plan; the plan moves when an event says so."""
        back = {"return_url": order.approved_url, "cancel_url": order.cancel_url}
        body = {"plan_id": order.price_id, "application_context": back}
        asked = self._call("POST", f"{_path(subscription_id)}/revise", body, key=key)
        return PlanChange(approval_url=_approval_url(asked))

    def cancel_now(self, subscription_id: str, *, key: str) -> None:
        """End it; one that is over or unknown is left alone."""
        path = f"{_path(subscription_id)}/cancel"
        answer = self._send("POST", path, {"reason": "Cancelled by the customer"}, key=key)
        if _says_ended(answer):
            log.info("subscription_gone_already", provider=str(self.name), subscription=subscription_id)
            return
        _require_success(answer)

    def ensure_price(self, plan: Plan, cycle: BillingCycle, amount: Decimal) -> str:
        """The provider's plan of this name and amount below our product; both are made when they are missing."""
        self._ensure_product()
        name = f"{plan.name} {cycle} {amount:.2f} {CURRENCY.upper()}"
        query = urlencode({"product_id": PRODUCT_ID, "page_size": 20, "page": 1})
        for each in listed(self._call("GET", f"/v1/billing/plans?{query}"), "plans"):
            if text(each, "name") == name and text(each, "status") in ("", "ACTIVE"):
                return required(each, "id")
        made = self._call("POST", "/v1/billing/plans", _plan_body(name, cycle, amount), key=f"plan:{name}")
        return required(made, "id")

    def _ensure_product(self) -> None:
        try:
            self._call("GET", f"/v1/catalogs/products/{PRODUCT_ID}")
        except UnknownAtProvider:
            body = {"id": PRODUCT_ID, "name": "Technical-debt analysis", "type": "SERVICE"}
            self._call("POST", "/v1/catalogs/products", body, key=f"product:{PRODUCT_ID}")

    def _call(self, method: str, path: str, body: Any = None, *, key: str = "") -> Mapping[str, Any]:
        answer = self._send(method, path, body, key=key)
        _require_success(answer)
        parsed = _parsed(answer)
        if not isinstance(parsed, Mapping):
            raise MalformedPayload("the answer is no object")
        return parsed

    def _send(self, method: str, path: str, body: Any = None, *, key: str = "") -> Answer:
        answer = self._send_once(method, path, body, key)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            # The kept token was withdrawn before its time.
            TOKENS.drop(self._account)
            answer = self._send_once(method, path, body, key)
        return answer

    def _send_once(self, method: str, path: str, body: Any, key: str) -> Answer:
        headers = {
            "Accept": "application/json",
            "Authorization": f"Bearer {self._token()}",
            "Prefer": "return=representation",
        }
        headers |= {name: hashlib.sha256(key.encode()).hexdigest() for name in settings.WALLETPAY_KEY_HEADERS if key}
        if body is not None:
            headers["Content-Type"] = "application/json"
        content = b"" if body is None else orjson.dumps(body)
        return exchange(method, self.api_url + path, headers=headers, content=content)

    @property
    def _account(self) -> Account:
        return self.api_url, self.client_id, self.client_secret

    def _token(self) -> str:
        if kept := TOKENS.get(self._account):
            return kept
        credentials = base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode()
        answer = exchange(
            "POST",
            f"{self.api_url}/v1/oauth2/token",
            headers={
                "Accept": "application/json",
                "Authorization": f"Basic {credentials}",
                "Content-Type": "application/x-www-form-urlencoded",
            },
            content=b"grant_type=client_credentials",
        )
        _require_success(answer)
        parsed = _parsed(answer)
        token = required(parsed, "access_token")
        TOKENS.keep(self._account, token, int(decimal(parsed, "expires_in")))
        return token


def _says_ended(answer: Answer) -> bool:
    refused = answer.status == 422 and any(issue.encode() in answer.body for issue in ENDED_ALREADY)
    return answer.status == 404 or refused


def _require_success(answer: Answer) -> None:
    if answer.status == 404:
        raise UnknownAtProvider
    if not 200 <= answer.status < 300:
        log.warning("provider_refused", provider="walletpay", status=answer.status)
        raise ProviderFailed("The payment provider refused the request; nothing was changed")


def _parsed(answer: Answer) -> Any:
    try:
        return orjson.loads(answer.body or b"{}")
    except orjson.JSONDecodeError as error:
        raise MalformedPayload("the answer is not JSON") from error


def _approval_url(body: Mapping[str, Any]) -> str:
    approvals = [link for link in listed(body, "links") if text(link, "rel") == "approve"]
    return required(approvals, "0.href")


def _payment(subscription_id: str, item: Mapping[str, Any]) -> PaymentFact:
    return PaymentFact(
        provider=PaymentProvider.WALLETPAY,
        subscription_id=subscription_id,
        occurred_at=iso_instant(item, "time") or datetime.now(UTC),
        invoice_id=required(item, "id"),
        amount=decimal(item, "amount_with_breakdown.gross_amount.value"),
        currency=text(item, "amount_with_breakdown.gross_amount.currency_code").lower(),
    )


def _plan_body(name: str, cycle: BillingCycle, amount: Decimal) -> dict[str, Any]:
    price = {"value": f"{amount:.2f}", "currency_code": CURRENCY.upper()}
    return {
        "product_id": PRODUCT_ID,
        "name": name,
        "status": "ACTIVE",
        "billing_cycles": [
            {
                "frequency": {"interval_unit": INTERVALS[cycle], "interval_count": 1},
                "tenure_type": "REGULAR",
                "sequence": 1,
                "total_cycles": 0,
                "pricing_scheme": {"fixed_price": price},
            }
        ],
        "payment_preferences": {"auto_bill_outstanding": True, "payment_failure_threshold": 3},
    }


def _path(subscription_id: str) -> str:
    return f"/v1/billing/subscriptions/{quote(subscription_id, safe='')}"


def _stamp(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
