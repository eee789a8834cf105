"""The card provider's objects and events as facts.

Two generations of its API are read: period dates stand on the subscription or on its first item, an invoice names its
subscription at the top or under `parent.subscription_details`.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from billing.facts import CheckoutCompleted, Fact, PaymentFact, PaymentFailure, SubscriptionEnded, SubscriptionFact
from billing.models import PaymentProvider, SubscriptionStatus
from billing.providers.reading import MalformedPayload, at_path, decimal, listed, required, text, unix_instant

STATUSES = {
    "active": SubscriptionStatus.ACTIVE,
    "trialing": SubscriptionStatus.ACTIVE,
    "past_due": SubscriptionStatus.PAST_DUE,
    "unpaid": SubscriptionStatus.PAST_DUE,
    "paused": SubscriptionStatus.PAST_DUE,
    "incomplete": SubscriptionStatus.PENDING,
    "incomplete_expired": SubscriptionStatus.INACTIVE,
    "canceled": SubscriptionStatus.INACTIVE,
}
# Invoices of these kinds charge for a part of a running period.
WITHIN_A_PERIOD = {"subscription_update", "subscription_threshold", "manual"}
# Currencies without minor units (ISO 4217), where the provider counts whole ones.
WITHOUT_MINOR_UNITS = frozenset(
    ("bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "ugx", "vnd", "vuv", "xaf", "xof", "xpf")
)


def cardpay_facts(event: Mapping[str, Any], *, received_at: datetime | None = None) -> list[Fact]:
    """What an event says; nothing for a type that does not concern us. Raises MalformedPayload.

    `received_at` dates an event that carries no `created`.
    """
    read = READERS.get(text(event, "type"))
    body = at_path(event, "data.object")
    if read is None:
        return []
    if not isinstance(body, Mapping):
        raise MalformedPayload("data.object is missing")
    fact = read(body, unix_instant(event, "created") or received_at or datetime.now(UTC))
    return [] if fact is None else [fact]


def subscription_fact(body: Mapping[str, Any], occurred_at: datetime) -> SubscriptionFact:
    """A subscription object as a fact."""
    status = STATUSES.get(required(body, "status"))
    if status is None:
        raise MalformedPayload(f"status {text(body, 'status')!r} is unknown")
    return SubscriptionFact(
        provider=PaymentProvider.CARDPAY,
        subscription_id=required(body, "id"),
        occurred_at=occurred_at,
        status=status,
        price_id=required(body, "items.data.0.price", "items.data.0.plan", "plan"),
        organization_id=text(body, "metadata.orgId"),
        customer_id=text(body, "customer"),
        cancel_at_period_end=bool(body.get("cancel_at_period_end")) or bool(body.get("cancel_at")),
        period_start=unix_instant(body, "current_period_start", "items.data.0.current_period_start"),
        period_end=unix_instant(body, "current_period_end", "items.data.0.current_period_end"),
        started_at=unix_instant(body, "start_date", "created"),
    )


def payment_fact(invoice: Mapping[str, Any], occurred_at: datetime) -> PaymentFact | None:
    """A paid invoice as a fact; None for one that belongs to no subscription."""
    subscription_id = _subscription_of(invoice)
    if not subscription_id:
        return None
    opens_period = text(invoice, "billing_reason") not in WITHIN_A_PERIOD
    start, end = _period_of(invoice) if opens_period else (None, None)
    return PaymentFact(
        provider=PaymentProvider.CARDPAY,
        subscription_id=subscription_id,
        occurred_at=occurred_at,
        invoice_id=required(invoice, "id"),
        amount=_amount(invoice, "amount_paid"),
        currency=text(invoice, "currency").lower(),
        opens_period=opens_period,
        period_start=start,
        period_end=end,
        pdf_url=text(invoice, "invoice_pdf"),
        organization_id=_organization_of(invoice),
    )


def _checkout(session: Mapping[str, Any], occurred_at: datetime) -> CheckoutCompleted | None:
    if text(session, "mode") not in ("", "subscription"):
        return None
    return CheckoutCompleted(
        provider=PaymentProvider.CARDPAY,
        subscription_id=required(session, "subscription"),
        occurred_at=occurred_at,
        organization_id=text(session, "client_reference_id", "metadata.orgId"),
        customer_id=text(session, "customer"),
    )


def _subscription(body: Mapping[str, Any], occurred_at: datetime) -> Fact:
    fact = subscription_fact(body, occurred_at)
    if fact.status == SubscriptionStatus.INACTIVE:
        return _ended(body, occurred_at)
    return fact


def _ended(body: Mapping[str, Any], occurred_at: datetime) -> SubscriptionEnded:
    return SubscriptionEnded(
        provider=PaymentProvider.CARDPAY,
        subscription_id=required(body, "id"),
        occurred_at=unix_instant(body, "ended_at") or occurred_at,
        status=SubscriptionStatus.INACTIVE,
        organization_id=text(body, "metadata.orgId"),
        price_id=text(body, "items.data.0.price", "items.data.0.plan", "plan"),
    )


def _failure(invoice: Mapping[str, Any], occurred_at: datetime) -> PaymentFailure | None:
    subscription_id = _subscription_of(invoice)
    if not subscription_id:
        return None
    return PaymentFailure(
        provider=PaymentProvider.CARDPAY,
        subscription_id=subscription_id,
        occurred_at=occurred_at,
        invoice_id=required(invoice, "id"),
        amount=_amount(invoice, "amount_due"),
        currency=text(invoice, "currency").lower(),
        attempt=max(1, int(decimal(invoice, "attempt_count"))),
        next_attempt_at=unix_instant(invoice, "next_payment_attempt"),
        organization_id=_organization_of(invoice),
    )


READERS: dict[str, Callable[[Mapping[str, Any], datetime], Fact | None]] = {
    "checkout.session.completed": _checkout,
    "customer.subscription.created": _subscription,
    "customer.subscription.updated": _subscription,
    "customer.subscription.deleted": _ended,
    "invoice.payment_succeeded": payment_fact,
    "invoice.payment_failed": _failure,
}


def _subscription_of(invoice: Mapping[str, Any]) -> str:
    return text(invoice, "subscription", "parent.subscription_details.subscription")


def _organization_of(invoice: Mapping[str, Any]) -> str:
    return text(invoice, "subscription_details.metadata.orgId", "parent.subscription_details.metadata.orgId")


def _period_of(invoice: Mapping[str, Any]) -> tuple[datetime | None, datetime | None]:
    # The dates at the top are those of the period before on a renewal; the line tells what is paid for. Before it stand
    # the shares of a change of plan, which are of the period before too.
    lines = [line for line in listed(invoice, "lines.data") if not _is_share(line)]
    for place, prefix in (*((line, "period.") for line in lines), (invoice, "period_")):
        start, end = unix_instant(place, f"{prefix}start"), unix_instant(place, f"{prefix}end")
        if start and end and start < end:
            return start, end
    return None, None


def _is_share(line: Any) -> bool:
    details = ("parent.subscription_item_details.proration", "parent.invoice_item_details.proration")
    return any(at_path(line, path) is True for path in ("proration", *details))


def _amount(invoice: Mapping[str, Any], field: str) -> Decimal:
    amount = decimal(invoice, field)
    return amount if text(invoice, "currency").lower() in WITHOUT_MINOR_UNITS else amount / 100
