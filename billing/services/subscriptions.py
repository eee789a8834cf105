"""What providers tell about subscriptions, applied once and by fact.

Every function here may be called twice and in any order. A newer fact wins over an older one; the end is final.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from billing.facts import PaymentFact, PaymentFailure, SubscriptionEnded, SubscriptionFact
from billing.locks import lock_organization, lock_subscription
from billing.models import (
    CancellationOrder,
    DepartedOrganization,
    PaymentProvider,
    Subscription,
    SubscriptionStatus,
)
from billing.periods import next_period_end
from billing.prices import amount_of, plan_of
from billing.services.cancellations import order_cancellation, order_cancellation_of
from billing.services.provisioning import provision
from config.api.ids import key_of
from config.errors import Conflict, NotFound
from config.retries import atomic_with_retries
from organizations.models import Organization

# A wallet payment this close to the period's end is the one for the next period.
RENEWAL_SLACK = timedelta(days=3)


class UnknownSubscription(Conflict):
    """No row, and nothing in the fact says whose it is: another event will, so the handler tries again later."""

    message = "The subscription belongs to no organization that is known yet"


class Overtaken(Conflict):
    """The row changed after the provider was asked: the snapshot may be older than the row."""

    message = "The subscription changed meanwhile"


@atomic_with_retries
def record_subscription(fact: SubscriptionFact) -> None:
    """Apply the state of a subscription: status, plan and period, and with them the organization's plan and credits.

    Creates the row for a subscription not seen before. Raises UnknownSubscription, UnknownPrice, Overtaken.
    """
    held = hold(fact)
    if held is None:
        _record_new(fact)
        return
    organization, subscription = held
    if fact.fetched and fact.based_on != subscription.version:
        raise Overtaken
    if subscription.is_ended or is_older(fact, subscription):
        return
    was_live = subscription.is_live
    _apply(fact, subscription)
    if was_live or subscription.is_live:
        provision(organization)


@atomic_with_retries
def end_subscription(fact: SubscriptionEnded) -> None:
    """End a subscription for good: the plan goes back to free, the credits to zero, unless another one is live."""
    held = hold(fact)
    if held is None:
        _record_end_of_unseen(fact)
        return
    organization, subscription = held
    if subscription.is_ended:
        return
    was_live = subscription.is_live
    _end(subscription, status=fact.status, at=fact.occurred_at)
    if was_live:
        provision(organization)


def hold(
    fact: SubscriptionFact | SubscriptionEnded | PaymentFact | PaymentFailure,
) -> tuple[Organization, Subscription] | None:
    """Lock the organization and the subscription a fact tells of; None when there is no such row."""
    seen = Subscription.objects.named(fact.provider, fact.subscription_id).only("organization_id").first()
    organization = lock_organization(seen.organization_id) if seen else _lock_named(fact.organization_id)
    subscription = lock_subscription(fact.provider, fact.subscription_id) if organization else None
    return (organization, subscription) if organization and subscription else None


def is_forgotten(fact: SubscriptionEnded | PaymentFact | PaymentFailure | SubscriptionFact) -> bool:
    """The fact tells of an organization that was deleted here; nothing is left to do."""
    if CancellationOrder.objects.filter(provider=fact.provider, external_id=fact.subscription_id).exists():
        return True
    key = _key(fact.organization_id)
    return key is not None and DepartedOrganization.objects.filter(pk=key).exists()


def is_older(fact: SubscriptionFact | PaymentFact | PaymentFailure, subscription: Subscription) -> bool:
    """The row already holds something newer. What we asked for is never older."""
    fetched = isinstance(fact, SubscriptionFact) and fact.fetched
    return not fetched and fact.occurred_at < subscription.fact_at


def standing_of(fact: SubscriptionFact, subscription: Subscription) -> tuple[SubscriptionStatus, bool]:
    """The status that a fact leads to, and whether the subscription runs out at its period's end.

    One that runs out and is unpaid as well has two right words. The present one stays, unless the running out is news.
    """
    ran_out = subscription.cancel_at_period_end
    runs_out = ran_out if fact.cancel_at_period_end is None else fact.cancel_at_period_end
    if not runs_out or fact.status not in (SubscriptionStatus.ACTIVE, SubscriptionStatus.PAST_DUE):
        return fact.status, runs_out
    both = fact.status == SubscriptionStatus.PAST_DUE and ran_out
    if both and fact.fetched and subscription.status == SubscriptionStatus.PAST_DUE:
        return SubscriptionStatus.PAST_DUE, True
    return SubscriptionStatus.CANCELLING, True


def save_change(subscription: Subscription) -> None:
    """Store a changed row under its next version."""
    subscription.version += 1
    subscription.save()


def _record_new(fact: SubscriptionFact) -> None:
    if is_forgotten(fact):
        _order_end_of_forgotten(fact)
        return
    organization = _lock_named(fact.organization_id)
    if organization is None:
        raise UnknownSubscription
    subscription = Subscription(
        organization=organization,
        provider=fact.provider,
        external_id=fact.subscription_id,
        started_at=fact.started_at or fact.occurred_at,
        fact_at=fact.occurred_at,
    )
    _apply(fact, subscription)
    if subscription.is_live:
        provision(organization)


def _record_end_of_unseen(fact: SubscriptionEnded) -> None:
    # The row is written as ended, so that a late event about its beginning does not bring it to life.
    if is_forgotten(fact):
        return
    organization = _lock_named(fact.organization_id)
    if organization is None or not fact.price_id:
        raise UnknownSubscription
    plan_id, cycle = plan_of(fact.provider, fact.price_id)
    subscription = Subscription(
        organization=organization,
        provider=fact.provider,
        external_id=fact.subscription_id,
        plan_id=plan_id,
        cycle=cycle,
        started_at=fact.occurred_at,
        fact_at=fact.occurred_at,
    )
    _end(subscription, status=fact.status, at=fact.occurred_at)


def _order_end_of_forgotten(fact: SubscriptionFact) -> None:
    if fact.status in (SubscriptionStatus.INACTIVE, SubscriptionStatus.CANCELLED):
        return
    reason = CancellationOrder.Reason.ORGANIZATION_DELETED
    order_cancellation_of(provider=fact.provider, external_id=fact.subscription_id, reason=reason)


def _apply(fact: SubscriptionFact, subscription: Subscription) -> None:
    if fact.status in (SubscriptionStatus.INACTIVE, SubscriptionStatus.CANCELLED) and not subscription._state.adding:
        _end(subscription, status=fact.status, at=fact.occurred_at)
        return
    before = _state_of(subscription)
    plan_id, cycle = plan_of(fact.provider, fact.price_id)
    renewed = _apply_period(fact, subscription, cycle)
    subscription.plan_id, subscription.cycle = plan_id, cycle
    subscription.amount = amount_of(fact.provider, fact.price_id)
    subscription.customer_id = fact.customer_id or subscription.customer_id
    subscription.status, subscription.cancel_at_period_end = standing_of(fact, subscription)
    if fact.status in (SubscriptionStatus.INACTIVE, SubscriptionStatus.CANCELLED):
        subscription.ended_at = fact.occurred_at
    subscription.fact_at = max(fact.occurred_at, subscription.fact_at)
    if _state_of(subscription) != before:
        save_change(subscription)
    if renewed:
        stop_charging(subscription)


def stop_charging(subscription: Subscription) -> None:
    """Order the end of a wallet subscription that was to run out and was charged again before the provider was told."""
    runs_out = subscription.is_live and subscription.cancel_at_period_end
    if runs_out and subscription.provider == PaymentProvider.WALLETPAY:
        order_cancellation(subscription=subscription, reason=CancellationOrder.Reason.PERIOD_ENDS)


def _apply_period(fact: SubscriptionFact, subscription: Subscription, cycle: str) -> bool:
    """Take over the period; True when it is a later one. An announced period never runs backwards."""
    period = _period_of(fact, subscription, cycle)
    if period is None:
        return False
    start, end = period
    known_start, known_end = subscription.current_period_start, subscription.current_period_end
    if known_start and start < known_start and not fact.fetched:
        return False
    if known_start is None or (subscription.cycle != cycle and start != known_start):
        subscription.anchored_at = start
    subscription.current_period_start, subscription.current_period_end = start, end
    return bool(known_end and start >= known_end - RENEWAL_SLACK and end > known_end)


def _period_of(fact: SubscriptionFact, subscription: Subscription, cycle: str) -> tuple[datetime, datetime] | None:
    start = fact.period_start or (None if subscription.current_period_start else fact.started_at)
    if start is None and fact.status != SubscriptionStatus.PENDING and not subscription.current_period_start:
        start = fact.occurred_at
    if start is None:
        return None
    if fact.period_end and fact.period_end > start:
        return start, fact.period_end
    if fact.period_end is None and fact.status == SubscriptionStatus.PENDING:
        return None
    return start, next_period_end(subscription.anchored_at or start, start, cycle)


def _end(subscription: Subscription, *, status: SubscriptionStatus, at: datetime) -> None:
    subscription.status = status
    subscription.cancel_at_period_end = False
    subscription.ended_at = at
    subscription.fact_at = max(at, subscription.fact_at)
    save_change(subscription)


def _state_of(subscription: Subscription) -> tuple[object, ...]:
    return (
        subscription.plan_id,
        subscription.cycle,
        subscription.amount,
        subscription.status,
        subscription.cancel_at_period_end,
        subscription.current_period_start,
        subscription.current_period_end,
        subscription.customer_id,
        subscription.fact_at,
        subscription._state.adding,
    )


def _lock_named(organization_id: str) -> Organization | None:
    key = _key(organization_id)
    return lock_organization(key) if key else None


def _key(organization_id: str) -> UUID | None:
    try:
        return key_of(organization_id)
    except NotFound:
        return None


def now_in_seconds() -> datetime:
    """Our clock in the providers' resolution, for what we changed ourselves."""
    return timezone.now().replace(microsecond=0)
