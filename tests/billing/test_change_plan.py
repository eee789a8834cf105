"""POST /billing/change-plan and /billing/preview-change, and the figures behind them."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
import time_machine

from billing.models import Price, Subscription
from billing.proration import prorate
from credits.selectors import balance_of
from organizations.models import AuditEntry
from tests.billing.conftest import known
from tests.conftest import client_of

pytestmark = pytest.mark.django_db

CHANGE, PREVIEW = "/v1/billing/change-plan", "/v1/billing/preview-change"
START, END = datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)
HALFWAY = datetime(2026, 6, 16, tzinfo=UTC)


class TestProration:
    def figures(self, price, new_price, at=HALFWAY, same_cycle=True):
        return prorate(
            price=Decimal(price), new_price=Decimal(new_price), start=START, end=END, at=at, same_cycle=same_cycle
        )

    def test_an_upgrade_halfway_costs_half_the_difference(self):
        figures = self.figures("29", "99")

        assert (figures.credit, figures.due, figures.difference) == (
            Decimal("14.50"),
            Decimal("84.50"),
            Decimal("35.00"),
        )

    def test_a_downgrade_is_negative_and_owes_nothing_above_the_credit(self):
        figures = self.figures("99", "12")

        assert (figures.credit, figures.due, figures.difference) == (
            Decimal("49.50"),
            Decimal("0.00"),
            Decimal("-43.50"),
        )

    def test_another_cycle_starts_a_new_period_at_its_full_price(self):
        assert self.figures("29", "290", same_cycle=False).difference == Decimal("275.50")

    def test_halves_are_rounded_up(self):
        assert self.figures("12.01", "12.01").credit == Decimal("6.01")

    @pytest.mark.parametrize(
        ("at", "credit"),
        [
            (datetime(2026, 1, 1, tzinfo=UTC), "29.00"),
            (START, "29.00"),
            (END, "0.00"),
            (datetime(2027, 1, 1, tzinfo=UTC), "0.00"),
        ],
    )
    def test_the_share_stays_between_nothing_and_all(self, at, credit):
        assert self.figures("29", "99", at=at).credit == Decimal(credit)


@pytest.fixture
def to_team(organization):
    return {"orgId": str(organization.id), "planId": "team", "billingCycle": "monthly"}


def middle_of(subscription):
    """The instant at which exactly half of the period is over."""
    start, end = subscription.current_period_start, subscription.current_period_end
    return start + (end - start) / 2


@pytest.fixture
def halfway(by_card):
    """Exactly half of the period is over."""
    with time_machine.travel(middle_of(by_card), tick=False):
        yield


class TestChangePlan:
    def change(self, owner, organization, body):
        return client_of(owner).post(CHANGE, body)

    def test_by_card_it_takes_effect_at_once(self, owner, organization, to_team, halfway):
        response = self.change(owner, organization, to_team)

        assert response.json() == {
            "previousPlan": "pro",
            "newPlan": "team",
            "effectiveImmediately": True,
            "proratedAmount": 35,
        }
        organization.refresh_from_db()
        assert organization.plan_id == "team"

    @pytest.mark.parametrize(("provider", "approved"), [("by_card", True), ("by_wallet", False)])
    def test_it_is_audited(self, request, as_owner, owner, organization, to_team, provider, approved):
        request.getfixturevalue(provider)
        as_owner.post(CHANGE, to_team)

        entry = AuditEntry.objects.get(action="subscription.plan_changed")
        assert entry.actor == owner
        assert entry.details == {"from": "pro", "to": "team", "cycle": "monthly", "approved": approved}

    def test_an_upgrade_grants_the_difference_in_credits(self, owner, organization, to_team, halfway):
        self.change(owner, organization, to_team)

        assert balance_of(organization).balance == 2000

    def test_a_downgrade_is_negative_and_takes_away_credits(self, owner, organization, to_team, halfway):
        response = self.change(owner, organization, {**to_team, "planId": "solo"})

        assert response.json()["proratedAmount"] == -8.5
        assert balance_of(organization).balance == 50

    @pytest.mark.parametrize(
        ("price", "cycle", "amount"), [("price_pro_monthly", "annual", 975.5), ("price_pro_annual", "monthly", -46)]
    )
    def test_another_cycle_costs_its_whole_price_less_the_credit(
        self, owner, organization, to_team, cardpay, price, cycle, amount
    ):
        row = known("cardpay", cardpay.subscribe(str(organization.pk), price)["id"])

        with time_machine.travel(middle_of(row), tick=False):
            response = self.change(owner, organization, {**to_team, "billingCycle": cycle})

        assert response.json()["proratedAmount"] == amount

    def test_the_provider_prorates_at_the_same_second(self, owner, organization, to_team, by_card, cardpay, halfway):
        self.change(owner, organization, to_team)

        sent = cardpay.changes[-1]
        assert int(sent.body["proration_date"]) == int(middle_of(by_card).timestamp())
        assert sent.body["items[0][price]"] == "price_team_monthly"
        assert sent.body["items[0][id]"].startswith("si_")
        assert sent.key

    def test_one_whose_answer_was_lost_is_not_made_again(self, as_owner, organization, to_team, by_card, cardpay):
        there = cardpay.subscriptions[by_card.external_id]
        there["items"]["data"][0]["price"] = cardpay.price("price_team_monthly")

        assert as_owner.post(CHANGE, to_team).status_code == 200
        assert cardpay.changes == []
        organization.refresh_from_db()
        assert organization.plan_id == "team"

    def test_by_wallet_it_waits_for_the_payer(self, as_owner, organization, to_team, by_wallet, walletpay):
        response = as_owner.post(CHANGE, to_team)

        assert response.json()["effectiveImmediately"] is False
        assert response.json()["approvalUrl"].startswith(walletpay.url)
        organization.refresh_from_db()
        assert organization.plan_id == "pro"

    def test_the_payer_comes_back_from_the_wallet_to_the_plan_page(
        self, as_owner, organization, to_team, by_wallet, walletpay, settings
    ):
        as_owner.post(CHANGE, to_team)

        page = f"{settings.APP_URL}/orgs/{organization.pk}/plan"
        assert walletpay.changes[-1].body == {
            "plan_id": "P-TEAM-MONTHLY",
            "application_context": {"return_url": f"{page}?checkout=approved", "cancel_url": f"{page}?checkout=left"},
        }

    @pytest.mark.parametrize("url", [CHANGE, PREVIEW])
    def test_the_same_plan_and_cycle_is_no_change(self, as_owner, to_team, by_card, url):
        assert as_owner.post(url, {**to_team, "planId": "pro"}).status_code == 400

    def test_the_same_plan_in_another_cycle_is_one(self, as_owner, to_team, by_card, organization):
        assert as_owner.post(CHANGE, {**to_team, "planId": "pro", "billingCycle": "annual"}).status_code == 200

    @pytest.mark.parametrize("url", [CHANGE, PREVIEW])
    @pytest.mark.parametrize(
        "change", [{"planId": "free"}, {"planId": "gold"}, {"billingCycle": "weekly"}, {"orgId": 1}]
    )
    def test_a_bad_body_is_refused(self, as_owner, to_team, by_card, url, change):
        assert as_owner.post(url, {**to_team, **change}).status_code == 400

    @pytest.mark.parametrize("url", [CHANGE, PREVIEW])
    def test_a_free_organization_buys_first(self, as_owner, to_team, cardpay, url):
        assert as_owner.post(url, to_team).status_code == 403

    @pytest.mark.parametrize("mood", ["fails", "refuses", "lies"])
    def test_a_failing_provider_changes_nothing(self, as_owner, to_team, by_card, cardpay, organization, mood):
        cardpay.mood = mood

        assert as_owner.post(CHANGE, to_team).status_code == 502
        organization.refresh_from_db()
        assert organization.plan_id == "pro"

    def test_without_settings_it_is_unavailable(self, as_owner, to_team, by_card, settings):
        settings.CARDPAY_SECRET_KEY = ""

        assert as_owner.post(CHANGE, to_team).status_code == 503

    def test_an_admin_may_preview_but_not_change(self, as_admin, as_member, to_team, by_card):
        assert as_admin.post(CHANGE, to_team).status_code == 403
        assert as_admin.post(PREVIEW, to_team).status_code == 200
        assert as_member.post(PREVIEW, to_team).status_code == 403


class TestPreviewChange:
    def test_it_tells_the_figures_and_changes_nothing(self, owner, organization, to_team, cardpay, halfway):
        asked = len(cardpay.asked)
        response = client_of(owner).post(PREVIEW, to_team)

        assert response.json() == {
            "currentPlan": "pro",
            "newPlan": "team",
            "currentPrice": 29,
            "newPrice": 99,
            "proratedCredit": 14.5,
            "amountDue": 84.5,
            "billingCycle": "monthly",
        }
        organization.refresh_from_db()
        assert organization.plan_id == "pro"
        assert len(cardpay.asked) == asked


class TestAfterAPriceRise:
    """Pro cost 20 a month when it was bought, and costs 29 by now; Team is sold for 90, and will be for 99."""

    @pytest.fixture
    def by_card(self, cardpay, organization, settings):
        settings.CARDPAY_PRICES = {}
        for plan_id, amount, is_current in (("pro", 20, False), ("pro", 29, True), ("team", 90, True)):
            price_id = f"price_{plan_id}_monthly_{amount}"
            Price.objects.create(
                provider="cardpay", external_id=price_id, plan_id=plan_id, cycle="monthly", amount=amount,
                is_current=is_current,
            )  # fmt: skip
        return known("cardpay", cardpay.subscribe(str(organization.pk), "price_pro_monthly_20")["id"])

    def test_the_preview_tells_what_is_paid_and_what_is_sold(self, owner, to_team, halfway):
        told = client_of(owner).post(PREVIEW, to_team).json()

        assert (told["currentPrice"], told["newPrice"]) == (20, 90)
        assert (told["proratedCredit"], told["amountDue"]) == (10, 80)

    def test_the_change_is_prorated_by_the_same_figures(self, owner, to_team, halfway):
        assert client_of(owner).post(CHANGE, to_team).json()["proratedAmount"] == 35

    def test_the_subscription_tells_what_is_paid(self, as_member, by_card, organization):
        told = as_member.get(f"/v1/billing/subscription/{organization.pk}").json()

        assert (told["priceMonthly"], told["priceAnnual"]) == (20, 290)

    def test_when_it_is_over_it_tells_what_the_plan_costs(self, as_member, by_card, organization):
        Subscription.objects.update(status="inactive", ended_at=by_card.started_at)

        assert as_member.get(f"/v1/billing/subscription/{organization.pk}").json()["priceMonthly"] == 29
