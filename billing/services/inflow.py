"""From a provider's facts to our state: first `confirm`, outside any transaction, then `record` inside one."""

from collections.abc import Sequence

from billing.facts import CheckoutCompleted, Fact, PaymentFact, PaymentFailure, SubscriptionEnded, SubscriptionFact
from billing.services.confirmation import confirm
from billing.services.payments import record_payment, record_payment_failure
from billing.services.subscriptions import end_subscription, record_subscription

__all__ = ["confirm", "record"]


def record(facts: Sequence[Fact]) -> None:
    """Apply confirmed facts in their order. Makes no network call; call it in the transaction that ends the event."""
    for fact in facts:
        match fact:
            case SubscriptionFact():
                record_subscription(fact)
            case SubscriptionEnded():
                end_subscription(fact)
            case PaymentFact():
                record_payment(fact)
            case PaymentFailure():
                record_payment_failure(fact)
            case CheckoutCompleted():
                raise TypeError("A completed checkout must be confirmed first")
