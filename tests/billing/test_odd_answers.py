"""What breaks a provider's protocol in one of its answers is the provider's failure: 502, and nothing changes here."""

import time
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from billing.models import Payment, Price, Repair, Subscription
from billing.services.reconciliation import reconcile
from tests import factories
from tests.billing.conftest import known
from tests.conftest import client_of

pytestmark = pytest.mark.django_db

NONSENSE = "The payment provider answered nonsense; nothing was changed"
UNKNOWN = "The payment provider does not know this subscription, customer or price; nothing was changed"
SUBSCRIPTION = r"/v1/(billing/)?subscriptions/[\w-]+"


@pytest.fixture
def buyer():
    """The owner of an organization that pays for nothing yet."""
    return factories.organization(plan="free").owner.user


def call(owner: Any, path: str) -> Any:
    organization = owner.memberships.get().organization_id
    choice = {"planId": "team", "billingCycle": "monthly"} if path.endswith(("checkout", "change-plan")) else {}
    return client_of(owner).post(f"/v1/billing/{path}", {"orgId": str(organization), **choice})


@pytest.mark.parametrize(
    ("path", "question", "answer"),
    [
        ("checkout", "POST /v1/checkout/sessions", []),
        ("checkout", "POST /v1/checkout/sessions", {"url": 7}),
        ("walletpay/checkout", "POST /v1/oauth2/token", []),
        ("walletpay/checkout", "POST /v1/oauth2/token", {"access_token": None}),
        ("walletpay/checkout", "POST /v1/oauth2/token", {"access_token": "t", "expires_in": "soon"}),
        ("walletpay/checkout", "POST /v1/billing/subscriptions", []),
        ("walletpay/checkout", "POST /v1/billing/subscriptions", {}),
        ("walletpay/checkout", "POST /v1/billing/subscriptions", {"links": 7}),
        ("walletpay/checkout", "POST /v1/billing/subscriptions", {"links": [{"rel": "self", "href": "https://w"}]}),
        ("walletpay/checkout", "POST /v1/billing/subscriptions", {"links": [{"rel": "approve"}]}),
    ],
)
def test_a_checkout_without_a_page_to_pay_on(cardpay, walletpay, buyer, path, question, answer):
    server = walletpay if path.startswith("walletpay") else cardpay
    server.nonsense[question] = answer

    response = call(buyer, path)

    assert (response.status_code, response.json()["message"]) == (502, NONSENSE)


@pytest.mark.parametrize(
    ("path", "question", "answer"),
    [
        ("portal", "POST /v1/billing_portal/sessions", {}),
        ("cancel", f"POST {SUBSCRIPTION}", {"id": "sub_1", "status": "dancing"}),
        ("cancel", f"POST {SUBSCRIPTION}", {"id": "sub_1", "status": "active"}),
        ("change-plan", f"GET {SUBSCRIPTION}", []),
        ("change-plan", f"GET {SUBSCRIPTION}", {"items": {"data": [{"price": "price_pro_monthly"}]}}),
    ],
)
def test_a_change_that_the_card_provider_answers_oddly(cardpay, by_card, owner, path, question, answer):
    cardpay.nonsense[question] = answer

    response = call(owner, path)

    assert (response.status_code, response.json()["message"]) == (502, NONSENSE)
    before = (by_card.version, by_card.plan_id, by_card.cancel_at_period_end)
    by_card.refresh_from_db()
    assert (by_card.version, by_card.plan_id, by_card.cancel_at_period_end) == before


@pytest.mark.parametrize("provider", ["by_card", "by_wallet"])
def test_a_change_of_what_the_provider_does_not_know(request, owner, provider):
    row = request.getfixturevalue(provider)
    request.getfixturevalue(row.provider).subscriptions.clear()

    response = call(owner, "change-plan")

    assert (response.status_code, response.json()["message"]) == (502, UNKNOWN)


def test_an_id_is_one_step_of_a_path_whatever_stands_in_it(cardpay, by_card, owner):
    Subscription.objects.update(external_id="sub/1?x#y")

    assert call(owner, "cancel").status_code == 502
    assert cardpay.asked[-1].path == "/v1/subscriptions/sub%2F1%3Fx%23y"


INVOICE = {"id": "in_1", "subscription": "sub_1", "amount_paid": 2900, "currency": "usd"}


@pytest.mark.parametrize(
    ("provider", "question", "answer"),
    [
        ("cardpay", f"GET {SUBSCRIPTION}", {"id": "sub_1", "status": "dancing"}),
        ("cardpay", "GET /v1/invoices", {"data": 7}),
        ("cardpay", "GET /v1/invoices", {"data": [INVOICE | {"created": 10**20}]}),
        ("cardpay", "GET /v1/invoices", {"data": [INVOICE | {"created": int(time.time()), "id": None}]}),
        ("walletpay", f"GET {SUBSCRIPTION}", {"id": "I-1", "status": "DANCING"}),
        ("walletpay", rf"GET {SUBSCRIPTION}/transactions", {"transactions": {}}),
        ("walletpay", rf"GET {SUBSCRIPTION}/transactions", {"transactions": [{"status": "COMPLETED"}]}),
    ],
)
def test_the_nightly_comparison_goes_on_with_the_next_subscription(cardpay, walletpay, provider, question, answer):
    for name, server in (("cardpay", cardpay), ("walletpay", walletpay)):
        known(name, server.subscribe(str(factories.organization(plan="free").pk))["id"])
    (cardpay if provider == "cardpay" else walletpay).nonsense[question] = answer

    outcome = reconcile()

    assert (outcome.compared, outcome.repairs, outcome.failed) == (1, 0, 1)
    assert not Repair.objects.exists() and not Payment.objects.exists()


@pytest.mark.parametrize(
    ("provider", "question"), [("cardpay", "POST /v1/prices"), ("walletpay", "POST /v1/billing/plans")]
)
def test_a_price_without_an_id_is_told_to_the_operator(request, provider, question):
    request.getfixturevalue(provider).nonsense[question] = {}

    with pytest.raises(CommandError, match=NONSENSE):
        call_command("sync_prices", provider, stdout=StringIO())

    assert not Price.objects.exists()
