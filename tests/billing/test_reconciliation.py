"""Differences to the providers are found, mended and written down (B5)."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import StringIO

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.utils import timezone

from billing import tasks
from billing.facts import PaymentFact, SubscriptionFact
from billing.models import CancellationOrder, Payment, Price, Repair, Subscription
from billing.services.cancellations import carry_out, order_cancellation, order_due_wallet_cancellations
from billing.services.inflow import confirm, record
from billing.services.reconciliation import reconcile
from billing.services.renewals import renew_due_credits
from credits.models import CreditAccount, CreditEntry
from credits.selectors import balance_of
from organizations.models import Farewell, Organization
from organizations.tasks import settle_due_farewells
from tests import factories
from tests.billing.conftest import known

pytestmark = pytest.mark.django_db


def plant(row: Subscription, kind: int) -> None:
    """Make our side differ from the provider's."""
    rows = Subscription.objects.filter(pk=row.pk)
    match kind:
        case 0:
            rows.update(plan="team")
        case 1:
            rows.update(status="past_due")
        case 2:
            rows.update(current_period_end=row.current_period_end + timedelta(days=3))
        case 3:
            Organization.objects.filter(pk=row.organization_id).update(plan="free")
        case 4:
            CreditAccount.objects.filter(organization=row.organization_id).update(allocation=50)
        case 5:
            rows.update(current_period_start=row.current_period_start - timedelta(days=3))
        case 6 if row.provider == "cardpay":
            rows.update(cancel_at_period_end=True, status="cancelling")
        case _:
            rows.update(customer_id="cus_of_another")


def test_all_of_100_planted_differences_are_mended_and_the_second_run_changes_nothing(cardpay, walletpay):
    rows = []
    for number in range(100):
        server, name = (cardpay, "cardpay") if number % 2 else (walletpay, "walletpay")
        rows.append(known(name, server.subscribe(str(factories.organization(plan="free").pk))["id"]))
    before = {row.pk: (row.plan_id, row.status, row.current_period_end, row.customer_id) for row in rows}
    for number, row in enumerate(rows):
        plant(row, number // 2 % 8)

    first = reconcile()
    second = reconcile()

    after = Subscription.objects.all()
    assert {row.pk: (row.plan_id, row.status, row.current_period_end, row.customer_id) for row in after} == before
    assert set(Repair.objects.values_list("subscription", flat=True)) == set(before)
    assert (first.compared, first.failed) == (100, 0)
    assert (second.compared, second.repairs, second.failed) == (100, 0, 0)
    assert not Organization.objects.exclude(plan="pro").exists()
    assert not CreditAccount.objects.exclude(balance=500, allocation=500).exists()


@pytest.mark.parametrize(("provider", "status"), [("by_card", "inactive"), ("by_wallet", "cancelled")])
def test_what_the_provider_does_not_know_any_more_has_ended(request, organization, provider, status):
    row = request.getfixturevalue(provider)
    request.getfixturevalue(row.provider).subscriptions.clear()

    reconcile()

    row.refresh_from_db()
    organization.refresh_from_db()
    assert (row.status, organization.plan_id) == (status, "free")


def test_every_difference_is_written_down_with_what_stood_here_and_what_the_provider_says(cardpay, organization):
    there = cardpay.subscribe(str(organization.pk), status="incomplete")
    known("cardpay", there["id"])
    there |= {"status": "active", "customer": "cus_9"}

    assert reconcile().repairs == 4

    assert set(Repair.objects.values_list("field", "before", "after")) == {
        ("status", "pending", "active"),
        ("customer_id", "cus_1", "cus_9"),
        ("organization.plan", "free", "pro"),
        ("credits.allocation", "0", "500"),
    }


def test_a_payment_that_nobody_told_of_is_logged(cardpay, by_card):
    now = int(timezone.now().timestamp())
    paid = {"id": "in_9", "subscription": by_card.external_id, "amount_paid": 2900, "currency": "usd", "created": now}
    cardpay.invoices.append(paid)

    reconcile()

    assert Payment.objects.get().invoice_id == "in_9"
    assert Repair.objects.get().field == "payment"


@pytest.mark.parametrize(("seconds", "payments"), [(0, 1), (1, 0)], ids=["45 days", "a second more"])
def test_payments_of_the_last_45_days_are_compared(cardpay, by_card, seconds, payments):
    now = timezone.now().replace(microsecond=0)
    created = int((now - timedelta(days=45, seconds=seconds)).timestamp())
    invoice = {"id": "in_9", "subscription": by_card.external_id, "amount_paid": 2900, "currency": "usd"}
    cardpay.invoices.append({**invoice, "created": created})

    with time_machine.travel(now, tick=False):
        assert reconcile().repairs == payments


def test_a_payment_is_logged_and_the_state_stays_as_the_provider_tells_it(walletpay, by_wallet):
    end = timezone.now().replace(microsecond=0) + timedelta(hours=1)
    stamp = end.strftime("%Y-%m-%dT%H:%M:%SZ")
    there = walletpay.subscriptions[by_wallet.external_id]
    there["billing_info"] |= {
        "next_billing_time": stamp,
        "outstanding_balance": {"currency_code": "USD", "value": "29.00"},
        "failed_payments_count": 1,
    }
    reconcile()
    held = Subscription.objects.values().get()
    amount = {"gross_amount": {"value": "29.00", "currency_code": "USD"}}
    paid = {"id": "TXN-1", "status": "COMPLETED", "time": stamp, "amount_with_breakdown": amount}
    walletpay.transactions[by_wallet.external_id] = [paid]

    with time_machine.travel(end + timedelta(minutes=1), tick=False):
        assert reconcile().repairs == 1

    after = Subscription.objects.values().get()
    assert [after[field] for field in ("status", "current_period_start", "current_period_end")] == [
        held[field] for field in ("status", "current_period_start", "current_period_end")
    ]


def test_a_wallet_payment_that_nobody_told_of_is_logged(walletpay, by_wallet):
    walletpay.transactions[by_wallet.external_id] = [
        {
            "id": "TXN-1",
            "status": "COMPLETED",
            "time": "2026-11-15T10:00:00Z",
            "amount_with_breakdown": {"gross_amount": {"value": "29.00", "currency_code": "USD"}},
        }
    ]

    reconcile()

    assert Payment.objects.get().amount == 29


def test_a_provider_that_is_down_costs_its_own_subscriptions_alone(cardpay, by_card, walletpay):
    known("walletpay", walletpay.subscribe(str(factories.organization(plan="free").pk))["id"])
    cardpay.mood = "fails"

    outcome = reconcile()

    assert (outcome.compared, outcome.failed) == (1, 1)


def test_a_turn_that_is_over_leaves_the_rest_to_the_next_one(cardpay):
    rows = [known("cardpay", cardpay.subscribe(str(factories.organization(plan="free").pk))["id"]) for _ in range(3)]

    outcome = reconcile(seconds=0)

    assert (outcome.compared, outcome.cut_after) == (1, min(row.pk for row in rows))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("task", [tasks.reconcile, tasks.reconcile_overdue])
def test_the_task_compares_all_of_them_turn_by_turn(cardpay, monkeypatch, task):
    monkeypatch.setattr(tasks, "TURN_SECONDS", 0)
    for _ in range(3):
        known("cardpay", cardpay.subscribe(str(factories.organization(plan="free").pk))["id"])
    start, end = (timezone.now() - timedelta(days=ago) for ago in (31, 1))
    Subscription.objects.update(customer_id="other", current_period_start=start, current_period_end=end)

    task.delay()

    assert not Subscription.objects.filter(customer_id="other").exists()


def test_a_provider_that_is_not_set_up_any_more_is_no_failure(by_card, settings):
    settings.CARDPAY_SECRET_KEY = ""

    outcome = reconcile()

    assert (outcome.compared, outcome.repairs, outcome.failed) == (0, 0, 0)


@pytest.mark.parametrize(
    ("ago", "compared"),
    [(timedelta(hours=1, seconds=1), 1), (timedelta(hours=1), 1), (timedelta(minutes=59), 0), (-timedelta(days=1), 0)],
)
def test_the_hourly_run_asks_after_periods_that_ended_an_hour_ago(cardpay, by_card, ago, compared):
    asked = len(cardpay.asked)

    with time_machine.travel(by_card.current_period_end + ago, tick=False):
        assert reconcile(only_overdue=True).compared == compared

    assert (len(cardpay.asked) > asked) == bool(compared)


def test_the_command_says_what_it_did(cardpay, by_card):
    Subscription.objects.update(status="past_due")
    said = StringIO()

    call_command("reconcile", stdout=said)

    assert said.getvalue() == "1 compared, 1 repaired, 0 not comparable\n"


class TestRenewal:
    START = datetime(2026, 1, 31, 10, tzinfo=UTC)

    @pytest.fixture
    def annual(self, cardpay, organization):
        begun, over = int(self.START.timestamp()), int(datetime(2027, 1, 31, 10, tzinfo=UTC).timestamp())
        body = cardpay.subscribe(str(organization.pk), "price_pro_annual", start=begun, end=over)
        with time_machine.travel(self.START, tick=False):
            return known("cardpay", body["id"])

    def test_an_annual_plan_has_twelve_months_of_credits(self, annual, organization):
        minutes = [self.START + timedelta(hours=6 * step) for step in range(4 * 365)]
        for now in minutes:
            for _ in range(2):
                renew_due_credits(now=now)

        assert CreditEntry.objects.filter(type="grant").count() == 12
        assert balance_of(organization).resets_at == datetime(2027, 1, 31, 10, tzinfo=UTC)

    def test_the_month_is_shown_until_its_end(self, annual, organization):
        assert balance_of(organization).resets_at == datetime(2026, 2, 28, 10, tzinfo=UTC)

    def test_a_monthly_plan_waits_for_the_provider(self, by_card, organization):
        assert renew_due_credits(now=timezone.now() + timedelta(days=90)) == 0


class TestEndOfWalletSubscriptions:
    @pytest.fixture
    def cancelled(self, by_wallet, as_owner, organization):
        as_owner.post("/v1/billing/cancel", {"orgId": str(organization.id)})
        by_wallet.refresh_from_db()
        return by_wallet

    def sweep(self, at):
        with time_machine.travel(at, tick=False):
            tasks.sweep_cancellations()

    def test_nothing_is_sent_while_the_period_lasts(self, cancelled, walletpay):
        self.sweep(cancelled.current_period_end - timedelta(hours=2))

        assert walletpay.subscriptions[cancelled.external_id]["status"] == "ACTIVE"

    @pytest.mark.django_db(transaction=True)
    def test_shortly_before_its_end_the_provider_is_told_once(self, cancelled, walletpay):
        for minutes in (50, 45, 10):
            self.sweep(cancelled.current_period_end - timedelta(minutes=minutes))

        assert walletpay.subscriptions[cancelled.external_id]["status"] == "CANCELLED"
        assert len([asked for asked in walletpay.asked if asked.path.endswith("/cancel")]) == 1

    @pytest.mark.django_db(transaction=True)
    def test_a_provider_that_is_down_is_told_later(self, cancelled, walletpay):
        walletpay.mood = "fails"
        self.sweep(cancelled.current_period_end - timedelta(minutes=50))
        assert CancellationOrder.objects.get().error

        walletpay.mood = "well"
        self.sweep(cancelled.current_period_end - timedelta(minutes=40))

        assert CancellationOrder.objects.get().done_at

    def test_one_that_was_kept_goes_on(self, cancelled, walletpay, as_owner, organization):
        as_owner.post("/v1/billing/reactivate", {"orgId": str(organization.id)})
        self.sweep(cancelled.current_period_end - timedelta(minutes=10))

        assert walletpay.subscriptions[cancelled.external_id]["status"] == "ACTIVE"

    @pytest.mark.parametrize("told_by", ["its state", "its payment"])
    def test_one_that_is_charged_once_more_before_that_is_ended_at_once(self, cancelled, told_by):
        end = cancelled.current_period_end
        common = {"provider": "walletpay", "subscription_id": cancelled.external_id, "occurred_at": end}
        following = {"period_start": end, "period_end": end + timedelta(days=30)}
        state = SubscriptionFact(status="active", price_id="P-PRO-MONTHLY", **common, **following)
        payment = PaymentFact(invoice_id="TXN-2", amount=Decimal(29), currency="usd", **common)

        record([state if told_by == "its state" else payment])

        assert CancellationOrder.objects.get().reason == "period_ends"

    @pytest.mark.parametrize(
        ("early", "later", "orders"),
        [
            (timedelta(days=3), timedelta(days=1), 1),
            (timedelta(days=3, seconds=1), timedelta(days=1), 0),
            (timedelta(days=30), timedelta(days=1), 0),
            (timedelta(days=40), timedelta(days=1), 0),
            (timedelta(days=1), timedelta(0), 0),
            (timedelta(days=1), -timedelta(hours=1), 0),
        ],
        ids=[
            "three days early",
            "a second more",
            "the same beginning",
            "an earlier one",
            "the same end",
            "an earlier end",
        ],
    )
    def test_a_period_that_does_not_follow_the_last_one_is_no_charge(self, cancelled, early, later, orders):
        end = cancelled.current_period_end
        told = {"occurred_at": end, "period_start": end - early, "period_end": end + later}
        common = {"provider": "walletpay", "subscription_id": cancelled.external_id}

        record([SubscriptionFact(status="active", price_id="P-PRO-MONTHLY", **common, **told)])

        assert CancellationOrder.objects.count() == orders

    def test_a_state_without_a_period_is_no_charge(self, cancelled):
        common = {"provider": "walletpay", "subscription_id": cancelled.external_id}

        record([SubscriptionFact(status="active", price_id="P-PRO-MONTHLY", occurred_at=timezone.now(), **common)])

        assert not CancellationOrder.objects.exists()

    def test_one_by_card_that_goes_on_is_left_to_its_provider(self, by_card):
        Subscription.objects.update(status="cancelling", cancel_at_period_end=True)
        end = by_card.current_period_end
        common = {"provider": "cardpay", "subscription_id": by_card.external_id, "occurred_at": end}
        following = {"period_start": end, "period_end": end + timedelta(days=30)}

        record([SubscriptionFact(status="active", price_id="price_pro_monthly", **common, **following)])

        assert not CancellationOrder.objects.exists()

    @pytest.mark.parametrize(
        ("early", "orders"),
        [(timedelta(hours=1), 1), (timedelta(hours=1, seconds=1), 0), (timedelta(0), 1), (-timedelta(days=1), 1)],
        ids=["an hour before", "a second earlier", "at its end", "after it"],
    )
    def test_its_end_is_ordered_from_an_hour_before_it_on(self, cancelled, early, orders):
        assert order_due_wallet_cancellations(now=cancelled.current_period_end - early) == orders

        assert CancellationOrder.objects.count() == orders


class TestOrdersToEnd:
    @pytest.fixture
    def order(self, by_wallet, walletpay):
        """An order that the provider does not take."""
        walletpay.mood = "fails"
        return CancellationOrder.objects.create(
            provider="walletpay", external_id=by_wallet.external_id, reason="period_ends", next_at=timezone.now()
        )

    def test_the_pause_doubles_with_every_failure_up_to_six_hours(self, order):
        pauses = []
        for _ in range(11):
            due = order.next_at
            with time_machine.travel(due, tick=False):
                carry_out(order.pk)
            order.refresh_from_db()
            pauses.append((order.next_at - due) / timedelta(minutes=1))

        assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]

    @pytest.mark.parametrize("provider", ["by_card", "by_wallet"])
    def test_a_later_attempt_is_not_answered_with_the_failure_of_an_earlier_one(self, request, provider):
        subscription = request.getfixturevalue(provider)
        there = request.getfixturevalue(subscription.provider)
        there.keeps_failures, there.mood = True, "fails"
        order_cancellation(subscription=subscription, reason="superseded")
        order = CancellationOrder.objects.get()
        carry_out(order.pk)
        there.mood = "well"

        order.refresh_from_db()
        with time_machine.travel(order.next_at, tick=False):
            carry_out(order.pk)

        order.refresh_from_db()
        assert order.done_at

    def test_of_two_workers_one_tells_the_provider(self, order, just_before):
        with just_before('UPDATE "billing_cancellationorder"', lambda: carry_out(order.pk)):
            carry_out(order.pk)

        order.refresh_from_db()
        assert order.attempts == 1


class TestSeveralSubscriptions:
    def test_the_one_started_last_counts_and_the_older_is_ended(self, cardpay, by_card, organization):
        newer = cardpay.subscribe(str(organization.pk), "price_team_monthly")

        known("cardpay", newer["id"])

        organization.refresh_from_db()
        assert organization.plan_id == "team"
        assert CancellationOrder.objects.get().external_id == by_card.external_id


class TestDeletedOrganization:
    @pytest.mark.django_db(transaction=True)
    def test_its_subscription_ends_at_the_provider(self, as_owner, by_card, cardpay, organization):
        assert as_owner.delete(f"/v1/orgs/{organization.id}").status_code == 204

        assert cardpay.subscriptions[by_card.external_id]["status"] == "canceled"

    def test_a_provider_that_was_down_is_told_a_minute_later(
        self, as_owner, by_card, cardpay, organization, django_capture_on_commit_callbacks
    ):
        cardpay.mood = "fails"
        with django_capture_on_commit_callbacks(execute=True):
            as_owner.delete(f"/v1/orgs/{organization.id}")
        cardpay.mood = "well"

        with time_machine.travel(Farewell.objects.get().next_at, tick=False):
            settle_due_farewells()

        assert cardpay.subscriptions[by_card.external_id]["status"] == "canceled"
        assert not Farewell.objects.exists()

    @pytest.mark.parametrize("provider", ["by_card", "by_wallet"])
    @pytest.mark.parametrize("known_there", [True, False])
    def test_what_is_over_at_the_provider_already_is_left_alone(
        self, request, as_owner, organization, django_capture_on_commit_callbacks, provider, known_there
    ):
        row = request.getfixturevalue(provider)
        there = request.getfixturevalue(row.provider).subscriptions
        if known_there:
            there[row.external_id]["status"] = "canceled" if row.provider == "cardpay" else "CANCELLED"
        else:
            there.clear()

        with django_capture_on_commit_callbacks(execute=True):
            as_owner.delete(f"/v1/orgs/{organization.id}")

        assert not Farewell.objects.exists()

    def test_what_is_told_of_it_later_is_no_mistake(self, as_owner, by_card, cardpay, organization):
        body = cardpay.subscriptions[by_card.external_id]
        as_owner.delete(f"/v1/orgs/{organization.id}")
        fact = SubscriptionFact(
            provider="cardpay",
            subscription_id=body["id"],
            occurred_at=timezone.now(),
            status="active",
            price_id="price_pro_monthly",
            organization_id=str(organization.pk),
        )

        record(confirm([fact]))

        assert not Subscription.objects.exists()
        assert CancellationOrder.objects.get().external_id == body["id"]


class TestSyncPrices:
    @pytest.mark.parametrize("name", ["cardpay", "walletpay"])
    def test_prices_are_made_once_and_found_again(self, request, name, settings):
        server = request.getfixturevalue(name)
        settings.CARDPAY_PRICES = settings.WALLETPAY_PLANS = {}
        for _ in range(2):
            call_command("sync_prices", name, stdout=StringIO())

        assert Price.objects.filter(provider=name, is_current=True).count() == 8
        assert len(server.prices if name == "cardpay" else server.plans) == 8

    def test_a_changed_price_is_sold_from_then_on_and_the_former_one_is_still_known(self, cardpay, settings):
        settings.CARDPAY_PRICES = {}
        call_command("sync_prices", "cardpay", stdout=StringIO())
        former = Price.objects.get(plan="pro", cycle="monthly")
        type(former.plan).objects.filter(pk="pro").update(price_monthly=31)

        call_command("sync_prices", "cardpay", stdout=StringIO())

        assert Price.objects.get(plan="pro", cycle="monthly", is_current=True).amount == 31
        assert Price.objects.filter(is_current=True).count() == 8
        assert Price.objects.get(pk=former.pk).is_current is False

    def test_a_price_that_cannot_be_kept_leaves_the_former_one_for_sale(self, cardpay, settings, just_before):
        settings.CARDPAY_PRICES = {}
        call_command("sync_prices", "cardpay", stdout=StringIO())
        type(Price.objects.first().plan).objects.filter(pk="pro").update(price_monthly=31)

        def breaks() -> None:
            raise InterruptedError

        with pytest.raises(InterruptedError), just_before('INSERT INTO "billing_price"', breaks):
            call_command("sync_prices", "cardpay", stdout=StringIO())

        assert Price.objects.get(plan="pro", cycle="monthly").is_current

    def test_what_the_table_holds_is_sold_and_known_again(self, cardpay, settings, as_owner, organization):
        settings.CARDPAY_PRICES = {}
        call_command("sync_prices", "cardpay", stdout=StringIO())
        price = Price.objects.get(plan="team", cycle="annual").external_id
        choice = {"orgId": str(organization.pk), "planId": "team", "billingCycle": "annual"}

        assert as_owner.post("/v1/billing/checkout", choice).status_code == 200
        assert cardpay.changes[-1].body["line_items[0][price]"] == price
        row = known("cardpay", cardpay.subscribe(str(organization.pk), price)["id"])
        assert (row.plan_id, row.cycle) == ("team", "annual")

    def test_without_settings_it_says_so(self):
        with pytest.raises(CommandError, match="not set up"):
            call_command("sync_prices", "cardpay")
