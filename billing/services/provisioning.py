"""From subscriptions to plan and credits, derived anew each time, so that the order of facts is no matter."""

from datetime import datetime, timedelta

from django.utils import timezone

from billing.models import CancellationOrder, PaymentProvider, Subscription
from billing.periods import Window, credit_window
from billing.services.cancellations import order_cancellation
from config.compiled import CompiledQuery, Key
from credits.services.allocations import Allocation, allocate, withdraw
from organizations.models import Organization

FREE = "free"
# The wallet provider charges within hours of the billing time, before or after.
PAYMENT_SLACK = timedelta(days=3)

_CURRENT = CompiledQuery(
    lambda: (
        Subscription.objects.live()
        .filter(organization=Key("organization"))
        .select_related("plan")
        .order_by("-started_at", "-external_id")[:1]
    )
)


def current_subscription(organization: Organization) -> Subscription | None:
    """Of the live subscriptions the one that was started last; None on the free plan."""
    return _CURRENT.first(organization=organization.pk)


def provision(organization: Organization, *, now: datetime | None = None) -> None:
    """Give the organization the plan and credits of its current subscription, or take them away.

    The caller holds the lock on the organization. An older subscription that still runs is ordered to end.
    """
    current = current_subscription(organization)
    plan_id = current.plan_id if current else FREE
    if organization.plan_id != plan_id:
        organization.plan_id = plan_id
        organization.save(update_fields=["plan", "updated_at"])
    if current is None:
        withdraw(organization=organization)
        return
    allocate(organization=organization, allocation=_allocation(current, now or timezone.now()))
    for older in Subscription.objects.live().filter(organization=organization).exclude(pk=current.pk):
        order_cancellation(subscription=older, reason=CancellationOrder.Reason.SUPERSEDED)


def _allocation(subscription: Subscription, now: datetime) -> Allocation:
    window = credit_window(subscription, now)
    start, end = subscription.window_start, subscription.window_end
    if start is None or end is None or not _goes_on(subscription, Window(start, end), window):
        start = window.start
    if (start, window.end, subscription.cycle) != (
        subscription.window_start,
        subscription.window_end,
        subscription.window_cycle,
    ):
        subscription.window_start, subscription.window_end = start, window.end
        subscription.window_cycle = subscription.cycle
        subscription.save(update_fields=["window_start", "window_end", "window_cycle", "updated_at"])
    return Allocation(
        credits=subscription.plan.ai_credits_per_month,
        window=f"{subscription.provider}:{subscription.external_id}:{start.isoformat()}",
        starts_at=start,
        ends_at=window.end,
    )


def _goes_on(subscription: Subscription, held: Window, window: Window) -> bool:
    # A window that began earlier still holds when only its dates were told more exactly, or when the customer changed
    # the cycle within it: a fresh grant for each change would be a way to credits without paying.
    if window.start == held.start or window.end == held.end:
        return True
    if subscription.provider == PaymentProvider.WALLETPAY:
        return held.start - PAYMENT_SLACK < window.start < held.end - PAYMENT_SLACK
    return subscription.window_cycle != subscription.cycle and held.start < window.start < held.end
