"""POST /v1/auth/login and /v1/auth/logout"""

import pytest
from django.test.utils import CaptureQueriesContext

from accounts.models import Session, SignInProvider
from accounts.passwords import Hasher
from accounts.services import Profile, sign_in_with_provider
from tests import factories

pytestmark = pytest.mark.django_db
URL = "/v1/auth/login"
UNAUTHORIZED = {"statusCode": 401, "message": "Unauthorized", "error": "Unauthorized"}


class OvertakenHasher(Hasher):
    """While it checks a password, whose address it is comes in through a provider and takes the account over."""

    def verify(self, password, encoded):
        dana = Profile(SignInProvider.IDP2, uid="1", emails=["olivia@example.org"], name="Olivia", avatar_url="")
        sign_in_with_provider(profile=dana)
        return super().verify(password, encoded)


class TestLogIn:
    def test_answers_with_a_pair_and_the_account(self, anonymous, owner):
        response = anonymous.post(URL, {"email": "OLIVIA@example.org", "password": factories.PASSWORD})

        assert response.status_code == 200
        body = response.json()
        assert set(body) == {"accessToken", "refreshToken", "user"}
        assert body["user"]["id"] == str(owner.id)
        assert factories.client(body["accessToken"]).get("/v1/auth/me").status_code == 200

    def test_the_sign_in_is_written_down(self, anonymous, owner):
        anonymous.post(URL, {"email": owner.email, "password": factories.PASSWORD})

        session = Session.objects.get()
        owner.refresh_from_db()
        assert (session.user, session.provider, session.address) == (owner, "email", "127.0.0.1")
        assert owner.last_login is not None

    @pytest.mark.parametrize("who", ["wrong password", "unknown", "oauth only", "disabled"])
    def test_every_failure_looks_the_same(self, anonymous, owner, who):
        body = {"email": owner.email, "password": factories.PASSWORD}
        if who == "wrong password":
            body["password"] = "Wrong-horse-9"
        if who == "unknown":
            body["email"] = "nobody@example.org"
        if who == "oauth only":
            owner.set_unusable_password()
            owner.save()
        if who == "disabled":
            owner.is_active = False
            owner.save()

        response = anonymous.post(URL, body)

        assert response.status_code == 401
        assert response.json() == UNAUTHORIZED
        assert not Session.objects.exists()

    def test_a_password_that_ends_while_it_is_checked_opens_nothing(self, anonymous, owner, settings):
        settings.PASSWORD_HASHERS = ["tests.accounts.test_login.OvertakenHasher"]

        response = anonymous.post(URL, {"email": owner.email, "password": factories.PASSWORD})

        assert response.status_code == 401
        assert not Session.objects.filter(user=owner, revoked_at=None, provider=SignInProvider.EMAIL).exists()

    def test_failures_ask_the_database_equally_often(self, anonymous, owner, django_assert_num_queries):
        for email in (owner.email, "nobody@example.org"):
            with django_assert_num_queries(1):
                anonymous.post(URL, {"email": email, "password": "Wrong-horse-9"})

    @pytest.mark.parametrize("body", [{}, {"email": "x"}, {"email": "a@example.org"}, {"password": "x"}])
    def test_a_body_that_lacks_something_is_400(self, anonymous, body):
        assert anonymous.post(URL, body).status_code == 400

    def test_a_stale_token_in_the_header_keeps_nobody_out(self, anonymous, owner):
        anonymous.credentials(HTTP_AUTHORIZATION="Bearer stale")

        response = anonymous.post(URL, {"email": owner.email, "password": factories.PASSWORD})

        assert response.status_code == 200


class TestLogOut:
    def test_kills_both_tokens_of_the_session(self, anonymous, owner):
        pair = anonymous.post(URL, {"email": owner.email, "password": factories.PASSWORD}).json()
        client = factories.client(pair["accessToken"])

        response = client.post("/v1/auth/logout")

        assert response.status_code == 200
        assert response.json() == {"success": True}
        assert client.get("/v1/auth/me").status_code == 401
        assert anonymous.post("/v1/auth/refresh", {"refreshToken": pair["refreshToken"]}).status_code == 401

    def test_leaves_other_sessions_alone(self, as_owner, anonymous, owner):
        other = anonymous.post(URL, {"email": owner.email, "password": factories.PASSWORD}).json()

        as_owner.post("/v1/auth/logout")

        assert factories.client(other["accessToken"]).get("/v1/auth/me").status_code == 200

    def test_nobody_cannot_log_out(self, anonymous):
        assert anonymous.post("/v1/auth/logout").status_code == 401

    def test_a_second_time_is_401(self, as_owner):
        as_owner.post("/v1/auth/logout")

        assert as_owner.post("/v1/auth/logout").status_code == 401


def test_an_authenticated_request_costs_one_look_up(as_owner, django_assert_num_queries):
    from django.db import connection

    with CaptureQueriesContext(connection) as queries:
        as_owner.get("/v1/auth/me")

    assert len(queries) == 1
    assert "accounts_session" in queries[0]["sql"]
    assert "INNER JOIN" in queries[0]["sql"]
