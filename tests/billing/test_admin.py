"""What staff see of billing and credits, and what they may do."""

from decimal import Decimal
from typing import ClassVar

import pytest
from django.test import Client
from django.utils import timezone

from billing.facts import PaymentFact
from billing.models import Plan, Price
from billing.services.inflow import record
from credits.models import CreditAccount, CreditEntry
from credits.selectors import balance_of
from credits.services import allocate
from organizations.models import AuditEntry
from tests import factories
from tests.credits.conftest import month

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(db):
    return factories.user("stella@example.org", name="Stella Staff", is_staff=True, is_superuser=True)


@pytest.fixture
def as_staff(staff):
    client = Client()
    client.force_login(staff)
    return client


@pytest.fixture
def paid(by_card):
    record(
        [
            PaymentFact(
                provider="cardpay",
                subscription_id=by_card.external_id,
                occurred_at=timezone.now(),
                invoice_id="in_77",
                amount=Decimal(29),
                currency="usd",
            )
        ]
    )
    return by_card


@pytest.mark.parametrize(
    "page",
    [
        "billing/plan",
        "billing/price",
        "billing/subscription",
        "billing/payment",
        "billing/cancellationorder",
        "billing/repair",
        "credits/creditaccount",
        "credits/creditentry",
    ],
)
def test_every_list_opens(as_staff, paid, page):
    assert as_staff.get(f"/admin/{page}/").status_code == 200


@pytest.mark.parametrize("what", ["external_id", "customer_id", "invoice"])
def test_an_organization_is_found_by_any_provider_id(as_staff, paid, organization, what):
    wanted = "in_77" if what == "invoice" else getattr(paid, what)

    page = as_staff.get("/admin/billing/subscription/", {"q": wanted}).content.decode()
    nothing = as_staff.get("/admin/billing/subscription/", {"q": "sub_of_nobody"}).content.decode()

    assert organization.slug in page
    assert organization.slug not in nothing


def test_ledgers_cannot_be_written(as_staff, paid):
    entry = CreditEntry.objects.first()

    assert as_staff.get("/admin/credits/creditentry/add/").status_code == 403
    assert as_staff.post(f"/admin/credits/creditentry/{entry.pk}/change/", {"amount": 1}).status_code == 403
    assert as_staff.post(f"/admin/credits/creditentry/{entry.pk}/delete/", {"post": "yes"}).status_code == 403


class TestPlans:
    @pytest.fixture
    def change(self, as_staff):
        def save(plan_id, **changes):
            plan = Plan.objects.get(pk=plan_id)
            names = [field.name for field in Plan._meta.fields if field.name not in ("id", "rank")]
            fields = {name: getattr(plan, name) for name in names} | changes
            form = {name: "on" if value is True else value for name, value in fields.items() if value is not False}
            return as_staff.post(f"/admin/billing/plan/{plan_id}/change/", form)

        return save

    def test_limits_hold_at_once(self, change, anonymous):
        change("solo", max_repos=12)

        assert anonymous.get("/v1/plans/solo").json()["limits"]["maxRepos"] == 12

    @pytest.mark.parametrize("limit", ["max_repos", "max_members", "max_orgs", "ai_credits_per_month"])
    def test_a_limit_is_a_number_or_none_at_all(self, change, limit):
        before = getattr(Plan.objects.get(pk="solo"), limit)

        refused = change("solo", **{limit: -2})

        assert "A limit is a number from 0 up, or -1 for none." in refused.content.decode()
        assert getattr(Plan.objects.get(pk="solo"), limit) == before
        assert change("solo", **{limit: -1}).status_code == 302

    @pytest.mark.parametrize("price", ["price_monthly", "price_annual"])
    def test_a_price_is_never_below_zero(self, change, price):
        refused = change("solo", **{price: "-0.01"})

        assert "A price is never below zero." in refused.content.decode()
        assert getattr(Plan.objects.get(pk="solo"), price) > 0

    def test_the_free_plan_stays_free(self, change):
        change("free", price_monthly=5, price_annual=50, max_repos=3)

        free = Plan.objects.get(pk="free")
        assert (free.price_monthly, free.price_annual, free.max_repos) == (0, 0, 3)


class TestPrices:
    FORM: ClassVar = {
        "provider": "cardpay", "external_id": "price_1", "plan": "pro", "cycle": "monthly", "amount": "29",
        "is_current": "on",
    }  # fmt: skip

    def test_one_is_added_and_never_below_zero(self, as_staff):
        refused = as_staff.post("/admin/billing/price/add/", {**self.FORM, "amount": "-29"})

        assert "A price is never below zero." in refused.content.decode()
        assert as_staff.post("/admin/billing/price/add/", self.FORM).status_code == 302
        assert Price.objects.get().amount == 29

    def test_none_is_deleted_since_subscriptions_go_on_naming_it(self, as_staff):
        as_staff.post("/admin/billing/price/add/", self.FORM)
        price = Price.objects.get()

        assert as_staff.post(f"/admin/billing/price/{price.pk}/delete/", {"post": "yes"}).status_code == 403
        form = {"action": "delete_selected", "_selected_action": [str(price.pk)], "post": "yes"}
        as_staff.post("/admin/billing/price/", form)
        assert Price.objects.exists()


class TestGrant:
    @pytest.fixture
    def address(self, paid, organization):
        return f"/admin/credits/creditaccount/{CreditAccount.objects.get(organization=organization).pk}/grant/"

    def test_credits_are_given_with_a_reason(self, as_staff, staff, address, organization):
        key = as_staff.get(address).context["form"].initial["key"]
        form = {"credits": 40, "reason": "Sorry for the outage", "key": key}

        for _ in range(2):
            assert as_staff.post(address, form).status_code == 302

        assert balance_of(organization).balance == 540
        assert AuditEntry.objects.get(action="credits.granted").actor == staff

    @pytest.mark.parametrize("change", [{"credits": 0}, {"credits": "many"}, {"reason": ""}])
    def test_without_a_number_or_reason_nothing_is_given(self, as_staff, address, organization, change):
        form = {"credits": 40, "reason": "Sorry", "key": "01997f22-6c8d-7e9f-9a01-3d4e5f6a7b8c", **change}

        assert as_staff.post(address, form).status_code == 200
        assert balance_of(organization).balance == 500

    def test_others_may_not(self, address, organization):
        clerk = factories.user("clerk@example.org", is_staff=True)
        client = Client()
        client.force_login(clerk)

        assert client.post(address, {"credits": 40, "reason": "me"}).status_code == 403

    def test_to_unlimited_credits_nothing_is_added_and_the_page_says_why(self, as_staff, address, organization):
        allocate(organization=organization, allocation=month(-1))
        form = {"credits": 40, "reason": "Sorry", "key": "01997f22-6c8d-7e9f-9a01-3d4e5f6a7b8c"}

        page = as_staff.post(address, form)

        assert page.status_code == 200
        assert "credits are unlimited already" in page.content.decode()


def test_staff_read_why_a_subscription_could_not_be_compared(as_staff, paid, settings):
    settings.CARDPAY_API_URL = "http://127.0.0.1:1"
    form = {"action": "compare", "confirmed": "yes", "_selected_action": [str(paid.pk)]}

    page = as_staff.post("/admin/billing/subscription/", form, follow=True).content.decode()

    assert "nothing was changed, try again" in page


def test_staff_compare_a_subscription_with_its_provider(as_staff, paid, cardpay, organization):
    cardpay.subscriptions[paid.external_id]["cancel_at_period_end"] = True

    form = {"action": "compare", "confirmed": "yes", "_selected_action": [str(paid.pk)]}
    as_staff.post("/admin/billing/subscription/", form)

    paid.refresh_from_db()
    assert paid.status == "cancelling"
