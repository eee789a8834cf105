"""People in an organization: invited by a letter, promoted, kept out; and what they have of a bought plan."""

import re
from typing import Any

import pytest
import requests
from playwright.sync_api import expect

from billing.models import Subscription
from organizations.services import invite_member
from tests import factories
from tests.billing.conftest import known
from tests.providers.cardpay import Cardpay
from tests.providers.loopback import serving
from tests.providers.walletpay import Walletpay
from tests.webhooks import deliveries

SLOW_NETWORK = """() => {
  const quick = window.fetch;
  window.fetch = async (...asked) => {
    await new Promise((ready) => setTimeout(ready, 500));
    return quick(...asked);
  };
}"""

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def team(owner: Any, member: Any) -> Any:
    return factories.organization(owner=owner, members=[member], plan="pro", name="Acme")


def test_an_invitation_is_sent_accepted_and_told_in_the_audit_log(
    visitor: Any, team: Any, owner: Any, stranger: Any, postbox: Any
) -> None:
    olivia = visitor(owner)
    olivia.goes_to(f"/orgs/{team.pk}/members")
    olivia.sees("Mia Member")
    olivia.page.get_by_role("button", name="Invite somebody").first.click()
    olivia.is_refused(400)
    olivia.page.get_by_label("Email address").fill("no address")
    olivia.clicks("Send the invitation")
    olivia.sees("valid email address")
    olivia.page.get_by_label("Email address").fill(stranger.email)
    olivia.page.get_by_role("dialog").get_by_label("Role").select_option("admin")
    olivia.clicks("Send the invitation")
    olivia.sees("A letter is on its way")
    olivia.finds_no_barrier()
    link = re.search(r"http\S+/invitations/\S+", postbox()[-1].body)
    assert link

    sam = visitor(stranger)
    sam.page.goto(link[0])
    sam.page.get_by_role("button", name=re.compile("Accept|Join")).click()
    sam.sees("Acme")

    olivia.page.reload()
    olivia.sees("Sam Stranger")
    assert olivia.page.get_by_label("Role of Sam Stranger").input_value() == "admin"
    olivia.goes_to(f"/orgs/{team.pk}/audit")
    olivia.sees(f"invited {stranger.email} as admin")
    olivia.sees("joined")
    olivia.finds_no_barrier()


def test_a_removed_member_loses_access_at_once(visitor: Any, team: Any, owner: Any, member: Any) -> None:
    olivia, mia = visitor(owner), visitor(member)
    mia.goes_to(f"/orgs/{team.pk}/members")
    assert mia.page.get_by_role("button", name="Remove Olivia Owner").count() == 0

    olivia.goes_to(f"/orgs/{team.pk}/members")
    olivia.clicks("Remove Mia Member")
    olivia.clicks("Remove")
    olivia.sees("Mia Member has been removed")

    mia.is_refused(404)
    mia.page.reload()
    mia.sees("Not found")


def test_whoever_removes_an_admin_is_told_of_the_invitations_that_stay(
    visitor: Any, team: Any, owner: Any, member: Any
) -> None:
    team.memberships.filter(user=member).update(role="admin")
    invite_member(organization=team, email="dana@example.org", actor=member)
    olivia = visitor(owner)
    olivia.goes_to(f"/orgs/{team.pk}/members")
    invited = olivia.page.get_by_role("row", name="dana@example.org")
    expect(invited.get_by_role("cell", name="Mia Member", exact=True)).to_be_visible()

    olivia.clicks("Remove Mia Member")
    olivia.sees("1 pending invitation from this person stays too")
    olivia.clicks("Remove")

    olivia.sees("No longer a member")
    olivia.finds_no_barrier()


def test_settings_rename_and_delete_an_organization(visitor: Any, team: Any, owner: Any) -> None:
    olivia = visitor(owner)
    olivia.goes_to(f"/orgs/{team.pk}/settings")
    olivia.page.get_by_label("Name", exact=True).fill("Acme Limited")
    olivia.clicks("Save")
    olivia.page.get_by_label("Organization: Acme Limited. Change").wait_for()
    olivia.finds_no_barrier()

    olivia.clicks("Delete")
    olivia.page.get_by_label(f"Type {team.slug} to confirm").fill(team.slug)
    olivia.clicks("Delete for good")
    olivia.sees("Begin with an organization")


class TestPlan:
    @pytest.fixture
    def provider(self, settings: Any) -> Any:
        settings.CARDPAY_PRICES = {f"{plan}_monthly": f"price_{plan}_monthly" for plan in ("solo", "pro", "team")}
        settings.CARDPAY_WEBHOOK_SECRETS = [deliveries.CARDPAY_SECRET]
        with serving(Cardpay) as server:
            settings.CARDPAY_API_URL, settings.CARDPAY_SECRET_KEY = server.url, "sk_test_1"
            yield server

    def test_a_plan_is_bought_changed_and_cancelled(
        self, visitor: Any, service: str, owner: Any, provider: Cardpay
    ) -> None:
        organization = factories.organization(owner=owner, plan="free")
        olivia = visitor(owner, beside=provider.url)
        olivia.page.route(f"{provider.url}/pay/**", lambda route: _hosted_page(route, provider))
        olivia.goes_to(f"/orgs/{organization.pk}/plan")
        olivia.finds_no_barrier()

        olivia.clicks("Choose Pro")
        olivia.clicks("Pay by card")
        olivia.page.get_by_role("link", name="Pay $29").click()
        olivia.sees("The payment provider is confirming")
        bought = provider.subscribe(str(organization.pk))
        session = {
            "id": "cs_1",
            "object": "checkout.session",
            "mode": "subscription",
            "subscription": bought["id"],
            "client_reference_id": str(organization.pk),
            "customer": bought["customer"],
            "payment_status": "paid",
            "status": "complete",
        }
        event = deliveries.cardpay("checkout.session.completed", thing=session)
        told = requests.post(
            service + deliveries.URLS["cardpay"],
            data=event.body,
            headers={"Content-Type": "application/json", **event.headers},
            timeout=5,
        )
        assert told.status_code == 200
        olivia.sees("The plan Pro is active")
        olivia.sees("of unlimited")

        olivia.clicks("Annual, two months free")
        olivia.clicks("Change to Team")
        olivia.sees("Due now")
        olivia.clicks("Not now")
        olivia.page.evaluate(SLOW_NETWORK)  # the cycle that is chosen holds, however long its prices take
        olivia.clicks("Monthly")
        olivia.clicks("Change to Team")
        olivia.sees("Team until")
        olivia.sees("To pay for this period")
        assert olivia.page.get_by_text("Due now").count() == 0
        olivia.clicks("Change the plan")
        olivia.sees("The plan is Team now")

        olivia.clicks("Cancel the plan")
        olivia.page.get_by_role("dialog").get_by_role("button", name="Cancel the plan").click()
        olivia.sees("The plan ends")
        olivia.clicks("Keep the plan")
        olivia.sees("The plan goes on")

        olivia.goes_to(f"/orgs/{organization.pk}/credits")
        olivia.sees("of 2,000 a month")
        olivia.finds_no_barrier()

    def test_by_wallet_the_payer_approves_a_change_and_has_no_portal(
        self, visitor: Any, owner: Any, settings: Any
    ) -> None:
        settings.WALLETPAY_PLANS = {f"{plan}_monthly": f"P-{plan}-MONTHLY".upper() for plan in ("pro", "team")}
        settings.WALLETPAY_CLIENT_ID, settings.WALLETPAY_CLIENT_SECRET = "client", "secret"
        organization = factories.organization(owner=owner, plan="free")
        with serving(Walletpay) as wallet:
            settings.WALLETPAY_API_URL = wallet.url
            bought = known("walletpay", wallet.subscribe(str(organization.pk))["id"])
            Subscription.objects.update(status="past_due")
            olivia = visitor(owner, beside=wallet.url)
            olivia.page.route(f"{wallet.url}/approve**", lambda route: _approval_page(route, wallet))
            olivia.goes_to(f"/orgs/{organization.pk}/plan")
            olivia.sees("see to it in your wallet account")
            assert olivia.page.get_by_role("button", name="Cards and documents").count() == 0

            olivia.clicks("Change to Team")
            olivia.sees("You approve the new price in your wallet")
            assert olivia.page.get_by_text("Unused part").count() == 0
            olivia.clicks("Change the plan")
            olivia.page.get_by_role("link", name="Approve").click()
            olivia.sees("The plan changes as soon as the wallet has confirmed it")
            olivia.finds_no_barrier()
            olivia.goes_to(f"/orgs/{organization.pk}/audit")
            olivia.sees("asked the wallet to change the plan from Pro to Team")
            bought.refresh_from_db()
            assert bought.plan_id == "pro"


def _hosted_page(route: Any, provider: Cardpay) -> None:
    """The provider's page, as much of it as leads back."""
    back = provider.sessions[route.request.url.rsplit("/", 1)[1]]["success_url"]
    route.fulfill(content_type="text/html", body=f'<!doctype html><title>Pay</title><a href="{back}">Pay $29</a>')


def _approval_page(route: Any, wallet: Walletpay) -> None:
    """Likewise, of the wallet."""
    back = wallet.changes[-1].body["application_context"]["return_url"]
    route.fulfill(content_type="text/html", body=f'<!doctype html><title>Wallet</title><a href="{back}">Approve</a>')
