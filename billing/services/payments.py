"""Money that arrived, money that did not: billing history, period dates, and the letter to the owner."""

from datetime import datetime

from accounts import letters
from billing.facts import PaymentFact, PaymentFailure
from billing.models import BillingCycle, Payment, PaymentProvider, Subscription, SubscriptionStatus
from billing.periods import next_period_end
from billing.services.provisioning import provision
from billing.services.subscriptions import (
    RENEWAL_SLACK,
    UnknownSubscription,
    hold,
    is_forgotten,
    is_older,
    save_change,
    stop_charging,
)
from config.retries import atomic_with_retries
from organizations.models import Organization


@atomic_with_retries
def record_payment(fact: PaymentFact) -> None:
    """Log a payment once, move the period on and start its credits. A payment heals past_due.

    Raises UnknownSubscription when nothing tells yet whose it is.
    """
    held = hold(fact)
    if held is None:
        if is_forgotten(fact):
            return
        raise UnknownSubscription
    organization, subscription = held
    _log_payment(fact, organization, subscription)
    if subscription.is_ended:
        return
    moved = _move_period(fact, subscription)
    healed = _heal(fact, subscription)
    if fact.occurred_at > subscription.fact_at:
        subscription.fact_at = fact.occurred_at
        moved = True
    if moved or healed:
        save_change(subscription)
    if subscription.is_live:
        provision(organization)


@atomic_with_retries
def record_payment_failure(fact: PaymentFailure) -> None:
    """Mark the subscription past_due and write to the owner, once per invoice and attempt.

    A subscription whose very first payment fails stays pending: nothing was paid, so no plan is given.
    """
    held = hold(fact)
    if held is None:
        if is_forgotten(fact):
            return
        raise UnknownSubscription
    organization, subscription = held
    if subscription.is_ended:
        return
    if not fact.confirmed and not is_older(fact, subscription) and subscription.is_live:
        subscription.status = SubscriptionStatus.PAST_DUE
        subscription.fact_at = fact.occurred_at
        save_change(subscription)
        provision(organization)
    if not Payment.objects.filter(provider=fact.provider, invoice_id=fact.invoice_id).exists():
        _write_to_owner(fact, organization, subscription)


def _log_payment(fact: PaymentFact, organization: Organization, subscription: Subscription) -> None:
    payment = Payment(
        organization=organization,
        subscription=subscription,
        provider=fact.provider,
        invoice_id=fact.invoice_id,
        amount=fact.amount,
        currency=fact.currency,
        plan_name=f"{subscription.plan.name} ({BillingCycle(subscription.cycle).label})",
        paid_at=fact.occurred_at,
        pdf_url=fact.pdf_url,
    )
    Payment.objects.bulk_create([payment], ignore_conflicts=True)


def _move_period(fact: PaymentFact, subscription: Subscription) -> bool:
    """Take over the period that was paid for when it lies after the known one."""
    start, end = fact.period_start, fact.period_end
    if fact.opens_period and start is None and subscription.provider == PaymentProvider.WALLETPAY:
        start, end = _next_wallet_period(fact.occurred_at, subscription)
    known = subscription.current_period_start
    if start is None or end is None or (known is not None and start <= known):
        return False
    subscription.current_period_start, subscription.current_period_end = start, end
    subscription.anchored_at = subscription.anchored_at or start
    stop_charging(subscription)
    return True


def _next_wallet_period(paid_at: datetime, subscription: Subscription) -> tuple[datetime | None, datetime | None]:
    # A sale names no period. One near or after the end of the known period pays for the period that follows it.
    end = subscription.current_period_end
    if end is None or paid_at < end - RENEWAL_SLACK:
        return None, None
    return end, next_period_end(subscription.anchored_at or end, end, subscription.cycle)


def _heal(fact: PaymentFact, subscription: Subscription) -> bool:
    if fact.confirmed or subscription.status != SubscriptionStatus.PAST_DUE or is_older(fact, subscription):
        return False
    ends = subscription.cancel_at_period_end
    subscription.status = SubscriptionStatus.CANCELLING if ends else SubscriptionStatus.ACTIVE
    return True


def _write_to_owner(fact: PaymentFailure, organization: Organization, subscription: Subscription) -> None:
    letters.post(
        kind="payment_failed",
        key=f"payment_failed:{fact.provider}:{fact.invoice_id}:{fact.attempt}",
        to=organization.owner.user.email,
        context={
            "organization": organization.name,
            "organization_id": str(organization.pk),
            "plan": subscription.plan.name,
            "amount": f"{fact.amount:.2f} {fact.currency.upper()}",
            "next_attempt": f"{fact.next_attempt_at:%Y-%m-%d %H:%M} UTC" if fact.next_attempt_at else "",
        },
    )
