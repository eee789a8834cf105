"""Ending subscriptions at their provider from our side: ordered in a transaction, carried out by the worker,
retried."""

from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from billing.models import CancellationOrder, PaymentProvider, Subscription, SubscriptionStatus
from billing.providers import provider_for
from billing.services.keys import moment
from config.background import nudge
from config.errors import Refusal

# The wallet provider knows no end at the period's end: it is told this long before, so that it does not charge again.
WALLET_LEAD = timedelta(hours=1)
FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(hours=6)
DOUBLINGS = 9  # from the first pause to more than the longest

log = structlog.get_logger("billing")


def order_cancellation(*, subscription: Subscription, reason: str) -> None:
    """Have the provider end a subscription as soon as the worker can. A second order for it does nothing."""
    order_cancellation_of(provider=subscription.provider, external_id=subscription.external_id, reason=reason)


def order_cancellation_of(*, provider: str, external_id: str, reason: str) -> None:
    """As `order_cancellation`, for a subscription that has no row here."""
    order = CancellationOrder(provider=provider, external_id=external_id, reason=reason, next_at=timezone.now())
    CancellationOrder.objects.bulk_create([order], ignore_conflicts=True)
    nudge("billing.tasks.carry_out_cancellation", str(order.pk))


@transaction.atomic
def order_due_wallet_cancellations(*, now: datetime) -> int:
    """Order the end of wallet subscriptions that run out and whose period is nearly over. How many were found."""
    due = Subscription.objects.select_for_update(of=("self",), no_key=True).filter(
        provider=PaymentProvider.WALLETPAY,
        status=SubscriptionStatus.CANCELLING,
        cancel_at_period_end=True,
        current_period_end__lte=now + WALLET_LEAD,
    )
    found = list(due.order_by("pk"))
    for subscription in found:
        order_cancellation(subscription=subscription, reason=CancellationOrder.Reason.PERIOD_ENDS)
    return len(found)


def is_ordered(subscription: Subscription) -> bool:
    """Its end was ordered and can no longer be taken back."""
    return CancellationOrder.objects.filter(
        provider=subscription.provider, external_id=subscription.external_id
    ).exists()


def due_cancellations(*, now: datetime) -> list[UUID]:
    """Orders whose next attempt may start, oldest first."""
    due = CancellationOrder.objects.filter(done_at=None, next_at__lte=now).order_by("next_at")
    return list(due.values_list("pk", flat=True)[:500])


def carry_out(order_id: UUID) -> None:
    """Ask the provider to end one subscription, if the order is due and nobody else has taken it."""
    order = _claim(order_id)
    if order is None:
        return
    try:
        provider_for(order.provider).cancel_now(order.external_id, key=f"end:{moment()}:{order.pk}")
    except Refusal as refusal:
        CancellationOrder.objects.filter(pk=order.pk).update(error=refusal.message)
        log.warning("cancellation_failed", provider=order.provider, subscription=order.external_id)
        return
    CancellationOrder.objects.filter(pk=order.pk).update(done_at=timezone.now(), error="")


def _claim(order_id: UUID) -> CancellationOrder | None:
    # Claim and retry timer in one: if this process dies, the order is due again after the pause.
    now = timezone.now()
    order = CancellationOrder.objects.filter(pk=order_id, done_at=None, next_at__lte=now).first()
    if order is None:
        return None
    pause = min(FIRST_PAUSE * 2 ** min(order.attempts, DOUBLINGS), LONGEST_PAUSE)
    taken = CancellationOrder.objects.filter(pk=order_id, attempts=order.attempts, done_at=None).update(
        attempts=F("attempts") + 1, next_at=now + pause
    )
    return order if taken else None
