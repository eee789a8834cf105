"""Asking the provider before a fact is applied: outside any transaction, and only when the fact alone does not
decide."""

from collections.abc import Sequence
from dataclasses import replace

from billing.facts import CheckoutCompleted, Fact, PaymentFact, PaymentFailure, SubscriptionFact
from billing.models import PaymentProvider, Subscription, SubscriptionStatus
from billing.prices import plan_of
from billing.providers import ProviderNotConfigured, provider_for
from billing.providers.base import UnknownAtProvider
from billing.services.subscriptions import is_forgotten, standing_of


def confirm(facts: Sequence[Fact]) -> list[Fact]:
    """The facts to apply: a fact that is not newer than what we know is replaced or preceded by the provider's present
    state.

    Calls the provider, so never call it in a transaction. Raises ProviderFailed; try again then.
    """
    return [confirmed for fact in facts for confirmed in _confirm(fact)]


def _confirm(fact: Fact) -> list[Fact]:
    known = Subscription.objects.named(fact.provider, fact.subscription_id).first()
    if known is not None and known.is_ended:
        return [] if isinstance(fact, CheckoutCompleted) else [fact]
    match fact:
        case CheckoutCompleted():
            return [_fetch(fact, known)]
        case SubscriptionFact():
            return [_fetch_if_there(fact, known) or fact] if known and _is_in_doubt(fact, known) else [fact]
        case PaymentFact():
            return _behind_fresh_state(fact, known) if _payment_needs_state(fact, known) else [fact]
        case PaymentFailure():
            return _behind_fresh_state(fact, known) if _failure_needs_state(fact, known) else [fact]
        case _:  # an end is an end
            return [fact]


def _fetch(fact: Fact, known: Subscription | None) -> SubscriptionFact:
    fetched = provider_for(fact.provider).fetch_subscription(fact.subscription_id)
    buyer = fact.organization_id if isinstance(fact, CheckoutCompleted) else ""
    return replace(
        fetched,
        occurred_at=fact.occurred_at,
        organization_id=buyer or fetched.organization_id or fact.organization_id,
        based_on=known.version if known else None,
    )


def _fetch_if_there(fact: Fact, known: Subscription | None) -> SubscriptionFact | None:
    try:
        return _fetch(fact, known)
    except (UnknownAtProvider, ProviderNotConfigured):
        return None


def _behind_fresh_state(fact: PaymentFact | PaymentFailure, known: Subscription | None) -> list[Fact]:
    state = _fetch_if_there(fact, known)
    if state is None:
        return [fact]
    # An invoice names no organization; its subscription does, also when the organization has been deleted here.
    return [state, replace(fact, confirmed=True, organization_id=fact.organization_id or state.organization_id)]


def _is_in_doubt(fact: SubscriptionFact, known: Subscription) -> bool:
    # Provider times have whole seconds, so of two facts in one second nobody can tell which is the newer one.
    return fact.occurred_at <= known.fact_at and _differs(fact, known)


def _differs(fact: SubscriptionFact, known: Subscription) -> bool:
    period = (fact.period_start, fact.period_end)
    return (
        (known.status, known.cancel_at_period_end) != standing_of(fact, known)
        or (known.plan_id, known.cycle) != plan_of(fact.provider, fact.price_id)
        or (fact.period_end is not None and period != (known.current_period_start, known.current_period_end))
    )


def _payment_needs_state(fact: PaymentFact, known: Subscription | None) -> bool:
    if known is None:
        return not is_forgotten(fact)
    if known.status == SubscriptionStatus.PENDING:
        return True
    if known.status == SubscriptionStatus.PAST_DUE and fact.occurred_at <= known.fact_at:
        return True
    return fact.provider == PaymentProvider.WALLETPAY and fact.opens_period and fact.period_start is None


def _failure_needs_state(fact: PaymentFailure, known: Subscription | None) -> bool:
    if known is None:
        return not is_forgotten(fact)
    return known.status != SubscriptionStatus.PAST_DUE and fact.occurred_at <= known.fact_at
