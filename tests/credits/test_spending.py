"""Reserving, settling, giving back, and what AI operations cost."""

from datetime import timedelta

import pytest
from django.utils import timezone

from credits import costs, services
from credits.models import CreditEntry, Operation
from credits.selectors import balance_of
from tests.credits.conftest import account_of, month

pytestmark = pytest.mark.django_db


def reserve(organization, credits=5, key="run-1", **options):
    return services.reserve(
        organization=organization, operation=Operation.AI_SCAN_SUMMARY, credits=credits, key=key, **options
    )


def settle(reservation):
    return services.settle(reservation_id=reservation.pk, description="Summary")


class TestReserve:
    def test_nobody_sees_it_spent(self, credited):
        reserve(credited)

        assert balance_of(credited).balance == 500
        assert CreditEntry.objects.count() == 1

    def test_what_is_reserved_cannot_be_taken_twice(self, credited):
        reserve(credited, 300)

        with pytest.raises(services.NotEnoughCredits) as refusal:
            reserve(credited, 300, key="run-2")
        assert refusal.value.message == "This needs 300 AI credits and 200 are left; the plan Team grants more"

    def test_the_same_key_is_the_same_reservation(self, credited):
        assert reserve(credited).pk == reserve(credited).pk
        assert account_of(credited).reserved == 5

    def test_without_a_plan_there_is_nothing_to_reserve(self, organization):
        with pytest.raises(services.NotEnoughCredits):
            reserve(organization)


class TestSettle:
    def test_the_credits_are_taken_and_the_history_says_for_what(self, credited):
        entry = settle(reserve(credited))

        assert (entry.type, entry.operation, entry.amount, entry.balance) == ("consumption", "ai_scan_summary", -5, 495)
        account = account_of(credited)
        assert (account.balance, account.reserved, account.used) == (495, 0, 5)
        assert account.reservations.get().held == 0

    def test_settling_again_answers_with_the_same_entry(self, credited):
        reservation = reserve(credited)

        assert settle(reservation).pk == settle(reservation).pk
        assert balance_of(credited).balance == 495

    def test_what_was_given_back_is_not_taken(self, credited):
        reservation = reserve(credited)
        services.release(reservation_id=reservation.pk)

        with pytest.raises(services.spending.AlreadyReleased):
            settle(reservation)
        assert balance_of(credited).balance == 500

    def test_on_an_unlimited_account_it_is_counted_only(self, organization):
        services.allocate(organization=organization, allocation=month(-1))

        entry = settle(reserve(organization))

        assert (entry.amount, entry.cost) == (0, 5)
        assert balance_of(organization).used == 5


class TestRelease:
    def test_the_credits_are_free_again_and_no_trace_is_left(self, credited):
        reservation = reserve(credited, 500)
        for _ in range(2):
            services.release(reservation_id=reservation.pk)

        assert account_of(credited).available == 500
        assert CreditEntry.objects.count() == 1

    def test_what_was_settled_stays_taken(self, credited):
        reservation = reserve(credited)
        settle(reservation)
        services.release(reservation_id=reservation.pk)

        assert balance_of(credited).balance == 495


class TestSpend:
    def test_what_is_not_there_cannot_be_spent(self, credited):
        with pytest.raises(services.NotEnoughCredits, match="This needs 501 AI credits and 500 are left"):
            services.spend(
                organization=credited, operation=Operation.AI_CROSS_FILE, credits=501, key="k", description="Too much"
            )

        assert CreditEntry.objects.count() == 1


class TestLapse:
    def test_a_reservation_that_nobody_settles_ends(self, credited):
        reserve(credited, 500, lifetime=timedelta(minutes=5))

        assert services.lapse_overdue_reservations(now=timezone.now()) == 0
        assert services.lapse_overdue_reservations(now=timezone.now() + timedelta(minutes=6)) == 1
        assert account_of(credited).available == 500

    def test_one_that_is_settled_at_the_last_moment_does_not_end(self, credited, just_before):
        reservation = reserve(credited)

        with just_before('FROM "credits_creditaccount"', lambda: settle(reservation)):
            assert services.lapse_overdue_reservations(now=timezone.now() + timedelta(hours=1)) == 0

        assert balance_of(credited).balance == 495

    def test_work_that_ends_late_takes_what_is_left_at_most(self, credited):
        reservation = reserve(credited, 15)
        services.lapse_overdue_reservations(now=timezone.now() + timedelta(hours=1))
        services.spend(
            organization=credited, operation=Operation.AI_PR_COMMENT, credits=490, key="other", description="Comments"
        )

        assert settle(reservation).amount == -10
        assert balance_of(credited).balance == 0

    def test_when_nothing_is_left_nothing_is_taken(self, credited):
        reservation = reserve(credited)
        services.withdraw(organization=credited)

        assert settle(reservation) is None
        assert account_of(credited).reserved == 0

    def test_a_reset_does_not_wait_for_reservations(self, credited):
        reserve(credited, 400)
        services.allocate(organization=credited, allocation=month(50, window="sub_1:2026-12"))

        account = account_of(credited)
        assert (account.balance, account.reserved) == (50, 0)


class TestCosts:
    @pytest.mark.parametrize(
        ("files", "credits"), [(0, 10), (1, 10), (20, 10), (21, 11), (24, 11), (25, 12), (40, 15), (41, 15), (4000, 15)]
    )
    def test_cross_file_analysis_costs_ten_to_fifteen(self, files, credits):
        assert costs.cross_file(files) == credits

    def test_the_others_have_one_price(self):
        assert (costs.SCAN_SUMMARY, costs.FIX_SUGGESTION, costs.PR_COMMENT) == (5, 3, 5)
