"""A real browser signs in through both providers and lands on the front end with working tokens."""

from pathlib import Path

import pytest
import requests
from playwright.sync_api import sync_playwright

from tests.accounts.conftest import code_host, set_up_codehost1
from tests.accounts.sign_in import query_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
ASK_WHO = "token => fetch('/v1/auth/me', {headers: {Authorization: `Bearer ${token}`}}).then(answer => answer.json())"


@pytest.fixture
def service(live_server, settings):
    """Our service as a browser meets it; the front end has the same origin."""
    settings.APP_URL, settings.BASE_URL = live_server.url, f"{live_server.url}/v1"
    settings.ALLOWED_HOSTS = ["*"]
    return live_server.url


def browse(address, act):
    """Open an address, do something there, and come back with where that led and who the front end then is."""
    assert CHROMIUM.exists(), "Chromium is not installed; on Debian: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.goto(address)
        act(page)
        page.wait_for_url("**/auth/callback?**")
        query = query_of(page.url)
        who = page.evaluate(ASK_WHO, query["token"]) if "token" in query else None
        browser.close()
    return query, who


def test_codehost1(service, settings, tmp_path):
    with code_host(tmp_path, f"{service}/v1/auth/codehost1/callback") as address:
        set_up_codehost1(settings, address)

        query, who = browse(f"{service}/v1/auth/codehost1", lambda page: page.get_by_text("dana", exact=True).click())

    assert set(query) == {"token", "refresh"}
    assert who["email"] == "dana@example.org"


def test_idp2(service, known_to_idp2):
    known_to_idp2("eva", email="eva@example.org", email_verified=True, name="Eva Example")

    def agree(page):
        page.get_by_placeholder("sub").fill("eva")
        page.get_by_role("button", name="Authorize").first.click()

    query, who = browse(f"{service}/v1/auth/idp2", agree)

    assert set(query) == {"token", "refresh"}
    assert who["name"] == "Eva Example"
    refreshed = requests.post(f"{service}/v1/auth/refresh", json={"refreshToken": query["refresh"]}, timeout=5)
    assert refreshed.status_code == 200


def test_idp2_denied(service, idp2):
    query, _ = browse(f"{service}/v1/auth/idp2", lambda page: page.get_by_role("button", name="Deny").click())

    assert query == {"error": "access_denied"}
