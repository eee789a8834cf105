"""Comparing what we hold with what the providers hold, and mending the difference. Each difference is written down."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.utils import timezone

from billing.facts import PaymentFact, SubscriptionEnded, SubscriptionFact
from billing.models import ENDED, Payment, PaymentProvider, Repair, Subscription, SubscriptionStatus
from billing.providers import ProviderNotConfigured, provider_for
from billing.providers.base import UnknownAtProvider
from billing.services.payments import record_payment
from billing.services.provisioning import current_subscription, provision
from billing.services.subscriptions import end_subscription, hold, record_subscription
from config.errors import Refusal
from config.retries import atomic_with_retries
from credits.models import CreditAccount

# Payments older than this were compared on an earlier night.
PAYMENTS_SINCE = timedelta(days=45)
FIELDS = (
    "plan_id",
    "cycle",
    "status",
    "cancel_at_period_end",
    "current_period_start",
    "current_period_end",
    "customer_id",
)

log = structlog.get_logger("billing")


@dataclass
class Outcome:
    """How many subscriptions were compared, how many differences mended, and how many could not be compared; the last
    one that was met when the time was over before all were."""

    compared: int = 0
    repairs: int = 0
    failed: int = 0
    cut_after: UUID | None = None


def reconcile(*, only_overdue: bool = False, after: UUID | None = None, seconds: float = math.inf) -> Outcome:
    """Compare every subscription that is not over; with `only_overdue`, those whose period has ended and nobody said
    so. From the one behind `after` on, for so many seconds, but at least one.

    A provider that is not set up or does not answer costs that subscription alone. Running it again changes nothing.
    """
    outcome, ends = Outcome(), time.monotonic() + seconds
    for subscription in _open_subscriptions(only_overdue, after):
        if outcome.cut_after and time.monotonic() >= ends:
            break
        outcome.cut_after = subscription.pk
        _count(outcome, subscription)
    else:
        outcome.cut_after = None
    log.info("reconciled", compared=outcome.compared, repairs=outcome.repairs, failed=outcome.failed)
    return outcome


def reconcile_one(subscription: Subscription) -> list[Repair]:
    """Mend one subscription, its payments, and the plan and credits that follow from it. The repairs that were
    needed."""
    client = provider_for(subscription.provider)
    before = _held(subscription)
    try:
        fact = client.fetch_subscription(subscription.external_id)
        payments = client.fetch_payments(subscription.external_id, since=timezone.now() - PAYMENTS_SINCE)
    except UnknownAtProvider:
        return _mend(subscription, before, _gone(subscription), [])
    return _mend(subscription, before, fact, payments)


def _count(outcome: Outcome, subscription: Subscription) -> None:
    try:
        outcome.repairs += len(reconcile_one(subscription))
        outcome.compared += 1
    except Refusal as error:
        outcome.failed += not isinstance(error, ProviderNotConfigured)
        log.warning("not_reconciled", subscription=subscription.external_id, error=type(error).__name__)


def _open_subscriptions(only_overdue: bool, after: UUID | None) -> Iterator[Subscription]:
    rows = Subscription.objects.exclude(status__in=[str(status) for status in ENDED])
    if only_overdue:
        rows = rows.filter(current_period_end__lte=timezone.now() - timedelta(hours=1))
    if after:
        rows = rows.filter(pk__gt=after)
    # Each is read when its turn comes: asking takes its time, in which others change or go with their organization.
    for key in list(rows.order_by("pk").values_list("pk", flat=True)):
        yield from Subscription.objects.select_related("organization").filter(pk=key)


@atomic_with_retries
def _mend(
    subscription: Subscription,
    before: dict[str, str],
    fact: SubscriptionFact | SubscriptionEnded,
    payments: list[PaymentFact],
) -> list[Repair]:
    if isinstance(fact, SubscriptionEnded):
        end_subscription(fact)
    else:
        # Our mark of a provider without an end at the period's end is not a difference.
        record_subscription(replace(fact, occurred_at=subscription.fact_at, based_on=subscription.version))
    missing = _not_logged(payments)
    for payment in missing:
        record_payment(replace(payment, confirmed=True, opens_period=False, period_start=None, period_end=None))
    held = hold(fact)
    if held is None:
        return []
    organization, row = held
    if current_subscription(organization) is not None:
        provision(organization)
    after = _held(row)
    found = [(field, before[field], after[field]) for field in before if before[field] != after[field]]
    found += [("payment", "", payment.invoice_id) for payment in missing]
    repairs = [Repair(subscription=row, field=field, before=old, after=new) for field, old, new in found]
    return Repair.objects.bulk_create(repairs)


def _not_logged(payments: list[PaymentFact]) -> list[PaymentFact]:
    providers = {payment.provider for payment in payments}  # the index begins with the provider
    asked = Payment.objects.filter(provider__in=providers, invoice_id__in=[payment.invoice_id for payment in payments])
    logged = set(asked.values_list("provider", "invoice_id"))
    return [payment for payment in payments if (payment.provider, payment.invoice_id) not in logged]


def _gone(subscription: Subscription) -> SubscriptionEnded:
    cardpay = subscription.provider == PaymentProvider.CARDPAY
    return SubscriptionEnded(
        provider=PaymentProvider(subscription.provider),
        subscription_id=subscription.external_id,
        occurred_at=timezone.now(),
        status=SubscriptionStatus.INACTIVE if cardpay else SubscriptionStatus.CANCELLED,
    )


def _held(subscription: Subscription) -> dict[str, str]:
    """What is compared: the row, and the plan and credits that its organization has."""
    organization = subscription.organization
    organization.refresh_from_db(fields=["plan"])
    account = CreditAccount.objects.filter(organization=organization).first()
    held = {field: _shown(getattr(subscription, field)) for field in FIELDS}
    held["organization.plan"] = str(organization.plan_id)
    allocation = account.allocation if account else 0
    held["credits.allocation"] = "unlimited" if account and account.unlimited else str(allocation)
    return held


def _shown(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
