"""What a payment provider told us, in our own words: plain values between the parsers and the services.

A fact names its subscription by provider and the provider's id, and says when it became true (`occurred_at`, the
provider's clock, whole seconds). Services apply facts in any order and any number of times; see docs/billing.md.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from billing.models import PaymentProvider, SubscriptionStatus


@dataclass(frozen=True, kw_only=True)
class CheckoutCompleted:
    """A buyer finished the hosted page. It says nothing of plan or period: `confirm` fetches the subscription."""

    provider: PaymentProvider
    subscription_id: str
    occurred_at: datetime
    organization_id: str
    customer_id: str = ""


@dataclass(frozen=True, kw_only=True)
class SubscriptionFact:
    """The state of a subscription at one instant.

    `status` is pending, active, past_due or, once over, inactive or cancelled. `cancel_at_period_end` is None where the
    provider knows no such thing; then our own mark stays. `organization_id` counts only for a subscription not seen
    before. `fetched` marks a snapshot that we asked for; `based_on` is the version of our row when we asked (None: no
    row), and a row that changed since then refuses the snapshot.
    """

    provider: PaymentProvider
    subscription_id: str
    occurred_at: datetime
    status: SubscriptionStatus
    price_id: str
    organization_id: str = ""
    customer_id: str = ""
    cancel_at_period_end: bool | None = None
    period_start: datetime | None = None
    period_end: datetime | None = None
    started_at: datetime | None = None
    fetched: bool = False
    based_on: int | None = None


@dataclass(frozen=True, kw_only=True)
class SubscriptionEnded:
    """A subscription is over for good. `status` is the word for it: inactive (cardpay) or cancelled (walletpay)."""

    provider: PaymentProvider
    subscription_id: str
    occurred_at: datetime
    status: SubscriptionStatus
    organization_id: str = ""
    price_id: str = ""


@dataclass(frozen=True, kw_only=True)
class PaymentFact:
    """Money arrived. `amount` is in whole units of `currency` (lower case).

    The period is the one paid for; None where the provider does not say. `opens_period` is false for a charge within a
    running period (a proration). `confirmed` says that the subscription's state was fetched and stands before this
    fact.
    """

    provider: PaymentProvider
    subscription_id: str
    occurred_at: datetime
    invoice_id: str
    amount: Decimal
    currency: str
    opens_period: bool = True
    period_start: datetime | None = None
    period_end: datetime | None = None
    pdf_url: str = ""
    organization_id: str = ""
    confirmed: bool = False


@dataclass(frozen=True, kw_only=True)
class PaymentFailure:
    """A charge was refused; `attempt` counts from 1 per invoice, `next_attempt_at` is None after the last one."""

    provider: PaymentProvider
    subscription_id: str
    occurred_at: datetime
    invoice_id: str
    amount: Decimal
    currency: str
    attempt: int = 1
    next_attempt_at: datetime | None = None
    organization_id: str = ""
    confirmed: bool = False


Fact = CheckoutCompleted | SubscriptionFact | SubscriptionEnded | PaymentFact | PaymentFailure
