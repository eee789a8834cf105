"""The wallet provider's resources and events as facts."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from billing.facts import Fact, PaymentFact, SubscriptionEnded, SubscriptionFact
from billing.models import PaymentProvider, SubscriptionStatus
from billing.providers.reading import MalformedPayload, at_path, decimal, iso_instant, required, text

STATUSES = {
    "APPROVAL_PENDING": SubscriptionStatus.PENDING,
    "APPROVED": SubscriptionStatus.PENDING,
    "ACTIVE": SubscriptionStatus.ACTIVE,
    "SUSPENDED": SubscriptionStatus.PAST_DUE,
    "CANCELLED": SubscriptionStatus.CANCELLED,
    "EXPIRED": SubscriptionStatus.CANCELLED,
}


def walletpay_facts(event: Mapping[str, Any], *, received_at: datetime | None = None) -> list[Fact]:
    """What an event says; nothing for a type that does not concern us. Raises MalformedPayload.

    An event is as old as its envelope says (`create_time`), else as its resource says, else as `received_at`.
    """
    read = READERS.get(text(event, "event_type"))
    body = at_path(event, "resource")
    if read is None:
        return []
    if not isinstance(body, Mapping):
        raise MalformedPayload("resource is missing")
    fact = read(body, _instant_of(event, body) or received_at or datetime.now(UTC))
    return [] if fact is None else [fact]


def subscription_fact(body: Mapping[str, Any], occurred_at: datetime) -> SubscriptionFact:
    """A subscription resource as a fact. A period runs from the last payment to the next one."""
    status = STATUSES.get(required(body, "status"))
    if status is None:
        raise MalformedPayload(f"status {text(body, 'status')!r} is unknown")
    started_at = iso_instant(body, "start_time", "create_time")
    period_end = iso_instant(body, "billing_info.next_billing_time")
    return SubscriptionFact(
        provider=PaymentProvider.WALLETPAY,
        subscription_id=required(body, "id"),
        occurred_at=occurred_at,
        status=status,
        price_id=required(body, "plan_id"),
        organization_id=text(body, "custom_id"),
        customer_id=text(body, "subscriber.payer_id"),
        period_start=iso_instant(body, "billing_info.last_payment.time", "start_time") if period_end else None,
        period_end=period_end,
        started_at=started_at,
    )


def _instant_of(event: Mapping[str, Any], body: Mapping[str, Any]) -> datetime | None:
    places = ("status_update_time", "update_time", "billing_info.last_payment.time", "create_time", "start_time")
    return iso_instant(event, "create_time") or iso_instant(body, *places)


def _subscription(body: Mapping[str, Any], occurred_at: datetime) -> Fact:
    fact = subscription_fact(body, occurred_at)
    if fact.status == SubscriptionStatus.CANCELLED:
        return _ended(body, occurred_at)
    return fact


def _ended(body: Mapping[str, Any], occurred_at: datetime) -> SubscriptionEnded:
    return SubscriptionEnded(
        provider=PaymentProvider.WALLETPAY,
        subscription_id=required(body, "id"),
        occurred_at=iso_instant(body, "status_update_time") or occurred_at,
        status=SubscriptionStatus.CANCELLED,
        organization_id=text(body, "custom_id"),
        price_id=text(body, "plan_id"),
    )


def _sale(body: Mapping[str, Any], occurred_at: datetime) -> PaymentFact | None:
    subscription_id = text(body, "billing_agreement_id")
    if not subscription_id or text(body, "state").lower() not in ("", "completed"):
        return None
    return PaymentFact(
        provider=PaymentProvider.WALLETPAY,
        subscription_id=subscription_id,
        occurred_at=iso_instant(body, "create_time") or occurred_at,
        invoice_id=required(body, "id"),
        amount=decimal(body, "amount.total", "amount.value"),
        currency=text(body, "amount.currency", "amount.currency_code").lower(),
        organization_id=text(body, "custom"),
    )


READERS: dict[str, Callable[[Mapping[str, Any], datetime], Fact | None]] = {
    "BILLING.SUBSCRIPTION.CREATED": _subscription,
    "BILLING.SUBSCRIPTION.ACTIVATED": _subscription,
    "BILLING.SUBSCRIPTION.UPDATED": _subscription,
    "BILLING.SUBSCRIPTION.SUSPENDED": _subscription,
    "BILLING.SUBSCRIPTION.CANCELLED": _ended,
    "BILLING.SUBSCRIPTION.EXPIRED": _ended,
    "PAYMENT.SALE.COMPLETED": _sale,
}
