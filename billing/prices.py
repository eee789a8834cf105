"""The price table: which price at which provider is which plan and cycle.

The settings CARDPAY_PRICES and WALLETPAY_PLANS come first, then the rows that `manage.py sync_prices` wrote.
"""

from decimal import Decimal
from typing import Any

from django.conf import settings

from billing.models import BillingCycle, PaymentProvider, Plan, Price
from config.errors import Conflict, Unavailable

CURRENCY = "usd"
SETTING_OF = {PaymentProvider.CARDPAY: "CARDPAY_PRICES", PaymentProvider.WALLETPAY: "WALLETPAY_PLANS"}


class UnknownPrice(Conflict):
    """A provider names a price that is in no table: an error, since guessing a plan would give or take what was
    paid."""

    message = "The price is in no price table"


class PriceNotSetUp(Unavailable):
    message = "This plan and billing cycle cannot be bought through this payment provider yet"


def price_id_of(provider: str, plan: Plan, cycle: str) -> str:
    """The provider's id of the price that is sold now; PriceNotSetUp when there is none."""
    given = _given(provider).get(f"{plan.pk}_{cycle}")
    if given:
        return str(given)
    row = _sold(provider, plan, cycle)
    if row is None:
        raise PriceNotSetUp
    return row.external_id


def amount_sold(provider: str, plan: Plan, cycle: str) -> Decimal:
    """What is charged for a plan and cycle that are bought now: by the table, else the plan's own price."""
    row = None if _given(provider).get(f"{plan.pk}_{cycle}") else _sold(provider, plan, cycle)
    return row.amount if row else plan.price(cycle)


def amount_of(provider: str, price_id: str) -> Decimal | None:
    """What a price costs, former ones too; None where the table does not have it, as with those of the settings."""
    return Price.objects.filter(provider=provider, external_id=price_id).values_list("amount", flat=True).first()


def plan_of(provider: str, price_id: str) -> tuple[str, BillingCycle]:
    """The plan's id and the cycle behind a provider's price; UnknownPrice when it is in no table."""
    for name, given in _given(provider).items():
        plan_id, _, cycle = name.rpartition("_")
        if given == price_id:
            return plan_id, BillingCycle(cycle)
    row = Price.objects.filter(provider=provider, external_id=price_id).first()
    if row is None:
        raise UnknownPrice(f"The price {price_id!r} of {provider} is in no price table")
    return row.plan_id, BillingCycle(row.cycle)


def _sold(provider: str, plan: Plan, cycle: str) -> Price | None:
    return Price.objects.filter(provider=provider, plan=plan, cycle=cycle, is_current=True).first()


def _given(provider: str) -> dict[str, Any]:
    given: dict[str, Any] = getattr(settings, SETTING_OF[PaymentProvider(provider)])
    return given
