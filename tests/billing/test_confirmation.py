"""When the provider is asked before a fact is applied, and whose subscription its answer is."""

from datetime import timedelta
from typing import Any

import pytest

from billing.facts import CheckoutCompleted, PaymentFact, PaymentFailure, SubscriptionFact
from billing.models import Subscription
from billing.services.inflow import confirm
from billing.services.subscriptions import standing_of
from tests.billing.test_inflow import NOW, fact

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def asks(server: Any, told: Any) -> bool:
    before = len(server.asked)
    confirm([told])
    return len(server.asked) > before


class TestStates:
    """A state is asked for when it is no newer than ours and says something else."""

    @pytest.mark.parametrize(
        ("known", "told"),
        [
            ({}, {"status": "past_due"}),
            ({"status": "past_due"}, {}),
            ({}, {"cancel_at_period_end": True}),
            ({"status": "cancelling", "cancel_at_period_end": True}, {"cancel_at_period_end": False}),
            ({}, {"price_id": "price_team_monthly"}),
            ({}, {"price_id": "price_enterprise_monthly"}),
            ({}, {"price_id": "price_pro_annual"}),
        ],
        ids=["unpaid", "paid", "runs out", "goes on", "plan after ours", "plan before ours", "other cycle"],
    )
    @pytest.mark.parametrize(("seconds", "asked"), [(-1, True), (0, True), (1, False)], ids=["older", "same", "newer"])
    def test_it_is_asked_for_when_it_differs_and_is_no_newer(self, cardpay, by_card, known, told, seconds, asked):
        Subscription.objects.update(**known)
        at = by_card.fact_at + timedelta(seconds=seconds)

        state = fact(SubscriptionFact, "", subscription_id=by_card.external_id, occurred_at=at, **told)

        assert asks(cardpay, state) == asked

    @pytest.mark.parametrize(
        ("start", "end", "asked"),
        [(0, 0, False), (1, 1, True), (-1, -1, True), (0, 1, True), (0, -1, True), (1, 0, True), (-1, 0, True)],
    )
    def test_a_period_differs_by_its_start_or_its_end(self, cardpay, by_card, start, end, asked):
        period = {
            "period_start": by_card.current_period_start + start * DAY,
            "period_end": by_card.current_period_end + end * DAY,
        }

        state = fact(
            SubscriptionFact, "", subscription_id=by_card.external_id, occurred_at=by_card.fact_at - DAY, **period
        )

        assert asks(cardpay, state) == asked

    def test_one_that_says_the_same_is_not_asked_for(self, cardpay, by_card):
        state = fact(SubscriptionFact, "", subscription_id=by_card.external_id, occurred_at=by_card.fact_at)

        assert confirm([state]) == [state]

    def test_one_that_the_provider_does_not_know_is_taken_as_it_was_told(self, cardpay, by_card):
        cardpay.subscriptions.clear()
        told = {"occurred_at": by_card.fact_at, "status": "past_due"}
        state = fact(SubscriptionFact, "", subscription_id=by_card.external_id, **told)

        assert confirm([state]) == [state]


class TestPayments:
    @pytest.mark.parametrize(
        ("fixture", "status", "seconds", "told", "asked"),
        [
            ("by_card", "active", 0, {}, False),
            ("by_card", "active", -1, {}, False),
            ("by_card", "cancelling", 0, {}, False),
            ("by_card", "past_due", 1, {}, False),
            ("by_card", "past_due", 0, {}, True),
            ("by_card", "past_due", -1, {}, True),
            ("by_card", "pending", 1, {}, True),
            ("by_wallet", "active", 1, {}, True),
            ("by_wallet", "active", 1, {"opens_period": False}, False),
            ("by_wallet", "active", 1, {"period_start": NOW}, False),
        ],
    )
    def test_the_state_is_asked_for_when_the_payment_does_not_tell_it(
        self, request, fixture, status, seconds, told, asked
    ):
        row = request.getfixturevalue(fixture)
        Subscription.objects.update(status=status)
        common = {"provider": row.provider, "subscription_id": row.external_id}

        payment = fact(PaymentFact, "", occurred_at=row.fact_at + timedelta(seconds=seconds), **common, **told)

        assert asks(request.getfixturevalue(row.provider), payment) == asked

    @pytest.mark.parametrize(
        ("status", "seconds", "asked"),
        [
            ("active", 1, False),
            ("active", 0, True),
            ("active", -1, True),
            ("cancelling", -1, True),
            ("past_due", 0, False),
            ("past_due", -1, False),
            ("pending", 1, False),
            ("pending", 0, True),
        ],
    )
    def test_so_it_is_for_a_refused_one_that_is_news_and_no_newer(self, cardpay, by_card, status, seconds, asked):
        Subscription.objects.update(status=status)
        at = by_card.fact_at + timedelta(seconds=seconds)

        refusal = fact(PaymentFailure, "", subscription_id=by_card.external_id, occurred_at=at)

        assert asks(cardpay, refusal) == asked


class TestWhoseItIs:
    @pytest.mark.parametrize(
        ("kind", "told", "at_the_provider", "whose"),
        [
            (CheckoutCompleted, "buyer", "another", "buyer"),
            (CheckoutCompleted, "", "buyer", "buyer"),
            (PaymentFact, "another", "buyer", "buyer"),
            (PaymentFact, "buyer", "", "buyer"),
            (PaymentFailure, "another", "buyer", "buyer"),
        ],
    )
    def test_a_checkout_says_it_best_and_then_the_provider(self, cardpay, kind, told, at_the_provider, whose):
        there = cardpay.subscribe(at_the_provider)

        state, *_ = confirm([fact(kind, told, subscription_id=there["id"])])

        assert (state.organization_id, state.based_on, state.occurred_at) == (whose, None, NOW)

    def test_an_answer_says_on_which_version_of_our_row_it_is_based(self, cardpay, by_card):
        Subscription.objects.update(version=1000)

        [state] = confirm([fact(CheckoutCompleted, "", subscription_id=by_card.external_id)])

        assert state.based_on == 1000


@pytest.mark.parametrize(
    ("held", "ran_out", "told", "runs_out", "fetched", "standing"),
    [
        ("active", False, "active", None, False, ("active", False)),
        ("active", False, "past_due", None, False, ("past_due", False)),
        ("active", False, "active", True, False, ("cancelling", True)),
        ("cancelling", True, "active", None, False, ("cancelling", True)),
        ("cancelling", True, "active", False, False, ("active", False)),
        ("pending", False, "pending", True, False, ("pending", True)),
        ("cancelling", True, "pending", None, False, ("pending", True)),
        ("past_due", False, "past_due", True, False, ("cancelling", True)),
        ("past_due", False, "past_due", True, True, ("cancelling", True)),
        ("past_due", True, "past_due", True, True, ("past_due", True)),
        ("past_due", True, "past_due", None, True, ("past_due", True)),
        ("past_due", True, "past_due", True, False, ("cancelling", True)),
        ("cancelling", True, "past_due", True, True, ("cancelling", True)),
        ("pending", True, "past_due", True, True, ("cancelling", True)),
        ("past_due", True, "active", True, True, ("cancelling", True)),
    ],
)
def test_one_that_runs_out_and_is_unpaid_keeps_its_word_until_the_running_out_is_news(
    held, ran_out, told, runs_out, fetched, standing
):
    row = Subscription(status=held, cancel_at_period_end=ran_out)
    state = fact(SubscriptionFact, "", status=told, cancel_at_period_end=runs_out, fetched=fetched)

    assert standing_of(state, row) == standing
