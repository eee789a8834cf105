"""Sign-in through a provider when something is wrong: the state, the provider, the answers, the set-up."""

import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
import responses
from django.db import connection

from accounts.models import Session, SignInProvider, User
from accounts.providers import http
from accounts.services.linking import Profile, sign_in_with_provider
from tests import factories
from tests.accounts import sign_in
from tests.accounts.conftest import set_up_codehost1, set_up_idp2
from tests.webhooks.test_crashes import Executioner, Killed

CODE_HOST = "http://127.0.0.1:9/codehost1"
INVALID = {"error": "invalid_state"}
FAILED = {"error": "provider_error"}


@pytest.fixture
def odd_codehost1(settings):
    """A code host whose answers the test makes up; `odd_codehost1.replace(...)` changes one of them."""
    set_up_codehost1(settings, CODE_HOST)
    with responses.RequestsMock(assert_all_requests_are_fired=False) as answers:
        answers.post(f"{CODE_HOST}/login/oauth/access_token", json={"access_token": "t", "token_type": "bearer"})
        answers.get(f"{CODE_HOST}/user", json={"id": 1, "login": "dana", "name": "Dana", "avatar_url": None})
        answers.get(f"{CODE_HOST}/user/emails", json=[_address("dana@example.org")])
        yield answers


def _address(email, *, verified=True, primary=True):
    return {"email": email, "verified": verified, "primary": primary}


def _sign_in(client, provider="codehost1"):
    state = sign_in.query_of(sign_in.start(client, provider))["state"]
    return sign_in.come_back(client, f"/v1/auth/{provider}/callback?code=abc&state={state}")


@pytest.mark.django_db
class TestSetUp:
    @pytest.mark.parametrize("path", ["codehost1", "codehost1/callback", "idp2", "idp2/callback"])
    def test_a_provider_that_is_not_configured_is_not_available(self, anonymous, path):
        response = anonymous.get(f"/v1/auth/{path}")

        assert response.status_code == 503
        assert response.json() == {
            "statusCode": 503,
            "message": "Sign-in with this provider is not set up here",
            "error": "Service Unavailable",
        }

    def test_the_two_redirects_fall_under_the_default_limit(self, anonymous, odd_codehost1, rate_limits):
        response = anonymous.get("/v1/auth/codehost1")

        assert response["RateLimit-Limit"] == "100"

    def test_staff_who_are_in_the_admin_keep_their_longer_session(self, client, odd_codehost1):
        client.force_login(factories.user(is_staff=True))
        before = client.session.get_expiry_age()

        assert client.get("/v1/auth/codehost1").status_code == 302

        assert client.session.get_expiry_age() == before

    def test_a_browser_that_asks_for_a_page_is_redirected_too(self, anonymous, odd_codehost1):
        assert anonymous.get("/v1/auth/codehost1", HTTP_ACCEPT="text/html").status_code == 302


@pytest.mark.django_db
class TestState:
    def test_missing(self, anonymous, odd_codehost1):
        sign_in.start(anonymous, "codehost1")

        assert sign_in.come_back(anonymous, "/v1/auth/codehost1/callback?code=abc") == INVALID

    def test_forged(self, anonymous, odd_codehost1):
        sign_in.start(anonymous, "codehost1")

        assert sign_in.come_back(anonymous, "/v1/auth/codehost1/callback?code=abc&state=made-up") == INVALID

    def test_of_another_browser(self, anonymous, odd_codehost1):
        state = sign_in.query_of(sign_in.start(factories.client(), "codehost1"))["state"]

        assert sign_in.come_back(anonymous, f"/v1/auth/codehost1/callback?code=abc&state={state}") == INVALID
        assert not User.objects.exists()

    def test_of_the_other_provider(self, anonymous, odd_codehost1, settings):
        set_up_idp2(settings, "http://127.0.0.1:9")
        state = sign_in.query_of(sign_in.start(anonymous, "codehost1"))["state"]

        assert sign_in.come_back(anonymous, f"/v1/auth/idp2/callback?code=abc&state={state}") == INVALID

    def test_replayed(self, anonymous, odd_codehost1):
        state = sign_in.query_of(sign_in.start(anonymous, "codehost1"))["state"]
        address = f"/v1/auth/codehost1/callback?code=abc&state={state}"
        assert "token" in sign_in.come_back(anonymous, address)

        assert sign_in.come_back(anonymous, address) == INVALID

    def test_too_old(self, anonymous, odd_codehost1, monkeypatch):
        state = sign_in.query_of(sign_in.start(anonymous, "codehost1"))["state"]
        later = time.time() + 601
        monkeypatch.setattr("allauth.socialaccount.internal.statekit.time.time", lambda: later)

        assert sign_in.come_back(anonymous, f"/v1/auth/codehost1/callback?code=abc&state={state}") == INVALID

    def test_a_refusal_without_a_state_is_still_told(self, anonymous, odd_codehost1):
        assert sign_in.come_back(anonymous, "/v1/auth/codehost1/callback?error=access_denied") == {
            "error": "access_denied"
        }
        assert sign_in.come_back(anonymous, "/v1/auth/codehost1/callback?error=server_error") == FAILED

    def test_a_refusal_with_a_state(self, anonymous, odd_codehost1):
        state = sign_in.query_of(sign_in.start(anonymous, "codehost1"))["state"]

        answer = sign_in.come_back(anonymous, f"/v1/auth/codehost1/callback?error=access_denied&state={state}")

        assert answer == {"error": "access_denied"}


@pytest.mark.crowd
@pytest.mark.django_db(transaction=True)
class TestRace:
    def test_one_of_32_callbacks_with_the_same_state_wins(self, odd_codehost1, figure):
        def call(browser, state):
            client = factories.client()
            client.cookies = browser.cookies.copy()
            try:
                return sign_in.come_back(client, f"/v1/auth/codehost1/callback?code=abc&state={state}").get("error")
            finally:
                connection.close()

        for _ in range(figure(c=10, s=100, of="rounds of 32")):
            browser = factories.client()
            state = sign_in.query_of(sign_in.start(browser, "codehost1"))["state"]
            with ThreadPoolExecutor(32) as threads:
                answers = Counter(threads.map(call, [browser] * 32, [state] * 32))

            assert answers == {None: 1, "invalid_state": 31}

    def test_one_person_in_16_browsers_at_once_has_one_account(self, odd_codehost1):
        barrier = threading.Barrier(16)

        def call(_):
            client = factories.client()
            state = sign_in.query_of(sign_in.start(client, "codehost1"))["state"]
            barrier.wait()
            try:
                return sign_in.come_back(client, f"/v1/auth/codehost1/callback?code=abc&state={state}")
            finally:
                connection.close()

        with ThreadPoolExecutor(16) as threads:
            answers = list(threads.map(call, range(16)))

        assert all("token" in answer for answer in answers)
        assert User.objects.count() == 1
        assert Session.objects.count() == 16


@pytest.mark.django_db(transaction=True)
class TestDeath:
    def test_a_process_that_dies_at_any_statement_leaves_no_half_an_account(self):
        profile = Profile(SignInProvider.IDP2, uid="dana", emails=["dana@example.org"], name="Dana", avatar_url=None)
        for number in count(1):
            try:
                with connection.execute_wrapper(Executioner(number)):
                    sign_in_with_provider(profile=profile)
            except Killed:
                connection.close()
                assert not User.objects.exists(), f"killed at statement {number}"
            else:
                break

        assert number > 5
        assert User.objects.get().sessions.count() == 1


@pytest.mark.django_db
class TestProviderAway:
    def test_nobody_listens(self, anonymous, settings):
        set_up_codehost1(settings, "http://127.0.0.1:9")

        assert _sign_in(anonymous) == FAILED

    def test_discovery_fails_at_the_start(self, anonymous, settings):
        set_up_idp2(settings, "http://127.0.0.1:9")

        assert sign_in.query_of(sign_in.start(anonymous, "idp2")) == FAILED

    def test_it_never_answers(self, anonymous, settings, monkeypatch):
        monkeypatch.setattr(http, "READ_SECONDS", 0.2)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            set_up_codehost1(settings, f"http://127.0.0.1:{silent.getsockname()[1]}")

            assert _sign_in(anonymous) == FAILED

    def test_it_answers_byte_by_byte(self, anonymous, settings, monkeypatch):
        monkeypatch.setattr(http, "WHOLE_SECONDS", 0.3)
        with _server(_dripping) as address:
            set_up_codehost1(settings, address)

            assert _sign_in(anonymous) == FAILED

    def test_it_answers_without_end(self, anonymous, settings):
        with _server(_flooding) as address:
            set_up_codehost1(settings, address)

            assert _sign_in(anonymous) == FAILED

    @pytest.mark.parametrize("status", [301, 302, 307, 400, 401, 404, 500, 503])
    def test_it_refuses_or_sends_us_elsewhere(self, anonymous, odd_codehost1, status):
        headers = {"Location": "http://169.254.169.254/latest/meta-data"}
        odd_codehost1.replace("POST", f"{CODE_HOST}/login/oauth/access_token", status=status, headers=headers, json={})

        assert _sign_in(anonymous) == FAILED


@pytest.mark.django_db
class TestOddAnswers:
    @pytest.mark.parametrize(
        "body",
        [
            "",
            "null",
            "[]",
            "17",
            "<html>",
            '{"access_token": null}',
            '{"error": "bad_verification_code"}',
            "access_token=",
        ],
    )
    def test_of_the_token_address(self, anonymous, odd_codehost1, body):
        odd_codehost1.replace(
            "POST", f"{CODE_HOST}/login/oauth/access_token", body=body, content_type="application/json"
        )
        if body == '{"access_token": null}':
            odd_codehost1.replace("GET", f"{CODE_HOST}/user", status=401, json={})

        assert _sign_in(anonymous) == FAILED

    @pytest.mark.parametrize("body", ["", "null", "[]", "{}", '{"id": null, "name": []}', '{"id": "%s"}' % ("9" * 300)])
    def test_of_the_profile(self, anonymous, odd_codehost1, body):
        odd_codehost1.replace("GET", f"{CODE_HOST}/user", body=body, content_type="application/json")

        assert "token" not in _sign_in(anonymous) or body == '{"id": null, "name": []}'

    @pytest.mark.parametrize(
        ("rows", "expected"),
        [
            ([], "email_unverified"),
            ([_address("dana@example.org", verified=False)], "email_unverified"),
            ([_address("dana@example.org", verified="yes")], "email_unverified"),
            ([_address("not an address")], "email_unverified"),
            ({"message": "Not Found"}, "provider_error"),
            ([{"verified": True}], "provider_error"),
            (["dana@example.org"], "provider_error"),
        ],
    )
    def test_of_the_list_of_addresses(self, anonymous, odd_codehost1, rows, expected):
        odd_codehost1.replace("GET", f"{CODE_HOST}/user/emails", json=rows)

        assert _sign_in(anonymous) == {"error": expected}
        assert not User.objects.exists()

    def test_a_list_of_addresses_that_may_not_be_read(self, anonymous, odd_codehost1):
        odd_codehost1.replace("GET", f"{CODE_HOST}/user/emails", status=404, json={})

        assert _sign_in(anonymous) == {"error": "email_unverified"}

    def test_the_public_address_of_a_profile_proves_nothing(self, anonymous, odd_codehost1, owner):
        odd_codehost1.replace("GET", f"{CODE_HOST}/user", json={"id": 1, "login": "x", "email": owner.email})
        odd_codehost1.replace("GET", f"{CODE_HOST}/user/emails", json=[_address(owner.email, verified=False)])

        assert _sign_in(anonymous) == {"error": "email_unverified"}
        assert Session.objects.count() == 0

    def test_the_primary_address_comes_before_the_others(self, anonymous, odd_codehost1, owner, admin):
        rows = [_address(admin.email, primary=False), _address(owner.email)]
        odd_codehost1.replace("GET", f"{CODE_HOST}/user/emails", json=rows)

        token = _sign_in(anonymous)["token"]

        assert factories.client(token).get("/v1/auth/me").json()["id"] == str(owner.id)

    @pytest.mark.parametrize(
        ("name", "expected"),
        [(None, "dana"), ("", "dana"), ("x" * 300, "x" * 100), ("A\x00B\nC", "ABC"), (["list"], "dana"), (7, "dana")],
    )
    def test_a_name_is_made_fit(self, anonymous, odd_codehost1, name, expected):
        odd_codehost1.replace("GET", f"{CODE_HOST}/user", json={"id": 1, "login": "dana", "name": name})

        _sign_in(anonymous)

        assert User.objects.get().name == expected

    @pytest.mark.parametrize("avatar", [None, 7, "javascript:alert(1)", "https://x.example/" + "a" * 600])
    def test_an_avatar_is_a_web_address_or_none(self, anonymous, odd_codehost1, avatar):
        odd_codehost1.replace("GET", f"{CODE_HOST}/user", json={"id": 1, "login": "dana", "avatar_url": avatar})

        _sign_in(anonymous)

        assert User.objects.get().avatar_url == ""

    def test_no_token_of_the_provider_is_kept(self, anonymous, odd_codehost1):
        _sign_in(anonymous)

        from allauth.socialaccount.models import SocialAccount, SocialToken

        assert not SocialToken.objects.exists()
        assert set(SocialAccount.objects.get().extra_data) == {"name", "avatar_url"}


@pytest.mark.django_db
class TestIdentityTokens:
    ISSUER = "http://127.0.0.1:9/idp2"

    @pytest.fixture
    def odd_idp2(self, settings):
        set_up_idp2(settings, self.ISSUER)
        with responses.RequestsMock(assert_all_requests_are_fired=False) as answers:
            answers.get(f"{self.ISSUER}/.well-known/openid-configuration", json=self.discovery())
            answers.post(f"{self.ISSUER}/token", json={"access_token": "t", "id_token": self.identity()})
            profile = {"sub": "s1", "email": "dana@example.org", "email_verified": True}
            answers.get(f"{self.ISSUER}/userinfo", json=profile)
            yield answers

    def discovery(self, **changes):
        names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "userinfo_endpoint": "userinfo"}
        addresses = {name: f"{self.ISSUER}/{path}" for name, path in names.items()}
        return {"issuer": self.ISSUER, "jwks_uri": f"{self.ISSUER}/keys", **addresses, **changes}

    def identity(self, **changes):
        import jwt

        claims = {"iss": self.ISSUER, "aud": "our-client", "sub": "s1", "exp": int(time.time()) + 60, **changes}
        return jwt.encode(claims, "a key of thirty-two bytes or more", algorithm="HS256")

    def test_the_plain_case(self, anonymous, odd_idp2):
        assert "token" in _sign_in(anonymous, "idp2")

    @pytest.mark.parametrize(
        "changes", [{"iss": "https://evil.example"}, {"aud": "another-client"}, {"exp": 1}, {"sub": "somebody-else"}]
    )
    def test_an_identity_token_for_somebody_else_is_refused(self, anonymous, odd_idp2, changes):
        answer = {"access_token": "t", "id_token": self.identity(**changes)}
        odd_idp2.replace("POST", f"{self.ISSUER}/token", json=answer)

        assert _sign_in(anonymous, "idp2") == FAILED

    def test_no_identity_token(self, anonymous, odd_idp2):
        odd_idp2.replace("POST", f"{self.ISSUER}/token", json={"access_token": "t"})

        assert _sign_in(anonymous, "idp2") == FAILED

    def test_a_description_of_another_issuer(self, anonymous, odd_idp2):
        changed = self.discovery(issuer="https://evil.example")
        odd_idp2.replace("GET", f"{self.ISSUER}/.well-known/openid-configuration", json=changed)

        assert sign_in.query_of(sign_in.start(anonymous, "idp2")) == FAILED


class _server:
    """A socket server of one misbehaviour."""

    def __init__(self, behave):
        self.behave = behave

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def __exit__(self, *_):
        self.listener.close()

    def _serve(self):
        connection, _ = self.listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
            try:
                while True:
                    self.behave(connection)
            except OSError:
                return


def _dripping(connection):
    connection.sendall(b" ")
    time.sleep(0.05)


def _flooding(connection):
    connection.sendall(b" " * 65536)
