"""What a payment moves: the clock of the subscription, its period, and an unpaid one back to its plan."""

from datetime import UTC, datetime, timedelta

import pytest

from billing.facts import PaymentFact, SubscriptionFact
from billing.models import CancellationOrder, Payment, Subscription
from billing.services.inflow import record
from tests.billing.test_inflow import DECEMBER, JANUARY, NOW, fact

pytestmark = pytest.mark.django_db

OCTOBER = datetime(2026, 10, 20, 12, tzinfo=UTC)
PRICES = {"cardpay": "price_pro_monthly", "walletpay": "P-PRO-MONTHLY"}


@pytest.fixture
def subscribed(organization):
    """`subscribed("cardpay")`: the organization pays for pro from November to December."""

    def begin(provider: str = "cardpay", **changes: object) -> Subscription:
        told = {"provider": provider, "price_id": PRICES[provider], "period_start": NOW, "period_end": DECEMBER}
        record([fact(SubscriptionFact, str(organization.pk), **told)])
        Subscription.objects.update(**changes)
        return Subscription.objects.get()

    return begin


def paid(provider: str = "cardpay", **told: object) -> PaymentFact:
    return fact(PaymentFact, "", provider=provider, **told)


@pytest.mark.parametrize(
    ("seconds", "moves"), [(-1, False), (0, False), (1, True)], ids=["older", "the same second", "newer"]
)
def test_the_clock_goes_forward_only(subscribed, seconds, moves):
    before = subscribed()
    at = NOW + timedelta(seconds=seconds)

    record([paid(occurred_at=at)])

    after = Subscription.objects.get()
    assert (after.fact_at, after.version) == ((at, before.version + 1) if moves else (NOW, before.version))
    assert Payment.objects.get().paid_at == at


def test_a_payment_that_is_told_again_writes_nothing(subscribed, organization):
    subscribed()
    told = paid(occurred_at=NOW + timedelta(days=1), period_start=DECEMBER, period_end=JANUARY)
    record([told])
    organization.refresh_from_db()
    before = (Subscription.objects.values().get(), Payment.objects.values().get(), organization.updated_at)

    record([told])

    organization.refresh_from_db()
    assert (Subscription.objects.values().get(), Payment.objects.values().get(), organization.updated_at) == before


@pytest.mark.parametrize(
    ("status", "runs_out", "seconds", "confirmed", "then"),
    [
        ("past_due", False, 1, False, "active"),
        ("past_due", False, 0, False, "active"),
        ("past_due", False, -1, False, "past_due"),
        ("past_due", False, 1, True, "past_due"),
        ("past_due", True, 0, False, "cancelling"),
        ("cancelling", True, 1, False, "cancelling"),
        ("pending", False, 1, False, "pending"),
    ],
)
def test_one_that_is_no_older_heals_what_is_unpaid_unless_the_state_was_asked_for(
    subscribed, status, runs_out, seconds, confirmed, then
):
    subscribed(status=status, cancel_at_period_end=runs_out)

    record([paid(occurred_at=NOW + timedelta(seconds=seconds), confirmed=confirmed)])

    assert Subscription.objects.get().status == then


class TestPeriod:
    @pytest.mark.parametrize(
        ("provider", "told", "period"),
        [
            ("cardpay", {"period_start": DECEMBER, "period_end": JANUARY}, (DECEMBER, JANUARY)),
            ("cardpay", {"period_start": NOW, "period_end": JANUARY}, (NOW, DECEMBER)),
            ("cardpay", {"period_start": OCTOBER, "period_end": JANUARY}, (NOW, DECEMBER)),
            ("cardpay", {"period_start": DECEMBER}, (NOW, DECEMBER)),
            ("cardpay", {"period_end": JANUARY}, (NOW, DECEMBER)),
            ("cardpay", {}, (NOW, DECEMBER)),
            ("walletpay", {}, (DECEMBER, JANUARY)),
            ("walletpay", {"opens_period": False}, (NOW, DECEMBER)),
            ("walletpay", {"period_end": NOW}, (DECEMBER, JANUARY)),
            (
                "walletpay",
                {"period_start": JANUARY, "period_end": JANUARY + timedelta(days=7)},
                (JANUARY, JANUARY + timedelta(days=7)),
            ),
        ],
    )
    def test_one_that_is_paid_for_counts_when_it_is_later(self, subscribed, provider, told, period):
        subscribed(provider)

        record([paid(provider, occurred_at=DECEMBER, **told)])

        row = Subscription.objects.get()
        assert (row.current_period_start, row.current_period_end) == period
        assert not CancellationOrder.objects.exists()

    @pytest.mark.parametrize("seconds", [-1, 0, 1], ids=["older", "the same second", "newer"])
    def test_so_it_does_however_late_the_payment_is_told(self, subscribed, seconds):
        subscribed()

        record([paid(occurred_at=NOW + timedelta(seconds=seconds), period_start=DECEMBER, period_end=JANUARY)])

        assert Subscription.objects.get().current_period_end == JANUARY

    @pytest.mark.parametrize(
        ("provider", "told", "start"),
        [
            ("cardpay", {"period_start": DECEMBER, "period_end": JANUARY}, DECEMBER),
            ("cardpay", {}, None),
            ("walletpay", {}, None),
        ],
    )
    def test_the_first_one_fixes_the_billing_day(self, subscribed, provider, told, start):
        subscribed(provider, status="pending", current_period_start=None, current_period_end=None, anchored_at=None)

        record([paid(provider, occurred_at=DECEMBER, **told)])

        row = Subscription.objects.get()
        assert (row.current_period_start, row.anchored_at) == (start, start)

    def test_a_later_one_keeps_the_billing_day(self, subscribed):
        subscribed(anchored_at=OCTOBER)

        record([paid(occurred_at=DECEMBER, period_start=DECEMBER, period_end=JANUARY)])

        assert Subscription.objects.get().anchored_at == OCTOBER

    @pytest.mark.parametrize(
        ("anchor", "end"),
        [(datetime(2026, 10, 31, 12, tzinfo=UTC), datetime(2026, 12, 31, 12, tzinfo=UTC)), (None, JANUARY)],
        ids=["counted from the anchor", "without one from its beginning"],
    )
    def test_the_next_one_of_a_wallet_ends_on_the_billing_day(self, subscribed, anchor, end):
        subscribed("walletpay", anchored_at=anchor)

        record([paid("walletpay", occurred_at=DECEMBER)])

        assert Subscription.objects.get().current_period_end == end
