"""Calendar of a subscription: billing days, and the month for which AI credits are granted."""

import calendar
from dataclasses import dataclass
from datetime import UTC, datetime

from billing.models import BillingCycle, Subscription

MONTHS = {BillingCycle.MONTHLY: 1, BillingCycle.ANNUAL: 12}


@dataclass(frozen=True)
class Window:
    """A month of credits: from `start` up to, not including, `end`."""

    start: datetime
    end: datetime


def months_after(anchor: datetime, months: int) -> datetime:
    """The same day and time so many months later, in UTC; a day that the month lacks falls on its last day.

    Counting from one anchor keeps the 31st: January 31st, February 28th, March 31st.
    """
    anchor = anchor.astimezone(UTC)
    index = anchor.year * 12 + anchor.month - 1 + months
    year, month = index // 12, index % 12 + 1
    return anchor.replace(year=year, month=month, day=min(anchor.day, calendar.monthrange(year, month)[1]))


def next_period_end(anchor: datetime, start: datetime, cycle: str) -> datetime:
    """The first billing day after `start` that a whole number of cycles separates from the anchor."""
    months = MONTHS[BillingCycle(cycle)]
    cycles = _whole_months(anchor, start) // months
    return months_after(anchor, (cycles + 1) * months)


def credit_window(subscription: Subscription, now: datetime) -> Window:
    """The month of credits that holds: the whole period of a monthly plan, the month around `now` of an annual one.

    Never outside the paid period: when the renewal is late the last month goes on.
    """
    start, end = subscription.current_period_start, subscription.current_period_end
    if start is None or end is None:
        raise ValueError("A subscription without a period has no credits")
    if subscription.cycle == BillingCycle.MONTHLY:
        return Window(start, end)
    anchor = subscription.anchored_at or start
    count = _whole_months(anchor, max(start, min(now, end - datetime.resolution)))
    return Window(max(start, months_after(anchor, count)), min(end, months_after(anchor, count + 1)))


def _whole_months(anchor: datetime, instant: datetime) -> int:
    # How many months fit between the two; the count may be one too high when the day or time is not reached yet.
    instant = instant.astimezone(UTC)
    count = (instant.year - anchor.astimezone(UTC).year) * 12 + instant.month - anchor.astimezone(UTC).month
    return count if months_after(anchor, count) <= instant else count - 1
