"""What the owner changes: cancel, take it back, another plan. First the provider, then, when it agreed, our row."""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from django.utils import timezone

from accounts.models import User
from billing.facts import SubscriptionFact
from billing.locks import lock_organization, lock_subscription
from billing.models import LIVE, BillingCycle, Plan, Subscription, SubscriptionStatus
from billing.pages import plan_page
from billing.prices import amount_sold, price_id_of
from billing.proration import Proration, prorate
from billing.providers import Provider, provider_for
from billing.providers.base import PlanChangeOrder, UnknownAtProvider
from billing.services.cancellations import is_ordered
from billing.services.keys import moment
from billing.services.provisioning import current_subscription
from billing.services.subscriptions import Overtaken, now_in_seconds, record_subscription, save_change
from config.errors import Conflict, InvalidInput, NotAllowed
from config.retries import atomic_with_retries
from organizations import audit
from organizations.models import Organization

MOST_ATTEMPTS = 3


class NotPaid(NotAllowed):
    message = "The organization is on the plan Free; this needs a paid plan, Solo or above"


class NoSubscription(Conflict):
    message = "The organization's plan was not bought, so there is no subscription to manage"


class NotCancelling(InvalidInput):
    message = "The subscription is not being cancelled"


class EndsAlready(Conflict):
    message = "The subscription is being ended at the provider and cannot be kept any more"


class SamePlan(InvalidInput):
    message = "planId: the organization has this plan and billing cycle already"


class NotAPaidPlan(InvalidInput):
    message = "planId: the plan free is reached by cancelling"


@dataclass(frozen=True)
class PlanPreview:
    """What a change would cost."""

    current: Plan
    new: Plan
    cycle: BillingCycle
    price: Decimal
    new_price: Decimal
    figures: Proration


@dataclass(frozen=True)
class PlanMove:
    """What a change led to. With an `approval_url` the plan moves when the payer has approved there."""

    previous: Plan
    new: Plan
    figures: Proration
    approval_url: str

    @property
    def is_immediate(self) -> bool:
        """The organization has the new plan already."""
        return not self.approval_url


def require_paid(organization: Organization) -> Subscription:
    """The subscription that pays for the plan. NotPaid on the free plan, NoSubscription when staff gave the plan."""
    subscription = current_subscription(organization)
    if subscription is not None:
        return subscription
    raise NotPaid if organization.plan.is_free else NoSubscription


def require_paid_plan(organization: Organization) -> None:
    """NotPaid on the free plan, however the plan came about."""
    if organization.plan.is_free:
        raise NotPaid


def cancel(*, organization: Organization, by: User) -> Subscription:
    """Let the subscription run out at its period's end. Nothing happens when it does so already."""
    subscription = require_paid(organization)
    if subscription.cancel_at_period_end:
        return subscription
    client = provider_for(subscription.provider)
    fact = client.cancel_at_period_end(subscription.external_id, key=_key(f"cancel:{moment()}", subscription))
    _mark(subscription, fact, ends=True, client=client)
    audit.record(organization=organization, actor=by, action="subscription.cancelled", subject=subscription.plan_id)
    return _fresh(subscription)


def reactivate(*, organization: Organization, by: User) -> Subscription:
    """Take back the cancellation. NotCancelling when there is none or the period is over; EndsAlready when too late."""
    subscription = require_paid(organization)
    ends_at = subscription.current_period_end
    if not subscription.cancel_at_period_end or (ends_at and ends_at <= timezone.now()):
        raise NotCancelling
    if is_ordered(subscription):
        raise EndsAlready
    client = provider_for(subscription.provider)
    fact = client.keep(subscription.external_id, key=_key(f"keep:{moment()}", subscription))
    _mark(subscription, fact, ends=False, client=client)
    audit.record(organization=organization, actor=by, action="subscription.reactivated", subject=subscription.plan_id)
    return _fresh(subscription)


def preview_change(*, organization: Organization, plan: Plan, cycle: BillingCycle) -> PlanPreview:
    """What a change of plan would cost now. Changes nothing."""
    subscription = require_paid(organization)
    _require_other(subscription, plan, cycle)
    figures = _figures(subscription, plan, cycle, now_in_seconds())
    new_price = amount_sold(subscription.provider, plan, cycle)
    return PlanPreview(subscription.plan, plan, cycle, subscription.price, new_price, figures)


def change_plan(*, organization: Organization, plan: Plan, cycle: BillingCycle, by: User) -> PlanMove:
    """Move to another plan or cycle, prorated at this second. SamePlan, NotAPaidPlan, Unavailable, ProviderFailed."""
    subscription = require_paid(organization)
    _require_other(subscription, plan, cycle)
    at = now_in_seconds()
    client = provider_for(subscription.provider)
    price_id = price_id_of(subscription.provider, plan, cycle)
    key = _key(f"change:{price_id}:{int(at.timestamp())}", subscription)
    change = client.change_plan(subscription.external_id, _order(organization, price_id), at=at, key=key)
    if change.fact:
        _record(subscription, change.fact, client)
    move = PlanMove(subscription.plan, plan, _figures(subscription, plan, cycle, at), change.approval_url)
    details = {"from": subscription.plan_id, "to": plan.pk, "cycle": str(cycle), "approved": not change.approval_url}
    audit.record(organization=organization, actor=by, action="subscription.plan_changed", details=details)
    return move


def _order(organization: Organization, price_id: str) -> PlanChangeOrder:
    return PlanChangeOrder(
        price_id=price_id,
        approved_url=plan_page(organization, after="approved"),
        cancel_url=plan_page(organization, after="left"),
    )


def _require_other(subscription: Subscription, plan: Plan, cycle: BillingCycle) -> None:
    if plan.is_free:
        raise NotAPaidPlan
    if (subscription.plan_id, subscription.cycle) == (plan.pk, cycle):
        raise SamePlan


def _figures(subscription: Subscription, plan: Plan, cycle: BillingCycle, at: datetime) -> Proration:
    start, end = subscription.current_period_start, subscription.current_period_end
    if start is None or end is None:
        raise NoSubscription
    return prorate(
        price=subscription.price,
        new_price=amount_sold(subscription.provider, plan, cycle),
        start=start,
        end=end,
        at=at,
        same_cycle=subscription.cycle == cycle,
    )


def _mark(subscription: Subscription, fact: SubscriptionFact | None, *, ends: bool, client: Provider) -> None:
    if fact:
        _record(subscription, fact, client)
    elif ends:
        _mark_here(subscription, SubscriptionStatus.CANCELLING)
    else:
        _mark_here(subscription, _status_there(subscription, client))


def _status_there(subscription: Subscription, client: Provider) -> SubscriptionStatus:
    # While it ran out, our mark hid whether it is paid, and whether the payer has ended it there meanwhile.
    try:
        return client.fetch_subscription(subscription.external_id).status
    except UnknownAtProvider:  # reconciliation decides about such a one
        return SubscriptionStatus.ACTIVE


@atomic_with_retries
def _mark_here(subscription: Subscription, status: SubscriptionStatus) -> None:
    # The provider knows no cancellation at the period's end, so the mark stands here alone.
    lock_organization(subscription.organization_id)
    row = lock_subscription(subscription.provider, subscription.external_id)
    if row is None or not row.is_live:
        raise NoSubscription
    ends = status == SubscriptionStatus.CANCELLING
    if not ends and (is_ordered(row) or status not in LIVE):
        raise EndsAlready
    row.status, row.cancel_at_period_end = status, ends
    save_change(row)


def _record(subscription: Subscription, fact: SubscriptionFact, client: Provider) -> None:
    # The provider's event about this very change may have been faster: then what stands there now is asked for.
    version = subscription.version
    for _ in range(MOST_ATTEMPTS):
        try:
            record_subscription(replace(fact, occurred_at=now_in_seconds(), based_on=version))
        except Overtaken:
            version = _fresh(subscription).version
            fact = client.fetch_subscription(subscription.external_id)
        else:
            return
    raise Overtaken


def _fresh(subscription: Subscription) -> Subscription:
    return Subscription.objects.select_related("plan").get(pk=subscription.pk)


def _key(act: str, subscription: Subscription) -> str:
    # The version moves with every change, so repeating a failed call is the same act, and cancelling again later is
    # not.
    return f"{act}:{subscription.pk}:{subscription.version}"
