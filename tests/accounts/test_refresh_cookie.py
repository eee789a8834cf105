"""A front end in a browser keeps its refresh token out of reach of scripts."""

import pytest
from rest_framework.test import APIClient

from accounts import services
from accounts.models import SignInProvider
from tests import factories

LOGIN, REFRESH = "/v1/auth/login", "/v1/auth/refresh"


@pytest.fixture
def browser(owner) -> APIClient:
    """A browser in which the owner has logged in."""
    client = factories.client()
    response = client.post(LOGIN, {"email": owner.email, "password": factories.PASSWORD, "refreshCookie": True})
    assert response.status_code == 200
    assert set(response.json()) == {"accessToken", "user"}
    return client


@pytest.mark.django_db
class TestRefreshCookie:
    def test_scripts_other_sites_and_other_paths_do_not_get_it(self, browser):
        cookie = browser.cookies["refresh"]

        assert cookie["httponly"] and cookie["samesite"] == "Strict"
        assert cookie["path"] == REFRESH
        assert cookie["max-age"] == 7 * 24 * 3600

    def test_buys_a_new_pair_and_moves_on(self, browser):
        before = browser.cookies["refresh"].value

        response = browser.post(REFRESH, {"refreshCookie": True})

        assert response.status_code == 200
        assert set(response.json()) == {"accessToken"}
        assert browser.cookies["refresh"].value != before

    def test_a_cookie_alone_changes_nothing_for_those_who_did_not_ask(self, browser):
        response = browser.post(REFRESH, {})

        assert response.status_code == 400
        assert response.json()["message"] == "refreshToken: is required"

    def test_without_a_cookie_there_is_nothing_to_refresh(self):
        assert factories.client().post(REFRESH, {"refreshCookie": True}).status_code == 401

    def test_pages_of_other_origins_are_refused(self, browser):
        foreign = browser.post(REFRESH, {"refreshCookie": True}, headers={"Origin": "https://evil.example.org"})
        own = browser.post(REFRESH, {"refreshCookie": True}, headers={"Origin": "http://testserver"})

        assert (foreign.status_code, own.status_code) == (403, 200)

    def test_a_form_cannot_send_it(self, browser):
        response = browser.post(REFRESH, data="refreshCookie=true", content_type="application/x-www-form-urlencoded")

        assert response.status_code == 415

    def test_a_token_that_an_oauth_redirect_delivered_is_traded_for_the_cookie(self, owner):
        client = factories.client()
        pair = services.open_session(user=owner, provider=SignInProvider.IDP2)

        response = client.post(REFRESH, {"refreshToken": pair.refresh, "refreshCookie": True})

        assert set(response.json()) == {"accessToken"}
        assert client.post(REFRESH, {"refreshCookie": True}).status_code == 200
        assert client.post(REFRESH, {"refreshToken": pair.refresh}).status_code == 401

    def test_logging_out_takes_it_away(self, browser, owner):
        access = browser.post(REFRESH, {"refreshCookie": True}).json()["accessToken"]

        browser.post("/v1/auth/logout", headers={"Authorization": f"Bearer {access}"})

        assert browser.cookies["refresh"].value == ""

    def test_the_wish_is_true_or_false(self, owner):
        response = factories.client().post(
            LOGIN, {"email": owner.email, "password": factories.PASSWORD, "refreshCookie": "yes"}
        )

        assert response.json()["message"] == "refreshCookie: must be true or false"


class TestProviders:
    def test_only_those_that_are_set_up_are_offered(self, settings):
        assert factories.client().get("/v1/auth/providers").json() == []

        settings.IDP2_ISSUER, settings.IDP2_CLIENT_ID, settings.IDP2_CLIENT_SECRET = "https://id.example.org", "a", "b"

        assert factories.client().get("/v1/auth/providers").json() == [{"id": "idp2", "name": "id.example.org"}]
