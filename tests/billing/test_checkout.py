"""POST /billing/checkout, /billing/walletpay/checkout and /billing/portal."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from billing.models import Subscription
from tests.conftest import client_of

pytestmark = pytest.mark.django_db

CARD, WALLET = "/v1/billing/checkout", "/v1/billing/walletpay/checkout"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def order(organization):
    return {"orgId": str(organization.id), "planId": "pro", "billingCycle": "annual"}


class TestCheckoutByCard:
    def test_the_owner_gets_the_address_of_the_hosted_page(self, as_owner, order, cardpay):
        response = as_owner.post(CARD, order)

        assert response.status_code == 200
        assert response.json()["checkoutUrl"].startswith(f"{cardpay.url}/pay/")

    def test_the_provider_learns_who_buys_what(self, as_owner, order, cardpay):
        as_owner.post(CARD, order)

        [session] = cardpay.sessions.values()
        assert session["client_reference_id"] == order["orgId"]
        assert session["subscription_data[metadata][orgId]"] == order["orgId"]
        assert session["line_items[0][price]"] == "price_pro_annual"
        assert session["mode"] == "subscription"
        assert session["customer_email"] == "olivia@example.org"

    def test_asking_twice_leads_to_one_page(self, as_owner, order, cardpay):
        first, second = as_owner.post(CARD, order), as_owner.post(CARD, order)

        assert first.json() == second.json()
        assert len(cardpay.changes) == 1

    @pytest.mark.parametrize(("seconds", "pages"), [(599, 1), (600, 2)])
    def test_asking_again_leads_to_the_same_page_for_ten_minutes(self, owner, order, cardpay, seconds, pages):
        for moment in (NOON, NOON + timedelta(seconds=seconds)):
            with time_machine.travel(moment, tick=False):
                client_of(owner).post(CARD, order)

        assert len(cardpay.changes) == pages

    def test_one_who_left_is_known_to_the_provider_and_gets_a_new_page(self, owner, order, by_card, cardpay):
        with time_machine.travel(NOON, tick=False):
            for version in (7, 8):
                Subscription.objects.update(status="inactive", ended_at=NOON, customer_id="cus_7", version=version)
                client_of(owner).post(CARD, order)

        assert [session["customer"] for session in cardpay.sessions.values()] == ["cus_7", "cus_7"]

    def test_one_whose_customer_was_deleted_there_buys_as_a_new_one(self, as_owner, order, by_card, cardpay):
        Subscription.objects.update(status="inactive", ended_at=NOON, customer_id="cus_7")
        cardpay.deleted.add("cus_7")

        assert as_owner.post(CARD, order).status_code == 200
        [session] = cardpay.sessions.values()
        assert session["customer_email"] == "olivia@example.org"
        assert "customer" not in session

    @pytest.mark.parametrize("customer", ["", "cus_7"])
    def test_a_price_that_the_provider_does_not_know_is_named_among_what_is_wrong(
        self, as_owner, order, by_card, cardpay, customer
    ):
        Subscription.objects.update(status="inactive", ended_at=NOON, customer_id=customer)
        cardpay.deleted.add("price_pro_annual")

        response = as_owner.post(CARD, order)

        assert response.status_code == 502
        assert response.json()["message"] == (
            "The payment provider does not know this subscription, customer or price; nothing was changed"
        )

    def test_nothing_changes_here_before_it_is_paid(self, as_owner, order, cardpay, organization):
        as_owner.post(CARD, order)

        subscription = as_owner.get(f"/v1/billing/subscription/{organization.id}").json()
        assert (subscription["planId"], subscription["status"]) == ("free", "inactive")

    def test_a_running_subscription_conflicts(self, as_owner, order, by_card):
        response = as_owner.post(CARD, order)

        assert response.status_code == 409
        assert response.json()["message"] == ("The organization has a subscription already; change its plan instead")

    @pytest.mark.parametrize("status", ["past_due", "cancelling"])
    def test_so_does_one_in_trouble(self, as_owner, order, by_card, status):
        type(by_card).objects.update(status=status, cancel_at_period_end=status == "cancelling")

        assert as_owner.post(CARD, order).status_code == 409

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("planId", "free"),
            ("planId", "gold"),
            ("planId", 1),
            ("planId", None),
            ("billingCycle", "weekly"),
            ("billingCycle", []),
            ("orgId", 7),
            ("orgId", None),
        ],
    )
    def test_a_bad_order_names_its_field(self, as_owner, order, cardpay, field, value):
        response = as_owner.post(CARD, {**order, field: value})

        assert response.status_code == 400
        assert response.json()["message"].startswith(f"{field}: ")

    @pytest.mark.parametrize(
        ("field", "words"), [("planId", "solo, pro, team, enterprise"), ("billingCycle", "monthly, annual")]
    )
    def test_a_bad_choice_is_told_the_good_ones(self, as_owner, order, cardpay, field, words):
        response = as_owner.post(CARD, {**order, field: "x" * 5000})

        assert response.json()["message"] == f"{field}: must be one of {words}"

    @pytest.mark.parametrize("field", ["planId", "billingCycle", "orgId"])
    def test_every_field_is_needed(self, as_owner, order, cardpay, field):
        del order[field]

        assert as_owner.post(CARD, order).status_code == 400

    @pytest.mark.parametrize("url", [CARD, WALLET])
    def test_only_the_owner_buys(self, as_admin, as_member, as_stranger, anonymous, order, url):
        assert as_admin.post(url, order).status_code == 403
        assert as_member.post(url, order).status_code == 403
        assert as_stranger.post(url, order).status_code == 404
        assert anonymous.post(url, order).status_code == 401

    @pytest.mark.parametrize("url", [CARD, WALLET])
    def test_without_settings_the_provider_is_unavailable(self, as_owner, order, url):
        response = as_owner.post(url, order)

        assert response.status_code == 503
        assert response.json()["message"] == "This payment provider is not set up here"

    def test_a_price_that_is_in_no_table_is_unavailable(self, as_owner, order, cardpay, settings):
        settings.CARDPAY_PRICES = {}

        assert as_owner.post(CARD, order).status_code == 503

    @pytest.mark.parametrize("mood", ["fails", "refuses", "lies"])
    def test_a_failing_provider_is_a_bad_gateway(self, as_owner, order, cardpay, mood):
        cardpay.mood = mood

        assert as_owner.post(CARD, order).status_code == 502


class TestCheckoutByWallet:
    def test_the_owner_gets_the_address_of_the_approval(self, as_owner, order, walletpay):
        response = as_owner.post(WALLET, order)

        assert response.status_code == 200
        assert response.json()["approvalUrl"].startswith(f"{walletpay.url}/approve")

    def test_the_provider_learns_who_buys_what(self, as_owner, order, walletpay):
        as_owner.post(WALLET, order)

        [made] = walletpay.subscriptions.values()
        assert (made["custom_id"], made["plan_id"]) == (order["orgId"], "P-PRO-ANNUAL")

    def test_asking_twice_makes_one_subscription(self, as_owner, order, walletpay):
        as_owner.post(WALLET, order)
        as_owner.post(WALLET, order)

        assert len(walletpay.subscriptions) == 1

    def test_the_key_goes_under_the_provider_s_own_name_too(self, as_owner, order, walletpay):
        as_owner.post(WALLET, order)

        headers = walletpay.changes[-1].headers
        assert headers["Walletpay-Request-Id"] == headers["PayPal-Request-Id"]

    def test_a_token_that_was_withdrawn_is_fetched_anew(self, as_owner, order, walletpay):
        as_owner.post(WALLET, order)
        walletpay.token = "token-2"

        assert as_owner.post(WALLET, {**order, "planId": "team"}).status_code == 200

    @pytest.mark.parametrize("mood", ["fails", "refuses", "lies"])
    def test_a_failing_provider_is_a_bad_gateway(self, as_owner, order, walletpay, mood):
        walletpay.mood = mood

        assert as_owner.post(WALLET, order).status_code == 502


class TestPortal:
    url = "/v1/billing/portal"

    def test_the_owner_gets_the_address_of_the_portal(self, as_owner, by_card, organization, cardpay):
        response = as_owner.post(self.url, {"orgId": str(organization.id)})

        assert response.json() == {"portalUrl": f"{cardpay.url}/portal/{by_card.customer_id}"}

    @pytest.mark.parametrize(("seconds", "pages"), [(599, 1), (600, 2)])
    def test_asking_again_leads_to_the_same_portal_for_ten_minutes(
        self, owner, by_card, organization, cardpay, seconds, pages
    ):
        for moment in (NOON, NOON + timedelta(seconds=seconds)):
            with time_machine.travel(moment, tick=False):
                client_of(owner).post(self.url, {"orgId": str(organization.id)})

        assert len(cardpay.changes) == pages

    def test_a_free_organization_has_none(self, as_owner, organization, cardpay):
        response = as_owner.post(self.url, {"orgId": str(organization.id)})

        assert response.status_code == 403
        assert "Solo" in response.json()["message"]

    def test_the_wallet_provider_has_none(self, as_owner, by_wallet, organization):
        assert as_owner.post(self.url, {"orgId": str(organization.id)}).status_code == 503

    def test_only_the_owner_may(self, as_admin, as_stranger, by_card, organization):
        assert as_admin.post(self.url, {"orgId": str(organization.id)}).status_code == 403
        assert as_stranger.post(self.url, {"orgId": str(organization.id)}).status_code == 404

    def test_a_plan_that_staff_gave_has_no_subscription_to_manage(self, as_owner, organization, cardpay):
        organization.plan_id = "pro"
        organization.save()

        assert as_owner.post(self.url, {"orgId": str(organization.id)}).status_code == 409


def test_the_providers_that_are_set_up_are_told_to_everybody(anonymous, settings):
    settings.CARDPAY_API_URL, settings.CARDPAY_SECRET_KEY = "https://pay.example.org", "sk"
    settings.WALLETPAY_API_URL = ""

    assert anonymous.get("/v1/billing/providers").json() == [{"id": "cardpay"}]
