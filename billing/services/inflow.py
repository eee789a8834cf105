"""From a provider's facts to our state: first `confirm`, outside any transaction, then `record` inside one."""

from collections.abc import Callable, Sequence
from typing import Any

from billing.facts import Fact, PaymentFact, PaymentFailure, SubscriptionEnded, SubscriptionFact
from billing.services.confirmation import confirm
from billing.services.payments import record_payment, record_payment_failure
from billing.services.subscriptions import end_subscription, record_subscription

__all__ = ["confirm", "record"]

# A completed checkout is not among them: `confirm` puts the subscription that it led to in its place.
SERVICES: dict[type[Fact], Callable[[Any], None]] = {
    SubscriptionFact: record_subscription,
    SubscriptionEnded: end_subscription,
    PaymentFact: record_payment,
    PaymentFailure: record_payment_failure,
}


def record(facts: Sequence[Fact]) -> None:
    """Apply confirmed facts in their order. Makes no network call; call it in the transaction that ends the event."""
    for fact in facts:
        SERVICES[type(fact)](fact)
