"""From an address on the internet to a repository that is scanned, understood and tidied up, in a browser."""

import re

import pytest
from playwright.sync_api import Page, Route, TimeoutError, expect

from tests.browser.conftest import PASSWORD, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("served")]  # one running service for all


def test_from_sign_up_to_an_exception(visit, shop, on_plan):
    page = visit("/")
    sign_up(page)
    make_organization(page)
    connect(page, shop)
    see_the_overview(page)
    look_at_a_violation(page)

    on_plan("pro", "joan-inc")
    accept_the_violation(page)

    expect(page.get_by_text("The exception is in the policy")).to_be_visible()
    expect(page.get_by_text("Nothing with these filters")).to_be_visible()


def sign_up(page: Page) -> None:
    expect(page).to_have_title(re.compile("Sign in"))
    page.get_by_role("link", name="Open an account").click()
    page.get_by_label("Name").fill("Joan Journey")
    page.get_by_label("Email").fill("joan@example.org")
    page.get_by_label("Password").fill("short")
    page.get_by_role("button", name="Open the account").click()
    expect(page.get_by_label("Password")).to_have_attribute("aria-invalid", "true")

    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Open the account").click()


def make_organization(page: Page) -> None:
    page.get_by_role("link", name="Make an organization").click()
    page.get_by_label("Name", exact=True).fill("Joan Inc")
    page.get_by_role("button", name="Make the organization").click()


def connect(page: Page, shop) -> None:
    page.get_by_label("Address to clone from").fill(shop.url)
    page.get_by_label("Name", exact=True).fill("joan/shop")
    page.get_by_role("button", name="Connect and scan").click()
    expect(page.get_by_role("heading", name="joan/shop")).to_be_visible()


def see_the_overview(page: Page) -> None:
    expect(page.get_by_role("heading", name="Look at these first")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("img", name=re.compile(r"^Health \d+ of 100"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Open violations went from"))).to_be_visible()


def look_at_a_violation(page: Page) -> None:
    page.get_by_role("link", name="Violations", exact=True).click()
    page.get_by_label("Category").select_option("runtime_risk")
    expect(page).to_have_url(re.compile("category=runtime_risk"))
    page.locator("summary", has_text="no time limit").click()
    expect(page.get_by_role("region", name=re.compile("client.py, lines"))).to_contain_text("requests.get(")
    page.get_by_role("link", name="risk-http-no-timeout").click()
    expect(page).to_have_url(re.compile(r"\?ruleId=risk-http-no-timeout$"))


def accept_the_violation(page: Page) -> None:
    page.locator("summary", has_text="no time limit").click()
    page.get_by_role("button", name="Make an exception").click()
    expect(page.get_by_text(re.compile(r"^Accepts 1 finding; health \d+ → \d+\.$"))).to_be_visible()
    page.get_by_label("Reason").fill("Goes away with the old gateway")
    page.get_by_role("button", name="Make the exception").click()


def test_the_session_outlives_the_page_and_ends_everywhere(visit, enroll):
    page = sign_in(visit("/login"), enroll("Sara"))
    page.reload()
    expect(page.get_by_role("heading", name="Begin with an organization")).to_be_visible()
    assert [cookie["httpOnly"] for cookie in page.context.cookies() if cookie["name"] == "refresh"] == [True]
    assert page.evaluate("Object.keys(localStorage)") == ["signed-in"]

    other = page.context.new_page()
    other.goto("/")
    page.get_by_label("Account of Sara").click()
    page.get_by_role("button", name="Sign out").click()

    for tab in (page, other):
        expect(tab.get_by_role("button", name="Sign in")).to_be_visible()
    assert page.context.cookies() == []


def test_a_link_to_a_page_leads_there_after_signing_in(visit, scanned):
    olga, repository = scanned
    page = visit(f"/repos/{repository}/violations?severity=warning")

    sign_in(page, olga)

    expect(page).to_have_url(re.compile(rf"/repos/{repository}/violations\?severity=warning$"))
    expect(page.get_by_label("Severity")).to_have_value("warning")


def test_nothing_opens_in_a_list_that_is_being_replaced(visit, scanned):
    olga, repository = scanned
    page = sign_in(visit(f"/repos/{repository}/violations"), olga)
    finding = page.locator("summary", has_text="no time limit")
    held: list[Route] = []
    page.route("**/violations?*category=*", lambda route: held.append(route))

    page.get_by_label("Category").select_option("runtime_risk")
    with pytest.raises(TimeoutError, match="intercepts pointer events"):
        finding.click(timeout=1000)
    held.pop().continue_()
    finding.click()

    expect(page.get_by_role("region", name=re.compile("client.py, lines"))).to_contain_text("requests.get(")


def test_who_cannot_be_asked_for_now_is_not_signed_out(visit, enroll):
    page = sign_in(visit("/login"), enroll("Wanda"))
    limited = {"statusCode": 429, "message": "Too many requests; try again in 42 seconds", "error": "Too Many Requests"}
    page.route("**/auth/refresh", lambda route: route.fulfill(status=429, json=limited))

    page.reload()
    expect(page.get_by_role("heading", name="Too many requests")).to_be_visible()
    page.unroute("**/auth/refresh")
    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_label("Account of Wanda")).to_be_visible()
