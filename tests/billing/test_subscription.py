"""GET /billing/subscription, POST /billing/cancel, /billing/reactivate, GET /billing/invoices."""

import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
import time_machine
from django.utils import timezone

from billing.facts import PaymentFact, SubscriptionEnded
from billing.models import CancellationOrder, Subscription
from billing.services.inflow import record
from config.api.fields import timestamp
from organizations.models import AuditEntry
from tests.billing.conftest import known
from tests.conftest import client_of

pytestmark = pytest.mark.django_db

CANCEL, REACTIVATE = "/v1/billing/cancel", "/v1/billing/reactivate"


def body(organization):
    return {"orgId": str(organization.id)}


class TestReadSubscription:
    def test_it_has_exactly_the_fields_of_the_specification(self, as_member, by_card, organization):
        shown = as_member.get(f"/v1/billing/subscription/{organization.id}").json()

        assert shown == {
            "planId": "pro",
            "planName": "Pro",
            "status": "active",
            "provider": "cardpay",
            "billingCycle": "monthly",
            "currentPeriodStart": timestamp(by_card.current_period_start),
            "currentPeriodEnd": timestamp(by_card.current_period_end),
            "cancelAtPeriodEnd": False,
            "priceMonthly": 29,
            "priceAnnual": 290,
            "limits": {"maxRepos": -1, "maxMembers": -1, "aiCreditsPerMonth": 500, "maxOrgs": 3},
        }

    def test_without_one_it_is_the_free_plan_and_nulls(self, as_member, organization):
        shown = as_member.get(f"/v1/billing/subscription/{organization.id}").json()

        assert (shown["planId"], shown["status"], shown["cancelAtPeriodEnd"]) == ("free", "inactive", False)
        for field in ("provider", "billingCycle", "currentPeriodStart", "currentPeriodEnd"):
            assert shown[field] is None

    @pytest.mark.parametrize(("provider", "status"), [("by_card", "inactive"), ("by_wallet", "cancelled")])
    def test_after_the_end_it_is_the_free_plan_again(self, as_member, organization, request, provider, status):
        row = request.getfixturevalue(provider)
        record(
            [
                SubscriptionEnded(
                    provider=row.provider, subscription_id=row.external_id, occurred_at=timezone.now(), status=status
                )
            ]
        )

        shown = as_member.get(f"/v1/billing/subscription/{organization.id}").json()
        assert (shown["planId"], shown["status"]) == ("free", status)

    def test_one_that_waits_for_approval_is_pending_and_gives_no_plan(self, as_member, walletpay, organization):
        waiting = walletpay.subscribe(str(organization.id), status="APPROVAL_PENDING", billing_info={})
        known("walletpay", waiting["id"])

        shown = as_member.get(f"/v1/billing/subscription/{organization.id}").json()
        assert (shown["status"], shown["currentPeriodEnd"]) == ("pending", None)
        assert as_member.get(f"/v1/orgs/{organization.id}").json()["planId"] == "free"

    def test_a_stranger_and_a_malformed_id_find_nothing(self, as_stranger, as_member, organization):
        assert as_stranger.get(f"/v1/billing/subscription/{organization.id}").status_code == 404
        assert as_member.get("/v1/billing/subscription/nonsense").status_code == 404


class TestCancel:
    def test_by_card_the_provider_lets_it_run_out(self, as_owner, by_card, organization, cardpay):
        response = as_owner.post(CANCEL, body(organization))

        assert response.json() == {
            "status": "cancelling",
            "cancelAtPeriodEnd": True,
            "currentPeriodEnd": timestamp(by_card.current_period_end),
        }
        assert cardpay.subscriptions[by_card.external_id]["cancel_at_period_end"] is True
        by_card.refresh_from_db()
        assert by_card.fact_at.microsecond == 0

    def test_the_plan_stays_until_the_period_ends(self, as_owner, by_card, organization):
        as_owner.post(CANCEL, body(organization))

        organization.refresh_from_db()
        assert organization.plan_id == "pro"

    def test_by_wallet_the_mark_is_ours(self, as_owner, by_wallet, organization, walletpay):
        response = as_owner.post(CANCEL, body(organization))

        assert response.json()["status"] == "cancelling"
        assert walletpay.subscriptions[by_wallet.external_id]["status"] == "ACTIVE"

    def test_cancelling_again_changes_nothing(self, as_owner, by_card, organization, cardpay):
        first = as_owner.post(CANCEL, body(organization))
        asked = len(cardpay.asked)

        second = as_owner.post(CANCEL, body(organization))

        assert (second.status_code, second.json()) == (200, first.json())
        assert len(cardpay.asked) == asked

    def test_it_is_audited(self, as_owner, owner, by_card, organization):
        as_owner.post(CANCEL, body(organization))

        assert AuditEntry.objects.filter(action="subscription.cancelled", actor=owner).count() == 1

    @pytest.mark.parametrize("mood", ["fails", "refuses", "lies"])
    def test_a_failing_provider_changes_nothing(self, as_owner, by_card, organization, cardpay, mood):
        cardpay.mood = mood

        assert as_owner.post(CANCEL, body(organization)).status_code == 502
        by_card.refresh_from_db()
        assert by_card.status == "active"
        assert not AuditEntry.objects.exists()

    def test_trying_again_after_a_lost_answer_is_one_change_there(self, as_owner, by_card, organization, cardpay):
        version = by_card.version
        with time_machine.travel(timezone.now(), tick=False):
            as_owner.post(CANCEL, body(organization))
            Subscription.objects.update(status="active", cancel_at_period_end=False, version=version)

            assert as_owner.post(CANCEL, body(organization)).status_code == 200
        assert len(cardpay.changes) == 1

    @pytest.mark.parametrize(("url", "ends"), [(CANCEL, False), (REACTIVATE, True)])
    def test_a_later_try_is_not_answered_with_the_failure_of_the_first(
        self, as_owner, by_card, organization, cardpay, url, ends
    ):
        Subscription.objects.update(cancel_at_period_end=ends)
        cardpay.mood = "fails"
        assert as_owner.post(url, body(organization)).status_code == 502
        cardpay.mood = "well"

        with time_machine.travel(timezone.now() + timedelta(minutes=2)):
            assert as_owner.post(url, body(organization)).status_code == 200

    def test_a_free_organization_has_nothing_to_cancel(self, as_owner, organization, cardpay):
        assert as_owner.post(CANCEL, body(organization)).status_code == 403

    @pytest.mark.parametrize("url", [CANCEL, REACTIVATE])
    def test_only_the_owner_may(self, as_admin, as_member, as_stranger, by_card, organization, url):
        assert as_admin.post(url, body(organization)).status_code == 403
        assert as_member.post(url, body(organization)).status_code == 403
        assert as_stranger.post(url, body(organization)).status_code == 404

    def test_a_hanging_provider_is_given_up_after_ten_seconds(self, as_owner, by_card, organization, cardpay):
        cardpay.mood = "hangs"
        started = time.monotonic()

        response = as_owner.post(CANCEL, body(organization))

        assert response.status_code == 502
        assert time.monotonic() - started < 12


class TestReactivate:
    @pytest.mark.parametrize("provider", ["by_card", "by_wallet"])
    def test_it_goes_on(self, as_owner, organization, request, provider):
        request.getfixturevalue(provider)
        as_owner.post(CANCEL, body(organization))

        response = as_owner.post(REACTIVATE, body(organization))

        assert response.json() == {"status": "active", "cancelAtPeriodEnd": False}

    @pytest.mark.parametrize(("provider", "unpaid"), [("by_card", "past_due"), ("by_wallet", "SUSPENDED")])
    def test_one_that_is_unpaid_goes_on_unpaid(self, as_owner, organization, request, provider, unpaid):
        row = request.getfixturevalue(provider)
        request.getfixturevalue(row.provider).subscriptions[row.external_id]["status"] = unpaid
        Subscription.objects.update(status="past_due")
        as_owner.post(CANCEL, body(organization))

        response = as_owner.post(REACTIVATE, body(organization))

        assert response.json() == {"status": "past_due", "cancelAtPeriodEnd": False}
        assert as_owner.get(f"/v1/billing/subscription/{organization.pk}").json()["status"] == "past_due"

    def test_one_that_its_payer_has_ended_in_the_wallet_is_over(self, as_owner, by_wallet, organization, walletpay):
        as_owner.post(CANCEL, body(organization))
        walletpay.subscriptions[by_wallet.external_id]["status"] = "CANCELLED"

        assert as_owner.post(REACTIVATE, body(organization)).status_code == 409

    def test_one_that_the_wallet_does_not_know_is_left_to_reconciliation(
        self, as_owner, by_wallet, organization, walletpay
    ):
        as_owner.post(CANCEL, body(organization))
        walletpay.subscriptions.clear()

        assert as_owner.post(REACTIVATE, body(organization)).json()["status"] == "active"

    def test_a_wallet_that_does_not_answer_changes_nothing(self, as_owner, by_wallet, organization, walletpay):
        as_owner.post(CANCEL, body(organization))
        walletpay.mood = "fails"

        assert as_owner.post(REACTIVATE, body(organization)).status_code == 502
        by_wallet.refresh_from_db()
        assert (by_wallet.status, by_wallet.cancel_at_period_end) == ("cancelling", True)

    def test_the_provider_lets_it_go_on(self, as_owner, by_card, organization, cardpay):
        as_owner.post(CANCEL, body(organization))
        as_owner.post(REACTIVATE, body(organization))

        assert cardpay.subscriptions[by_card.external_id]["cancel_at_period_end"] is False

    def test_cancelling_once_more_reaches_the_provider_again(self, as_owner, by_card, organization, cardpay):
        for url in (CANCEL, REACTIVATE, CANCEL):
            as_owner.post(url, body(organization))

        assert cardpay.subscriptions[by_card.external_id]["cancel_at_period_end"] is True

    def test_what_is_not_cancelling_cannot_be_kept(self, as_owner, by_card, organization):
        assert as_owner.post(REACTIVATE, body(organization)).status_code == 400

    @pytest.mark.parametrize(("seconds", "status"), [(-1, 200), (0, 400), (1, 400)], ids=["before", "at", "after"])
    def test_from_the_end_of_the_period_on_it_is_too_late(self, owner, by_wallet, organization, seconds, status):
        client_of(owner).post(CANCEL, body(organization))

        with time_machine.travel(by_wallet.current_period_end + timedelta(seconds=seconds), tick=False):
            assert client_of(owner).post(REACTIVATE, body(organization)).status_code == status

    def test_one_whose_period_nobody_told_goes_on(self, as_owner, by_wallet, organization):
        as_owner.post(CANCEL, body(organization))
        Subscription.objects.update(current_period_end=None)

        assert as_owner.post(REACTIVATE, body(organization)).status_code == 200

    def test_once_its_end_was_ordered_it_is_too_late(self, as_owner, by_wallet, organization):
        as_owner.post(CANCEL, body(organization))
        CancellationOrder.objects.create(
            provider="walletpay", external_id=by_wallet.external_id, reason="period_ends", next_at=timezone.now()
        )

        assert as_owner.post(REACTIVATE, body(organization)).status_code == 409


class TestInvoices:
    @pytest.fixture
    def paid(self, by_card):
        at = datetime(2026, 11, 1, 12, tzinfo=UTC)
        record(
            [
                PaymentFact(
                    provider="cardpay",
                    subscription_id=by_card.external_id,
                    occurred_at=at + timedelta(days=number),
                    invoice_id=f"in_{number}",
                    amount=Decimal("29.00"),
                    currency="usd",
                    opens_period=False,
                    pdf_url=f"https://pay.example.com/{number}.pdf",
                )
                for number in range(12)
            ]
        )

    def test_the_ten_newest_come_first(self, as_admin, paid, organization):
        invoices = as_admin.get(f"/v1/billing/invoices/{organization.id}").json()

        assert [invoice["id"] for invoice in invoices] == [f"in_{number}" for number in range(11, 1, -1)]

    def test_one_has_exactly_the_fields_of_the_specification(self, as_owner, paid, organization):
        [invoice] = as_owner.get(f"/v1/billing/invoices/{organization.id}?limit=1").json()

        assert invoice == {
            "id": "in_11",
            "date": "2026-11-12T12:00:00.000Z",
            "amount": 29,
            "currency": "usd",
            "status": "paid",
            "planName": "Pro (Monthly)",
            "pdfUrl": "https://pay.example.com/11.pdf",
        }

    @pytest.mark.parametrize("limit", ["0", "-1", "x", "1.5", ""])
    def test_a_bad_limit_is_refused(self, as_owner, paid, organization, limit):
        assert as_owner.get(f"/v1/billing/invoices/{organization.id}?limit={limit}").status_code == 400

    def test_a_large_limit_is_taken_as_the_largest(self, as_owner, paid, organization):
        assert len(as_owner.get(f"/v1/billing/invoices/{organization.id}?limit=9999").json()) == 12

    def test_a_free_organization_has_no_history_to_read(self, as_owner, organization):
        assert as_owner.get(f"/v1/billing/invoices/{organization.id}").status_code == 403

    def test_members_may_not_read_it(self, as_member, as_stranger, paid, organization):
        assert as_member.get(f"/v1/billing/invoices/{organization.id}").status_code == 403
        assert as_stranger.get(f"/v1/billing/invoices/{organization.id}").status_code == 404
