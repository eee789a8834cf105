"""The card provider's flows against emulators that others wrote, each a process of its own.

localstripe knows customers, subscriptions, invoices and signed events, but no checkout; emulate knows checkout.
"""

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from django.utils import timezone

from billing.models import BillingCycle, Payment, Subscription
from billing.providers import provider_for
from billing.providers.base import PlanChangeOrder
from billing.services.inflow import record
from billing.services.reconciliation import reconcile
from organizations.models import Organization
from tests import factories
from tests.conftest import client_of
from tests.providers import npm, servers
from tests.webhooks import deliveries
from webhooks import inbox

KEY = "sk_test_12345"


@pytest.fixture(scope="module")
def localstripe(tmp_path_factory: Any) -> Iterator[str]:
    port, home = servers.free_port(), tmp_path_factory.mktemp("localstripe")
    command = [sys.executable, "-m", "localstripe", "--from-scratch", "--port", str(port)]
    with servers.running(command, port=port, cwd=home):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def emulate(tmp_path_factory: Any) -> Iterator[str]:
    port, program = servers.free_port(), npm.installed("emulate") / "dist" / "index.js"
    home = tmp_path_factory.mktemp("emulate")
    with servers.running([npm.NODE, program, "start", "--service", "stripe", "--port", str(port)], port=port, cwd=home):
        yield f"http://127.0.0.1:{port}"


def form(address: str, path: str, **fields: Any) -> dict[str, Any]:
    answer = httpx.post(f"{address}{path}", data=fields, auth=(KEY, ""))
    assert answer.status_code == 200, answer.text
    return dict(answer.json()) if answer.content else {}


def subscribed(address: str, organization: Organization) -> str:
    """A paid subscription at localstripe, and its id."""
    if httpx.get(f"{address}/v1/plans/pro-monthly", auth=(KEY, "")).status_code == 404:
        form(
            address,
            "/v1/plans",
            **{"id": "pro-monthly", "amount": 2900, "currency": "usd", "interval": "month", "product[name]": "Pro"},
        )
    card = {"card[number]": "4242424242424242", "card[exp_month]": 12, "card[exp_year]": 2040, "card[cvc]": "123"}
    method = form(address, "/v1/payment_methods", type="card", **card)
    customer = form(address, "/v1/customers", email="olivia@example.org")
    form(address, f"/v1/payment_methods/{method['id']}/attach", customer=customer["id"])
    form(
        address,
        f"/v1/customers/{customer['id']}",
        **{"invoice_settings[default_payment_method]": method["id"]},
    )
    fields = {"customer": customer["id"], "items[0][plan]": "pro-monthly", "metadata[orgId]": str(organization.pk)}
    return str(form(address, "/v1/subscriptions", **fields)["id"])


def eventually(holds: Callable[[], bool]) -> None:
    """The emulator delivers its events a second late."""
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.05)


class TestLocalstripe:
    @pytest.fixture(autouse=True)
    def pointed_there(self, settings, localstripe):
        settings.CARDPAY_API_URL, settings.CARDPAY_SECRET_KEY = localstripe, KEY
        settings.CARDPAY_PRICES = {"pro_monthly": "pro-monthly"}

    @pytest.fixture
    def subscription(self, organization, localstripe):
        external_id = subscribed(localstripe, organization)
        record([provider_for("cardpay").fetch_subscription(external_id)])
        return Subscription.objects.get(external_id=external_id)

    @pytest.mark.django_db
    def test_a_subscription_is_read(self, subscription, organization):
        organization.refresh_from_db()

        assert (subscription.status, subscription.plan_id, organization.plan_id) == ("active", "pro", "pro")
        assert 28 <= (subscription.current_period_end - subscription.current_period_start).days <= 31

    @pytest.mark.django_db
    def test_it_is_cancelled_and_kept(self, subscription, organization, owner):
        client, body = client_of(owner), {"orgId": str(organization.id)}

        assert client.post("/v1/billing/cancel", body).json()["status"] == "cancelling"
        assert provider_for("cardpay").fetch_subscription(subscription.external_id).cancel_at_period_end is True
        assert client.post("/v1/billing/reactivate", body).json()["status"] == "active"
        assert provider_for("cardpay").fetch_subscription(subscription.external_id).cancel_at_period_end is False

    @pytest.mark.django_db
    def test_a_change_of_plan_is_taken_with_its_instant(self, subscription, localstripe):
        order = PlanChangeOrder(price_id="pro-monthly", approved_url="", cancel_url="")

        change = provider_for("cardpay").change_plan(subscription.external_id, order, at=timezone.now(), key="change-1")

        assert change.fact is not None
        assert change.fact.subscription_id == subscription.external_id

    @pytest.mark.django_db
    def test_what_ended_there_ends_here(self, subscription, organization):
        provider_for("cardpay").cancel_now(subscription.external_id, key="end-1")
        reconcile()

        subscription.refresh_from_db()
        organization.refresh_from_db()
        assert (subscription.status, organization.plan_id) == ("inactive", "free")

    @pytest.mark.django_db(transaction=True)
    def test_its_own_signed_events_lead_from_the_purchase_to_the_end(self, live_server, localstripe, settings):
        settings.CARDPAY_WEBHOOK_SECRETS = [deliveries.CARDPAY_SECRET]
        organization = factories.organization(plan="free")
        address = f"{live_server.url}/v1/billing/webhook/cardpay"
        form(localstripe, "/_config/webhooks/ours", url=address, secret=deliveries.CARDPAY_SECRET)

        external_id = subscribed(localstripe, organization)
        eventually(lambda: Payment.objects.exists() and Subscription.objects.live().exists())
        organization.refresh_from_db()
        assert organization.plan_id == "pro"
        assert Payment.objects.get().amount == 29

        assert httpx.delete(f"{localstripe}/v1/subscriptions/{external_id}", auth=(KEY, "")).status_code == 200
        eventually(lambda: Subscription.objects.filter(status="inactive").exists())
        inbox.drain()
        organization.refresh_from_db()
        assert organization.plan_id == "free"


class TestEmulate:
    @pytest.mark.django_db
    def test_a_product_and_price_are_made_and_the_hosted_page_opens(self, emulate, settings, as_owner, organization):
        settings.CARDPAY_API_URL, settings.CARDPAY_SECRET_KEY = emulate, KEY
        product = form(emulate, "/v1/products", name="Pro")
        price = form(emulate, "/v1/prices", product=product["id"], unit_amount=2900, currency="usd")
        settings.CARDPAY_PRICES = {"pro_monthly": price["id"]}
        body = {"orgId": str(organization.id), "planId": "pro", "billingCycle": BillingCycle.MONTHLY}

        response = as_owner.post("/v1/billing/checkout", body)

        assert response.status_code == 200
        page = httpx.get(response.json()["checkoutUrl"])
        assert page.status_code == 200
        assert "29" in page.text
