"""Facts about organizations that are gone or never were, facts that come too late, and races they take part in."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.db.models import F
from django.utils import timezone

from accounts.models import Letter
from billing.facts import CheckoutCompleted, Fact, PaymentFact, PaymentFailure, SubscriptionEnded, SubscriptionFact
from billing.models import CancellationOrder, Payment, Plan, Subscription
from billing.periods import credit_window, months_after
from billing.services.inflow import confirm, record
from billing.services.reconciliation import reconcile
from billing.services.renewals import renew_due_credits
from billing.services.subscriptions import UnknownSubscription, end_subscription
from credits.models import CreditEntry
from credits.selectors import balance_of
from organizations.models import Organization
from tests import factories
from tests.billing.conftest import known

pytestmark = pytest.mark.django_db

# Statements that take a lock, or that come right after the provider has answered.
ORGANIZATION = 'FROM "organizations_organization"'
HELD = '"billing_subscription"."organization_id" FROM "billing_subscription"'
ACCOUNT = 'FROM "credits_creditaccount"'
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DECEMBER, JANUARY = datetime(2026, 12, 20, 12, tzinfo=UTC), datetime(2027, 1, 20, 12, tzinfo=UTC)


def fact(kind: type[Fact], organization_id: str, **fields: Any) -> Any:
    """A fact of the kind about the card subscription `sub_9`."""
    particular: dict[type[Fact], dict[str, Any]] = {
        CheckoutCompleted: {},
        SubscriptionFact: {"status": "active", "price_id": "price_pro_monthly"},
        SubscriptionEnded: {"status": "inactive", "price_id": "price_pro_monthly"},
        PaymentFact: {"invoice_id": "in_9", "amount": Decimal(29), "currency": "usd"},
        PaymentFailure: {"invoice_id": "in_9", "amount": Decimal(29), "currency": "usd"},
    }
    common = {"provider": "cardpay", "subscription_id": "sub_9", "occurred_at": NOW, "organization_id": organization_id}
    return kind(**{**common, **particular[kind], **fields})


KINDS = [SubscriptionFact, SubscriptionEnded, PaymentFact, PaymentFailure]


class TestOrganizations:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("organization_id", ["", "acme", "01a20000-0000-7000-8000-000000000000"])
    def test_what_is_told_of_one_that_never_was_stays_an_error(self, cardpay, kind, organization_id):
        with pytest.raises(UnknownSubscription):
            record(confirm([fact(kind, organization_id)]))

    def test_an_end_that_does_not_say_which_plan_waits_for_the_beginning(self, organization):
        with pytest.raises(UnknownSubscription):
            record([fact(SubscriptionEnded, str(organization.pk), price_id="")])

    @pytest.mark.parametrize(
        ("kind", "status", "orders"),
        [
            (SubscriptionFact, {"status": "active"}, 1),
            (SubscriptionFact, {"status": "inactive"}, 0),
            (SubscriptionEnded, {}, 0),
            (PaymentFact, {}, 0),
            (PaymentFailure, {}, 0),
        ],
    )
    def test_what_is_told_of_one_that_was_deleted_is_forgotten(self, as_owner, organization, kind, status, orders):
        assert as_owner.delete(f"/v1/orgs/{organization.pk}").status_code == 204

        record(confirm([fact(kind, str(organization.pk), **status)]))

        assert not Subscription.objects.exists() and not Payment.objects.exists()
        assert CancellationOrder.objects.count() == orders

    @pytest.mark.parametrize("kind", [SubscriptionEnded, PaymentFact, PaymentFailure])
    def test_what_names_none_is_forgotten_when_the_end_of_its_subscription_was_ordered(
        self, as_owner, organization, kind
    ):
        as_owner.delete(f"/v1/orgs/{organization.pk}")
        record([fact(SubscriptionFact, str(organization.pk))])

        record(confirm([fact(kind, "")]))

        assert not Subscription.objects.exists() and not Payment.objects.exists()
        assert CancellationOrder.objects.get().external_id == "sub_9"

    @pytest.mark.parametrize("kind", [PaymentFact, PaymentFailure])
    def test_what_names_none_is_forgotten_when_its_subscription_ended_with_the_organization(
        self, cardpay, as_owner, organization, kind
    ):
        ended = cardpay.subscribe(str(organization.pk), status="canceled")
        as_owner.delete(f"/v1/orgs/{organization.pk}")

        record(confirm([fact(kind, "", subscription_id=ended["id"])]))

        assert not Subscription.objects.exists() and not Payment.objects.exists()
        assert not CancellationOrder.objects.exists()


class TestPending:
    @pytest.fixture
    def pending(self, cardpay, organization):
        """The organization has ordered; its first payment has not arrived."""
        body = cardpay.subscribe(str(organization.pk), status="incomplete")
        return known("cardpay", body["id"], occurred_at=NOW)

    def test_what_is_told_of_it_gives_no_plan(self, pending, organization):
        later = NOW + timedelta(minutes=1)
        told = {"status": "pending", "subscription_id": pending.external_id, "occurred_at": later}

        record([fact(SubscriptionFact, str(organization.pk), **told)])

        organization.refresh_from_db()
        pending.refresh_from_db()
        assert (pending.status, pending.fact_at, organization.plan_id) == ("pending", later, "free")

    def test_a_payment_is_kept_and_gives_no_plan_while_the_provider_says_so(self, pending, organization):
        record(confirm([fact(PaymentFact, str(organization.pk), subscription_id=pending.external_id)]))

        organization.refresh_from_db()
        pending.refresh_from_db()
        assert (pending.status, organization.plan_id, Payment.objects.count()) == ("pending", "free", 1)
        assert not CreditEntry.objects.exists()


class TestEnds:
    def test_a_checkout_that_is_told_after_the_end_brings_nothing_back(self, cardpay, by_card):
        end_subscription(fact(SubscriptionEnded, "", subscription_id=by_card.external_id))
        asked = len(cardpay.asked)

        record(confirm([fact(CheckoutCompleted, "", subscription_id=by_card.external_id)]))

        by_card.refresh_from_db()
        assert (by_card.status, len(cardpay.asked)) == ("inactive", asked)

    def test_one_that_is_over_when_its_checkout_is_told_is_kept_as_ended(self, cardpay, organization):
        body = cardpay.subscribe(str(organization.pk), status="canceled")

        record(confirm([fact(CheckoutCompleted, str(organization.pk), subscription_id=body["id"])]))

        row = Subscription.objects.get()
        organization.refresh_from_db()
        assert (row.status, row.ended_at, organization.plan_id) == ("inactive", NOW, "free")

    def test_one_that_ended_at_the_provider_without_a_word_ends_here(self, cardpay, by_card, organization):
        cardpay.subscriptions[by_card.external_id]["status"] = "canceled"

        assert reconcile().repairs == 3  # the status, the plan and the credits

        organization.refresh_from_db()
        assert organization.plan_id == "free"

    def test_one_that_runs_out_and_is_unpaid_stays_past_due_while_the_provider_says_both(self, cardpay, by_card):
        cardpay.subscriptions[by_card.external_id] |= {"status": "past_due", "cancel_at_period_end": True}
        Subscription.objects.update(status="past_due", cancel_at_period_end=True)

        assert reconcile().repairs == 0

        by_card.refresh_from_db()
        assert (by_card.status, by_card.cancel_at_period_end) == ("past_due", True)

    def test_one_that_ends_runs_out_no_more_and_ends_once(self, by_card):
        Subscription.objects.update(status="cancelling", cancel_at_period_end=True)
        end = by_card.fact_at + timedelta(hours=1)
        record([fact(SubscriptionEnded, "", subscription_id=by_card.external_id, occurred_at=end)])
        row = Subscription.objects.values().get()
        assert (row["status"], row["cancel_at_period_end"], row["ended_at"]) == ("inactive", False, end)

        again = {"occurred_at": end + timedelta(hours=1), "status": "cancelled"}
        record([fact(SubscriptionEnded, "", subscription_id=by_card.external_id, **again)])

        assert Subscription.objects.values().get() == row

    def test_a_failed_payment_of_one_that_is_over_writes_to_nobody(self, by_card):
        end_subscription(fact(SubscriptionEnded, "", subscription_id=by_card.external_id))

        record([fact(PaymentFailure, "", subscription_id=by_card.external_id)])

        assert not Letter.objects.exists()

    def test_a_failure_that_is_told_after_its_invoice_was_paid_writes_to_nobody(self, by_card):
        later = timezone.now() + timedelta(hours=1)
        record([fact(PaymentFact, "", subscription_id=by_card.external_id, occurred_at=later)])

        earlier = by_card.fact_at - timedelta(seconds=1)
        record([fact(PaymentFailure, "", subscription_id=by_card.external_id, occurred_at=earlier)])

        by_card.refresh_from_db()
        assert by_card.status == "active"
        assert not Letter.objects.exists()


class TestPeriods:
    @pytest.mark.parametrize(
        ("dates", "period"),
        [
            ({}, (NOW, NOW + timedelta(days=30))),
            ({"started_at": NOW - timedelta(days=1)}, (NOW - timedelta(days=1), NOW + timedelta(days=29))),
            ({"period_start": NOW}, (NOW, NOW + timedelta(days=30))),
            ({"period_start": NOW, "period_end": NOW}, (NOW, NOW + timedelta(days=30))),
            ({"period_start": NOW, "period_end": NOW - timedelta(days=1)}, (NOW, NOW + timedelta(days=30))),
            ({"status": "pending", "started_at": NOW}, (None, None)),
            ({"status": "pending", "period_start": NOW}, (None, None)),
            ({"status": "pending"}, (None, None)),
            ({"status": "pending", "period_start": NOW, "period_end": NOW}, (NOW, NOW + timedelta(days=30))),
        ],
    )
    def test_what_the_provider_leaves_out_is_counted_from_the_beginning(self, organization, dates, period):
        record([fact(SubscriptionFact, str(organization.pk), **dates)])

        row = Subscription.objects.get()
        assert (row.current_period_start, row.current_period_end) == period

    @pytest.mark.parametrize(
        ("dates", "period"),
        [
            ({}, (NOW, DECEMBER)),
            ({"period_end": JANUARY}, (NOW, DECEMBER)),
            ({"period_start": DECEMBER}, (DECEMBER, JANUARY)),
            ({"period_start": DECEMBER, "period_end": JANUARY}, (DECEMBER, JANUARY)),
            ({"period_start": NOW, "period_end": JANUARY}, (NOW, JANUARY)),
        ],
        ids=["neither", "the end alone", "the start alone", "both", "a longer one"],
    )
    @pytest.mark.parametrize("fetched", [False, True], ids=["told", "asked for"])
    def test_half_a_period_is_one_when_it_is_the_beginning(self, organization, dates, period, fetched):
        record([fact(SubscriptionFact, str(organization.pk), period_start=NOW, period_end=DECEMBER)])
        version = Subscription.objects.get().version

        record([fact(SubscriptionFact, "", occurred_at=DECEMBER, fetched=fetched, based_on=version, **dates)])

        row = Subscription.objects.get()
        assert (row.current_period_start, row.current_period_end) == period

    @pytest.mark.parametrize(("fetched", "start"), [(False, DECEMBER), (True, NOW)], ids=["told", "asked for"])
    def test_an_earlier_one_counts_only_when_it_was_asked_for(self, organization, fetched, start):
        record([fact(SubscriptionFact, str(organization.pk), period_start=DECEMBER, period_end=JANUARY)])
        version = Subscription.objects.get().version

        earlier = {"occurred_at": NOW + timedelta(hours=1), "period_start": NOW, "period_end": DECEMBER}
        record([fact(SubscriptionFact, "", fetched=fetched, based_on=version, **earlier)])

        assert Subscription.objects.get().current_period_start == start

    def test_the_billing_day_is_that_of_the_first_period(self, organization):
        for start in (datetime(2027, 1, 31, tzinfo=UTC), datetime(2027, 2, 28, tzinfo=UTC)):
            record([fact(SubscriptionFact, str(organization.pk), occurred_at=start, period_start=start)])

        assert Subscription.objects.get().current_period_end == datetime(2027, 3, 31, tzinfo=UTC)

    @pytest.mark.parametrize(
        ("periods", "end"),
        [
            ([("2027-01-31", "annual"), ("2027-02-10", "monthly"), ("2027-03-10", "monthly")], "2027-04-10"),
            ([("2027-01-31", "monthly"), ("2027-02-10", "annual"), ("2028-02-10", "annual")], "2029-02-10"),
            ([("2027-01-31", "annual"), ("2027-01-10", "monthly"), ("2027-02-10", "monthly")], "2027-03-10"),
        ],
        ids=["monthly from now on", "annual from now on", "monthly from before"],
    )
    def test_another_cycle_has_a_billing_day_of_its_own(self, organization, periods, end):
        for version, (start, cycle) in enumerate(periods):
            at = datetime.fromisoformat(start).replace(tzinfo=UTC)
            told = {"occurred_at": NOW, "period_start": at, "price_id": f"price_pro_{cycle}"}
            asked_for = {"fetched": version > 0, "based_on": version}
            record([fact(SubscriptionFact, str(organization.pk), **told, **asked_for)])

        assert Subscription.objects.get().current_period_end == datetime.fromisoformat(end).replace(tzinfo=UTC)

    @pytest.mark.parametrize(
        ("early", "moves"),
        [(timedelta(days=3), True), (timedelta(days=3, seconds=1), False), (timedelta(hours=-1), True)],
        ids=["three days early", "a second more", "late"],
    )
    def test_a_sale_pays_for_the_next_period_from_three_days_before_it_on(self, by_wallet, early, moves):
        end = by_wallet.current_period_end
        sale = {"provider": "walletpay", "subscription_id": by_wallet.external_id, "occurred_at": end - early}

        record([fact(PaymentFact, "", **sale)])

        by_wallet.refresh_from_db()
        assert (by_wallet.current_period_start == end) == moves

    @pytest.mark.parametrize(
        "untold", [["current_period_start"], ["current_period_end"], ["current_period_start", "current_period_end"]]
    )
    def test_one_whose_period_nobody_told_is_not_prorated(self, as_owner, by_card, organization, untold):
        Subscription.objects.update(**dict.fromkeys(untold))
        body = {"orgId": str(organization.pk), "planId": "team", "billingCycle": "monthly"}

        assert as_owner.post("/v1/billing/preview-change", body).status_code == 409

    @pytest.mark.parametrize("told", [{}, {"current_period_start": NOW}, {"current_period_end": NOW}])
    def test_one_without_a_period_has_no_credits(self, told):
        with pytest.raises(ValueError, match="without a period"):
            credit_window(Subscription(cycle="monthly", **told), NOW)


class TestMonthsOfCredits:
    """One grant per subscription and period start, and none for a change of cycle within the month."""

    @pytest.fixture
    def begins(self, organization):
        """`begins(at, "annual")`: the provider tells that a period of this cycle begins now."""

        def tell(start: datetime, cycle: str = "monthly", provider: str = "cardpay", end: datetime | None = None):
            prices = {"cardpay": f"price_pro_{cycle}", "walletpay": f"P-PRO-{cycle.upper()}"}
            period = {"period_start": start, "period_end": end or months_after(start, 12 if cycle == "annual" else 1)}
            told = {"provider": provider, "price_id": prices[provider], "occurred_at": start, **period}
            with time_machine.travel(start, tick=False):
                record([fact(SubscriptionFact, str(organization.pk), **told)])

        return tell

    @pytest.mark.parametrize(("days", "hours", "grants"), [(-1, 0, 1), (-3, 1, 1), (-3, 0, 2), (-20, 0, 2)])
    def test_a_wallet_whose_month_began_up_to_three_days_earlier_has_the_same_one(
        self, organization, days, hours, grants
    ):
        common = {"provider": "walletpay", "price_id": "P-PRO-MONTHLY"}
        record([fact(SubscriptionFact, str(organization.pk), period_start=NOW, period_end=DECEMBER, **common)])
        moved = timedelta(days=days, hours=hours)

        told = {"period_start": NOW + moved, "period_end": DECEMBER + moved, "fetched": True, "based_on": 1}
        record([fact(SubscriptionFact, "", **common, **told)])

        assert self.grants() == grants

    def grants(self):
        return CreditEntry.objects.filter(type="grant").count()

    @pytest.mark.parametrize(("before", "after"), [("monthly", "annual"), ("annual", "monthly")])
    def test_another_cycle_within_the_month_grants_nothing_anew(self, begins, organization, before, after):
        changed = NOW + timedelta(days=10)
        begins(NOW, before)
        begins(changed, after)

        assert self.grants() == 1
        assert balance_of(organization).resets_at == months_after(changed, 1)

    @pytest.mark.parametrize(("before", "after"), [("monthly", "annual"), ("annual", "monthly")])
    @pytest.mark.parametrize("days_late", [0, 1])
    def test_another_cycle_from_the_end_of_the_month_on_grants_the_next_one(self, begins, before, after, days_late):
        begins(NOW, before)
        begins(DECEMBER + timedelta(days=days_late), after)

        assert self.grants() == 2

    def test_another_cycle_of_the_same_period_keeps_the_billing_day(self, begins, organization):
        begun, following = datetime(2027, 1, 31, tzinfo=UTC), datetime(2027, 2, 28, tzinfo=UTC)
        begins(begun)
        begins(following, end=datetime(2027, 3, 31, tzinfo=UTC))
        begins(following, "annual")

        assert balance_of(organization).resets_at == datetime(2027, 3, 31, tzinfo=UTC)

    @pytest.mark.parametrize("end", [None, DECEMBER - timedelta(days=1)], ids=["a month", "up to an earlier end"])
    def test_the_same_cycle_begun_anew_within_the_month_grants_again(self, begins, end):
        begins(NOW)
        begins(NOW + timedelta(days=10), end=end)

        assert self.grants() == 2

    @pytest.mark.parametrize(("later_start", "later_end"), [(0, 1), (1, 0)], ids=["the end", "the start"])
    def test_dates_that_are_told_more_exactly_make_no_other_month(self, begins, later_start, later_end):
        begins(NOW)
        begins(NOW + timedelta(hours=later_start), end=DECEMBER + timedelta(hours=later_end))

        assert self.grants() == 1

    @pytest.mark.parametrize(("days", "grants"), [(1, 1), (26, 1), (27, 2), (30, 2)])
    def test_a_wallet_that_is_charged_up_to_three_days_early_begins_the_next_month(self, begins, days, grants):
        begins(NOW, provider="walletpay")
        begins(NOW + timedelta(days=days), provider="walletpay")

        assert self.grants() == grants


class TestHalfway:
    """What breaks halfway leaves nothing of itself."""

    @pytest.fixture
    def breaks_at(self, just_before):
        """`with breaks_at(words)`: the first statement with these words breaks off what is done in the block."""

        def breaks() -> None:
            raise InterruptedError

        @contextmanager
        def breaking(words: str) -> Iterator[None]:
            with pytest.raises(InterruptedError), just_before(words, breaks):
                yield

        return breaking

    @pytest.mark.parametrize(
        ("kind", "words"),
        [
            (SubscriptionFact, ACCOUNT),
            (SubscriptionEnded, ACCOUNT),
            (PaymentFact, 'UPDATE "billing_subscription"'),
            (PaymentFailure, 'INTO "accounts_letter"'),
        ],
    )
    def test_a_fact(self, by_card, organization, breaks_at, kind, words):
        before = (Subscription.objects.values().get(), Organization.objects.values().get())
        told = {"price_id": "price_team_monthly"} if kind == SubscriptionFact else {}
        later = by_card.fact_at + timedelta(hours=1)

        with breaks_at(words):
            record([fact(kind, "", subscription_id=by_card.external_id, occurred_at=later, **told)])

        assert (Subscription.objects.values().get(), Organization.objects.values().get()) == before
        assert not Payment.objects.exists()

    def test_a_comparison_with_the_provider(self, cardpay, by_card, breaks_at):
        cardpay.subscriptions[by_card.external_id]["status"] = "past_due"

        with breaks_at('INTO "billing_repair"'):
            reconcile()

        by_card.refresh_from_db()
        assert by_card.status == "active"

    def test_a_month_of_credits(self, organization, breaks_at):
        with time_machine.travel(NOW, tick=False):
            year = {"price_id": "price_pro_annual", "period_start": NOW, "period_end": NOW + timedelta(days=365)}
            record([fact(SubscriptionFact, str(organization.pk), **year)])

        with breaks_at('INTO "credits_creditentry"'):
            renew_due_credits(now=NOW + timedelta(days=40))

        assert Subscription.objects.get().window_start == NOW


class TestRaces:
    def test_an_organization_that_goes_while_others_are_compared_holds_nobody_up(self, cardpay, by_card, just_before):
        gone = factories.organization(plan="free")
        known("cardpay", cardpay.subscribe(str(gone.pk))["id"])

        with just_before(ACCOUNT, gone.delete):
            outcome = reconcile()

        assert (outcome.compared, outcome.failed) == (1, 0)

    def test_an_organization_that_goes_while_its_provider_answers_is_left_alone(
        self, by_card, as_owner, organization, just_before
    ):
        with just_before(HELD, lambda: as_owner.delete(f"/v1/orgs/{organization.pk}")):
            assert reconcile().repairs == 0

        assert not Organization.objects.exists()

    def test_an_organization_that_goes_before_its_credits_are_renewed(self, organization, just_before):
        with time_machine.travel(NOW, tick=False):
            year = {"price_id": "price_pro_annual", "period_start": NOW, "period_end": NOW + timedelta(days=365)}
            record([fact(SubscriptionFact, str(organization.pk), **year)])

        with just_before(ORGANIZATION, organization.delete):
            assert renew_due_credits(now=NOW + timedelta(days=40)) == 1

        assert not CreditEntry.objects.exists()

    @pytest.mark.parametrize("path", ["cancel", "reactivate"])
    def test_a_wallet_subscription_that_ends_before_the_mark_is_set(
        self, as_owner, by_wallet, organization, just_before, path
    ):
        Subscription.objects.update(cancel_at_period_end=path == "reactivate")
        end = fact(SubscriptionEnded, "", provider="walletpay", subscription_id=by_wallet.external_id)

        with just_before(ORGANIZATION, lambda: end_subscription(end)):
            response = as_owner.post(f"/v1/billing/{path}", {"orgId": str(organization.pk)})

        assert response.status_code == 409

    def test_a_wallet_subscription_whose_end_is_ordered_before_the_mark_is_taken_back(
        self, as_owner, by_wallet, organization, just_before
    ):
        Subscription.objects.update(cancel_at_period_end=True, status="cancelling")

        def order() -> None:
            CancellationOrder.objects.create(
                provider="walletpay", external_id=by_wallet.external_id, reason="period_ends", next_at=NOW
            )

        with just_before(ORGANIZATION, order):
            response = as_owner.post("/v1/billing/reactivate", {"orgId": str(organization.pk)})

        assert response.status_code == 409
        by_wallet.refresh_from_db()
        assert (by_wallet.status, by_wallet.cancel_at_period_end) == ("cancelling", True)

    @pytest.mark.parametrize("path", ["cancel", "reactivate"])
    def test_a_wallet_subscription_whose_organization_goes_before_the_mark_is_set(
        self, as_owner, by_wallet, organization, just_before, path
    ):
        Subscription.objects.update(cancel_at_period_end=path == "reactivate")

        with just_before(ORGANIZATION + " WHERE", organization.delete):
            response = as_owner.post(f"/v1/billing/{path}", {"orgId": str(organization.pk)})

        assert response.status_code == 409

    @pytest.mark.parametrize(("changes", "status"), [(2, 200), (3, 409)])
    def test_events_that_overtake_the_answer_are_followed_for_a_while(
        self, by_card, as_owner, organization, just_before, changes, status
    ):
        def change() -> None:
            Subscription.objects.update(version=F("version") + 1)

        with just_before(HELD, *[change] * changes):
            response = as_owner.post("/v1/billing/cancel", {"orgId": str(organization.pk)})

        assert response.status_code == status


def test_a_fact_that_is_told_again_writes_nothing(organization):
    told = fact(SubscriptionFact, str(organization.pk))
    record([told])
    before = (Subscription.objects.values().get(), Organization.objects.values().get())

    record([told])

    assert (Subscription.objects.values().get(), Organization.objects.values().get()) == before


@pytest.mark.parametrize(
    ("seconds", "status"), [(-1, "active"), (0, "past_due"), (1, "past_due")], ids=["older", "same", "newer"]
)
def test_a_fact_counts_unless_the_row_holds_a_newer_one(organization, seconds, status):
    record([fact(SubscriptionFact, str(organization.pk))])

    at = NOW + timedelta(seconds=seconds)
    record([fact(SubscriptionFact, "", status="past_due", occurred_at=at)])

    row = Subscription.objects.get()
    assert (row.status, row.fact_at) == (status, max(NOW, at))


def test_what_a_fact_leaves_out_stays_as_it_was_told_before(organization):
    begun = NOW - timedelta(days=3)
    held = []
    for told in ({"started_at": begun}, {"customer_id": "cus_1"}, {}, {"customer_id": "cus_2"}):
        record([fact(SubscriptionFact, str(organization.pk), **told)])
        held.append(Subscription.objects.get().customer_id)

    assert held == ["", "cus_1", "cus_1", "cus_2"]
    assert Subscription.objects.get().started_at == begun


def test_a_plan_that_staff_gave_away_for_nothing_is_neither_sold_nor_changed_to(as_owner, by_card, organization):
    Plan.objects.filter(pk="solo").update(price_monthly=0, price_annual=0)
    body = {"orgId": str(organization.pk), "planId": "solo", "billingCycle": "monthly"}

    for path in ("checkout", "change-plan", "preview-change"):
        assert as_owner.post(f"/v1/billing/{path}", body).status_code == 400
