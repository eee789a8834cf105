"""The verbs we use of a payment provider, and how a provider fails."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from billing.facts import PaymentFact, SubscriptionFact
from billing.models import BillingCycle, PaymentProvider, Plan
from config.errors import ProviderFailed, Unavailable


class ProviderNotConfigured(Unavailable):
    message = "This payment provider is not set up here"


class UnknownAtProvider(ProviderFailed):
    """The provider answered that it has no such object."""

    message = "The payment provider does not know this subscription, customer or price; nothing was changed"


@dataclass(frozen=True, kw_only=True)
class CheckoutOrder:
    """Who buys what, and where the buyer returns to. `customer_id` is that of an earlier subscription, or empty."""

    organization_id: str
    email: str
    price_id: str
    success_url: str
    cancel_url: str
    customer_id: str = ""


@dataclass(frozen=True, kw_only=True)
class PlanChangeOrder:
    """What is changed to, and where a payer who has to approve it returns to."""

    price_id: str
    approved_url: str
    cancel_url: str


@dataclass(frozen=True, kw_only=True)
class PlanChange:
    """What a change of plan led to: the new state at once, or an address where the payer must approve it."""

    fact: SubscriptionFact | None = None
    approval_url: str = ""


class Provider(Protocol):
    """One payment provider. Each verb takes at most 10 seconds and raises ProviderFailed; `key` makes it safe to
    repeat."""

    name: PaymentProvider

    def create_checkout(self, order: CheckoutOrder, *, key: str) -> str:
        """The address of the page where the buyer pays."""
        ...

    def portal_url(self, customer_id: str, *, return_url: str, key: str) -> str:
        """The address where the customer sees invoices and changes the card."""
        ...

    def fetch_subscription(self, subscription_id: str) -> SubscriptionFact:
        """The present state; UnknownAtProvider when there is none. `fetched` is set."""
        ...

    def fetch_payments(self, subscription_id: str, *, since: datetime) -> list[PaymentFact]:
        """The payments for a subscription since an instant, oldest first."""
        ...

    def cancel_at_period_end(self, subscription_id: str, *, key: str) -> SubscriptionFact | None:
        """Let the subscription run out: the new state. None at a provider that knows no such thing: the mark is
        ours."""
        ...

    def keep(self, subscription_id: str, *, key: str) -> SubscriptionFact | None:
        """Take back `cancel_at_period_end`: the new state, or None as there."""
        ...

    def change_plan(self, subscription_id: str, order: PlanChangeOrder, *, at: datetime, key: str) -> PlanChange:
        """Move to another price, prorated at `at`."""
        ...

    def cancel_now(self, subscription_id: str, *, key: str) -> None:
        """End the subscription at once; one that has ended already, or is unknown, is left alone."""
        ...

    def ensure_price(self, plan: Plan, cycle: BillingCycle, amount: Decimal) -> str:
        """The id of the price for a plan and cycle, found or made."""
        ...
