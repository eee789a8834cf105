"""What a change of plan costs, by the seconds left in the period (contract, section 5). Amounts in whole currency
units."""

from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


@dataclass(frozen=True)
class Proration:
    """`credit` is the unused part of what was paid, `due` what is owed for the new plan, `difference` what is charged
    now.

    `difference` is negative on a downgrade.
    """

    credit: Decimal
    due: Decimal
    difference: Decimal


def prorate(
    *, price: Decimal, new_price: Decimal, start: datetime, end: datetime, at: datetime, same_cycle: bool
) -> Proration:
    """The figures of a change at `at` in the period from `start` to `end`.

    With the same cycle the new plan is paid for the rest of the period. With another cycle the provider starts a new
    period at once, so the whole new price is due. Rounded to cents at the end, halves up, as the card provider does.

    Example: 29.00 for 30 days, changed to 99.00 after 15 days: credit 14.50, difference 49.50 - 14.50 = 35.00.
    """
    left = _share_left(start, end, at)
    credit = price * left
    share = new_price * left if same_cycle else new_price
    return Proration(_cents(credit), _cents(max(Decimal(0), new_price - credit)), _cents(share - credit))


def _share_left(start: datetime, end: datetime, at: datetime) -> Decimal:
    left = Decimal((end - at).total_seconds()) / Decimal((end - start).total_seconds())
    return min(Decimal(1), max(Decimal(0), left))


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)
