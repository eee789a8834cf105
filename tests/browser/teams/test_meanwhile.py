"""What happens to a page that is open while others, other tabs or time go on."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Session
from analysis.models import Platform, Repository, StoredPolicy
from analysis.services.repositories import connect_repository
from organizations.models import Membership, Role
from tests import factories
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import SHOP, GitRepository

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def team(owner: Any, admin: Any, member: Any) -> Any:
    return factories.organization(owner=owner, admins=[admin], members=[member], plan="pro", name="Acme")


@pytest.fixture
def shop(team: Any, service: str, tmp_path: Path) -> Repository:
    """A small shop, connected and scanned."""
    source = GitRepository.create(tmp_path / "shop")
    source.commit(SHOP, on=TODAY - timedelta(days=3))
    return connect_repository(organization=team, full_name="acme/shop", platform=Platform.GIT, clone_url=source.url)


def go(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.locator(".skeleton-page")).to_have_count(0)


class TestOthers:
    def test_a_role_that_was_lowered_is_the_role_on_the_next_page(self, visitor: Any, team: Any, admin: Any) -> None:
        adam = visitor(admin)
        adam.goes_to(f"/orgs/{team.pk}/settings")
        expect(adam.page.get_by_role("button", name="Save")).to_be_visible()

        Membership.objects.filter(user=admin).update(role=Role.MEMBER)
        go(adam.page, "Members")

        adam.sees("Mia Member")
        expect(adam.page.get_by_role("button", name="Invite somebody")).to_have_count(0)
        expect(adam.page.get_by_role("link", name="Audit log")).to_have_count(0)

    def test_the_head_of_a_repository_tells_of_its_last_scan(self, visitor: Any, shop: Repository, owner: Any) -> None:
        olivia = visitor(owner)
        olivia.goes_to(f"/repos/{shop.pk}")

        Repository.objects.filter(pk=shop.pk).update(health_score=7)
        go(olivia.page, "Hotspots")

        expect(olivia.page.locator(".page-head")).to_contain_text("7 Poor")

    def test_nothing_is_left_of_a_repository_that_was_disconnected(
        self, visitor: Any, shop: Repository, owner: Any
    ) -> None:
        olivia = visitor(owner)
        olivia.goes_to(f"/repos/{shop.pk}")
        olivia.is_refused(404)

        Repository.objects.all().delete()
        olivia.page.get_by_role("link", name="Runs", exact=True).click()

        olivia.sees("There is no such repository among yours")
        expect(olivia.page.get_by_role("button", name="Scan now")).to_have_count(0)

    def test_of_two_who_change_a_policy_nobody_loses_it_unasked(
        self, visitor: Any, shop: Repository, owner: Any, admin: Any
    ) -> None:
        olivia, adam = visitor(owner), visitor(admin)
        for one, table in ((olivia, "orders"), (adam, "invoices")):
            one.goes_to(f"/repos/{shop.pk}/policy")
            one.clicks("Add a table")
            one.page.get_by_label("Table or model").fill(table)
        olivia.clicks("Save the policy")
        olivia.sees("The policy is saved")

        adam.is_refused(412)
        adam.clicks("Save the policy")
        adam.sees("Somebody else has changed the policy")
        adam.finds_no_barrier()
        adam.clicks("Keep editing")

        expect(adam.page.get_by_label("Table or model")).to_have_value("invoices")
        assert StoredPolicy.objects.get().body["data_volumes"] == {"orders": "XL"}
        adam.clicks("Save the policy")
        adam.clicks("Save mine over it")
        adam.sees("The policy is saved")
        assert StoredPolicy.objects.get().body["data_volumes"] == {"invoices": "XL"}


class TestUnsaved:
    def test_a_policy_outlives_its_page_until_it_is_saved_or_discarded(
        self, visitor: Any, shop: Repository, owner: Any
    ) -> None:
        olivia = visitor(owner)
        page = olivia.page
        olivia.goes_to(f"/repos/{shop.pk}/policy")
        olivia.clicks("Add a table")
        page.get_by_label("Table or model").fill("orders")
        go(page, "Violations")
        page.go_back()

        expect(page.get_by_label("Table or model")).to_have_value("orders")
        expect(page.get_by_role("button", name="Save the policy")).to_be_visible()
        asked: list[str] = []
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
        page.close(run_before_unload=True)
        page.wait_for_timeout(500)
        assert asked == ["beforeunload"]

        olivia.clicks("Save the policy")
        olivia.sees("The policy is saved")
        go(page, "Violations")
        go(page, "Policy")
        expect(page.get_by_label("Table or model")).to_have_value("orders")
        expect(page.get_by_text("Unsaved changes")).to_be_hidden()


class TestDialogs:
    def test_one_leaves_with_its_page(self, visitor: Any, team: Any, owner: Any) -> None:
        olivia = visitor(owner)
        olivia.goes_to("/")
        go(olivia.page, "Members")
        olivia.page.get_by_role("button", name="Invite somebody").first.click()

        olivia.page.go_back()

        expect(olivia.page).to_have_url(f"{olivia.service}/")
        expect(olivia.page.get_by_role("dialog")).to_have_count(0)

    def test_none_lies_over_the_sign_in_when_another_tab_has_signed_out(
        self, visitor: Any, team: Any, owner: Any
    ) -> None:
        olivia = visitor(owner)
        other = olivia.page.context.new_page()
        other.goto(f"{olivia.service}/orgs/{team.pk}/members")
        other.get_by_role("button", name="Invite somebody").first.click()

        olivia.page.get_by_label("Account of Olivia Owner").click()
        olivia.clicks("Sign out")
        other.get_by_label("Email").fill(owner.email)
        other.get_by_label("Password").fill(factories.PASSWORD)
        other.get_by_role("button", name="Sign in", exact=True).click()

        expect(other.get_by_role("heading", name="Members", exact=True)).to_be_visible()


class TestSessions:
    def test_one_that_has_ended_is_taken_up_where_somebody_was_writing(
        self, visitor: Any, team: Any, owner: Any
    ) -> None:
        olivia = visitor(owner)
        olivia.goes_to("/orgs/new")
        olivia.page.get_by_label("Name", exact=True).fill("A second one")

        Session.objects.all().revoke()
        olivia.is_refused(401)
        olivia.clicks("Make the organization")
        olivia.sees("Your session has ended")
        olivia.finds_no_barrier()
        dialog = olivia.page.get_by_role("dialog")
        dialog.get_by_label("Password").fill("Wrong-horse-9")
        dialog.get_by_role("button", name="Sign in", exact=True).click()
        expect(dialog.get_by_label("Password")).to_have_attribute("aria-invalid", "true")
        dialog.get_by_label("Password").fill(factories.PASSWORD)
        dialog.get_by_role("button", name="Sign in", exact=True).click()

        olivia.page.wait_for_url("**/connect")
        assert owner.memberships.filter(organization__name="A second one").exists()

    def test_whoever_does_not_want_to_goes_to_the_sign_in(self, visitor: Any, team: Any, owner: Any) -> None:
        olivia = visitor(owner)
        olivia.goes_to("/")
        Session.objects.all().revoke()
        olivia.is_refused(401)
        olivia.page.get_by_role("link", name="Members").click()

        olivia.clicks("Sign in another way")

        olivia.page.wait_for_url(f"**/login?next=%2Forgs%2F{team.pk}%2Fmembers")

    def test_what_one_person_sends_is_never_sent_as_another(
        self, visitor: Any, team: Any, owner: Any, member: Any
    ) -> None:
        olivia = visitor(owner)
        olivia.goes_to("/orgs/new")
        olivia.page.get_by_label("Name", exact=True).fill("Of Olivia")
        olivia.page.context.clear_cookies()
        other = olivia.page.context.new_page()
        other.goto(f"{olivia.service}/login")
        other.get_by_label("Email").fill(member.email)
        other.get_by_label("Password").fill(factories.PASSWORD)
        other.get_by_role("button", name="Sign in", exact=True).click()
        expect(other.get_by_label("Account of Mia Member")).to_be_visible()

        owner.sessions.revoke()
        olivia.is_refused(401)
        olivia.clicks("Make the organization")

        expect(olivia.page.get_by_label("Account of Mia Member")).to_be_visible()
        assert not member.memberships.filter(organization__name="Of Olivia").exists()


class TestKeyboard:
    def test_it_stays_where_something_was_done(self, visitor: Any, shop: Repository, team: Any, owner: Any) -> None:
        page = (olivia := visitor(owner)).page
        olivia.goes_to(f"/orgs/{team.pk}/members")
        page.get_by_role("button", name="Invite somebody").first.press("Enter")
        page.get_by_label("Email address").fill("dana@example.org")
        page.keyboard.press("Enter")
        olivia.sees("A letter is on its way")
        expect(page.get_by_role("button", name="Invite somebody").first).to_be_focused()
        page.get_by_role("button", name="Cancel the invitation of dana").press("Enter")
        olivia.sees("No pending invitations")
        expect(page.get_by_role("main")).to_be_focused()

        olivia.goes_to(f"/repos/{shop.pk}/runs")
        page.get_by_role("button", name="Scan now").press("Enter")
        olivia.sees("The scan is queued")
        expect(page.get_by_role("button", name="Scan now")).to_be_focused()

        olivia.goes_to(f"/repos/{shop.pk}/policy")
        for name in ("views", "services"):
            page.get_by_role("button", name="Add a layer").press("Enter")
            page.keyboard.type(name)
        page.get_by_role("button", name="Move down layer 1").press("Enter")
        expect(page.get_by_role("button", name="Move up layer 2")).to_be_focused()
        page.get_by_role("button", name="Remove layer 2").press("Enter")
        expect(page.get_by_role("button", name="Remove layer 1")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Add a layer")).to_be_focused()


class TestAddresses:
    def test_one_that_asks_for_nonsense_says_what_and_leads_on(
        self, visitor: Any, shop: Repository, owner: Any
    ) -> None:
        olivia = visitor(owner)
        olivia.is_refused(400)
        olivia.goes_to(f"/repos/{shop.pk}/violations?severity=grave")

        olivia.sees("“severity” in the address must be one of")
        olivia.page.get_by_role("link", name="Show the page without it").click()

        olivia.sees("the gravest first")

    def test_a_page_of_another_release_is_loaded_anew(self, visitor: Any, team: Any, owner: Any) -> None:
        olivia = visitor(owner)
        olivia.goes_to("/")
        olivia.is_refused(404)
        olivia.page.route("**/js/pages/audit*", lambda route: route.fulfill(status=404, body=""))
        go(olivia.page, "Audit log")
        olivia.sees("A part of the dashboard did not arrive")

        olivia.page.unroute("**/js/pages/audit*")
        with olivia.page.expect_navigation():
            olivia.clicks("Try again")

        olivia.sees("Nothing has happened yet")
