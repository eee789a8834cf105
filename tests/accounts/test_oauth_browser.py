"""A real browser signs in through both providers, from the page that asks to the page that it was on its way to."""

import contextlib
import re

import pytest
from playwright.sync_api import expect

from tests.accounts.conftest import code_host, set_up_codehost1
from tests.providers.chromium import launched

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def service(live_server, settings):
    """Our service as a browser meets it; the front end has the same origin."""
    settings.APP_URL, settings.BASE_URL = live_server.url, f"{live_server.url}/v1"
    settings.ALLOWED_HOSTS = ["*"]
    return live_server.url


@contextlib.contextmanager
def signing_in(service, act):
    """The page that a browser is on after it chose the only provider that is set up and did something there."""
    with launched() as browser:
        page = browser.new_page()
        page.goto(f"{service}/login?next=/orgs/new")
        page.get_by_role("link", name="Continue with").click()
        act(page)
        yield page


def assert_is_in(page, name):
    """Signed in, where it was going, with no token left in the address or within reach of scripts."""
    expect(page.get_by_label(f"Account of {name}")).to_be_visible()
    expect(page).to_have_url(re.compile("/orgs/new$"))
    (cookie,) = [cookie for cookie in page.context.cookies() if cookie["name"] == "refresh"]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert "eyJ" not in page.evaluate("JSON.stringify({...localStorage, ...sessionStorage, cookie: document.cookie})")


def test_codehost1(service, settings, tmp_path):
    with code_host(tmp_path, f"{service}/v1/auth/codehost1/callback") as address:
        set_up_codehost1(settings, address)

        with signing_in(service, lambda page: page.get_by_text("dana", exact=True).click()) as page:
            assert_is_in(page, "Dana Doe")


def test_idp2(service, known_to_idp2):
    known_to_idp2("eva", email="eva@example.org", email_verified=True, name="Eva Example")

    def agree(page):
        page.get_by_placeholder("sub").fill("eva")
        page.get_by_role("button", name="Authorize").first.click()

    with signing_in(service, agree) as page:
        assert_is_in(page, "Eva Example")


def test_idp2_denied(service, idp2):
    with signing_in(service, lambda page: page.get_by_role("button", name="Deny").click()) as page:
        expect(page.get_by_role("heading", name="Not signed in")).to_be_visible()
        expect(page.get_by_text("You did not agree")).to_be_visible()
        expect(page).to_have_url(re.compile("/auth/callback$"))
