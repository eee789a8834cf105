"""Billing days: months of 28 to 31 days, leap years, annual plans, twenty years on end (B6)."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.models import BillingCycle, Subscription
from billing.periods import credit_window, months_after, next_period_end


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def annual(start: datetime, anchor: datetime | None = None) -> Subscription:
    anchor = anchor or start
    return Subscription(
        cycle=BillingCycle.ANNUAL,
        anchored_at=anchor,
        current_period_start=start,
        current_period_end=next_period_end(anchor, start, BillingCycle.ANNUAL),
    )


class TestMonthsAfter:
    @pytest.mark.parametrize(
        ("anchor", "months", "expected"),
        [
            ("2026-01-31", 1, "2026-02-28"),
            ("2026-01-31", 2, "2026-03-31"),
            ("2026-01-31", 3, "2026-04-30"),
            ("2028-01-31", 1, "2028-02-29"),
            ("2028-02-29", 12, "2029-02-28"),
            ("2028-02-29", 48, "2032-02-29"),
            ("2026-01-29", 1, "2026-02-28"),
            ("2026-12-15", 1, "2027-01-15"),
            ("2026-01-31", -2, "2025-11-30"),
        ],
    )
    def test_the_day_stays_where_the_month_has_it(self, anchor, months, expected):
        assert months_after(at(anchor), months) == at(expected)

    def test_the_day_is_that_of_utc_in_whatever_zone_it_is_told(self):
        tokyo = timezone(timedelta(hours=9))

        assert months_after(datetime(2026, 2, 1, 8, tzinfo=tokyo), 1) == at("2026-02-28T23:00")


class TestCreditWindow:
    def test_a_monthly_plan_has_its_period(self):
        row = Subscription(cycle="monthly", current_period_start=at("2026-01-31"), current_period_end=at("2026-02-28"))

        window = credit_window(row, at("2031-01-01"))

        assert (window.start, window.end) == (at("2026-01-31"), at("2026-02-28"))

    def test_a_monthly_plan_has_its_period_however_long_the_provider_makes_it(self):
        start, end = at("2026-01-31"), at("2026-04-10")
        row = Subscription(cycle="monthly", anchored_at=start, current_period_start=start, current_period_end=end)

        window = credit_window(row, at("2026-03-05"))

        assert (window.start, window.end) == (start, end)

    def test_a_year_without_a_billing_day_is_counted_from_its_beginning(self):
        row = Subscription(cycle="annual", current_period_start=at("2026-03-15"), current_period_end=at("2027-03-15"))

        window = credit_window(row, at("2026-06-20"))

        assert (window.start, window.end) == (at("2026-06-15"), at("2026-07-15"))

    @pytest.mark.parametrize(
        ("now", "start", "end"),
        [("2026-02-12", "2026-02-10", "2026-02-28"), ("2027-01-30", "2026-12-31", "2027-01-20")],
        ids=["the first month", "the last month"],
    )
    def test_a_month_ends_where_the_year_does(self, now, start, end):
        row = Subscription(
            cycle="annual",
            anchored_at=at("2025-12-31"),
            current_period_start=at("2026-02-10"),
            current_period_end=at("2027-01-20"),
        )

        window = credit_window(row, at(now))

        assert (window.start, window.end) == (at(start), at(end))

    @pytest.mark.parametrize(
        ("now", "start", "end"),
        [
            ("2026-01-31T12:00", "2026-01-31", "2026-02-28"),
            ("2026-02-27T23:59:59", "2026-01-31", "2026-02-28"),
            ("2026-02-28", "2026-02-28", "2026-03-31"),
            ("2026-12-31", "2026-12-31", "2027-01-31"),
            ("2025-06-01", "2026-01-31", "2026-02-28"),
            ("2027-03-01", "2026-12-31", "2027-01-31"),
        ],
    )
    def test_an_annual_plan_has_the_month_around_now_within_its_year(self, now, start, end):
        window = credit_window(annual(at("2026-01-31")), at(now))

        assert (window.start, window.end) == (at(start), at(end))

    @pytest.mark.parametrize(
        "day", ["2026-01-28", "2026-01-29", "2026-01-30", "2026-01-31", "2028-02-29", "2027-12-31"]
    )
    def test_twenty_years_have_twelve_resets_each(self, day):
        anchor = start = at(day)
        for _ in range(20):
            row = annual(start, anchor)
            year = (row.current_period_end - start).days
            instants = [start + timedelta(hours=12 * half) for half in range(2 * year)]
            windows = {credit_window(row, instant) for instant in instants}
            assert len(windows) == 12
            ordered = sorted(windows, key=lambda window: window.start)
            assert ordered[0].start == start
            assert ordered[-1].end == row.current_period_end
            assert all(earlier.end == later.start for earlier, later in pairwise(ordered))
            start = row.current_period_end

    @given(st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)), st.integers(0, 400 * 86400))
    def test_now_lies_in_its_window_while_the_year_lasts(self, start, seconds):
        row = annual(start.replace(tzinfo=UTC))
        now = row.current_period_start + timedelta(seconds=seconds)

        window = credit_window(row, now)

        assert window.start < window.end <= row.current_period_end
        assert now >= row.current_period_end or window.start <= now < window.end


@pytest.mark.parametrize(
    ("anchor", "start", "cycle", "end"),
    [
        ("2026-01-31", "2026-02-10", "monthly", "2026-02-28"),
        ("2026-01-31", "2026-01-31T00:00:01", "monthly", "2026-02-28"),
        ("2026-01-31", "2026-01-30", "monthly", "2026-01-31"),
        ("2026-01-31", "2027-05-01", "annual", "2028-01-31"),
        ("2026-01-31", "2025-05-01", "annual", "2026-01-31"),
    ],
)
def test_a_period_that_begins_between_billing_days_ends_on_the_next_one(anchor, start, cycle, end):
    assert next_period_end(at(anchor), at(start), cycle) == at(end)


@given(
    st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)),
    st.integers(0, 200),
    st.sampled_from([BillingCycle.MONTHLY, BillingCycle.ANNUAL]),
)
def test_periods_follow_one_another_without_a_gap(anchor, months, cycle):
    anchor = anchor.replace(tzinfo=UTC)
    length = 1 if cycle == BillingCycle.MONTHLY else 12
    start = months_after(anchor, months * length)

    assert next_period_end(anchor, start, cycle) == months_after(anchor, (months + 1) * length)
